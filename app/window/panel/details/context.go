package details

import (
	"slices"
	"strings"

	"ashlar/ingest/model/recording"
	"ashlar/ingest/query/analyze"
	"ashlar/render/units"
)

// ContextDetails say where stacks were taken, a line for each key of their
// contexts: the value, or the heaviest with its share and how many more. A click
// offers to keep only what has one.
// Threads have lines of their own where there are any.
func ContextDetails(keys []analyze.KeyValues, m *recording.Metric, threads bool) (ds []Detail) {
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
		d := Detail{Key: k.Key, Value: k.Values[0].Value, Label: k.Key}
		if n := len(k.Values) - 1; n > 0 {
			d.Value += "  " + units.Percent(k.Values[0].Weight, sum) + ", " + units.Count(int64(n)) + " more"
			d.Exact = strings.Join(all[:min(len(all), 20)], ", ")
		}
		if k.Key == "probe" { // it says most
			ds = slices.Insert(ds, 0, d)
		} else {
			ds = append(ds, d)
		}
	}
	return ds
}
