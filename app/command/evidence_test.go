package command

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ashlar/app/core/locate"
	"ashlar/app/core/view"
	"ashlar/ingest"
	"ashlar/ingest/model/recording"
	"ashlar/ingest/query/analyze"
	"ashlar/ingest/query/calls"
)

// shared holds the fields of a row whose values are shares of a total.
type shared struct {
	Self          json.Number
	Total         json.Number
	Count         int64
	SelfShare     json.Number     `json:"self_share"`
	TotalShare    json.Number     `json:"total_share"`
	SelfInterval  *[2]json.Number `json:"self_interval"`
	TotalInterval *[2]json.Number `json:"total_interval"`
}

// checkable holds the fields of an answer that let a reader check it.
type checkable struct {
	Address  string
	Unit     string
	Total    json.Number
	Samples  int64
	Basis    string
	Rows     []shared
	Lines    []shared
	Top      []shared
	Seen     *shared
	OfWeight json.Number `json:"of_weight"`
}

func numberOf(t *testing.T, n json.Number) float64 {
	t.Helper()
	f, err := n.Float64()
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// TestAnswersCanBeChecked checks all answers about all recordings: the address of an answer
// selects data that adds up to its total, and shares are parts of that total, within their
// intervals if sampled.
func TestAnswersCanBeChecked(t *testing.T) {
	writeSmallSpall(t)
	checked, sampled := 0, 0
	for _, path := range recordings(t, 1<<20) {
		for _, args := range [][]string{
			{"overview", path}, {"top", path}, {"top", path, "--range", "1ms..3ms"}, {"top", path, "--hide-kernel", "--only", "/a/"}, {"top", path, "--tree", "-n", "5", "--invert"}, {"top", path, "--async", "in", "--by", "thread"},
			{"top", path, "--calls", "/./[slowest 3]"}, {"top", path, "--search", "a", "--by", "module"}, {"source", path, "/./"}, {"stats", path, "--function", "/./"}, {"calls", path, "/./[slowest 3]"}, {"path", path}, {"diff", path, path, "--all"},
		} {
			r := ask(append(args, "--json")...)
			if r.code != Done || r.stdout == "" {
				continue // the recording lacks the data
			}
			var a checkable
			if err := json.Unmarshal([]byte(r.stdout), &a); err != nil {
				t.Fatalf("%v: %v", args, err)
			}
			checked++
			rows := append(append(a.Rows, a.Lines...), a.Top...)
			sum := a.Total
			if a.Seen != nil {
				sum, a.Basis = "", "" // these are about the whole recording, not the function
			}
			if args[0] == "calls" || args[0] == "diff" || args[0] == "path" {
				rows = nil
			}
			for _, row := range rows {
				if whole := numberOf(t, sum); whole != 0 && (math.Abs(numberOf(t, row.Self)/whole-numberOf(t, row.SelfShare)) > 6e-5 || math.Abs(numberOf(t, row.Total)/whole-numberOf(t, row.TotalShare)) > 6e-5) {
					t.Errorf("%v: %s and %s of %s are no shares of %s and %s", args, row.Self, row.Total, sum, row.SelfShare, row.TotalShare)
				}
				for share, in := range map[json.Number]*[2]json.Number{row.SelfShare: row.SelfInterval, row.TotalShare: row.TotalInterval} {
					if in == nil {
						continue
					}
					if sampled++; a.Samples == 0 || numberOf(t, in[0]) > numberOf(t, share)+1e-4 || numberOf(t, in[1]) < numberOf(t, share)-1e-4 {
						t.Errorf("%v: the share %s of %d samples is between %v", args, share, a.Samples, *in)
					}
				}
			}
			againUnderAddress(t, args, &a)
		}
	}
	if checked < 20 || sampled < 10 {
		t.Errorf("only %d answers were checked, with %d intervals", checked, sampled)
	}
}

// againUnderAddress checks that the data selected by an answer's address adds up to the
// answer's total.
func againUnderAddress(t *testing.T, args []string, a *checkable) {
	t.Helper()
	v, err := view.Parse(a.Address)
	if err != nil || len(v.Unknown) > 0 || len(v.Contents) != len(v.Files) {
		t.Errorf("%v: the address %s: %v, it does not say what %d files hold", args, a.Address, err, len(v.Files))
		return
	}
	if notes, err := locate.Files(v, "/", nil); err != nil || len(notes) > 0 {
		t.Errorf("%v: %s: %v, %v", args, a.Address, err, notes)
	}
	rec, _, err := read.In("")(t.Context(), v.Files[0], ingest.Options{})
	if err != nil {
		t.Fatal(err)
	}
	look, missing := view.Bind(rec, v, 0, 1)
	if len(missing) > 0 {
		t.Errorf("%v: %s: %v", args, a.Address, missing)
	}
	if args[0] != "top" && args[0] != "overview" && args[0] != "source" || a.Basis == string(analyze.Windows) || a.Unit == "" {
		return
	}
	q := analyze.Query{Event: look.Event, Metric: look.Metric, Scope: look.Scope}.With(rec, look.Transforms)
	if q.Scope, err = calls.Bind(t.Context(), rec, q.Scope); err != nil {
		t.Fatal(err)
	}
	w, err := analyze.Weigh(t.Context(), rec, q)
	if err != nil {
		t.Fatal(err)
	}
	tree := analyze.NewTree(rec, w, look.Transforms...)
	m := &rec.Events[q.Event].Metrics[q.Metric]
	if got := (recording.Decimal{Mantissa: tree.Nodes[0].Total, Scale: m.Decimals}).String(); got != a.Total.String() {
		t.Errorf("%v says a total of %s, its address %s shows %s", args, a.Total, a.Address, got)
	}
}

// TestAddressOfContents checks that the addresses of info and check show the file and contain
// its content digest. Files that cannot be opened have no address.
func TestAddressOfContents(t *testing.T) {
	for _, path := range []string{"testdata/damaged.spaa", "testdata/diff-a.folded"} {
		var info struct{ Address string }
		var checks struct {
			Files []struct{ Address, File string }
		}
		for command, v := range map[string]any{"info": &info, "check": &checks} {
			if err := json.Unmarshal([]byte(ask(command, path, "--json").stdout), v); err != nil {
				t.Fatal(err)
			}
		}
		abs, err := filepath.Abs(path)
		if err != nil {
			t.Fatal(err)
		}
		v, err := view.Parse(info.Address)
		if err != nil || len(v.Files) != 1 || v.Files[0] != abs || v.Tab != "about" || len(v.Contents) != 1 || !locate.HasContent(abs, v.Contents[0]) {
			t.Errorf("%s: info has the address %s: %v", path, info.Address, err)
		}
		if checks.Files[0].Address != info.Address {
			t.Errorf("%s: check has the address %s, info %s", path, checks.Files[0].Address, info.Address)
		}
	}
	if r := ask("check", "--json", "testdata"); strings.Contains(r.stdout, `"address"`) {
		t.Errorf("a folder has an address: %s", r.stdout)
	}
}

// TestAddressesElsewhere checks that the addresses in findings and reports, even redacted
// ones, find the recording after it was moved and renamed.
func TestAddressesElsewhere(t *testing.T) {
	here, there := t.TempDir(), t.TempDir()
	b, err := os.ReadFile("testdata/damaged.spaa")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(here, "run.spaa"), b, 0o644); err != nil {
		t.Fatal(err)
	}
	t.Chdir(here)
	var all []string
	for _, args := range [][]string{{"findings", "run.spaa", "--json"}, {"findings", "run.spaa", "--json", "--redact"}, {"report", "run.spaa", "-o", "-"}, {"report", "run.spaa", "-o", "-", "--redact"}, {"overview", "run.spaa", "--json", "--redact"}} {
		r := run(args...)
		_, address, ok := strings.Cut(r.stdout, view.Scheme+"1?")
		if r.code != Done || !ok {
			t.Fatalf("%v has no address: %s%s", args, r.stdout, r.stderr)
		}
		address, _, _ = strings.Cut(address, "\"")
		address, _, _ = strings.Cut(address, "`")
		if all = append(all, view.Scheme+"1?"+address); strings.Contains(strings.Join(args, " "), "--redact") && strings.Contains(r.stdout, here) {
			t.Errorf("%v says where it lies: %s", args, address)
		}
	}
	moved := filepath.Join(there, "another.name")
	if err := os.Rename("run.spaa", moved); err != nil {
		t.Fatal(err)
	}
	for _, address := range all {
		v, err := view.Parse(address)
		if err != nil {
			t.Fatalf("%s: %v", address, err)
		}
		if _, err := locate.Files(v, there, nil); err != nil || v.Files[0] != moved {
			t.Errorf("%s leads to %v: %v", address, v.Files, err)
		}
	}
}
