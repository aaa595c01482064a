package ui

import (
	"image"

	"gioui.org/layout"
	"gioui.org/op"
	"gioui.org/op/paint"
	"gioui.org/text"
	"gioui.org/unit"
	"gioui.org/widget"
)

// Labels caches the drawings of texts that are shown in frame after frame. Shaping caches
// the shapes of a text, but placing its glyphs and hashing them takes as long as drawing
// all lanes of a small recording. The zero value is ready to use.
type Labels struct {
	shaper *text.Shaper // the cached texts were shaped by
	// recent has the texts used lately, older those used before recent was last full.
	recent, older map[labelKey]label
}

// labelKey holds everything that a text's drawing depends on besides the shaper.
type labelKey struct {
	text  string
	width int
	style Style
	scale float32 // pixels per sp
}

type label struct {
	draw op.CallOp
	dims layout.Dimensions
}

// mostLabels is the number of texts in a generation: several windows full.
const mostLabels = 512

// get returns the cached drawing of a text, or makes it.
func (c *Labels) get(shaper *text.Shaper, k labelKey, draw func(ops *op.Ops) layout.Dimensions) label {
	if c.shaper != shaper { // it has other fonts
		*c = Labels{shaper: shaper}
	}
	if l, ok := c.recent[k]; ok {
		return l
	}
	l, ok := c.older[k]
	if !ok {
		ops := new(op.Ops)
		m := op.Record(ops)
		l.dims = draw(ops)
		l.draw = m.Stop()
	}
	if c.recent == nil || len(c.recent) >= mostLabels {
		c.recent, c.older = map[labelKey]label{}, c.recent
	}
	c.recent[k] = l
	return l
}

// record returns the drawing of a text in a width, and its size.
func (u *UI) record(width int, s string, st Style) (op.CallOp, layout.Dimensions) {
	Want(s)
	st.Align = 0 // callers align the whole text
	draw := func(ops *op.Ops) layout.Dimensions { return u.shape(ops, width, s, st) }
	if u.Labels == nil || len(s) > longestLine {
		m := op.Record(u.Ops)
		dims := draw(u.Ops)
		return m.Stop(), dims
	}
	l := u.Labels.get(u.Shaper, labelKey{s, width, st, u.Metric.PxPerSp}, draw)
	return l.draw, l.dims
}

// shape adds the drawing of a text to ops.
func (u *UI) shape(ops *op.Ops, width int, s string, st Style) layout.Dimensions {
	s = u.shapeable(width, s, st)
	m := op.Record(ops)
	paint.ColorOp{Color: st.Color}.Add(ops)
	material := m.Stop()
	gtx := u.Context
	gtx.Ops = ops
	gtx.Constraints = layout.Constraints{Max: image.Pt(width, 1<<20)}
	l := widget.Label{MaxLines: max(1, st.Lines)}
	return l.Layout(gtx, u.Shaper, st.font(), unit.Sp(st.Size), s, material)
}
