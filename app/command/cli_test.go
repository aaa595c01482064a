package command

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"ashlar/app/core/manual"
	"ashlar/app/core/resident"
	"ashlar/app/window/workspace"
	"ashlar/assets"
	"ashlar/ingest"
	"ashlar/ingest/model/recording"
)

var update = flag.Bool("update", false, "write testdata anew")

// helperArgs is the environment variable that makes the test binary run as ashlar in a
// separate process. It holds the arguments, separated by newlines.
const helperArgs = "ASHLAR_CLI_TEST_ARGS"

func TestMain(m *testing.M) {
	SetPanels(workspace.PanelNames())
	if args, ok := os.LookupEnv(helperArgs); ok {
		os.Exit(Main(strings.Split(args, "\n"), os.Stdin, os.Stdout, os.Stderr, Runner{}))
	}
	os.Exit(m.Run())
}

// ran holds the results of a command line.
type ran struct {
	code           int
	stdout, stderr string
	window         *WindowOptions
	render         *RenderOptions
}

func runWith(stdin []byte, args ...string) ran { return runAs(Runner{}, stdin, args...) }

func runAs(as Runner, stdin []byte, args ...string) ran {
	var r ran
	var out, err bytes.Buffer
	as.Window = func(o WindowOptions) error { r.window = &o; return nil }
	as.Render = func(o RenderOptions) error { r.render = &o; return nil }
	r.code = Main(args, bytes.NewReader(stdin), &out, &err, as)
	r.stdout, r.stderr = out.String(), err.String()
	return r
}

func run(args ...string) ran { return runWith(nil, args...) }

// read keeps recordings loaded for tests with many questions about them.
var read = resident.New(ingest.ReadAll, 0)

// ask runs a command that only reads recordings. It loads each recording once, as a session
// does.
func ask(args ...string) ran { return runAs(Runner{Read: read.In("")}, nil, args...) }

// sentence checks the exit code, and that standard error is a single line that begins with
// "ashlar: " and contains the words.
func (r *ran) sentence(t *testing.T, code int, words ...string) {
	t.Helper()
	if r.code != code {
		t.Errorf("exit code %d, want %d", r.code, code)
	}
	if !strings.HasPrefix(r.stderr, "ashlar: ") || strings.Count(r.stderr, "\n") != 1 || !strings.HasSuffix(r.stderr, "\n") {
		t.Errorf("standard error is not one line by ashlar: %q", r.stderr)
	}
	for _, w := range words {
		if !strings.Contains(r.stderr, w) {
			t.Errorf("%q does not say %q", r.stderr, w)
		}
	}
}

// Patterns of output that differs between runs and machines.
var (
	readLine = regexp.MustCompile(`(?m)^(  read +).*$`)
	loadPart = regexp.MustCompile(`(?s)"load": \{.*?\}`)
	// The folder of a file in an address.
	addressFolder = regexp.MustCompile(`(file=)[^&]*/testdata/`)
)

// anywhere removes the folder of this package from the addresses in an answer.
func anywhere(answer string) string {
	return addressFolder.ReplaceAllString(answer, "${1}/…/testdata/")
}

