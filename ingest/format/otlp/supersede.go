package otlp

import (
	"fmt"
	"slices"
	"strings"

	"ashlar/ingest/model/order"
	"ashlar/ingest/model/recording"
)

// level reports whether a sample type is a level, such as the memory in use.
func level(typ string) bool {
	return strings.HasPrefix(typ, "inuse_") || strings.HasPrefix(typ, "live")
}

// dated is a profile with the sum of its values.
type dated struct {
	*profile
	typ string
	sum int64
}

// supersede finds the profiles that must not be added to a later one from the same source:
// sums since the start of the program, which the later one includes, and levels.
func (c *converter) supersede() {
	series := map[string][]dated{}
	for _, m := range c.messages {
		c.d = &m.dict
		for i := range m.resources {
			r := &m.resources[i]
			source := fmt.Sprintf("%q", c.attrs(nil, r.attrs))
			for k := range r.scopes {
				s := &r.scopes[k]
				scope := fmt.Sprintf("%s %q %q %q", source, s.name, s.version, c.attrs(nil, s.attrs))
				for n := range s.profiles {
					p := &s.profiles[n]
					d := dated{profile: p, typ: c.d.str(p.sampleType)}
					timed := slices.ContainsFunc(p.samples, func(x sample) bool { return len(x.times) > 0 })
					if !p.cumulative && (!level(d.typ) || timed) || p.time == 0 {
						continue
					}
					var attrs []recording.Attr
					for _, a := range p.attrs {
						if a >= 0 && int(a) < len(c.d.attrs) {
							attrs = append(attrs, c.resolve(&c.d.attrs[a]))
						}
					}
					for i := range p.samples {
						for _, v := range p.samples[i].values {
							recording.Add(&d.sum, v)
						}
					}
					key := fmt.Sprintf("%s %q %q %q %q %q %d", scope, attrs, d.typ, c.d.str(p.sampleUnit), c.d.str(p.periodType), c.d.str(p.periodUnit), p.period)
					series[key] = append(series[key], d)
				}
			}
		}
	}
	c.old = map[*profile]bool{}
	var types []string
	for _, all := range series {
		order.By(all, func(a, b dated) int { return int(min(max(int64(a.time-b.time), -1), 1)) })
		for i, d := range all {
			next := slices.IndexFunc(all[i:], func(x dated) bool { return x.time > d.time })
			if next < 0 || d.cumulative && all[i+next].sum < d.sum { // the program was started again
				continue
			}
			c.old[d.profile] = true
			types = append(types, d.typ)
		}
	}
	slices.Sort(types)
	for _, typ := range types {
		c.b.Mended("superseded", "", "Profiles of %s hold sums since the start of the program, or levels: of each source only the latest counts", typ)
	}
}
