package gpu_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"ashlar/ingest"
	"ashlar/ingest/input/source"
	"ashlar/ingest/model/recording"
	"ashlar/ingest/query/analyze"
	"ashlar/ingest/query/gpu"
	"ashlar/ingest/query/spans"
)

// job is a kernel and its launch, in µs. Without a launch, launch is -1.
type job struct{ stream, start, end, launch int }

// call is a call of the only thread.
type call struct {
	name       string
	start, end int
}

// read returns the recording of a trace in the form of PyTorch's.
func read(t *testing.T, calls []call, jobs []job) *recording.Recording {
	t.Helper()
	var b strings.Builder
	b.WriteString(`{"traceEvents":[{"ph":"M","name":"process_labels","pid":0,"args":{"labels":"GPU 0"}}`)
	for s := range 2 {
		fmt.Fprintf(&b, `,{"ph":"M","name":"thread_name","pid":0,"tid":%d,"args":{"name":"stream %d "}}`, s, s)
	}
	for _, c := range calls {
		fmt.Fprintf(&b, `,{"ph":"X","cat":"cpu_op","name":%q,"pid":9,"tid":9,"ts":%d,"dur":%d}`, c.name, c.start, c.end-c.start)
	}
	for i, j := range jobs {
		if j.launch >= 0 {
			fmt.Fprintf(&b, `,{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":9,"tid":9,"ts":%d,"dur":0,"args":{"correlation":%d}}`, j.launch, i+1)
		}
		fmt.Fprintf(&b, `,{"ph":"X","cat":"kernel","name":"k","pid":0,"tid":%d,"ts":%d,"dur":%d,"args":{"correlation":%d}}`, j.stream, j.start, j.end-j.start, i+1)
	}
	b.WriteString(`]}`)
	l := ingest.OpenInput(context.Background(), source.FromBytes("trace.json", []byte(b.String())), ingest.Options{})
	t.Cleanup(func() { l.Close() })
	if err := l.Wait(); err != nil {
		t.Fatal(err)
	}
	return l.Snapshot()
}

// TestIdleAgainstEveryMicrosecond compares the idle times of random traces with a check of
// each microsecond.
func TestIdleAgainstEveryMicrosecond(t *testing.T) {
	const length = 400
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 1))
		var calls []call
		for at := 0; at < length; {
			start := at + r.IntN(20)
			end := start + 1 + r.IntN(60)
			name := []string{"load", "forward", "cudaDeviceSynchronize"}[r.IntN(3)]
			calls = append(calls, call{name, start, end})
			at = end
		}
		var jobs []job
		free := [2]int{5, 5}
		for range 1 + r.IntN(12) {
			s := r.IntN(2)
			j := job{stream: s, start: free[s] + r.IntN(50), launch: -1}
			j.end = j.start + 1 + r.IntN(30)
			if r.IntN(8) > 0 {
				j.launch = max(0, j.start-r.IntN(60))
			}
			free[s] = j.end
			jobs = append(jobs, j)
		}
		rec := read(t, calls, jobs)
		devices, err := gpu.Devices(context.Background(), rec)
		if err != nil || len(devices) != 1 {
			t.Fatalf("seed %d: %d devices, %v", seed, len(devices), err)
		}
		d := devices[0]
		got := map[string]int64{"busy": d.Busy / 1e6}
		for _, x := range d.Idle {
			got[x.Why.String()+" "+x.Name] += x.Time / 1e6
		}
		want := everyMicrosecond(calls, jobs)
		for k, v := range want {
			if got[k] != v {
				t.Errorf("seed %d: %s: %d µs, want %d\ncalls %v\njobs %v", seed, k, got[k], v, calls, jobs)
			}
		}
		if len(got) != len(want) {
			t.Errorf("seed %d: %v, want %v", seed, got, want)
		}
	}
}

func everyMicrosecond(calls []call, jobs []job) map[string]int64 {
	want := map[string]int64{"busy": 0}
	inside := func(at int) string {
		for _, c := range calls {
			if c.start <= at && at < c.end {
				return c.name
			}
		}
		return ""
	}
	first, last := 1<<30, 0
	for _, j := range jobs {
		first, last = min(first, j.start), max(last, j.end)
	}
	gap := first // start of the current gap
	for at := first; at < last; at++ {
		if slices.ContainsFunc(jobs, func(j job) bool { return j.start <= at && at < j.end }) {
			want["busy"]++
			gap = at + 1
			continue
		}
		next := job{start: 1 << 30}
		for _, j := range jobs {
			// Of work that starts at the same time, the piece that ends first is next.
			if j.start > at && (j.start < next.start || j.start == next.start && (j.end < next.end || j.end == next.end && j.stream < next.stream)) {
				next = j
			}
		}
		switch {
		case next.launch < 0:
			want["unknown "]++
		case at >= next.launch:
			want["queued "]++
		case inside(gap) == "cudaDeviceSynchronize":
			want["waited cudaDeviceSynchronize"]++
		default:
			want["late "+inside(at)]++
		}
	}
	return want
}

