package shell

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"gioui.org/io/key"

	"ashlar/app/window/panel"
	"ashlar/app/window/workspace"
	"ashlar/render/raster"
	"ashlar/render/svg"
	"ashlar/testdata/rounds"
)

// drawn returns the next frame as SVG.
func (b *bench) drawn() string {
	b.t.Helper()
	b.Shapes = svg.New(1280, 800, raster.Pack(b.Theme.Background))
	b.frame()
	var all strings.Builder
	if err := b.Shapes.Write(&all, ""); err != nil {
		b.t.Fatal(err)
	}
	b.Shapes = nil
	return all.String()
}

// someSamples is a V8 profile of main and its callees read and write.
var someSamples = func() string {
	nodes, samples, deltas := "", "", ""
	for i, of := range []string{"(root)", "main", "read", "write"} {
		nodes += fmt.Sprintf(`,{"id":%d,"callFrame":{"functionName":%q,"scriptId":"0","url":"server.js","lineNumber":%d},"children":[%s]}`, i+1, of, i, []string{"2", "3,4", "", ""}[i])
	}
	for i := range 60 {
		samples, deltas = samples+fmt.Sprint(",", 2+i*i%3), deltas+",7"
	}
	return fmt.Sprintf(`{"nodes":[%s],"startTime":1000,"endTime":1420,"samples":[%s],"timeDeltas":[%s]}`, nodes[1:], samples[1:], deltas[1:])
}()

// someScript is the output of perf script for two threads that run main and its callees
// read and write.
var someScript = func() string {
	var all strings.Builder
	for i := range 60 {
		stack := []string{"main", "read;main", "write;main"}[i*i%3]
		fmt.Fprintf(&all, "server 40/%d %d.%06d: 7 cycles:\n", 40+i%2, 1, 1000+7*i)
		for k, f := range strings.Split(stack, ";") {
			fmt.Fprintf(&all, "\t%x %s+0x%x (/bin/server)\n", 0x400100+0x100*len(f)+k, f, k)
		}
		all.WriteString("\n")
	}
	return all.String()
}()

// saysWhere reports whether the contexts of the selected item's samples, which the
// details show, have been computed in the background.
func (b *bench) saysWhere() bool {
	p := b.Pane
	switch h := &p.Pick.Hit; {
	case p.Rec.Contexts.Len() < 2:
		return true
	case p.Pick.Kind == panel.PickBar:
		return p.Doc.CallContexts(p.Rec, p.Event, p.Metric, h.Track, h.Call) != nil
	}
	return p.Doc.NodeContexts(p.Doc.Answer(), int(p.Pick.Node)) != nil
}

// TestPartsLeadBack compares parts of a recording, changes the view, and closes the
// comparison in every possible way: the view must be as before, in both themes.
func TestPartsLeadBack(t *testing.T) {
	rounds.Unraced(t)
	trace := strings.Replace(someTrace, `{"ph":"i"`, `{"ph":"X","pid":1,"tid":7,"ts":1160,"dur":3,"name":"read"},{"ph":"X","pid":1,"tid":7,"ts":1170,"dur":4,"name":"read"},{"ph":"i"`, 1)
	for _, begin := range []struct{ name, content, theme, title string }{
		{"selected time", trace, "dark", "Compare selection with rest"},
		{"slow calls", trace, "light", "Compare slow calls of selected function"},
		{"samples", someSamples, "light", "Compare selection with rest"},
		{"samples in the dark", someSamples, "dark", "Compare selection with rest"},
		{"perf script", someScript, "light", "Compare selection with rest"},
	} {
		for end, leave := range map[string]func(b *bench){
			"close": func(b *bench) { b.Run("Close comparison") },
			"undo": func(b *bench) {
				for range 10 {
					b.press("Z", key.ModCtrl)
				}
			},
			"alt-left": func(b *bench) {
				for range 10 {
					b.press(key.NameLeftArrow, key.ModAlt)
				}
			},
			"escape": func(b *bench) {
				for range 10 {
					if b.Pane.Against != nil {
						b.press(key.NameEscape, 0)
					}
				}
			},
		} {
			t.Run(begin.name+" "+end, func(t *testing.T) {
				b := newBench(t, begin.content)
				b.SetTheme(begin.theme)
				p := b.Pane
				p.Fit(p.Rec.Start+50e6, p.Rec.Start+390e6)
				p.Moved = true
				p.SelectRange(p.Rec.Start+60e6, p.Rec.Start+380e6)
				p.SearchFor("rea")
				b.Pane.Tab = panel.Functions
				for i := range p.Rec.Tracks {
					p.Closed[int(p.Rec.Tracks[i].Process)] = false
				}
				if err := b.Finish(); err != nil {
					t.Fatal(err)
				}
				if !b.Pick("read") {
					t.Fatal("read is not there")
				}
				if err := b.Finish(); err != nil {
					t.Fatal(err)
				}
				b.until("where the samples were taken", b.saysWhere)
				was, pick, before := b.State(), p.Pick, b.drawn()
				if end == "undo" || end == "alt-left" {
					p.History = workspace.History{} // otherwise undo would go back beyond the comparison
				}

				b.Run(begin.title)
				b.until("compared", func() bool { return p.ScopeComparison != nil && p.ScopeComparison.Answer() != nil })
				b.now = b.now.Add(time.Minute)
				b.frame()
				p.Closed = map[int]bool{0: true}
				p.FitAll()
				if end == "undo" || end == "alt-left" { // make these changes a step of history of their own
					b.now = b.now.Add(time.Minute)
					b.frame()
					b.frame()
				}
				leave(b)
				if p.Against != nil {
					t.Fatal("it is still compared")
				}
				if err := b.Finish(); err != nil {
					t.Fatal(err)
				}
				b.now = b.now.Add(time.Minute)
				b.until("where the samples were taken", b.saysWhere)
				if is := b.State(); !reflect.DeepEqual(is, was) {
					t.Errorf("the state was\n%+v\nand is\n%+v", was, is)
				}
				if b.Pane.Pick.Fn != pick.Fn || b.Pane.Pick.Kind != pick.Kind {
					t.Errorf("picked was %+v and is %+v", pick, b.Pane.Pick)
				}
				is := b.drawn()
				for began := time.Now(); is != before && time.Since(began) < 10*time.Second; is = b.drawn() {
					time.Sleep(5 * time.Millisecond) // answers may still be missing on a busy machine
				}
				if is != before {
					was, now := strings.Split(before, "\n"), strings.Split(is, "\n")
					k := 0
					for k < min(len(was), len(now))-1 && was[k] == now[k] {
						k++
					}
					t.Errorf("the picture is another one: line %d was\n%s\nand is\n%s", k, was[k], now[k])
				}
			})
		}
	}
}
