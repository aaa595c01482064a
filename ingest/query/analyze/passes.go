package analyze

import (
	"math"

	"ashlar/ingest/model/recording"
	"ashlar/ingest/query/search"
)

func (p *callPaths) apply(ts []Transform) {
	for _, t := range ts {
		if k := t.Kind(); k != nil && k.pass != nil {
			k.pass(p, t)
		}
	}
}

// matches returns a test for the functions that a transform refers to.
func (p *callPaths) matches(t Transform) func(key uint32) bool {
	return p.keys(t.matcher(p.rec, p.groups))
}

// like returns a test for the functions that match a transform's pattern; an invalid
// pattern matches nothing.
func (p *callPaths) like(t Transform) func(key uint32) bool {
	pat, err := search.Parse(t.Text)
	if err != nil {
		return func(uint32) bool { return false }
	}
	return p.keys(pat.MatchFunction)
}

// collapseModule merges adjacent frames of the same matching module.
func (p *callPaths) collapseModule(is func(string) bool) {
	p.mergeBy(func(f *recording.Function) uint32 {
		if is(f.Module) {
			return p.moduleGroup(f)
		}
		return noKey
	})
}

// moduleGroup returns the key of the group of all functions of a module.
func (p *callPaths) moduleGroup(f *recording.Function) uint32 {
	return p.group(groupID{by: ByModule, name: f.Module}, recording.Function{Name: orNone(ModuleBase(f.Module), noModule), Module: f.Module, Kind: f.Kind})
}

// fileGroup returns the key of the group of all functions of a source file.
func (p *callPaths) fileGroup(f *recording.Function) uint32 {
	return p.group(groupID{by: ByFile, name: f.File}, recording.Function{Name: orNone(f.File, noFile), Module: f.Module, File: f.File, Kind: f.Kind})
}

// focus keeps the stacks that contain a match.
func (p *callPaths) focus(is func(uint32) bool) {
	gone := make([]bool, len(p.parent))
	gone[0] = true
	for i := 1; i < len(gone); i++ {
		gone[i] = gone[p.parent[i]] && !is(p.key[i])
	}
	p.lose(gone)
}

func (p *callPaths) hide(is func(uint32) bool) {
	p.pass(func(i, up int32) int32 {
		if is(p.key[i]) {
			return up
		}
		return become
	})
}

// mine merges frames that do not match into the nearest caller that does.
func (p *callPaths) mine(is func(uint32) bool) {
	p.hide(func(key uint32) bool { return !is(key) })
}

func (p *callPaths) drop(is func(uint32) bool) {
	gone := make([]bool, len(p.parent))
	for i := 1; i < len(gone); i++ {
		gone[i] = gone[p.parent[i]] || is(p.key[i])
	}
	p.lose(gone)
}

func (p *callPaths) collapseRecursion() {
	p.pass(func(i, up int32) int32 {
		if up > 0 && p.key[up] == p.key[i] {
			return up
		}
		return become
	})
}

func (p *callPaths) collapseRecursionOf(is func(uint32) bool) {
	// top is, by new node, the outermost match at or above it.
	top := make([]int32, 1, len(p.parent))
	p.pass(func(i, up int32) int32 {
		t := top[up]
		if is(p.key[i]) {
			if t != 0 {
				return t
			}
			t = int32(len(top)) // the number of this node when it is added
		}
		top = append(top, t)
		return become
	})
	p.lose(make([]bool, len(p.parent))) // nodes between two matches may have lost their weight
}

// mergeBy replaces functions by groups, unless group returns noKey, and merges adjacent
// frames of the same group.
func (p *callPaths) mergeBy(group func(*recording.Function) uint32) {
	keyOf := make([]uint32, p.functions+uint32(len(p.groups)))
	for i := range keyOf {
		keyOf[i] = noKey
	}
	p.pass(func(i, up int32) int32 {
		old := p.key[i]
		if keyOf[old] == noKey {
			f := p.function(old)
			if keyOf[old] = group(&f); keyOf[old] == noKey {
				keyOf[old] = old
			}
		}
		k := keyOf[old]
		p.key[i] = k
		if up > 0 && k >= p.functions && p.key[up] == k {
			return up
		}
		return become
	})
}

const noKey = 1<<32 - 1

// foldInlined merges inlined frames into their callers. An inlined frame without a caller
// stays.
func (p *callPaths) foldInlined() {
	p.pass(func(i, up int32) int32 {
		if up > 0 && p.key[i] < p.functions && p.frame(i).Inlined {
			return up
		}
		return become
	})
}

func (p *callPaths) hideKernel() {
	p.pass(func(i, up int32) int32 {
		kind := recording.KindUnknown
		if p.key[i] < p.functions {
			kind = p.frame(i).Kind
		}
		if kind == recording.KindUnknown {
			kind = p.function(p.key[i]).Kind
		}
		if kind == recording.KindKernel {
			return up
		}
		return become
	})
}

func (p *callPaths) frame(i int32) recording.Frame {
	return p.rec.Frames.At(int(p.rec.Calls.Frame(p.call[i])))
}

// callersOf gives each outermost match the weight of everything below it.
func (p *callPaths) callersOf(is func(uint32) bool) {
	// in reports, by new node, whether the node is a match; the weight of other nodes is
	// dropped.
	in := make([]bool, 1, len(p.parent))
	p.pass(func(i, up int32) int32 {
		if in[up] {
			return up
		}
		in = append(in, is(p.key[i]))
		return become
	})
	for i := range in {
		in[i] = !in[i]
	}
	p.lose(in)
}

// calleesOf makes outermost matches the roots of stacks.
func (p *callPaths) calleesOf(is func(uint32) bool) {
	p.self[0], p.count[0] = 0, 0
	if p.seen != nil {
		p.seen[0] = math.MaxInt64
	}
	for c, k := range p.at {
		if k == 0 {
			p.out[c] = true
		}
	}
	p.pass(func(i, up int32) int32 {
		switch {
		case up > 0:
			return become
		case is(p.key[i]):
			return adopt
		}
		return vanish
	})
}
