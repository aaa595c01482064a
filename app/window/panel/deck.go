package panel

import (
	"image"
	"slices"

	"gioui.org/io/event"
	"gioui.org/io/key"
	gio "gioui.org/widget"

	"ashlar/app/core/tables"
	"ashlar/render/ui"
	"ashlar/render/widget"
)

// Deck holds a panel for each row of a registry and shows one of them, by name.
type Deck[S any] struct {
	Rows []Row[S]
	All  []Panel[S]
	keys []widget.ClickArea // click areas of the tabs
	more gio.Clickable
}

// NewDeck makes the panels of a registry.
func NewDeck[S any](rows []Row[S]) Deck[S] {
	d := Deck[S]{Rows: rows, keys: make([]widget.ClickArea, len(rows))}
	for i := range rows {
		d.All = append(d.All, rows[i].New())
	}
	return d
}

// Stop cancels the background work of the panels that have some.
func (d *Deck[S]) Stop() {
	for _, p := range d.All {
		if p, ok := p.(interface{ Stop() }); ok {
			p.Stop()
		}
	}
}

// Only returns a deck of some of the panels; both decks share them.
func (d *Deck[S]) Only(names ...string) Deck[S] {
	var o Deck[S]
	for i := range d.Rows {
		if slices.Contains(names, d.Rows[i].Name) {
			o.Rows, o.All = append(o.Rows, d.Rows[i]), append(o.All, d.All[i])
		}
	}
	o.keys = make([]widget.ClickArea, len(o.Rows))
	return o
}

// At returns the index of a name in the registry, -1 for an unknown name.
func (d *Deck[S]) At(name string) int {
	for i := range d.Rows {
		if d.Rows[i].Name == name {
			return i
		}
	}
	return -1
}

// Names returns the panels' names in addresses.
func (d *Deck[S]) Names() (names []string) {
	for i := range d.Rows {
		names = append(names, d.Rows[i].Name)
	}
	return names
}

// Shown returns the panel with a name, or the first panel if the name is unknown.
func (d *Deck[S]) Shown(name string) Panel[S] { return d.All[max(0, d.At(name))] }

// Title returns the title of the tab with a name.
func (d *Deck[S]) Title(name string) string { return d.Rows[max(0, d.At(name))].Title }

// rare reports whether a panel's tab is hidden unless the panel is shown.
func (d *Deck[S]) rare(i int, of S) bool { return d.Rows[i].Rare != nil && d.Rows[i].Rare(of) }

// Next returns the name of the next tab that is not hidden.
func (d *Deck[S]) Next(name string, of S) string {
	at := d.At(name) + 1
	for d.rare(at%len(d.Rows), of) {
		at++
	}
	return d.Rows[at%len(d.Rows)].Name
}

// Tag identifies the area of the tabs for the keyboard focus.
func (d *Deck[S]) Tag() event.Tag { return &d.keys }

// Area begins the panels' focus area; its keys go to the shown panel. It reports whether
// to draw the focus.
func (d *Deck[S]) Area(u *ui.UI, tag event.Tag, name string, of S) bool {
	var keys func(key.Event) bool
	if x, ok := d.Shown(name).(Keyed[S]); ok {
		keys = func(k key.Event) bool { return x.Key(of, k, u.Px(widget.RowHeight)) }
	}
	var parts []event.Tag
	for _, x := range d.All {
		if a, ok := x.(Areas); ok {
			parts = append(parts, a.Areas()...)
		}
	}
	return u.Area(tag, keys, parts...)
}

func (d *Deck[S]) tabWidth(u *ui.UI, i int) int {
	return u.Measure(d.Rows[i].Title, ui.Style{Size: 12.5, Weight: ui.Medium}).X
}

// TabsWidth returns the width of all tabs together, gap dp apart.
func (d *Deck[S]) TabsWidth(u *ui.UI, name string, of S, gap float32) (w int) {
	for i := range d.Rows {
		if i == d.At(name) || !d.rare(i, of) {
			w += d.tabWidth(u, i) + u.Px(gap)
		}
	}
	return w
}

