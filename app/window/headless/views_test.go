package headless

import (
	"fmt"
	"image"
	"os"
	"strings"
	"testing"

	"ashlar/app/core/view"
	"ashlar/app/window/shell"
	"ashlar/ingest/query/analyze"
	"ashlar/render/theme"
)

// steps lists the user's actions before a picture is taken: titles of commands, and
// functions to select.
type steps []string

const pick = "pick:" // prefix of a function to select

// views are the golden pictures of each view. They are drawn in both themes, except for
// pictures that repeat parts of another one.
var views = []struct {
	name  string
	open  func(t *testing.T, s *shell.Shell)
	look  view.Stacks
	do    steps
	mode  theme.Mode
	small bool
	again bool // draw it in one theme only, because other pictures show its parts
}{
	{name: "flame-up", open: demo, do: steps{"Flip flamegraph"}},
	{name: "flame-zoomed", open: demo, do: steps{pick + "shop/pricing.(*Rule).matches", "Zoom to selected function"}},
	{name: "flame-changed", open: demo, look: view.Stacks{Transforms: []analyze.Transform{analyze.Transform{Op: analyze.OpDrop, Ref: analyze.Named("shop/pricing.(*Engine).PriceCart")}, analyze.Transform{Op: analyze.OpHideKernel}, analyze.Transform{Op: analyze.OpInvert}}}},
	{name: "search", open: demo, look: view.Stacks{Find: "json"}},
	{name: "search-threads", again: true, open: demo, look: view.Stacks{Find: "thread:worker 2"}},
	{name: "colour-module", open: demo, mode: theme.ByModule},
	{name: "colour-kind", open: demo, mode: theme.ByKind},
	{name: "colour-thread", open: demo, mode: theme.ByThread},
	{name: "colour-search", open: demo, look: view.Stacks{Find: "regexp"}, mode: theme.BySearch},
	{name: "functions", open: demo, do: steps{"Table of functions", pick + "runtime.mallocgc"}},
	{name: "functions-spans", again: true, open: trace, do: steps{"Table of functions"}},
	{name: "modules", again: true, open: demo, do: steps{"Table of modules"}},
	{name: "threads", again: true, open: trace, do: steps{"Table of threads"}},
	{name: "columns", again: true, open: demo, do: steps{"Table columns"}},
	{name: "sandwich", open: demo, do: steps{pick + "runtime.mallocgc", "Callers and callees"}},
	{name: "sandwich-zoomed", again: true, open: func(_ *testing.T, s *shell.Shell) {
		s.Open("ashlar:1?file=demo:&tab=callers&function=runtime.mallocgc:/srv/checkout/bin/checkout&callers=runtime.mallocgc:/srv/checkout/bin/checkout,strings.(*Builder).Grow:/srv/checkout/bin/checkout,strings.ToLower:/srv/checkout/bin/checkout&callees=runtime.mallocgc:/srv/checkout/bin/checkout,runtime.gcAssistAlloc:/srv/checkout/bin/checkout")
	}},
	{name: "callers", open: demo, do: steps{pick + "runtime.mallocgc", "Callers and callees", "Callers and callees as lists"}},
	{name: "calls", open: trace, do: steps{"Table of functions", heaviest, "Calls"}},
	{name: "calls-dots", again: true, open: traced("tab=calls&with=dots&calls=/./[1us..]")},
	{name: "calls-set", again: true, open: traced("tab=calls&calls=/./[2ms..]")},
	{name: "calls-against", open: traced("tab=difference&calls=/./[2ms..]&calls.b=/./[..2ms]")},
	{name: "tones", small: true, open: file("waits.json", waits)},
	{name: "heatmap", open: demo, do: steps{"Heatmap"}},
	{name: "query", open: traced("tab=query&sql=SELECT%20function%2C%20count(*)%20AS%20calls%2C%20sum(self_ps)%20AS%20self_ps%2C%20max(duration_ps)%20AS%20longest_ps%0AFROM%20spans%20GROUP%20BY%20function%0AORDER%20BY%20self_ps%20DESC")},
	{name: "query-chart", again: true, open: traced("tab=query&with=chart&sql=SELECT%20start_ps%2C%20duration_ps%20FROM%20spans%20WHERE%20depth%20%3D%202%20ORDER%20BY%201")},
	{name: "trend", open: func(t *testing.T, s *shell.Shell) { s.ShowTrend(nightly(t)) }},
	{name: "trend-two", again: true, open: func(t *testing.T, s *shell.Shell) {
		runs := nightly(t)
		s.Open("ashlar:1?file=run-1.folded&file=run-6.folded&runs=" + strings.Join(runs[1:5], ",") + "&runs.b=" + strings.Join(runs[6:], ",") + "&tab=trend&function=hash")
	}},
	{name: "about", open: file("damaged.spaa", damaged), do: steps{"About this file"}},
	{name: "palette", open: demo, do: steps{"Command palette"}},
	{name: "help", open: demo, do: steps{"Help"}},
	{name: "help-small", again: true, open: demo, do: steps{"Help"}, small: true},
}

