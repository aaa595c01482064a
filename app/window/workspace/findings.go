package workspace

import (
	"context"
	"image"
	"time"

	"ashlar/app/agent/findings"
	"ashlar/app/core/session"
	"ashlar/app/core/view"
	"ashlar/app/window/findingbar"
	"ashlar/ingest/model/recording"
	"ashlar/render/ui"
)

// leads is a pane's row of findings.
type leads struct {
	Bar   findingbar.Bar
	found session.Async[*recording.Recording, []findings.Finding]
	shown bool
	noted bool      // whether the status line said that there are no findings
	asked time.Time // when the findings were asked for
}

// Findings returns the findings of the recording, and whether they have been computed.
func (p *Pane) Findings() ([]findings.Finding, bool) {
	all, of, ok := p.Leads.found.Last()
	return all, ok && of == p.Rec
}

const noFindings = "Nothing unusual found"

// findings draws the row of findings at the top of r, if it is shown, and returns the rest
// of r. The findings are computed once the first answer is on screen. If there are none, the
// row makes room, and the status line says so unless it says something else.
func (p *Pane) findings(d *Workspace, u *ui.UI, r image.Rectangle) (rest image.Rectangle) {
	l := &p.Leads
	if !l.shown || d.View != Both {
		return r
	}
	rec := p.Rec // the next frame may have another
	c := findingbar.Content{Show: func(f *findings.Finding) { d.explain(f) }, Close: func() { p.closeFindings(d) }}
	if a := p.Doc.Answer(); rec.Done && (a != nil && a.Rec == rec || d.Do.Wake == nil) {
		if l.asked.IsZero() {
			l.asked = u.Now
		}
		all, of, ok := l.found.Ask(rec, d.Do.Wake, func(ctx context.Context) ([]findings.Finding, error) { return findings.Of(ctx, rec) })
		switch {
		case ok && of == rec && len(all) == 0 && !l.noted:
			l.noted, l.shown = true, false
			if !u.Now.Before(d.Note.Until) { // what it says now matters more
				d.Say(noFindings)
			}
			return r
		case ok && of == rec && len(all) == 0:
			c.Note = noFindings // the row was asked for
		case ok && of == rec:
			c.Found = all
			if all[0].Kind == findings.Cost {
				c.Note = noFindings
			}
		case u.Now.Sub(l.asked) >= signDelay:
			c.Note = "Looking for unusual behaviour…"
		default:
			d.WakeAt(l.asked.Add(signDelay))
		}
	}
	row := image.Rect(r.Min.X, r.Min.Y, r.Max.X, r.Min.Y+u.Px(findingbar.Height))
	l.Bar.Layout(&d.Host, u, row, c)
	r.Min.Y = row.Max.Y
	return r
}

// shortTime determines which selected times are hard to see: those shorter than
// 1/shortTime of the recording.
const shortTime = 20

// explain shows the evidence of a finding, as one step of the history.
func (d *Workspace) explain(f *findings.Finding) {
	st, err := view.Parse(f.Address)
	if err != nil {
		d.Say(err.Error())
		return
	}
	p := d.Pane
	if s := &st.Sides[0]; s.Select.HasFrom && s.Select.HasTo && !s.Show.IsSet() {
		// Zoom to a short time, with as much before and after it.
		if length := s.Select.To - s.Select.From; length > 0 && length < p.Rec.Duration()/shortTime {
			s.Show = recording.Offsets(max(0, s.Select.From-length), min(s.Select.To+length, p.Rec.Duration()))
		}
	}
	st.Files, st.Contents = []string{p.file()}, nil
	p.opened(st)
	if st.Colour == "" {
		st.Colour = string(d.Mode)
	}
	d.Navigate(st)
}

// closeFindings hides the row of findings of this recording.
func (p *Pane) closeFindings(d *Workspace) {
	p.Leads.shown = false
	p.Leads.found.Cancel()
	d.Say("Findings closed. The command “Show or hide findings” brings them back")
}

// ToggleFindings shows or hides the row of findings, here and in recordings that are
// opened later.
func (d *Workspace) ToggleFindings() {
	p := d.Pane
	p.Leads.shown = !p.Leads.shown
	d.NoFindings = !p.Leads.shown
}
