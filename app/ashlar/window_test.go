//go:build linux

package main

import (
	"cmp"
	"encoding/json"
	"image"
	"image/color"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"ashlar/app/core/view"
	"ashlar/ingest/query/analyze"
	"ashlar/render/theme"
	"ashlar/testdata/e2e"
)

func TestMain(m *testing.M) { os.Exit(e2e.Main(m)) }

// frame holds the fields of a frame log line that these tests use, including those of the
// address in it.
type frame struct {
	View     string
	From, To int64
	Metric   string
	Theme    string
	File     string
	Done     bool
	Events   int64
	Bars     int
	Width    int
	Note     string

	Drop []string

	Typed, Found, Total, Near string
	Threads, Scope            []string
	Rows                      int
	Scale                     float32
	Focus                     string
	Compare                   *versus

	Rest bool

	looks
	Tab, Picked, Search, Grouped, Sorted, Colour string
	PickedAt                                     int64
	Transforms                                   []analyze.Transform
	Marks                                        []view.Mark
	Widths                                       []view.Width
	Zoom                                         int
	Up                                           bool
}

// looks holds what an address stores for one recording.
type looks struct {
	Selected                               [2]int64
	Pinned, Chosen, Hidden, Folded, Scroll int
	Anchor                                 int64
}

func looksOf(s *view.Side) looks {
	return looks{[2]int64{s.Select.From, s.Select.To}, len(s.Pin), len(s.Threads), len(s.Hide), len(s.Fold), int(s.Scroll), s.Anchor}
}

// UnmarshalJSON reads a line of the frame log and the address in it.
func (f *frame) UnmarshalJSON(line []byte) error {
	type plain frame
	if err := json.Unmarshal(line, (*plain)(f)); err != nil || f.View == "" {
		return err
	}
	st, err := view.Parse(f.View)
	if err != nil {
		return err
	}
	f.looks = looksOf(&st.Sides[0])
	f.Tab, f.Search, f.Grouped, f.Sorted, f.Colour = cmp.Or(st.Tab, view.FirstTab), st.Find, cmp.Or(st.Group, "function"), cmp.Or(st.Sort, "self"), cmp.Or(st.Colour, "function")
	f.Transforms, f.Marks, f.Widths, f.Zoom, f.Up = st.Transforms, st.Marks, st.Widths, len(st.Zoom), st.Up
	if st.Function != nil {
		f.Picked = st.Function.Name
	}
	if b := st.Sides[0].Bar; b != nil {
		f.PickedAt = b.Time
	}
	if c := f.Compare; c != nil {
		for i := range c.Sides {
			c.Sides[i].looks = looksOf(&st.Sides[i])
		}
		c.Tab, c.Chosen, c.Linked, c.Above, c.Focus = st.Tab, f.Picked, !st.Unlinked, st.Layout == view.Above, "A"
		if st.FocusB {
			c.Focus = "B"
		}
	}
	return nil
}

// session is a window with its frame log.
type session struct {
	*e2e.Window
	t   *testing.T
	log *e2e.Log[frame]
}

// startAshlar opens a window on its own display and waits until its recording is read.
func startAshlar(t *testing.T, args ...string) *session {
	t.Helper()
	s := launch(t, args...)
	s.until("the recording to be read", read)
	return s
}

func read(f frame) bool { return f.Done && f.Bars > 0 }

// launch is startAshlar without waiting for a recording.
func launch(t *testing.T, args ...string) *session {
	t.Helper()
	return startOn(t, e2e.StartDisplay(t), append([]string{"--theme", "dark"}, args...)...)
}

// startOn opens a window on a given display, which tests can share between windows.
func startOn(t *testing.T, d *e2e.Display, args ...string) *session {
	t.Helper()
	return traced(t, d, nil, args...)
}

// traced is startOn with the program run by another command.
func traced(t *testing.T, d *e2e.Display, by []string, args ...string) *session {
	t.Helper()
	hideFindings(t, d)
	log := filepath.Join(t.TempDir(), "frames.json")
	command := append(append(by, e2e.Build(t, "./app/ashlar"), "--frame-log", log), args...)
	return &session{d.Start(t, command[0], command[1:]...), t, e2e.OpenLog[frame](log)}
}

