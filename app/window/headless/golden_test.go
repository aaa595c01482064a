package headless

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"ashlar/app/core/sourcefile"
	"ashlar/app/window/drawing"
	"ashlar/app/window/shell"
	"ashlar/app/window/workspace"
	"ashlar/ingest/model/recording"
	"ashlar/render/golden"
	"ashlar/render/theme"
	"ashlar/testdata/gen/synth"
)

type picture struct {
	name    string
	open    func(t *testing.T, s *shell.Shell)
	view    workspace.View
	theme   *theme.Theme
	w, h    int
	scale   float32
	ranged  bool
	event   string
	metric  string
	failing bool // the recording cannot be shown, and the picture says so
	from    int64
	to      int64
}

func demo(_ *testing.T, s *shell.Shell) { s.OpenDemo() }

// file returns a function that opens a small file with the given content. The path is
// relative because the picture shows it.
func file(name, content string) func(*testing.T, *shell.Shell) {
	return func(t *testing.T, s *shell.Shell) {
		t.Chdir(t.TempDir())
		if err := os.WriteFile(name, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
		s.Open(name)
	}
}

// at returns a function that opens an address with the given keys.
func at(keys string) func(*testing.T, *shell.Shell) {
	return func(_ *testing.T, s *shell.Shell) { s.Open("ashlar:1?" + keys) }
}

const marked = "file=demo:&select=600ms..650ms&mark=384.8ms:slow,505ms..746ms:gc,f:regexp.(*Regexp).MatchString:/srv/checkout/bin/checkout:why%3F&function=regexp.(*Regexp).MatchString:/srv/checkout/bin/checkout"

// source shows the cost of source lines. The recording names the source file by a path of
// another machine, and the file lies beside the recording.
func source(t *testing.T, s *shell.Shell) {
	t.Chdir(t.TempDir())
	lines := []string{"package shop", "", "// total adds the prices up, the slow way.", "func total(cart []item) (sum int) {", "\tfor i := range cart {", "\t\tsum += price(cart[i])", "\t}", "\treturn sum", "}", "",
		"func price(it item) int {", "\tp := lookup(it.name) // the slow part", "\tif it.sale {", "\t\treturn p - p/10", "\t}", "\treturn p", "}"}
	rec := header + `{"type":"dso","id":1,"name":"/bin/shop"}` + "\n"
	for i, l := range []int{5, 6, 12, 14, 16} {
		rec += fmt.Sprintf(`{"type":"frame","id":%d,"func":"shop.%s","dso":1,"kind":"user","srcline":"/build/shop/total.go:%d"}`+"\n", i+1, map[bool]string{true: "total", false: "price"}[l < 10], l)
	}
	for i, x := range []struct {
		frames string
		n      int
	}{{"1", 3}, {"2", 2}, {"3,2", 71}, {"4,2", 6}, {"5,2", 14}} {
		rec += fmt.Sprintf(`{"type":"stack","id":"s%d","frames":[%s],"context":{"event":"cycles"},"weights":[{"metric":"samples","value":%d}]}`+"\n", i, x.frames, x.n)
	}
	if err := os.MkdirAll("src/shop", 0o755); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"src/shop/total.go": strings.Join(lines, "\n") + "\n", "shop.spaa": rec} {
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	s.Roots = []sourcefile.Root{{To: "src"}}
	s.Open("ashlar:1?file=shop.spaa&tab=source&function=shop.price:/bin/shop")
}

// led opens a trace with its findings shown: 400 frames with pauses in between; every 20th
// frame has an 8 ms load.
func led(t *testing.T, s *shell.Shell) {
	var events []string
	for i := range 400 {
		at, took := 10000*i, 1000+i%7
		if i%20 == 19 {
			took += 8000
			events = append(events, fmt.Sprintf(`{"ph":"X","pid":1,"tid":1,"ts":%d,"dur":8000,"name":"load"}`, at+100))
		}
		events = append(events, fmt.Sprintf(`{"ph":"X","pid":1,"tid":1,"ts":%d,"dur":%d,"name":"Frame"}`, at, took))
	}
	s.Leads = true
	file("frames.json", "["+strings.Join(events, ",")+"]")(t, s)
}

// trace opens a synthetic trace of 20,000 records.
func trace(t *testing.T, s *shell.Shell) {
	t.Chdir(t.TempDir())
	f, err := os.Create("trace.spall")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := synth.Write(f, synth.Options{Kind: "spall3", Records: 20000, Threads: 4, Seed: 7}); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	s.Open("trace.spall")
}

// states opens a trace of two threads that wait for each other and shows the critical
// path.
func states(t *testing.T, s *shell.Shell) {
	t.Chdir(t.TempDir())
	at, text := 0, "# tracer: nop\n#\n"
	line := func(tid, cpu, us int, what string) {
		at += us
		text += fmt.Sprintf("          thread-%d    (   10) [00%d] d..2  1.%06d: %s\n", tid, cpu, at, what)
	}
	to := func(cpu, us, from int, state string, next int) {
		line(from, cpu, us, fmt.Sprintf("sched_switch: prev_comm=thread-%d prev_pid=%d prev_prio=120 prev_state=%s ==> next_comm=thread-%d next_pid=%d next_prio=120", from, from, state, next, next))
	}
	to(0, 0, 0, "R", 11)
	line(11, 0, 100, "tracing_mark_write: B|10|request")
	for range 2 {
		line(11, 0, 800, "sched_waking: comm=thread-12 pid=12 prio=120 target_cpu=001")
		to(0, 100, 11, "S", 0)
		to(1, 300, 0, "R", 12)
		line(12, 1, 900, "sched_waking: comm=thread-11 pid=11 prio=120 target_cpu=000")
		to(0, 200, 0, "R", 11)
		to(1, 50, 12, "S", 0)
	}
	line(11, 0, 400, "tracing_mark_write: E|10")
	if err := os.WriteFile("sched.ftrace", []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	s.Open("ashlar:1?file=sched.ftrace&tab=path&filter=thread")
}

// stateSums shows the flamegraph of that trace, with the times of all states beside it.
func stateSums(t *testing.T, s *shell.Shell) {
	states(t, s)
	s.Open("sched.ftrace")
}

const header = `{"type":"header","format":"spaa","version":"1.0","source_tool":"perf","frame_order":"leaf_to_root","events":[{"name":"cycles","kind":"hardware","sampling":{"mode":"frequency","primary_metric":"samples"}}],"stack_id_mode":"local"}
`

const damaged = header + `{"type":"dso","id":1,"name":"/bin/app"}
{"type":"frame","id":1,"func":"main","dso":1,"kind":"user"}
{"type":"frame","id":2,"func":"sys_read","dso":9,"kind":"kernel"}
this is not a record
{"type":"stack","id":"a","frames":[2,1],"context":{"event":"cycles"},"weights":[{"metric":"samples","value":3}]}
{"type":"stack","id":"b","frames":[1,7],"context":{"event":"cycles"},"weights":[{"metric":"samples","value":5}]}
{"type":"stack","id":"c","frames":[1],"context":{"ev`

var pictures = []picture{
	{name: "demo-dark", open: demo},
	{name: "demo-light", open: demo, theme: theme.Light},
	{name: "demo-scale2", open: demo, w: 1600, h: 1000, scale: 2},
	{name: "demo-range", open: demo, ranged: true, from: 480e9, to: 900e9},
	{name: "demo-malloc", open: demo, event: "malloc"},
	{name: "trace-dark", open: trace},
	{name: "trace-timeline", open: trace, view: workspace.Upper, theme: theme.Light, ranged: true, from: 0, to: 100e6},
	{name: "trace-flame", open: trace, view: workspace.Flame},
	{name: "source-dark", open: source},
	{name: "source-light", open: source, theme: theme.Light},
	{name: "findings-dark", open: led},
	{name: "findings-narrow", open: led, theme: theme.Light, w: 600, h: 600},
	{name: "findings-scale2", open: led, theme: theme.Light, w: 2560, h: 1600, scale: 2},
	{name: "marks-dark", open: at(marked)},
	{name: "marks-light", open: at(marked), theme: theme.Light},
	{name: "calltree", open: at("file=demo:&tab=calltree"), view: workspace.Lower},
	{name: "states", open: states, w: 900, h: 440},
	{name: "states-narrow", open: states, theme: theme.Light, w: 600, h: 420},
	{name: "state-sums", open: stateSums, theme: theme.Light, w: 800, h: 700},
	{name: "empty", open: file("empty.spaa", header)},
	{name: "empty-bytes", open: file("nothing.spall", ""), failing: true},
	{name: "unknown", open: file("song.mp3", "ID3\x03\x00\x00\x00\x00\x00\x00"), failing: true, theme: theme.Light},
	{name: "warnings", open: file("damaged.spaa", damaged)},
}

func TestGoldenPictures(t *testing.T) {
	for _, p := range pictures {
		t.Run(p.name, func(t *testing.T) {
			p.check(t)
		})
	}
}

func (p picture) check(t *testing.T) {
	t.Helper()
	if p.theme == nil {
		p.theme = theme.Dark
	}
	if p.view == "" {
		p.view = workspace.Both
	}
	if p.w == 0 {
		p.w, p.h = 1000, 640
	}
	if p.scale == 0 {
		p.scale = 1
	}
	s := shell.New(p.theme)
	defer s.Close()
	s.View = p.view
	p.open(t, s)
	s.Choose(p.event, p.metric)
	var ranges []recording.Range
	if p.ranged {
		ranges = append(ranges, recording.Offsets(p.from, p.to))
	}
	err := s.Finish(ranges...)
	if (err != nil) != p.failing {
		t.Fatalf("opening: %v", err)
	}
	check(t, s, p.name, p.w, p.h, p.scale)
}

// folder is the folder of the golden pictures.
var folder = func() string {
	dir, err := filepath.Abs("../../../testdata/golden")
	if err != nil {
		panic(err)
	}
	return dir
}()

// inPixels names the pictures that are also stored as pixels, not only as shapes.
var inPixels = []string{
	"demo-dark", "demo-light", "welcome-dark",
	"compare-trace-dark", "compare-profile-light",
	"views/flame-up-light", "views/functions-dark", "views/callers-light", "views/palette-dark", "views/contrast",
}

// check draws a settled shell in w by h pixels on the GPU, compares its shapes with the
// golden ones, and checks that the shapes look like the GPU's picture.
func check(t *testing.T, s *shell.Shell, name string, w, h int, scale float32) {
	t.Helper()
	img, err := Draw(s, w, h, scale)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(folder, name)
	shapes := drawing.SVG(s, w, h, scale)
	golden.CheckShapes(t, path, shapes, s.OpenName())
	if slices.Contains(inPixels, name) {
		golden.CheckPixels(t, path, img)
	}
	likeShapes(t, shapes, img, scale)
	likeOnCPU(t, shapes, img, scale)
}
