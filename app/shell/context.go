package shell

import (
	"slices"
	"strings"

	"ashlar/app/panel"
	"ashlar/ingest/analyze"
	"ashlar/ingest/recording"
	"ashlar/render/units"
)

// contextDetails say where stacks were taken, a line for each key of their
// contexts: the value, or the heaviest with its share and how many more. A click
// offers to keep only what has one.
// Threads have lines of their own where there are any.
func contextDetails(keys []analyze.KeyValues, m *recording.Metric, threads bool) (ds []detail) {
	for _, k := range keys {
		switch {
		case k.Key == "event", threads && (k.Key == "pid" || k.Key == "tid" || k.Key == "comm"):
			continue
		case slices.Contains(analyze.ProbeParts[:], k.Key):
			continue // of the whole probe
		}
		var all []string
		var sum int64
		for _, v := range k.Values {
			sum += v.Weight
			all = append(all, v.Value+" "+units.Exact(v.Weight, m))
		}
		d := detail{key: panel.KeyTitle(k.Key), value: k.Values[0].Value, label: k.Key}
		if n := len(k.Values) - 1; n > 0 {
			d.value += "  " + units.Percent(k.Values[0].Weight, sum) + ", " + units.Count(int64(n)) + " more"
			d.exact = strings.Join(all[:min(len(all), 20)], ", ")
		}
		if k.Key == "probe" { // it says most
			ds = slices.Insert(ds, 0, d)
		} else {
			ds = append(ds, d)
		}
	}
	return ds
}