// hideFindings turns off the row of findings on a display without saved settings: the row
// would move what tests click on.
func hideFindings(t *testing.T, d *e2e.Display) {
	t.Helper()
	path := d.Path("XDG_CONFIG_HOME", "ashlar", "settings.json")
	if _, err := os.Stat(path); err == nil {
		return
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(`{"no_findings": true}`), 0o600); err != nil {
		t.Fatal(err)
	}
}

// last returns the newest frame, the zero frame if there is none.
func (s *session) last() frame {
	s.t.Helper()
	all := s.log.Read(s.t)
	if len(all) == 0 {
		return frame{}
	}
	return all[len(all)-1]
}

// soon waits for a frame for which holds is true, even if the next frame differs.
func (s *session) soon(what string, holds func(frame) bool) frame {
	s.t.Helper()
	for began := time.Now(); time.Since(began) < patience; time.Sleep(5 * time.Millisecond) {
		if f := s.last(); holds(f) {
			return f
		}
	}
	s.t.Fatalf("waited %v in vain for %s; the last frame is %+v", patience, what, s.last())
	return frame{}
}

// patience is the longest wait for a frame, enough for slow machines.
const patience = 90 * time.Second

// until waits for a frame at rest for which holds is true: all answers have arrived, nothing
// moves, and history is up to date. It reflects all earlier input, because input methods
// return once the window has handled it.
func (s *session) until(what string, holds func(frame) bool) frame {
	s.t.Helper()
	return s.soon(what, func(f frame) bool { return f.Rest && holds(f) })
}

// count returns the number of pixels in a rectangle that have about the given colour.
func count(img *image.RGBA, in image.Rectangle, c color.NRGBA) int {
	n := 0
	for y := in.Min.Y; y < in.Max.Y; y++ {
		for x := in.Min.X; x < in.Max.X; x++ {
			p := img.RGBAAt(x, y)
			if near(p.R, c.R) && near(p.G, c.G) && near(p.B, c.B) {
				n++
			}
		}
	}
	return n
}

func near(a, b uint8) bool { return max(a, b)-min(a, b) <= 3 }

// differ returns the number of pixels in a rectangle that differ between two pictures.
func differ(a, b *image.RGBA, in image.Rectangle) int {
	n := 0
	for y := in.Min.Y; y < in.Max.Y; y++ {
		for x := in.Min.X; x < in.Max.X; x++ {
			if a.RGBAAt(x, y) != b.RGBAAt(x, y) {
				n++
			}
		}
	}
	return n
}

// Positions in a 1280x800 window: the lanes of the timeline and the flamegraph. They are
// approximate.
var (
	lanes = image.Rect(180, 140, 1260, 400)
	below = image.Rect(10, 520, 960, 760)
	right = image.Pt(700, 250)
)

