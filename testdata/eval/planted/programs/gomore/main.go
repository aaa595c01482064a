// Command gomore runs a small service with one planted cause, or none, and writes what the
// Go runtime records of it.
//
//	gomore MODE OUT
//
// Modes that begin with trace write an execution trace, cpu a CPU profile, heap a heap
// profile and block a block profile.
package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"reflect"
	"runtime"
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
	work, ok := modes[mode]
	if !ok {
		panic("unknown mode " + mode)
	}
	switch kind, _, _ := strings.Cut(mode, "-"); kind {
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
		runtime.GC()
		pprof.Lookup("heap").WriteTo(f, 0)
	case "block":
		runtime.SetBlockProfileRate(1)
		work()
		pprof.Lookup("block").WriteTo(f, 0)
	}
	if err := f.Close(); err != nil {
		panic(err)
	}
}

var modes = map[string]func(){
	"trace-fsync": fsynced, "trace-forced": forced, "trace-shards": sharded, "trace-stages": staged, "trace-leak": leaked,
	"trace-reader": readers, "trace-limit": limited, "trace-start": startup, "trace-nothing2": balanced,
	"cpu-concat": concatenated, "cpu-equal": compared, "cpu-nothing2": mixed,
	"heap-subscribe": subscribed, "block-deliver": delivered,
}

func spin(d time.Duration) (n int) {
	for t := time.Now(); time.Since(t) < d; {
		for i := range 200 {
			n += i * n
		}
	}
	return n
}

func about(d time.Duration) time.Duration {
	return time.Duration(float64(d) * (.85 + .3*rand.Float64()))
}

// serve handles requests on some goroutines.
func serve(workers, requests int, handle func(ctx context.Context, n int)) {
	jobs := make(chan int)
	var wg sync.WaitGroup
	for range workers {
		wg.Go(func() {
			for n := range jobs {
				ctx, task := trace.NewTask(context.Background(), "request")
				trace.WithRegion(ctx, "handle", func() { handle(ctx, n) })
				task.End()
			}
		})
	}
	for n := range requests {
		jobs <- n
		time.Sleep(about(1500 * time.Microsecond))
	}
	close(jobs)
	wg.Wait()
}

func parse(ctx context.Context) {
	trace.WithRegion(ctx, "parse", func() { spin(about(120 * time.Microsecond)) })
}
func render(ctx context.Context) {
	trace.WithRegion(ctx, "render", func() { spin(about(180 * time.Microsecond)) })
}

func balanced() {
	serve(3, 300, func(ctx context.Context, n int) { parse(ctx); render(ctx) })
}

func saveState(f *os.File, n int) {
	fmt.Fprintln(f, "state", n)
	f.Sync()
}

func fsynced() {
	f, err := os.CreateTemp(".", "state")
	if err != nil {
		panic(err)
	}
	defer os.Remove(f.Name())
	serve(2, 200, func(ctx context.Context, n int) { parse(ctx); saveState(f, n); render(ctx) })
}

var live [][]byte

func forced() {
	for range 8000 {
		live = append(live, make([]byte, 600))
	}
	serve(3, 24, func(ctx context.Context, n int) {
		parse(ctx)
		if n%4 == 3 {
			runtime.GC()
		}
		render(ctx)
	})
}

func sharded() {
	for range 40 {
		var wg sync.WaitGroup
		for shard := range 6 {
			wg.Go(func() {
				trace.WithRegion(context.Background(), fmt.Sprint("scan shard ", shard), func() {
					d := 500 * time.Microsecond
					if shard == 4 {
						d *= 9
					}
					spin(about(d))
				})
			})
		}
		wg.Wait()
		trace.WithRegion(context.Background(), "merge", func() { spin(about(200 * time.Microsecond)) })
	}
}

func staged() {
	decoded, resized := make(chan int), make(chan int)
	var wg sync.WaitGroup
	wg.Go(func() {
		for n := range 260 {
			spin(about(200 * time.Microsecond))
			decoded <- n
		}
		close(decoded)
	})
	wg.Go(func() {
		for n := range decoded {
			resize()
			resized <- n
		}
		close(resized)
	})
	wg.Go(func() {
		for range resized {
			spin(about(250 * time.Microsecond))
		}
	})
	wg.Wait()
}

