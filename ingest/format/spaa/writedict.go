package spaa

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"ashlar/ingest/format/encode"
	"ashlar/ingest/format/program"
	"ashlar/ingest/model/recording"
	format "ashlar/spaa"
)

// spaaDict numbers dsos and frames. Frame ids start at 1, in the order in which stacks
// use the frames.
type spaaDict struct {
	rec    *recording.Recording
	used   []bool // by call
	ids    []int64
	frames []recording.FrameID    // by id - 1
	same   []format.FrameIdentity // identities of frames, by id - 1
	seen   map[format.FrameIdentity]bool
	dsos   map[dsoKey]int64
	order  []dsoKey

	badBuildIDs, managed int64
	scratch              []format.FrameIdentity
}

// dsoKey identifies a dso. Kernel and user frames have separate dsos, even if both are
// "[unknown]", because is_kernel applies to the whole dso.
type dsoKey struct {
	module, buildID string
	kernel, none    bool // none: it stands for no module
}

// noModule is the dso of frames whose module is unknown; each frame must have a dso.
const noModule = "[unknown]"

func (d *spaaDict) init(rec *recording.Recording) {
	*d = spaaDict{rec: rec, used: make([]bool, rec.Calls.Len()), ids: make([]int64, rec.Frames.Len()), dsos: map[dsoKey]int64{}, seen: map[format.FrameIdentity]bool{}}
}

// use numbers the frames of a stack.
func (d *spaaDict) use(call recording.CallID) {
	for c := call; c != recording.NoCall && !d.used[c]; c = d.rec.Calls.Parent(c) {
		d.used[c] = true
		f := d.rec.Calls.Frame(c)
		if d.ids[f] != 0 {
			continue
		}
		d.frames = append(d.frames, f)
		d.ids[f] = int64(len(d.frames))
		k, fr := d.dso(f), d.rec.Frames.At(int(f))
		if d.dsos[k] == 0 {
			d.order = append(d.order, k)
			d.dsos[k] = int64(len(d.order))
		}
		d.same = append(d.same, d.identity(&fr, k))
	}
}

// identity returns the parts of a frame that are hashed. An id must stand for one
// sequence of frames. So the offset is followed by data that distinguishes frames of the
// same function: the line, which is the same in each run, and the address only if the
// line is not enough.
func (d *spaaDict) identity(f *recording.Frame, k dsoKey) format.FrameIdentity {
	x := format.FrameIdentity{Func: d.rec.NameInFile(f.Func), DSO: k.module, BuildID: k.buildID, SymOff: encode.HexText(f.Offset)}
	if f.Line > 0 || f.Column > 0 || f.File != "" {
		x.SymOff += fmt.Sprintf(" %s:%d:%d", f.File, f.Line, f.Column)
	}
	if f.Inlined {
		x.SymOff += fmt.Sprintf(" inlined %d", f.InlineDepth)
	}
	if d.seen[x] {
		x.SymOff += " " + encode.HexText(f.Addr)
	}
	if d.seen[x] { // the frames differ in mapping, type or start line
		x.SymOff += fmt.Sprintf(" %d:%d:%d:%t", f.Mapping, f.Type, f.StartLine, k.none)
	}
	d.seen[x] = true
	return x
}

// path appends the frame ids of a stack, leaf first.
func (d *spaaDict) path(dst []int64, call recording.CallID) []int64 {
	for ; call != recording.NoCall; call = d.rec.Calls.Parent(call) {
		dst = append(dst, d.ids[d.rec.Calls.Frame(call)])
	}
	return dst
}

// id hashes a stack. If outer is not empty, it is one more outermost frame.
func (d *spaaDict) id(call recording.CallID, outer string) format.ID {
	fs := d.scratch[:0]
	for ; call != recording.NoCall; call = d.rec.Calls.Parent(call) {
		fs = append(fs, d.same[d.ids[d.rec.Calls.Frame(call)]-1])
	}
	if outer != "" {
		fs = append(fs, format.FrameIdentity{Func: outer})
	}
	d.scratch = fs
	return format.ContentID(fs)
}