func TestGolden(t *testing.T) {
	writeSmallSpall(t)
	for name, args := range map[string][]string{
		"info-spaa.txt":           {"info", "testdata/small.spaa"},
		"info-spaa.json":          {"info", "testdata/small.spaa", "--json"},
		"info-spall.txt":          {"info", "testdata/small.spall"},
		"info-spall.json":         {"info", "testdata/small.spall", "--json"},
		"info-damaged.txt":        {"info", "testdata/damaged.spaa"},
		"top-spaa.txt":            {"top", "testdata/small.spaa"},
		"top-spaa.json":           {"top", "testdata/small.spaa", "--json"},
		"top-spaa-range.txt":      {"top", "testdata/small.spaa", "--metric", "samples", "--range", "0.5s..1s"},
		"top-spaa-windows.json":   {"top", "testdata/small.spaa", "--event", "malloc", "--range", "100ms..1.5s", "--json"},
		"top-spaa-windows.txt":    {"top", "testdata/small.spaa", "--event", "malloc", "--range", "100ms..1.5s", "--by", "file"},
		"top-spaa-threads.txt":    {"top", "testdata/small.spaa", "--by", "thread"},
		"top-spaa-threads.json":   {"top", "testdata/small.spaa", "--by", "thread", "--metric", "samples", "--json"},
		"top-spaa-lines.txt":      {"top", "testdata/small.spaa", "--by", "line", "--metric", "samples"},
		"top-spaa-modules.txt":    {"top", "testdata/small.spaa", "--by", "module", "-n", "1"},
		"top-spall.txt":           {"top", "testdata/small.spall"},
		"top-spall-range.json":    {"top", "testdata/small.spall", "--range", "2us..6500ns", "--json"},
		"top-spall-threads.txt":   {"top", "testdata/small.spall", "--by", "thread"},
		"top-spall-count.txt":     {"top", "testdata/small.spall", "--metric", "count", "-n", "2"},
		"top-stacks-no-time.json": {"top", "testdata/damaged.spaa", "--range", "..1s", "--json"},
	} {
		t.Run(name, func(t *testing.T) {
			r := run(args...)
			if r.code != Done {
				t.Fatalf("%v: exit code %d: %s", args, r.code, r.stderr)
			}
			got := readLine.ReplaceAllString(r.stdout, "$1…")
			got = loadPart.ReplaceAllString(got, `"load": {}`)
			got = anywhere(got)
			if strings.HasSuffix(name, ".json") && !json.Valid([]byte(r.stdout)) {
				t.Errorf("this is not JSON:\n%s", r.stdout)
			}
			isKept(t, name, got)
		})
	}
}

// isKept compares an answer with a golden file in testdata.
func isKept(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("got:\n%s\nwant:\n%s", got, want)
	}
}

// TestInfoKeys checks for JSON keys that other programs rely on.
func TestInfoKeys(t *testing.T) {
	r := run("info", "--json", "--demo")
	var v map[string]any
	if err := json.Unmarshal([]byte(r.stdout), &v); err != nil {
		t.Fatal(err)
	}
	for _, path := range strings.Fields(`format version file bytes compression tool
		events.0.name events.0.kind events.0.mode events.0.metrics.0.name events.0.metrics.0.unit events.0.metrics.0.total events.0.metrics.0.primary
		time.start time.end time.unit time.duration_ns
		threads.0.pid threads.0.tid threads.0.name threads.0.spans threads.0.samples threads.0.max_depth
		counts.spans counts.unfinished counts.samples counts.stacks counts.frames counts.functions counts.windows counts.instants counts.counters counts.flows
		ledger.0.kind ledger.0.read ledger.0.kept ledger.0.repaired ledger.0.left_out ledger.0.first_repaired ledger.0.first_left_out
		warnings load.seconds load.bytes_per_second load.events_per_second load.peak_rss_bytes`) {
		var at any = v
		for _, key := range strings.Split(path, ".") {
			switch x := at.(type) {
			case map[string]any:
				var ok bool
				if at, ok = x[key]; !ok {
					t.Errorf("there is no %s", path)
				}
			case []any:
				if len(x) == 0 {
					t.Fatalf("%s: nothing in the list", path)
				}
				at = x[0]
			}
		}
	}
	if bytes, want := v["bytes"].(float64), float64(len(assets.Demo())); bytes != want {
		t.Errorf("bytes is %v, want %v", bytes, want)
	}
}

