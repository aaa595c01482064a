package scopebar

import (
	"strings"

	"ashlar/app/core/view"
	"ashlar/app/window/panel"
	lanes "ashlar/app/window/timeline"
	"ashlar/ingest/model/recording"
	"ashlar/ingest/query/analyze"
	"ashlar/render/timeline"
	"ashlar/render/units"
	"ashlar/render/widget"
)

// mostNamed is the maximum number of threads that a chip names, and mostTold the maximum
// in its tooltip.
const (
	mostNamed = 3
	mostTold  = 24
)

// Of returns the chips of a scope; set is called with the scope without the limit that
// was removed.
func Of(p *lanes.Timeline, in recording.Scope, set func(recording.Scope)) (cs []Chip) {
	if in.Ranged {
		text := units.Duration(in.To-in.From) + " at " + units.Duration(in.From-p.Rec.Start)
		if in.Outside {
			text = "all but " + text
		}
		cs = append(cs, Chip{Kind: "time", Text: text,
			More: []string{"from " + recording.Offset(in.From-p.Rec.Start) + " to " + recording.Offset(in.To-p.Rec.Start), "Click to zoom"},
			Go:   func() { p.Fit(in.From, in.To) },
			Off:  func() { set(in.AllTime()) }})
	}
	if in.Tracks != nil {
		cs = append(cs, threads(p, in, set))
	}
	if in.Calls != nil {
		cs = append(cs, Chip{Kind: "calls", Text: panel.CallWords(in.Calls.Text), More: []string{in.Calls.Text, "Click to list"},
			Go:  func() { p.Tab = panel.Calls },
			Off: func() { set(in.Of(nil)) }})
	}
	idle := analyze.LeftOut{Waits: p.Rec.Counts.States > 0}
	for _, apart := range []struct {
		is   recording.Apart
		what string
		off  func(in *recording.Scope)
	}{
		{in.Async, "async spans", func(in *recording.Scope) { in.Async = "" }},
		{in.Idle, idle.IdleName(), func(in *recording.Scope) { in.Idle = "" }},
	} {
		if apart.is != "" && apart.is != recording.Out {
			kind := map[recording.Apart]string{recording.In: "with", recording.Only: "only"}[apart.is]
			cs = append(cs, Chip{Kind: kind, Text: apart.what, Off: func() { o := in; apart.off(&o); set(o) }})
		}
	}
	return cs
}

// threads returns the chip of the selected threads.
func threads(p *lanes.Timeline, in recording.Scope, set func(recording.Scope)) Chip {
	var names []string
	n, word := 0, "thread"
	for _, i := range in.Tracks {
		if i < 0 || i >= len(p.Rec.Tracks) {
			continue
		}
		if n++; n == 1 {
			word = p.Rec.ThreadWord(i)
		} else if word != p.Rec.ThreadWord(i) {
			word = "track"
		}
		if n <= mostTold {
			names = append(names, timeline.NameAndID(p.Rec.Tracks[i]))
		}
	}
	c := Chip{Kind: word, Text: strings.Join(names, ", "), Off: func() { set(in.On(nil)) }}
	switch {
	case n == 0:
		c.Kind, c.Text = "", "no "+p.Rec.ThreadWord(recording.NoTrack)+"s"
		return c
	case n > mostNamed+1:
		c.Text = strings.Join(names[:mostNamed], ", ") + " and " + units.Count(int64(n-mostNamed)) + " more"
		if c.More = names[mostNamed:]; n > mostTold {
			c.More = append(c.More[:len(c.More):len(c.More)], "and "+units.Count(int64(n-mostTold))+" more")
		}
		fallthrough
	case n > 1:
		c.Kind = word + "s"
	}
	c.More = append(c.More[:len(c.More):len(c.More)], "Click to go there")
	c.Go = func() { p.GoToTrack(in.Tracks[0]) }
	return c
}

// LeftOut returns the chips of the data that a scope excludes from its sums: async
// operations and idle samples.
func LeftOut(left analyze.LeftOut, in recording.Scope, set func(recording.Scope)) (cs []Chip) {
	add := func(text string, with func(*recording.Scope)) {
		cs = append(cs, Chip{Text: text, Adds: true, More: []string{"Click to include"}, Go: func() { o := in; with(&o); set(o) }})
	}
	if left.AsyncSpans > 0 {
		add("async spans hidden ("+units.Duration(left.AsyncTime)+")", func(in *recording.Scope) { in.Async = recording.In })
	}
	switch {
	case left.IdleRecords > 0 && left.Waits:
		add(left.IdleName()+" hidden ("+units.Duration(left.Idle)+")", func(in *recording.Scope) { in.Idle = recording.In })
	case left.IdleRecords > 0:
		add(units.Plural(left.IdleRecords, "idle sample")+" hidden", func(in *recording.Scope) { in.Idle = recording.In })
	}
	return cs
}

// Stacks returns the chips of the transforms. A transform with an operand can be edited.
func Stacks(h *panel.Host, p *panel.Side) (cs []Chip) {
	for i, t := range p.Transforms {
		c := Chip{Text: t.String(), Off: func() { p.Transform(t) }}
		if t.IsWhere() {
			c.Kind = "where"
		}
		if k := t.Kind(); k != nil && k.Of != analyze.OfAll {
			c.More = []string{"Click to edit"}
			c.Go = func() { edit(h, p, i, k, t) }
		}
		cs = append(cs, c)
	}
	return cs
}

// edit asks for a new operand of the ith transform.
func edit(h *panel.Host, p *panel.Side, i int, k *analyze.TransformKind, t analyze.Transform) {
	c := widget.NewChooser(k.Usage, t.Typed(p.Rec), func(text string) []widget.Line {
		to := k.Make(strings.TrimSpace(text))
		err := to.Check()
		if err == nil {
			err = (&view.Stacks{Transforms: []analyze.Transform{to}}).Check(p.Rec)
		}
		if err != nil {
			return []widget.Line{{Title: err.Error(), Dim: true, Take: func() {}}}
		}
		return []widget.Line{{Title: to.String(), Take: func() {
			h.Chooser = nil
			if i < len(p.Transforms) {
				all := append([]analyze.Transform(nil), p.Transforms...)
				all[i] = to
				p.Transforms = all
			}
		}}}
	})
	c.Rows = 1
	h.OpenChooser(c)
}
