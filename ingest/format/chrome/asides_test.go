package chrome

import (
	"fmt"
	"strings"
	"testing"

	"ashlar/ingest/format/decode/decodetest"
	"ashlar/ingest/model/recording"
)

// TestTotalsOfClang checks that each of clang's totals gets a row of its own, and that
// events that only resemble totals stay on their threads.
func TestTotalsOfClang(t *testing.T) {
	r, err := decodetest.Bytes(t, run, []byte(`{"traceEvents":[
{"pid":1,"tid":1,"ph":"X","ts":0,"dur":50,"name":"ExecuteCompiler"},
{"pid":1,"tid":1,"ph":"X","ts":10,"dur":30,"name":"Source","args":{"detail":"a.h"}},
{"pid":1,"tid":1,"ph":"X","ts":20,"dur":5,"name":"Source","args":{"detail":"b.h"}},
{"pid":1,"tid":2,"ph":"X","ts":0,"dur":50,"name":"Total ExecuteCompiler","args":{"count":1,"avg ms":0}},
{"pid":1,"tid":3,"ph":"X","ts":0,"dur":30,"name":"Total Source","args":{"count":2,"avg ms":0}},
{"pid":1,"tid":4,"ph":"X","ts":0,"dur":7,"name":"Total eclipse","args":{"count":2}},
{"pid":1,"tid":5,"ph":"X","ts":3,"dur":7,"name":"Total Source","args":{"count":2,"avg ms":0}},
{"cat":"","pid":1,"tid":1,"ts":0,"ph":"M","name":"process_name","args":{"name":"clang"}}],"beginningOfTime":1}`), 0)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, track := range r.Tracks {
		for k := range track.Lanes {
			l := &track.Lanes[k]
			for i := range l.Len() {
				got = append(got, fmt.Sprintf("%d/%d %v %s %d..%d depth %d", track.PID, track.TID, track.Kind == recording.AsyncTrack, r.FuncName(l.Call(i)), l.Start(i)/1e6, l.End(i)/1e6, r.Calls.Depth(l.Call(i))))
			}
		}
	}
	want := []string{"1/1 false ExecuteCompiler 0..50 depth 1", "1/1 false Source 10..40 depth 2", "1/1 false Source 20..25 depth 3",
		"1/0 true Total ExecuteCompiler 0..50 depth 1", "1/0 true Total Source 0..30 depth 1", "1/4 false Total eclipse 0..7 depth 1", "1/5 false Total Source 3..10 depth 1"}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if len(r.Warnings) != 1 || r.Warnings[0].Code != "compiler-totals" || !r.Warnings[0].Minor || r.Warnings[0].First != "byte 255" {
		t.Errorf("warnings %+v", r.Warnings)
	}
}

// TestAnnotationsOfPyTorch checks that annotations of streams and the span for the whole
// recording are not on thread tracks: the stream is busy for only 7 µs.
func TestAnnotationsOfPyTorch(t *testing.T) {
	r, err := decodetest.Bytes(t, run, []byte(`{"traceEvents":[
{"ph":"X","cat":"Trace","name":"PyTorch Profiler (0)","pid":"Spans","tid":"PyTorch Profiler","ts":0,"dur":50},
{"ph":"X","cat":"gpu_user_annotation","name":"forward","pid":0,"tid":7,"ts":10,"dur":20},
{"ph":"X","cat":"kernel","name":"a","pid":0,"tid":7,"ts":10,"dur":4},
{"ph":"X","cat":"kernel","name":"b","pid":0,"tid":7,"ts":27,"dur":3},
{"ph":"X","cat":"Trace","name":"other","pid":1,"tid":1,"ts":0,"dur":5}]}`), 0)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, track := range r.Tracks {
		for k := range track.Lanes {
			l := &track.Lanes[k]
			for i := range l.Len() {
				got = append(got, fmt.Sprintf("%s async %v: %s %d..%d depth %d", track.Title(), track.Kind == recording.AsyncTrack, r.FuncName(l.Call(i)), l.Start(i)/1e6, l.End(i)/1e6, r.Calls.Depth(l.Call(i))))
			}
		}
	}
	want := []string{"PyTorch Profiler async true: PyTorch Profiler (0) 0..50 depth 1", "annotations of stream 7 async true: forward 10..30 depth 1",
		"thread 7 async false: a 10..14 depth 1", "thread 7 async false: b 27..30 depth 1", "thread 1 async false: other 0..5 depth 1"}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}
