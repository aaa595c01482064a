package contents

import (
	"strings"
	"testing"

	"ashlar/app/core/exactnum"
	"ashlar/ingest/model/recording"
)

// TestInfoThreadsAlike checks that the threads of a pool become one row with their sums, and
// that listed and unlisted threads add up to all.
func TestInfoThreadsAlike(t *testing.T) {
	in := &Contents{rec: &recording.Recording{}, Threads: []Thread{{PID: 1, TID: 1, Name: "main", Spans: 5, MaxDepth: 2}}}
	for i := range exactnum.ID(40) {
		in.Threads = append(in.Threads, Thread{PID: 1, TID: 10 + i, Name: "worker", Samples: 3, MaxDepth: int(i)})
	}
	for i := range exactnum.ID(3) {
		in.Threads = append(in.Threads, Thread{PID: 1, TID: 100 + i, Name: "few", Stacks: 1})
	}
	in.Threads = append(in.Threads, Thread{PID: 2, TID: 200, Name: "worker", Samples: 1})
	var b strings.Builder
	in.threads(&b)
	var rows []string
	for _, l := range strings.Split(strings.TrimSpace(b.String()), "\n")[2:] {
		rows = append(rows, strings.Join(strings.Fields(l), " "))
	}
	const want = "1 1 main 5 – – 2|1 … worker × 40 – 120 – 39|1 100 few – – 1 –|1 101 few – – 1 –|1 102 few – – 1 –|2 200 worker – 1 – –"
	if got := strings.Join(rows, "|"); got != want {
		t.Errorf("%s, want\n%s", got, want)
	}
}

// TestInfoNamesProcesses checks that processes are shown with the labels from the trace, which
// distinguish processes of one name.
func TestInfoNamesProcesses(t *testing.T) {
	in := &Contents{rec: &recording.Recording{}, Threads: []Thread{{PID: 1, TID: 1, Process: "python3 GPU 2", Name: "main", Spans: 5}, {PID: 2, TID: 1}}}
	var b strings.Builder
	in.threads(&b)
	if lines := strings.Split(b.String(), "\n"); len(lines) < 4 || !strings.Contains(lines[2], "pid  process        tid") || !strings.Contains(lines[3], "1  python3 GPU 2    1  main") {
		t.Errorf("%s", b.String())
	}
}
