package gpu_test

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"ashlar/ingest"
	"ashlar/ingest/input/source"
	"ashlar/ingest/model/recording"
	"ashlar/ingest/query/gpu"
	"ashlar/ingest/query/redact"
)

// open returns the recording of a trace's events.
func open(t *testing.T, events []string) *recording.Recording {
	t.Helper()
	l := ingest.OpenInput(context.Background(), source.FromBytes("trace.json", []byte(`{"traceEvents":[`+strings.Join(events, ",\n")+`]}`)), ingest.Options{})
	t.Cleanup(func() { l.Close() })
	if err := l.Wait(); err != nil {
		t.Fatal(err)
	}
	return l.Snapshot()
}

func groups(t *testing.T, rec *recording.Recording) *gpu.Groups {
	t.Helper()
	devices, err := gpu.Devices(context.Background(), rec)
	if err != nil {
		t.Fatal(err)
	}
	steps, err := gpu.StepsOf(context.Background(), rec, devices)
	if err != nil {
		t.Fatal(err)
	}
	all, err := gpu.GroupsOf(context.Background(), rec, devices, steps)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// event is an event of a trace. Times are in µs.
type event struct {
	thread, start, end int
	cat, name          string
	id                 int
}

// program makes a random program with launches, in the form of PyTorch's.
type program struct {
	*rand.Rand
	events, launches []event
}

// call adds calls between two times, nested.
func (p *program) call(thread, from, to, depth int) {
	for at := from; at+6 < to; {
		start := at + p.IntN(3)
		end := min(to, start+6+p.IntN(60))
		cat, name := "cpu_op", "aten::"+string(rune('a'+p.IntN(3)))
		switch p.IntN(4) {
		case 0:
			cat, name = "user_annotation", "part "+string(rune('a'+p.IntN(2)))
		case 1:
			cat, name = "python_function", fmt.Sprintf("nn.Module: Linear_%d", p.IntN(3))
		case 2:
			if depth > 1 {
				p.launches = append(p.launches, event{thread, start, start + 1, "cuda_runtime", "cudaLaunchKernel", len(p.launches) + 1})
				at = start + 2
				continue
			}
		}
		p.events = append(p.events, event{thread, start, end, cat, name, 0})
		if depth < 5 {
			p.call(thread, start+1, end-1, depth+1)
		}
		at = end
	}
}

// group is what a test knows of a group.
type group struct {
	self, total, outermost, backward int
	work, calls                      int
	parts                            map[string]int
}

// TestGroupsAgainstEachSpan compares the work of operators, modules and annotations with a
// search of all spans around each launch.
func TestGroupsAgainstEachSpan(t *testing.T) {
	for seed := range uint64(150) {
		p := &program{Rand: rand.New(rand.NewPCG(seed, 2))}
		p.call(1, 0, 400, 0)
		p.call(2, 0, 300, 0)
		var text []string
		for i := range p.events {
			e := &p.events[i]
			e.id = i + 1
			text = append(text, fmt.Sprintf(`{"ph":"X","cat":%q,"name":%q,"pid":9,"tid":%d,"ts":%d,"dur":%d,"args":{"External id":%d}}`, e.cat, e.name, e.thread, e.start, e.end-e.start, e.id))
		}
		want := [3]map[string]*group{{}, {}, {}}
		all, at := 0, 500
		free := [2]int{500, 500}
		for i, l := range p.launches {
			stream, kernel, length := p.IntN(2), fmt.Sprintf("k%d", p.IntN(3)), 1+p.IntN(30)
			at = free[stream] + p.IntN(4)
			free[stream] = at + length
			all += length
			known := p.IntN(10)
			around := slices.DeleteFunc(slices.Clone(p.events), func(e event) bool {
				return e.thread != l.thread || e.start > l.start || e.end < l.end
			})
			slices.SortFunc(around, func(a, b event) int { return (a.end - a.start) - (b.end - b.start) })
			external := 0
			switch op := slices.IndexFunc(around, func(e event) bool { return e.cat == "cpu_op" }); {
			case known == 0 && op >= 0:
				external, around = around[op].id, around[op:]
			case known <= 1:
				around = nil
			default:
				text = append(text, fmt.Sprintf(`{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":9,"tid":%d,"ts":%d,"dur":1,"args":{"correlation":%d}}`, l.thread, l.start, l.id))
			}
			text = append(text, fmt.Sprintf(`{"ph":"X","cat":"kernel","name":%q,"pid":0,"tid":"stream %d","ts":%d,"dur":%d,"args":{"correlation":%d,"External id":%d}}`, kernel, stream, at, length, i+1, external))
			for k, cat := range []string{"cpu_op", "python_function", "user_annotation"} {
				var names []string
				for _, e := range around {
					if e.cat == cat {
						names = append(names, strings.TrimPrefix(e.name, "nn.Module: "))
					}
				}
				if names == nil {
					names = []string{""}
				}
				for i, name := range names {
					g := want[k][name]
					if g == nil {
						g = &group{parts: map[string]int{}}
						want[k][name] = g
					}
					if i == 0 {
						g.self += length
						g.parts[kernel] += length
					}
					if i == len(names)-1 {
						g.outermost += length
					}
					if slices.Index(names, name) == i {
						g.total += length
						g.work++
					}
				}
			}
		}
		for k, cat := range []string{"cpu_op", "python_function", "user_annotation"} {
			for _, e := range p.events {
				if g := want[k][strings.TrimPrefix(e.name, "nn.Module: ")]; g != nil && e.cat == cat {
					g.calls++
				}
			}
			if len(want[k]) == 1 && want[k][""] != nil {
				want[k] = map[string]*group{}
			}
		}
		if len(p.launches) == 0 {
			continue
		}
		rec := open(t, append(text, `{"ph":"M","name":"process_labels","pid":0,"args":{"labels":"GPU 0"}}`))
		got := groups(t, rec)
		if got.Time != int64(all)*1e6 {
			t.Errorf("seed %d: %d ps in all, want %d µs", seed, got.Time, all)
		}
		for k, list := range [][]gpu.Group{got.Operators, got.Modules, got.Annotations} {
			compareGroups(t, fmt.Sprintf("seed %d, list %d", seed, k), rec, list, want[k])
			self, outermost := int64(0), int64(0)
			for _, g := range list {
				self, outermost = self+g.Self, outermost+g.Outermost
			}
			if list != nil && (self != got.Time || outermost != got.Time) {
				t.Errorf("seed %d, list %d: self adds up to %d, outermost to %d, all work is %d", seed, k, self, outermost, got.Time)
			}
		}
	}
}

func compareGroups(t *testing.T, what string, rec *recording.Recording, got []gpu.Group, want map[string]*group) {
	t.Helper()
	if len(got) != len(want) {
		t.Errorf("%s: %d groups, want %v", what, len(got), slices.Sorted(maps.Keys(want)))
	}
	for _, g := range got {
		parts := map[string]int{}
		for _, p := range g.Parts {
			parts[rec.Functions.At(int(p.Function)).Name] += int(p.Time / 1e6)
		}
		w := want[g.Name]
		is := group{int(g.Self / 1e6), int(g.Total / 1e6), int(g.Outermost / 1e6), int(g.Backward / 1e6), g.Work, g.Calls, parts}
		if w == nil || fmt.Sprint(is) != fmt.Sprint(*w) {
			t.Errorf("%s: %q is %+v, want %+v", what, g.Name, is, w)
		}
	}
}

// TestBackwardOfModules checks that work of the backward pass counts in the module of the
// forward pass, by the arrows between the two.
func TestBackwardOfModules(t *testing.T) {
	rec := open(t, []string{
		`{"ph":"X","cat":"python_function","name":"nn.Module: Net_0","pid":9,"tid":1,"ts":0,"dur":50,"args":{"Python id":1}}`,
		`{"ph":"X","cat":"python_function","name":"nn.Module: Linear_0","pid":9,"tid":1,"ts":5,"dur":30}`,
		`{"ph":"X","cat":"cpu_op","name":"aten::linear","pid":9,"tid":1,"ts":10,"dur":20,"args":{"External id":1,"Sequence number":7,"Fwd thread id":0}}`,
		`{"ph":"X","cat":"cpu_op","name":"aten::addmm","pid":9,"tid":1,"ts":10,"dur":15,"args":{"External id":2}}`,
		`{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":9,"tid":1,"ts":12,"dur":2,"args":{"External id":2,"correlation":1}}`,
		`{"ph":"s","id":7,"cat":"fwdbwd","name":"fwdbwd","pid":9,"tid":1,"ts":10}`,
		`{"ph":"f","id":7,"cat":"fwdbwd","name":"fwdbwd","pid":9,"tid":2,"ts":60,"bp":"e"}`,
		`{"ph":"X","cat":"cpu_op","name":"autograd::engine::evaluate_function: AddmmBackward0","pid":9,"tid":2,"ts":60,"dur":30}`,
		`{"ph":"X","cat":"cpu_op","name":"aten::mm","pid":9,"tid":2,"ts":65,"dur":10,"args":{"External id":3}}`,
		`{"ph":"X","cat":"cuda_runtime","name":"hipLaunchKernel","pid":9,"tid":2,"ts":66,"dur":2,"args":{"External id":3,"correlation":2}}`,
		`{"ph":"X","cat":"cuda_runtime","name":"cudaMemsetAsync","pid":9,"tid":2,"ts":95,"dur":2,"args":{"correlation":3}}`,
		`{"ph":"X","cat":"kernel","name":"gemm","pid":0,"tid":7,"ts":20,"dur":10,"args":{"External id":2,"correlation":1}}`,
		`{"ph":"X","cat":"kernel","name":"gemm","pid":0,"tid":7,"ts":70,"dur":25,"args":{"External id":3,"correlation":2}}`,
		`{"ph":"X","cat":"gpu_memset","name":"Memset (Device)","pid":0,"tid":7,"ts":100,"dur":1,"args":{"correlation":3}}`,
		`{"ph":"M","name":"thread_name","pid":0,"tid":7,"args":{"name":"stream 7 "}}`,
	})
	compareGroups(t, "modules", rec, groups(t, rec).Modules, map[string]*group{
		"Net_0":    {0, 35, 35, 25, 2, 1, map[string]int{}},
		"Linear_0": {35, 35, 0, 25, 2, 1, map[string]int{"gemm": 35}},
		"":         {1, 1, 1, 0, 1, 0, map[string]int{"Memset (Device)": 1}},
	})
	compareGroups(t, "operators", rec, groups(t, rec).Operators, map[string]*group{
		"aten::linear": {0, 10, 10, 0, 1, 1, map[string]int{}},
		"aten::addmm":  {10, 10, 0, 0, 1, 1, map[string]int{"gemm": 10}},
		"autograd::engine::evaluate_function: AddmmBackward0": {0, 25, 25, 0, 1, 1, map[string]int{}},
		"aten::mm": {25, 25, 0, 0, 1, 1, map[string]int{"gemm": 25}},
		"":         {1, 1, 1, 0, 1, 0, map[string]int{"Memset (Device)": 1}},
	})
}

// TestOperatorDespiteClocks checks that a kernel that seems to start before its launch, and one
// linked by an arrow only, have their operators.
func TestOperatorDespiteClocks(t *testing.T) {
	rec := open(t, []string{
		`{"ph":"X","cat":"cpu_op","name":"aten::mm","pid":9,"tid":1,"ts":10,"dur":15}`,
		`{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":9,"tid":1,"ts":12,"dur":2,"args":{"correlation":1}}`,
		`{"ph":"X","cat":"kernel","name":"gemm","pid":0,"tid":"stream 7","ts":11,"dur":5,"args":{"correlation":1}}`,
		`{"ph":"s","id":3,"pid":9,"tid":1,"ts":20,"cat":"ac2g","name":"ac2g"}`,
		`{"ph":"X","cat":"kernel","name":"gemm","pid":0,"tid":"stream 7","ts":30,"dur":7}`,
		`{"ph":"f","id":3,"pid":0,"tid":"stream 7","ts":30,"cat":"ac2g","name":"ac2g","bp":"e"}`,
		`{"ph":"M","name":"process_labels","pid":0,"args":{"labels":"GPU 0"}}`,
	})
	compareGroups(t, "operators", rec, groups(t, rec).Operators, map[string]*group{"aten::mm": {12, 12, 12, 0, 2, 1, map[string]int{"gemm": 12}}})
}

// TestOperationsOfJAX checks the operations and scopes that the arguments of JAX's kernels
// name.
func TestOperationsOfJAX(t *testing.T) {
	rec := open(t, []string{
		`{"ph":"M","pid":2,"name":"process_name","args":{"name":"/device:GPU:0"}}`,
		`{"ph":"M","pid":2,"tid":14,"name":"thread_name","args":{"name":"Stream #14(Compute)"}}`,
		`{"ph":"X","pid":2,"tid":14,"ts":10,"dur":5,"name":"gemm_fusion","args":{"correlation_id":"5","hlo_module":"jit_step","hlo_op":"gemm_fusion_dot.3","name":"jit(step)/jit(main)/jvp(Net)/Dense_0/dot_general","kernel_details":"regs:32"}}`,
		`{"ph":"X","pid":2,"tid":14,"ts":20,"dur":7,"name":"loop_add","args":{"hlo_module":"jit_step","hlo_op":"loop_add","tf_op":"jit(step)/jit(main)/transpose(jvp(Net))/add:Add"}}`,
		`{"ph":"X","pid":2,"tid":14,"ts":30,"dur":1,"name":"MemcpyD2H","args":{"memcpy_details":"kind_src:device"}}`,
	})
	redacted, err := gpu.Devices(context.Background(), new(redact.Redactor).Recording(rec))
	if err != nil || len(redacted) != 1 || len(redacted[0].Work) != 3 {
		t.Errorf("redacted: %+v, %v", redacted, err)
	}
	all := groups(t, rec)
	compareGroups(t, "operators", rec, all.Operators, map[string]*group{
		"gemm_fusion_dot.3": {5, 5, 0, 0, 1, 0, map[string]int{"gemm_fusion": 5}},
		"loop_add":          {7, 7, 0, 0, 1, 0, map[string]int{"loop_add": 7}},
		"jit_step":          {0, 12, 12, 0, 2, 0, map[string]int{}},
		"":                  {1, 1, 1, 0, 1, 0, map[string]int{"MemcpyD2H": 1}},
	})
	compareGroups(t, "scopes", rec, all.Modules, map[string]*group{
		"Net":                     {0, 12, 12, 7, 2, 0, map[string]int{}},
		"Net/Dense_0":             {0, 5, 0, 0, 1, 0, map[string]int{}},
		"Net/Dense_0/dot_general": {5, 5, 0, 0, 1, 0, map[string]int{"gemm_fusion": 5}},
		"Net/add":                 {7, 7, 0, 7, 1, 0, map[string]int{"loop_add": 7}},
		"":                        {1, 1, 1, 0, 1, 0, map[string]int{"MemcpyD2H": 1}},
	})
}
