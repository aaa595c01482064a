package command

import (
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"ashlar/app/command/progress"
)

const smallPerf = `app 100/101 [000] 5000.000001: 1000 cycles:
	401200 parse+0x20 (/usr/bin/app)
	401100 main+0x5 (/usr/bin/app)

app 100/101 [001] 5001.400001: 3000 cycles:
	401100 main+0x5 (/usr/bin/app)

app 100/102 [001] 5002.400001: 7 instructions:
	401100 main+0x5 (/usr/bin/app)

`

// folder returns the names of the entries of a folder.
func folder(t *testing.T, dir string) string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return strings.Join(names, " ")
}

func TestConvertPipe(t *testing.T) {
	dir := t.TempDir()
	out := filepath.Join(dir, "run.spaa.zst")
	r := runWith([]byte(smallPerf), "convert", "-", out, "--windows", "1s")
	if r.code != Done || r.stderr != "" || !strings.HasPrefix(r.stdout, out+": SPAA, 15 records, ") {
		t.Fatalf("%d %q %q", r.code, r.stdout, r.stderr)
	}
	in := infoOf(t, out)
	// Metrics keep the order of the input.
	if in.Counts.Samples != 3 || in.Counts.Windows != 3 || in.Format != "spaa" || in.Events[0].Metrics[1].Total != "4000" {
		t.Errorf("%+v", in)
	}
	if r := run("check", out); r.code != Done || !strings.HasPrefix(r.stdout, "0 errors and 0 warnings in 1 file") {
		t.Errorf("check: %d %s", r.code, r.stdout)
	}
	if folder(t, dir) != "run.spaa.zst" {
		t.Errorf("there is %s", folder(t, dir))
	}
}

func TestConvertExists(t *testing.T) {
	dir := t.TempDir()
	out := filepath.Join(dir, "run.folded")
	if err := os.WriteFile(out, []byte("mine"), 0o666); err != nil {
		t.Fatal(err)
	}
	r := runWith([]byte(smallPerf), "convert", "-", out)
	r.sentence(t, Problem, out, "exists", "--force")
	if b, _ := os.ReadFile(out); string(b) != "mine" {
		t.Errorf("it is now %q", b)
	}
	r = runWith([]byte("no recording at all\n"), "convert", "-", out, "--force")
	r.sentence(t, Problem)
	if b, _ := os.ReadFile(out); string(b) != "mine" || folder(t, dir) != "run.folded" {
		t.Errorf("it is now %q, beside %s", b, folder(t, dir))
	}
	r = runWith([]byte(smallPerf), "convert", "-", out, "--force")
	if b, _ := os.ReadFile(out); r.code != Done || string(b) != "main 3000\nmain;parse 1000\n" {
		t.Errorf("%d %q: %q", r.code, r.stderr, b)
	}
	if !strings.Contains(r.stderr, "Not converted:\n") || !strings.Contains(r.stderr, "events (1): instructions: ") {
		t.Errorf("%q", r.stderr)
	}
}

func TestConvertReport(t *testing.T) {
	dir := t.TempDir()
	in, out := filepath.Join(dir, "in.perf"), filepath.Join(dir, "out.pb.gz")
	if err := os.WriteFile(in, []byte(smallPerf), 0o666); err != nil {
		t.Fatal(err)
	}
	r := run("convert", in, out, "--json", "--event", "instructions")
	var v struct {
		File, Format, Output string
		Target               string `json:"output_format"`
		Records, Bytes       int64
		Lost                 []struct {
			What, Why string
			Count     int64
		} `json:"not_carried_over"`
		Warnings *int64 `json:"input_warnings"`
	}
	if err := json.Unmarshal([]byte(r.stdout), &v); err != nil || r.code != Done {
		t.Fatalf("%d %q %v", r.code, r.stderr, err)
	}
	info, err := os.Stat(out)
	if err != nil {
		t.Fatal(err)
	}
	if v.File != in || v.Format != "perf-script" || v.Output != out || v.Target != "pprof" || v.Records != 1 || v.Bytes != info.Size() || v.Warnings == nil || *v.Warnings != 0 {
		t.Errorf("%+v", v)
	}
	found := false
	for _, l := range v.Lost {
		found = found || l.What == "sample times" && l.Count == 3
	}
	if !found {
		t.Errorf("lost %+v", v.Lost)
	}
}

