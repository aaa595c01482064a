package shell

import (
	"slices"
	"strings"
	"testing"

	"gioui.org/io/key"

	"ashlar/app/core/view"
	"ashlar/app/window/panel"
	"ashlar/testdata/rounds"
)

// TestATitleThatIsTypedComesFirst checks that a command's whole title, in any case, finds
// that command first, and that titles beginning with the typed text come before others.
func TestATitleThatIsTypedComesFirst(t *testing.T) {
	rounds.Unraced(t)
	b := newBench(t, someTrace)
	b.openPalette()
	first := func(text string) string {
		b.Chooser.SetText(text)
		b.Chooser.Refresh()
		if len(b.Chooser.Lines) == 0 {
			return ""
		}
		return b.Chooser.Lines[0].Title
	}
	for _, c := range Commands {
		for _, text := range []string{c.Title, strings.ToUpper(c.Title), " " + c.Title + " "} {
			if got := first(text); got != c.Title {
				t.Errorf("%q has %q first", text, got)
			}
		}
	}
	for text, want := range map[string]string{"calls": "Calls", "function table": "Table of functions", "heat": "Heatmap"} {
		if got := first(text); got != want {
			t.Errorf("%q has %q first, not %q", text, got, want)
		}
	}
}

// TestPaletteFindsPlaces checks that the palette also finds functions, threads and marks,
// each with its kind. Choosing a function goes to its longest call on the selected
// threads.
func TestPaletteFindsPlaces(t *testing.T) {
	const file = `[{"ph":"M","pid":1,"tid":1,"name":"thread_name","args":{"name":"main"}},{"ph":"M","pid":1,"tid":2,"name":"thread_name","args":{"name":"heater"}},
{"ph":"X","pid":1,"tid":1,"ts":0,"dur":90,"name":"heat"},{"ph":"X","pid":1,"tid":1,"ts":200,"dur":150,"name":"heat"},{"ph":"X","pid":1,"tid":1,"ts":700,"dur":20,"name":"preheat","cat":"function"},
{"ph":"X","pid":1,"tid":2,"ts":100,"dur":800,"name":"heat"}]`
	b := newBench(t, file)
	p := b.Pane
	p.MarkList.Add(view.NewMark(view.Place{From: 40e6, To: 40e6}, "heat begins"))
	b.settled()
	lines := func(text string) (titles, kinds []string) {
		b.openPalette()
		b.Chooser.SetText(text)
		b.Chooser.Refresh()
		for _, l := range b.Chooser.Lines {
			titles = append(titles, l.Title)
			kinds = append(kinds, l.Detail)
		}
		return titles, kinds
	}
	titles, kinds := lines("heat")
	if len(titles) < 5 || titles[0] != "Heatmap" || titles[1] != "heat" || !slices.Equal(titles[2:4], []string{"heater 2", "heat begins"}) {
		t.Errorf("heat names %q", titles)
	}
	for i, want := range []string{"", "function", "thread", "mark at 40.00 µs"} {
		if !strings.HasSuffix(kinds[i], want) {
			t.Errorf("%q is said to be %q, want %q", titles[i], kinds[i], want)
		}
	}
	if _, kinds := lines("preheat"); kinds[0] != "20.00 µs · function" { // the category is no module
		t.Errorf("preheat is said to be %q", kinds[0])
	}
	if titles, _ := lines(""); slices.Contains(titles, "heat") {
		t.Error("nothing is typed, and functions are listed")
	}
	at := func() int64 { return (p.Pick.Hit.Start - p.Rec.Start) / 1e6 }
	lines("heat")
	b.Chooser.Take(1)
	b.until("the longest call", func() bool { return p.Pick.Kind == panel.PickBar && at() == 100 })
	p.Scope = p.Scope.On([]int{0})
	b.settled()
	lines("heat")
	b.Chooser.Take(1)
	b.until("the longest call of the thread", func() bool { return p.Pick.Kind == panel.PickBar && at() == 200 })
	if w := p.View.Span() / 1e6; w < 150 || w > 600 || p.View.From > p.Pick.Hit.Start || p.View.To < p.Pick.Hit.End {
		t.Errorf("the view of it is %d µs wide from %d", w, (p.View.From-p.Rec.Start)/1e6)
	}
	// The question why calls are slow can be asked about any function.
	if titles, _ := lines("why heat"); len(titles) == 0 || titles[0] != "Why are calls of heat slow?" {
		t.Errorf("why heat names %q", titles)
	}
	b.Chooser.Take(0)
	b.until("the slow calls beside the rest", func() bool {
		return p.Against != nil && p.Against.Calls != nil && p.Against.Calls.Text == "heat[slowest 1]" && p.Tab == panel.Difference
	})
	b.press(key.NameEscape, 0)
	b.press(key.NameEscape, 0)
	b.until("one recording", func() bool { return p.Against == nil })
	// Choosing before the list is updated acts on the typed text.
	b.openPalette()
	b.Chooser.SetText("preheat")
	b.Chooser.Refresh()
	b.Chooser.Take(-1)
	b.until("the other function", func() bool { f, ok := p.PickedFunction(); return ok && f.Name == "preheat" && at() == 700 })
}

// TestPaletteKnowsOrdinaryWords checks that synonyms find commands, that each belongs to
// an existing command, and that a text without a match gets suggestions.
func TestPaletteKnowsOrdinaryWords(t *testing.T) {
	for title := range otherWords {
		if !slices.ContainsFunc(Commands, func(c Command) bool { return c.Title == title }) {
			t.Errorf("there is no command %q", title)
		}
	}
	b := newBench(t, someTrace)
	b.openPalette()
	titles := func(text string) (titles []string) {
		b.Chooser.SetText(text)
		b.Chooser.Refresh()
		for _, l := range b.Chooser.Lines {
			titles = append(titles, l.Title)
		}
		return titles
	}
	for word, want := range map[string]string{
		"export": "Save picture (PNG, SVG)", "screenshot": "Save picture (PNG, SVG)", "picture": "Save picture (PNG, SVG)",
		"settings": "Larger text", "preferences": "System theme", "bookmark": "Add mark", "note": "Add mark", "measure": "Extend selected time",
		"compare": "Compare with file", "share": "Copy view address", "copy": "Copy selection",
	} {
		if got := titles(word); !slices.Contains(got, want) {
			t.Errorf("%q finds %q, not %q", word, got, want)
		}
	}
	if got := titles("zzqqxx"); !slices.Equal(got, []string{`Search for "zzqqxx"`, "Show all commands", "Open the manual"}) {
		t.Errorf("a word that names nothing is answered with %q", got)
	}
	b.Chooser.Take(0)
	if b.Pane.Find != "zzqqxx" || b.Chooser != nil {
		t.Errorf("it searches for %q", b.Pane.Find)
	}
}
