package shell

import (
	"fmt"
	"image"
	"math/rand/v2"
	"os"
	"path"
	"path/filepath"
	"runtime/debug"
	"strconv"
	"testing"
	"time"

	"gioui.org/f32"
	"gioui.org/io/input"
	"gioui.org/io/key"
	"gioui.org/io/pointer"
	"gioui.org/layout"
	"gioui.org/op"
	"gioui.org/unit"

	"ashlar/render/theme"
	"ashlar/testdata/gen/synth"
	"ashlar/testdata/samples"
)

// monkey uses a shell at random: it presses keys, types, moves the pointer, presses its
// buttons and resizes the window.
type monkey struct {
	*Shell
	r       *rand.Rand
	router  input.Router
	ops     op.Ops
	now     time.Time
	size    image.Point
	scale   float32
	at      f32.Point
	buttons pointer.Buttons
	did     []string
	slowest time.Duration
	slow    string
}

var monkeyKeys = []key.Name{
	key.NameLeftArrow, key.NameRightArrow, key.NameUpArrow, key.NameDownArrow, key.NameReturn, key.NameEnter, key.NameEscape,
	key.NameHome, key.NameEnd, key.NameDeleteBackward, key.NameDeleteForward, key.NamePageUp, key.NamePageDown, key.NameTab, key.NameSpace,
	key.NameF1, key.NameF2, key.NameF3, key.NameF5, "+", "-", "/", "?", "[", "]", ".", ",", "=", ";", "'",
	"0", "1", "2", "3", "4", "5", "6", "7", "8", "9",
	"A", "B", "C", "D", "E", "F", "G", "H", "I", "J", "K", "L", "M", "N", "O", "P", "Q", "R", "S", "T", "U", "V", "W", "X", "Y", "Z",
}

var monkeyTexts = []string{"a", "main", "/re.*d/", "/[/", "thread:net", "arg:n=3", "name:", "module:x", "12.5ms", "1s..2s", "…", "שלום 12", "名前", "\x00", "%", " ", "-1", "999999999999999999999"}

func (m *monkey) act() string {
	switch n := m.r.IntN(100); {
	case n < 35:
		k := monkeyKeys[m.r.IntN(len(monkeyKeys))]
		mods := []key.Modifiers{0, 0, 0, key.ModShift, key.ModCtrl, key.ModAlt, key.ModCtrl | key.ModShift}[m.r.IntN(7)]
		m.router.Queue(key.Event{Name: k, Modifiers: mods, State: key.Press})
		m.router.Queue(key.Event{Name: k, Modifiers: mods, State: key.Release})
		return fmt.Sprint("key ", mods, " ", k)
	case n < 40:
		s := monkeyTexts[m.r.IntN(len(monkeyTexts))]
		m.router.Queue(key.EditEvent{Text: s})
		return fmt.Sprintf("type %q", s)
	case n < 60:
		m.at = f32.Pt(m.r.Float32()*float32(m.size.X), m.r.Float32()*float32(m.size.Y))
		m.point(pointer.Move, f32.Point{})
		return fmt.Sprint("move to ", m.at)
	case n < 70:
		m.at = m.at.Add(f32.Pt(float32(m.r.NormFloat64()*40), float32(m.r.NormFloat64()*25)))
		m.point(pointer.Move, f32.Point{})
		return fmt.Sprint("move to ", m.at)
	case n < 82:
		m.buttons = []pointer.Buttons{pointer.ButtonPrimary, pointer.ButtonPrimary, pointer.ButtonPrimary, pointer.ButtonSecondary, pointer.ButtonTertiary}[m.r.IntN(5)]
		m.point(pointer.Press, f32.Point{})
		if m.r.IntN(3) > 0 {
			m.buttons = 0
			m.point(pointer.Release, f32.Point{})
			return fmt.Sprint("click at ", m.at)
		}
		return fmt.Sprint("press at ", m.at)
	case n < 86:
		m.buttons = 0
		m.point(pointer.Release, f32.Point{})
		return "release"
	case n < 94:
		by := f32.Pt(float32(m.r.IntN(5)-2)*20, float32(m.r.IntN(41)-20)*10)
		m.point(pointer.Scroll, by)
		return fmt.Sprint("scroll by ", by)
	case n < 97:
		m.size = image.Pt(1+m.r.IntN(1600), 1+m.r.IntN(1000))
		return fmt.Sprint("resize to ", m.size)
	case n < 98:
		m.scale = []float32{.5, 1, 1, 1.25, 2, 3}[m.r.IntN(6)]
		return fmt.Sprint("scale to ", m.scale)
	}
	time.Sleep(time.Duration(m.r.IntN(20)) * time.Millisecond) // lets answers arrive
	return "wait"
}

func (m *monkey) point(kind pointer.Kind, by f32.Point) {
	mods := []key.Modifiers{0, 0, 0, 0, key.ModShift, key.ModCtrl, key.ModAlt}[m.r.IntN(7)]
	m.router.Queue(pointer.Event{Kind: kind, Source: pointer.Mouse, Position: m.at, Scroll: by, Modifiers: mods, Buttons: m.buttons, Time: time.Duration(m.now.UnixNano())})
}

