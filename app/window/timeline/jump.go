package timeline

import (
	"math"
	"math/big"
	"strings"

	"ashlar/app/window/panel"
	"ashlar/ingest/input/decimal"
	"ashlar/ingest/model/recording"
	"ashlar/render/ui"
	"ashlar/render/units"
	"ashlar/render/widget"
)

// jump is one possible meaning of a typed time.
type jump struct {
	At       int64
	To       int64 // end of a range; not after At for a single time
	what     string
	exact    string
	Possible bool // it is within the recording
}

// AskTime shows the input line for a time to go to.
func (p *Timeline) AskTime(s *panel.Host) {
	if !p.Timed() {
		return
	}
	s.OpenChooser(widget.NewChooser("Time: 1.25 s, +3 ms, 20 %, 1.2s..1.5s", "", func(text string) []widget.Line {
		var ls []widget.Line
		for _, j := range p.Times(text) {
			ls = append(ls, widget.Line{Title: j.what, Detail: j.exact, Dim: !j.Possible, Take: func() {
				s.Chooser = nil
				p.jump(j)
			}})
		}
		return ls
	}))
}

// jump centres the view on a time, or fills it with a range.
func (p *Timeline) jump(j jump) {
	if j.To > j.At {
		p.Fit(j.At, j.To)
	} else {
		half := p.View.Span() / 2
		p.View.From, p.View.To = j.At-half, j.At-half+p.View.Span()
		p.View = p.View.Clamp(p.ViewLimits())
	}
	p.Moved = true
	p.Goal, p.AtGoal = j.At, j.To <= j.At
}

// Times reads a text in every way that makes sense, likeliest first.
func (p *Timeline) Times(text string) []jump {
	text = strings.TrimSpace(text)
	rec := p.Rec
	var js []jump
	add := func(at, to int64, what string) {
		j := jump{At: at, To: to, what: what, Possible: at >= rec.Start && at <= rec.End}
		j.exact = units.Duration(at-rec.Start) + " from the start"
		if !j.Possible {
			j.exact = "outside the recording"
		}
		js = append(js, j)
	}
	if text == "" {
		p.offer(add)
		return js
	}
	if r, err := recording.ParseRange(text); err == nil {
		if in, err := r.In(rec); err == nil {
			add(in.From, in.To, text)
		}
		return js
	}
	if n, ok := strings.CutSuffix(text, "%"); ok {
		if v, ok := new(big.Rat).SetString(strings.TrimSpace(n)); ok {
			f, _ := v.Float64()
			add(rec.Start+clampInt64(f/100*float64(rec.Duration())), 0, text+" of the recording")
		}
		return js
	}
	sign, rest := int64(0), text
	for _, s := range []struct {
		prefix string
		sign   int64
	}{{"+", 1}, {"-", -1}, {"−", -1}} {
		if r, ok := strings.CutPrefix(text, s.prefix); ok {
			sign, rest = s.sign, r
		}
	}
	t, err := decimal.ParseLength(rest)
	t = min(t, math.MaxInt64/4)
	switch {
	case err == nil && sign != 0:
		from, name := p.reference()
		add(from+sign*t, 0, text+" from "+name)
	case err == nil:
		add(rec.Start+t, 0, text+" from the start")
	}
	if at, ok := absolute(rec, text); ok {
		add(at, 0, text+" on the file's clock"+clockUnit(rec))
	}
	// A bare number means seconds; if that is past the end, a clock time is likelier.
	if len(js) == 2 && !js[0].Possible {
		js[0], js[1] = js[1], js[0]
	}
	return js
}

// offer adds the suggested times, shown before anything is typed.
func (p *Timeline) offer(add func(at, to int64, what string)) {
	add(p.Rec.Start, 0, "the start")
	add(p.Rec.End, 0, "the end")
	if p.Scope.Ranged {
		add(p.Scope.From, p.Scope.To, "the selected time")
	}
	if p.Pick.Kind == panel.PickBar {
		add(p.Pick.Hit.Start, 0, "the start of "+p.Rec.FuncName(p.Pick.Hit.Call))
		add(p.Pick.Hit.End, 0, "the end of "+p.Rec.FuncName(p.Pick.Hit.Call))
	}
}

// reference returns the time that relative times are measured from.
func (p *Timeline) reference() (int64, string) {
	switch {
	case p.AtGoal:
		return p.Goal, "the last target"
	case p.Pick.Kind != panel.PickNone && p.Pick.Kind != panel.PickNode:
		return p.Pick.Hit.Start, "the selection"
	case p.Scope.Ranged:
		return p.Scope.From, "the selected time"
	}
	return p.View.From + p.View.Span()/2, "the view's centre"
}

func clockUnit(rec *recording.Recording) string {
	if rec.Clock.Unit == "" {
		return ""
	}
	return ", in " + rec.Clock.Unit
}

// absolute parses a time as written in the file: a number in the file's unit.
func absolute(rec *recording.Recording, text string) (int64, bool) {
	c := rec.Clock
	v, ok := new(big.Rat).SetString(text)
	if !ok || len(text) > 60 || strings.ContainsAny(text, "eE/_xX") || c.PerUnit <= 0 {
		return 0, false
	}
	pow := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(c.Origin.Scale)), nil)
	v.Sub(v, new(big.Rat).SetFrac(big.NewInt(c.Origin.Mantissa), pow))
	v.Mul(v, new(big.Rat).SetInt64(c.PerUnit))
	// To the nearest picosecond.
	half := big.NewRat(1, 2)
	n := new(big.Int).Div(v.Add(v, half).Num(), v.Denom())
	if !n.IsInt64() {
		return 0, false
	}
	return n.Int64(), true
}

// drawMark marks the time last jumped to: a line through the rows and the time on the
// ruler.
func (p *Timeline) drawMark(u *ui.UI) {
	w := p.LaneWidth()
	x := p.View.X(p.Goal, w)
	if !p.AtGoal || x < 0 || x > float64(w) {
		return
	}
	b := &p.Bounds
	at := b.Lanes.Min.X + b.Gutter + int(x)
	for y := b.Lanes.Min.Y; y < b.Lanes.Max.Y; y += u.Px(7) {
		u.VLine(at, y, min(b.Lanes.Max.Y, y+u.Px(4)), u.Theme.Accent)
	}
	if p.Scope.Ranged { // there, the ruler shows the length of the range
		return
	}
	p.pill(u, at, units.Duration(p.Goal-p.Rec.Start))
}
