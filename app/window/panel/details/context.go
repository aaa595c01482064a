package details

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"ashlar/ingest/model/recording"
	"ashlar/ingest/query/analyze"
	"ashlar/render/units"
)

// ContextDetails lists the contexts in which stacks were taken, a line for each key: its
// value, or the heaviest value with its share and the number of others. A click offers to
// keep only stacks with one of the values. With threads, keys of threads are left out
// because threads have their own lines.
func ContextDetails(keys []analyze.KeyValues, m *recording.Metric, threads bool) (ds []Detail) {
	for _, k := range keys {
		switch {
		case k.Key == "event", threads && (k.Key == "pid" || k.Key == "tid" || k.Key == "comm"):
			continue
		case slices.Contains(analyze.ProbeParts[:], k.Key):
			continue // part of the probe, which has its own line
		}
		var all []string
		var sum int64
		for _, v := range k.Values {
			sum += v.Weight
			all = append(all, v.Value+" "+units.Exact(v.Weight, m))
		}
		d := Detail{Key: k.Key, Value: valueText(k.Key, k.Values[0].Value, m), Label: k.Key}
		if d.Value != k.Values[0].Value {
			d.Exact = k.Values[0].Value
		}
		if n := len(k.Values) - 1; n > 0 {
			d.Value += "  " + units.Percent(k.Values[0].Weight, sum) + ", " + units.Count(int64(n)) + " more"
			d.Exact = strings.Join(all[:min(len(all), 20)], ", ")
		}
		if k.Key == "probe" { // the probe is the most informative key
			ds = slices.Insert(ds, 0, d)
		} else {
			ds = append(ds, d)
		}
	}
	return ds
}

// valueText formats a value: bytes in a larger unit, as those of the metric, and a number
// without its unit if that is the key.
func valueText(key, value string, m *recording.Metric) string {
	number, unit, _ := strings.Cut(value, " ")
	n, err := strconv.ParseInt(number, 10, 64)
	switch {
	case err != nil || unit == "":
	case unit == "bytes":
		return units.Value(n, &recording.Metric{Name: m.Name, Unit: unit})
	case unit == key:
		return number
	}
	return value
}

// symbolDetails lists what a profile records about a frame's code and binary.
func symbolDetails(src *recording.Source, f *recording.Frame) (ds []Detail) {
	if typ := src.TypeOf(f); typ != "" {
		ds = append(ds, Detail{Key: "Frame type", Value: typ})
	}
	if f.StartLine > 0 {
		ds = append(ds, Detail{Key: "First line", Value: strconv.Itoa(int(f.StartLine))})
	}
	if f.Folded {
		ds = append(ds, Detail{Key: "Folded", Value: "shares code with other functions"})
	}
	if m := src.MappingOf(f); m != nil && m.Limit > 0 {
		at := m.Range()
		ds = append(ds, Detail{Key: "Mapping", Value: at, Exact: fmt.Sprintf("%s %s", m.File, at)})
	}
	return ds
}
