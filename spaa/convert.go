package spaa

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"
)

// MissingError is the error of a record that lacks keys without which it says
// nothing.
type MissingError struct {
	Kind Kind
	Keys []string
}

func (e *MissingError) Error() string {
	return fmt.Sprintf("the %s record has no usable %q", e.Kind, strings.Join(e.Keys, ", "))
}

// needed are the keys whose absence a record struct cannot express.
var needed = [kindCount]keySet{
	KindDSO:    hasID,
	KindFrame:  hasID | hasDSO,
	KindThread: hasPID | hasTID,
	KindStack:  hasFrames | hasContext | hasWeights,
}

// Record copies the line into a record of its own, which shares no memory with
// the line. The error is a *[MissingError], or that of a header or an unknown
// record whose text cannot be read.
func (l *Line) Record() (Record, error) {
	var c copier
	return c.record(l)
}

// copier turns lines into records. The strings that repeat on every line are
// kept once.
type copier struct {
	strings map[string]string
	parser  Parser
}

const maxInterned = 1 << 14

// str copies b; short strings are shared.
func (c *copier) str(b []byte) string {
	if len(b) == 0 {
		return ""
	}
	if len(b) > 64 {
		return string(validText(b))
	}
	if s, ok := c.strings[string(b)]; ok {
		return s
	}
	s := string(validText(b))
	if c.strings == nil {
		c.strings = make(map[string]string)
	}
	if len(c.strings) < maxInterned {
		c.strings[s] = s
	}
	return s
}

// validText replaces bytes that are not UTF-8 by U+FFFD, each on its own, as
// encoding/json does.
func validText(b []byte) []byte {
	if utf8.Valid(b) {
		return b
	}
	return []byte(string([]rune(string(b))))
}

func (c *copier) id(id RawID) ID {
	id.Text = validText(id.Text)
	return id.ID()
}

// opt copies the value of a key whose empty string the struct cannot tell from
// an absent key: an empty one goes to x.
func (c *copier) opt(b []byte, key string, x *Extra) string {
	if b != nil && len(b) == 0 {
		x.set(key, []byte(`""`))
	}
	return c.str(b)
}

// set adds a field without copying the value.
func (x *Extra) set(key string, value []byte) {
	if *x == nil {
		*x = make(Extra)
	}
	(*x)[key] = value
}

func (c *copier) extra(fields []RawField) Extra {
	var x Extra
	for _, f := range fields {
		x.set(c.str(f.Key), compactValue(f.Value))
	}
	return x
}

func compactValue(src []byte) json.RawMessage { return validText(appendCompact(nil, src)) }

// appendCompact appends checked JSON without the white space between tokens.
func appendCompact(dst, src []byte) []byte {
	inString := false
	for i := 0; i < len(src); i++ {
		b := src[i]
		switch {
		case inString && b == '\\':
			dst = append(dst, b)
			i++
			b = src[i]
		case b == '"':
			inString = !inString
		case !inString && (b == ' ' || b == '\t' || b == '\n' || b == '\r'):
			continue
		}
		dst = append(dst, b)
	}
	return dst
}

func (c *copier) record(l *Line) (Record, error) {
	if lacking := needed[l.Kind] &^ l.has; lacking != 0 {
		return nil, &MissingError{l.Kind, l.Missing()}
	}
	switch l.Kind {
	case KindHeader:
		return c.header(l.text)
	case KindDSO:
		return c.dso(l)
	case KindFrame:
		return c.frame(l)
	case KindThread:
		t := &l.Thread
		x := c.extra(l.Extra)
		return &Thread{PID: t.PID.V, TID: t.TID.V, Comm: c.opt(t.Comm, "comm", &x), Extra: x}, nil
	case KindStack:
		return c.stack(l), nil
	case KindSample:
		return c.sample(l), nil
	case KindWindow:
		return c.window(l), nil
	}
	return c.unknown(l)
}

func (c *copier) dso(l *Line) (Record, error) {
	d := &l.DSO
	if !d.ID.OK {
		return nil, &MissingError{KindDSO, []string{"id"}}
	}
	x := c.extra(l.Extra)
	return &DSO{
		ID: d.ID.V, Name: c.str(d.Name), BuildID: c.opt(d.BuildID, "build_id", &x),
		IsKernel: d.IsKernel, Extra: x,
	}, nil
}

func (c *copier) frame(l *Line) (Record, error) {
	f := &l.Frame
	if !f.ID.OK {
		return nil, &MissingError{KindFrame, []string{"id"}}
	}
	x := c.extra(l.Extra)
	return &Frame{
		ID: f.ID.V, Func: c.str(f.Func), FuncResolved: f.FuncResolved, DSO: f.DSO.V,
		IP: c.opt(f.IP, "ip", &x), SymOff: c.opt(f.SymOff, "symoff", &x),
		SrcLine: c.opt(f.SrcLine, "srcline", &x), SrcLineResolved: f.SrcLineResolved,
		Inlined: f.Inlined, InlineDepth: f.InlineDepth, Kind: c.opt(f.Kind, "kind", &x), Extra: x,
	}, nil
}

