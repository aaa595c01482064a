// Command gomodes runs a small program with one planted cause, or none, and writes what
// the Go runtime records of it.
//
//	gomodes MODE OUT
//
// Modes that begin with trace write an execution trace, cpu a CPU profile, heap a heap
// profile and mutex a mutex profile.
package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"regexp"
	"runtime"
	"runtime/debug"
	"runtime/pprof"
	"runtime/trace"
	"slices"
	"strings"
	"sync"
	"time"
)

func main() {
	mode, path := os.Args[1], os.Args[2]
	f, err := os.Create(path)
	if err != nil {
		panic(err)
	}
	kind, _, _ := strings.Cut(mode, "-")
	work, ok := modes[mode]
	if !ok {
		panic("unknown mode " + mode)
	}
	switch kind {
	case "trace":
		trace.Start(f)
		work()
		trace.Stop()
	case "cpu":
		pprof.StartCPUProfile(f)
		work()
		pprof.StopCPUProfile()
	case "heap":
		runtime.MemProfileRate = 4096
		work()
		pprof.Lookup("heap").WriteTo(f, 0)
	case "mutex":
		runtime.SetMutexProfileFraction(1)
		work()
		pprof.Lookup("mutex").WriteTo(f, 0)
	}
	if err := f.Close(); err != nil {
		panic(err)
	}
}

var modes = map[string]func(){
	"trace-lock": lockHolder, "trace-gc": collections, "trace-queue": growingQueue, "trace-starve": starvedWorker, "trace-evict": evictedFrames,
	"trace-retry": retries, "trace-idle": gaps, "trace-nothing": func() { pool(4, func(int, int) time.Duration { return 300 * time.Microsecond }) },
	"cpu-small": smallLoop, "cpu-regexp": compiled, "cpu-key": keys, "cpu-nothing": varied, "cpu-sort": sorted, "cpu-gc": garbageOnly,
	"heap-report": reports, "heap-nothing": kept, "mutex-cache": contended,
}

func spin(d time.Duration) (n int) {
	for t := time.Now(); time.Since(t) < d; {
		for i := range 200 {
			n += i * n
		}
	}
	return n
}

var mu sync.Mutex

func rebuildIndex() {
	mu.Lock()
	spin(8 * time.Millisecond)
	mu.Unlock()
}

func lookup() {
	mu.Lock()
	spin(20 * time.Microsecond)
	mu.Unlock()
}

func lockHolder() {
	var wg sync.WaitGroup
	wg.Go(func() {
		for range 25 {
			rebuildIndex()
			time.Sleep(12 * time.Millisecond)
		}
	})
	for range 4 {
		wg.Go(func() {
			for range 180 {
				lookup()
				time.Sleep(2 * time.Millisecond)
			}
		})
	}
	wg.Wait()
}

type node struct {
	left, right *node
	value       [4]int
}

func tree(depth int) *node {
	if depth == 0 {
		return &node{}
	}
	return &node{left: tree(depth - 1), right: tree(depth - 1)}
}

func collections() {
	debug.SetGCPercent(8)
	live := tree(17)
	for i := range 60 {
		decodeMessage(i)
	}
	runtime.KeepAlive(live)
}

func decodeMessage(n int) {
	var all []*node
	for range 4000 {
		all = append(all, &node{value: [4]int{n}})
	}
	runtime.KeepAlive(all)
}

func growingQueue() {
	ch := make(chan time.Time, 10000)
	ctx := context.Background()
	go func() {
		for range 400 {
			ch <- time.Now()
			time.Sleep(700 * time.Microsecond)
		}
		close(ch)
	}()
	for at := range ch {
		c, task := trace.NewTask(ctx, "message")
		trace.WithRegion(c, "handle", func() { spin(time.Since(at) / 50); spin(1500 * time.Microsecond) })
		task.End()
	}
}

func pool(workers int, cost func(worker, i int) time.Duration) {
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() {
			ctx := context.Background()
			for i := range 120 {
				d := cost(w, i)
				if d == 0 {
					continue
				}
				trace.WithRegion(ctx, "job", func() { spin(time.Duration(float64(d) * (.8 + .4*rand.Float64()))) })
				time.Sleep(3 * time.Millisecond)
			}
		})
	}
	wg.Wait()
}

func starvedWorker() {
	pool(6, func(w, i int) time.Duration {
		if w == 3 && i > 0 {
			return 0
		}
		return 300 * time.Microsecond
	})
}

func evict() {
	mu.Lock()
	spin(9 * time.Millisecond)
	mu.Unlock()
}

func evictedFrames() {
	ctx := context.Background()
	stop := make(chan bool)
	go func() {
		time.Sleep(300 * time.Millisecond)
		for {
			select {
			case <-stop:
				return
			case <-time.After(61 * time.Millisecond):
				trace.WithRegion(ctx, "evict assets", evict)
			}
		}
	}()
	for range 350 {
		trace.WithRegion(ctx, "frame", func() {
			trace.WithRegion(ctx, "update", func() { lookup(); spin(500 * time.Microsecond) })
			trace.WithRegion(ctx, "draw", func() { spin(600 * time.Microsecond) })
		})
		time.Sleep(time.Millisecond)
	}
	close(stop)
}

