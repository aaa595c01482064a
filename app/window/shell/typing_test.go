package shell

import (
	"fmt"
	"image"
	"strings"
	"testing"
	"time"
	"unicode"

	"gioui.org/io/input"
	"gioui.org/io/key"
	"gioui.org/layout"
	"gioui.org/op"
	"gioui.org/unit"

	"ashlar/render/theme"
	"ashlar/testdata/rounds"
)

// TestWhatIsTypedAtOnceTakesTheNamesPlace types right after the frame that opened the
// field for a file's name. As in the window, typed text goes to the selection that the
// router reports.
func TestWhatIsTypedAtOnceTakesTheNamesPlace(t *testing.T) {
	s := New(theme.Dark)
	defer s.Close()
	var ops op.Ops
	var router input.Router
	frame := func() {
		ops.Reset()
		s.Layout(layout.Context{Ops: &ops, Now: time.Now(), Source: router.Source(),
			Metric: unit.Metric{PxPerDp: 1, PxPerSp: 1}, Constraints: layout.Exact(image.Pt(1000, 700))})
		router.Frame(&ops)
	}
	frame()
	s.askSave("A name", "offered.png", func(string) error { return nil })
	folder := strings.TrimSuffix(s.Chooser.Editor.Text(), "offered.png")
	frame()
	for i, letter := range "ab" {
		at := router.EditorState().Selection.Range
		router.Queue(key.EditEvent{Range: at, Text: string(letter)})
		if i == 0 { // the first letter replaces the name; the next is appended
			n := len([]rune(folder)) + 1
			router.Queue(key.SelectionEvent(key.Range{Start: n, End: n}))
		}
		frame()
	}
	if got := s.Chooser.Editor.Text(); got != folder+"ab" {
		t.Errorf("the line has %q, not %q", got, folder+"ab")
	}
}

// TestWhatIsTypedBehindTheKeyOfALine types the key that opens a text field and, before
// the next frame, letters that are also keys of commands: all letters must go to the
// field.
func TestWhatIsTypedBehindTheKeyOfALine(t *testing.T) {
	rounds.Unraced(t)
	for _, x := range []struct {
		opens key.Event
		text  func(b *bench) string
	}{
		{key.Event{Name: "/"}, func(b *bench) string { return b.Pane.Finder.Fresh().Editor.Text() }},
		{key.Event{Name: "F", Modifiers: key.ModCtrl}, func(b *bench) string { return b.Pane.Finder.Fresh().Editor.Text() }},
		{key.Event{Name: "K", Modifiers: key.ModCtrl}, func(b *bench) string { return b.Chooser.Editor.Text() }},
	} {
		b := newBench(t, someTrace)
		before := fmt.Sprint(b.Address())
		b.router.Queue(x.opens)
		if x.opens.Modifiers == 0 {
			b.router.Queue(key.EditEvent{Text: string(x.opens.Name)})
		}
		for i, letter := range "pricecart" {
			b.router.Queue(key.Event{Name: key.Name(unicode.ToUpper(letter)), State: key.Press},
				key.EditEvent{Range: key.Range{Start: i, End: i}, Text: string(letter)},
				key.SelectionEvent(key.Range{Start: i + 1, End: i + 1}))
		}
		b.frame()
		b.frame()
		if got := x.text(b); got != "pricecart" {
			t.Errorf("%v: the line has %q", x.opens, got)
		}
		b.press(key.NameEscape, 0)
		b.press(key.NameEscape, 0)
		if after := fmt.Sprint(b.Address()); after != before {
			t.Errorf("%v: the letters did something else:\n%s\n%s", x.opens, before, after)
		}
	}
}
