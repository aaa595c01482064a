package roundtrip

import (
	"testing"

	"ashlar/ingest/format/encode"
	"ashlar/ingest/model/recording"
)

// TestUnfinished checks that unfinished spans of every kind last until the end of the
// recording, even if that is the time of a sample, and that conversion keeps the total.
func TestUnfinished(t *testing.T) {
	const tail = `{"ph":"X","name":"w","pid":1,"tid":1,"ts":0,"dur":2},{"ph":"C","name":"c","pid":1,"ts":10,"args":{"v":1}},` +
		`{"ph":"P","name":"sampled","pid":1,"tid":9,"ts":12}]`
	for name, c := range map[string]struct {
		head  string
		total int64 // µs
	}{
		"begun":               {`[{"ph":"B","name":"a","pid":1,"tid":1,"ts":5},`, 2 + 7},
		"begun out of order":  {`[{"ph":"X","name":"x","pid":1,"tid":1,"ts":8,"dur":1},{"ph":"B","name":"a","pid":1,"tid":1,"ts":5},`, 2 + 7},
		"without a length":    {`[{"ph":"X","name":"a","pid":1,"tid":1,"ts":5},`, 2 + 7},
		"async":               {`[{"ph":"b","cat":"x","id":1,"name":"a","pid":1,"tid":1,"ts":5},`, 2 + 7},
		"async, the old form": {`[{"ph":"S","cat":"x","id":1,"name":"a","pid":1,"tid":1,"ts":5},`, 2 + 7},
	} {
		rec := load(t, "in.json", []byte(c.head+tail))
		if got := spanTime(rec); got != c.total*1e6 {
			t.Errorf("%s: %d µs, want %d", name, got/1e6, c.total)
		}
		for _, to := range []string{"out.json", "out.spall"} {
			content, _ := write(t, rec, to, encode.Options{})
			if got := spanTime(load(t, to, content)); got != c.total*1e6 {
				t.Errorf("%s in %s: %d µs, want %d", name, to, got/1e6, c.total)
			}
		}
	}
}

// spanTime sums the spans of the outermost lanes.
func spanTime(rec *recording.Recording) (sum int64) {
	for _, t := range rec.Tracks {
		if len(t.Lanes) == 0 {
			continue
		}
		for i := range t.Lanes[0].Len() {
			sum += t.Lanes[0].End(i) - t.Lanes[0].Start(i)
		}
	}
	return sum
}

// TestNoDate checks that a recording whose clock counts from boot gets no date in
// OpenTelemetry, whose times count from 1970, and that the report says so.
func TestNoDate(t *testing.T) {
	const profile = `{"nodes":[{"id":1,"callFrame":{"functionName":"f","scriptId":"1","url":"a.js","lineNumber":4,"columnNumber":1}}],` +
		`"startTime":400000000000,"endTime":400000004000,"samples":[1,1],"timeDeltas":[0,1000]}`
	out, rep := write(t, load(t, "in.cpuprofile", []byte(profile)), "out.otlp", encode.Options{})
	back := load(t, "out.otlp", out)
	if dates := back.Source.NotesOf(recording.NoteTime); len(dates) > 0 {
		t.Errorf("it was recorded at %v", dates)
	}
	found := false
	for _, l := range rep.Lost {
		found = found || l.What == "wall-clock times"
	}
	if !found || back.Counts.Samples != 4 || !back.HasTime { // two for each of the two metrics
		t.Errorf("lost %v, %+v", rep.Lost, back.Counts)
	}
}
