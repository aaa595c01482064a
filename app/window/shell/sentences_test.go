package shell

import (
	"fmt"
	"html"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"gioui.org/io/pointer"

	"ashlar/app/core/view"
	"ashlar/app/window/comparison"
	"ashlar/app/window/panel"
	"ashlar/ingest/query/compare"
	"ashlar/render/raster"
	"ashlar/render/theme"
	"ashlar/testdata/rounds"
)

// texts returns the texts of the next frame.
func (b *bench) texts() (all []string) {
	b.t.Helper()
	for _, m := range regexp.MustCompile(`<text [^>]*>([^<]*)<`).FindAllStringSubmatch(b.shapes(), -1) {
		all = append(all, html.UnescapeString(m[1]))
	}
	return all
}

// has reports, for each of some texts, whether it is in the next frame.
func (b *bench) has(texts ...string) (there []bool) {
	b.t.Helper()
	all := b.texts()
	for _, want := range texts {
		found := false
		for _, s := range all {
			found = found || s == want
		}
		there = append(there, found)
	}
	return there
}

// TestOneLongNameLeavesRoomForModules checks that one long name among short ones is cut,
// so that modules are shown in full.
func TestOneLongNameLeavesRoomForModules(t *testing.T) {
	const module = "libjavascriptcoregtk-developer-build.so.12"
	long := "unwrap_" + strings.Repeat("a_rather_long_name_", 12)
	var stacks strings.Builder
	for i := range 30 {
		name := fmt.Sprintf("fn%d", i)
		if i == 7 {
			name = long
		}
		fmt.Fprintf(&stacks, "app 1/1 [000] 1.%06d: 1 cycles:u:\n\t400 %s (/usr/lib/%s)\n\n", i, name, module)
	}
	b := newBench(t, stacks.String())
	b.Pane.Tab = "functions"
	b.settled()
	if ok := b.has("fn3", module, "Module"); !ok[0] || !ok[1] || !ok[2] {
		t.Errorf("a short name, a module in full and the column's head are there: %v", ok)
	}
	name, mod := b.written("fn3"), b.written(module)
	wide := raster.Regular(12).Measure("fn3")
	if gap := mod.X - name.X - wide; gap > 400 {
		t.Errorf("%.0f empty pixels lie between a name and its module", gap)
	}
	if b.has(long)[0] {
		t.Error("the one long name is not cut: the others leave nothing empty")
	}
}

// TestViewMenuIsBelowItsButton checks that the menu View opens below the bar of its
// button and shows the commands' keys.
func TestViewMenuIsBelowItsButton(t *testing.T) {
	b := newBench(t, someTrace)
	b.settled()
	at := b.written("View")
	b.click(at, 0, pointer.ButtonPrimary)
	if b.Menu == nil {
		t.Fatal("there is no menu")
	}
	for _, it := range b.Menu.Items {
		if it.Title == "" {
			continue
		}
		if p := b.written(it.Title); int(p.Y) < b.Pane.Bounds.Tabs.Max.Y {
			t.Errorf("%q stands at %v, over the bar, which ends at %d", it.Title, p, b.Pane.Bounds.Tabs.Max.Y)
		}
		if key := keyOf(it.Title); it.Detail != "" && key != "" && it.Detail != key {
			t.Errorf("%q says the key %q, which is %q", it.Title, it.Detail, key)
		}
	}
	turn := b.Menu.Items[0]
	if turn.Detail == "" || turn.On {
		t.Fatalf("%q is on from the beginning, or has no key", turn.Title)
	}
	b.Menu = nil
	b.press("U", 0)
	if b.click(at, 0, pointer.ButtonPrimary); !b.Menu.Items[0].On {
		t.Errorf("the key %s does not do %q", turn.Detail, turn.Title)
	}
}

// TestGoneIsGoneEverywhere checks that every panel of a comparison calls functions that
// only A has "gone", as ashlar diff does.
func TestGoneIsGoneEverywhere(t *testing.T) {
	rounds.Unraced(t)
	b := &bench{t: t, Shell: compared(t, "before.folded", "after.folded")}
	said := 0
	for _, tab := range []string{comparison.Difference, comparison.Table, comparison.Pairing, comparison.CallTree, comparison.Two} {
		b.Versus.Tab = tab
		settleBoth(t, b.Shell)
		b.frame()
		for _, text := range b.texts() {
			switch strings.ToLower(text) {
			case "none", "removed", "absent", "missing":
				t.Errorf("%s says %q", tab, text)
			case string(compare.Gone):
				said++
			}
		}
	}
	if said == 0 {
		t.Error("nothing is gone: nothing is tested")
	}
}

// TestLabelsAreAsTheFileHasThem checks that keys of labels are shown exactly as --where
// takes them.
func TestLabelsAreAsTheFileHasThem(t *testing.T) {
	b := newBench(t, labelled(t))
	b.settled()
	if !b.Pick("main") {
		t.Fatal("main is not there")
	}
	b.until("the labels of main", func() bool { return slices.Equal(b.has("tenant", "request"), []bool{true, true}) })
	if ok := b.has("Tenant", "Request"); ok[0] || ok[1] {
		t.Errorf("Tenant and Request are there: %v", ok)
	}
}

// TestChoicesShowBothStates checks that the histogram's buttons show both states, and
// that each switches to the state it names.
func TestChoicesShowBothStates(t *testing.T) {
	rounds.Unraced(t)
	b := newBench(t, someTrace)
	b.settled()
	if !b.Pick("read") {
		t.Fatal("read is not there")
	}
	b.Pane.Tab = panel.Calls
	b.settled()
	for _, c := range []struct {
		words [2]string
		on    *bool
	}{{[2]string{"Logarithmic", "Linear"}, &b.Pane.Linear}, {[2]string{"Histogram", "Dots"}, &b.Pane.Dots}} {
		for _, i := range []int{1, 1, 0} {
			if ok := b.has(c.words[:]...); !ok[0] || !ok[1] {
				t.Fatalf("%q are there: %v", c.words, ok)
			}
			b.click(b.written(c.words[i]), 0, pointer.ButtonPrimary)
			if *c.on != (i == 1) {
				t.Errorf("a click on %s leads to the other", c.words[i])
			}
		}
	}
}

// TestFunctionWithoutItsModule checks that an address may name a function without its
// module. In a Chrome trace the module is the category, which users seldom know.
func TestFunctionWithoutItsModule(t *testing.T) {
	b := newBench(t, `[{"ph":"X","cat":"toplevel","pid":1,"tid":1,"ts":0,"dur":90,"name":"main"},{"ph":"X","cat":"toplevel,ipc","pid":1,"tid":1,"ts":1,"dur":50,"name":"RunTask"},
{"ph":"X","pid":1,"tid":1,"ts":60,"dur":5,"name":"RunTask"}]`)
	path := filepath.ToSlash(b.Pane.Rec.Source.Path)
	for ask, want := range map[string]string{"function=main": "main@toplevel", "function=RunTask": "RunTask", "function=RunTask:toplevel%2Cipc": "RunTask@toplevel,ipc"} {
		s := New(theme.Dark)
		s.Open(view.Scheme + "1?file=" + path + "&" + ask)
		if err := s.Finish(); err != nil {
			t.Errorf("%s: %v", ask, err)
		} else if f, _ := s.Pane.PickedFunction(); f.FuncName().String() != want {
			t.Errorf("%s marks %s, want %s", ask, f.FuncName(), want)
		}
		s.Close()
	}
}
