package ingest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ashlar/ingest/input/source"
	"ashlar/ingest/model/recording"
	"ashlar/ingest/query/join"
)

// ranks writes n small traces and returns their folder.
func ranks(t *testing.T, n int) (dir string) {
	dir = t.TempDir()
	for i := range n {
		text := fmt.Sprintf(`[{"ph":"X","pid":1,"tid":1,"name":"step","ts":1700000000000000,"dur":%d,"args":{"rank":%d}},{"ph":"X","pid":1,"tid":1,"name":"rank%d","ts":1700000000000000,"dur":1}]`, 100+i, i, i)
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("rank%d.json", i)), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// TestJoined opens 64 files as one recording.
func TestJoined(t *testing.T) {
	dir := ranks(t, 64)
	name := join.Name(filepath.Join(dir, "rank*.json"))
	l := Open(context.Background(), name, Options{})
	defer l.Close()
	if err := l.Wait(); err != nil {
		t.Fatal(err)
	}
	rec := l.Snapshot()
	if rec.Source.Path != name || rec.Source.Name != "rank0.json + 63 more" || rec.Source.Format != "chrome" || !rec.Done {
		t.Errorf("the source is %+v", rec.Source)
	}
	var total, bytes int64
	for i, track := range rec.Tracks {
		total += track.Lanes[0].End(0) - track.Lanes[0].Start(0)
		if want := fmt.Sprintf(`{"rank":%d}`, i); rec.Processes[track.Process].Recording != fmt.Sprint("rank", i) || rec.Args(track.Lanes[0].Args(0)) != want {
			t.Errorf("track %d is of %s, with the arguments %s", i, rec.Processes[track.Process].Recording, rec.Args(track.Lanes[0].Args(0)))
		}
		info, err := os.Stat(filepath.Join(dir, fmt.Sprintf("rank%d.json", i)))
		if err != nil {
			t.Fatal(err)
		}
		bytes += info.Size()
	}
	if len(rec.Tracks) != 64 || total != rec.Events[0].Metrics[recording.SpanTime].Total || total != (64*100+63*32)*1e6 {
		t.Errorf("%d tracks have %d ps, the recording %d", len(rec.Tracks), total, rec.Events[0].Metrics[recording.SpanTime].Total)
	}
	if p := l.Progress(); p.Bytes != bytes || p.Total != bytes || !p.Done || l.Stats().Bytes != bytes || rec.Source.Bytes != bytes {
		t.Errorf("progress is %+v and the source has %d bytes, the files have %d", p, rec.Source.Bytes, bytes)
	}
}

// TestJoinedWithoutSome joins files of which some cannot be read.
func TestJoinedWithoutSome(t *testing.T) {
	dir := ranks(t, 2)
	file := func(name string) string { return filepath.Join(dir, name) }
	rec, _, err := ReadAll(context.Background(), join.Name(file("rank0.json"), file("gone.json"), file("rank1.json")), Options{})
	if err != nil || len(rec.Tracks) != 2 || rec.Warnings[0].Code != "failed" || !strings.Contains(rec.Warnings[0].Text, "gone.json") || !strings.Contains(rec.Warnings[0].Text, "2 of 3 recordings") {
		t.Errorf("without a file: %v, %+v", err, rec)
	}
	if _, _, err := ReadAll(context.Background(), join.Name(file("gone.json"), file("lost.json")), Options{}); err == nil || !strings.Contains(err.Error(), "gone.json") {
		t.Errorf("without any file: %v", err)
	}
	if _, _, err := ReadAll(context.Background(), join.Name(file("none*.json")), Options{}); err == nil || !strings.Contains(err.Error(), "none*.json") {
		t.Errorf("a pattern without a match: %v", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, _, err := ReadAll(ctx, join.Name(file("rank0.json"), file("rank1.json")), Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	rec, _, err = ReadAll(context.Background(), join.Name(file("rank*.json")), Options{Part: recording.Part{Threads: []string{"1"}}})
	if err != nil || rec.Counts.Spans != 4 || len(rec.Part.Threads) != 1 {
		t.Errorf("a thread of each: %v, %d spans", err, rec.Counts.Spans)
	}
}

// TestJoinedLimits checks that limits hold for each part.
func TestJoinedLimits(t *testing.T) {
	dir := ranks(t, 2)
	ctx := source.WithLimits(context.Background(), source.Limits{})
	for _, x := range []struct {
		second  string
		allowed bool
	}{{filepath.Join(dir, "rank1.json"), true}, {filepath.Join(dir, "rank*.json"), true}, {"-", false}, {"/proc/self/environ", false}, {"http://localhost:1/x", false}, {"/*/*/x.json", false}} {
		name := join.Name(filepath.Join(dir, "rank0.json"), x.second)
		_, _, err := ReadAll(ctx, name, Options{})
		if (err == nil) != x.allowed || (Allowed(ctx, name) == nil) != x.allowed {
			t.Errorf("%s: %v", name, err)
		}
	}
}
