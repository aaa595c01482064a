// Command gosixth runs a small service with one planted cause, or none, and writes what the
// Go runtime records of it.
//
//	gosixth MODE OUT
//
// Modes that begin with trace write an execution trace, cpu a CPU profile, heap a heap
// profile, and goroutine, mutex and block the profiles of these names.
package main

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"runtime/pprof"
	"runtime/trace"
	"strings"
	"sync"
	"sync/atomic"
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
	kind, _, _ := strings.Cut(mode, "-")
	switch kind {
	case "trace":
		trace.Start(f)
		work()
		trace.Stop()
	case "cpu":
		pprof.StartCPUProfile(f)
		for end := time.Now().Add(3 * time.Second); time.Now().Before(end); {
			work()
		}
		pprof.StopCPUProfile()
	case "heap":
		runtime.MemProfileRate = 4096
		work()
		runtime.GC()
		pprof.Lookup("heap").WriteTo(f, 0)
	default:
		runtime.SetBlockProfileRate(1)
		runtime.SetMutexProfileFraction(1)
		work()
		pprof.Lookup(kind).WriteTo(f, 0)
	}
	if err := f.Close(); err != nil {
		panic(err)
	}
	fmt.Fprintln(os.Stderr, sink.Load())
}

var modes = map[string]func(){
	"trace-watch": watched, "trace-pool": pooled, "trace-abandon": abandoned, "trace-cron": cron, "trace-wake": woken,
	"trace-save": saved, "trace-partition": partitioned, "trace-nothing4": service, "trace-nothing5": pipeline,
	"cpu-deadline": deadlines, "cpu-log": logged, "cpu-rates": rates, "cpu-nothing3": plain,
	"heap-header": headers, "heap-nothing2": heap,
	"goroutine-leak": leaking, "goroutine-nothing": working,
	"mutex-metrics": metrics, "block-pool": blockPool,
}

var sink atomic.Int64

//go:noinline
func compute(d time.Duration) {
	x := 1
	for t := time.Now(); time.Since(t) < d; {
		for i := range 300 {
			x = x*31 + i
		}
	}
	sink.Add(int64(x))
}

func some(us int) time.Duration {
	return time.Duration(float64(us)*(.8+.4*rand.Float64())) * time.Microsecond
}

// The parts of a request.
//
//go:noinline
func authenticate() { compute(some(110)) }

//go:noinline
func fetchRows() { time.Sleep(some(900)) }

//go:noinline
func renderPage() { compute(some(170)) }

// clients runs n clients which send requests after pauses.
func clients(n, each int, request func(client, i int)) {
	var w sync.WaitGroup
	for c := range n {
		w.Go(func() {
			for i := range each {
				time.Sleep(some(1500))
				request(c, i)
			}
		})
	}
	w.Wait()
}

func service() {
	clients(4, 90, func(int, int) { authenticate(); fetchRows(); renderPage() })
}

// A goroutine asks every 40 µs whether there is work.
func watched() {
	var pending atomic.Int64
	stop := make(chan bool)
	go watchQueue(&pending, stop)
	clients(3, 50, func(int, int) { authenticate(); pending.Add(1); fetchRows(); renderPage() })
	stop <- true
}

//go:noinline
func watchQueue(pending *atomic.Int64, stop chan bool) {
	for {
		select {
		case <-stop:
			return
		default:
		}
		if pending.Load() > 0 {
			pending.Add(-1)
			compute(20 * time.Microsecond)
		}
		time.Sleep(40 * time.Microsecond)
	}
}

// Two connections for nine clients.
type connPool struct{ free chan int }

//go:noinline
func (p *connPool) acquire() int { return <-p.free }

//go:noinline
func (p *connPool) release(c int) { p.free <- c }

//go:noinline
func queryOrders(p *connPool) {
	c := p.acquire()
	time.Sleep(some(2500))
	p.release(c)
}

func newPool(n int) *connPool {
	p := &connPool{make(chan int, n)}
	for i := range n {
		p.free <- i
	}
	return p
}

func pooled() {
	p := newPool(2)
	clients(9, 40, func(int, int) { authenticate(); queryOrders(p); renderPage() })
}

func blockPool() {
	p := newPool(2)
	var l sync.Mutex
	clients(9, 120, func(int, int) {
		authenticate()
		queryOrders(p)
		l.Lock()
		renderPage()
		l.Unlock()
	})
}

