// Package assembly lists the instructions of a recorded function with their costs: it
// finds the binary that was recorded, decodes its code, and matches the addresses of the
// samples with the instructions.
package assembly

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sort"
	"strings"
	"time"

	"ashlar/app/core/missing"
	"ashlar/ingest/format/program"
	"ashlar/ingest/format/program/disasm"
	"ashlar/ingest/model/order"
	"ashlar/ingest/model/recording"
	"ashlar/ingest/query/analyze"
)

// Options say where binaries are and how instructions are written.
type Options struct {
	Syntax disasm.Syntax
	// Beside is the folder of the recording, in which binaries are also looked for; "" for none.
	// Exe is the binary to use instead of the recorded one, "" for none.
	Beside, Exe string
	// Recorded is when the recording was written, zero if unknown.
	Recorded time.Time
	// Download returns the path of the file of a kind with a build id, which it may take from a
	// server: see [fetch.Debuginfod.Get]. nil uses only files on this machine.
	Download func(ctx context.Context, id, kind string) (path string, err error)
	// WithoutLines leaves out source lines, which take longer than the rest.
	WithoutLines bool
}

// Listing is the code of a function.
type Listing struct {
	Binary  string // path of the binary
	BuildID string // of the binary, in hexadecimal, "" if it has none
	Machine string // the processor
	// Verified reports whether Binary has the recorded id, whose kind is IDKind: build id,
	// htlhash, time stamp and size, or modification time. If not, Doubt says why.
	Verified bool
	Doubt    string
	IDKind   string
	// Skid says that costs may belong to an earlier instruction; "" if they do not.
	Skid string
	// Parts are the pieces of code that hold the function, by address; Insts their
	// instructions. If the function was inlined, parts are its callers.
	Parts []Part
	Insts []Inst
	// Self and Count sum up the instructions. Most is the largest Self of one.
	Self, Count, Most int64
	// Without is the cost of the function's samples that lie outside the parts.
	Without int64
	// PartsLeft counts parts that were left out because there are too many.
	PartsLeft int
}

// Part is a function of the binary, or a piece of one.
type Part struct {
	Name        string // as people read it, "" without a symbol
	Low, High   uint64
	First, Last int // the range of its instructions in Insts
	Self        int64
}

// Inst is an instruction and its cost.
type Inst struct {
	disasm.Inst
	Part int
	// File and Line are the source position, "" and 0 if unknown; Inlined are the names
	// of functions inlined there, the innermost first.
	File    string
	Line    int
	Inlined []string
	analyze.AddressCost
}

// Offset returns the offset of instruction i in its part.
func (l *Listing) Offset(i int) uint64 { return l.Insts[i].Addr - l.Parts[l.Insts[i].Part].Low }

// Limits, because code may be inlined into any number of functions.
const (
	mostParts = 64
	mostBytes = 16 << 20
)

// Of lists the code of a function of the recording, with the costs of w. The error is a
// sentence for the user.
func Of(ctx context.Context, rec *recording.Recording, w *analyze.Weights, function recording.FuncID, o Options) (*Listing, error) {
	own, m := framesOf(rec, function)
	if len(own) == 0 {
		return nil, errors.New(missing.Reason(missing.Addresses, rec))
	}
	b, err := open(ctx, m, &o)
	if err != nil {
		return nil, err
	}
	defer b.close()
	frames := framesIn(rec, m)
	r := newResolver(rec, b, frames)
	l := &Listing{Binary: b.path, BuildID: fmt.Sprintf("%x", b.code.BuildID), Machine: disasm.Machine(b.code.Machine()), Verified: b.verified, Doubt: b.doubt, IDKind: b.kind}
	if err := l.decode(r, own, o.Syntax); err != nil {
		return nil, err
	}
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	l.weigh(rec, w, r, frames)
	if !o.WithoutLines {
		l.lines(b)
	}
	return l, ctx.Err()
}

// framesOf returns the frames of a function that have an address, and the binary of most
// of them.
func framesOf(rec *recording.Recording, function recording.FuncID) (own []recording.FrameID, m module) {
	count := map[module]int{}
	for i := range rec.Frames.Len() {
		if f := rec.Frames.Ref(i); f.Func == function && f.Addr != 0 {
			own = append(own, recording.FrameID(i))
			count[moduleOf(rec, f)]++
		}
	}
	for x, n := range count {
		if n > count[m] || n == count[m] && (x.file < m.file || x.file == m.file && x.id < m.id) {
			m = x
		}
	}
	own = slices.DeleteFunc(own, func(id recording.FrameID) bool { return moduleOf(rec, rec.Frames.Ref(int(id))) != m })
	return own, m
}

// framesIn returns the frames of a binary that have an address.
func framesIn(rec *recording.Recording, m module) (all []recording.FrameID) {
	for i := range rec.Frames.Len() {
		if f := rec.Frames.Ref(i); f.Addr != 0 && moduleOf(rec, f) == m {
			all = append(all, recording.FrameID(i))
		}
	}
	return all
}

