package perfdata

import (
	"bytes"
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"ashlar/ingest/format/program"
	"ashlar/ingest/model/funcname"
	"ashlar/ingest/model/recording"
)

// unknown is perf's name for unknown functions and binaries.
const unknown = "[unknown]"

// A frameKey identifies the frames of an address in a binary, or in none. If the address
// is a return address (called), the frame gets the line of the call.
type frameKey struct {
	at             uint64
	binary         uint32 // number of the binary, 0 for none
	kernel, called bool
	stray          bool // stands for all addresses outside known code
}

// frames are the frames of an address: of the function it is in, and of the functions
// inlined there, innermost first.
type frames struct {
	inlined []recording.FrameID
	frame   recording.FrameID
	// stray is set if no known code is at the address: the number of its binary plus 1,
	// or 1 for none.
	stray uint32
}

// recentFrames caches the frames of an address in a version (plus 1) of maps, because
// programs execute the same few addresses again and again.
type recentFrames struct {
	ip, version    uint64
	kernel, called bool
	frames
}

// recentBits determines the size of this cache, 1<<recentBits entries: as many as fit in
// a processor's cache.
const recentBits = 16

// push adds the frames of an address to the stack; the address is in the kernel or in a
// process's maps. called means that it is a return address.
func (d *decoder) push(ip uint64, in *maps, kernel, called bool) {
	if kernel {
		in = d.kernel
	}
	const spread = 0x9e3779b97f4a7c15
	version := in.version + 1
	f := &d.recent[(ip^version<<32)*spread>>(64-recentBits)]
	if f.ip != ip || f.version != version || f.kernel != kernel || f.called != called {
		m := in.at(ip)
		if called && (m == nil || m.data) {
			d.pushStray(m, kernel)
			return
		}
		*f = recentFrames{ip, version, kernel, called, d.find(ip, m, kernel, called)}
	}
	d.addresses, d.stray = d.addresses+1, f.stray
	d.stack = append(append(d.stack, f.inlined...), f.frame)
}

// pushStray adds a frame for a return address outside known code. All such addresses in a binary,
// or in none, share one frame, and several in a row are merged. They mostly are data that perf
// took for a stack, so each would be a different number.
func (d *decoder) pushStray(m *mapping, kernel bool) {
	key := frameKey{kernel: kernel, called: true, stray: true}
	if m != nil {
		key.binary = m.number
	}
	d.addresses++
	d.strays++
	if d.stray == key.binary+1 {
		return
	}
	f, ok := d.frames[key]
	if !ok {
		f = d.newFrames(0, m, key)
		d.frames[key] = f
	}
	d.stray = f.stray
	d.stack = append(d.stack, f.frame)
}

// find looks up the frames of an address that is not in the cache recent. m is its
// mapping, nil if unknown.
func (d *decoder) find(ip uint64, m *mapping, kernel, called bool) frames {
	key := frameKey{at: ip, kernel: kernel, called: called}
	if m != nil {
		key.binary, key.at = m.number, ip-m.start+m.offset
		if kernel {
			key.at = ip - m.start
		}
	}
	f, ok := d.frames[key]
	if !ok {
		f = d.newFrames(ip, m, key)
		d.frames[key] = f
	}
	return f
}

// newFrames adds the frames of an address in m, which is nil if unknown.
func (d *decoder) newFrames(ip uint64, m *mapping, key frameKey) (fs frames) {
	fr := recording.Frame{Addr: key.at, Kind: recording.KindUnknown}
	fn := recording.Function{Module: unknown}
	if m == nil || m.data {
		fs.stray = key.binary + 1
	}
	if key.kernel {
		fr.Addr, fr.Kind = ip, recording.KindKernel
	} else if m != nil {
		fr.Kind = recording.KindUser
	}
	if m != nil {
		fn.Module, fr.BuildID = m.name, fmt.Sprintf("%x", bytes.TrimRight(d.idOf(m), "\x00"))
	}
	var places []program.Place
	var behind uint64 // offset in the function
	switch {
	case m == nil || key.stray:
		fn.Name, fn.Unresolved = unknown, true
	case key.kernel:
		if name, start, ok := d.kernelSymbols().Lookup(ip, m.name); ok {
			fn.Name, fr.Offset = name, ip-start
		}
	default:
		p := d.binary(m)
		if p == nil && strings.HasPrefix(m.name, "//") { // memory without a mapped file
			fn.Name, fn.Unresolved = unknown, true
		} else if p != nil {
			if fn.Name, behind, places = lookUp(p, m, key); fn.Name != "" {
				fr.Offset = behind
			}
		}
	}
	if fn.Name == "" {
		fn.Name, fn.Unresolved = funcname.OfAddress(m.name, fr.Addr, key.at-behind), true
	}
	fn.Kind = fr.Kind
	for i := len(places) - 1; i >= 0; i-- {
		p := &places[i]
		if i == len(places)-1 {
			fn.File, fr.File, fr.Line = p.File, p.File, int32(p.Line)
			continue
		}
		in := fr
		in.Func = d.b.Function(recording.Function{Name: cmp.Or(p.Name, funcname.Unknown), Module: m.name, File: p.File, Kind: fr.Kind})
		in.Offset, in.File, in.Line = 0, p.File, int32(p.Line)
		in.Inlined, in.InlineDepth = true, uint8(min(len(places)-1-i, math.MaxUint8))
		fs.inlined = append(fs.inlined, d.b.Frame(in))
	}
	slices.Reverse(fs.inlined)
	fr.Func = d.b.Function(fn)
	fs.frame = d.b.Frame(fr)
	return fs
}

// lookUp returns the function of an address in its program, the offset from the
// function's start, and the source positions. Without a symbol, the function has no name, but
// its start may be known.
func lookUp(p *program.Program, m *mapping, key frameKey) (name string, offset uint64, places []program.Place) {
	at, ok := p.AddressIn(key.at, m.offset)
	if !ok {
		return "", 0, nil
	}
	name, start, ok := p.Lookup(at)
	if !ok {
		if start, ok = p.Begin(at); ok {
			return "", at - start, nil
		}
		return "", 0, nil
	}
	offset = at - start
	if key.called && offset > 0 {
		at-- // back into the call
	}
	return name, offset, p.Places(at)
}
