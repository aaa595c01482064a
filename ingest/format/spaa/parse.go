package spaa

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unsafe"

	"ashlar/ingest/model/recording"
	format "ashlar/spaa"
)

// parser turns pieces into batches. Each worker has one.
type parser struct {
	lines     format.Parser
	dict      *dict
	rootFirst bool

	b     *batch
	at    uint32 // number of the line in the piece, from 0
	noted [codeCount]bool
}

// Places in dict.names.
const (
	nameEvent = iota
	nameMetric
	nameMetric2
	nameUnit
)

// parse fills b from a piece. The caller sets b.worker; parse sets b.reset.
func (p *parser) parse(pc piece, b *batch) {
	if p.dict == nil || p.dict.full() {
		b.reset = p.dict != nil
		p.dict = newDict()
	}
	p.b, p.at, p.noted = b, 0, [codeCount]bool{}
	if pc.long {
		b.lines = 1
		p.bad(warnLongLine, fmt.Sprintf("has more than %d bytes", maxLine))
		return
	}
	// The text must not be changed or kept: the batch holds copies.
	for text, more := unsafe.String(unsafe.SliceData(pc.data), len(pc.data)), len(pc.data) > 0; more; p.at++ {
		var line string
		line, text, more = strings.Cut(text, "\n")
		ended := more || !pc.last
		more = text != ""
		b.lines = p.at + 1
		if len(line) == 0 || line[0] <= ' ' && strings.TrimLeft(line, " \t\r") == "" {
			continue
		}
		if rec, err := p.lines.Parse(line); err != nil {
			p.badLine(err, ended)
		} else {
			p.record(rec)
		}
	}
}

func (p *parser) badLine(err error, ended bool) {
	var syntax *format.SyntaxError
	if !ended && errors.As(err, &syntax) && syntax.AtEnd {
		p.bad(warnCutLine, "")
		return
	}
	detail := ""
	if !p.noted[warnBadLine] {
		detail = err.Error()
	}
	p.bad(warnBadLine, detail)
}

// item appends an item for the current line.
func (p *parser) item(it item) {
	it.line = p.at
	p.b.items = append(p.b.items, it)
}

func (p *parser) add(at int) {
	p.item(item{kind: itemRecord, rec: p.lines.Kind(), at: uint32(at)})
}

// note keeps a detail, for the first warning of each kind in the piece.
func (p *parser) note(c code, detail string) uint32 {
	if p.noted[c] {
		return 0
	}
	p.noted[c] = true
	p.b.notes = append(p.b.notes, detail)
	return uint32(len(p.b.notes))
}

func (p *parser) bad(c code, detail string) {
	p.item(item{kind: itemBad, code: c, at: p.note(c, detail)})
}

// warn notes a warning about a name in the file, which is quoted.
func (p *parser) warn(c code, name string) {
	at := uint32(0)
	if !p.noted[c] {
		at = p.note(c, quote(name))
	}
	p.item(item{kind: itemWarning, code: c, at: at})
}

// quote quotes a name for messages, shortened because names in files can have any length.
func quote(name string) string {
	const most = 120
	if len(name) > most {
		name = validText(name[:most]) + "…"
	}
	return strconv.Quote(name)
}

// leaveOut marks the record as unusable and gives the reason.
func (p *parser) leaveOut(c code, detail string) {
	p.item(item{kind: itemWarning, code: c, at: p.note(c, detail)})
	p.item(item{kind: itemLeftOut, rec: p.lines.Kind()})
}

// record adds the record of a line to the batch.
func (p *parser) record(rec format.Record) {
	if p.lines.Duplicates > 0 {
		p.warn(warnDuplicateKey, "")
	}
	if len(p.lines.Problems) > 0 {
		p.problems()
	}
	if missing := p.lines.Missing(); missing != nil && p.lines.Kind() != format.KindHeader {
		detail := fmt.Sprintf("%s record has no usable %q", p.lines.Kind(), strings.Join(missing, ", "))
		if !p.useful(missing) {
			p.leaveOut(warnMissingKey, detail)
			return
		}
		p.item(item{kind: itemWarning, code: warnMissingKey, at: p.note(warnMissingKey, detail)})
	}
	b, d := p.b, p.dict
	switch r := rec.(type) {
	case *format.Sample:
		p.sample(r)
	case *format.Stack:
		p.stack(r)
	case *format.Frame:
		p.frame(r)
	case *format.DSO:
		p.add(len(b.dsos))
		b.dsos = append(b.dsos, dsoRec{r.ID, d.present(b, r.Name, !p.lines.Lacks("name")), d.str(b, r.BuildID), r.IsKernel.V})
	case *format.Thread:
		p.add(len(b.threads))
		b.threads = append(b.threads, threadRec{r.PID, r.TID, d.str(b, r.Comm)})
	case *format.Window:
		p.window(r)
	case *format.Header:
		if err := r.OtherFormat(); err != nil {
			p.leaveOut(warnBadHeader, err.Error())
			return
		}
		p.add(len(b.headers))
		b.headers = append(b.headers, r)
	default:
		p.warn(warnUnknownRecord, rec.RecordType())
		p.item(item{kind: itemLeftOut})
	}
}