func (d *spaaDict) dso(id recording.FrameID) dsoKey {
	f := d.rec.Frames.At(int(id))
	fn := d.rec.Functions.At(int(f.Func))
	k := dsoKey{module: fn.Module, buildID: strings.ToLower(f.BuildID)}
	if k.module == "" {
		k.module, k.none = noModule, true
	}
	if strings.Trim(k.buildID, "0123456789abcdef") != "" {
		k.buildID = ""
	}
	k.kernel = f.Kind == recording.KindKernel || program.IsKernel(k.module)
	return k
}

// dictionary writes the dsos and frames.
func (s *spaaWriter) dictionary() error {
	d := &s.dict
	for i, k := range d.order {
		err := s.out.Write(&format.DSO{ID: int64(i + 1), Name: k.module, BuildID: k.buildID, IsKernel: format.Some(k.kernel)})
		if err != nil {
			return err
		}
	}
	for _, id := range d.frames {
		f := d.rec.Frames.At(int(id))
		if err := s.out.Write(d.frame(id, &f)); err != nil {
			return err
		}
		if err := s.Tick(0); err != nil {
			return err
		}
	}
	return nil
}

func (d *spaaDict) frame(id recording.FrameID, f *recording.Frame) *format.Frame {
	fn := d.rec.Functions.At(int(f.Func))
	k := d.dso(id)
	out := &format.Frame{
		ID: d.ids[id], Func: d.rec.NameInFile(f.Func), DSO: d.dsos[k],
		IP: encode.HexText(f.Addr), SymOff: encode.HexText(f.Offset), SrcLine: sourceLine(&fn, f), Kind: f.Kind.String(),
	}
	switch {
	case k.kernel:
		out.Kind = "kernel"
	case f.Kind == recording.KindManaged:
		if out.Kind = "user"; d.rec.Source.TypeOf(f) == "" {
			d.managed++
		}
	}
	out.Extra = d.frameExtra(f, &fn)
	if f.BuildID != "" && k.buildID == "" && d.rec.Source.MappingOf(f) == nil {
		d.badBuildIDs++
	}
	if fn.Unresolved {
		out.FuncResolved = format.Some(false)
	}
	if f.Inlined {
		out.Inlined = format.Some(true)
		if f.InlineDepth > 0 {
			out.InlineDepth = format.Some(int64(f.InlineDepth))
		}
	}
	return out
}

// sourceLine formats "file:line:column", without unknown parts.
func sourceLine(fn *recording.Function, f *recording.Frame) string {
	file := encode.SourceFile(fn, f)
	if file == "" || f.Line == 0 && strings.Contains(file, ":") {
		return file
	}
	if f.Line > 0 {
		file += ":" + strconv.Itoa(int(f.Line))
		if f.Column > 0 {
			file += ":" + strconv.Itoa(int(f.Column))
		}
	}
	return file
}

func jsonString(s string) json.RawMessage {
	b, err := json.Marshal(s)
	if err != nil { // cannot happen: every string can be marshaled
		return json.RawMessage(`""`)
	}
	return b
}

// notes returns the header's extra fields: notes, mappings and the dsos that are none.
func (s *spaaWriter) notes() format.Extra {
	out := format.Extra{}
	if all := mappings(&s.Rec.Source); all != nil {
		out[mappingsKey] = all
	}
	if ids := s.dict.noModules(); ids != nil {
		out[noModuleKey] = ids
	}
	if len(s.Rec.Source.Notes) == 0 {
		return out
	}
	pairs := [][2]string{}
	for _, n := range s.Rec.Source.Notes {
		pairs = append(pairs, [2]string{n.Key, n.Value})
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if e.Encode(pairs) == nil {
		out[notesKey] = bytes.TrimSpace(b.Bytes())
	}
	return out
}
