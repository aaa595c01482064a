package ftrace

import (
	"testing"

	"ashlar/ingest/format/decode/decodetest"
)

// TestTimeFarOutside checks that a line with a time far from the others, which is left out, does
// not lengthen the states of threads.
func TestTimeFarOutside(t *testing.T) {
	const content = `# tracer: nop
          <idle>-0       [001] d..2.   100.000000: sched_switch: prev_comm=swapper/1 prev_pid=0 prev_prio=120 prev_state=R ==> next_comm=app next_pid=42 next_prio=120
             app-42      [001] d..2.   100.003000: sched_switch: prev_comm=app prev_pid=42 prev_prio=120 prev_state=S ==> next_comm=swapper/1 next_pid=0 next_prio=120
             app-42      [001] .....   100.005000: tracing_mark_write: I|42|even
             app-42      [001] .....   1700000000.000000: tracing_mark_write: I|42|odd
`
	rec, err := decodetest.Bytes(t, Decode, []byte(content), 0)
	if err != nil || len(rec.Warnings) != 1 || rec.Warnings[0].Code != "time-far" {
		t.Fatalf("%v, warnings %+v", err, rec.Warnings)
	}
	if d := rec.Duration(); d != 5e9 {
		t.Errorf("the recording has %d ps, want 5 ms", d)
	}
	for _, m := range rec.Events[0].Metrics {
		if m.Name == "wall" && m.Total != 5e9 {
			t.Errorf("the states have %d ps", m.Total)
		}
	}
}

// TestFirstTimeFarOutside checks that a stray time in the first line does not push the others off
// the timeline.
func TestFirstTimeFarOutside(t *testing.T) {
	const content = `# tracer: nop
             app-42      [001] .....   0.000001: tracing_mark_write: I|42|odd
             app-42      [001] .....   1700000100.000000: tracing_mark_write: B|42|work
             app-42      [001] .....   1700000100.003000: tracing_mark_write: E|42
`
	rec, err := decodetest.Bytes(t, Decode, []byte(content), 0)
	if err != nil || len(rec.Warnings) != 1 || rec.Warnings[0].Code != "time-far" || rec.Warnings[0].First != "line 2" {
		t.Fatalf("%v, warnings %+v", err, rec.Warnings)
	}
	if d, got := rec.Duration(), rec.Events[0].Metrics[0].Total; d != 3e9 || got != 3e9 {
		t.Errorf("spans of %d ps in %d ps, want 3 ms", got, d)
	}
}
