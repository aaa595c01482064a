package otlp

import (
	"hash/maphash"

	"ashlar/ingest/model/recording"
)

// once finds messages that a file has twice. Exporters send a message again if they miss
// the answer, so the protocol delivers each at least once.
type once struct {
	b    *recording.Builder
	seed maphash.Seed
	seen map[uint64]bool
}

func newOnce(b *recording.Builder) *once { return &once{b, maphash.MakeSeed(), map[uint64]bool{}} }

// again reports whether a message is the same as an earlier one, and warns. Without a time
// in it, two equal messages may be two measurements.
func (o *once) again(content []byte, m *message, place string) bool {
	sum := maphash.Bytes(o.seed, content)
	if !o.seen[sum] || !m.timed() {
		o.seen[sum] = true
		return false
	}
	o.b.Mended("message-repeated", place, "The message at %s is the same as an earlier one, with the same times; it is counted once", place)
	return true
}

// timed reports whether every profile has a time, or a sample with one.
func (m *message) timed() bool {
	for _, r := range m.resources {
		for _, s := range r.scopes {
			for _, p := range s.profiles {
				timed := p.time != 0
				for i := range p.samples {
					timed = timed || len(p.samples[i].times) > 0
				}
				if !timed {
					return false
				}
			}
		}
	}
	return true
}
