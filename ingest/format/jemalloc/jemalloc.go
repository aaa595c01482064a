// Package jemalloc reads the heap profiles that jemalloc dumps as text, which start with
// "heap_v2/" and the mean sampling interval in bytes. The totals of all threads follow,
// then the stacks as return addresses, leaf first, each with numbers per thread, and the
// memory map:
//
//	heap_v2/524288
//	  t*: 3: 4096 [0: 0]
//	  t0: 3: 4096 [0: 0] main
//	@ 0x401030 0x401200
//	  t*: 3: 4096 [0: 0]
//	  t0: 3: 4096 [0: 0]
//
//	MAPPED_LIBRARIES:
//	00400000-00500000 r-xp 00000000 08:01 42 /usr/bin/app
//
// The numbers are objects and bytes in use and, in brackets, allocated so far if jemalloc
// counts those (prof_accum). They count samples; the recording has the estimates that
// jemalloc's own jeprof computes from them.
package jemalloc

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"sync"

	"github.com/google/pprof/profile"

	"ashlar/ingest/format/codec"
	"ashlar/ingest/format/decode"
	"ashlar/ingest/format/pprof"
	"ashlar/ingest/input/safetext"
	"ashlar/ingest/input/source"
	"ashlar/ingest/model/recording"
)

// Format is jemalloc's heap profile format.
var Format = codec.Format{
	Name:       "jemalloc",
	Title:      "jemalloc heap profile",
	Plural:     "jemalloc heap profiles",
	Holds:      "stacks with objects and bytes, in total and per thread",
	Extensions: []string{".heap"},
	Sniff:      Sniff,
	Decode:     Decode,
}

// maxContent is the maximum size of a dump, which is held in memory as a whole.
const maxContent = 1 << 30

var (
	first   = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^heap_v2/(\d+)\s*\r?(\n|$)`) })
	numbers = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^\s*t(\*|\d+): *(\d+): *(\d+) *\[ *(\d+): *(\d+) *\] *(.*)$`)
	})
	address = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`0x[0-9a-fA-F]+`) })
)

// Sniff looks at the first line.
func Sniff(head []byte, _ bool) (decode.Confidence, error) {
	if first().Match(head) {
		return decode.Certain, nil
	}
	return decode.No, nil
}

// all is the name that stands for the sum of all threads.
const all = "*"

// The columns of a line, in order.
const (
	inuseObjects = iota
	inuseBytes
	allocObjects
	allocBytes
	columns
)

// row is a line of numbers.
type row struct {
	thread string
	values [columns]int64
}

type decoder struct {
	b       *recording.Builder
	line    int
	tally   *recording.Tally
	period  int64
	names   map[string]string // by thread
	totals  [columns]int64    // totals from the header
	sums    [columns]int64    // sums over the stacks
	stack   []uint64
	opened  int   // line of the current stack, 0 before the first one
	rows    []row // rows of the current stack
	p       *profile.Profile
	at      map[uint64]*profile.Location
	accum   bool
	samples []scaled
	maps    []byte // the memory map
}

// scaled holds the estimated values of a stack in one thread.
type scaled struct {
	stack  []*profile.Location
	thread string
	values [columns]int64
}

// Decode reads a dump into one event with pprof's metrics: inuse_objects, inuse_space
// and, if counted, alloc_objects and alloc_space.
func Decode(ctx context.Context, in *source.Input, b *recording.Builder, _ decode.Options) error {
	content, readErr := in.All(maxContent)
	m := first().FindSubmatch(content)
	if m == nil {
		if readErr != nil {
			return readErr
		}
		return errors.New("the text does not start with heap_v2/NUMBER, as jemalloc heap profiles do")
	}
	d := &decoder{b: b, tally: b.Tally("stack"), names: map[string]string{}, at: map[uint64]*profile.Location{}, p: &profile.Profile{}}
	var err error
	if d.period, err = strconv.ParseInt(string(m[1]), 10, 64); err != nil {
		return fmt.Errorf("the sampling interval %.40s is too large", m[1])
	}
	d.read(content)
	if len(d.samples) == 0 {
		return errors.New("the heap profile has no stacks")
	}
	d.finish()
	if err := pprof.Convert(ctx, d.p, b); err != nil {
		return err
	}
	e := b.Event(0)
	e.Note = fmt.Sprintf("sampled about once every %d bytes; the numbers are estimates of the totals, as in jeprof", d.period)
	return readErr
}

