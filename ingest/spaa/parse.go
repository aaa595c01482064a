package spaa

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"ashlar/ingest/recording"
	format "ashlar/spaa"
)

// parser turns pieces into batches. Each worker has one.
type parser struct {
	lines     format.Parser
	line      format.Line
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

// parse fills b from a piece. b.worker and b.reset are the caller's.
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
	for data := pc.data; len(data) > 0; p.at++ {
		b.lines = p.at + 1
		text := data
		ended := true
		if i := bytes.IndexByte(data, '\n'); i >= 0 {
			text, data = data[:i], data[i+1:]
		} else {
			data, ended = nil, !pc.last
		}
		if len(text) == 0 || text[0] <= ' ' && len(bytes.TrimLeft(text, " \t\r")) == 0 {
			continue
		}
		if err := p.lines.Parse(text, &p.line); err != nil {
			p.badLine(err, ended)
			continue
		}
		p.record()
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

func (p *parser) add(rec format.Kind, at int) {
	p.item(item{kind: itemRecord, rec: rec, at: uint32(at)})
}

// note keeps the detail of the first warning of a kind in the piece.
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
func (p *parser) warn(c code, name []byte) {
	at := uint32(0)
	if !p.noted[c] {
		at = p.note(c, quote(string(name)))
	}
	p.item(item{kind: itemWarning, code: c, at: at})
}

// quote is for sentences; names of any length come from files.
func quote(name string) string {
	const most = 120
	if len(name) > most {
		name = validText(name[:most]) + "…"
	}
	return strconv.Quote(name)
}

// leaveOut says that the record cannot be used and why.
func (p *parser) leaveOut(c code, detail string) {
	p.item(item{kind: itemWarning, code: c, at: p.note(c, detail)})
	p.item(item{kind: itemLeftOut, rec: p.line.Kind})
}

// record parses the line that was read.
func (p *parser) record() {
	l := &p.line
	if l.Duplicates > 0 {
		p.warn(warnDuplicateKey, nil)
	}
	if l.Kind == format.KindUnknown {
		p.warn(warnUnknownRecord, l.Type)
		p.item(item{kind: itemLeftOut})
		return
	}
	if l.Kind == format.KindHeader {
		p.header()
		return
	}
	p.extra(l.Extra)
	if missing := l.Missing(); missing != nil {
		if !p.missing(missing) {
			p.leaveOut(warnMissingKey, missingText(l.Kind, missing))
			return
		}
		p.item(item{kind: itemWarning, code: warnMissingKey, at: p.note(warnMissingKey, missingText(l.Kind, missing))})
	}
	switch l.Kind {
	case format.KindDSO:
		d := &l.DSO
		p.add(l.Kind, len(p.b.dsos))
		p.b.dsos = append(p.b.dsos, dsoRec{d.ID.V, p.dict.str(p.b, d.Name), p.dict.str(p.b, d.BuildID), d.IsKernel.V})
	case format.KindFrame:
		p.frame()
	case format.KindThread:
		t := &l.Thread
		p.add(l.Kind, len(p.b.threads))
		p.b.threads = append(p.b.threads, threadRec{t.PID.V, t.TID.V, p.dict.str(p.b, t.Comm)})
	case format.KindStack:
		p.stack()
	case format.KindSample:
		p.sample()
	case format.KindWindow:
		p.window()
	}
}

func missingText(k format.Kind, keys []string) string {
	return fmt.Sprintf("%s record has no usable %q", k, strings.Join(keys, ", "))
}

// missing reports whether a record is of use without some required keys.
func (p *parser) missing(keys []string) bool {
	for _, k := range keys {
		switch p.line.Kind {
		case format.KindDSO, format.KindFrame:
			if k == "id" {
				return false
			}
		case format.KindThread:
			return false
		case format.KindSample:
			if k == "timestamp" {
				return false
			}
		case format.KindWindow:
			if k != "by_stack" {
				return false
			}
		}
	}
	return true
}

// extra counts keys that are not the format's, and those of a wrong type.
func (p *parser) extra(fields []format.RawField) {
	for i := range fields {
		f := &fields[i]
		switch {
		case f.Mistyped:
			p.warn(warnMistypedKey, f.Key)
		case !isNull(f.Value):
			p.warn(warnUnknownKey, f.Key)
		}
	}
}

func (p *parser) header() {
	rec, err := p.line.Record()
	if err != nil {
		p.leaveOut(warnBadHeader, err.Error())
		return
	}
	p.add(format.KindHeader, len(p.b.headers))
	p.b.headers = append(p.b.headers, rec.(*format.Header))
}

func (p *parser) frame() {
	f := &p.line.Frame
	r := frameRec{
		id: f.ID.V, dso: f.DSO.V, hasDSO: f.DSO.OK, name: p.dict.str(p.b, f.Func),
		inlined: f.Inlined.V, unresolved: !f.FuncResolved.Or(true),
		depth: uint8(min(max(f.InlineDepth.V, 0), 255)),
	}
	r.addr, r.offset = p.address(f.IP), p.address(f.SymOff)
	if r.name == 0 && f.IP != nil {
		r.name, r.unresolved = p.dict.str(p.b, f.IP), true
	}
	if f.SrcLineResolved.Or(true) {
		var file []byte
		file, r.line, r.column = splitSrcLine(f.SrcLine)
		r.file = p.dict.str(p.b, file)
	}
	switch string(f.Kind) {
	case "user":
		r.kind = recording.KindUser
	case "kernel":
		r.kind = recording.KindKernel
	}
	p.add(format.KindFrame, len(p.b.frames))
	p.b.frames = append(p.b.frames, r)
}

func (p *parser) address(s []byte) uint64 {
	if s == nil {
		return 0
	}
	v, ok := parseHex(s)
	if !ok {
		p.warn(warnAddress, s)
	}
	return v
}

// number copies a number to where there is none yet. Only times need more than its
// nearest mantissa.
func (p *parser) number(to *number, n *format.RawNumber, exactText bool) {
	if !n.IsSet() {
		return
	}
	m, dec, exact := n.Decimal()
	to.mant, to.dec, to.set, to.inexact = m, uint8(dec), true, !exact
	if !exact && exactText {
		p.b.texts = append(p.b.texts, string(n.Text))
		to.text = uint32(len(p.b.texts))
	}
}

// grown appends an element that is zero, to be filled where it lies: copying what was
// only just written stalls.
func grown[T any](s *[]T) *T {
	*s = append(*s, *new(T))
	return &(*s)[len(*s)-1]
}

// weightList copies weights and returns where they are.
func (p *parser) weightList(ws []format.WeightLine) span {
	b := p.b
	from := len(b.weights)
	for i := range ws {
		w := &ws[i]
		p.extra(w.Extra)
		if w.Metric == nil || !w.Value.IsSet() {
			p.warn(warnWeight, w.Metric)
			continue
		}
		r := grown(&b.weights)
		r.metric, r.unit = p.dict.name(b, nameMetric+i&1, w.Metric), p.dict.name(b, nameUnit, w.Unit)
		p.number(&r.value, &w.Value, false)
	}
	return span{uint32(from), uint32(len(b.weights))}
}

func (p *parser) stack() {
	b, s := p.b, &p.line.Stack
	if s.HasExclusive {
		p.exclusive(s)
	}
	r := stackRec{
		id:   p.dict.ref(b, s.ID),
		leaf: p.dict.stack(b, s.Frames, p.rootFirst),
		// A stack without a context shares the one that says nothing.
		context: p.dict.context(b, &p.line.Context),
		weights: p.weightList(s.Weights),
		half:    halfOf(s.StackType),
	}
	r.related.from = uint32(len(b.related))
	for _, id := range s.Related {
		b.related = append(b.related, p.dict.ref(b, id))
	}
	r.related.to = uint32(len(b.related))
	p.add(format.KindStack, len(b.stacks))
	b.stacks = append(b.stacks, r)
}

// exclusive compares the recorded weight of the leaf with the stack's own. The
// stack's weight at its leaf counts, so a difference is only reported.
func (p *parser) exclusive(s *format.StackLine) {
	e := &s.Exclusive
	p.extra(e.Extra)
	if e.Frame.OK {
		leaf, ok := int64(0), len(s.Frames) > 0
		if ok && p.rootFirst {
			leaf = s.Frames[len(s.Frames)-1]
		} else if ok {
			leaf = s.Frames[0]
		}
		if !ok || leaf != e.Frame.V {
			p.warn(warnExclusiveFrame, nil)
		}
	}
	for i := range e.Weights {
		for k := range s.Weights {
			if bytes.Equal(e.Weights[i].Metric, s.Weights[k].Metric) {
				if !sameNumber(&e.Weights[i].Value, &s.Weights[k].Value) {
					p.warn(warnExclusiveWeight, e.Weights[i].Metric)
				}
				break
			}
		}
	}
}

func sameNumber(a, b *format.RawNumber) bool {
	if bytes.Equal(a.Text, b.Text) {
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

func (p *parser) sample() {
	b, s := p.b, &p.line.Sample
	r := grown(&b.samples)
	p.number(&r.time, &s.Timestamp, true)
	p.number(&r.period, &s.Period, false)
	r.id.word, r.id.form = p.dict.id(b, s.StackID)
	r.who.pid, r.who.tid, r.who.hasPID, r.who.hasTID = s.PID.V, s.TID.V, s.PID.OK, s.TID.OK
	r.event, r.cpu = p.dict.name(b, nameEvent, s.Event), -1
	cpu := s.CPU
	if p.line.HasContext {
		c := &p.line.Context
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
		if c.ExecName != nil || c.UID.OK || c.ZoneName != nil || c.Probe != nil || c.TraceFields != nil || len(c.Extra) > 0 {
			p.warn(warnSampleContext, nil)
		}
	}
	if cpu.OK && cpu.V >= 0 && cpu.V < 1<<15 {
		r.cpu = int32(cpu.V)
	}
	p.add(format.KindSample, len(b.samples)-1)
}

func (p *parser) window() {
	b, w := p.b, &p.line.Window
	r := windowRec{
		id:   validText(string(w.ID.Text)),
		unit: p.dict.str(b, w.Unit),
	}
	p.number(&r.start, &w.Start, true)
	p.number(&r.end, &w.End, true)
	r.rows.from = uint32(len(b.rows))
	for i := range w.ByStack {
		row := &w.ByStack[i]
		p.extra(row.Extra)
		b.rows = append(b.rows, rowRec{p.dict.ref(b, row.StackID), p.weightList(row.Weights)})
	}
	r.rows.to = uint32(len(b.rows))
	p.add(format.KindWindow, len(b.windows))
	b.windows = append(b.windows, r)
}
