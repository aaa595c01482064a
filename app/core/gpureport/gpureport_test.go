package gpureport_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"ashlar/app/agent/findings"
	"ashlar/app/core/gpureport"
	"ashlar/ingest"
	"ashlar/ingest/input/source"
)

// The recordings are excerpts of traces that PyTorch 2.11 wrote of small trainings on an H100,
// with most arguments removed. In slow-kernel, the matrices of steps 6 and 16 are 64 times as
// large; in dataloader, every fifth batch takes 12 ms to load; in nothing, all steps are
// equal.

// event is an event of a trace. Times are in µs.
type event struct {
	Ph, Cat, Name string
	Ts, Dur       float64
	Args          struct{ Correlation int }
}

func events(t *testing.T, path string) (all []event) {
	t.Helper()
	packed, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	z, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	var trace struct{ TraceEvents []json.RawMessage }
	if err := json.Unmarshal(text, &trace); err != nil {
		t.Fatal(err)
	}
	for _, raw := range trace.TraceEvents {
		var e event
		if json.Unmarshal(raw, &e) == nil && e.Ph == "X" {
			all = append(all, e)
		}
	}
	return all
}

// covered returns the time that events cover, in µs.
func covered(all []event) (sum float64) {
	slices.SortFunc(all, func(a, b event) int { return int(math.Copysign(1, a.Ts-b.Ts)) })
	until := math.Inf(-1)
	for _, e := range all {
		sum += max(0, e.Ts+e.Dur-max(e.Ts, until))
		until = max(until, e.Ts+e.Dur)
	}
	return sum
}

