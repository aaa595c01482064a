package main

import (
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"

	"ashlar/app/command"
	"ashlar/ingest/model/recording"
	"ashlar/testdata/gen/synth"
)

// drawn renders a picture as SVG and returns its text.
func drawn(t *testing.T, o command.RenderOptions) string {
	t.Helper()
	o.Out = filepath.Join(t.TempDir(), "out.svg")
	o.Width, o.Height, o.Scale, o.Theme = 1200, 900, 1, "dark"
	if err := render(o); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(o.Out)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func synthetic(t *testing.T, o synth.Options) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "made."+o.Kind)
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := synth.Write(f, o); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestRenderOfAThread(t *testing.T) {
	path := filepath.Join(t.TempDir(), "two.json")
	if err := os.WriteFile(path, []byte(`[{"ph":"M","pid":1,"tid":7,"name":"thread_name","args":{"name":"net"}},{"ph":"M","pid":1,"tid":8,"name":"thread_name","args":{"name":"disk"}},
{"ph":"X","pid":1,"tid":7,"ts":0,"dur":400,"name":"send"},{"ph":"X","pid":1,"tid":8,"ts":0,"dur":400,"name":"seek"}]`), 0o644); err != nil {
		t.Fatal(err)
	}
	whole := drawn(t, command.RenderOptions{File: path, View: "both"})
	part := drawn(t, command.RenderOptions{File: path, View: "both", Part: recording.Part{Threads: []string{"net"}}})
	if !strings.Contains(whole, ">send<") || !strings.Contains(whole, ">seek<") || !strings.Contains(part, ">send<") || strings.Contains(part, ">seek<") {
		t.Errorf("the whole has %d bytes, one thread %d: it should have send and not seek", len(whole), len(part))
	}
}

// TestRenderBehindTheEnd checks that a range after the recording's end is an error and leaves
// no file.
func TestRenderBehindTheEnd(t *testing.T) {
	path := filepath.Join(t.TempDir(), "one.json")
	if err := os.WriteFile(path, []byte(`[{"ph":"X","pid":1,"tid":7,"ts":0,"dur":400,"name":"send"}]`), 0o644); err != nil {
		t.Fatal(err)
	}
	behind, err := recording.ParseRange("1ms..2ms")
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range []command.RenderOptions{{Ranges: [2]recording.Range{behind}, View: "both"}, {With: path, Ranges: [2]recording.Range{{}, behind}, View: "compare"}} {
		o.File, o.Out, o.Width, o.Height, o.Scale, o.Theme = path, filepath.Join(t.TempDir(), "out.svg"), 400, 300, 1, "dark"
		if err := render(o); err == nil || !strings.Contains(err.Error(), "one.json: the range 1ms..2ms begins after the recording's end at 400us") {
			t.Errorf("%+v: %v", o, err)
		}
		if _, err := os.Stat(o.Out); err == nil {
			t.Error("there is a picture")
		}
	}
}

// TestRenderOfWhatIsLargerThanMemory checks that a range near the end of a recording that does
// not fit in memory is drawn as if it did.
func TestRenderOfWhatIsLargerThanMemory(t *testing.T) {
	if testing.Short() {
		t.Skip("fills memory")
	}
	path := synthetic(t, synth.Options{Kind: "spall1", Records: 5_000_000, Threads: 1, Seed: 4})
	rng, err := recording.ParseRange("18s..18.1s")
	if err != nil {
		t.Fatal(err)
	}
	o := command.RenderOptions{File: path, View: "flame", Ranges: [2]recording.Range{rng}}
	whole := drawn(t, o)
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(int64(m.HeapAlloc) + 48<<20))
	if part := drawn(t, o); part != whole || strings.Count(whole, "<text") < 5 {
		t.Errorf("with little memory the picture has %d bytes, with enough %d", len(part), len(whole))
	}
	o.Ranges[0] = recording.Range{}
	if part := drawn(t, o); part == whole {
		t.Error("it fits")
	}
}
