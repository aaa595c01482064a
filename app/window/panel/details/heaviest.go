package details

import (
	"image"

	"ashlar/app/window/panel"
	"ashlar/ingest/query/analyze"
	"ashlar/render/theme"
	"ashlar/render/ui"
	"ashlar/render/units"
)

// heaviest lists the functions with the largest self weight by magnitude: negative
// weights, as for memory freed between two heap profiles, count by their distance from
// zero. It lists as many as fit into r, but at least fewestHeaviest; the panel scrolls if
// these do not fit.
func (p *Panel) heaviest(s *panel.Host, u *ui.UI, r image.Rectangle) int {
	a := p.Doc.Answer()
	if a == nil || len(a.Rows) == 0 {
		return r.Min.Y
	}
	th := u.Theme
	m := a.Metric()
	line := u.Px(22)
	y := r.Min.Y
	sheet := &p.sheet
	title := "Top functions by self"
	if a.Rows[len(a.Rows)-1].Self < 0 {
		title += ", increases and decreases"
	}
	sheet.Text(image.Rect(r.Min.X, y, r.Max.X, y+line), title, ui.Style{Size: 12, Weight: ui.Medium, Color: th.Dim})
	y += line + u.Px(2)
	listed := heaviestRows(a.Rows, mostHeaviest)
	same, widest := map[string]int{}, 0 // number of functions with a name
	for _, i := range listed {
		same[a.Rows[i].Name]++
		widest = max(widest, u.Width(units.Value(a.Rows[i].Self, m), ui.Style{Size: 12}))
	}
	names, values, shares := heaviestColumns(u, r, widest)
	for n, i := range listed {
		if n >= fewestHeaviest && y+line > r.Max.Y {
			break
		}
		row := &a.Rows[i]
		box := image.Rect(r.Min.X-u.Px(6), y, r.Max.X+u.Px(6), y+line)
		clicked, hovered := p.click().Clicked(u, box)
		if clicked {
			p.PickSelf(a, row.Func)
		}
		if hovered {
			sheet.Fill(box, 4, theme.WithAlpha(th.Text, .06))
		}
		sheet.Fill(ui.Rect(r.Min.X, y+line/2-u.Px(4), u.Px(8), u.Px(8)), 1, p.Swatch(a, row))
		if !values.Empty() {
			sheet.Text(values.Add(image.Pt(0, y)), units.Value(row.Self, m), ui.Style{Size: 12, Color: th.Text, Align: ui.End})
		}
		if !shares.Empty() {
			sheet.Text(shares.Add(image.Pt(0, y)), units.Percent(row.Self, a.Tree.Nodes[0].Total), ui.Style{Size: 12, Color: th.Dim, Align: ui.End})
		}
		f := s.Fonts.Regular(12 * u.Metric.PxPerDp)
		at, room := names.Add(image.Pt(0, y)), float32(names.Dx()-u.Px(4))
		name := f.Fit(row.Name, room)
		sheet.Text(at, name, ui.Style{Size: 12, Color: th.Text})
		if same[row.Name] > 1 { // the module tells them apart
			used := f.Measure(name) + float32(u.Px(6))
			at.Min.X += int(used)
			sheet.Text(at, f.FitText(analyze.ModuleBase(row.Module), room-used), ui.Style{Size: 12, Color: th.Faint})
		}
		y += line
	}
	return y
}

// heaviestColumns returns the columns of the list of functions in r, for a line with its
// top at 0: names and, where these leave room for them, values, of which the widest is
// given in pixels, and shares.
func heaviestColumns(u *ui.UI, r image.Rectangle, widest int) (names, values, shares image.Rectangle) {
	least, share, value := u.Px(90), u.Px(48), widest+u.Px(10)
	names = image.Rect(r.Min.X+u.Px(14), 0, r.Max.X, u.Px(22))
	if names.Dx() >= least+value+share || names.Dx() < least+value && names.Dx() >= least+share {
		shares = names
		shares.Min.X = names.Max.X - share
		names.Max.X = shares.Min.X
	}
	if names.Dx() >= least+value {
		values = names
		values.Min.X = names.Max.X - value
		names.Max.X = values.Min.X
	}
	return names, values, shares
}

// heaviestRows returns the indices of the rows, at most most, whose self is farthest from
// zero; rows must be sorted by self.
func heaviestRows(rows []analyze.Row, most int) (at []int) {
	far := func(i int) uint64 {
		if v := rows[i].Self; v < 0 {
			return -uint64(v)
		}
		return uint64(rows[i].Self)
	}
	for i, k := 0, len(rows)-1; i <= k && len(at) < most; {
		next := i
		if far(k) > far(i) {
			next = k
			k--
		} else {
			i++
		}
		if far(next) == 0 {
			break
		}
		at = append(at, next)
	}
	return at
}

// mostHeaviest and fewestHeaviest are the largest and smallest number of functions that
// heaviest lists.
const mostHeaviest, fewestHeaviest = 24, 6