func resize() { spin(about(4 * time.Millisecond)) }

func watch(done chan bool) { <-done }

func leaked() {
	never := make(chan bool)
	serve(3, 400, func(ctx context.Context, n int) {
		parse(ctx)
		for range 5 {
			go watch(never)
		}
		render(ctx)
	})
}

var state sync.RWMutex

func snapshot() {
	state.RLock()
	spin(11 * time.Millisecond)
	state.RUnlock()
}

func setValue() {
	state.Lock()
	spin(30 * time.Microsecond)
	state.Unlock()
}

func readers() {
	stop := make(chan bool)
	go func() {
		for {
			select {
			case <-stop:
				return
			case <-time.After(9 * time.Millisecond):
				snapshot()
			}
		}
	}()
	serve(4, 350, func(ctx context.Context, n int) { parse(ctx); setValue(); render(ctx) })
	close(stop)
}

func throttle(tick <-chan time.Time) { <-tick }

func limited() {
	tick := time.NewTicker(6 * time.Millisecond)
	defer tick.Stop()
	ctx := context.Background()
	for range 150 {
		throttle(tick.C)
		trace.WithRegion(ctx, "handle", func() { parse(ctx); render(ctx) })
	}
}

func loadDictionary() { spin(700 * time.Millisecond) }

func startup() {
	ctx := context.Background()
	trace.WithRegion(ctx, "load dictionary", loadDictionary)
	for range 200 {
		trace.WithRegion(ctx, "handle", func() { parse(ctx); render(ctx) })
		time.Sleep(about(time.Millisecond))
	}
}

type row struct {
	ID   int
	Name string
	Tags []string
	More map[string]int
}

func rows(n int) (all []row) {
	for i := range n {
		all = append(all, row{i, fmt.Sprint("row ", i), []string{"x", "y"}, map[string]int{"a": i}})
	}
	return all
}

func encode(n int) []byte {
	b, _ := json.Marshal(rows(n))
	return b
}

func digest(n int) (h [32]byte) {
	for range n {
		h = sha256.Sum256(append(h[:], make([]byte, 2048)...))
	}
	return h
}

func order(n int) {
	all := make([]int, n)
	for i := range all {
		all[i] = rand.Int()
	}
	slices.Sort(all)
}

func replaceAll(n int) {
	s := strings.Repeat("some text with words ", n)
	for range 3 {
		s = strings.ReplaceAll(s, "words", "items") + "words"
	}
}

func mixed() {
	for t := time.Now(); time.Since(t) < 2500*time.Millisecond; {
		encode(20)
		digest(120)
		order(2500)
		replaceAll(1500)
		bytes.Fields(encode(30))
	}
}

func joinLines(n int) (text string) {
	for i := range n {
		text += "line " + string(rune('a'+i%26)) + "\n"
	}
	return text
}

func concatenated() {
	for t := time.Now(); time.Since(t) < 2500*time.Millisecond; {
		_ = joinLines(4000)
		digest(100)
		order(2000)
	}
}

func sameState(a, b []row) bool { return reflect.DeepEqual(a, b) }

func compared() {
	a, b := rows(200), rows(200)
	for t := time.Now(); time.Since(t) < 2500*time.Millisecond; {
		for range 12 {
			sameState(a, b)
		}
		digest(60)
		order(1200)
	}
}

var subscribers []*[]byte

func subscribe(n int) { b := make([]byte, n); subscribers = append(subscribers, &b) }
func cacheUser(n int) { live = append(live, make([]byte, n)) }

func subscribed() {
	for i := range 500 {
		subscribe(24000)
		cacheUser(2000)
		encode(30)
		order(i)
	}
}

func deliver(out chan<- int, n int) { out <- n }

func delivered() {
	out := make(chan int)
	var wg sync.WaitGroup
	for range 5 {
		wg.Go(func() {
			for n := range 40 {
				spin(about(100 * time.Microsecond))
				deliver(out, n)
			}
		})
	}
	go func() { wg.Wait(); close(out) }()
	for range out {
		spin(about(5 * time.Millisecond))
	}
}
