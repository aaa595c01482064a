package distributed

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"ashlar/ingest/model/recording"
)

// far is the maximum distance of a span's time from the median, in nanoseconds. It limits
// all times to half the range of 64-bit picoseconds.
const far = math.MaxInt64 / 2000 / 2

// builder builds the recording from the collected spans.
type builder struct {
	*Collector
	ctx    context.Context
	order  []int32 // spans to show, ordered by start, longer ones first
	zero   int64
	of     []int32 // by service: the first service identical to it
	tracks []*recording.TrackBuilder
	n      int
	first  []int32 // by span: its first nested child; next is the sibling after it
	next   []int32
}

// Build adds everything collected to the recording.
func (c *Collector) Build(ctx context.Context) error {
	if len(c.spans) > math.MaxInt32 {
		return fmt.Errorf("the file has more than %d spans", math.MaxInt32)
	}
	b := &builder{Collector: c, ctx: ctx}
	if len(b.spans) == 0 {
		return nil
	}
	if b.sort(); len(b.order) == 0 {
		return errors.New("no span of the file has valid times")
	}
	b.zero = b.spans[b.order[0]].start
	c.b.AddEvent(recording.SpanEvent())
	*c.b.Clock() = recording.Clock{Unit: "ns", PerUnit: 1000, Origin: recording.Decimal{Mantissa: b.zero}}
	b.merge()
	b.parents()
	b.nest()
	if err := b.lay(); err != nil {
		return err
	}
	for i := range b.spans {
		if s := &b.spans[i]; s.mended && s.track >= 0 {
			b.read.Mend(b.place(i))
		}
	}
	if err := b.arrows(); err != nil {
		return err
	}
	b.instants()
	c.texts.WarnDropped(c.b, "span or event")
	return nil
}

// tick counts a step; now and then it reports progress and checks the context.
func (b *builder) tick() error {
	if b.n++; b.n%1024 == 0 {
		b.b.Progress()
		return b.ctx.Err()
	}
	return nil
}

// sort orders the spans by start and leaves out spans whose times are too far from the
// median.
func (b *builder) sort() {
	for i := range b.spans {
		b.order = append(b.order, int32(i))
	}
	slices.SortFunc(b.order, func(x, y int32) int {
		s, t := &b.spans[x], &b.spans[y]
		return cmp.Or(cmp.Compare(s.start, t.start), cmp.Compare(t.end, s.end), cmp.Compare(x, y))
	})
	middle := b.spans[b.order[len(b.order)/2]].start
	b.order = slices.DeleteFunc(b.order, func(i int32) bool {
		s := &b.spans[i]
		if isNear(s.start, middle) && isNear(s.end, middle) {
			return false
		}
		b.leave(i, "time-too-far", "Spans are too far in time from the others and were left out, first %s")
		return true
	})
}

func isNear(t, middle int64) bool {
	d := t - middle
	return (d < t) == (middle > 0) && d < far && d > -far
}

// leave leaves out a span that Add had accepted.
func (b *builder) leave(i int32, code, why string) {
	place := b.place(int(i))
	b.read.Kept--
	b.read.Leave(place)
	b.b.Warn(code, place, why, place)
}

// at converts nanoseconds of the file to a time of the recording.
func (b *builder) at(ns int64) int64 { return (ns - b.zero) * 1000 }

// merge finds identical services and makes a process of each distinct one.
func (b *builder) merge() {
	seen, several, used := map[Service]int32{}, map[string]int{}, map[int64]bool{}
	for i, s := range b.Services {
		first, ok := seen[s]
		if !ok {
			first = int32(i)
			seen[s] = first
			several[s.Name]++
		}
		b.of = append(b.of, first)
	}
	for i := range b.Services {
		if b.of[i] != int32(i) {
			continue
		}
		s := &b.Services[i]
		if s.PID == 0 || used[s.PID] { // containers often share a PID
			s.PID = recording.TextID - int64(i)
		}
		used[s.PID] = true
		p := b.b.ProcessInfo(b.b.Process(s.PID))
		p.Name = cmp.Or(s.Name, "unknown service")
		if several[s.Name] > 1 {
			p.Labels = s.Instance
		}
	}
}