func TestWindow(t *testing.T) {
	t.Parallel()
	s := startAshlar(t, "--demo")
	accent := theme.Dark.Accent
	whole := s.last()
	first := s.Screenshot()
	if n := count(first, lanes, theme.Dark.Lane); n == 0 || n == lanes.Dx()*lanes.Dy() {
		t.Errorf("the timeline shows no bars: %d of its pixels are background", n)
	}

	s.Wheel(4, right)
	zoomed := s.until("zooming in", func(f frame) bool { return f.To-f.From < (whole.To-whole.From)*3/4 })
	pic := s.Screenshot()
	if differ(first, pic, lanes) < 1000 {
		t.Error("zooming in changed nothing in the lanes")
	}
	at := func(f frame, x int) float64 {
		return float64(f.From) + float64(x-170)/1100*float64(f.To-f.From)
	}
	if d := at(zoomed, right.X) - at(whole, right.X); d > 0.01*float64(zoomed.To-zoomed.From) || -d > 0.01*float64(zoomed.To-zoomed.From) {
		t.Errorf("zooming moved the time under the pointer by %v of %v ps", d, zoomed.To-zoomed.From)
	}

	s.Drag(e2e.Left, right, right.Add(image.Pt(200, 0)))
	panned := s.until("panning", func(f frame) bool { return f.From < zoomed.From })
	if w := panned.To - panned.From; w != zoomed.To-zoomed.From {
		t.Errorf("panning changed the width of the view from %d to %d", zoomed.To-zoomed.From, w)
	}

	before := s.Screenshot()
	s.Drag(e2e.Left, image.Pt(500, 300), image.Pt(800, 300), "shift")
	sel := s.until("a selection", func(f frame) bool { return f.Selected != [2]int64{} })
	want := [2]float64{at(panned, 500), at(panned, 800)}
	slack := float64(panned.To-panned.From) * .01
	for i, w := range want {
		if d := float64(sel.Selected[i]) - w; d > slack || -d > slack {
			t.Errorf("edge %d of the selection is at %d ps, want about %.0f", i, sel.Selected[i], w)
		}
	}
	pic = s.WaitFor("the flamegraph to answer for the selection", func(img *image.RGBA) bool {
		return differ(before, img, below) > 1000
	})
	if n := count(pic, image.Rect(480, 80, 820, 112), accent); n < 200 {
		t.Errorf("the ruler shows no length of the selection (%d pixels of accent)", n)
	}

	s.Key("m")
	s.until("the next metric", func(f frame) bool { return f.Metric != sel.Metric && f.Metric != "" })
	s.Key("l")
	s.until("the light theme", func(f frame) bool { return f.Theme == "light" })
	s.Key("0")
	s.until("everything again", func(f frame) bool { return f.From == whole.From && f.To == whole.To })

	s.Key("ctrl+q")
	if code := s.WaitExit(); code != 0 {
		t.Errorf("quitting exits with %d: %s", code, s.Output())
	}
}

func TestOpenSecondFile(t *testing.T) {
	t.Parallel()
	s := startAshlar(t, "--demo")
	name := "second file ü.spaa"
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(tiny), 0o644); err != nil {
		t.Fatal(err)
	}
	s.Key("ctrl+o")
	s.until("the opener", func(f frame) bool { return strings.HasPrefix(f.Typed, "File to open: /") })
	s.Type(filepath.Dir(path) + "/second")
	s.until("the path to be typed", func(f frame) bool { return strings.HasSuffix(f.Typed, "/second") })
	s.Key("Return")
	f := s.until("the second file", func(f frame) bool { return f.File == name && f.Done })
	if f.Events != 1 || f.Metric != "samples" {
		t.Errorf("the second file shows %d events of %q, want 1 of samples", f.Events, f.Metric)
	}
	if title := s.Title(); title != name+" – Ashlar" {
		t.Errorf("the window's title is %q", title)
	}
}

func TestClosingWhileLoading(t *testing.T) {
	t.Parallel()
	// A pipe that stays open never finishes loading.
	dir := t.TempDir()
	fifo := filepath.Join(dir, "endless.spaa")
	if err := mkfifo(fifo); err != nil {
		t.Fatal(err)
	}
	w, err := os.OpenFile(fifo, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	if _, err := w.WriteString(tiny); err != nil {
		t.Fatal(err)
	}
	s := launch(t, fifo)
	if f := s.soon("a frame", func(f frame) bool { return f.Width > 0 }); f.Done {
		t.Errorf("a file without an end is read: %+v", f)
	}
	if code := quit(s); code != 0 {
		t.Errorf("closing while loading exits with %d: %s", code, s.Output())
	}
}

// tiny is a recording with one stack.
const tiny = `{"type":"header","format":"spaa","version":"1.0","source_tool":"perf","frame_order":"leaf_to_root","events":[{"name":"cycles","kind":"hardware","sampling":{"mode":"frequency","primary_metric":"samples"}}],"stack_id_mode":"local"}
{"type":"dso","id":1,"name":"/bin/app"}
{"type":"frame","id":1,"func":"main","dso":1,"kind":"user"}
{"type":"stack","id":"a","frames":[1],"context":{"event":"cycles"},"weights":[{"metric":"samples","value":3}]}
`
