package panel

import (
	"image"

	"ashlar/app/core/session"
	"ashlar/ingest/model/recording"
	"ashlar/ingest/query/analyze"
	"ashlar/render/flame"
	"ashlar/render/ui"
	"ashlar/render/units"
	"ashlar/render/widget"
)

// NodeTip draws the tooltip of a flamegraph bar: its name, its weight and, if cpu (which
// may be nil) has it, the part spent on CPU. up means that the flamegraph grows upwards.
func NodeTip(u *ui.UI, at image.Point, up bool, a *session.Answer, t *analyze.Tree, node int32, cpu *session.OnCPU) {
	m := a.Metric()
	nd := &t.Nodes[node]
	all := t.Nodes[0].Total
	title := "all"
	lines := []string{
		"total " + units.Bound(m) + units.Value(nd.Total, m) + "   " + units.Percent(nd.Total, all) + "   (" + units.Exact(nd.Total, m) + ")",
		"self " + units.Value(nd.Self, m) + "   " + units.Percent(nd.Self, all) + "   (" + units.Exact(nd.Self, m) + ")",
	}
	if nd.Total != nd.Gross {
		lines = append(lines, units.Value((nd.Total+nd.Gross)/2, m)+" minus "+units.Value((nd.Gross-nd.Total)/2, m)+"; bar width: "+units.Value(nd.Gross, m))
	}
	if cpu != nil && cpu.Tree == t && cpu.CPU[node]+cpu.Waiting[node] != 0 {
		lines = append(lines, "on CPU "+units.Percent(cpu.CPU[node], nd.Total))
	}
	if node > 0 {
		fn := t.Function(a.Rec, int(node))
		title = fn.Name
		where := ShortModule(fn.Module)
		fr := a.Rec.Frames.At(int(nd.Frame))
		if fr.Kind == recording.KindKernel {
			where = Join("kernel", where)
		}
		if fr.Inlined {
			where = Join("inlined", where)
		}
		if where != "" {
			lines = append(lines, where)
		}
	}
	widget.FlameTip(u, at, up, title, lines)
}

// FlamePad is the space around the bars, in dp.
const FlamePad = 8

// FlameBase returns the top of the root's row in a picture h pixels high.
func FlameBase(u *ui.UI, h, scroll int, up bool) int {
	if up {
		return h - u.Px(flame.BarHeight) + scroll
	}
	return -scroll
}
