package spaa

import "ashlar/ingest/model/recording"

// compareParts compares the samples and the windows of each stack with its stack records,
// by metric. If a part exceeds the whole, it warns, because the answer for a time range
// would exceed the answer for the whole recording. A smaller part is only noted.
func (m *merger) compareParts() {
	for e := range m.events {
		ev := m.b.Event(e)
		if ev.Basis == recording.FromSamples || !m.events[e].weighed {
			continue
		}
		for k := range ev.Metrics {
			if ev.Metrics[k].Kind != recording.Sum {
				continue
			}
			p := m.b.PartSums(e, k)
			name := quote(ev.Metrics[k].Name) + " of event " + quote(ev.Name)
			if p.Samples != nil {
				m.comparePart(&ev.Metrics[k], name, "samples", p.Whole, p.Samples, true)
			}
			if p.Windows != nil {
				m.comparePart(&ev.Metrics[k], name, "windows", p.Whole, p.Windows, false)
			}
		}
	}
}

// comparePart warns of calls whose part weighs more than the whole. If less is set, it
// also notes that the part weighs less in total.
func (m *merger) comparePart(met *recording.Metric, name, of string, whole, part []int64, less bool) {
	var more, all, sum int64
	worst := -1
	for c, v := range part {
		recording.Add(&all, whole[c])
		recording.Add(&sum, v)
		if v > whole[c] && c != int(recording.NoCall) { // a missing stack has its own warning
			more++
			if worst < 0 || v-whole[c] > part[worst]-whole[worst] {
				worst = c
			}
		}
	}
	value := func(v int64) string { return recording.Decimal{Mantissa: v, Scale: met.Decimals}.String() }
	switch {
	case more > 0:
		m.b.Warn(of+"-exceed", "", "The %s of the stack with leaf %s add up to %s in %s, its stack records only to %s. Ranges use the %s, the whole recording uses the stacks: a range may be larger",
			of, quote(m.b.NameOf(recording.CallID(worst))), value(part[worst]), name, value(whole[worst]), of)
		m.b.WarnMore(of+"-exceed", more-1)
	case less && sum < all:
		m.b.Remark(of+"-less", "", "The %s add up to %s in %s, and the stack records to %s: ranges and the timeline rest on %s, the whole on stacks",
			of, value(sum), name, value(all), of)
	}
}
