package theme

import (
	"hash/fnv"
	"image/color"
	"strings"

	"ashlar/ingest/analyze"
	"ashlar/ingest/recording"
)

// Mode says what the colour of a bar tells.
type Mode string

const (
	// ByFunction: the hue from the family (package, namespace, module), a
	// little shift from the function. One function has one colour in every
	// view, run and file.
	ByFunction Mode = "function"
	// ByModule: one colour a module.
	ByModule Mode = "module"
	// ByKind: user, kernel, managed, inlined.
	ByKind Mode = "kind"
)

// Modes lists the modes in the order they are offered.
var Modes = []Mode{ByFunction, ByModule, ByKind}

// Bar is the colour of a function's bars.
func (t *Theme) Bar(f *recording.Function, m Mode) color.NRGBA {
	l, c := t.barL, t.barC
	if f.Kind == recording.KindKernel {
		c *= .35
	}
	switch m {
	case ByKind:
		hue := map[recording.Kind]float64{recording.KindUser: 250, recording.KindKernel: 60, recording.KindManaged: 150, recording.KindUnknown: 300}[f.Kind]
		return OKLCH(l, t.barC, hue)
	case ByModule:
		return OKLCH(l, c, spread(analyze.ModuleBase(f.Module)))
	}
	if f.Unresolved {
		c *= .35
	}
	h := hash(f.Name)
	hue := spread(Family(f)) + float64(h%41) - 20
	l += .03 * (float64(h>>8%3) - 1)
	return OKLCH(l, c, hue)
}

// Family is what functions that belong together share: the package of a Go
// name, the namespace or class of others, else the module, else the name.
func Family(f *recording.Function) string {
	name := f.Name
	if i := strings.IndexAny(name, "(<["); i > 0 && !strings.HasPrefix(name[i:], "(*") {
		name = name[:i]
	}
	if strings.Contains(name, "::") {
		return name[:strings.Index(name, "::")]
	}
	slash := strings.LastIndexByte(name, '/')
	if dot := strings.IndexByte(name[slash+1:], '.'); dot > 0 {
		return name[:slash+1+dot]
	}
	if f.Module != "" {
		return analyze.ModuleBase(f.Module)
	}
	return name
}

// spread places a family on the colour wheel.
func spread(family string) float64 { return float64(hash(family)%3600) / 10 }

func hash(s string) uint32 {
	h := fnv.New32a()
	h.Write([]byte(s))
	// FNV's low bits move little between short names; fold and mix them.
	v := h.Sum32()
	v ^= v >> 15
	v *= 0x2c1b3c6d
	v ^= v >> 12
	return v
}

// Palette caches the colours of a recording's functions, and of its calls: a
// picture of many short spans asks for more than there are pixels.
type Palette struct {
	Theme *Theme
	Mode  Mode
	cols  []color.NRGBA // by function; those without alpha are not known yet
	calls []color.NRGBA // by call
}

// Func returns the colour of a function of a recording. The palette serves one
// recording (and its later snapshots) only.
func (p *Palette) Func(rec *recording.Recording, f recording.FuncID) color.NRGBA {
	if int(f) >= len(p.cols) {
		p.cols = append(p.cols, make([]color.NRGBA, max(int(f)+1, rec.Functions.Len())-len(p.cols))...)
	}
	if p.cols[f].A == 0 {
		fn := rec.Functions.At(int(f))
		p.cols[f] = p.Theme.Bar(&fn, p.Mode)
	}
	return p.cols[f]
}

// Call returns the colour of the function that runs in a call.
func (p *Palette) Call(rec *recording.Recording, c recording.CallID) color.NRGBA {
	if int(c) >= len(p.calls) {
		p.calls = append(p.calls, make([]color.NRGBA, max(int(c)+1, rec.Calls.Len())-len(p.calls))...)
	}
	if p.calls[c].A == 0 {
		p.calls[c] = p.Func(rec, rec.Func(c))
	}
	return p.calls[c]
}