func (b *builder) serviceOf(i int32) int32 { return b.of[b.spans[i].service] }

type key struct {
	trace uint32
	id    string
}

// parents finds each span's parent.
func (b *builder) parents() {
	all := make(map[key][]int32, len(b.order))
	for _, i := range b.order {
		if s := &b.spans[i]; s.id != "" {
			k := key{s.trace, s.id}
			all[k] = append(all[k], i)
		}
	}
	b.repeated(all)
	for _, i := range b.order {
		s := &b.spans[i]
		if s.shared {
			s.up = b.pick(all[key{s.trace, s.id}], i, false)
		}
		if s.up >= 0 || s.parent == "" {
			continue
		}
		if s.up = b.pick(all[key{s.trace, s.parent}], i, true); s.up < 0 {
			b.b.Remark("parent-missing", b.place(int(i)), "Spans have a parent that is not in the file, first %s; they are shown as outermost", b.place(int(i)))
		}
	}
	b.cut()
}

// repeated leaves out duplicate spans, which exporters write when they retry.
func (b *builder) repeated(all map[key][]int32) {
	type same struct {
		start, end int64
		name       string
		shared     bool
		service    int32
	}
	gone := map[int32]bool{}
	for k, of := range all {
		if len(of) == 1 {
			continue
		}
		seen := map[same]bool{}
		all[k] = slices.DeleteFunc(of, func(i int32) bool {
			s := &b.spans[i]
			x := same{s.start, s.end, s.name, s.shared, b.serviceOf(i)}
			gone[i], seen[x] = seen[x], true
			return gone[i]
		})
	}
	b.order = slices.DeleteFunc(b.order, func(i int32) bool {
		if gone[i] {
			b.leave(i, "span-repeated", "Spans occur several times, first %s; each counts once")
		}
		return gone[i]
	})
}

// mostAlike is the maximum number of spans with one id that are tried as a parent.
const mostAlike = 64

// pick returns the parent of child among the spans of, -1 if there is none. It prefers
// spans of child's service, then spans on the server's side if server is set.
func (b *builder) pick(of []int32, child int32, server bool) int32 {
	best, rank := int32(-1), -1
	for _, i := range of[:min(len(of), mostAlike)] {
		if i == child || !server && b.spans[i].shared {
			continue
		}
		r := 0
		if b.spans[i].shared == server {
			r++
		}
		if b.serviceOf(i) == b.serviceOf(child) {
			r += 2
		}
		if r > rank {
			best, rank = i, r
		}
	}
	return best
}

// cut breaks cycles of parents.
func (b *builder) cut() {
	seen := make([]int32, len(b.spans)) // the span from which the walk came here, plus 1
	for _, i := range b.order {
		k := i
		for ; k >= 0 && seen[k] == 0; k = b.spans[k].up {
			seen[k] = i + 1
		}
		if k >= 0 && seen[k] == i+1 {
			b.b.Warn("parent-circle", b.place(int(k)), "Spans are their own ancestors, first %s; this one is shown as outermost", b.place(int(k)))
			b.spans[k].up = -1
		}
	}
}

// nest finds the spans that can be drawn inside their parents on one track.
func (b *builder) nest() {
	free := make([]int64, len(b.spans)) // by span: when its last nested child ended
	b.first, b.next = make([]int32, len(b.spans)), make([]int32, len(b.spans))
	last := make([]int32, len(b.spans))
	for i := range b.spans {
		free[i], b.first[i], b.next[i] = b.spans[i].start, -1, -1
	}
	for _, i := range b.order {
		s := &b.spans[i]
		if s.up < 0 || b.serviceOf(i) != b.serviceOf(s.up) || s.start < free[s.up] || s.end > b.spans[s.up].end {
			continue
		}
		s.inline, free[s.up] = true, s.end
		if b.first[s.up] < 0 {
			b.first[s.up] = i
		} else {
			b.next[last[s.up]] = i
		}
		last[s.up] = i
	}
}
