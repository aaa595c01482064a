package main

import (
	"fmt"
	"strings"
)

// Times are nanoseconds from the recording's start.
const (
	us = 1_000
	ms = 1_000_000

	length = 1300 * ms
	hertz  = 4000
	period = 1_000_000_000 / hertz
)

// A machine runs the threads and records samples and allocations.
type machine struct {
	threads []*thread
	samples []sample
	allocs  []alloc
	// arrivals are the times when requests arrived.
	arrivals []int64
	// marking are the intervals in which the collector marks and allocations have to
	// help; stops are the intervals in which no worker runs.
	marking, stops []interval
}

type interval struct{ from, to int64 }

func within(all []interval, at int64) (interval, bool) {
	for _, i := range all {
		if at >= i.from && at < i.to {
			return i, true
		}
	}
	return interval{}, false
}

// A sample is the stack of a thread at a moment, root first.
type sample struct {
	at     int64
	thread *thread
	cpu    int
	stack  string // names joined by ";"
}

// An alloc is the memory allocated by a stack at a moment.
type alloc struct {
	at           int64
	thread       *thread
	stack        string
	bytes, count int64
}

// A thread runs calls one after the other, and is sampled while it runs.
type thread struct {
	m      *machine
	name   string
	tid    int64
	cpu    int
	mutant bool // a mutator: the collector stops it
	now    int64
	tick   int64 // when the next sample is due
	stack  []string
	random uint64
}

func (m *machine) thread(name string, tid int64, cpu int, mutant bool) *thread {
	t := &thread{m: m, name: name, tid: tid, cpu: cpu, mutant: mutant, random: uint64(tid) * 0x9E3779B97F4A7C15}
	t.tick = t.upTo(period)
	m.threads = append(m.threads, t)
	return t
}

// next returns the next random number (splitmix64).
func (t *thread) next() uint64 {
	t.random += 0x9E3779B97F4A7C15
	x := t.random
	x = (x ^ x>>30) * 0xBF58476D1CE4E5B9
	x = (x ^ x>>27) * 0x94D049BB133111EB
	return x ^ x>>31
}

func (t *thread) upTo(n int64) int64 { return int64(t.next() % uint64(n)) }

// about returns d, give or take a quarter.
func (t *thread) about(d int64) int64 { return d - d/4 + t.upTo(d/2+1) }

// in runs body within calls: function names, outermost first, joined by ";".
func (t *thread) in(calls string, body func()) {
	n := len(t.stack)
	t.stack = append(t.stack, strings.Split(calls, ";")...)
	body()
	t.stack = t.stack[:n]
}

// until waits off CPU until at.
func (t *thread) until(at int64) { t.now = max(t.now, at) }

// wait waits about d off CPU.
func (t *thread) wait(d int64) { t.now += t.about(d) }

// A choice is one of the things that a busy call does: the calls below it, joined by ";",
// and their relative frequency.
type choice struct {
	weight int64
	calls  string
}

// mix parses the choices of a busy call, one per line: the weight and the calls. "-" is
// the busy call itself.
func mix(text string) []choice {
	var all []choice
	for part := range strings.SplitSeq(strings.TrimSpace(text), "\n") {
		var c choice
		if _, err := fmt.Sscanf(strings.TrimSpace(part), "%d %s", &c.weight, &c.calls); err != nil {
			panic(fmt.Sprintf("the mix %q cannot be read: %v", part, err))
		}
		if c.calls == "-" {
			c.calls = ""
		}
		all = append(all, c)
	}
	return all
}

// busy runs for about d, in slices of a few samples each.
func (t *thread) busy(d int64, choices []choice) {
	end := t.now + t.about(d)
	var sum int64
	for _, c := range choices {
		sum += c.weight
	}
	for t.now < end {
		pick := t.upTo(sum)
		i := 0
		for pick >= choices[i].weight {
			pick -= choices[i].weight
			i++
		}
		slice := min(150*us+t.upTo(900*us), end-t.now)
		calls := strings.Join(t.stack, ";")
		if choices[i].calls != "" {
			calls += ";" + choices[i].calls
		}
		t.slice(slice, calls)
	}
}

const (
	mallocgc = "runtime.mallocgc"
	assist   = ";runtime.gcAssistAlloc;runtime.gcDrainN;runtime.scanobject"
	parked   = "runtime.mcall;runtime.park_m;runtime.schedule;runtime.findRunnable;runtime.futex;entry_SYSCALL_64;do_syscall_64;do_futex;futex_wait"
)

// slice runs one stack for d, interrupted by any stop of the world.
func (t *thread) slice(d int64, calls string) {
	if strings.HasSuffix(calls, mallocgc) {
		size := int64(48) << t.upTo(5)
		n := d/(700+size) + 1
		t.m.allocs = append(t.m.allocs, alloc{t.now, t, calls, n * size, n})
		if _, ok := within(t.m.marking, t.now); ok && t.upTo(10) < 7 {
			calls += assist
		}
	}
	for end := t.now + d; t.now < end; {
		if stop, ok := within(t.m.stops, t.now); ok && t.mutant {
			t.run(t.now+300*us, parked)
			end += stop.to - t.now
			t.now = stop.to
			continue
		}
		to := end
		for _, s := range t.m.stops {
			if t.mutant && t.now < s.from && s.from < to {
				to = s.from
			}
		}
		t.run(to, calls)
	}
}

// run runs on CPU until end and takes a sample at each tick.
func (t *thread) run(end int64, calls string) {
	end = min(end, length)
	for t.tick < t.now {
		t.tick += period
	}
	for ; t.tick < end; t.tick += period {
		if t.upTo(400) == 0 {
			t.cpu = (t.cpu + 1 + int(t.upTo(6))) % 8
		}
		stack := calls
		if t.upTo(250) == 0 { // sometimes the sample hits the timer interrupt itself
			stack += ";asm_sysvec_apic_timer_interrupt;sysvec_apic_timer_interrupt;__irq_exit_rcu;handle_softirqs"
		}
		at := t.tick + t.upTo(20*us)
		if at < end {
			t.m.samples = append(t.m.samples, sample{at / us * us, t, t.cpu, stack})
		}
	}
	t.now = max(t.now, end)
}