func TestUsage(t *testing.T) {
	for _, c := range []struct {
		args  string
		words string
	}{
		{"info", "name the file"},
		{"info a b", "this command takes one file, but got a and b"},
		{"info --demo a", "--demo replaces the file; leave out"},
		{"info --jsn a", "unknown flag: --jsn; did you mean --json?"},
		{"top --limit 5 a", "unknown flag: --limit; did you mean -n or --rows?"},
		{"diff --top 5 a b", "unknown flag: --top; did you mean -n or --rows?"},
		{"top --serach x a", "did you mean --search?"},
		{"render a --out x.png", "did you mean -o or --output?"},
		{"convert a b --overwrite", "did you mean --force?"},
		{"top --metr period a", "did you mean --metric?"},
		{"info --zzzzz a", "unknown flag: --zzzzz (ashlar info --help shows how)"},
		{"top --range", "flag needs an argument"},
		{"top testdata/small.spaa --range 5s", `"5s" is not a range`},
		{"top testdata/small.spaa --by cpu", `cannot group by "cpu": use function, package, name, category, module, file, line, thread, state, waker`},
		{"top testdata/small.spaa --event cpu", `no event "cpu"; it has cycles, malloc`},
		{"top testdata/small.spaa --metric time", `no metric "time"; it has period, samples (cycles), alloc_bytes, alloc_count (malloc)`},
		{"top testdata/small.spaa --event malloc --metric period", `malloc has no metric "period"`},
		{"top testdata/small.spaa -n -1", "-1 is negative"},
		{"top ashlar:1?file=testdata/small.spaa&tab=calls", "ashlar:1?file=testdata/small.spaa&tab=calls is the address of a view, but a file is needed here, such as testdata/small.spaa (ashlar top --help shows how)"},
		{"diff testdata/small.spaa ashlar:1?x", "ashlar:1?x is the address of a view, but a file is needed here (ashlar diff --help shows how)"},
		{"top testdata/small.spaa --json=x", "--json takes no value, but got \"x\""},
		{"serve --keep x", "--keep takes a time such as 30s or 10m, not \"x\""},
		{"top testdata/small.spaa -n x", "--rows takes a whole number, not \"x\""},
		{"render testdata/small.spaa", "with -o"},
		{"render testdata/small.spaa -o x.jpg", "x.jpg is not a PNG or SVG file"},
		{"render testdata/small.spaa -o x.png --view top", `unknown view "top"; views: both, timeline, flame, functions,`},
		{"render testdata/small.spaa -o x.png --size 100", `"100" is not WIDTHxHEIGHT`},
		{"render testdata/small.spaa -o x.png --size 0x5", `"0x5" is not WIDTHxHEIGHT`},
		{"render testdata/small.spaa -o x.png --size 100x99999", "each from 1 to 16384"},
		{"render testdata/small.spaa -o x.png --size 10x10x10", "is not WIDTHxHEIGHT"},
		{"render testdata/small.spaa -o x.png --scale 0", "the scale 0 is not between 0.25 and 8"},
		{"render testdata/small.spaa -o x.png --scale NaN", "the scale NaN"},
		{"render testdata/small.spaa -o x.png --theme blue", `unknown theme "blue"; use dark, light or contrast`},
		{"render -o x.png", "name the file"},
		{"help tpo", `unknown command or topic "tpo"; commands: overview, findings, info, top, `},
		{"version 2", "takes no arguments"},
		{"inof testdata/small.spaa", "there is no file inof; did you mean the command info?"},
		{"--theme blue", `unknown theme "blue"`},
		{"--nothing", "unknown flag: --nothing"},
		{"--demo testdata/small.spaa", "--demo replaces the file; leave out"},
		{"- -", "standard input can be named only once"},
	} {
		t.Run(c.args, func(t *testing.T) {
			r := run(strings.Fields(c.args)...)
			r.sentence(t, Usage, c.words)
			if r.stdout != "" || r.window != nil || r.render != nil {
				t.Errorf("something was done all the same: %q", r.stdout)
			}
		})
	}
}

func TestHelp(t *testing.T) {
	pages := [][]string{{"--help"}, {"-h"}, {"help"}}
	for _, c := range commands() {
		pages = append(pages, []string{c.Name, "--help"}, []string{c.Name, "-h"}, []string{"help", c.Name})
		if c.Name != "record" { // its flags end at the command to record
			pages = append(pages, []string{c.Name, "nothing", "--help"})
		}
	}
	for _, args := range pages {
		r := run(args...)
		if r.code != Done || r.stderr != "" {
			t.Errorf("%v: exit code %d, %q", args, r.code, r.stderr)
		}
		if !strings.Contains(r.stdout, "Usage\n  ashlar") || !strings.Contains(r.stdout, "--help") {
			t.Errorf("%v: this is no help:\n%s", args, r.stdout)
		}
		for _, flag := range strings.Split(r.stdout, "--") {
			if strings.Count(flag, "(default") > 1 {
				t.Errorf("%v: a flag has two defaults: --%s", args, flag)
			}
		}
		for line := range strings.Lines(r.stdout) {
			if n := utf8.RuneCountInString(strings.TrimRight(line, "\n")); n > 80 || strings.TrimRight(line, " \n") != strings.TrimRight(line, "\n") {
				t.Errorf("%v: a line has %d characters, or blanks at its end: %q", args, n, line)
			}
		}
	}
	main := run("--help").stdout
	for _, c := range commands() {
		if !strings.Contains(main, "  "+c.Name+" ") || !strings.Contains(main, c.Line) {
			t.Errorf("the help does not list %s", c.Name)
		}
	}
	if r := run("version"); r.code != Done || !strings.HasPrefix(r.stdout, "ashlar ") {
		t.Errorf("version: %d, %q", r.code, r.stdout)
	}
	if r := run("--version"); r.code != Done || r.stdout != run("version").stdout || r.window != nil {
		t.Errorf("--version: %d, %q", r.code, r.stdout)
	}
}

