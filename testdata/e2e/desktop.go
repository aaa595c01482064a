//go:build linux

package e2e

import (
	"image"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// A Desktop is a display with an environment for users: a window manager, or a Wayland
// compositor that uses the display as its screen and mouse.
type Desktop struct {
	*Display
	wayland string // the compositor's socket, "" on X11
	running *Window
}

// StartOpenbox starts a display with a window manager.
func StartOpenbox(t testing.TB) *Desktop {
	t.Helper()
	d := &Desktop{Display: StartDisplay(t)}
	d.run(need(t, "openbox", "openbox"), "--sm-disable")
	// A window that opens while openbox starts may never be shown.
	d.running.wait("openbox to be ready", func() bool {
		_, err := d.xdotool("get_desktop")
		return err == nil
	})
	return d
}

// StartWeston starts a display with a Wayland compositor.
func StartWeston(t testing.TB) *Desktop {
	t.Helper()
	d := &Desktop{Display: StartDisplay(t), wayland: "wayland-e2e"}
	settings := filepath.Join(d.dir, "weston.ini")
	err := os.WriteFile(settings, []byte("[shell]\npanel-position=none\nlocking=false\nanimation=none\nstartup-animation=none\nclose-animation=none\n"), 0o600)
	if err != nil {
		t.Fatal(err)
	}
	d.run(need(t, "weston", "weston"), "--backend=x11-backend.so", "--use-pixman", "--idle-time=0", "--config="+settings, "--socket="+d.wayland,
		"--width="+strconv.Itoa(ScreenWidth), "--height="+strconv.Itoa(ScreenHeight))
	socket := filepath.Join(d.dir, "XDG_RUNTIME_DIR", d.wayland)
	d.running.wait("weston's socket", func() bool {
		_, err := os.Stat(socket)
		return err == nil
	})
	// Weston moves its pointer by the same distances as X's pointer; moving to a corner
	// aligns the two.
	d.do("mousemove", strconv.Itoa(ScreenWidth-1), strconv.Itoa(ScreenHeight-1), "sleep", "0.2", "mousemove", "0", "0", "sleep", "0.2")
	return d
}

// run starts a program that lasts as long as the test.
func (d *Desktop) run(program string, args ...string) *Window {
	w := &Window{Display: d.Display, exited: make(chan struct{}), answers: hasFrameLog(args)}
	w.cmd = exec.Command(program, args...)
	w.cmd.Env = d.clientEnv()
	w.launch(d.t)
	if d.running == nil {
		d.running = w
	}
	return w
}

// clientEnv returns the environment of programs with windows.
func (d *Desktop) clientEnv() []string {
	env := d.env()
	if d.wayland == "" || d.running == nil { // the compositor itself is X's
		return env
	}
	var client []string
	for _, v := range env {
		if !strings.HasPrefix(v, "DISPLAY=") {
			client = append(client, v)
		}
	}
	return append(client, "WAYLAND_DISPLAY="+d.wayland, "GDK_BACKEND=wayland")
}

// Start runs a program whose windows have the given class. On X11 it waits for a window
// and moves it to place; Wayland does not allow that.
func (d *Desktop) Start(class string, place image.Rectangle, program string, args ...string) *Window {
	d.t.Helper()
	w := d.run(program, args...)
	if d.wayland != "" {
		return w
	}
	w.wait("a window of class "+class, func() bool {
		found, err := d.xdotool("search", "--onlyvisible", "--class", class)
		w.id, _, _ = strings.Cut(found, "\n")
		return err == nil && w.id != ""
	})
	n := strconv.Itoa
	d.do("windowsize", w.id, n(place.Dx()), n(place.Dy()), "windowmove", w.id, n(place.Min.X), n(place.Min.Y))
	return w
}

// A Source is a window that files are dragged from.
type Source struct {
	*Window
	what  string
	drags int
}

func moveTo(to image.Point) []string {
	return []string{"mousemove", strconv.Itoa(to.X), strconv.Itoa(to.Y)}
}

// The colour of a source's window, used to find it.
const sourceRed, sourceGreen, sourceBlue = 255, 0, 255

// StartSource runs one of the programs in the folder sources: gtk3, gtk4, qt5.
func (d *Desktop) StartSource(toolkit string) *Source {
	d.t.Helper()
	s := &Source{what: filepath.Join(d.dir, "dragged")}
	// Debian's own Python, which has Debian's modules.
	program := filepath.Join(moduleRoot(d.t), "testdata", "e2e", "sources", toolkit+".py")
	s.Window = d.run("/usr/bin/python3", program, s.what)
	if d.wayland == "" {
		s.wait("the window to drag from", func() bool {
			found, err := d.xdotool("search", "--onlyvisible", "--name", "^source$")
			s.id, _, _ = strings.Cut(found, "\n")
			return err == nil && s.id != ""
		})
		d.do("windowmove", s.id, "10", "400")
	}
	s.WaitFor("the window to drag from", func(p *image.RGBA) bool { return !s.place(p).Empty() })
	s.WaitStill()
	return s
}

// place returns where the source is on the screen.
func (s *Source) place(p *image.RGBA) image.Rectangle {
	var r image.Rectangle
	for y := range p.Rect.Dy() {
		for x := range p.Rect.Dx() {
			if c := p.RGBAAt(x, y); c.R == sourceRed && c.G == sourceGreen && c.B == sourceBlue {
				r = r.Union(image.Rect(x, y, x+1, y+1))
			}
		}
	}
	return r
}

// Take begins to drag something: "files" and their names, or "text" and words.
func (s *Source) Take(what ...string) {
	s.t.Helper()
	if err := os.WriteFile(s.what, []byte(strings.Join(what, "\x00")+"\x00"), 0o600); err != nil {
		s.t.Fatal(err)
	}
	s.drags++
	at := s.place(s.Screenshot())
	from := at.Min.Add(at.Size().Div(2))
	args := append(moveTo(from), "sleep", "0.3", "mousedown", "1", "sleep", "0.2")
	for i := range 12 {
		args = append(append(args, moveTo(from.Add(image.Pt(2*i, 0)))...), "sleep", "0.03")
	}
	s.do(args...)
}

// Hold moves the dragged items to a place.
func (s *Source) Hold(over image.Point) {
	s.t.Helper()
	var args []string
	for i := -8; i <= 0; i++ { // sources check their position only while they move
		args = append(append(args, moveTo(over.Add(image.Pt(i, i)))...), "sleep", "0.03")
	}
	s.do(args...)
}

// LetGo drops the dragged items and returns the outcome that the source reports.
func (s *Source) LetGo() string {
	s.t.Helper()
	s.do("mouseup", "1")
	last := ""
	s.wait("the source to know what became of its files", func() bool {
		n := 0
		for line := range strings.Lines(s.Output()) {
			if line = strings.TrimSpace(line); line == "refused" || strings.HasPrefix(line, "taken") {
				n, last = n+1, line
			}
		}
		return n == s.drags
	})
	// A click that follows at once would be the second click of a double click.
	time.Sleep(300 * time.Millisecond)
	return last
}
