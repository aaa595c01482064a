package shell

import (
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"testing"
	"time"

	"gioui.org/f32"
	"gioui.org/io/key"
	"gioui.org/io/pointer"

	"ashlar/render/theme"
	"ashlar/testdata/twins"
)

// keptRecents is a Keep with recent files.
type keptRecents struct {
	keptNote
	of []Recent
}

func (k *keptRecents) Recents() []Recent { return k.of }

// recentBench shows the first page with three recent files, the last of which does not
// exist.
func recentBench(t *testing.T) (b *bench, row func(i int) f32.Point) {
	t.Helper()
	dir := t.TempDir()
	k := &keptRecents{}
	for name, content := range map[string][]byte{"a.json": twins.Trace(false), "b.json": twins.Trace(true)} {
		if err := os.WriteFile(filepath.Join(dir, name), content, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"a.json", "b.json", "gone.json"} {
		k.of = append(k.of, Recent{Path: filepath.Join(dir, name), Opened: time.Unix(1e9, 0)})
	}
	b = &bench{t: t, Shell: New(theme.Dark), now: time.Unix(1e9, 0)}
	b.Keep = k
	t.Cleanup(b.Close)
	b.frame()
	b.frame()
	return b, func(i int) f32.Point {
		return b.written(filepath.Base(k.of[i].Path))
	}
}

// written returns the position of a text in the window.
func (b *bench) written(text string) f32.Point {
	b.t.Helper()
	m := regexp.MustCompile(`<text x="([0-9.]+)" y="([0-9.]+)"[^>]*>` + regexp.QuoteMeta(text) + "<").FindStringSubmatch(b.shapes())
	if m == nil {
		b.t.Fatalf("%q is nowhere in the window", text)
	}
	x, _ := strconv.ParseFloat(m[1], 32)
	y, _ := strconv.ParseFloat(m[2], 32)
	return f32.Pt(float32(x)+3, float32(y)-3)
}

func (b *bench) click(at f32.Point, mods key.Modifiers, buttons pointer.Buttons) {
	for _, kind := range []pointer.Kind{pointer.Move, pointer.Press, pointer.Release} {
		e := pointer.Event{Kind: kind, Source: pointer.Mouse, Position: at, Modifiers: mods, Time: time.Duration(b.now.UnixNano())}
		if kind == pointer.Press {
			e.Buttons = buttons
		}
		b.router.Queue(e)
		b.frame()
	}
	b.now = b.now.Add(time.Second) // so that the next click is not a double click
	b.frame()
}

// compares returns the names of the compared files.
func (b *bench) compares() [2]string {
	if b.Versus == nil {
		return [2]string{}
	}
	return [2]string{filepath.Base(b.Versus.Panes[0].Path), filepath.Base(b.Versus.Panes[1].Path)}
}

// TestRecentsAreCompared compares recent files by choosing two, or by dragging one onto
// the other. The first chosen file, or the drop target, is the baseline.
func TestRecentsAreCompared(t *testing.T) {
	for name, c := range map[string]struct {
		do   func(b *bench, row func(int) f32.Point)
		want [2]string
		open string
	}{
		"chosen": {func(b *bench, row func(int) f32.Point) {
			b.click(row(1), key.ModCtrl, pointer.ButtonPrimary)
			b.click(row(0), key.ModCtrl, pointer.ButtonPrimary)
		}, [2]string{"b.json", "a.json"}, ""},
		"chosen, then clicked": {func(b *bench, row func(int) f32.Point) {
			b.click(row(0), key.ModCtrl, pointer.ButtonPrimary)
			b.click(row(1), 0, pointer.ButtonPrimary)
		}, [2]string{"a.json", "b.json"}, ""},
		"dragged": {func(b *bench, row func(int) f32.Point) { b.drag(row(1), row(0), 0) }, [2]string{"a.json", "b.json"}, ""},
		"by the menu": {func(b *bench, row func(int) f32.Point) {
			b.click(row(0), 0, pointer.ButtonSecondary)
			b.Menu.Items[1].Do()
			b.Menu = nil
			b.frame()
			b.click(row(1), 0, pointer.ButtonSecondary)
			b.Menu.Items[1].Do()
		}, [2]string{"a.json", "b.json"}, ""},
		"chosen and not": {func(b *bench, row func(int) f32.Point) {
			b.click(row(0), key.ModCtrl, pointer.ButtonPrimary)
			b.click(row(0), key.ModCtrl, pointer.ButtonPrimary)
		}, [2]string{}, ""},
		"dragged nowhere":    {func(b *bench, row func(int) f32.Point) { b.drag(row(1), row(0).Sub(f32.Pt(0, 400)), 0) }, [2]string{}, ""},
		"with one that gone": {func(b *bench, row func(int) f32.Point) { b.drag(row(2), row(0), 0) }, [2]string{}, ""},
		"just clicked":       {func(b *bench, row func(int) f32.Point) { b.click(row(0), 0, pointer.ButtonPrimary) }, [2]string{}, "a.json"},
	} {
		t.Run(name, func(t *testing.T) {
			b, row := recentBench(t)
			c.do(b, row)
			b.frame()
			if got := b.compares(); got != c.want {
				t.Errorf("it compares %q, want %q", got, c.want)
			}
			if k := b.Keep.(*keptRecents); b.Versus != nil {
				if err := b.Finish(); err != nil {
					t.Fatal(err)
				}
				if b.frame(); len(k.opened) != 2 { // both become recent files
					t.Errorf("kept as opened: %q", k.opened)
				}
			}
			open := ""
			if b.Pane != nil && b.Versus == nil {
				open = filepath.Base(b.Pane.Path)
			}
			if open != c.open {
				t.Errorf("%q is open, want %q", open, c.open)
			}
		})
	}
}