// TestHelpTopics checks that every topic is listed, has no command's name, and fits the
// terminal's width, except for code.
func TestHelpTopics(t *testing.T) {
	main := run("help").stdout
	for _, topic := range topics() {
		if find(topic.name) != nil {
			t.Errorf("%s is a command, so that its page cannot be asked for", topic.name)
		}
		if !strings.Contains(main, "  "+topic.name+" ") || !strings.Contains(main, topic.line) {
			t.Errorf("the help does not list %s", topic.name)
		}
		r := run("help", topic.name)
		if r.code != Done || r.stderr != "" || r.stdout != topic.text(helpWidth) {
			t.Errorf("help %s: exit code %d, %q, %d characters", topic.name, r.code, r.stderr, len(r.stdout))
		}
		for line := range strings.Lines(r.stdout) {
			if n := utf8.RuneCountInString(strings.TrimRight(line, "\n")); n > helpWidth && !isCode(topic.name, line) {
				t.Errorf("help %s: a line has %d characters: %q", topic.name, n, line)
			}
		}
	}
	r := run("help", "top", "stats")
	r.sentence(t, Usage, "one command or topic")
}

// isCode reports whether a line of a manual page is code, which is not wrapped.
func isCode(topic, line string) bool {
	page, _ := manual.Find(topic)
	for _, b := range page.Blocks {
		for _, l := range b.Lines {
			if strings.TrimSpace(l) == strings.TrimSpace(line) {
				return true
			}
		}
	}
	return false
}

func TestWindow(t *testing.T) {
	r := run("testdata/small.spaa", "-", "--event", "malloc", "--metric", "alloc_count", "--theme", "light", "--frame-log", "f.json")
	if r.code != Done || r.window == nil {
		t.Fatalf("exit code %d: %s", r.code, r.stderr)
	}
	want := WindowOptions{FrameLog: "f.json", Theme: "light", Event: "malloc", Metric: "alloc_count"}
	got := *r.window
	if strings.Join(got.Files, " ") != "testdata/small.spaa -" {
		t.Errorf("files %q", got.Files)
	}
	got.Files = nil
	if got.FrameLog != want.FrameLog || got.Theme != want.Theme || got.Event != want.Event || got.Metric != want.Metric || got.Demo {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if r := run("--demo"); r.code != Done || !r.window.Demo || len(r.window.Files) != 0 {
		t.Errorf("--demo: %d, %+v", r.code, r.window)
	}
	if r := run(); r.code != Done || r.window == nil || len(r.window.Files) != 0 {
		t.Errorf("without arguments: %d, %+v", r.code, r.window)
	}
	r = run("nowhere/run.spaa")
	r.sentence(t, Problem, "nowhere/run.spaa: there is no such file")

	// A file named like a command.
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "info"), []byte("x"), 0o644); err != nil {
		t.Fatal(err)
	}
	t.Chdir(dir)
	if r := run("./info"); r.code != Done || r.window == nil || r.window.Files[0] != "./info" {
		t.Errorf("./info: %d, %+v", r.code, r.window)
	}
}

// unwatched returns o without its functions, which cannot be compared.
func unwatched(o RenderOptions) RenderOptions {
	o.Watch, o.Drawn = nil, nil
	return o
}

