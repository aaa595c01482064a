package command

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/big"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/pprof/profile"

	"ashlar/ingest/model/recording"
	"ashlar/testdata/rounds"
	"ashlar/testdata/samples"
)

// labelledProfile writes a profile with the labels request and tenant, and on some samples
// pool.
func labelledProfile(t *testing.T) string {
	t.Helper()
	p := &profile.Profile{SampleType: []*profile.ValueType{{Type: "cpu", Unit: "nanoseconds"}}, PeriodType: &profile.ValueType{Type: "cpu", Unit: "nanoseconds"}, Period: 1}
	for i, name := range []string{"main", "serve", "parse", "query", "render"} {
		f := &profile.Function{ID: uint64(i + 1), Name: name}
		p.Function = append(p.Function, f)
		p.Location = append(p.Location, &profile.Location{ID: f.ID, Line: []profile.Line{{Function: f}}})
	}
	for i := range 120 {
		s := &profile.Sample{Value: []int64{int64(i*i%97 + 1)}, Label: map[string][]string{"request": {fmt.Sprint(i % 7)}, "tenant": {[]string{"acme", "apex", "zoo"}[i%3]}}}
		if i%4 > 0 {
			s.Label["pool"] = []string{fmt.Sprint("pool-", i%4)}
		}
		s.Location = []*profile.Location{p.Location[2+i%3], p.Location[1], p.Location[0]}
		p.Sample = append(p.Sample, s)
	}
	var b bytes.Buffer
	if err := p.Write(&b); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "labelled.pb.gz")
	if err := os.WriteFile(path, b.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// pathSums adds up the rows of a tree by path. It drops the counts, because go tool pprof
// merges equal stacks.
func pathSums(t *testing.T, args ...string) map[string]listedSum {
	t.Helper()
	v := viewOf(t, append(args, "--tree", "-n", "0")...)
	rows := slices.DeleteFunc(v.Rows, func(r viewRow) bool { return r.Name == "[no stack]" })
	for i := range rows {
		rows[i].Module = ""
	}
	return valued(rowSums(t, rows, new(recording.Metric), pathsIn(rows)))
}

func valued(sums map[string]listedSum) map[string]listedSum {
	for k, s := range sums {
		if s.count = 0; s == (listedSum{}) {
			delete(sums, k)
		} else {
			sums[k] = s
		}
	}
	return sums
}

// TestWhereAgainstGoTool compares --where with go tool pprof -tagfocus, and --where with !
// with -tagignore.
func TestWhereAgainstGoTool(t *testing.T) {
	made := labelledProfile(t)
	cases := map[string][][3]string{made: {
		// Our condition (keys separated by commas), theirs (one expression per key, separated by
		// blanks), and their flag.
		{"tenant=acme", "tenant=^acme$", "-tagfocus"},
		{"tenant~^a", "tenant=^a", "-tagfocus"},
		{"request=4,tenant=zoo", "request=^4$ tenant=^zoo$", "-tagfocus"},
		{"request=4,request=6", "request=^[46]$", "-tagfocus"},
		{"tenant!=acme", "tenant=^acme$", "-tagignore"},
		{"pool!~[12]", "pool=[12]", "-tagignore"},
		{"pool~1,request=3,request=5,tenant~p", "pool=-1$ request=^[35]$ tenant=p", "-tagfocus"},
	}}
	for _, path := range samples.Files(t, "pprof/parca_profile-with-labels.pb.gz") {
		p := readProfile(t, path)
		seen := map[string]bool{}
		for _, s := range p.Sample {
			for key, values := range s.Label {
				if c := key + "=" + values[0]; !seen[c] && len(values) == 1 {
					seen[c] = true
					cases[path] = append(cases[path], [3]string{c, key + "=^" + regexp.QuoteMeta(values[0]) + "$", "-tagfocus"})
				}
			}
		}
		if len(cases[path]) < 3 {
			t.Errorf("%s has only %d labels", path, len(cases[path]))
		}
	}
	for path, cs := range cases {
		for _, c := range cs {
			from, b := path, []byte(nil)
			for _, label := range strings.Split(c[1], " ") {
				b = goTool(t, c[2]+"="+label, "-proto", from)
				from = filepath.Join(t.TempDir(), "left")
				if err := os.WriteFile(from, b, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			left, err := profile.ParseData(b)
			if err != nil {
				t.Fatal(err)
			}
			var flags []string
			for _, w := range strings.Split(c[0], ",") {
				flags = append(flags, "--where", w)
			}
			metric := left.SampleType[len(left.SampleType)-1].Type
			self := map[string]int64{}
			var sum int64
			for _, s := range left.Sample {
				v := s.Value[len(s.Value)-1]
				sum += v
				if len(s.Location) > 0 && len(s.Location[0].Line) > 0 {
					self[s.Location[0].Line[0].Function.Name] += v
				}
			}
			v := viewOf(t, append([]string{path, "--metric", metric, "-n", "0"}, flags...)...)
			if got := whole(t, v.Total, new(recording.Metric)); got != sum || sum == 0 {
				t.Errorf("%s %s: %d, go tool pprof has %d", filepath.Base(path), c[0], got, sum)
			}
			if path != made {
				continue // the sample has locations without a function
			}
			all, ok := listProfile(left)
			if !ok {
				t.Fatal("a place has no function")
			}
			sameListed(t, c[0], pathSums(t, append([]string{path}, flags...)...), valued(sumPaths(all)))
			for _, r := range v.Rows {
				if got := whole(t, r.Self, new(recording.Metric)); got != self[r.Name] {
					t.Errorf("%s: %s has %d, go tool pprof has %d", c[0], r.Name, got, self[r.Name])
				}
			}
		}
	}
}

// TestWhereGoesEverywhere checks that all commands that select data accept labels, and report
// unknown ones.
func TestWhereGoesEverywhere(t *testing.T) {
	made := labelledProfile(t)
	var all, acme, zoo top
	for x, args := range map[*top][]string{&all: nil, &acme: {"--where", "tenant=acme"}, &zoo: {"--where", "tenant=zoo"}} {
		r := run(append([]string{"top", made, "--json"}, args...)...)
		if err := json.Unmarshal([]byte(r.stdout), x); err != nil || r.code != Done {
			t.Fatal(err, r.stderr)
		}
	}
	if acme.Whole != all.Total || acme.Total == all.Total || acme.Transforms[0].Text != "tenant=acme" {
		t.Errorf("of %s acme has %s of %s by %v", all.Total, acme.Total, acme.Whole, acme.Transforms)
	}
	if text := run("top", made, "--where", "tenant=acme").stdout; !strings.Contains(text, "stacks: tenant=acme") {
		t.Errorf("the text does not say what was left out:\n%s", text)
	}
	// A converted part has the total and the labels of the selection.
	for ext, key := range map[string]string{"spaa": "x_pprof_tenant", "pb.gz": "tenant", "otlp": "tenant"} {
		part := filepath.Join(t.TempDir(), "part."+ext)
		if r := run("convert", made, part, "--where", "tenant=acme", "--where", "request!=3"); r.code != Done {
			t.Fatal(r.stderr)
		}
		var want, got top
		json.Unmarshal([]byte(run("top", made, "--json", "--where", "tenant=acme", "--where", "request!=3").stdout), &want)
		json.Unmarshal([]byte(run("top", part, "--json").stdout), &got)
		if got.Total != want.Total || got.Total == "0" {
			t.Errorf("%s: the part has %s, the selection %s", ext, got.Total, want.Total)
		}
		rows := viewOf(t, part, "--by", "context:"+key).Rows
		if len(rows) != 1 || rows[0].Name != "acme" {
			t.Errorf("%s: the tenants of the part are %v", ext, rows)
		}
	}
	r := run("diff", "--a", made, "--b", made, "--where", "tenant=acme", "--all", "--json")
	if r.code != Done || !strings.Contains(r.stdout, `"total": `+string(acme.Total)) {
		t.Errorf("diff (%d, %s) does not have the total %s: %.900s", r.code, r.stderr, acme.Total, r.stdout)
	}
	for args, says := range map[string]string{
		"--where tenant=nobody": `the recording has no tenant "nobody"; values: acme, apex, zoo`,
		"--where color=red":     `the recording has no label "color"; it has pool, request, tenant`,
		"--where tenant":        `"tenant" is not a condition`,
	} {
		for _, c := range [][]string{{"top", made}, {"convert", made, filepath.Join(t.TempDir(), "x.spaa")}, {"diff", "--a", made, "--b", made}} {
			if r := run(append(c, strings.Fields(args)...)...); r.code == Done || !strings.Contains(r.stderr, says) {
				t.Errorf("%s %s: %d %q, which should say %q", c[0], args, r.code, r.stderr, says)
			}
		}
	}
}

// TestWhereAgainstNaive compares --where with sums over SPAA files decoded naively.
func TestWhereAgainstNaive(t *testing.T) {
	rounds.Unraced(t)
	asked := 0
	for _, path := range append(samples.Files(t, "spaa/perf_*.spaa"), "../../assets/demo.spaa.zst") {
		n := readNaive(t, path)
		event := n.stacks[0].event
		metric := n.primary(event)
		sums := map[string]*big.Rat{}
		for _, s := range n.stacks {
			if s.event != event {
				continue
			}
			for key, v := range s.context {
				label := strings.Trim(text(v), `"`)
				if label == "" || key == "event" {
					continue
				}
				c := key + "=" + label
				if sums[c] == nil {
					sums[c] = new(big.Rat)
				}
				if w := s.weights[metric]; w != nil {
					sums[c].Add(sums[c], w)
				}
			}
		}
		for c, want := range sums {
			if want.Sign() == 0 || asked > 200 {
				continue
			}
			asked++
			v := viewOf(t, path, "--event", event, "--metric", metric, "--where", c, "-n", "1")
			if got, ok := new(big.Rat).SetString(string(v.Total)); !ok || got.Cmp(want) != 0 {
				t.Errorf("%s %s %s: %s, the records have %s", filepath.Base(path), metric, c, v.Total, want.RatString())
			}
		}
	}
	if asked < 3 {
		t.Errorf("only %d labels were asked for", asked)
	}
}
