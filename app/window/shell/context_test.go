package shell

import (
	"reflect"
	"testing"

	"ashlar/app/window/panel/details"
	"ashlar/ingest/model/recording"
	"ashlar/ingest/query/analyze"
)

// TestContextDetails checks that the details show each key's heaviest value, its share
// and the number of others. The probe comes first; its parts are left out.
func TestContextDetails(t *testing.T) {
	m := &recording.Metric{Name: "count"}
	keys := []analyze.KeyValues{
		{Key: "event", Values: []analyze.ContextValue{{Value: "e", Weight: 8}}},
		{Key: "execname", Values: []analyze.ContextValue{{Value: "myapp", Weight: 6}, {Value: "tar", Weight: 2}}},
		{Key: "pid", Values: []analyze.ContextValue{{Value: "7", Weight: 8}}},
		{Key: "probe", Values: []analyze.ContextValue{{Value: "syscall::read:entry", Weight: 8}}},
		{Key: "probe.name", Values: []analyze.ContextValue{{Value: "entry", Weight: 8}}},
		{Key: "thread.name", Values: []analyze.ContextValue{{Value: "w", Weight: 8}}},
		{Key: "uid", Values: []analyze.ContextValue{{Value: "0", Weight: 8}}},
	}
	want := []details.Detail{
		{Key: "probe", Value: "syscall::read:entry", Exact: "", Label: "probe"},
		{Key: "execname", Value: "myapp  75.0 %, 1 more", Exact: "myapp 6, tar 2", Label: "execname"},
		{Key: "pid", Value: "7", Exact: "", Label: "pid"},
		{Key: "thread.name", Value: "w", Exact: "", Label: "thread.name"},
		{Key: "uid", Value: "0", Exact: "", Label: "uid"},
	}
	for i := range want { // package units tests thin spaces
		want[i].Value, want[i].Exact = spaces(want[i].Value), spaces(want[i].Exact)
	}
	got := details.ContextDetails(keys, m, false)
	for i := range got {
		got[i].Value, got[i].Exact = spaces(got[i].Value), spaces(got[i].Exact)
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got\n%+v\nwant\n%+v", got, want)
	}
	if got := details.ContextDetails(keys, m, true); len(got) != len(want)-1 {
		t.Errorf("beside a thread: %+v", got)
	}
	// Bytes of a heap profile have the units of its metrics.
	sized := []analyze.KeyValues{{Key: "bytes", Values: []analyze.ContextValue{{Value: "1048576 bytes", Weight: 8}}}}
	for metric, want := range map[string]string{"alloc_space": "1.000 MiB", "alloc_objects": "1.000 MiB", "count": "1.049 MB"} {
		if got := details.ContextDetails(sized, &recording.Metric{Name: metric}, false); spaces(got[0].Value) != want {
			t.Errorf("beside %s, the label is %s, want %s", metric, got[0].Value, want)
		}
	}
}

func spaces(s string) string {
	out := ""
	for _, r := range s {
		if r == '\u2009' || r == '\u00a0' {
			r = ' '
		}
		out += string(r)
	}
	return out
}
