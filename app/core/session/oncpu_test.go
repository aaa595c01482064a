package session

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ashlar/ingest/model/recording"
)

// TestOnCPUIsWhatNodesTell compares the on-CPU time of each bar of a flamegraph with a sum
// over the spans of its stack.
func TestOnCPUIsWhatNodesTell(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 16))
	var events []string
	cpu, all := map[string]int64{}, map[string]int64{} // by stack, in microseconds
	for i := range 200 {
		name := fmt.Sprintf("task%d", r.IntN(3))
		begin, dur, tdur := i*1000, 400+r.IntN(500), 100+r.IntN(300)
		in, of := 50+r.IntN(300), r.IntN(50)
		events = append(events, fmt.Sprintf(`{"ph":"X","pid":1,"tid":1,"name":%q,"ts":%d,"dur":%d,"tdur":%d}`, name, begin, dur, tdur),
			fmt.Sprintf(`{"ph":"X","pid":1,"tid":1,"name":"inner","ts":%d,"dur":%d,"tdur":%d}`, begin+10, in, of))
		for stack, v := range map[string][2]int{name: {dur, tdur}, name + ";inner": {in, of}} {
			all[stack] += int64(v[0])
			cpu[stack] += int64(v[1])
		}
	}
	path := filepath.Join(t.TempDir(), "x.json")
	if err := os.WriteFile(path, []byte("["+strings.Join(events, ",\n")+"]"), 0o644); err != nil {
		t.Fatal(err)
	}
	d := Open(path, nil)
	defer d.Close()
	if err := d.Finish(Question{}); err != nil {
		t.Fatal(err)
	}
	a := d.Answer()
	if d.OnCPU(a) == nil || d.SpansOnCPU(a.Rec) == nil {
		t.Error("what is settled does not know CPU time")
	}
	v := d.Snapshot().OnCPU(a)
	if v == nil {
		t.Fatal("nothing is known of CPU time")
	}
	for n := range a.Tree.Nodes[1:] {
		var names []string
		for _, up := range a.Tree.Path(n + 1) {
			names = append(names, a.Tree.Function(a.Rec, up).Name)
		}
		stack := strings.Join(names, ";")
		if got, want := v.CPU[n+1], cpu[stack]*1e6; got != want {
			t.Errorf("%s ran %d ps, want %d", stack, got, want)
		}
		if got, want := v.Waiting[n+1], (all[stack]-cpu[stack])*1e6; got != want {
			t.Errorf("%s waited %d ps, want %d", stack, got, want)
		}
	}
	if of := d.Snapshot().SpansOnCPU(a.Rec); of == nil || of.Outer[0] != v.CPU[0] {
		t.Errorf("the thread's spans say %v, the tree %d", of, v.CPU[0])
	}
	count := *a // a copy, because the side still reads its own answer
	count.Question.Metric = recording.SpanCount
	if d.Snapshot().OnCPU(&count) != nil {
		t.Error("how many spans there are says nothing of processors")
	}
}