// waits is a trace whose spans have CPU times.
const waits = `[{"ph":"M","name":"thread_name","pid":1,"tid":1,"args":{"name":"main"}},
{"ph":"X","name":"RunTask","pid":1,"tid":1,"ts":0,"dur":900,"tdur":300},{"ph":"X","name":"ParseHTML","pid":1,"tid":1,"ts":50,"dur":300,"tdur":240},
{"ph":"X","name":"WaitForNetwork","pid":1,"tid":1,"ts":400,"dur":450,"tdur":20},{"ph":"X","name":"Paint","pid":1,"tid":1,"ts":1000,"dur":200}]`

// nightly writes twelve runs. From the eighth on, one function takes longer, and there is a
// new one.
func nightly(t *testing.T) (runs []string) {
	t.Chdir(t.TempDir())
	for i := range 12 {
		text := fmt.Sprintf("main;serve;sort %d\nmain;serve;encode %d\nmain;serve;flush %d\nmain %d\n", 2000+i*53%90, 700+i*29%40, 180+i*31%20, 10+i*3%5)
		if i < 7 {
			text += fmt.Sprintf("main;serve;hash %d\n", 1000+i*37%50)
		} else {
			text += fmt.Sprintf("main;serve;hash %d\nmain;serve;check %d\n", 1500+i*37%50, 60+i%3)
		}
		name := fmt.Sprintf("run-%d.folded", i+1)
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		runs = append(runs, name)
	}
	return runs
}

// traced returns a function that opens the synthetic trace with the given address keys.
func traced(query string) func(*testing.T, *shell.Shell) {
	return func(t *testing.T, s *shell.Shell) {
		trace(t, s)
		st, err := view.Parse("ashlar:1?file=trace.spall&" + query)
		if err != nil {
			t.Fatal(err)
		}
		s.GoTo(st)
	}
}

// heaviest is the step that selects the function with the largest self weight.
const heaviest = "the heaviest function"

func TestGoldenViews(t *testing.T) {
	for _, v := range views {
		themes := []*theme.Theme{theme.Dark, theme.Light}
		if v.again {
			themes = themes[:1]
		}
		for _, th := range themes {
			t.Run(v.name+"-"+th.Name, func(t *testing.T) {
				s := shell.New(th)
				defer s.Close()
				v.open(t, s)
				if v.mode != "" {
					s.Mode = v.mode
				}
				settle(t, s, v.look)
				for _, step := range v.do {
					do(t, s, step)
				}
				settle(t, s, v.look)
				size := image.Pt(1000, 640)
				if v.small {
					size = image.Pt(560, 420)
				}
				check(t, s, "views/"+v.name+"-"+th.Name, size.X, size.Y, 1)
			})
		}
	}
}

func do(t *testing.T, s *shell.Shell, step string) {
	t.Helper()
	name, picks := strings.CutPrefix(step, pick)
	switch {
	case step == heaviest:
		name, picks = s.Doc().Answer().Rows[0].Name, true
		fallthrough
	case picks:
		if !s.Pick(name) {
			t.Fatalf("there is no function %q to select", name)
		}
	case !s.Run(step):
		t.Fatalf("there is no command %q", step)
	}
}

func TestGoldenContrast(t *testing.T) {
	s := shell.New(theme.Contrast)
	defer s.Close()
	s.OpenDemo()
	settle(t, s, view.Stacks{Find: "json"})
	s.Scale = 1.25
	check(t, s, "views/contrast", 1000, 640, 1)
}

// settle applies a view, if any, and waits until all answers are in.
func settle(t *testing.T, s *shell.Shell, look view.Stacks) {
	t.Helper()
	if look.Transforms != nil || look.Find != "" {
		s.GoTo(&view.State{Stacks: look})
	}
	if err := s.Finish(); err != nil {
		t.Fatal(err)
	}
}