// Requests that give up leave the goroutine of the answer behind.
//
//go:noinline
func askUpstream(slow bool) (int, bool) {
	answer := make(chan int)
	go func() {
		if slow {
			time.Sleep(4 * time.Millisecond)
		} else {
			time.Sleep(some(600))
		}
		answer <- 1
	}()
	select {
	case v := <-answer:
		return v, true
	case <-time.After(2 * time.Millisecond):
		return 0, false
	}
}

func abandoned() {
	clients(4, 80, func(_, i int) { authenticate(); askUpstream(i%3 == 0); renderPage() })
}

// Thirty tasks start at the same moment, every 120 ms.
//
//go:noinline
func refreshFeed() { compute(some(900)) }

func cron() {
	done := make(chan bool)
	go func() {
		for tick := time.NewTicker(120 * time.Millisecond); ; {
			select {
			case <-done:
				return
			case <-tick.C:
				for range 30 {
					go refreshFeed()
				}
			}
		}
	}()
	clients(3, 180, func(int, int) { authenticate(); fetchRows(); renderPage() })
	close(done)
}

// Each item wakes all waiters, and one of them gets it.
type broker struct {
	sync.Mutex
	*sync.Cond
	items, woken int
	closed       bool
}

//go:noinline
func (b *broker) take() bool {
	b.Mutex.Lock()
	defer b.Mutex.Unlock()
	for b.items == 0 && !b.closed {
		b.Wait()
		b.woken++
	}
	if b.items == 0 {
		return false
	}
	b.items--
	return true
}

//go:noinline
func (b *broker) put() {
	b.Mutex.Lock()
	b.items++
	b.Mutex.Unlock()
	b.Broadcast()
}

func woken() {
	b := &broker{}
	b.Cond = sync.NewCond(&b.Mutex)
	var w sync.WaitGroup
	for range 24 {
		w.Go(func() {
			for b.take() {
				compute(some(80))
			}
		})
	}
	clients(2, 130, func(int, int) { authenticate(); b.put() })
	b.Mutex.Lock()
	b.closed = true
	b.Mutex.Unlock()
	b.Broadcast()
	w.Wait()
}

// The sessions are written to a file while their lock is held.
type sessions struct {
	sync.Mutex
	last map[int]int
}

//go:noinline
func (s *sessions) touch(c, i int) {
	s.Lock()
	s.last[c] = i
	s.Unlock()
}

//go:noinline
func (s *sessions) saveAll(path string) {
	s.Lock()
	defer s.Unlock()
	f, err := os.Create(path)
	if err != nil {
		panic(err)
	}
	json.NewEncoder(f).Encode(s.last)
	f.Sync()
	time.Sleep(9 * time.Millisecond) // a slow disk
	f.Close()
}

func saved() {
	s := &sessions{last: map[int]int{}}
	done := make(chan bool)
	go func() {
		for {
			select {
			case <-done:
				return
			case <-time.After(35 * time.Millisecond):
				s.saveAll("sessions.tmp")
			}
		}
	}()
	clients(5, 110, func(c, i int) { authenticate(); s.touch(c, i); fetchRows(); renderPage() })
	close(done)
	os.Remove("sessions.tmp")
}

// One partition of eight gets six of ten messages.
//
//go:noinline
func applyMessage() { compute(some(240)); time.Sleep(some(250)) }

//go:noinline
func consume(partition chan int) {
	for range partition {
		applyMessage()
	}
}

func partitioned() {
	var w sync.WaitGroup
	parts := make([]chan int, 8)
	for i := range parts {
		parts[i] = make(chan int, 400)
		w.Go(func() { consume(parts[i]) })
	}
	for i := range 560 {
		at := i % 8
		if rand.IntN(10) < 6 {
			at = 5
		}
		parts[at] <- i
		if i%4 == 0 {
			time.Sleep(some(300))
		}
	}
	for _, p := range parts {
		close(p)
	}
	w.Wait()
}

func pipeline() {
	a, b := make(chan int, 8), make(chan int, 8)
	var w sync.WaitGroup
	w.Go(func() {
		for range 260 {
			compute(some(300))
			a <- 1
		}
		close(a)
	})
	w.Go(func() {
		for v := range a {
			time.Sleep(some(500))
			b <- v
		}
		close(b)
	})
	w.Go(func() {
		for range b {
			compute(some(290))
		}
	})
	w.Wait()
}
