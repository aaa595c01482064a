package ingest

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime/debug"
	"sync/atomic"
	"time"

	"ashlar/ingest/format/store"
	"ashlar/ingest/input/memory"
	"ashlar/ingest/input/source"
	"ashlar/ingest/model/recording"
)

// Loading a recording larger than memory must not bring the machine down. So a load
// compares its memory with the free memory: early on, to warn if the recording will not
// fit, and then all the time, to stop before memory runs out.

// guard watches the memory of one load. It belongs to the decoding goroutine.
type guard struct {
	b    *recording.Builder
	in   *source.Input
	stop context.CancelCauseFunc

	// limit is the number of bytes this load may take, 0 for all that the system has free;
	// base is the memory in use before the load.
	limit, base int64
	held, owed  atomic.Int64 // see Builder.Size; at the last check

	sized, stride int64 // the builder's size at the last check, and its growth until the next

	part     bool // only a part is kept, so the bytes read do not predict the memory needed
	watcher  memory.Watcher
	next     time.Time
	foretold bool
	stopped  bool
	scratch  string       // see Options.Scratch; "" once it is used
	spillNow atomic.Bool  // set by the watcher to request a spill
	canSpill atomic.Bool  // scratch is unused
	inFile   atomic.Int64 // bytes of columns in the file
}

// Intervals between checks of the builder's size and, because that takes longer, of the
// system's memory.
const (
	guardEvery  = 2 * time.Millisecond
	systemEvery = 25 * time.Millisecond
)

// guardStride is the growth between two checks when little memory is left.
const guardStride = 8 << 20

// guardLeast is the memory that a recording may always take. If it holds less, memory is
// short for another reason, such as the previous recording, which is about to be
// released.
const guardLeast = 32 << 20

// The amount to read before estimating the total, in bytes and as a fraction of the file:
// an estimate from less would be a guess.
const (
	judgeBytes = 1 << 20
	judgeShare = 100 // one hundredth
)

// warnMemory is the code of the warning that a recording will not fit.
const warnMemory = "memory"

// errFull is the cause of a load stopped for lack of memory; see guard.full.
var errFull = errors.New("out of memory")

func newGuard(b *recording.Builder, in *source.Input, o *Options, stop context.CancelCauseFunc) *guard {
	g := &guard{b: b, in: in, limit: o.MemoryLimit, part: o.Part.IsSet(), scratch: o.Scratch, base: memory.InUse(), stop: stop}
	g.canSpill.Store(o.Scratch != "")
	return g
}

// watch starts to watch memory, and ends reading when memory runs short, whatever is
// under way. The function it returns stops watching.
func (g *guard) watch() (unwatch func()) {
	w := &g.watcher
	w.Halt, w.Short = g.b.Halt, func() { g.stop(errFull) }
	w.Relieve = func() bool {
		ask := g.canSpill.Load()
		g.spillNow.Store(ask)
		return ask
	}
	w.Owed = func() int64 {
		if max(g.held.Load()-g.inFile.Load(), memory.InUse()-g.base) < guardLeast {
			return math.MinInt64 / 2
		}
		return g.owed.Load()
	}
	w.Start()
	return w.Stop
}

// roomy is the amount of memory above which a few MB of copies do not matter.
const roomy = 1 << 30

// scarce reports whether to save memory even at the cost of time.
func scarce(o *Options) bool {
	room, known := memory.Room()
	return o.MemoryLimit > 0 && o.MemoryLimit < roomy || known && room < roomy
}

