package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/google/pprof/profile"
)

// recorded is a recording and the finding that is expected in it.
type recorded struct {
	name string
	// rule is the rule of the expected finding, and says a part of its claim's text. Both
	// are empty if nothing was planted; then nothing may be found.
	rule, says string
	// files holds one recording, or two to compare, each with its file extension.
	files []file
}

type file struct {
	ext  string
	data []byte
}

// seeds is the number of recordings of each kind in the table.
const seeds = 3

// cases returns recordings of each kind, one for each seed. They are the same each time.
func cases(seeds uint64) []recorded {
	var all []recorded
	add := func(name, rule, says, ext string, data ...[]byte) {
		r := recorded{name: name, rule: rule, says: says}
		for _, d := range data {
			r.files = append(r.files, file{ext, d})
		}
		all = append(all, r)
	}
	for seed := range seeds {
		n := fmt.Sprintf("-%d", seed+1)
		add("quadratic"+n, "hot", "inventory.contains", "folded", stacks(seed, .7, func(*rand.Rand) string { return "main;serve;inventory.merge;inventory.contains" }))
		add("recursion"+n, "recursion", "solver.try", "folded", stacks(seed, .5, func(r *rand.Rand) string { return "main;serve" + strings.Repeat(";solver.try", 18+r.IntN(20)) }))
		add("gc-storm"+n, "gc", "Garbage collection", "folded", stacks(seed, .35, func(*rand.Rand) string { return "runtime.gcBgMarkWorker;runtime.gcDrain;runtime.scanobject" }))
		add("lock-convoy"+n, "lock", "cache.(*Cache).Get", "folded", stacks(seed, .3, func(*rand.Rand) string {
			return "main;serve;cache.(*Cache).Get;sync.(*Mutex).Lock;sync.(*Mutex).lockSlow"
		}))
		add("kernel"+n, "kernel", "disk.flush", "folded", stacks(seed, .7, func(r *rand.Rand) string {
			return "main;serve;disk.flush;" + []string{"fsync_[k]", "ext4_sync_file_[k]", "jbd2_log_wait_[k]"}[r.IntN(3)]
		}))
		add("no-symbols"+n, "sampler", "without names", "folded", stacks(seed, .5, func(r *rand.Rand) string { return fmt.Sprintf("main;serve;0x%x", 0x7f0000400000+r.IntN(1<<16)) }))
		add("no-callers"+n, "sampler", "Stacks of one frame", "folded", stacks(seed, .5, func(r *rand.Rand) string { return fmt.Sprintf("lost%d", r.IntN(9)) }))
		add("mode"+n, "mode", "request", "json", trace(seed, traced{slow: func(i int) float64 { return map[bool]float64{true: 40, false: 1}[i*i%101 < 9] }}))
		add("rhythm"+n, "outlier", "One call in 12 is slow", "json", trace(seed, traced{slow: func(i int) float64 { return map[bool]float64{true: 40, false: 1}[i%12 == 5] }}))
		add("slower"+n, "slower", "request", "json", trace(seed, traced{slow: func(i int) float64 { return .3 + float64(i)/100 }}))
		add("starving"+n, "starving", "worker 3", "json", trace(seed, traced{share: func(w int) float64 { return map[bool]float64{true: .005, false: 1}[w == 3] }}))
		add("stall"+n, "stall", "No thread ran", "json", trace(seed, traced{gap: true}))
		add("short-lived"+n, "garbage", "report.render", "pb.gz", heap(seed, true))
		add("regression"+n, "difference", "codec.decode", "folded", stacks(seed, 0, nil), stacks(seed+50, .25, func(*rand.Rand) string { return "main;serve;codec.decode" }))
		add("nothing-stacks"+n, "", "", "folded", stacks(seed+10, 0, nil))
		add("nothing-trace"+n, "", "", "json", trace(seed+10, traced{}))
		add("nothing-heap"+n, "", "", "pb.gz", heap(seed+10, false))
		add("nothing-changed"+n, "", "", "folded", stacks(seed+20, 0, nil), stacks(seed+70, 0, nil))
	}
	return all
}

