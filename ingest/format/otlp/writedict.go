package otlp

import (
	"encoding/hex"
	"math"
	"path"
	"strings"

	"google.golang.org/protobuf/encoding/protowire"

	"ashlar/ingest/format/encode"
	"ashlar/ingest/model/recording"
)

// Helpers to write protobuf. Fields with the zero value are omitted, as usual in
// protobuf.

func pbNumber(b []byte, n protowire.Number, v int64) []byte {
	if v == 0 {
		return b
	}
	return protowire.AppendVarint(protowire.AppendTag(b, n, protowire.VarintType), uint64(v))
}

func pbText(b []byte, n protowire.Number, s string) []byte {
	if s == "" {
		return b
	}
	return protowire.AppendString(protowire.AppendTag(b, n, protowire.BytesType), s)
}

// pbBytes writes a message or bytes, even if empty.
func pbBytes(b []byte, n protowire.Number, v []byte) []byte {
	return protowire.AppendBytes(protowire.AppendTag(b, n, protowire.BytesType), v)
}

func pbFixed(b []byte, n protowire.Number, v uint64) []byte {
	if v == 0 {
		return b
	}
	return protowire.AppendFixed64(protowire.AppendTag(b, n, protowire.Fixed64Type), v)
}

func pbPacked(b []byte, n protowire.Number, vs []int32) []byte {
	if len(vs) == 0 {
		return b
	}
	var p []byte
	for _, v := range vs {
		p = protowire.AppendVarint(p, uint64(v))
	}
	return pbBytes(b, n, p)
}

// anyText and anyInt return AnyValues.
func anyText(s string) []byte {
	return protowire.AppendString(protowire.AppendTag(nil, 1, protowire.BytesType), s)
}

func anyInt(v int64) []byte {
	return protowire.AppendVarint(protowire.AppendTag(nil, 3, protowire.VarintType), uint64(v))
}

func anyTrue() []byte {
	return protowire.AppendVarint(protowire.AppendTag(nil, 2, protowire.VarintType), 1)
}

// otlpTable is a table of the dictionary: distinct messages, the first one empty.
type otlpTable struct {
	index map[string]int32
	rows  [][]byte
}

func newOTLPTable() otlpTable {
	return otlpTable{map[string]int32{"": 0}, [][]byte{nil}}
}

// id returns the number of a message, and adds it if it is new.
func (t *otlpTable) id(msg []byte) int32 {
	i, ok := t.index[string(msg)]
	if !ok {
		i = int32(len(t.rows))
		t.rows = append(t.rows, append([]byte(nil), msg...))
		t.index[string(msg)] = i
	}
	return i
}

// add appends a message as a new row, even if there is an equal one.
func (t *otlpTable) add(msg []byte) { t.rows = append(t.rows, append([]byte(nil), msg...)) }

// otlpDict is the dictionary of a file. Its tables are in the order of the field numbers
// of ProfilesDictionary in proto 1.10.
type otlpDict struct {
	rec       *recording.Recording
	locs      *encode.Locations
	mappings  otlpTable
	locations otlpTable
	functions otlpTable
	links     otlpTable
	strings   otlpTable
	attrs     otlpTable
	stacks    otlpTable
	// managedType is the frame type of managed code, if the source format determines it.
	managedType string
}

func newOTLPDict(rec *recording.Recording) *otlpDict {
	d := &otlpDict{
		rec: rec, locs: encode.NewLocations(rec),
		mappings: newOTLPTable(), locations: newOTLPTable(), functions: newOTLPTable(), links: newOTLPTable(),
		strings: newOTLPTable(), attrs: newOTLPTable(), stacks: newOTLPTable(),
	}
	switch rec.Source.Format {
	case "chrome", "cpuprofile":
		d.managedType = "v8js"
	}
	return d
}

func (d *otlpDict) str(s string) int32 { return d.strings.id([]byte(s)) }

// attr returns the number of an attribute with an AnyValue.
func (d *otlpDict) attr(key string, value []byte) int32 {
	return d.attrs.id(pbBytes(pbNumber(nil, 1, int64(d.str(key))), 2, value))
}

func (d *otlpDict) valueType(typ, unit string) []byte {
	return pbNumber(pbNumber(nil, 1, int64(d.str(typ))), 2, int64(d.str(unit)))
}

// stack returns the number of a call's stack.
func (d *otlpDict) stack(call recording.CallID) int32 {
	if call == recording.NoCall {
		return 0
	}
	ids := d.locs.Stack(call)
	at := make([]int32, len(ids))
	for i, n := range ids {
		for len(d.locations.rows) <= n {
			d.locations.add(d.location(d.locs.All[len(d.locations.rows)-1]))
		}
		at[i] = int32(n)
	}
	return d.stacks.id(pbPacked(nil, 1, at))
}

func (d *otlpDict) location(loc encode.Location) []byte {
	outer := d.rec.Frames.At(int(loc[len(loc)-1]))
	b := pbNumber(nil, 1, int64(d.mapping(d.locs.Mapping(loc))))
	b = pbNumber(b, 2, int64(outer.Addr))
	if !d.locs.Bare(loc) {
		for _, id := range loc {
			f := d.rec.Frames.At(int(id))
			fn := d.rec.Functions.At(int(f.Func))
			line := pbNumber(nil, 1, int64(d.function(&fn, encode.SourceFile(&fn, &f), f.StartLine)))
			b = pbBytes(b, 3, pbNumber(pbNumber(line, 2, int64(f.Line)), 3, int64(f.Column)))
		}
	}
	var attrs []int32
	if typ := d.frameType(&outer); typ != "" {
		attrs = append(attrs, d.attr(frameTypeKey, anyText(typ)))
	}
	if outer.Folded {
		attrs = append(attrs, d.attr(foldedKey, anyTrue()))
	}
	return pbPacked(b, 4, attrs)
}

