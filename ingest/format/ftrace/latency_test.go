package ftrace

import (
	"slices"
	"strings"
	"testing"

	"ashlar/ingest/format/decode"
)

// latencyText is in the latency format: times in microseconds, processor and flags without
// a blank between them, marks at long delays, functions with their callers, an event, and a
// stack.
const latencyText = `# tracer: irqsoff
#
# irqsoff latency trace v1.1.5 on 6.1.0
# --------------------------------------------------------------------
# latency: 25 us, #5/5, CPU#0 | (M:preempt VP:0, KP:0, SP:0 HP:0 #P:4)
#                  _------=> CPU#
#  cmd     pid   ||||| time  |   caller
  <idle>-0       0d.s2    0us+: _raw_spin_lock_irq <-run_timer
 my-app1-12      0dNs3   17us : _raw_spin_unlock_irq <-run_timer
 my-app1-12     11..s1.  18us!: sched_switch: prev_comm=my-app1 prev_pid=12 prev_prio=120 prev_state=S ==> next_comm=b next_pid=13 next_prio=120
       b-13     11d..2.  21us@: tracing_mark_write: B|13|f
       b-13     11d..2.  24us : tracing_mark_write: E
  <idle>-0       0dNs3   25us : <stack trace>
 => _raw_spin_unlock_irq
 => run_timer
`

// functions is output of the function tracer in the usual format.
const functions = `# tracer: function
            bash-1994  (   10) [000] .... 1720.000100: vfs_write <-sys_write
            bash-1994  (   10) [001] d..2.  1720.000200: x.isra.0 <-vfs_write
`

func TestLatency(t *testing.T) {
	for _, c := range []struct {
		text string
		want []string
	}{
		{latencyText, []string{
			`instant 0/ <stack trace> 25 {"text":""}`,
			`instant 0/ _raw_spin_lock_irq 0 {"text":"\u003c-run_timer"}`,
			`instant 0/my-app1 _raw_spin_unlock_irq 17 {"text":"\u003c-run_timer"}`,
			`span -1/CPU 11 b 18 to open`,
			`span 13/b f 21 to 24`,
			`state 0/my-app1 [blocked: sleeping] 18 to 25`,
			`state 13/b [running] 18 to 25`,
		}},
		{functions, []string{
			`instant 10/bash vfs_write 1720.0001 {"text":"\u003c-sys_write"}`,
			`instant 10/bash x.isra.0 1720.0002 {"text":"\u003c-vfs_write"}`,
		}},
	} {
		if sure, err := Sniff([]byte(c.text), true); sure != decode.Certain || err != nil {
			t.Error(sure, err)
		}
		bare := c.text[strings.LastIndex(c.text, "#"):]
		if sure, err := Sniff([]byte(bare[strings.Index(bare, "\n")+1:]), true); sure != decode.Likely || err != nil {
			t.Error("without its header: ", sure, err)
		}
		r, err := decodeBytes(t, []byte(c.text), 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, w := range r.Warnings {
			if w.Code != "stack-not-shown" || w.Count != 2 || w.Error {
				t.Errorf("%+v", w)
			}
		}
		if got := told(r); !slices.Equal(got, c.want) {
			t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(c.want, "\n"))
		}
	}
}
