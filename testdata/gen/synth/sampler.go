package synth

// A sampler stops the running threads at intervals and records their calls, as a profiler
// does. It skips idle threads.
type sampler struct {
	threads []*sampled
	period  int64
	spread  *[spreadSize]int64
}

type sampled struct {
	*thread
	due  int64
	held uint32 // held is the innermost call until clock; busy is false if there is none
	busy bool
}

// Sampled programs run on a slower clock than traced ones, because a real profiler takes
// one sample every few calls, while a tracer records each of many short calls.
const (
	samplerSlow   = 5
	samplerPeriod = 100_000 // ns between samples of a busy thread, on average
)

func newSampler(p *program, seed uint64) *sampler {
	s := &sampler{period: samplerPeriod, spread: p.spread}
	for _, t := range p.newThreads(seed, samplerSlow) {
		s.threads = append(s.threads, &sampled{thread: t, due: t.clock})
	}
	return s
}

// A sample is one look at a thread.
type sample struct {
	*thread
	call   uint32
	at     int64 // ns
	weight int64 // count of the event since the previous sample; above 0
	random uint64
}

// next takes the next sample in the order of time.
func (s *sampler) next() sample {
	for {
		t := s.threads[0]
		for _, other := range s.threads[1:] {
			if other.due < t.due {
				t = other
			}
		}
		for t.clock <= t.due {
			t.held, t.busy = t.top()
			t.step(true)
		}
		at := t.due
		if !t.busy {
			t.due = t.clock
			continue
		}
		r := t.rng.Uint64()
		t.due += s.period/2 + int64(below(r, int(s.period)))
		return sample{t.thread, t.held, at, 10_000*s.spread[r>>32%spreadSize] + int64(r>>44), r}
	}
}