func (c *copier) stack(l *Line) *Stack {
	s := &l.Stack
	x := c.extra(l.Extra)
	out := &Stack{
		ID: c.id(s.ID), Frames: append([]int64{}, s.Frames...),
		StackType: c.opt(s.StackType, "stack_type", &x),
		Context:   c.context(&l.Context), Weights: c.weights(s.Weights),
	}
	if s.HasExclusive {
		if e := &s.Exclusive; e.Frame.OK {
			out.Exclusive = &Exclusive{Frame: e.Frame.V, Weights: c.weights(e.Weights), Extra: c.extra(e.Extra)}
		} else {
			c.keep(l, "exclusive", &x)
		}
	}
	if l.has&hasRelated != 0 {
		out.RelatedStacks = make([]ID, len(s.Related))
		for i, id := range s.Related {
			out.RelatedStacks[i] = c.id(id)
		}
	}
	out.Extra = x
	return out
}

// keep puts the text of one of the line's keys into x.
func (c *copier) keep(l *Line, key string, x *Extra) {
	p := &c.parser
	p.b = l.text
	p.eachKey(p.start(), func(k []byte, v int) int {
		end := p.skip(v, 1)
		if string(k) == key {
			x.set(key, compactValue(p.b[v:end]))
		}
		return end
	})
}

func (c *copier) weights(ws []WeightLine) []Weight {
	out := make([]Weight, len(ws))
	for i := range ws {
		w := &ws[i]
		x := c.extra(w.Extra)
		out[i] = Weight{Metric: c.str(w.Metric), Value: w.Value.Number(), Unit: c.opt(w.Unit, "unit", &x), Extra: x}
	}
	return out
}

func (c *copier) context(l *ContextLine) Context {
	x := c.extra(l.Extra)
	out := Context{
		Event: c.opt(l.Event, "event", &x), PID: l.PID, TID: l.TID, CPU: l.CPU,
		Comm: c.opt(l.Comm, "comm", &x), ExecName: c.opt(l.ExecName, "execname", &x),
		UID: l.UID, ZoneName: c.opt(l.ZoneName, "zonename", &x),
	}
	if l.Probe != nil {
		probe, err := ParseProbe(l.Probe)
		if err == nil {
			out.Probe = &probe
		}
	}
	if l.TraceFields != nil {
		out.TraceFields = compactValue(l.TraceFields)
	}
	out.Extra = x
	return out
}

// ParseProbe reads the JSON object of a context's probe key.
func ParseProbe(text []byte) (Probe, error) {
	var probe Probe
	var fields []RawField
	var provider, module, function, name []byte
	p := Parser{b: text}
	end := p.fields(p.start(), 1, &fields, func(key []byte, v int) (uint64, int) {
		switch string(key) {
		case "provider":
			return 1, p.text(v, &provider)
		case "module":
			return 2, p.text(v, &module)
		case "function":
			return 4, p.text(v, &function)
		case "name":
			return 8, p.text(v, &name)
		}
		return 0, mismatch
	})
	if end == mismatch {
		return probe, ErrNotObject
	}
	if end < 0 {
		return probe, p.err
	}
	var c copier
	probe.Provider, probe.Module = c.str(provider), c.str(module)
	probe.Function, probe.Name = c.str(function), c.str(name)
	probe.Extra = c.extra(fields)
	return probe, nil
}

func (c *copier) sample(l *Line) *Sample {
	s := &l.Sample
	x := c.extra(l.Extra)
	out := &Sample{
		Timestamp: s.Timestamp.Number(), PID: s.PID, TID: s.TID, CPU: s.CPU,
		Event: c.opt(s.Event, "event", &x), Period: s.Period.Number(), StackID: c.id(s.StackID), Extra: x,
	}
	if l.HasContext {
		ctx := c.context(&l.Context)
		out.Context = &ctx
	}
	return out
}

func (c *copier) window(l *Line) *Window {
	w := &l.Window
	x := c.extra(l.Extra)
	out := &Window{
		ID: c.id(w.ID), Start: w.Start.Number(), End: w.End.Number(),
		Unit: c.opt(w.Unit, "unit", &x), Extra: x,
		ByStack: make([]StackWeights, len(w.ByStack)),
	}
	for i := range w.ByStack {
		b := &w.ByStack[i]
		out.ByStack[i] = StackWeights{StackID: c.id(b.StackID), Weights: c.weights(b.Weights), Extra: c.extra(b.Extra)}
	}
	return out
}

func (c *copier) unknown(l *Line) (Record, error) {
	u := &Unknown{Type: c.str(l.Type)}
	p := &c.parser
	p.b, p.side = l.text, p.side[:0]
	end := p.eachKey(p.start(), func(key []byte, v int) int {
		end := p.skip(v, 1)
		if end >= 0 && string(key) != "type" {
			u.Fields.set(c.str(key), compactValue(p.b[v:end]))
		}
		return end
	})
	if end < 0 {
		return nil, p.err
	}
	return u, nil
}