func (d *decoder) read(content []byte) {
	for len(content) > 0 {
		l, rest, _ := bytes.Cut(content, []byte("\n"))
		d.line++
		content = rest
		body := bytes.TrimSpace(l)
		switch {
		case len(body) == 0, d.line == 1:
		case bytes.Equal(body, []byte("MAPPED_LIBRARIES:")):
			d.close()
			d.opened, d.maps = 0, content
			return
		case body[0] == '@':
			d.close()
			d.addresses(body)
		default:
			d.numbers(body)
		}
	}
	d.close()
	d.b.Warn("cut", d.place(), "The heap profile is truncated at line %d: without the memory map, addresses have no binary", d.line)
}

func (d *decoder) place() string { return fmt.Sprintf("line %d", d.line) }

// addresses begins a stack.
func (d *decoder) addresses(body []byte) {
	d.opened, d.stack = d.line, nil
	for _, w := range address().FindAll(body, -1) {
		a, err := strconv.ParseUint(string(w[2:]), 16, 64)
		if err != nil {
			d.b.Warn("address", d.place(), "%.40s on line %d is not a 64-bit address and was left out", w, d.line)
			continue
		}
		d.stack = append(d.stack, a)
	}
}

// numbers reads the values of a thread in the current stack or, before the first stack, in
// the totals of the header.
func (d *decoder) numbers(body []byte) {
	m := numbers().FindSubmatch(body)
	r := row{}
	fits := m != nil
	for i := range r.values {
		if fits {
			v, err := strconv.ParseInt(string(m[2+i]), 10, 64)
			r.values[i], fits = v, err == nil
		}
	}
	if !fits {
		d.b.Warn("not-numbers", d.place(), "Line %d was left out: it is neither a stack nor the counts of a stack", d.line)
		return
	}
	r.thread = string(m[1])
	if d.opened > 0 {
		d.rows = append(d.rows, r)
		return
	}
	if r.thread == all {
		d.totals = r.values
	} else if name := string(m[6]); name != "" {
		d.names[r.thread] = name
	}
}

// close ends a stack. Its sum is scaled as in jeprof and divided among the threads (see
// share); the rest belongs to no thread.
func (d *decoder) close() {
	if d.opened == 0 {
		return
	}
	d.tally.Read++
	rest := row{}
	found := false
	for _, r := range d.rows {
		if r.thread == all {
			rest, found = r, true
		}
	}
	if !found {
		for _, r := range d.rows {
			for i := range r.values {
				recording.Add(&rest.values[i], r.values[i])
			}
		}
	}
	if len(d.rows) == 0 {
		d.tally.LeftOut++
		if d.tally.FirstLeftOut == "" {
			d.tally.FirstLeftOut = fmt.Sprintf("line %d", d.opened)
		}
		d.b.Warn("stack-empty", fmt.Sprintf("line %d", d.opened), "The stack on line %d has no numbers and was left out", d.opened)
		return
	}
	d.tally.Kept++
	d.share(d.locations(), rest)
	d.rows = d.rows[:0]
}