// Tabs draws the tabs in r up to right, gap dp apart, and handles clicks on them; it
// returns their right end. Tabs for which there is no room are in a menu at the end,
// together with those that are rarely shown; the tab of the visible panel always has room.
func (d *Deck[S]) Tabs(h *Host, u *ui.UI, r image.Rectangle, name *string, of S, right int, gap float32) int {
	th := u.Theme
	x := r.Min.X + u.Px(14)
	shown, rest := d.fitting(u, right-x, *name, of, gap)
	for _, i := range shown {
		title, is := d.Rows[i].Title, d.Rows[i].Name == *name
		st := ui.Style{Size: 12.5, Color: th.Dim}
		switch {
		case is:
			st.Color, st.Weight = th.Text, ui.Medium
		case d.Rows[i].NoData != nil && d.Rows[i].NoData(of):
			st.Color = th.Faint
		}
		w := d.tabWidth(u, i)
		clicked, hovered := d.keys[i].Clicked(u, image.Rect(x-u.Px(6), r.Min.Y+1, x+w+u.Px(10), r.Max.Y))
		if clicked {
			*name = d.Rows[i].Name
		}
		if hovered && !is {
			st.Color = th.Text
		}
		u.Text(image.Rect(x, r.Min.Y, x+w+u.Px(8), r.Max.Y), title, st)
		if is {
			u.Round(image.Rect(x, r.Max.Y-u.Px(3), x+w, r.Max.Y), 1.5, th.Accent)
		}
		x += w + u.Px(gap)
	}
	if len(rest) == 0 {
		return x
	}
	w := u.Choice(&d.more, x-u.Px(6), r.Min.Y+u.Px(4), moreTabs, 0)
	if d.more.Clicked(u.Context) {
		var items []widget.Item
		for _, i := range rest {
			items = append(items, widget.Item{Title: d.Rows[i].Title, Do: func() { *name = d.Rows[i].Name }})
		}
		h.Menu = widget.NewMenu(image.Pt(x-u.Px(6), r.Max.Y), items)
	}
	return x + w
}

// moreTabs is the title of the menu of the tabs for which there is no room.
const moreTabs = "More"

// fitting returns the tabs that fit into room pixels and the tabs for the menu, which is
// empty if all tabs fit.
func (d *Deck[S]) fitting(u *ui.UI, room int, name string, of S, gap float32) (shown, rest []int) {
	chosen, space := d.At(name), u.Px(gap)
	full := d.TabsWidth(u, name, of, gap)-space > room
	if room += space; full { // there is no gap after the last tab
		room -= u.ChoiceWidth(nil, moreTabs, 0) + space
	}
	if chosen >= 0 {
		room -= d.tabWidth(u, chosen) + space
	}
	for i := range d.Rows {
		w := d.tabWidth(u, i) + space
		switch {
		case i == chosen:
			shown = append(shown, i)
		case d.rare(i, of):
			rest = append(rest, i)
		case w <= room:
			shown = append(shown, i)
			room -= w
		default:
			room, rest = 0, append(rest, i)
		}
	}
	if !full {
		return shown, nil
	}
	return shown, rest
}

// Tooltip draws the tooltip of the panel with a name, if it has one.
func (d *Deck[S]) Tooltip(h *Host, u *ui.UI, name string, of S) {
	if x, ok := d.Shown(name).(Tipped[S]); ok {
		x.Tooltip(h, of, u)
	}
}

// Half is a deck together with the name of the shown panel and the recording or
// comparison that it shows.
type Half interface {
	// Title returns the text of the visible tab, Next shows the next panel.
	Title() string
	Next()
	// Scroll returns the scroll position of the panel in pixels, nil if it does not scroll;
	// Table returns its content as [Tabled] does, nil if it has none.
	Scroll() *int
	Table() func() *tables.Grid
}

type half[S any] struct {
	*Deck[S]
	shown *string
	of    S
}

// Of returns the deck with the recording or comparison that its panels show.
func (d *Deck[S]) Of(shown *string, of S) Half { return half[S]{d, shown, of} }

func (h half[S]) Title() string { return h.Deck.Title(*h.shown) }

func (h half[S]) Next() { *h.shown = h.Deck.Next(*h.shown, h.of) }

func (h half[S]) Scroll() *int {
	if x, ok := h.Shown(*h.shown).(Scrolled[S]); ok {
		return x.Scroll(h.of)
	}
	return nil
}

func (h half[S]) Table() func() *tables.Grid {
	if x, ok := h.Shown(*h.shown).(Tabled[S]); ok {
		return x.Table(h.of)
	}
	return nil
}

// Bar draws the background of the tabs, with a grip if the border above can be dragged.
func Bar(u *ui.UI, r image.Rectangle, grip bool) {
	u.Fill(r, u.Theme.Surface)
	u.HLine(r.Min.X, r.Max.X, r.Min.Y, u.Theme.Rule)
	if grip {
		u.Round(ui.Rect((r.Min.X+r.Max.X)/2-u.Px(18), r.Min.Y-u.Px(1), u.Px(36), u.Px(3)), 1.5, u.Theme.Faint)
	}
}
