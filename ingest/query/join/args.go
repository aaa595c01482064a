package join

import (
	"errors"
	"math/bits"

	"ashlar/ingest/model/recording"
)

// argTexts tells apart the references to arguments of several parts: the part's index is in
// bits that no reference uses.
type argTexts struct {
	shift, bits int
	texts       []func(uint64) string
	cpu         []func(uint64) (int64, bool)
}

var errArgs = errors.New("too many recordings to tell their arguments apart; join fewer")

// layout finds the bits for the part's index.
func (a *argTexts) layout(parts []Part) error {
	used := uint64(0)
	for _, p := range parts {
		for _, t := range p.Rec.Tracks {
			for i := range t.Lanes {
				if l := &t.Lanes[i]; l.HasArgs() {
					for k := range l.Len() {
						used |= l.Args(k)
					}
				}
			}
			for i := range t.Instants {
				used |= t.Instants[i].Args
			}
		}
	}
	a.bits = bits.Len(uint(len(parts) - 1))
	for a.shift = 64 - a.bits; used>>a.shift&(1<<a.bits-1) != 0; a.shift-- {
		if a.shift == 0 {
			return errArgs
		}
	}
	return nil
}

func (a *argTexts) add(r *recording.Recording) {
	a.texts, a.cpu = append(a.texts, r.Args), append(a.cpu, r.CPU)
}

// ref returns the joined recording's reference for one of a part.
func (a *argTexts) ref(part int, ref uint64) uint64 {
	if ref == 0 {
		return 0
	}
	return ref | uint64(part)<<a.shift
}

func (a *argTexts) split(ref uint64) (part int, own uint64) {
	mask := uint64(1<<a.bits-1) << a.shift
	return int(ref & mask >> a.shift), ref &^ mask
}

// give sets the builder's functions of arguments, as far as any part has them.
func (a *argTexts) give(b *recording.Builder) {
	has, timed := false, false
	for i := range a.texts {
		has, timed = has || a.texts[i] != nil, timed || a.cpu[i] != nil
	}
	if has {
		b.SetArgs(func(ref uint64) string {
			if part, own := a.split(ref); part < len(a.texts) && a.texts[part] != nil {
				return a.texts[part](own)
			}
			return ""
		})
	}
	if timed {
		b.SetCPU(func(ref uint64) (int64, bool) {
			if part, own := a.split(ref); part < len(a.cpu) && a.cpu[part] != nil {
				return a.cpu[part](own)
			}
			return 0, false
		})
	}
}
