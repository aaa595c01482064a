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
		m.exceeds[of] = true
		m.b.Warn(of+"-exceed", "", "In %[3]s, the %[1]s of the stack with leaf %[2]s add up to %[4]s, its stack records only to %[5]s. Ranges use the %[1]s and the whole recording uses stack records, so a range may be larger",
			of, quote(m.b.NameOf(recording.CallID(worst))), name, value(part[worst]), value(whole[worst]))
		m.b.WarnMore(of+"-exceed", more-1)
	case less && sum < all:
		m.b.Remark(of+"-less", "", "In %[2]s, the %[1]s add up to %[3]s, the stack records to %[4]s. Ranges and the timeline use the %[1]s, the whole recording uses stack records",
			of, name, value(sum), value(all))
	}
}