// stacks generates 4,000 samples of a server. The given part of them has the planted
// stack.
func stacks(seed uint64, part float64, planted func(*rand.Rand) string) []byte {
	r := rand.New(rand.NewPCG(seed, 1))
	packages := []string{"codec", "inventory", "pricing", "session", "report"}
	verbs := []string{"decode", "encode", "lookup", "update", "check", "apply"}
	count, order := map[string]int{}, []string{}
	for range 4000 {
		s := "main;serve"
		if planted != nil && r.Float64() < part {
			s = planted(r)
		} else {
			for range 3 + r.IntN(6) {
				s += ";" + packages[r.IntN(len(packages))] + "." + verbs[r.IntN(len(verbs))]
			}
		}
		if count[s]++; count[s] == 1 {
			order = append(order, s)
		}
	}
	var b bytes.Buffer
	for _, s := range order {
		fmt.Fprintf(&b, "%s %d\n", s, count[s])
	}
	return b.Bytes()
}

// traced describes how a trace differs from one without a problem.
type traced struct {
	slow  func(i int) float64 // factor by which request i is slower
	share func(worker int) float64
	gap   bool
}

// trace makes requests on six threads, with calls in them.
func trace(seed uint64, how traced) []byte {
	r := rand.New(rand.NewPCG(seed, 2))
	type event struct {
		Name string         `json:"name"`
		Ph   string         `json:"ph"`
		PID  int            `json:"pid"`
		TID  int            `json:"tid"`
		TS   float64        `json:"ts"`
		Dur  float64        `json:"dur,omitempty"`
		Args map[string]any `json:"args,omitempty"`
	}
	var all []event
	for w := 1; w <= 6; w++ {
		all = append(all, event{Name: "thread_name", Ph: "M", PID: 7, TID: w, Args: map[string]any{"name": fmt.Sprintf("worker %d", w)}})
		at, n := 0., 400
		if how.share != nil {
			n = max(1, int(float64(n)*how.share(w)))
		}
		for i := range n {
			if how.gap && i == n/2 {
				at = max(at, 100_000) + 60_000
			}
			long := 200 * (.7 + .6*r.Float64())
			if how.slow != nil {
				long *= how.slow(i)
			}
			all = append(all, event{Name: "request", Ph: "X", PID: 7, TID: w, TS: at, Dur: long})
			for k, part := range []float64{.3, .25, .2, .2} {
				all = append(all, event{Name: []string{"parse", "query", "render", "send"}[(k+r.IntN(4))%4], Ph: "X", PID: 7, TID: w, TS: at + long*float64(k)*.25, Dur: long * part})
			}
			at += long + 20*r.Float64()
		}
	}
	b, err := json.Marshal(all)
	if err != nil {
		panic(err) // numbers and texts can always be encoded
	}
	return b
}

// heap generates a heap profile; if short is set, all memory of one function is freed.
func heap(seed uint64, short bool) []byte {
	r := rand.New(rand.NewPCG(seed, 3))
	p := &profile.Profile{PeriodType: &profile.ValueType{Type: "space", Unit: "bytes"}, Period: 512 << 10}
	for _, t := range []string{"alloc_objects", "alloc_space", "inuse_objects", "inuse_space"} {
		p.SampleType = append(p.SampleType, &profile.ValueType{Type: t, Unit: map[bool]string{true: "bytes", false: "count"}[strings.HasSuffix(t, "space")]})
	}
	at := map[string]*profile.Location{}
	place := func(name string) *profile.Location {
		if at[name] == nil {
			f := &profile.Function{ID: uint64(len(at) + 1), Name: name}
			p.Function = append(p.Function, f)
			at[name] = &profile.Location{ID: f.ID, Line: []profile.Line{{Function: f}}}
			p.Location = append(p.Location, at[name])
		}
		return at[name]
	}
	for i := range 12 {
		name := fmt.Sprintf("store.load%d", i)
		n, keep := int64(2000+r.IntN(1000)), .6+.3*r.Float64()
		if short && i == 0 {
			name, n, keep = "report.render", 60_000, .004
		}
		left := int64(float64(n) * keep)
		p.Sample = append(p.Sample, &profile.Sample{Location: []*profile.Location{place(name), place("main.main")}, Value: []int64{n, n * 4096, left, left * 4096}})
	}
	var b bytes.Buffer
	if err := p.Write(&b); err != nil {
		panic(err) // writes to memory cannot fail
	}
	return b.Bytes()
}
