package shell

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"ashlar/app/cli"
	"ashlar/ingest/analyze"
	"ashlar/ingest/recording"
	"ashlar/render/theme"
)

// TestCopiedCommandPrintsWhatIsShown runs the command that a pane gives and
// compares its total and rows with the pane's.
func TestCopiedCommandPrintsWhatIsShown(t *testing.T) {
	s := New(theme.Dark)
	defer s.Close()
	s.OpenDemo()
	whole := func(*recording.Recording) (int64, int64, bool) { return 500e9, 900e9, true }
	if err := s.Settle(cli.StackView{}, whole); err != nil {
		t.Fatal(err)
	}
	p := s.pane
	p.transforms = []analyze.Transform{analyze.Focus(analyze.Named("runtime.mallocgc")), analyze.HideKernel()}
	if err := p.doc.Settle(p.question()); err != nil {
		t.Fatal(err)
	}
	line, rest := p.asCommand()
	if rest != "" || !strings.HasPrefix(line, "ashlar top --demo ") {
		t.Fatalf("the command is %q, all but %q", line, rest)
	}
	var out, errs bytes.Buffer
	if code := cli.Main(append(strings.Fields(line)[1:], "--json"), nil, &out, &errs, cli.Runner{}); code != 0 {
		t.Fatalf("%s: exit %d: %s", line, code, errs.String())
	}
	var got struct {
		Total json.Number
		Rows  []struct {
			Name        string
			Self, Total json.Number
		}
	}
	if err := json.Unmarshal(out.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	a := p.doc.Answer()
	text := func(v int64) string { return recording.Decimal{Mantissa: v, Scale: a.Metric().Decimals}.String() }
	if want := text(a.Tree.Nodes[0].Total); got.Total.String() != want || want == "0" {
		t.Errorf("the command's total is %s, the pane's %s", got.Total, want)
	}
	if len(got.Rows) != len(a.Rows) {
		t.Fatalf("the command prints %d rows, the pane has %d", len(got.Rows), len(a.Rows))
	}
	for i, r := range got.Rows {
		if r.Name != a.Rows[i].Name || r.Self.String() != text(a.Rows[i].Self) || r.Total.String() != text(a.Rows[i].Total) {
			t.Errorf("row %d is %v, the pane has %v", i, r, a.Rows[i])
		}
	}
}

func TestQuoted(t *testing.T) {
	for in, want := range map[string]string{"a.spaa": "a.spaa", "two words": "'two words'", "it's": `'it'\''s'`, "": "''", "(*T).x": "'(*T).x'"} {
		if got := quoted(in); got != want {
			t.Errorf("quoted(%q) = %s, want %s", in, got, want)
		}
	}
}
