package chrome

import (
	"fmt"
	"testing"
)

// TestMemoryEvents checks that memory events of PyTorch's become counters by process and
// device, and stay instants, and that other instants of that name do not.
func TestMemoryEvents(t *testing.T) {
	event := func(pid, ts int, cat, args string) string {
		return fmt.Sprintf(`{"ph":"i","cat":%q,"s":"t","name":"[memory]","pid":%d,"tid":1,"ts":%d,"args":{%s}},`, cat, pid, ts, args)
	}
	rec := readText(t, `{"traceEvents":[{"ph":"X","name":"a","pid":1,"tid":1,"ts":0,"dur":20},`+
		event(1, 5, "cpu_instant_event", `"Total Reserved": 2097152, "Total Allocated": 512, "Bytes": 512, "Addr": 140301, "Device Id": 0, "Device Type": 1, "Ev Idx": 7`)+
		event(1, 9, "cpu_instant_event", `"Total Reserved": 2097152, "Total Allocated": 0, "Bytes": -512, "Addr": 140301, "Device Id": 0, "Device Type": 1`)+
		event(1, 7, "cpu_instant_event", `"Total Reserved": 0, "Total Allocated": 40, "Bytes": 40, "Device Id": -1, "Device Type": 0`)+
		event(2, 8, "cpu_instant_event", `"Total Reserved": 4, "Total Allocated": 3, "Bytes": 3, "Device Id": 1, "Device Type": 12`)+
		event(1, 6, "cpu_instant_event", `"Bytes": 40, "Device Id": 0, "Device Type": 1`)+
		event(1, 6, "other", `"Total Allocated": 40, "Device Id": 0, "Device Type": 1`)+`]}`)
	var got []string
	for _, c := range rec.Counters {
		for i := range c.Len() {
			got = append(got, fmt.Sprintf("%d %s %s: %v %s at %d", rec.Processes[c.Process].PID, c.Name, c.Series, c.Value(i), c.Unit, c.Time(i)/million))
		}
	}
	want := []string{"1 GPU 0 memory allocated: 512 bytes at 5", "1 GPU 0 memory allocated: 0 bytes at 9", "1 GPU 0 memory reserved: 2.097152e+06 bytes at 5", "1 GPU 0 memory reserved: 2.097152e+06 bytes at 9",
		"1 CPU memory allocated: 40 bytes at 7", "2 XPU 1 memory allocated: 3 bytes at 8", "2 XPU 1 memory reserved: 4 bytes at 8"}
	if fmt.Sprint(got) != fmt.Sprint(want) || rec.Counts.Instants != 6 {
		t.Errorf("%d instants, counters %q, want %q", rec.Counts.Instants, got, want)
	}
}
