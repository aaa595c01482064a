package gpu_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	"ashlar/ingest/model/recording"
	"ashlar/ingest/query/gpu"
)

// TestMemoryAgainstEachEvent compares the peaks of memory in random traces with a search of
// all events.
func TestMemoryAgainstEachEvent(t *testing.T) {
	for seed := range uint64(100) {
		p := &program{Rand: rand.New(rand.NewPCG(seed, 4))}
		const steps = 10
		for i := range steps {
			p.call(1, 100*i+1, 100*i+70, 1)
		}
		p.call(2, 0, 100*steps, 0)
		var text []string
		for _, e := range p.events {
			text = append(text, fmt.Sprintf(`{"ph":"X","cat":%q,"name":%q,"pid":9,"tid":%d,"ts":%d,"dur":%d}`, e.cat, e.name, e.thread, e.start, e.end-e.start))
		}
		for i := range steps {
			text = append(text, fmt.Sprintf(`{"ph":"X","cat":"user_annotation","name":"ProfilerStep#%d","pid":9,"tid":1,"ts":%d,"dur":90}`, i, 100*i),
				fmt.Sprintf(`{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":9,"tid":1,"ts":%d,"dur":1,"args":{"correlation":%d}}`, 100*i+80, i+1),
				fmt.Sprintf(`{"ph":"X","cat":"kernel","name":"k","pid":0,"tid":"stream 7","ts":%d,"dur":5,"args":{"correlation":%d}}`, 100*i+85, i+1))
		}
		type peak struct {
			bytes          int64
			time           int
			operator, step string
		}
		want := map[string]peak{}
		for range 1 + p.IntN(40) {
			thread, at, device := 1+p.IntN(2), p.IntN(100*steps), p.IntN(2)
			allocated, reserved := int64(p.IntN(6)), int64(p.IntN(3))
			text = append(text, fmt.Sprintf(`{"ph":"i","cat":"cpu_instant_event","s":"t","name":"[memory]","pid":9,"tid":%d,"ts":%d,"args":{"Total Reserved":%d,"Total Allocated":%d,"Bytes":1,"Addr":99,"Device Id":%d,"Device Type":1,"Ev Idx":3}}`,
				thread, at, reserved, allocated, device))
			now := peak{time: at}
			length := 1 << 30
			for _, e := range p.events {
				if e.thread == thread && e.cat == "cpu_op" && e.start <= at && at < e.end && e.end-e.start < length {
					now.operator, length = e.name, e.end-e.start
				}
			}
			if at%100 < 90 {
				now.step = fmt.Sprintf("ProfilerStep#%d", at/100)
			}
			for name, bytes := range map[string]int64{"allocated": allocated, "reserved": reserved} {
				now.bytes = bytes
				name = fmt.Sprintf("GPU %d %s", device, name)
				// If both threads have an event at the same time, the first thread's counts.
				if w, ok := want[name]; !ok || bytes > w.bytes || bytes == w.bytes && (at < w.time || at == w.time && thread == 1) {
					want[name] = now
				}
			}
		}
		rec := open(t, append(text, `{"ph":"M","name":"process_labels","pid":0,"args":{"labels":"GPU 0"}}`))
		devices, err := gpu.Devices(context.Background(), rec)
		if err != nil {
			t.Fatal(err)
		}
		loop, err := gpu.StepsOf(context.Background(), rec, devices)
		if err != nil || loop == nil {
			t.Fatalf("%v, %v", loop, err)
		}
		all, err := gpu.MemoryOf(context.Background(), rec, loop)
		if err != nil || 2*len(all) != len(want) {
			t.Errorf("seed %d: %d devices, %v; want %v", seed, len(all), err, want)
		}
		for _, m := range all {
			for name, p := range map[string]gpu.Peak{"allocated": m.Allocated, "reserved": m.Reserved} {
				got := peak{bytes: p.Bytes, operator: p.Operator}
				if p.Track != recording.NoTrack {
					got.time = int((p.Time - rec.Start) / 1e6)
				}
				if p.Step >= 0 {
					got.step = rec.FuncName(loop.Steps[p.Step].Call)
				}
				w := want[m.Device+" "+name]
				if w.bytes == 0 {
					w = peak{}
				}
				if got != w {
					t.Errorf("seed %d: %s %s is %v, want %v", seed, m.Device, name, got, w)
				}
			}
		}
	}
}
