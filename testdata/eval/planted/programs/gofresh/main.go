// Command gofresh runs a small program with one planted cause, or none, and writes what the Go
// runtime records of it.
//
//	gofresh MODE OUT
//
// Modes that begin with trace write an execution trace, cpu a CPU profile, heap a heap
// profile and mutex a mutex profile.
package main

import (
	"encoding/json"
	"fmt"
	"math/rand"
	"os"
	"runtime"
	"runtime/pprof"
	"runtime/trace"
	"sort"
	"strings"
	"sync"
	"time"
)

var sink int

//go:noinline
func burn(d time.Duration) {
	t := time.Now()
	x := 1
	for time.Since(t) < d {
		for i := range 2000 {
			x = x*31 + i
		}
	}
	sink += x
}

//go:noinline
func prepare(i int) int { burn(1500 * time.Microsecond); return i }

//go:noinline
func dispatch(jobs chan int, n int) {
	for i := range n {
		jobs <- prepare(i)
	}
	close(jobs)
}

//go:noinline
func convert(i int) { burn(150 * time.Microsecond); time.Sleep(300 * time.Microsecond) }

func dispatching() {
	jobs := make(chan int)
	var w sync.WaitGroup
	for range 6 {
		w.Add(1)
		go func() {
			defer w.Done()
			for j := range jobs {
				convert(j)
			}
		}()
	}
	dispatch(jobs, 500)
	w.Wait()
}

type logger struct {
	sync.Mutex
	lines int
}

//go:noinline
func (l *logger) rotate() { time.Sleep(14 * time.Millisecond) }

//go:noinline
func (l *logger) writeLog(s string) {
	l.Lock()
	defer l.Unlock()
	l.lines++
	if l.lines%40 == 0 {
		l.rotate()
	}
}

//go:noinline
func handle(l *logger, slow bool) {
	burn(time.Duration(100+rand.Intn(100)) * time.Microsecond)
	time.Sleep(time.Duration(500+rand.Intn(700)) * time.Microsecond)
	if slow {
		l.writeLog("done")
	}
}

func handlers(slow bool) {
	l := &logger{}
	var w sync.WaitGroup
	for range 5 {
		w.Add(1)
		go func() {
			defer w.Done()
			for range 160 {
				handle(l, slow)
			}
		}()
	}
	w.Wait()
}

type settings struct {
	Name  string
	Rules []struct{ A, B, C string }
}

var text = func() []byte {
	var s settings
	for range 60 {
		s.Rules = append(s.Rules, struct{ A, B, C string }{"a", "some rule text", "c"})
	}
	b, _ := json.Marshal(s)
	return b
}()

//go:noinline
func loadSettings() *settings {
	s := &settings{}
	if json.Unmarshal(text, s) != nil {
		panic("settings")
	}
	return s
}

//go:noinline
func respond(s *settings, i int) string {
	var b strings.Builder
	for k := range 40 {
		fmt.Fprintf(&b, "%s %d;", s.Name, i*k)
	}
	return strings.ToUpper(b.String())
}

//go:noinline
func route(i int) int {
	h := 0
	for k := range 9000 {
		h = h*33 ^ (i + k)
	}
	return h
}

//go:noinline
func serve(i int) { sink += len(respond(loadSettings(), route(i)&7)) }

type item struct{ price, size int }

//go:noinline
func sortBy(all []item) {
	sort.Slice(all, func(i, j int) bool {
		return fmt.Sprintf("%08d", all[i].price) < fmt.Sprintf("%08d", all[j].price)
	})
}

//go:noinline
func list(i int) {
	all := make([]item, 400)
	for k := range all {
		all[k] = item{rand.Intn(100000), k}
	}
	sortBy(all)
	sink += route(i)
}

var kept = map[string][]byte{}

//go:noinline
func remember(k string, b []byte) { kept[k] = append([]byte(nil), b...) }

//go:noinline
func render(i int) []byte { return []byte(strings.Repeat(fmt.Sprint(i), 400)) }

type registry struct {
	sync.Mutex
	m map[int]int
}

//go:noinline
func (r *registry) publish(i int) {
	r.Lock()
	defer r.Unlock()
	burn(3 * time.Millisecond)
	r.m[i] = i
}

//go:noinline
func (r *registry) lookup(i int) int { r.Lock(); defer r.Unlock(); return r.m[i] }

func main() {
	mode, out := os.Args[1], os.Args[2]
	f, err := os.Create(out)
	if err != nil {
		panic(err)
	}
	defer f.Close()
	traced := func(do func()) {
		if err := trace.Start(f); err != nil {
			panic(err)
		}
		do()
		trace.Stop()
	}
	cpu := func(do func(i int)) {
		if err := pprof.StartCPUProfile(f); err != nil {
			panic(err)
		}
		for t, i := time.Now(), 0; time.Since(t) < 3*time.Second; i++ {
			do(i)
		}
		pprof.StopCPUProfile()
	}
	switch mode {
	case "trace-dispatch":
		traced(dispatching)
	case "trace-log":
		traced(func() { handlers(true) })
	case "trace-nothing3":
		traced(func() { handlers(false) })
	case "cpu-settings":
		cpu(serve)
	case "cpu-reflect":
		cpu(list)
	case "heap-remember":
		runtime.MemProfileRate = 16 << 10
		for i := range 20000 {
			b := render(i)
			if i%3 == 0 {
				remember(fmt.Sprint(i), b)
			}
			sink += len(respond(&settings{}, i))
		}
		runtime.GC()
		err = pprof.Lookup("heap").WriteTo(f, 0)
	case "mutex-publish":
		runtime.SetMutexProfileFraction(1)
		r := &registry{m: map[int]int{}}
		done := make(chan bool)
		for range 6 {
			go func() {
				for i := 0; ; i++ {
					select {
					case <-done:
						return
					default:
					}
					sink = r.lookup(i)
					time.Sleep(200 * time.Microsecond)
				}
			}()
		}
		for i := range 200 {
			r.publish(i)
			time.Sleep(2 * time.Millisecond)
		}
		close(done)
		err = pprof.Lookup("mutex").WriteTo(f, 0)
	}
	if err != nil {
		panic(err)
	}
	fmt.Fprintln(os.Stderr, sink) // what was computed is used
}
