package command

import (
	"strings"
	"testing"
)

// TestByState checks that --by state selects the event of thread states, although spans are
// the default event. With --calls, only the states of the calls' thread during those calls
// count.
func TestByState(t *testing.T) {
	const text = `# tracer: nop
#
          client-11    (   10) [000] ...1  1.000000: tracing_mark_write: B|10|request
          client-11    (   10) [000] ...1  1.000500: tracing_mark_write: E|10
          client-11    (   10) [000] ...1  1.001000: tracing_mark_write: B|10|request
          client-11    (   10) [000] d..2  1.002000: sched_switch: prev_comm=client prev_pid=11 prev_prio=120 prev_state=S ==> next_comm=swapper/0 next_pid=0 next_prio=120
          client-11    (   10) [000] d..2  1.005000: sched_switch: prev_comm=swapper/0 prev_pid=0 prev_prio=120 prev_state=R ==> next_comm=client next_pid=11 next_prio=120
          client-11    (   10) [000] ...1  1.006000: tracing_mark_write: E|10
          client-11    (   10) [000] d..2  1.008000: sched_switch: prev_comm=client prev_pid=11 prev_prio=120 prev_state=S ==> next_comm=swapper/0 next_pid=0 next_prio=120
`
	for _, x := range []struct {
		args []string
		want string
	}{
		{nil, "3.000 ms  50.0 %      2  running"},
		{[]string{"--calls", "request"}, "3.000 ms  75.0 %      1  blocked: sleeping"},
	} {
		r := runWith([]byte(text), append([]string{"top", "-", "--by", "state"}, x.args...)...)
		if r.code != Done || !strings.Contains(r.stdout, x.want) {
			t.Errorf("%q: %d, want %q in\n%s%s", x.args, r.code, x.want, r.stdout, r.stderr)
		}
	}
}
