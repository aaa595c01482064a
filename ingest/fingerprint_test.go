package ingest

import (
	"fmt"
	"hash/maphash"
	"io"

	"ashlar/ingest/model/lanes"
	"ashlar/ingest/model/recording"
)

// fingerprint holds a hash of each part of a recording, by name. It uses exported data
// only, so recordings with the same content have the same fingerprint, whatever their
// layout in memory. Spans and samples are identified by their call stacks.
type fingerprint map[string]uint64

// callParts are the parts of a fingerprint that depend on the set of calls and their
// numbers. They vary with the times at which snapshots of a growing recording are taken,
// because unordered spans are laid out for each snapshot.
var callParts = []string{"calls", "sums"}

var seed = maphash.MakeSeed()

func fingerprintOf(r *recording.Recording) fingerprint {
	f := fingerprint{}
	stacks := stacksOf(r)
	f.text("about", r.Source.Format, r.Source.Version, r.Source.Tool, r.Source.Command, r.Clock, r.Start, r.End, r.HasTime, r.Done, r.Counts, r.Events, r.Processes)
	f.text("ledger", r.Ledger)
	f.text("warnings", r.Warnings)
	f.text("flows", r.Flows)
	f.text("sums", r.SpanTime, r.SpanCount)
	f.part("functions", func(w *maphash.Hash) {
		for i := range r.Functions.Len() {
			maphash.WriteComparable(w, r.Functions.At(i))
		}
	})
	f.part("frames", func(w *maphash.Hash) {
		for i := range r.Frames.Len() {
			maphash.WriteComparable(w, r.Frames.At(i))
		}
	})
	f.part("calls", func(w *maphash.Hash) {
		for i := 1; i < r.Calls.Len(); i++ {
			c := recording.CallID(i)
			numbers(w, int64(r.Calls.Parent(c)), int64(r.Calls.Frame(c)))
		}
	})
	f.part("contexts", func(w *maphash.Hash) {
		for i := range r.Contexts.Len() {
			fmt.Fprintln(w, r.Contexts.At(i))
		}
	})
	for i, t := range r.Tracks {
		f.track(r, i, t, stacks)
	}
	for e, s := range r.Stacks {
		if s != nil {
			f.part(fmt.Sprintf("stacks of event %d", e), func(w *maphash.Hash) { rows(w, r, e, s, stacks) })
		}
	}
	for _, s := range r.Windows {
		f.part(fmt.Sprintf("windows of event %d", s.Event), func(w *maphash.Hash) {
			fmt.Fprintln(w, s.Windows)
			rows(w, r, s.Event, &s.Rows, stacks)
		})
	}
	for i, c := range r.Counters {
		f.part(fmt.Sprintf("counter %d", i), func(w *maphash.Hash) {
			fmt.Fprintln(w, c.Name, c.Series, c.Unit, c.Process)
			for k := range c.Len() {
				fmt.Fprintln(w, c.Time(k), c.Value(k))
			}
		})
	}
	return f
}

// stacksOf returns a hash of the whole stack of each call.
func stacksOf(r *recording.Recording) []int64 {
	all := make([]int64, r.Calls.Len())
	for i := 1; i < len(all); i++ {
		c := recording.CallID(i)
		all[i] = int64(maphash.Comparable(seed, [2]int64{all[r.Calls.Parent(c)], int64(r.Calls.Frame(c))}))
	}
	return all
}

func (f fingerprint) track(r *recording.Recording, i int, t *recording.Track, stacks []int64) {
	f.text(fmt.Sprintf("track %d", i), t.Kind, t.PID, t.TID, t.Process, t.Name, t.Sort, len(t.Open), len(t.Lanes), len(t.Samples))
	for d := range t.Lanes {
		l := &t.Lanes[d]
		f.part(fmt.Sprintf("lane %d of track %d", d, i), func(w *maphash.Hash) {
			for k := range l.Len() {
				late := int64(0)
				if l.Unfinished(k) {
					late = 1
				}
				numbers(w, l.Start(k), l.End(k), stacks[l.Call(k)], late)
				if ref := l.Args(k); ref != 0 {
					io.WriteString(w, r.Args(ref))
				}
			}
			// The detail levels, as drawn.
			l.Walk(r.Start, r.End+1, r.Duration()/97, func(b *lanes.Bar) bool {
				numbers(w, b.Start, b.End, stacks[b.Call], int64(b.Busy), int64(b.Index), int64(b.N))
				return true
			})
		})
	}
	for _, s := range t.Samples {
		f.part(fmt.Sprintf("samples of event %d on track %d", s.Event, i), func(w *maphash.Hash) {
			ms := r.Events[s.Event].Metrics
			for k := range s.Len() {
				numbers(w, s.Time(k), s.End(k), stacks[s.Call(k)], int64(s.CPU(k)))
				for m := range ms {
					numbers(w, s.Value(k, &ms[m], m))
				}
			}
		})
	}
	f.part(fmt.Sprintf("instants of track %d", i), func(w *maphash.Hash) {
		for _, x := range t.Instants {
			args := ""
			if x.Args != 0 {
				args = r.Args(x.Args)
			}
			fmt.Fprintln(w, x.Time, x.Name, args)
		}
	})
}

func rows(w *maphash.Hash, r *recording.Recording, event int, s *recording.Stacks, stacks []int64) {
	for i := range s.Len() {
		numbers(w, stacks[s.Call(i)], int64(s.Track(i)), int64(s.Context(i)))
		for m := range r.Events[event].Metrics {
			numbers(w, s.Value(i, m))
		}
	}
}

func numbers(w *maphash.Hash, all ...int64) {
	for _, n := range all {
		maphash.WriteComparable(w, n)
	}
}

func (f fingerprint) part(name string, write func(*maphash.Hash)) {
	var h maphash.Hash
	h.SetSeed(seed)
	write(&h)
	f[name] = h.Sum64()
}

func (f fingerprint) text(name string, all ...any) {
	f.part(name, func(w *maphash.Hash) { fmt.Fprintf(w, "%+v", all) })
}

// difference returns the name of a part in which two fingerprints differ, "" if they are
// equal.
func (f fingerprint) difference(other fingerprint) string {
	for name, h := range f {
		if o, ok := other[name]; !ok || o != h {
			return name
		}
	}
	for name := range other {
		if _, ok := f[name]; !ok {
			return name
		}
	}
	return ""
}
