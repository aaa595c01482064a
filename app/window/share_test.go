//go:build linux

package window

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"image"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"gioui.org/io/input"
	"gioui.org/layout"
	"gioui.org/op"
	"gioui.org/unit"

	"ashlar/app/agent/serve"
	"ashlar/app/command"
	"ashlar/app/core/subcommand"
	"ashlar/app/core/view"
	"ashlar/app/desktop/instance"
	"ashlar/app/window/shell"
	"ashlar/render/theme"
)

// screen is a window without a display.
type screen struct {
	*shell.Shell
	do      chan func()
	answers atomic.Int64 // number of command lines run for other programs
	socket  string
	end     func()
}

// newScreen opens a file in a window and listens for requests of other programs.
func newScreen(t *testing.T, path string) *screen {
	t.Helper()
	place, err := instance.Open()
	if err != nil {
		t.Fatal(err)
	}
	l, _, err := place.Start(t.Context(), instance.Request{})
	if err != nil {
		t.Fatal(err)
	}
	w := &screen{Shell: shell.New(theme.Dark), do: make(chan func()), socket: l.Path()}
	woken, stop, stopped := make(chan struct{}, 1), make(chan struct{}), make(chan struct{})
	w.Do.Wake = func() {
		select {
		case woken <- struct{}{}:
		default:
		}
	}
	shared := newShare(w.Shell)
	l.Session = shared.server(func(a subcommand.Invocation) int {
		w.answers.Add(1)
		return command.Runner{}.Answer(a)
	}).Session
	l.Serve(func(context.Context, instance.Request) instance.Answer { return instance.Own })
	w.Open(path)
	go func() {
		defer close(stopped)
		var router input.Router
		var ops op.Ops
		for {
			select {
			case <-woken:
			case f := <-w.do:
				f()
			case <-stop:
				return
			}
			ops.Reset()
			w.Layout(layout.Context{Ops: &ops, Now: time.Now(), Source: router.Source(), Metric: unit.Metric{PxPerDp: 1, PxPerSp: 1}, Constraints: layout.Exact(image.Pt(1000, 600))})
			router.Frame(&ops)
			shared.frame()
		}
	}()
	var once sync.Once
	w.end = func() {
		once.Do(func() {
			l.Close()
			close(stop)
			<-stopped
			w.Close()
		})
	}
	t.Cleanup(w.end)
	w.until(t, "the file is read", func() bool { return w.Pane.Rec.Done && w.Pane.Doc.Answer() != nil })
	return w
}

// on runs f on the window's goroutine and returns after the frame that follows.
func (w *screen) on(f func()) {
	w.do <- f
	w.do <- func() {} // taken only after the frame
}

