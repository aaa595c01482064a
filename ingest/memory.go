package ingest

import (
	"context"
	"fmt"
	"runtime/debug"
	"runtime/metrics"
	"time"

	"ashlar/ingest/recording"
	"ashlar/ingest/source"
)

// A recording that is larger than memory must not take the machine down with
// it. So while one is read, what it takes is held against what is free: soon
// after the beginning, to say so where it will not fit, and then all the time,
// to stop before the memory is gone.

// guard watches the memory of one load. It belongs to the decoding goroutine.
type guard struct {
	b    *recording.Builder
	in   *source.Input
	stop context.CancelCauseFunc

	// limit is how many bytes this load may take, base what the program held
	// before; 0 stands for what the system has.
	limit, base int64

	part              bool // only a part is kept: what is read tells little of what will be held
	next, collected   time.Time
	foretold, stopped bool
}

// How often memory is looked at, how often it may be tidied up to see what is
// really used, and how much of the system's is left alone.
const (
	guardEvery  = 2 * time.Millisecond
	tidyEvery   = 300 * time.Millisecond
	guardMargin = 128 << 20
)

// guardLeast is what a recording may always take: where it holds less, memory is
// short for another reason, such as the recording that was shown before and is
// about to be given up.
const guardLeast = 32 << 20

// An estimate from less of the file than this would be a guess.
const (
	judgeBytes = 1 << 20
	judgeShare = 100 // a hundredth of the file
)

// warnMemory is the code of the warning that a recording will not fit.
const warnMemory = "memory"

// fullError is why a load was stopped.
type fullError struct{ text string }

func (e *fullError) Error() string { return e.text }

func newGuard(b *recording.Builder, in *source.Input, o *Options, stop context.CancelCauseFunc) *guard {
	return &guard{b: b, in: in, limit: o.MemoryLimit, part: o.Part.IsSet(), base: inUse(), stop: stop}
}

// look is called whenever decoding has come a little further.
func (g *guard) look() {
	now := time.Now()
	if g.stopped || now.Before(g.next) {
		return
	}
	g.next = now.Add(guardEvery)
	free, known := g.free()
	if !known {
		g.stopped = true // there is no telling: nothing to do
		return
	}
	g.judge(free)
	held, owed := g.b.Size()
	if free > owed {
		return
	}
	// What is free may be taken by garbage.
	if now.Sub(g.collected) < tidyEvery && g.limit == 0 {
		return
	}
	debug.FreeOSMemory()
	g.collected = time.Now()
	if free, _ = g.free(); free > owed || g.limit == 0 && held+owed < guardLeast {
		return
	}
	g.stopped = true
	g.stop(&fullError{fmt.Sprintf("%s, and the %s of it that were read take %s of memory, which is as much as there is; they are shown, the rest is not%s",
		g.size(), g.share(), gigabytes(held+owed), g.way())})
}

// judge estimates whether the whole recording fits, and warns once it seems not
// to. What has been read runs ahead of what has been recorded, so that the first
// estimates are low.
func (g *guard) judge(free int64) {
	read, total := g.in.Consumed(), g.in.Bytes
	if g.foretold || g.part || free <= 0 || total <= 0 || read < judgeBytes || read < total/judgeShare {
		return
	}
	held, owed := g.b.Size()
	need := float64(held+owed) / float64(read) * float64(total)
	if left := need - float64(held); left > float64(free) {
		g.foretold = true
		fits := min(99, 100*(max(0, float64(free))+float64(held))/need)
		g.b.Warn(warnMemory, "", "%s and will need about %s of memory, of which %s are free: reading will stop after about %.0f %% of it",
			g.size(), gigabytes(int64(need)), gigabytes(free), fits)
	}
}

// done takes a warning back that did not come true.
func (g *guard) done() {
	if g.foretold && !g.stopped {
		g.b.Retract(warnMemory)
	}
}

// way says how to open another part.
func (g *guard) way() string {
	start, end, timed := g.b.Extent()
	if !timed {
		return ""
	}
	at := recording.Decimal{Mantissa: (end - start) / 1e9 * 1e9, Scale: 12} // to the millisecond
	return fmt.Sprintf(". To open another part, start with --range START..END (what was read reaches to %ss) or --thread NAME, or choose Open a part of this file", at)
}

func (g *guard) size() string {
	if g.in.Bytes < 0 {
		return "the recording is larger than memory"
	}
	return "the file has " + gigabytes(g.in.Bytes)
}

func (g *guard) share() string {
	if g.in.Bytes <= 0 {
		return gigabytes(g.in.Consumed())
	}
	return fmt.Sprintf("%.0f %%", 100*float64(g.in.Consumed())/float64(g.in.Bytes))
}

// free is how many more bytes may be taken.
func (g *guard) free() (n int64, known bool) {
	if g.limit > 0 {
		return g.limit - (inUse() - g.base), true
	}
	n, known = available()
	n -= guardMargin
	if most := debug.SetMemoryLimit(-1); most < 1<<62 { // GOMEMLIMIT
		left := most - inUse() - most/16
		if !known || left < n {
			n, known = left, true
		}
	}
	return n, known
}

// inUse is what this program holds in memory of its own, garbage included.
func inUse() int64 {
	s := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(s)
	if s[0].Value.Kind() != metrics.KindUint64 {
		return 0
	}
	return int64(s[0].Value.Uint64())
}

func gigabytes(n int64) string {
	switch {
	case n >= 1e9:
		return fmt.Sprintf("%.1f GB", float64(n)/1e9)
	case n >= 1e6:
		return fmt.Sprintf("%.0f MB", float64(n)/1e6)
	}
	return fmt.Sprintf("%.0f kB", float64(max(0, n))/1e3)
}