func TestRender(t *testing.T) {
	r := run("render", "a.spaa", "-o", "out.PNG", "--view", "flame", "--size", "640x480", "--scale", "1.5", "--range", "..1.5ms", "--event", "e", "--metric", "m", "--theme", "light")
	want := RenderOptions{File: "a.spaa", Out: "out.PNG", View: "flame", Width: 640, Height: 480, Scale: 1.5,
		Ranges: [2]recording.Range{{To: 1_500_000_000, HasTo: true}}, Event: "e", Metric: "m", Theme: "light"}
	if r.code != Done || r.render == nil || r.render.Watch == nil || !reflect.DeepEqual(unwatched(*r.render), want) {
		t.Errorf("exit code %d, %s: got %+v, want %+v", r.code, r.stderr, r.render, want)
	}
	r = run("render", "a.spall", "-o", "out.png", "--thread", "worker", "--thread", "7")
	if r.code != Done || r.render == nil || !reflect.DeepEqual(r.render.Part, recording.Part{Threads: []string{"worker", "7"}}) {
		t.Errorf("exit code %d, %s: of two threads it draws %+v", r.code, r.stderr, r.render)
	}
	for _, args := range [][]string{{"a.spall", "b.spall", "--thread", "worker"}, {"--demo", "--thread", "worker"}, {"a.spall", "--thread", ""}} {
		if r := run(append([]string{"render", "-o", "out.png"}, args...)...); r.code != Usage || !strings.Contains(r.stderr, "--thread") {
			t.Errorf("%q: exit code %d, %s", args, r.code, r.stderr)
		}
	}
	r = run("render", "--demo", "-o", "ashlar.png")
	want = RenderOptions{Demo: true, Out: "ashlar.png", View: "both", Width: 1280, Height: 720, Scale: 1, Theme: "dark"}
	if r.code != Done || r.render == nil || r.render.Watch == nil || !reflect.DeepEqual(unwatched(*r.render), want) {
		t.Errorf("exit code %d, %s: got %+v, want %+v", r.code, r.stderr, r.render, want)
	}
	var err bytes.Buffer
	code := Main([]string{"render", "a.spaa", "-o", "x.png"}, nil, &err, &err, Runner{Render: func(RenderOptions) error { return errors.New("a.spaa: is empty") }})
	if code != Problem || err.String() != "ashlar: a.spaa: is empty\n" {
		t.Errorf("a failing runner: %d, %q", code, err.String())
	}
}

func TestStandardInput(t *testing.T) {
	content, err := os.ReadFile("testdata/small.spaa")
	if err != nil {
		t.Fatal(err)
	}
	r := runWith(content, "top", "-", "--json")
	want := strings.Replace(run("top", "testdata/small.spaa", "--json").stdout, "testdata/small.spaa", "-", 1)
	want = regexp.MustCompile(`file=[^&]*&content=[^&]*`).ReplaceAllString(want, "file=-")
	if r.code != Done || r.stdout != want {
		t.Errorf("exit code %d, %s\ngot %s\nwant %s", r.code, r.stderr, r.stdout, want)
	}
	r = runWith(nil, "info", "-")
	r.sentence(t, Problem, "standard input is empty")
}

// TestLongArguments checks that errors do not repeat what is too long for a line.
func TestLongArguments(t *testing.T) {
	path, long := written(t, "a.folded", "main 1\n"), strings.Repeat("é", 5000)
	for _, args := range [][]string{{"top", long}, {"marks", path, "--exe", long}, {"stats", path, long}, {"top", "--demo", long}, {"top", path, "--" + long}} {
		if r := run(args...); r.code == Done || !strings.Contains(r.stderr, "é…é") || utf8.RuneCountInString(r.stderr) > 900 {
			t.Errorf("%.60q ends with %d and %d characters: %.300q", args, r.code, utf8.RuneCountInString(r.stderr), r.stderr)
		}
	}
}

// TestHostileNames checks that output contains no control characters that a terminal would
// obey.
func TestHostileNames(t *testing.T) {
	path := filepath.Join(t.TempDir(), "names.spaa")
	long := strings.Repeat("long", 3000)
	text := `{"type":"header","format":"spaa","version":"1.0","frame_order":"leaf_to_root","events":[{"name":"e\u001b[31m","kind":"timer","sampling":{"mode":"event","primary_metric":"n"}}]}
{"type":"dso","id":1,"name":"m\nodule"}
{"type":"frame","id":1,"func":"\u001b]0;title\u0007\u202eevil\r","dso":1}
{"type":"frame","id":2,"func":"` + long + `","dso":1}
{"type":"stack","id":1,"frames":[1,2],"context":{"event":"e\u001b[31m","tid":1},"weights":[{"metric":"n","value":1}]}
`
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"top", path}, {"info", path}, {"top", path, "--event", "\x1b[2J"}, {"top", path + "\x1b"}} {
		r := run(args...)
		for _, c := range r.stdout + r.stderr {
			if c < ' ' && c != '\n' || c == 0x7f || c == '\u202e' {
				t.Errorf("%q prints %q", args, c)
			}
		}
		for line := range strings.Lines(r.stdout) {
			if utf8.RuneCountInString(line) > 300 {
				t.Errorf("%q prints a line of %d characters", args, utf8.RuneCountInString(line))
			}
		}
	}
}