func (w *screen) until(t *testing.T, what string, is func() bool) {
	t.Helper()
	for range 6000 {
		ok := false
		if w.on(func() { ok = is() }); ok {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatalf("waiting for: %s", what)
}

func typed(args ...string) string {
	var out, errs bytes.Buffer
	code := command.Main(args, nil, &out, &errs, command.Runner{})
	return fmt.Sprintf("%s%sexit code %d", out.String(), errs.String(), code)
}

const trace = `[{"ph":"X","pid":1,"tid":7,"ts":1000,"dur":400,"name":"main"},{"ph":"X","pid":1,"tid":7,"ts":1100,"dur":50,"name":"read"},
{"ph":"X","pid":1,"tid":7,"ts":1200,"dur":100,"name":"read"},{"ph":"X","pid":2,"tid":8,"ts":1300,"dur":50,"name":"other"}]`

// files writes a trace and a profile into a temporary folder, makes it the working
// directory, and sets a runtime folder for sockets.
func files(t *testing.T) (run, profile string) {
	t.Helper()
	dir, err := os.MkdirTemp("", "ashlar-share-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	t.Setenv("XDG_RUNTIME_DIR", dir)
	t.Setenv("DISPLAY", ":7")
	t.Setenv("WAYLAND_DISPLAY", "")
	t.Chdir(t.TempDir())
	run, profile = "run.json", "p.folded"
	for name, text := range map[string]string{run: trace, profile: "main;parse 5\nmain;write 7\n"} {
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return run, profile
}

// TestShare checks that other programs can query and navigate a window only while the
// user shares the session. Answers must equal those of the command line.
func TestShare(t *testing.T) {
	run, profile := files(t)
	if got := typed("show", "ashlar:1?file="+run); !strings.Contains(got, "no window is open") || !strings.HasSuffix(got, "code 1") {
		t.Errorf("without a window: %s", got)
	}
	w := newScreen(t, run)
	want := typed("top", run, "--json")
	for _, shared := range []bool{false, true, false} {
		w.on(func() { w.Shared = shared })
		before := w.answers.Load()
		if got := typed("top", run, "--json", "--session"); got != want {
			t.Errorf("shared %v: %s\nis not\n%s", shared, got, want)
		}
		if ran := w.answers.Load() > before; ran != shared {
			t.Errorf("shared %v: the window answers: %v", shared, ran)
		}
		for _, line := range [][]string{{"show", "ashlar:1?file=" + run + "&select=100us..200us", "--note", "here\x1b[2J"}, {"watch", "-n", "1"}} {
			got := typed(line...)
			if shared != strings.HasSuffix(got, "code 0") || !shared && !strings.Contains(got, "Share this session") {
				t.Errorf("shared %v: %v: %s", shared, line, got)
			}
		}
	}
	w.on(func() { w.Shared = true })
	before := w.answers.Load()
	if got, want := typed("top", profile, "--session"), typed("top", profile); got != want {
		t.Errorf("%s\nis not\n%s", got, want)
	}
	if err := os.WriteFile(run, []byte(strings.Replace(trace, `"dur":400`, `"dur":900`, 1)), 0o644); err != nil {
		t.Fatal(err)
	}
	if got, want := typed("top", run, "--session"), typed("top", run); got != want || !strings.Contains(got, "900") {
		t.Errorf("of a file that has changed\n%s\nis not\n%s", got, want)
	}
	// The window was asked twice and left both answers to the asking program.
	if n := w.answers.Load() - before; n != 2 {
		t.Errorf("it was asked %d times", n)
	}
}

// TestShow lets a program show an address in the open file and one in another file; undo
// goes back.
func TestShow(t *testing.T) {
	run, profile := files(t)
	w := newScreen(t, run)
	var before string
	w.on(func() { w.Shared = true; w.Pane.SelectRange(w.Pane.Rec.Start, w.Pane.Rec.Start+50e6) })
	w.on(func() { before = w.ViewState().String() })
	now := func() (s string) {
		w.on(func() { s = w.Address().String() })
		return s
	}
	for i, address := range []string{"ashlar:1?file=" + run + "&select=100us..200us&tab=functions", "ashlar:1?file=" + profile + "&function=parse"} {
		got := typed("show", address, "--note", "look here", "--json")
		var shown serve.Shown
		if err := json.Unmarshal([]byte(strings.TrimSuffix(got, "exit code 0")), &shown); err != nil || !shown.Shown {
			t.Fatalf("%s: %s", address, got)
		}
		want, err := view.Parse(shown.Address)
		if err != nil {
			t.Fatal(err)
		}
		w.until(t, "the address", func() bool {
			st := w.Address()
			return st.Files[0] == want.Files[0] && w.Pane.Rec.Done && (i == 0 && w.Pane.Scope.Ranged && st.Tab == "functions" || i == 1 && st.Function != nil && st.Function.Name == "parse")
		})
		var note string
		if w.on(func() { note = w.Note.Text }); !strings.Contains(note, "Shown by a program: look here") || !strings.Contains(note, "Ctrl-Z") {
			t.Errorf("the status line says %q", note)
		}
	}
	w.on(w.Undo)
	w.until(t, "what was open before", func() bool { return w.Pane.Rec.Done && strings.Contains(w.Address().String(), "functions") })
	if got := now(); !strings.Contains(got, "select=100us..200us") {
		t.Errorf("undo leads to %s", got)
	}
	// Within one file, it is a single step of history.
	if got := typed("show", "ashlar:1?file="+run+"&select=0s..10us"); !strings.HasSuffix(got, "code 0") {
		t.Fatal(got)
	}
	w.on(w.Undo)
	if got := now(); !strings.Contains(got, "select=100us..200us") {
		t.Errorf("undo leads to %s; at first there was %s", got, before)
	}
}

// TestWatch checks that watch prints each new selection with its answer.
func TestWatch(t *testing.T) {
	run, _ := files(t)
	w := newScreen(t, run)
	w.on(func() { w.Shared = true })
	r, out := io.Pipe()
	ended := make(chan int, 1)
	go func() { ended <- command.Main([]string{"watch"}, nil, out, io.Discard, command.Runner{}); out.Close() }()
	d := json.NewDecoder(r)
	next := func() (s serve.Selected, total string) {
		t.Helper()
		if err := d.Decode(&s); err != nil {
			t.Fatal(err)
		}
		a, _ := s.Answer.(map[string]any)
		return s, fmt.Sprint(a["total"])
	}
	s, total := next()
	if s.By != "person" || !strings.HasPrefix(s.Command, "ashlar top ") || total == "<nil>" {
		t.Errorf("at first: %+v", s)
	}
	w.on(func() { w.Pane.SelectRange(w.Pane.Rec.Start+100e6, w.Pane.Rec.Start+150e6) })
	s, _ = next()
	var fromCommand struct{ Total json.Number }
	args := append(strings.Fields(s.Command)[1:], "--json")
	if err := json.Unmarshal([]byte(strings.TrimSuffix(typed(args...), "exit code 0")), &fromCommand); err != nil {
		t.Fatalf("%s: %v", s.Command, err)
	}
	a, _ := s.Answer.(map[string]any)
	if s.By != "person" || !strings.Contains(s.Command, "--range 100us..150us") || !strings.Contains(s.Address, "select=100us..150us") || fmt.Sprint(a["total"]) != fromCommand.Total.String() {
		t.Errorf("of a range: %+v, the command says %s", s, fromCommand.Total)
	}
	if got := typed("show", "ashlar:1?file="+run+"&select=200us..300us"); !strings.HasSuffix(got, "code 0") {
		t.Error(got)
	}
	if s, _ = next(); s.By != "program" || !strings.Contains(s.Address, "select=200us..300us") {
		t.Errorf("of what a program shows: %+v", s)
	}
	w.on(func() { w.Shared = false })
	if code := <-ended; code != command.Problem {
		t.Errorf("it ends with %d", code)
	}
}

// TestOneSession lets two programs send random questions to a window and to a server,
// while the window is used by a person and by a program, bad clients hang up, flood it or
// send garbage, and one program watches. Every answer must equal the command line's, and
// no socket, goroutine or file may be left open. The environment variable ASHLAR_SESSION
// sets the duration, such as 10m.
func TestOneSession(t *testing.T) {
	run, profile := files(t)
	busy(t, run, profile)
	long := 3 * time.Second
	if testing.Short() {
		long = time.Second
	}
	if d, err := time.ParseDuration(os.Getenv("ASHLAR_SESSION")); err == nil {
		long = d
	}
	typed("serve", "--idle", "1ms") // starts listening for signals, which keeps a goroutine running
	goroutines, open := runtime.NumGoroutine(), openFiles(t)
	w := newScreen(t, run)
	w.on(func() { w.Shared = true })
	ctx, cancel := context.WithCancel(context.Background())
	served := make(chan int, 1)
	go func() {
		served <- command.Main([]string{"serve", profile}, nil, io.Discard, io.Discard, command.Runner{Context: ctx})
	}()

	over, late := time.Now().Add(long), time.Now().Add(long+time.Minute)
	var all sync.WaitGroup
	var asked, refused, shown, bad atomic.Int64
	// A slow machine asks few questions in the given time, and with few questions most may
	// have no answer.
	const fewest = 40
	on := func() bool {
		return time.Now().Before(over) || time.Now().Before(late) && (asked.Load() < fewest || w.answers.Load() == 0 || shown.Load() == 0 || bad.Load() == 0)
	}
	var different sync.Map // the distinct questions
	for i := range 2 {
		all.Go(func() {
			r := rand.New(rand.NewPCG(uint64(i), 1))
			var before [][]string
			for on() {
				l := question(r, run, profile)
				if n := len(before); n > 0 && r.IntN(4) == 0 {
					l = before[r.IntN(n)]
				} else if before = append(before, l); n == 64 {
					before = before[1:]
				}
				want := typed(l...)
				if got := typed(append([]string{l[0], "--session"}, l[1:]...)...); got != want {
					t.Errorf("%v: %s\nis not\n%s", l, got, want)
					return
				}
				if asked.Add(1); !strings.HasSuffix(want, "code 0") {
					refused.Add(1)
				}
				different.Store(strings.Join(l, " "), true)
			}
		})
	}
	all.Go(func() { // the person
		r := rand.New(rand.NewPCG(7, 7))
		for on() {
			at := int64(r.IntN(300)) * 1e6
			w.on(func() {
				switch p := w.Pane; {
				case !p.Rec.Done:
				case at%3 == 0:
					w.Undo()
				default:
					p.SelectRange(p.Rec.Start+at, p.Rec.Start+at+10e6)
				}
			})
			time.Sleep(5 * time.Millisecond)
		}
	})
	all.Go(func() { // the program that shows
		r := rand.New(rand.NewPCG(3, 3))
		for on() {
			file := []string{run, run, run, profile}[r.IntN(4)]
			if got := typed("show", fmt.Sprintf("ashlar:1?file=%s&tab=functions", file)); !strings.HasSuffix(got, "code 0") {
				t.Errorf("show: %s", got)
			}
			shown.Add(1)
			time.Sleep(20 * time.Millisecond)
		}
	})
	all.Go(func() { // bad clients, which hang up, flood or send garbage
		leaving := rand.New(rand.NewPCG(5, 5))
		for on() {
			var flood []net.Conn
			for range 20 {
				if c, err := net.Dial("unix", w.socket); err == nil {
					flood = append(flood, c)
				}
			}
			for i, c := range flood {
				// An error is fine: the connection may be closed.
				_, _ = io.WriteString(c, []string{"lies\n", `{"ashlar":1,"session":{"version":"x"}}` + "\n", `{"ashlar":1,`, ""}[i%4])
				c.Close()
				bad.Add(1)
			}
			gone, leave := context.WithTimeout(ctx, time.Millisecond)
			_, _, _ = serve.Ask(gone, question(leaving, run, profile), io.Discard, io.Discard, io.Discard)
			leave()
			time.Sleep(10 * time.Millisecond)
		}
	})
	watched := make(chan int, 1)
	go func() {
		watched <- command.Main([]string{"watch"}, nil, io.Discard, io.Discard, command.Runner{Context: ctx})
	}()
	all.Wait()
	w.on(func() { w.Shared = false })
	<-watched
	cancel()
	if code := <-served; code != command.Done {
		t.Errorf("the server ends with %d", code)
	}
	questions := int64(0)
	different.Range(func(any, any) bool { questions++; return true })
	t.Logf("%d answers to %d questions, %d of them refusals, %d by the window's commands, %d addresses shown, %d bad clients in %v", asked.Load(), questions, refused.Load(), w.answers.Load(), shown.Load(), bad.Load(), long)
	if asked.Load() == 0 || w.answers.Load() == 0 || shown.Load() == 0 || bad.Load() == 0 {
		t.Error("something did not take part")
	}
	if questions < asked.Load()/3 || refused.Load() > asked.Load()/2 {
		t.Error("the same was asked too often, or what has no answer")
	}
	w.end()
	if left, _ := filepath.Glob(filepath.Join(os.Getenv("XDG_RUNTIME_DIR"), "ashlar", "*.sock")); len(left) > 0 {
		t.Errorf("sockets stay: %v", left)
	}
	for range 6000 {
		if runtime.NumGoroutine() <= goroutines && openFiles(t) <= open {
			return
		}
		runtime.GC() // releases mapped files
		time.Sleep(10 * time.Millisecond)
	}
	b := make([]byte, 1<<20)
	t.Errorf("%d goroutines and %d files stay, before there were %d and %d\n%s", runtime.NumGoroutine(), openFiles(t), goroutines, open, b[:runtime.Stack(b, true)])
}

// busy writes a trace and a profile for which most questions have an answer.
func busy(t *testing.T, run, profile string) {
	t.Helper()
	r := rand.New(rand.NewPCG(1, 9))
	events := []string{}
	for tid := 1; tid <= 3; tid++ {
		for at := 0; at < 600; at += 20 {
			took := 5 + r.IntN(14)
			events = append(events, fmt.Sprintf(`{"ph":"X","pid":1,"tid":%d,"ts":%d,"dur":%d,"tdur":%d,"name":"work","cat":"a","args":{"size":%d}}`, tid, at, took, took/2, r.IntN(50)),
				fmt.Sprintf(`{"ph":"X","pid":1,"tid":%d,"ts":%d,"dur":%d,"name":"read%d","cat":"b"}`, tid, at+1, took-3, r.IntN(3)))
		}
	}
	stacks := ""
	for range 60 {
		stacks += fmt.Sprintf("main;work;parse%d;read%d %d\nmain;walk;walk;read%d %d\n", r.IntN(4), r.IntN(3), 1+r.IntN(90), r.IntN(3), 1+r.IntN(40))
	}
	for name, text := range map[string]string{run: "[" + strings.Join(events, ",") + "]", profile: stacks} {
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// question returns a random command line.
func question(r *rand.Rand, run, profile string) []string {
	of := func(words ...string) string { return words[r.IntN(len(words))] }
	file := of(run, run, profile)
	function := of("work", "work", "main", "/^read/", "read1", "/walk|parse/", "read2@b")
	set := of("work", "/^read/[slowest 5]", "work[10us..]", "work[size in 10..40]", "!work[12us..]", `*[found "arg:7"]`, "work[started 100us..300us]")
	var line []string
	flag := func(one int, words ...string) {
		if r.IntN(one) == 0 {
			line = append(line, words...)
		}
	}
	between := func() string { at := r.IntN(500); return fmt.Sprintf("%dus..%dus", at, at+1+r.IntN(200)) }
	number := func(most int) string { return fmt.Sprint(1 + r.IntN(most)) }
	scope := func() {
		if file == run {
			flag(2, "--range", between())
			flag(3, "--calls", set)
		}
	}
	switch command := of("top", "top", "top", "calls", "stats", "path", "overview", "findings", "diff", "source"); command {
	case "top":
		line = []string{command, file}
		scope()
		flag(3, "--"+of("callers-of", "callees-of", "hide", "only", "drop", "collapse-recursion-of"), function)
		flag(4, of("--invert", "--tree", "--by-time", "--fold-digits", "--collapse-recursion"))
		flag(4, "--by", of("function", "module", "thread", "name", "category"))
		flag(4, "--search", of("read", "/^w/", "thread:1"))
		flag(3, "-n", number(9))
		flag(2, "--json")
	case "calls":
		file = run
		line = []string{command, file, set, "--sort", of("duration", "start", "self", "size"), "-n", number(30)}
		flag(2, "--range", between())
		flag(2, of("--json", "--csv"))
	case "stats":
		line = []string{command, file, "--function", function}
		scope()
		flag(2, "--json", "--histogram", of("log", "linear"))
	case "path":
		file = run
		line = []string{command, file}
		scope()
		flag(2, "--json", "-n", number(20))
	case "overview", "findings":
		line = []string{command, file}
		flag(2, "--json")
		flag(2, "--budget", fmt.Sprint(300+r.IntN(900)))
	case "diff":
		line = []string{command, run, run, "--range-a", between(), "--range-b", between(), "--by", of("function", "stack", "module", "thread")}
		if r.IntN(3) == 0 {
			line = []string{command, run, "--calls-b", set}
		}
		flag(2, "--json")
		flag(3, "-n", number(5))
	case "source":
		line = []string{command, file, function}
		flag(2, "--json")
	}
	return line
}

func openFiles(t *testing.T) int {
	t.Helper()
	all, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(all)
}