func TestConvertUsage(t *testing.T) {
	dir := t.TempDir()
	in := filepath.Join(dir, "in.perf")
	if err := os.WriteFile(in, []byte(smallPerf), 0o666); err != nil {
		t.Fatal(err)
	}
	out := func(name string) string { return filepath.Join(dir, name) }
	for _, c := range []struct {
		code int
		args []string
		says string
	}{
		{Usage, nil, "name the recording"},
		{Usage, []string{in}, "name the output file"},
		{Usage, []string{in, "a.spaa", "b"}, "; convert takes IN and OUT"},
		{Problem, []string{in, out("late.spaa"), "--range", "9h.."}, "begins after the recording's end"},
		{Usage, []string{in, "-"}, "cannot write to standard output"},
		{Usage, []string{in, "a.png"}, ".spaa, .spall"},
		{Usage, []string{in, "a.spaa", "--windows", "soon"}, "soon"},
		{Usage, []string{in, "a.spaa", "--windows", "0"}, "longer than 0"},
		{Usage, []string{in, "a.pb", "--windows", "1s"}, "pprof has no windows"},
		{Usage, []string{in, "a.spaa", "--event", "x"}, "all events"},
		{Usage, []string{in, out("a.pb"), "--event", "nonsense"}, "cycles, instructions"},
		{Problem, []string{out("none"), out("a.spaa")}, "no such file"},
		{Problem, []string{in, filepath.Join(dir, "no", "a.spaa")}, "cannot be written"},
		{Problem, []string{in, out("a.spall")}, "this format can hold none of the recording's data"},
		{Problem, []string{in, out("a.spaa"), "--windows", "1ns"}, "the windows are too short:"},
	} {
		r := run(append([]string{"convert"}, c.args...)...)
		r.sentence(t, c.code, c.says)
	}
	if got := folder(t, dir); got != "in.perf" {
		t.Errorf("there is %s", got)
	}
}

// TestConvertInterrupted checks that an interrupted conversion leaves no file.
func TestConvertInterrupted(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("there are no signals to send")
	}
	dir := t.TempDir()
	out := filepath.Join(dir, "out.spaa")
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), helperArgs+"=convert\n-\n"+out)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	var stderr strings.Builder
	cmd.Stderr = &stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(in, strings.Repeat(smallPerf, 100)); err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(30 * time.Second); folder(t, dir) == ""; time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("it does not begin to write")
		}
	}
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	err = cmd.Wait()
	if cmd.ProcessState.ExitCode() != Problem || !strings.Contains(stderr.String(), "interrupted") {
		t.Errorf("%v: %q", err, stderr.String())
	}
	if got := folder(t, dir); got != "" {
		t.Errorf("it leaves %s", got)
	}
}

// TestConvertCutInput checks that a truncated file is converted as far as it can be read, and
// that the exit code reports it.
func TestConvertCutInput(t *testing.T) {
	dir := t.TempDir()
	whole := filepath.Join(dir, "whole.spaa.gz")
	if r := runWith([]byte(strings.Repeat(smallPerf, 3000)), "convert", "-", whole); r.code != Done {
		t.Fatal(r.stderr)
	}
	b, err := os.ReadFile(whole)
	if err != nil {
		t.Fatal(err)
	}
	cut := filepath.Join(dir, "cut.spaa.gz")
	if err := os.WriteFile(cut, b[:len(b)*2/3], 0o666); err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(dir, "out.pb")
	if r := run("convert", cut, out); r.code != Problem || !strings.Contains(r.stderr, "data is damaged or truncated after") {
		t.Errorf("%d %q", r.code, r.stderr)
	}
	if _, err := os.Stat(out); err != nil {
		t.Error(err)
	}
}

func TestProgressText(t *testing.T) {
	for _, c := range []struct {
		done, total int64
		took        time.Duration
		want        string
	}{
		{0, 100, time.Second, "reading …"},
		{5, -1, time.Second, "reading … 5 B"},
		{25, 100, 10 * time.Second, "reading 25 %, 30 s left"},
		{1, 61, 125 * time.Second, "reading 1 %, 2 h 5 min left"},
		{50, 100, 90 * time.Second, "reading 50 %, 1 min 30 s left"},
		{99, 100, time.Second, "reading 99 %"},
		{120, 100, time.Second, "reading 100 %"},
	} {
		if got := progress.Text("reading", c.done, c.total, c.took); got != c.want {
			t.Errorf("%d of %d: %q, want %q", c.done, c.total, got, c.want)
		}
	}
}