// look checks memory. It is called as decoding proceeds.
func (g *guard) look() {
	g.watcher.Wait()
	now := time.Now()
	if g.spillNow.Load() {
		g.spill()
	}
	held, owed := g.b.Size()
	grown := held + owed - g.sized
	if g.stopped || now.Before(g.next) && grown < g.stride {
		return
	}
	if g.next = now.Add(guardEvery); g.limit == 0 {
		g.next = now.Add(systemEvery)
	}
	g.held.Store(held)
	g.owed.Store(owed)
	if g.limit == 0 && grown >= g.stride {
		g.sized, g.stride = held+owed, max(guardStride, g.watcher.Look()/8)
	}
	free, known := g.free()
	if !known {
		return
	}
	if g.larger(free) {
		g.spill()
		free, _ = g.free()
	}
	g.judge(free)
	if g.limit == 0 || free > owed {
		return
	}
	debug.FreeOSMemory() // garbage may hold memory that could be free
	if free, _ = g.free(); free <= owed {
		g.stopped = true
		g.stop(errFull)
	}
}

// larger reports whether new columns should go to a file: the data read so far takes half
// of the memory there was, or the whole recording is estimated to take too much. The rest
// of memory is for data without columns and for the pages of the file in use.
func (g *guard) larger(free int64) bool {
	if g.scratch == "" {
		return false
	}
	held, owed := g.b.Size()
	if held+owed > max(free, 0) {
		return true
	}
	read, total := g.in.Consumed(), g.in.Bytes
	if g.part || total <= 0 || read < judgeBytes || read < total/judgeShare {
		return false
	}
	return float64(held+owed)/float64(read)*float64(total-read) > float64(free)*2/3
}

// spill moves new columns to a file. If that fails, or once the disk is full, reading
// goes on as far as memory allows.
func (g *guard) spill() {
	g.spillNow.Store(false)
	if g.scratch == "" {
		return
	}
	arena, err := store.NewArena(g.scratch)
	g.scratch = ""
	g.canSpill.Store(false)
	if err == nil {
		g.b.Shelf().Extend(func(n int) []byte {
			b := arena.Take(n)
			g.inFile.Add(int64(len(b)))
			return b
		})
		g.watcher.Closer()
		g.foretold = true // no need to warn that it does not fit
	}
}

// full returns an error with the amount read before memory was full.
func (g *guard) full() error {
	if !g.b.Shows() {
		return memory.Shortage("%s; not enough memory to show any of it", g.size())
	}
	held, owed := g.b.Size()
	return memory.Shortage("%s; the first %s fill all available memory (%s), the rest was not read%s",
		g.size(), g.share(), memory.Text(max(held+owed-g.inFile.Load(), memory.InUse()-g.base)), g.way())
}

// judge estimates whether the whole recording fits, and warns if not. The input read runs
// ahead of the data recorded, so the first estimates are low.
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
		g.b.Usual(warnMemory, "", "%s and needs about %s of memory, but only %s is free; reading will stop after about %.0f %%",
			g.size(), memory.Text(int64(need)), memory.Text(free), fits)
	}
}

// done retracts the warning if it did not come true.
func (g *guard) done(full bool) {
	if !full {
		g.b.Retract(warnMemory)
	}
}

// way describes how to open another part.
func (g *guard) way() string {
	start, end, timed := g.b.Extent()
	if !timed {
		return ""
	}
	at := recording.Decimal{Mantissa: (end - start) / 1e9 * 1e9, Scale: 12} // to the millisecond
	return fmt.Sprintf(". To open another part, use --range START..END (read up to %ss), --thread NAME, or Open a part of this file", at)
}

func (g *guard) size() string {
	if g.in.Bytes < 0 {
		return "the recording is larger than memory"
	}
	return "the file has " + memory.Text(g.in.Bytes)
}

func (g *guard) share() string {
	if g.in.Bytes <= 0 {
		return memory.Text(g.in.Consumed())
	}
	// Compressed input may have been read completely before all of it was decoded.
	return fmt.Sprintf("%.0f %%", min(99, 100*float64(g.in.Consumed())/float64(g.in.Bytes)))
}

// free returns how many more bytes the load may take.
func (g *guard) free() (n int64, known bool) {
	if g.limit > 0 {
		return g.limit - (memory.InUse() - g.base), true
	}
	return memory.Room()
}