// decode finds the parts that hold frames of the function and decodes them.
func (l *Listing) decode(r *resolver, own []recording.FrameID, syntax disasm.Syntax) error {
	d, err := disasm.New(r.b.code.Machine(), r.b.code.Order(), syntax, r.symbolAt)
	if err != nil {
		return err
	}
	parts := r.parts(own)
	if len(parts) == 0 {
		return errors.New("the function's addresses are not in " + r.b.path + ": is it the recorded binary?")
	}
	if len(parts) > mostParts {
		l.PartsLeft = len(parts) - mostParts
		parts = parts[:mostParts]
	}
	order.By(parts, func(a, b program.Function) int { return cmp.Compare(a.Low, b.Low) })
	bytes := 0
	for _, p := range parts {
		code, err := r.b.code.Code(p)
		if err != nil {
			return fmt.Errorf("%s: %w", r.b.path, err)
		}
		if bytes += len(code); bytes > mostBytes {
			return fmt.Errorf("the code is larger than %d MB", mostBytes>>20)
		}
		first := len(l.Insts)
		for _, in := range d.Decode(code, p.Low) {
			l.Insts = append(l.Insts, Inst{Inst: in, Part: len(l.Parts)})
		}
		l.Parts = append(l.Parts, Part{Name: readable(p.Name), Low: p.Low, High: p.Low + uint64(len(code)), First: first, Last: len(l.Insts)})
	}
	return nil
}

// parts returns the pieces of code that hold frames, those with the most frames first.
func (r *resolver) parts(own []recording.FrameID) []program.Function {
	count := map[program.Function]int{}
	for _, id := range own {
		f := r.rec.Frames.Ref(int(id))
		at, ok := r.at(f)
		if !ok {
			continue
		}
		if in, ok := r.function(at); ok {
			count[in]++
		}
	}
	var all []program.Function
	for p := range count {
		all = append(all, p)
	}
	order.By(all, func(a, b program.Function) int {
		return cmp.Or(cmp.Compare(count[b], count[a]), cmp.Compare(a.Low, b.Low))
	})
	return all
}

// symbolAt returns the symbol at an address, for targets of calls and jumps.
func (r *resolver) symbolAt(at uint64) (name string, start uint64) {
	in, ok := r.b.symbols.FunctionAt(at)
	if !ok || in.Name == "" {
		return "", 0
	}
	return readable(in.Name), in.Low
}

// find returns the instruction that contains an address, -1 for none.
func (l *Listing) find(at uint64) int32 {
	i := sort.Search(len(l.Insts), func(i int) bool { return l.Insts[i].Addr > at }) - 1
	if i < 0 || at-l.Insts[i].Addr >= uint64(l.Insts[i].Size) {
		return -1
	}
	return int32(i)
}

// returns lists the formats whose callers' addresses are return addresses: the
// instruction after the call.
var returns = []string{"perf-data", "perf-script", "spaa", "bpftrace", "bcc", "dtrace"}

// weigh adds the costs of instructions.
func (l *Listing) weigh(rec *recording.Recording, w *analyze.Weights, r *resolver, frames []recording.FrameID) {
	n := rec.Frames.Len()
	code := analyze.Code{Ends: make([]int32, n), Calls: make([]int32, n), Instructions: len(l.Insts)}
	for i := range n {
		code.Ends[i], code.Calls[i] = -1, -1
	}
	var back uint64
	if slices.Contains(returns, rec.Source.Format) {
		back = 1
	}
	for _, id := range frames {
		if at, ok := r.at(rec.Frames.Ref(int(id))); ok {
			code.Ends[id], code.Calls[id] = l.find(at), l.find(at-back)
		}
	}
	for i, c := range analyze.AddressesOf(rec, w, code) {
		in := &l.Insts[i]
		in.AddressCost = c
		recording.Add(&l.Self, c.Self)
		l.Count += c.Count
		recording.Add(&l.Parts[in.Part].Self, c.Self)
		l.Most = max(l.Most, c.Self)
	}
}

// lines adds the source positions.
func (l *Listing) lines(b *binary) {
	p := b.lines
	p.ReadLines()
	p.FindUnits()
	for i := range l.Insts {
		in := &l.Insts[i]
		places := p.Places(in.Addr)
		for k, place := range places {
			if k == 0 {
				in.File, in.Line = place.File, place.Line
			}
			if place.Name != "" {
				in.Inlined = append(in.Inlined, readable(place.Name))
			}
		}
	}
}

// Name returns the name of a part, or its address if it has no symbol.
func (p *Part) Title() string {
	if p.Name != "" {
		return p.Name
	}
	return fmt.Sprintf("%#x", p.Low)
}

// Skid returns a sentence about the precision of the samples of an event, "" if they are
// precise.
func Skid(rec *recording.Recording, event string) string {
	base, modifier, _ := strings.Cut(event, ":")
	switch {
	case rec.Source.Format == "pprof" || base == "cpu-clock" || base == "task-clock":
		return "Samples come from a timer: a cost may belong to an instruction before the one shown."
	case strings.Contains(modifier, "pp") || strings.HasPrefix(base, "ibs_"):
		return ""
	case strings.HasPrefix(rec.Source.Format, "perf"):
		return "Samples are not precise: a cost may belong to an instruction before the one shown. Record with perf record -e cycles:pp."
	}
	return "A cost may belong to an instruction before the one shown."
}

// Ranked returns the indices of the instructions, the heaviest first. Instructions without
// a cost follow, by their distance from one with a cost.
func (l *Listing) Ranked() []int {
	n := len(l.Insts)
	far := make([]int, n)
	near := n
	for i := range n {
		if near++; l.Insts[i].Self > 0 {
			near = 0
		}
		far[i] = near
	}
	near = n
	for i := n - 1; i >= 0; i-- {
		if near++; l.Insts[i].Self > 0 {
			near = 0
		}
		far[i] = min(far[i], near)
	}
	lines := make([]int, n)
	for i := range lines {
		lines[i] = i
	}
	order.By(lines, func(a, b int) int {
		return cmp.Or(cmp.Compare(l.Insts[b].Self, l.Insts[a].Self), cmp.Compare(far[a], far[b]))
	})
	return lines
}