// TestSteps checks that a step can be slow by its own duration or by the work that it
// launched, whenever that ran, and that a regular loop has no slow steps.
func TestSteps(t *testing.T) {
	loop := func(long, heavy int) *gpu.Steps {
		var calls []call
		var jobs []job
		at, free := 0, 0
		for i := range 20 {
			length, work := 100+i%3, 40+i%2
			if i == long {
				length = 250
			}
			if i == heavy {
				work = 400
			}
			if i == heavy && i == long { // the step waits for most of this
				work = 140
			}
			calls = append(calls, call{fmt.Sprintf("train_step#%d", i+7), at, at + length}, call{"load", at + 1, at + length - 60})
			free = max(free, at+length-50)
			jobs = append(jobs, job{0, free, free + work, at + length - 55})
			free += work
			at += length + 1
		}
		rec := read(t, calls, jobs)
		devices, err := gpu.Devices(context.Background(), rec)
		if err != nil {
			t.Fatal(err)
		}
		s, err := gpu.StepsOf(context.Background(), rec, devices)
		if err != nil || s == nil || s.Name != "train_step" || len(s.Steps) != 20 {
			t.Fatalf("%+v, %v", s, err)
		}
		for _, c := range s.Causes {
			if c.Function != analyze.NoFunc && c.Slow-c.Usual > 50e6 {
				s.Name += " " + rec.Functions.At(int(c.Function)).Name
			}
		}
		return s
	}
	for _, c := range []struct {
		long, heavy int
		slow        []int
		by          gpu.Measure
		name        string
	}{
		{-1, -1, nil, gpu.None, "train_step"},
		{9, -1, []int{9}, gpu.Duration, "train_step load"},
		{-1, 4, []int{4}, gpu.GPUTime, "train_step k"},
		{6, 6, []int{6}, gpu.GPUTime, "train_step k"},
		{0, -1, nil, gpu.None, "train_step"}, // the first step does not count
	} {
		if s := loop(c.long, c.heavy); !slices.Equal(s.Slow, c.slow) || s.Measure != c.by || s.Name != c.name {
			t.Errorf("long %d, heavy %d: slow %v by %v, %s; want %v by %v, %s", c.long, c.heavy, s.Slow, s.Measure, s.Name, c.slow, c.by, c.name)
		}
	}
}

// TestStepsThatGetSlower checks the trend of steps that launch longer and longer work, and
// of steps that launch the same work.
func TestStepsThatGetSlower(t *testing.T) {
	for more, want := range map[int]spans.Direction{0: spans.Steady, 3: spans.Slower} {
		var calls []call
		var jobs []job
		at := 0
		for i := range 30 {
			calls = append(calls, call{fmt.Sprintf("step %d", i), at, at + 200})
			jobs = append(jobs, job{0, at + 20, at + 60 + more*i, at + 10}, job{1, at + 20, at + 30, at + 11})
			at += 201
		}
		rec := read(t, calls, jobs)
		devices, err := gpu.Devices(context.Background(), rec)
		if err != nil {
			t.Fatal(err)
		}
		s, err := gpu.StepsOf(context.Background(), rec, devices)
		if err != nil || s == nil {
			t.Fatalf("%v, %v", s, err)
		}
		if got := s.Trend[gpu.GPUTime].Direction; got != want || s.Trend[gpu.Duration].Direction != spans.Steady {
			t.Errorf("%d µs more a step: %s, durations %s; want %s, steady", more, got, s.Trend[gpu.Duration].Direction, want)
		}
	}
}

// TestStreamsWithoutNames checks that kernels are work by their arguments too, as in a trace
// without its metadata, with or without the device, and that they may overlap on a stream.
func TestStreamsWithoutNames(t *testing.T) {
	for _, args := range []string{`"stream":7,"device":0,"correlation":%d`, `"stream":7,"device":0`, `"stream":7,"correlation":%d`} {
		var events []string
		for i := range 2 {
			events = append(events, fmt.Sprintf(`{"ph":"X","cat":"kernel","name":"gemm","ts":%d,"dur":12,"pid":0,"tid":7,"args":{%s}}`, 10*i, strings.ReplaceAll(args, "%d", fmt.Sprint(i+1))))
		}
		d, err := gpu.Devices(context.Background(), open(t, events))
		if err != nil || len(d) != 1 || d[0].Busy != 22e6 || len(d[0].Work) != 2 {
			t.Errorf("with %s: %+v, %v", args, d, err)
		}
	}
}

// TestOtherKernels checks that the category kernel alone does not make a GPU, nor a stream of
// another kind.
func TestOtherKernels(t *testing.T) {
	for _, args := range []string{`{}`, `{"stream":7}`, `{"correlation":7}`} {
		rec := open(t, []string{`{"ph":"X","cat":"kernel","name":"irq","pid":1,"tid":1,"ts":0,"dur":5,"args":` + args + `}`})
		if d, err := gpu.Devices(context.Background(), rec); len(d) > 0 || err != nil {
			t.Errorf("with %s: %v, %v", args, d, err)
		}
	}
}
