package theme

import (
	"image/color"
	"math"
	"strings"
	"sync/atomic"

	"ashlar/ingest/input/source"
	"ashlar/ingest/model/funcname"
	"ashlar/ingest/model/recording"
	"ashlar/ingest/query/analyze"
)

// Mode selects the meaning of the colours of bars.
type Mode string

const (
	// ByFunction: the hue of the family (package, namespace, module), shifted a little
	// for each function. A function has the same colour in every view, run and file.
	ByFunction Mode = "function"
	// ByModule: one colour per module.
	ByModule Mode = "module"
	// ByPackage: one colour per package; see analyze.PackageOf.
	ByPackage Mode = "package"
	// ByFoldedName: one colour for all names that differ only in numbers.
	ByFoldedName Mode = "name"
	// ByKind: user, kernel, managed, unknown.
	ByKind Mode = "kind"
	// ByThread: one colour per thread. If a bar's thread is unknown, it is grey unless
	// its function runs on only one thread.
	ByThread Mode = "thread"
	// BySearch: one colour for functions that match the search, grey for all others.
	BySearch Mode = "search"
)

// Modes lists the modes in the order in which they are offered.
var Modes = []Mode{ByFunction, ByPackage, ByFoldedName, ByModule, ByKind, ByThread, BySearch}

// Bar returns the colour of a function's bars.
func (t *Theme) Bar(f *recording.Function, m Mode) color.NRGBA {
	l, c := t.barL, t.barC
	if f.State != recording.NoState {
		return t.State(f.State)
	}
	if f.Kind == recording.KindKernel {
		c *= .35
	}
	switch m {
	case ByKind:
		return t.kind(f.Kind)
	case ByThread, BySearch:
		return t.Neutral()
	case ByPackage:
		return OKLCH(l, c, spread(analyze.PackageOf(f)))
	case ByFoldedName:
		return OKLCH(l, c, spread(funcname.FoldDigits(f.Name)))
	case ByModule:
		return OKLCH(l, c, spread(analyze.ModuleBase(f.Module)))
	}
	if f.Unresolved {
		c *= .35
	}
	h := hash(f.Name)
	hue := spread(family(f)) + float64(h%41) - 20
	l += .03 * (float64(h>>8%3) - 1)
	return OKLCH(l, c, hue)
}

// kind returns the colour of a kind of code. The four differ in hue, lightness and
// chroma, so that colour-blind people can tell them apart.
func (t *Theme) kind(k recording.Kind) color.NRGBA {
	switch k {
	case recording.KindUser:
		return OKLCH(t.barL, t.barC, 250)
	case recording.KindKernel:
		return OKLCH(t.barL-.045, t.barC*1.15, 50)
	case recording.KindManaged:
		return OKLCH(t.barL+.075, t.barC*1.15, 105)
	}
	return OKLCH(t.barL-.01, .008, 250)
}

// State returns the colour of a thread state in any mode: running states stand out,
// waiting states are muted.
func (t *Theme) State(s recording.State) color.NRGBA {
	switch s {
	case recording.Running:
		return OKLCH(t.barL+.02, max(.1, t.barC), 150)
	case recording.Collecting:
		return OKLCH(t.barL-.02, max(.1, t.barC), 330)
	case recording.Runnable:
		return OKLCH(t.barL+.05, max(.11, t.barC), 85)
	case recording.InSystemCall:
		return OKLCH(t.barL-.02, t.barC, 250)
	}
	return OKLCH(t.barL-.04, .01, 60)
}

// Neutral returns the colour of bars whose colour has no meaning.
func (t *Theme) Neutral() color.NRGBA { return OKLCH(t.barL-.02, .012, 260) }

// Found returns the colour of search matches in BySearch.
func (t *Theme) Found() color.NRGBA { return OKLCH(t.barL+.04, max(.13, t.barC), 80) }