func (m *monkey) frame() {
	m.now = m.now.Add(time.Duration(m.r.IntN(60)) * time.Millisecond)
	m.ops.Reset()
	began := time.Now()
	m.Layout(layout.Context{Ops: &m.ops, Now: m.now, Source: m.router.Source(),
		Metric: unit.Metric{PxPerDp: m.scale, PxPerSp: m.scale}, Constraints: layout.Exact(m.size)})
	m.router.Frame(&m.ops)
	if d := time.Since(began); d > m.slowest && len(m.did) > 20 {
		m.slowest, m.slow = d, m.did[len(m.did)-1]
	}
}

// TestMonkey lets monkeys use recordings and comparisons: the shell must not panic.
// ASHLAR_MONKEYS sets their number and seeds them by the clock; by default a few use
// fixed seeds. A failure prints the seed.
func TestMonkey(t *testing.T) {
	files := monkeyFiles(t)
	t.Chdir(filepath.Dir(files[0])) // the monkeys may save files there
	t.Setenv("EDITOR", "")
	t.Setenv("DBUS_SESSION_BUS_ADDRESS", "unix:path=/nowhere")
	runs, events, seed := 12, 250, uint64(1)
	if testing.Short() {
		runs = 2
	}
	if n, err := strconv.Atoi(os.Getenv("ASHLAR_MONKEYS")); err == nil {
		runs, seed = n, uint64(time.Now().UnixNano())
	}
	for i := range runs {
		letMonkey(t, files, seed+uint64(i), events)
	}
}

func letMonkey(t *testing.T, files []string, seed uint64, events int) {
	r := rand.New(rand.NewPCG(seed, 1))
	m := &monkey{Shell: New(theme.All[r.IntN(len(theme.All))]), r: r, now: time.Unix(1e9, 0), size: image.Pt(1280, 800), scale: 1}
	defer m.Close()
	one, two := files[r.IntN(len(files))], ""
	m.Open(one)
	if r.IntN(3) == 0 {
		two = files[r.IntN(len(files))]
		m.OpenBeside(two)
	}
	defer func() {
		if p := recover(); p != nil {
			t.Fatalf("seed %d, %s %s: after %q: %v\n%s", seed, one, two, m.did[max(0, len(m.did)-12):], p, debug.Stack())
		}
	}()
	for range events {
		m.did = append(m.did, m.act())
		for range 1 + r.IntN(2) {
			m.frame()
		}
	}
	t.Logf("seed %d, %s %s: the slowest frame took %v, after %s", seed, filepath.Base(one), filepath.Base(two), m.slowest, m.slow)
}

// monkeyFiles writes small recordings: odd traces, empty files, and the sample files of
// all formats if available.
func monkeyFiles(t *testing.T) (files []string) {
	dir := t.TempDir()
	add := func(name string, content []byte) {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, content, 0o644); err != nil {
			t.Fatal(err)
		}
		files = append(files, path)
	}
	add("trace.json", []byte(someTrace))
	for _, name := range synth.Odds() {
		if name == "functions" || name == "threads" {
			continue // takes too long to read
		}
		file, err := os.Create(filepath.Join(dir, name+".json"))
		if err != nil {
			t.Fatal(err)
		}
		if err := synth.WriteOdd(file, name); err != nil {
			t.Fatal(err)
		}
		file.Close()
		files = append(files, file.Name())
	}
	add("empty.spaa", nil)
	add("nothing.json", []byte("[]"))
	for name, content := range samples.Each(t) {
		add(fmt.Sprint(len(files), "-", path.Base(name)), content)
	}
	return files
}

// TestSearchInANarrowWindow checks that in a narrow toolbar the search takes the whole
// width while the user types.
func TestSearchInANarrowWindow(t *testing.T) {
	b := newBench(t, someTrace)
	m := &monkey{Shell: b.Shell, r: rand.New(rand.NewPCG(1, 1)), now: b.now, size: image.Pt(420, 300), scale: 1}
	press := func(k key.Name) {
		m.router.Queue(key.Event{Name: k, State: key.Press})
		m.frame()
		m.frame()
	}
	m.frame()
	if press("/"); !m.router.Source().Focused(&m.Pane.Finder.Fresh().Editor) {
		t.Fatal("the search does not have the keyboard")
	}
	m.router.Queue(key.EditEvent{Text: "read"})
	m.frame()
	if m.frame(); m.Pane.Find != "read" {
		t.Errorf("what is searched for is %q", m.Pane.Find)
	}
	press(key.NameEscape)
	if press(key.NameEscape); m.router.Source().Focused(&m.Pane.Finder.Fresh().Editor) {
		t.Error("the search keeps the keyboard")
	}
	if m.Pane.Find != "" {
		t.Errorf("%q is still searched for", m.Pane.Find)
	}
}
