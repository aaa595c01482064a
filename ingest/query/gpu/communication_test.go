package gpu_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	"ashlar/ingest/query/gpu"
)

// TestOverlapAgainstEveryMicrosecond compares communication and its hidden part in random
// traces with a check of each microsecond.
func TestOverlapAgainstEveryMicrosecond(t *testing.T) {
	const length = 300
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 3))
		events := []string{`{"ph":"M","name":"process_labels","pid":0,"args":{"labels":"GPU 0"}}`}
		var communicates, computes [3][length]bool // by stream
		for stream := range 3 {
			for at := r.IntN(20); at < length; {
				end := min(length, at+1+r.IntN(40))
				cat, name, args, into := "kernel", "gemm", "", &computes[stream]
				switch r.IntN(5) {
				case 0:
					name, into = "ncclDevKernel_AllReduce_Sum_f32_RING_LL", &communicates[stream]
				case 1:
					name, args, into = "fusion", `"hlo_op":"all-reduce-start.2"`, &communicates[stream]
				case 2:
					cat, name, into = "gpu_memcpy", "Memcpy PtoP (Device -> Device)", &communicates[stream]
				case 3:
					cat, name, into = "gpu_memcpy", "Memcpy HtoD (Pinned -> Device)", nil
				}
				events = append(events, fmt.Sprintf(`{"ph":"X","cat":%q,"name":%q,"pid":0,"tid":"stream %d","ts":%d,"dur":%d,"args":{%s}}`, cat, name, stream, at, end-at, args))
				for ; into != nil && at < end; at++ {
					into[at] = true
				}
				at = end + r.IntN(20)
			}
		}
		communication, hidden := int64(0), int64(0)
		for at := range length {
			during, behind := false, false
			for a := range 3 {
				during = during || communicates[a][at]
				for b := range 3 {
					behind = behind || a != b && communicates[a][at] && computes[b][at]
				}
			}
			if during {
				communication += 1e6
			}
			if behind {
				hidden += 1e6
			}
		}
		devices, err := gpu.Devices(context.Background(), open(t, events))
		if err != nil || len(devices) != 1 {
			t.Fatalf("%d devices, %v", len(devices), err)
		}
		if d := devices[0]; d.Communicating != communication || d.Hidden != hidden {
			t.Errorf("seed %d: %d ps of communication, %d hidden; want %d, %d", seed, d.Communicating, d.Hidden, communication, hidden)
		}
	}
}

// TestOverlapOnOneStream checks that a kernel hides no communication on its own stream, and
// which names are communication.
func TestOverlapOnOneStream(t *testing.T) {
	for name, want := range map[string]int64{
		"ncclDevKernel_Generic_1(ncclDevKernelArgsStorage<4096ul>)":                           20,
		"ncclKernel_AllReduce_RING_LL_Sum_float(ncclDevComm*, unsigned long, ncclWork*)":      20,
		"void c10d::symmetric_memory::(anonymous namespace)::two_shot_kernel<float>(float**)": 20,
		"void vllm::cross_device_reduce_1stage<__nv_bfloat16, 8>(vllm::RankData*)":            20,
		"all-gather.7":               20,
		"reduce_scatter_fusion":      20,
		"collective-permute-start.1": 20,
		"void at::native::_scatter_gather_elementwise_kernel<128, 8>(int)":     0,
		"void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float> >": 0,
		"broadcast_in_dim_fusion":        0,
		"Memcpy DtoD (Device -> Device)": 0,
	} {
		devices, err := gpu.Devices(context.Background(), open(t, []string{
			`{"ph":"M","name":"process_labels","pid":0,"args":{"labels":"GPU 0"}}`,
			`{"ph":"X","cat":"kernel","name":"gemm","pid":0,"tid":"stream 7","ts":0,"dur":15}`,
			fmt.Sprintf(`{"ph":"X","cat":"kernel","name":%q,"pid":0,"tid":"stream 7","ts":10,"dur":20}`, name),
		}))
		if err != nil || len(devices) != 1 {
			t.Fatalf("%d devices, %v", len(devices), err)
		}
		if d := devices[0]; d.Communicating != want*1e6 || d.Hidden != 0 {
			t.Errorf("%s: %d ps of communication, %d hidden; want %d µs, 0", name, d.Communicating, d.Hidden, want)
		}
	}
}