// useful reports whether a record can be used without the given required keys.
func (p *parser) useful(missing []string) bool {
	for _, key := range missing {
		switch p.lines.Kind() {
		case format.KindDSO, format.KindFrame:
			if key == "id" {
				return false
			}
		case format.KindThread:
			return false
		case format.KindSample:
			if key == "timestamp" {
				return false
			}
		case format.KindWindow:
			if key != "by_stack" {
				return false
			}
		}
	}
	return true
}

// problems warns of unknown keys and of keys with a wrong type. Contexts are shown with
// such keys; the merger handles those of headers.
func (p *parser) problems() {
	if p.lines.Kind() == format.KindHeader {
		return
	}
	for _, pr := range p.lines.Problems {
		switch {
		case pr.Object == "context" || pr.Object == "probe" || pr.Kind == format.LackingKey:
		case pr.Kind == format.MistypedKey:
			p.warn(warnMistypedKey, pr.Key)
		case !isNull(pr.Value) && pr.Key != frameKey:
			p.warn(warnUnknownKey, pr.Key)
		}
	}
}

func (p *parser) frame(f *format.Frame) {
	r := frameRec{
		id: f.ID, dso: f.DSO, hasDSO: !p.lines.Lacks("dso"), name: p.dict.present(p.b, f.Func, !p.lines.Lacks("func")),
		inlined: f.Inlined.V, unresolved: !f.FuncResolved.Or(true),
		depth: uint8(min(max(f.InlineDepth.V, 0), 255)),
	}
	r.addr, r.offset = p.address(f.IP), p.address(f.SymOff)
	if r.name == 0 && f.IP != "" {
		r.name, r.unresolved = p.dict.str(p.b, f.IP), true
	}
	if f.SrcLineResolved.Or(true) {
		var file string
		file, r.line, r.column = splitSrcLine(f.SrcLine)
		r.file = p.dict.str(p.b, file)
	}
	switch f.Kind {
	case "user":
		r.kind = recording.KindUser
	case "kernel":
		r.kind = recording.KindKernel
	case "unknown":
	default:
		p.warn(warnFrameKind, f.Kind)
	}
	if len(p.lines.Problems) > 0 {
		r.more = p.more()
	}
	p.add(len(p.b.frames))
	p.b.frames = append(p.b.frames, r)
}

func (p *parser) address(s string) uint64 {
	if s == "" {
		return 0
	}
	v, ok := parseHex(s)
	if !ok {
		p.warn(warnAddress, s)
	}
	return v
}

// number stores a number in to, which must be zero. With exactText it also stores the
// literal of an inexact number; only times need it.
func (p *parser) number(to *number, n format.Number, exactText bool) {
	if n.IsZero() {
		return
	}
	m, dec, exact := n.Decimal()
	to.mant, to.dec, to.set, to.inexact = m, uint8(dec), true, !exact
	if !exact && exactText {
		p.b.texts = append(p.b.texts, strings.Clone(string(n)))
		to.text = uint32(len(p.b.texts))
	}
}

// grown appends a zero element and returns a pointer to it. Filling it in place avoids a
// copy of data just written, which stalls the CPU.
func grown[T any](s *[]T) *T {
	*s = append(*s, *new(T))
	return &(*s)[len(*s)-1]
}

// weightList copies weights and returns their range.
func (p *parser) weightList(ws []format.Weight) span {
	b := p.b
	from := len(b.weights)
	for i := range ws {
		w := &ws[i]
		if w.Metric == "" || w.Value.IsZero() {
			p.warn(warnWeight, w.Metric)
			continue
		}
		r := grown(&b.weights)
		r.metric, r.unit = p.dict.name(b, nameMetric+i&1, w.Metric), p.dict.name(b, nameUnit, w.Unit)
		p.number(&r.value, w.Value, false)
	}
	return span{uint32(from), uint32(len(b.weights))}
}

