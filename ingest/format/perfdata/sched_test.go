package perfdata

import (
	"fmt"
	"slices"
	"testing"

	"ashlar/ingest/model/recording"
)

// schedType has the fields that `perf sched record -g` asks for.
const schedType = hasIP | hasTID | hasTime | hasID | hasCPU | hasPeriod | hasRaw | hasCallchain | hasIdentifier

// schedTrace returns pipe output with scheduler tracepoints. If formats is true, it
// contains their layout, which differs from the usual one.
func schedTrace(formats bool) []byte {
	out := put64([]byte(magic), pipeHeader)
	names := []string{"sched:sched_switch", "sched:sched_waking"}
	for i, name := range names {
		a := put64(put32(nil, 2, 96), uint64(300+i), 1, schedType, readID, flagIDsAll)
		a = append(a, make([]byte, 96-len(a))...)
		out = append(out, rec(recordAttr, 0, put64(a, uint64(21+i)))...)
		update := append(put64(nil, 2, uint64(21+i)), name...)
		out = append(out, rec(recordUpdate, 0, append(update, make([]byte, 8-len(name)%8)...))...)
	}
	shift := 0
	if formats {
		shift = 4
		text := "...\x00name: sched_switch\nID: 300\nformat:\n\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n\n" +
			"\tfield:char prev_comm[16];\toffset:12;\tsize:16;\tsigned:0;\n\tfield:pid_t prev_pid;\toffset:28;\tsize:4;\tsigned:1;\n" +
			"\tfield:long prev_state;\toffset:36;\tsize:8;\tsigned:1;\n\tfield:char next_comm[16];\toffset:44;\tsize:16;\tsigned:0;\n" +
			"\tfield:pid_t next_pid;\toffset:60;\tsize:4;\tsigned:1;\n\nprint fmt: \"field:int next_pid; offset:1; size:4;\"\n" +
			"name: sched_waking\nID: 301\nformat:\n\tfield:char comm[16];\toffset:12;\tsize:16;\tsigned:0;\n\tfield:pid_t pid;\toffset:28;\tsize:4;\tsigned:1;\n\nprint fmt: \"x\"\n"
		out = append(out, rec(recordTracing, 0, put32(nil, uint32(len(text))))...)
		out = append(out, text...)
		out = append(out, make([]byte, (8-len(text)%8)%8)...)
	}
	code := put64(put32(nil, 9, 9), 0x1000, 0x3000, 0) // mapping for the addresses in stacks
	out = append(out, stamped(recordMmap, miscUser, 1, append(code, "//anon\x00\x00"...))...)
	sample := func(id, at uint64, tid, cpu uint32, raw []byte) {
		b := put64(nil, id, 0x1000, uint64(tid)<<32|9, at, id, uint64(cpu), 1)
		b = put64(b, 3, contextUser, 0x2000+uint64(tid)*16, 0x3000)
		b = append(put32(b, uint32(len(raw))), raw...)
		for len(b)%8 != 0 {
			b = append(b, 0)
		}
		out = append(out, rec(recordSample, miscKernel, b)...)
	}
	comm := func(raw []byte, at int, name string) { copy(raw[at+shift:at+shift+16], name) }
	change := func(at uint64, cpu, prev uint32, state uint64, next uint32) {
		raw := make([]byte, 64+shift)
		comm(raw, 8, fmt.Sprint("t", prev))
		le.PutUint32(raw[24+shift:], prev)
		le.PutUint64(raw[32+shift:], state)
		comm(raw, 40, fmt.Sprint("t", next))
		le.PutUint32(raw[56+shift:], next)
		sample(21, at, prev, cpu, raw)
	}
	wake := func(at uint64, by, pid uint32) {
		raw := make([]byte, 40+shift)
		comm(raw, 8, fmt.Sprint("t", pid))
		le.PutUint32(raw[24+shift:], pid)
		sample(22, at, by, 0, raw)
	}
	change(100, 0, 0, 0, 31)
	change(130, 1, 0, 0, 32)
	change(150, 0, 31, 1, 0) // 31 sleeps
	wake(160, 32, 31)
	change(180, 0, 0, 0, 31)
	change(200, 1, 32, 0, 0)    // 32 remains runnable
	change(210, 0, 31, 0x10, 0) // 31 exits
	change(230, 1, 0, 0, 33)
	change(250, 1, 32, 2, 0) // the switch from 33 to 32 was not recorded
	return out
}

func TestSchedStates(t *testing.T) {
	want := []string{
		"t31 [blocked: sleeping] 150 to 160", "t31 [runnable] 160 to 180 by t32", "t31 [running] 100 to 150", "t31 [running] 180 to 210",
		"t32 [running] 130 to 200", "t32 [runnable] 200 to 230", "t32 [running] 230 to 250",
		"CPU 0 t31 100 to 150", "CPU 0 t31 180 to 210", "CPU 1 t32 130 to 200", "CPU 1 t32 230 to 250",
	}
	slices.Sort(want)
	for _, formats := range []bool{false, true} {
		for _, chunk := range []int{0, 7} {
			r, err := decodeBytes(t, schedTrace(formats), chunk)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			at := func(ps int64) int64 { return 100 + ps/1000 }
			for _, tr := range r.Tracks {
				for l, i := &tr.States, 0; i < l.Len(); i++ {
					woken := ""
					if w := r.Waker(tr, i).Track; w != recording.NoTrack {
						woken = " by " + r.Tracks[w].Name
					}
					got = append(got, fmt.Sprintf("%s %s %d to %d%s", tr.Name, r.FuncName(l.Call(i)), at(l.Start(i)), at(l.End(i)), woken))
					stack := r.Calls.Parent(l.Call(i))
					switch in, sleeps := r.State(l.Call(i)), r.State(l.Call(i)) != recording.Running; {
					case sleeps && r.Calls.Depth(stack) != 2:
						t.Errorf("%s is %s in a stack of %d calls", tr.Name, in, r.Calls.Depth(stack))
					case in == recording.Running && l.Start(i) == 180_000-100_000 && r.Calls.Depth(stack) != 2:
						t.Errorf("%s ran in %d calls of what is common before and after", tr.Name, r.Calls.Depth(stack))
					}
				}
				for d := range tr.Lanes {
					for l, i := &tr.Lanes[d], 0; i < l.Len(); i++ {
						got = append(got, fmt.Sprintf("%s %s %d to %d", tr.Name, r.FuncName(l.Call(i)), at(l.Start(i)), at(l.End(i))))
					}
				}
			}
			slices.Sort(got)
			if !slices.Equal(got, want) {
				t.Errorf("formats %v:\n got %q\nwant %q", formats, got, want)
			}
			if r.Events[0].Basis != recording.FromStates || r.Events[0].Metrics[recording.StateCPU].Total != 170_000 {
				t.Errorf("the first event is %+v", r.Events[0])
			}
		}
	}
}