func number(t *testing.T, n json.Number) float64 {
	t.Helper()
	v, err := n.Float64()
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// TestRealTraces compares the answer with busy times and the work of steps added up from the
// events, and checks the findings.
func TestRealTraces(t *testing.T) {
	for name, want := range map[string][]string{
		"slow-kernel": {"2 of 17 steps took 3.101 ms to 3.104 ms of GPU time (median 433.4 µs): ProfilerStep#6 and ProfilerStep#16. “sm80_xmma_gemm", "adds 2.6"},
		"dataloader":  {"3 of 17 steps took 17.06 ms to 17.93 ms (median 5.230 ms): ProfilerStep#5, ProfilerStep#10 and ProfilerStep#15.", "“load_batch” adds 11.", "GPU 0 is idle for 4", "because the program is in “load_batch” and has launched nothing."},
		"nothing":     nil,
	} {
		t.Run(name, func(t *testing.T) {
			path := "testdata/pytorch-" + name + ".json.gz"
			all := events(t, path)
			l := ingest.Open(context.Background(), path, ingest.Options{})
			defer l.Close()
			if err := l.Wait(); err != nil {
				t.Fatal(err)
			}
			rec := l.Snapshot()
			a, err := gpureport.Of(context.Background(), rec, 0)
			if err != nil {
				t.Fatal(err)
			}
			var work []event
			launched := map[int]float64{}
			for _, e := range all {
				switch e.Cat {
				case "kernel", "gpu_memcpy", "gpu_memset":
					work = append(work, e)
				case "cuda_runtime", "cuda_driver":
					launched[e.Args.Correlation] = e.Ts
				}
			}
			d := a.Devices[0]
			if got, want := number(t, d.Busy)/1e3, covered(work); math.Abs(got-want) > .01 || d.Work != len(work) {
				t.Errorf("busy %.3f µs with %d, want %.3f with %d", got, d.Work, want, len(work))
			}
			sum := number(t, d.Busy)
			for _, x := range d.Idle {
				sum += number(t, x.Time)
			}
			if math.Abs(sum-number(t, d.Window)) > .01 {
				t.Errorf("busy and idle are %.3f ns, the window is %s", sum, d.Window)
			}
			for _, s := range a.Steps {
				i := slices.IndexFunc(all, func(e event) bool { return e.Name == s.Name && e.Cat == "user_annotation" })
				step := all[i]
				var ran []event
				for _, w := range work {
					if at, ok := launched[w.Args.Correlation]; ok && step.Ts <= at && at < step.Ts+step.Dur {
						ran = append(ran, w)
					}
				}
				if got := number(t, s.GPU) / 1e3; math.Abs(got-covered(ran)) > .01 || s.Work != len(ran) {
					t.Errorf("%s: %.3f µs with %d, want %.3f with %d", s.Name, got, s.Work, covered(ran), len(ran))
				}
			}
			found, err := findings.Of(context.Background(), rec)
			if err != nil {
				t.Fatal(err)
			}
			text := ""
			for _, f := range found {
				text += f.Claim + "\n"
			}
			for _, w := range want {
				if !strings.Contains(text, w) {
					t.Errorf("findings lack %q:\n%s", w, text)
				}
			}
			for line := range strings.Lines(a.Text(0)) {
				if strings.Contains(line, " steps took ") && strings.Contains(text, " steps took ") && !strings.Contains(text, strings.TrimSpace(line)) {
					t.Errorf("findings lack the sentence of gpu, %q:\n%s", line, text)
				}
			}
			if want == nil && text != "" {
				t.Errorf("findings on a recording of nothing:\n%s", text)
			}
			if strings.Contains(a.Text(len(a.Steps)), "PyTorch Profiler") {
				t.Error("the profiler's own row counts")
			}
		})
	}
}

// TestTraining checks the text and the findings for a made trace of a training on two GPUs.
func TestTraining(t *testing.T) {
	l := ingest.Open(context.Background(), "../../command/testdata/training-gpu.json", ingest.Options{})
	defer l.Close()
	if err := l.Wait(); err != nil {
		t.Fatal(err)
	}
	a, err := gpureport.Of(context.Background(), l.Snapshot(), 0)
	if err != nil {
		t.Fatal(err)
	}
	text := a.Text(0)
	for _, want := range []string{`
    480.0 µs  39.8 %    communication: 120.0 µs hidden behind computation, 360.0 µs (29.8 %) exposed
`, `
Memory of GPU 0
    5.243 MB  peak allocated, reached at 6.000 µs in aten::addmm, during ProfilerStep#0
    67.11 MB  peak reserved, reached at 6.000 µs in aten::addmm, during ProfilerStep#0
`, `
GPU time by operator, 1.296 ms in total
       total                 self   calls    work  operator
    720.0 µs  55.6 %     720.0 µs      24      24  aten::addmm
                         360.0 µs              12    void cutlass::Kernel2<gemm_tn>(Params)
                         360.0 µs              12    void cutlass::Kernel2<gemm_nt>(Params)
    480.0 µs  37.0 %     480.0 µs      12      12  c10d::allreduce_
                         480.0 µs              12    ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)
    360.0 µs  27.8 %          0 s      12      12  aten::linear
`, `
GPU time by module, 1.296 ms in total
       total                 self   calls    work      backward  module
    768.0 µs  59.3 %     48.00 µs      12      36      360.0 µs  Net_0
    720.0 µs  55.6 %     720.0 µs      12      24      360.0 µs  Linear_0
    528.0 µs  40.7 %     528.0 µs              24           0 s  (no module)
`} {
		if !strings.Contains(text, want) {
			t.Errorf("text lacks %s\nin %s", want, text)
		}
	}
	found, err := findings.Of(context.Background(), l.Snapshot())
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{"“aten::addmm” launches 55.6 % of 1.296 ms of GPU work, 360.0 µs of it in “void cutlass::Kernel2<gemm_tn>(Params)”.",
		"GPU 0 communicates without computing for 29.8 % of 1.206 ms; computation hides 120.0 µs of 480.0 µs of communication."} {
		if i >= len(found) || found[i].Claim != want {
			t.Errorf("findings %+v, want %q", found, want)
		}
	}
}

// TestMemoryOfOneStep checks that memory that rises in a forward pass is not reported if
// the backward pass releases it.
func TestMemoryOfOneStep(t *testing.T) {
	for falls, want := range map[float64]bool{0: true, 1: false} {
		var b strings.Builder
		b.WriteString(`[{"ph":"X","cat":"cpu_op","name":"aten::x","pid":9,"tid":9,"ts":0,"dur":1000}`)
		for i := range 200 {
			at, bytes := 6*i, 1000*(i+1)
			if i >= 100 {
				at, bytes = 600+4*(i-100), 100000-int(falls*1000)*(i-100)
			}
			fmt.Fprintf(&b, `,{"ph":"i","cat":"cpu_instant_event","s":"t","name":"[memory]","pid":9,"tid":9,"ts":%d,"args":{"Total Reserved":1,"Total Allocated":%d,"Bytes":1,"Device Id":0,"Device Type":1}}`, at, bytes)
		}
		l := ingest.OpenInput(context.Background(), source.FromBytes("trace.json", []byte(b.String()+"]")), ingest.Options{})
		defer l.Close()
		if err := l.Wait(); err != nil {
			t.Fatal(err)
		}
		found, err := findings.Of(context.Background(), l.Snapshot())
		if err != nil || (len(found) > 0) != want {
			t.Errorf("released %v: findings %+v, %v", falls > 0, found, err)
		}
	}
}
