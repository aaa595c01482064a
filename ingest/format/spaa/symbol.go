package spaa

import (
	"encoding/json"
	"slices"
	"strconv"

	"ashlar/ingest/format/encode"
	"ashlar/ingest/model/recording"
	format "ashlar/spaa"
)

// Profile data for which SPAA has no key is in Ashlar's own keys of the header, its
// events and frames. The specification allows such keys.
const (
	mappingsKey = "x_ashlar_mappings" // key of the header
	noModuleKey = "x_ashlar_none"     // key of the header: ids of the dsos that stand for no module
	metricsKey  = "x_ashlar_metrics"  // key of an event: its metrics in order, as pairs of name and unit
	periodKey   = "x_ashlar_period"   // key of an event's sampling
	frameKey    = "x_ashlar_frame"    // key of a frame
	addedKey    = "x_ashlar_added"    // key of a context: its keys that the recording's labels do not have
)

// ownKeys are the header keys that are not kept as notes.
var ownKeys = map[string]bool{notesKey: true, mappingsKey: true, noModuleKey: true}

// frameMore is the value of a frame's frameKey.
type frameMore struct {
	Mapping   uint16 `json:"mapping,omitempty"` // 1 + an index in the header's list
	Type      string `json:"type,omitempty"`    // "jvm"
	Symbol    string `json:"symbol,omitempty"`  // the linker's name of the function
	StartLine int32  `json:"start_line,omitempty"`
	Folded    bool   `json:"folded,omitempty"` // several functions share the address
	Line      int32  `json:"line,omitempty"`   // Line and Column are those of a frame without a file
	Column    int32  `json:"column,omitempty"`
}

// periodMore is the value of periodKey: an event's period as pprof and OTLP state it.
type periodMore struct {
	Type  string `json:"type,omitempty"` // "cpu"
	Unit  string `json:"unit,omitempty"` // "nanoseconds"
	Value int64  `json:"value"`
}

// mappingMore is one of the header's mappings; addresses are in hexadecimal digits.
type mappingMore struct {
	Start           string `json:"start,omitempty"`
	Limit           string `json:"limit,omitempty"`
	Offset          string `json:"offset,omitempty"`
	File            string `json:"file,omitempty"`
	BuildID         string `json:"build_id,omitempty"`
	HasFunctions    bool   `json:"has_functions,omitempty"`
	HasFilenames    bool   `json:"has_filenames,omitempty"`
	HasLineNumbers  bool   `json:"has_line_numbers,omitempty"`
	HasInlineFrames bool   `json:"has_inline_frames,omitempty"`
}

// frameExtra returns the data of a frame for frameKey, nil if there is none.
func (d *spaaDict) frameExtra(f *recording.Frame, fn *recording.Function) format.Extra {
	x := frameMore{Type: d.rec.Source.TypeOf(f), StartLine: f.StartLine, Folded: f.Folded}
	if d.rec.Source.MappingOf(f) != nil {
		x.Mapping = f.Mapping
	}
	if !fn.Demangled || d.rec.NameInFile(f.Func) == fn.Name {
		x.Symbol = fn.Symbol
	}
	if encode.SourceFile(fn, f) == "" {
		x.Line, x.Column = f.Line, f.Column
	}
	if x == (frameMore{}) {
		return nil
	}
	return format.Extra{frameKey: jsonOf(x)}
}

// mappings returns the header's value for mappingsKey, nil if there are no mappings.
func mappings(src *recording.Source) json.RawMessage {
	var all []mappingMore
	for _, m := range src.Mappings {
		all = append(all, mappingMore{
			encode.HexText(m.Start), encode.HexText(m.Limit), encode.HexText(m.Offset), m.File, m.BuildID,
			m.HasFunctions, m.HasFilenames, m.HasLineNumbers, m.HasInlineFrames,
		})
	}
	if all == nil {
		return nil
	}
	return jsonOf(all)
}

// metricList returns an event's value for metricsKey, nil if the order of metrics is
// clear without it.
func (s *spaaWriter) metricList(e *recording.Event, names []string) format.Extra {
	if len(names) < 2 {
		return nil
	}
	pairs := make([][2]string, len(names))
	for i := range names {
		pairs[i] = [2]string{names[i], spaaUnit(&e.Metrics[i])}
	}
	return format.Extra{metricsKey: jsonOf(pairs)}
}

// periodOf returns an event's value for periodKey, nil if its format did not state what the
// period counts.
func periodOf(e *recording.Event) format.Extra {
	if e.PeriodType == "" && e.PeriodUnit == "" {
		return nil
	}
	return format.Extra{periodKey: jsonOf(periodMore{e.PeriodType, e.PeriodUnit, e.Period})}
}