func retries() {
	ctx := context.Background()
	for i := range 250 {
		trace.WithRegion(ctx, "fetch", func() {
			n := 1
			if i%13 == 12 {
				n = 7
			}
			for range n {
				trace.WithRegion(ctx, "attempt", func() { time.Sleep(800 * time.Microsecond) })
			}
		})
		trace.WithRegion(ctx, "decode", func() { spin(300 * time.Microsecond) })
	}
}

func gaps() {
	ctx := context.Background()
	for i := range 300 {
		trace.WithRegion(ctx, "frame", func() { spin(time.Millisecond) })
		if i%29 == 28 {
			time.Sleep(45 * time.Millisecond)
		}
	}
}

//go:noinline
func fold(h uint64, b byte) uint64 {
	for range 40 {
		h = (h ^ uint64(b)) * 1099511628211
	}
	return h
}

func smallLoop() {
	text := bytes.Repeat([]byte("some words to hash "), 200)
	for t := time.Now(); time.Since(t) < 3*time.Second; {
		h := uint64(14695981039346656037)
		for _, b := range text {
			h = fold(h, b)
		}
		encodeRows(int(h % 40))
	}
}

type row struct {
	ID    int
	Name  string
	Price float64
	Tags  []string
}

func encodeRows(n int) []byte {
	rows := []row{}
	for i := range n {
		rows = append(rows, row{i, fmt.Sprint("item ", i), float64(i) * 1.5, []string{"a", "b"}})
	}
	b, _ := json.Marshal(rows)
	return b
}

func validName(s string) bool {
	return regexp.MustCompile(`^[a-z]+( [0-9]{1,4})?$`).MatchString(s)
}

func compiled() {
	for t := time.Now(); time.Since(t) < 3*time.Second; {
		for _, r := range []string{"item 4", "other", "item 12345"} {
			validName(r)
		}
		encodeRows(6)
	}
}

func cacheKey(r row) string { return fmt.Sprintf("%d/%s/%v/%v", r.ID, r.Name, r.Price, r.Tags) }

func keys() {
	cache := map[string]int{}
	for t := time.Now(); time.Since(t) < 3*time.Second; {
		for i := range 400 {
			cache[cacheKey(row{i % 50, "item", 1.5, []string{"a", "b"}})]++
		}
		hashAll(3)
	}
}

func hashAll(n int) (h [32]byte) {
	for range n {
		h = sha256.Sum256(append(h[:], make([]byte, 4096)...))
	}
	return h
}

func compressText(n int) int {
	var b bytes.Buffer
	w, _ := gzip.NewWriterLevel(&b, 3)
	for i := range n {
		fmt.Fprintf(w, "line %d of a text\n", i*i)
	}
	w.Close()
	return b.Len()
}

func sortNumbers(n int) {
	all := make([]int, n)
	for i := range all {
		all[i] = rand.Int()
	}
	slices.Sort(all)
}

func varied() {
	for t := time.Now(); time.Since(t) < 3*time.Second; {
		encodeRows(80)
		hashAll(40)
		compressText(60)
		sortNumbers(1200)
		var rows []row
		json.Unmarshal(encodeRows(30), &rows)
	}
}

func mergeSorted(all []int, v int) []int {
	i := 0
	for i < len(all) && all[i] < v {
		i++
	}
	return slices.Insert(all, i, v)
}

func sorted() {
	for t := time.Now(); time.Since(t) < 3*time.Second; {
		var all []int
		for range 6000 {
			all = mergeSorted(all, rand.Int())
		}
		encodeRows(60)
	}
}

func garbageOnly() {
	debug.SetGCPercent(6)
	live := tree(18)
	for t := time.Now(); time.Since(t) < 3*time.Second; {
		encodeRows(60)
		hashAll(10)
	}
	runtime.KeepAlive(live)
}

var keep [][]byte

func renderReport(n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(strings.Repeat(fmt.Sprint(i), 60))
	}
	return b.String()
}

func loadTable(n int) { keep = append(keep, make([]byte, n)) }

func reports() {
	for i := range 400 {
		loadTable(30000)
		if len(renderReport(400)) < i {
			panic("short")
		}
	}
}

func loadUsers(n int)  { keep = append(keep, make([]byte, n)) }
func loadOrders(n int) { keep = append(keep, make([]byte, 2*n)) }

func kept() {
	for range 300 {
		loadTable(20000)
		loadUsers(20000)
		loadOrders(8000)
	}
}

func contended() {
	var wg sync.WaitGroup
	for range 6 {
		wg.Go(func() {
			for range 300 {
				lookup()
				spin(60 * time.Microsecond)
			}
		})
	}
	for range 20 {
		rebuildIndex()
		time.Sleep(5 * time.Millisecond)
	}
	wg.Wait()
}