// frameType returns OpenTelemetry's frame type of a frame, as far as the recording knows
// it for certain; "" if the binary already implies it.
func (d *otlpDict) frameType(f *recording.Frame) string {
	if typ := d.rec.Source.TypeOf(f); typ != "" {
		return typ
	}
	module := d.rec.Functions.At(int(f.Func)).Module
	switch f.Kind {
	case recording.KindKernel:
		return "kernel"
	case recording.KindManaged:
		if isFrameType(module) {
			return module
		}
		return d.managedType
	case recording.KindUser:
		if module == "" {
			return "native"
		}
	}
	return ""
}

// isFrameType reports whether a module is a frame type of OpenTelemetry, which stands in
// for a missing module.
func isFrameType(module string) bool {
	switch module {
	case "beam", "cpython", "dotnet", "jvm", "perl", "php", "ruby", "v8js":
		return true
	}
	return false
}

func (d *otlpDict) function(fn *recording.Function, file string, start int32) int32 {
	name := int64(d.str(fn.Name))
	symbol := name
	if fn.Symbol != "" {
		symbol = int64(d.str(fn.Symbol))
	}
	return d.functions.id(pbNumber(pbNumber(pbNumber(pbNumber(nil, 1, name), 2, symbol), 3, int64(d.str(file))), 4, int64(start)))
}

func (d *otlpDict) mapping(k encode.MappingKey) int32 {
	m := recording.Mapping{File: k.File, BuildID: k.BuildID}
	switch {
	case k.Listed > 0:
		m = d.rec.Source.Mappings[k.Listed-1]
	case k.File == "" || isFrameType(k.File):
		return 0
	case k.Placed:
		m.Start, m.Limit = k.Start, math.MaxUint64 // the end is unknown
	}
	b := pbNumber(pbNumber(pbNumber(nil, 1, int64(m.Start)), 2, int64(m.Limit)), 3, int64(m.Offset))
	b = pbNumber(b, 4, int64(d.str(m.File)))
	var attrs []int32
	if m.BuildID != "" {
		key, id := "process.executable.build_id.gnu", m.BuildID
		if strings.Trim(m.BuildID, "0123456789abcdef") != "" || path.Base(m.File) == m.BuildID {
			key = "process.executable.build_id.go"
		}
		if hash, ok := strings.CutPrefix(id, recording.HTLHash); ok {
			key, id = htlhashKey, hash
		}
		attrs = append(attrs, d.attr(key, anyText(id)))
	}
	for key, has := range hasOf(&m) {
		if *has {
			attrs = append(attrs, d.attr(key, anyTrue()))
		}
	}
	return d.mappings.id(pbPacked(b, 5, attrs))
}

// link returns the number of a link to a span of a distributed trace, 0 if an id is
// invalid.
func (d *otlpDict) link(trace, span string) int32 {
	t, err1 := hex.DecodeString(trace)
	s, err2 := hex.DecodeString(span)
	if err1 != nil || err2 != nil || len(t) != 16 || len(s) != 8 {
		return 0
	}
	return d.links.id(pbBytes(pbBytes(nil, 1, t), 2, s))
}

// append appends the dictionary's fields.
func (d *otlpDict) append(b []byte) []byte {
	for n, t := range []*otlpTable{&d.mappings, &d.locations, &d.functions, &d.links, &d.strings, &d.attrs, &d.stacks} {
		for _, row := range t.rows {
			b = pbBytes(b, protowire.Number(n+1), row)
		}
	}
	return b
}

// Attributes of profiles for data that only pprof has, with the names of OpenTelemetry's
// conventions.
const (
	otlpComment = "pprof.profile.comment"
	otlpDoc     = "pprof.profile.doc_url"
	otlpDrop    = "pprof.profile.drop_frames"
	otlpKeep    = "pprof.profile.keep_frames"
)

// notes returns a profile's attributes for the recording's notes. Notes that are resource
// attributes are not repeated.
func (w *otlpWriter) notes() (attrs []int32) {
	var comments []byte
	for _, n := range w.Rec.Source.Notes {
		switch n.Key {
		case recording.NoteComment:
			comments = pbBytes(comments, 1, anyText(n.Value))
		case recording.NoteDoc:
			attrs = append(attrs, w.dict.attr(otlpDoc, anyText(n.Value)))
		case recording.NoteDrop:
			attrs = append(attrs, w.dict.attr(otlpDrop, anyText(n.Value)))
		case recording.NoteKeep:
			attrs = append(attrs, w.dict.attr(otlpKeep, anyText(n.Value)))
		case recording.NoteDuration, recording.NoteHost:
		default:
			if known := n.Key == recording.NoteTime && encode.IsUnix(n.Value); !known && !w.isCommon(n) {
				comments = pbBytes(comments, 1, anyText(n.Key+": "+n.Value))
			}
		}
	}
	if comments != nil { // an ArrayValue
		attrs = append(attrs, w.dict.attr(otlpComment, protowire.AppendBytes(protowire.AppendTag(nil, 5, protowire.BytesType), comments)))
	}
	return attrs
}

// isCommon reports whether a note is already an attribute of a resource.
func (w *otlpWriter) isCommon(n recording.Note) bool {
	for _, r := range w.resources {
		for _, a := range r.common {
			if a.Key == n.Key && a.Value == n.Value {
				return true
			}
		}
	}
	return false
}