func (p *parser) stack(s *format.Stack) {
	b := p.b
	if s.Exclusive != nil {
		p.exclusive(s)
	}
	r := stackRec{
		id:      p.dict.ref(b, s.ID),
		leaf:    p.dict.stack(b, s.Frames, p.rootFirst),
		context: p.dict.context(b, s.Context),
		weights: p.weightList(s.Weights),
		half:    halfOf(s.StackType),
	}
	r.related.from = uint32(len(b.related))
	for _, id := range s.RelatedStacks {
		b.related = append(b.related, p.dict.ref(b, id))
	}
	r.related.to = uint32(len(b.related))
	p.add(len(b.stacks))
	b.stacks = append(b.stacks, r)
}

// exclusive compares the leaf's recorded weight with the stack's own. The stack's weight
// is used, so a difference is only reported.
func (p *parser) exclusive(s *format.Stack) {
	e := s.Exclusive
	order, other := format.LeafToRoot, format.RootToLeaf
	if p.rootFirst {
		order, other = other, order
	}
	if leaf, ok := s.Leaf(order); (!ok || leaf != e.Frame) && !p.lines.LacksIn("exclusive", "frame") {
		if root, ok := s.Leaf(other); ok && root == e.Frame {
			p.warn(warnWrongEnd, "")
		} else {
			p.warn(warnExclusiveFrame, "")
		}
	}
	for i := range e.Weights {
		w := &e.Weights[i]
		for k := range s.Weights {
			if s.Weights[k].Metric != w.Metric {
				continue
			}
			if !sameNumber(s.Weights[k].Value, w.Value) {
				p.warn(warnExclusiveWeight, w.Metric)
			}
			break
		}
	}
}

func sameNumber(a, b format.Number) bool {
	if a == b {
		return true
	}
	am, ad, aok := a.Decimal()
	bm, bd, bok := b.Decimal()
	for ; ad > bd && am%10 == 0; ad-- {
		am /= 10
	}
	for ; bd > ad && bm%10 == 0; bd-- {
		bm /= 10
	}
	return aok && bok && am == bm && ad == bd
}

func (p *parser) sample(s *format.Sample) {
	b := p.b
	r := grown(&b.samples)
	p.number(&r.time, s.Timestamp, true)
	p.number(&r.period, s.Period, false)
	r.id.word, r.id.form = p.dict.id(b, s.StackID)
	r.who.pid, r.who.tid, r.who.hasPID, r.who.hasTID = s.PID.V, s.TID.V, s.PID.OK, s.TID.OK
	r.event, r.cpu = p.dict.name(b, nameEvent, s.Event), -1
	cpu := s.CPU
	if c := s.Context; c != nil {
		r.who.comm = p.dict.str(b, c.Comm)
		if !r.who.hasPID {
			r.who.pid, r.who.hasPID = c.PID.V, c.PID.OK
		}
		if !r.who.hasTID {
			r.who.tid, r.who.hasTID = c.TID.V, c.TID.OK
		}
		if r.event == 0 {
			r.event = p.dict.name(b, nameEvent, c.Event)
		}
		if !cpu.OK {
			cpu = c.CPU
		}
		if c.ExecName != "" || c.UID.OK || c.ZoneName != "" || c.Probe != nil || c.TraceFields != nil || c.Extra != nil {
			p.warn(warnSampleContext, "")
		}
	}
	if cpu.OK && cpu.V >= 0 && cpu.V < 1<<15 {
		r.cpu = int32(cpu.V)
	}
	p.add(len(b.samples) - 1)
}

func (p *parser) window(w *format.Window) {
	b := p.b
	r := windowRec{
		id:   validText(strings.Clone(w.ID.String())),
		unit: p.dict.str(b, w.Unit),
	}
	p.number(&r.start, w.Start, true)
	p.number(&r.end, w.End, true)
	r.rows.from = uint32(len(b.rows))
	for i := range w.ByStack {
		row := &w.ByStack[i]
		b.rows = append(b.rows, rowRec{p.dict.ref(b, row.StackID), p.weightList(row.Weights)})
	}
	r.rows.to = uint32(len(b.rows))
	p.add(len(b.windows))
	b.windows = append(b.windows, r)
}