// Thread returns the colour of the i-th thread. Neighbours differ clearly in hue and
// lightness.
func (t *Theme) Thread(i int) color.NRGBA {
	const golden = 137.508 // degrees
	return OKLCH(t.barL+.03*(float64(i%3)-1), t.barC, math.Mod(250+golden*float64(i), 360))
}

// family returns the group of a function: the package of a Go name, the namespace or
// class of another name, else the module, else the name.
func family(f *recording.Function) string {
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

// spread returns the hue of a family, in degrees.
func spread(family string) float64 { return float64(hash(family)%3600) / 10 }

func hash(s string) uint32 {
	v := uint32(2166136261) // FNV-1a
	for i := range len(s) {
		v = (v ^ uint32(s[i])) * 16777619
	}
	// The low bits change little between short names; fold and mix them.
	v ^= v >> 15
	v *= 0x2c1b3c6d
	v ^= v >> 12
	return v
}

// A Palette caches the colours of a recording's functions and calls, because a picture of
// many short spans asks for more colours than it has pixels.
type Palette struct {
	Theme *Theme
	Mode  Mode
	// Threads, for ByThread, is the track of each function that runs on only one;
	// negative for other functions.
	Threads []int32
	// Found, for BySearch, reports whether a function matches the search.
	Found func(recording.FuncID) bool
	cols  []color.NRGBA // by function; alpha 0 if not computed yet
	calls []color.NRGBA // by call
	ahead atomic.Pointer[[]color.NRGBA]
	asked bool
}

// Ahead starts computing the colours of all functions on another goroutine, so that they
// are ready for a picture with thousands of new functions. Only the first call has an
// effect.
func (p *Palette) Ahead(rec *recording.Recording) {
	if p.asked || p.Mode == ByThread || p.Mode == BySearch {
		return
	}
	p.asked = true
	th, mode := p.Theme, p.Mode
	go source.Catch(func() { // until then, missing colours are computed on demand
		cols := make([]color.NRGBA, rec.Functions.Len())
		for i := range cols {
			fn := rec.Functions.At(i)
			cols[i] = th.Bar(&fn, mode)
		}
		p.ahead.Store(&cols)
	})
}

// Func returns the colour of a function of a recording. The palette serves one
// recording (and its later snapshots) only.
func (p *Palette) Func(rec *recording.Recording, f recording.FuncID) color.NRGBA {
	if cols := p.ahead.Load(); cols != nil && len(p.cols) <= len(*cols) {
		p.cols = *cols
		p.ahead.Store(nil)
	}
	if int(f) >= len(p.cols) {
		p.cols = append(p.cols, make([]color.NRGBA, max(int(f)+1, rec.Functions.Len())-len(p.cols))...)
	}
	if p.cols[f].A == 0 {
		p.cols[f] = p.function(rec, f)
	}
	return p.cols[f]
}

// call returns the colour of a call's function.
func (p *Palette) call(rec *recording.Recording, c recording.CallID) color.NRGBA {
	if int(c) >= len(p.calls) {
		p.calls = append(p.calls, make([]color.NRGBA, max(int(c)+1, rec.Calls.Len())-len(p.calls))...)
	}
	if p.calls[c].A == 0 {
		p.calls[c] = p.Func(rec, rec.Func(c))
	}
	return p.calls[c]
}

func (p *Palette) function(rec *recording.Recording, f recording.FuncID) color.NRGBA {
	switch {
	case p.Mode == ByThread && int(f) < len(p.Threads) && p.Threads[f] >= 0:
		return p.Theme.Thread(int(p.Threads[f]))
	case p.Mode == BySearch && p.Found != nil && p.Found(f):
		return p.Theme.Found()
	}
	fn := rec.Functions.At(int(f))
	return p.Theme.Bar(&fn, p.Mode)
}

// On returns the colour of a call's bars on a track.
func (p *Palette) On(rec *recording.Recording, track int, c recording.CallID) color.NRGBA {
	if p.Mode == ByThread && track >= 0 && rec.State(c) == recording.NoState {
		return p.Theme.Thread(track)
	}
	return p.call(rec, c)
}
