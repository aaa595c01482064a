package headless

import (
	"os"
	"testing"

	"ashlar/app/core/view"
	"ashlar/app/window/shell"
	"ashlar/app/window/workspace"
	"ashlar/ingest/model/recording"
	"ashlar/ingest/query/analyze"
	"ashlar/render/theme"
	"ashlar/testdata/twins"
)

// comparison is one golden picture of two recordings. a and b name files written by
// twinFiles; missing.json does not exist.
type comparison struct {
	name   string
	a, b   string
	view   workspace.View
	theme  *theme.Theme
	above  bool
	state  view.State
	marked string // name of a function to select
	from   int64  // start of a range selected on both sides, in picoseconds; to is 0 for none
	to     int64
	fails  bool
}

var comparisons = []comparison{
	{name: "trace-dark", a: "before.json", b: "after.json"},
	{name: "trace-light", a: "before.json", b: "after.json", theme: theme.Light},
	{name: "trace-range", a: "before.json", b: "after.json", from: 8e9, to: 20e9, state: view.State{Comparison: view.Comparison{Normalize: "duration"}}},
	{name: "trace-distribution", a: "before.json", b: "after.json", state: view.State{Tab: "distribution"}, marked: "parse"},
	{name: "trace-above", a: "before.json", b: "after.json", above: true},
	{name: "mixed-above", a: "before.json", b: "cpu.spaa", above: true, theme: theme.Light},
	{name: "profile-dark", a: "before.folded", b: "after.folded", theme: theme.Dark},
	{name: "profile-light", a: "before.folded", b: "after.folded", theme: theme.Light},
	{name: "diff-a", a: "before.folded", b: "after.folded", view: workspace.Flame, state: view.State{Comparison: view.Comparison{Width: "a"}}},
	{name: "diff-b", a: "before.folded", b: "after.folded", view: workspace.Flame, state: view.State{Comparison: view.Comparison{Width: "b"}}, theme: theme.Light},
	{name: "diff-inverted", a: "before.folded", b: "after.folded", view: workspace.Flame, state: view.State{Stacks: view.Stacks{Transforms: []analyze.Transform{analyze.Transform{Op: analyze.OpInvert}}}}},
	{name: "table-dark", a: "before.json", b: "after.json", state: view.State{Tab: "table"}},
	{name: "table-light", a: "before.folded", b: "after.folded", theme: theme.Light, state: view.State{Tab: "table", Comparison: view.Comparison{Normalize: "total"}}},
	{name: "two", a: "before.json", b: "after.json", state: view.State{Tab: "two"}, marked: "render"},
	{name: "calltree", a: "before.folded", b: "after.folded", state: view.State{Tab: "calltree"}},
	{name: "pairing", a: "before.json", b: "after.json", state: view.State{Tab: "pairing"}},
	{name: "mixed", a: "before.json", b: "cpu.spaa"},
	{name: "mixed-unlike", a: "before.json", b: "after.folded", fails: true},
	{name: "missing", a: "before.json", b: "missing.json", fails: true},
	{name: "damaged", a: "damaged.json", b: "after.json", fails: true, theme: theme.Light},
	{name: "damaged-above", a: "after.json", b: "damaged.json", fails: true, above: true},
}

// twinFiles writes the recordings that are compared.
func twinFiles(t *testing.T) {
	t.Chdir(t.TempDir())
	for name, content := range map[string][]byte{
		"before.json": twins.Trace(false), "after.json": twins.Trace(true),
		"before.folded": twins.Profile(false), "after.folded": twins.Profile(true),
		"cpu.spaa":     []byte(profileOfTimes),
		"damaged.json": []byte("this is no recording\n"),
	} {
		if err := os.WriteFile(name, content, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// profileOfTimes is a sampled profile of the traced program in SPAA, with a metric in
// microseconds.
const profileOfTimes = `{"type":"header","format":"spaa","version":"1.0","source_tool":"perf","frame_order":"leaf_to_root","events":[{"name":"cpu-clock","kind":"software","sampling":{"mode":"frequency","primary_metric":"time"}}],"metrics":[{"name":"time","unit":"us"}],"stack_id_mode":"local"}
{"type":"dso","id":1,"name":"app"}
{"type":"frame","id":1,"func":"frame","dso":1,"kind":"user"}
{"type":"frame","id":2,"func":"parse","dso":1,"kind":"user"}
{"type":"frame","id":3,"func":"render","dso":1,"kind":"user"}
{"type":"stack","id":"a","frames":[2,1],"context":{"event":"cpu-clock"},"weights":[{"metric":"time","value":19000,"unit":"us"}]}
{"type":"stack","id":"b","frames":[3,1],"context":{"event":"cpu-clock"},"weights":[{"metric":"time","value":12000,"unit":"us"}]}
`

// TestGoldenComparisons compares pictures of two recordings with the golden ones.
func TestGoldenComparisons(t *testing.T) {
	for _, p := range comparisons {
		t.Run(p.name, func(t *testing.T) {
			twinFiles(t)
			if p.theme == nil {
				p.theme = theme.Dark
			}
			s := shell.New(p.theme)
			defer s.Close()
			if s.View = workspace.Both; p.view != "" {
				s.View = p.view
			}
			s.Open(p.a)
			s.OpenBeside(p.b)
			if p.above {
				s.Run("A above or beside B")
			} else {
				s.GoTo(&p.state)
			}
			if p.marked != "" {
				s.Mark(analyze.Named(p.marked))
			}
			var ranges []recording.Range
			if r := recording.Offsets(p.from, p.to); p.to > 0 {
				ranges = append(ranges, r, r)
			}
			err := s.Finish(ranges...)
			if (err != nil) != p.fails {
				t.Fatalf("comparing: %v", err)
			}
			check(t, s, "compare-"+p.name, 1200, 640, 1)
		})
	}
}
