package comparison

import (
	"ashlar/app/core/session"
	"ashlar/app/core/verdict"
	"ashlar/ingest/model/recording"
	"ashlar/ingest/query/compare"
	"ashlar/render/ui"
	"ashlar/render/units"
)

// Amount is a text with the sign of the change that it describes.
type Amount struct {
	Text string
	Sign int64
}

// Color returns the colour for the sign.
func (a Amount) Color(same, more, less ui.Colour) ui.Colour {
	switch {
	case a.Sign > 0:
		return more
	case a.Sign < 0:
		return less
	}
	return same
}

// MetricTitle names a metric with its event.
func MetricTitle(e *recording.Event, metric int) string {
	return e.Title() + " · " + e.MetricTitle(metric)
}

// NormalizeWords are the names of the normalisations.
var NormalizeWords = map[compare.Normalize]string{
	compare.Raw: "Not normalised", compare.Total: "Normalised by total", compare.Duration: "Normalised by duration", compare.Samples: "Normalised by samples", compare.Calls: "Per call", compare.Auto: "Automatic",
}

// Normalizations lists the available normalisations; per call is included if call counts
// are known.
func (c *Comparison) Normalizations() []compare.Normalize {
	all := []compare.Normalize{compare.Auto, compare.Raw, compare.Total, compare.Duration, compare.Samples}
	a := c.Answer()
	if c.Sides[0].Scope.Calls != nil && c.Sides[1].Scope.Calls != nil || a != nil && a.Compared.Work().Ratio > 0 {
		all = append(all, compare.Calls)
	}
	return all
}

// NormalizeWord returns the name of the normalisation in use.
func (c *Comparison) NormalizeWord() string {
	if a := c.Answer(); a != nil && c.Options.Normalize == compare.Auto {
		return NormalizeWords[a.Compared.Normalize]
	}
	return NormalizeWords[c.Options.Normalize]
}

// NormalizeHelp explains each normalisation.
var NormalizeHelp = map[compare.Normalize]string{
	compare.Raw: "Recorded values", compare.Total: "Scale B to A's total", compare.Duration: "Scale B to A's duration", compare.Samples: "Scale B to A's number of samples or spans", compare.Calls: "Mean per call, or B scaled to each function's calls in A", compare.Auto: "Per call if call counts differ by more than a tenth",
}

// WidthWords name the choices for the widths of bars.
var WidthWords = map[compare.Width]string{compare.WidthLarger: "Width: the larger", compare.WidthA: "Width: A", compare.WidthB: "Width: B"}

// sureEnough is the least confidence of a difference that counts as real: at most one in
// twenty such differences is a false alarm.
const sureEnough = .95

// IsNoise reports whether a difference is within noise.
func IsNoise(conf *compare.Confidence) bool { return conf != nil && conf.Level() < sureEnough }

// NodeConfidence returns the confidence of a node's difference: the node's own, otherwise
// that of its function; nil if unknown.
func NodeConfidence(a *session.CompareAnswer, rows []int32, node int) *compare.Confidence {
	if node < len(a.Nodes) && a.Nodes[node] != nil {
		return a.Nodes[node]
	}
	if f := a.Shape.Nodes[node].Func; f >= 0 && int(f) < len(rows) && rows[f] >= 0 {
		return a.Functions.Rows[rows[f]].Total
	}
	return nil
}

// RowsOf returns the row of each function in the table by function, -1 for none.
func RowsOf(a *session.CompareAnswer) []int32 {
	rows := make([]int32, len(a.Compared.Tree.Funcs))
	for i := range rows {
		rows[i] = -1
	}
	for i := range a.Functions.Rows {
		if k := a.Functions.Rows[i].Key; k >= 0 && int(k) < len(rows) {
			rows[k] = int32(i)
		}
	}
	return rows
}

// NamesOf returns the names of the functions on the path to a node.
func NamesOf(t *compare.Tree, node int) []recording.FuncName {
	var names []recording.FuncName
	for _, n := range t.Path(node) {
		names = append(names, t.Funcs[t.Nodes[n].Func].FuncName)
	}
	return names
}

// Find returns the node at the end of a path, or the last node of the path that exists.
func Find(s *compare.Shape, path []recording.FuncName) int {
	at := 0
	for _, name := range path {
		next := -1
		for _, k := range s.Children(at) {
			if s.Funcs[s.Nodes[k].Func].FuncName == name {
				next = int(k)
			}
		}
		if next < 0 {
			break
		}
		at = next
	}
	return at
}

// DifferenceLine returns a change in the form +1.2 ms, +12.7 %, ×1.127.
func DifferenceLine(m *compare.Metric, a, b int64) string {
	if a == b {
		return "no change"
	}
	line := "change " + verdict.Signed(m, b-a)
	if a > 0 && b > 0 {
		line += "   " + units.Change(a, b) + "   " + units.Times(a, b)
	}
	return line
}

// ConfidenceText describes the confidence of a difference.
func ConfidenceText(a *session.CompareAnswer, conf *compare.Confidence) string {
	switch {
	case conf == nil && a.Method == compare.NoMethod:
		return "confidence unknown: no sample counts"
	case conf == nil && !a.ConfidencesDone:
		return "computing confidence…"
	case conf == nil && a.Method == compare.FromDurations:
		return "confidence unknown: too few calls"
	case conf == nil:
		return ""
	case IsNoise(conf):
		return "within noise: " + units.Level(conf.Level()) + " sure"
	}
	return units.Level(conf.Level()) + " sure"
}