// share scales the values of a stack and divides them among its threads.
func (d *decoder) share(stack []*profile.Location, rest row) {
	for i := range d.sums {
		recording.Add(&d.sums[i], rest.values[i])
	}
	d.accum = d.accum || rest.values[allocObjects] != 0 || rest.values[allocBytes] != 0
	live := d.factor(rest.values[inuseObjects], rest.values[inuseBytes])
	ever := d.factor(rest.values[allocObjects], rest.values[allocBytes])
	scale := func(v [columns]int64) (out [columns]int64) {
		for i, f := range [columns]float64{live, live, ever, ever} {
			out[i] = v[i]
			if s := float64(v[i]) * f; s != float64(v[i]) {
				out[i] = int64(min(math.Round(s), math.MaxInt64/2))
			}
		}
		return out
	}
	left := scale(rest.values)
	for _, r := range d.rows {
		if r.thread == all {
			continue
		}
		s := scaled{stack: stack, thread: r.thread, values: scale(r.values)}
		for i := range left {
			recording.Add(&left[i], -s.values[i])
		}
		d.samples = append(d.samples, s)
	}
	if n := len(d.samples); left != [columns]int64{} {
		// The remainder from rounding goes to the last thread.
		over := false
		for _, v := range left {
			over = over || v > int64(len(d.rows)) || v < -int64(len(d.rows))
		}
		if len(d.rows) > 1 && !over {
			for i, v := range left {
				recording.Add(&d.samples[n-1].values[i], v)
			}
		} else {
			d.samples = append(d.samples, scaled{stack: stack, values: left})
		}
	}
}

// factor returns the number of objects that a sampled one represents: objects of size s are
// sampled with probability 1-exp(-s/period).
func (d *decoder) factor(objects, size int64) float64 {
	if objects <= 0 || size <= 0 || d.period <= 1 {
		return 1
	}
	return 1 / -math.Expm1(-float64(size)/float64(objects)/float64(d.period))
}

// locations returns the locations of the current stack. Each address is a return address;
// the call is before it.
func (d *decoder) locations() (out []*profile.Location) {
	for _, a := range d.stack {
		if a > 0 {
			a--
		}
		l := d.at[a]
		if l == nil {
			l = &profile.Location{ID: uint64(len(d.p.Location) + 1), Address: a}
			d.at[a] = l
			d.p.Location = append(d.p.Location, l)
		}
		out = append(out, l)
	}
	return out
}

// finish adds the samples of the profile to the recording.
func (d *decoder) finish() {
	if d.totals != [columns]int64{} && d.totals != d.sums {
		d.b.Warn("totals", "line 2", "The stacks add up to %s and %s in use, but the totals at the start are %d and %d",
			safetext.Plural(d.sums[inuseObjects], "object"), safetext.Plural(d.sums[inuseBytes], "byte"), d.totals[inuseObjects], d.totals[inuseBytes])
	}
	order := []int{inuseObjects, inuseBytes}
	d.p.SampleType = []*profile.ValueType{{Type: "inuse_objects", Unit: "count"}, {Type: "inuse_space", Unit: "bytes"}}
	if d.accum {
		order = []int{allocObjects, allocBytes, inuseObjects, inuseBytes}
		d.p.SampleType = append([]*profile.ValueType{{Type: "alloc_objects", Unit: "count"}, {Type: "alloc_space", Unit: "bytes"}}, d.p.SampleType...)
	}
	d.p.PeriodType, d.p.Period = &profile.ValueType{Type: "space", Unit: "bytes"}, d.period
	for _, s := range d.samples {
		out := &profile.Sample{Location: s.stack}
		for _, i := range order {
			out.Value = append(out.Value, s.values[i])
		}
		if id, err := strconv.ParseInt(s.thread, 10, 64); err == nil {
			out.NumLabel = map[string][]int64{"thread id": {id}}
			name := d.names[s.thread]
			if name == "" {
				name = "t" + s.thread
			}
			out.Label = map[string][]string{"thread": {name}}
		}
		d.p.Sample = append(d.p.Sample, out)
	}
	if err := d.p.ParseMemoryMap(bytes.NewReader(d.maps)); err != nil {
		d.b.Warn("memory-map", d.place(), "The memory map after line %d cannot be read, so addresses have no binary: %v", d.line, err)
	}
}