// readPeriod sets an event's period from periodKey.
func readPeriod(ev *recording.Event, s *format.Sampling) {
	var x periodMore
	if text := s.Extra[periodKey]; text != nil && json.Unmarshal(text, &x) == nil {
		ev.PeriodType, ev.PeriodUnit, ev.Period = validText(x.Type), validText(x.Unit), x.Value
	}
}

// readMappings adds the header's mappings to the recording.
func (m *merger) readMappings(h *format.Header) {
	var all []mappingMore
	if text := h.Extra[mappingsKey]; text == nil || json.Unmarshal(text, &all) != nil {
		return
	}
	for _, x := range all {
		m.mappings = append(m.mappings, m.b.Mapping(recording.Mapping{
			Start: address(x.Start), Limit: address(x.Limit), Offset: address(x.Offset), File: x.File, BuildID: x.BuildID,
			HasFunctions: x.HasFunctions, HasFilenames: x.HasFilenames, HasLineNumbers: x.HasLineNumbers, HasInlineFrames: x.HasInlineFrames,
		}))
	}
}

// readMetrics adds an event's metrics in their order.
func (m *merger) readMetrics(at int32, e *format.Event, line int64) {
	var pairs [][2]string
	if text := e.Extra[metricsKey]; text == nil || json.Unmarshal(text, &pairs) != nil {
		return
	}
	for _, p := range pairs {
		m.metric(at, m.names.id(validText(p[0])), m.names.id(validText(p[1])), line)
	}
}

// markAdded lists in a context the keys that SPAA's threads need, if labels name the thread in
// another way.
func markAdded(c *format.Context, attrs recording.Context) {
	if !slices.ContainsFunc(attrs, func(a recording.Attr) bool { return encode.NamesThread(a.Key) }) {
		return
	}
	var added []string
	for key, has := range map[string]bool{"pid": c.PID.OK, "tid": c.TID.OK, "comm": c.Comm != ""} {
		if has && !slices.ContainsFunc(attrs, func(a recording.Attr) bool { return a.Key == key }) {
			added = append(added, key)
		}
	}
	if added == nil {
		return
	}
	slices.Sort(added)
	if c.Extra == nil {
		c.Extra = format.Extra{}
	}
	c.Extra[addedKey] = jsonOf(added)
}

// withoutAdded removes the attributes that addedKey lists, and itself.
func withoutAdded(attrs []recording.Attr) []recording.Attr {
	i := slices.IndexFunc(attrs, func(a recording.Attr) bool { return a.Key == addedKey })
	var added []string
	if i < 0 || json.Unmarshal([]byte(attrs[i].Value), &added) != nil {
		return attrs
	}
	return slices.DeleteFunc(attrs, func(a recording.Attr) bool { return a.Key == addedKey || slices.Contains(added, a.Key) })
}

// noModules returns the header's value for noModuleKey, nil if all dsos are modules.
func (d *spaaDict) noModules() json.RawMessage {
	var ids []int
	for i, k := range d.order {
		if k.none {
			ids = append(ids, i+1)
		}
	}
	if ids == nil {
		return nil
	}
	return jsonOf(ids)
}

// readNoModules notes the dsos that stand for no module.
func (m *merger) readNoModules(h *format.Header) {
	var ids []int64
	if text := h.Extra[noModuleKey]; text == nil || json.Unmarshal(text, &ids) != nil {
		return
	}
	m.noModules = map[int64]bool{}
	for _, id := range ids {
		m.noModules[id] = true
	}
}

// more parses a frame's frameKey.
func (p *parser) more() *frameMore {
	for i := range p.lines.Problems {
		if pr := &p.lines.Problems[i]; pr.Key == frameKey && pr.Kind == format.UnknownKey {
			x := new(frameMore)
			if json.Unmarshal([]byte(pr.Value), x) == nil {
				return x
			}
		}
	}
	return nil
}

// tell copies x to a frame.
func (m *merger) tell(x *frameMore, f *recording.Frame) {
	if x == nil {
		return
	}
	f.StartLine, f.Folded, f.Type = max(0, x.StartLine), x.Folded, m.b.FrameType(validText(x.Type))
	if f.Line == 0 && f.Column == 0 {
		f.Line, f.Column = max(0, x.Line), max(0, x.Column)
	}
	if n := int(x.Mapping); n > 0 && n <= len(m.mappings) {
		f.Mapping = m.mappings[n-1]
	}
}

func address(s string) uint64 {
	v, _ := strconv.ParseUint(s, 0, 64) // 0 if unknown
	return v
}

func jsonOf(x any) json.RawMessage {
	b, err := json.Marshal(x)
	if err != nil { // cannot happen: x has only strings, numbers and booleans
		return nil
	}
	return b
}
