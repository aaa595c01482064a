package shell

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"ashlar/app/address"
	"ashlar/ingest/analyze"
	"ashlar/ingest/compare"
	"ashlar/ingest/recording"
	"ashlar/render/ui"
)

// What addresses call the tabs of a comparison, the columns of its table, and
// what that and the list of pairs are filtered by; they never change.
var (
	compareTabKeys       = [compareTabs]string{"difference", "two", "table", "distribution", "pairing", "about"}
	differenceColumnKeys = [differenceColumns]string{"difference", "name", "module", "a", "b", "change", "share", "sure", "other"}
	filterKeys           = [filterCount]string{"more", "less", "new", "gone", "sure"}
)

// switches are the words of an address for what is switched in a comparison.
func (c *comparison) switches() map[string]*bool {
	o, m := &c.options, &c.options.Match
	return map[string]*bool{"total": &o.Total, "self-times": &o.SelfTime, "by-call": &c.link.byCall,
		"no-module": &m.NoModule, "no-name": &m.NoName, "no-similar": &m.NoSimilar, "no-order": &m.NoOrder}
}

// onlyWords tell that the marked function is of one side alone.
var onlyWords = [2]string{"only-a", "only-b"}

const (
	wordUnlinked = "unlinked"
	wordB        = "b"
)

// address says what is shown of a comparison.
func (c *comparison) address(v *address.View, dp float32) {
	o := &c.options
	v.Files = []string{c.panes[0].file(), c.panes[1].file()}
	v.Side, v.Beside = c.panes[0].sideAddress(dp), c.panes[1].sideAddress(dp)
	if c.above {
		v.Layout = address.Above
	}
	v.Anchor, v.Beside.Anchor = c.link.anchors[0], c.link.anchors[1]
	for _, m := range c.panes[0].marks.all {
		v.Marks = append(v.Marks, address.Mark{Place: m.Place, Text: m.Text})
	}
	f := c.panes[c.focus]
	if f.pick.is == pickBar {
		[]*address.Side{&v.Side, &v.Beside}[c.focus].Bar = f.barAddress()
	}
	v.Event, v.Metric, v.Split = o.Event, o.Metric, c.split
	if c.tab != compareFlame {
		v.Tab = compareTabKeys[c.tab]
	}
	if c.chosen != nil {
		of := *c.chosen
		v.Function = &of
		for i, p := range c.panes {
			if c.panes[1-i].pick.is == pickNone && p.pick.named() {
				v.With = append(v.With, onlyWords[i])
			}
		}
	}
	v.Zoom = slices.Clone(c.flame.zoom)
	if a := f.doc.Answer(); c.tab == compareTwo && a != nil {
		v.Zoom = nil
		for _, st := range f.flame.zoom {
			v.Zoom = append(v.Zoom, stepFunction(a.Rec, a.Tree, st).FuncName())
		}
	}
	if a := c.answer(); a != nil && c.flame.node > 0 && int(c.flame.node) < len(a.Shape.Nodes) {
		v.Node = namesOf(a.Shape.Tree, int(c.flame.node))
	}
	c.addressOptions(v)
	if to := c.tabScroll(); to != nil {
		v.Down = inDP(*to, dp)
	}
}

// addressOptions says how a comparison is made and its table shaped.
func (c *comparison) addressOptions(v *address.View) {
	o := &c.options
	for word, on := range c.switches() {
		if *on {
			v.With = append(v.With, word)
		}
	}
	for word, on := range map[string]bool{wordUnlinked: !c.link.on, wordB: c.focus == 1, wordUp: c.panes[c.focus].flame.up} {
		if on {
			v.With = append(v.With, word)
		}
	}
	slices.Sort(v.With)
	if o.Normalize != compare.Raw {
		v.Normalize = string(o.Normalize)
	}
	if o.Width != compare.WidthLarger {
		v.Width = string(o.Width)
	}
	if o.By != compare.ByFunction {
		v.Table = string(o.By)
	}
	for _, p := range o.Match.Hand {
		v.Pairs = append(v.Pairs, p)
	}
	if t := &c.table; t.by != columnDifference || t.backward {
		if v.Sort = differenceColumnKeys[t.by]; t.backward {
			v.Sort = "-" + v.Sort
		}
	}
	for i, on := range c.table.filters {
		if on {
			v.Rows = append(v.Rows, filterKeys[i])
		}
	}
	if k := c.pairing.kind; c.tab == comparePairing && k < len(c.pairing.kinds) {
		v.Rows = []string{c.pairing.kinds[k].words()}
	}
}

// arrive goes on with a visit as far as it can; changed tells that there is
// something new to ask.
func (c *comparison) arrive(s *Shell) (changed bool, err error) {
	if v := c.visit.view; v != nil {
		if !c.panes[0].rec.Done || !c.panes[1].rec.Done {
			return false, nil
		}
		c.visit = visit{answered: v, marked: c.visit.marked}
		for _, p := range c.panes {
			_, perr := p.arrive()
			err = cmp.Or(err, perr)
		}
		err = cmp.Or(err, c.goToAddress(s, v))
		c.alike = c.now() // both sides are as the address says
		return true, err
	}
	v, a := c.visit.answered, c.answer()
	if v == nil || a == nil || a.Recs != [2]*recording.Recording{c.panes[0].rec, c.panes[1].rec} {
		return false, nil
	}
	marked := c.visit.marked
	c.visit = visit{scrolled: v}
	if err = c.goToAnswered(v); marked != nil {
		err = cmp.Or(err, c.markNamed(*marked))
	}
	return true, err
}

// goToAddress makes the comparison as an address says.
func (c *comparison) goToAddress(s *Shell, v *address.View) (err error) {
	miss := func(format string, args ...any) { err = cmp.Or(err, fmt.Errorf(format, args...)) }
	o := compareOptions{Event: v.Event, Metric: v.Metric, Normalize: compare.Raw, Width: compare.WidthLarger, By: compare.ByFunction}
	c.options = o
	for word, on := range c.switches() {
		*on = slices.Contains(v.With, word)
	}
	c.above = v.Layout == address.Above
	c.link.on = !slices.Contains(v.With, wordUnlinked)
	c.link.anchors = [2]int64{v.Anchor, v.Beside.Anchor}
	c.focusOn(s, b2i(slices.Contains(v.With, wordB)))
	if v.Normalize != "" {
		if n, nerr := compare.ParseNormalize(v.Normalize); nerr != nil {
			miss("%v", nerr)
		} else {
			c.options.Normalize = n
		}
	}
	if v.Width != "" {
		c.options.Width = compare.Width(v.Width)
	}
	if v.Table != "" {
		c.options.By = compare.By(v.Table)
	}
	for _, p := range v.Pairs {
		c.options.Match.Hand = append(c.options.Match.Hand, p)
	}
	c.paired = c.paired || v.Pairs != nil
	c.tab = compareFlame
	if v.Tab != "" {
		if i := slices.Index(compareTabKeys[:], v.Tab); i >= 0 {
			c.tab = compareTab(i)
		} else {
			miss("a comparison has no tab %q; there are %s", v.Tab, strings.Join(compareTabKeys[:], ", "))
		}
	}
	if c.split = 0; v.Split > 0 {
		c.split = max(.1, min(.9, v.Split))
	}
	if c.tab != compareTwo {
		c.flame.zoom = slices.Clone(v.Zoom)
	}
	c.goToTable(v, miss)
	return err
}

// goToTable shapes the table and the list of pairs as an address says.
func (c *comparison) goToTable(v *address.View, miss func(format string, args ...any)) {
	name, back := strings.CutPrefix(v.Sort, "-")
	if c.table.by, c.table.backward = columnDifference, back; name != "" {
		if i := slices.Index(differenceColumnKeys[:], name); i >= 0 {
			c.table.by = differenceColumn(i)
		} else {
			miss("the table of differences has no column %q", name)
		}
	}
	c.table.filters = tableFilters{}
	if c.tab == comparePairing {
		return
	}
	for _, r := range v.Rows {
		if i := slices.Index(filterKeys[:], r); i >= 0 {
			c.table.filters[i] = true
		} else {
			miss("the table of differences has no rows %q; there are %s", r, strings.Join(filterKeys[:], ", "))
		}
	}
}

// goToAnswered marks the function and the bars that an address names.
func (c *comparison) goToAnswered(v *address.View) (err error) {
	a := c.answer()
	if f := v.Function; f != nil {
		key := c.keyNamed(f, v.With)
		if key < 0 {
			return fmt.Errorf("the function %s is in neither recording", f.Name)
		}
		c.choose(a, key)
	}
	if c.flame.node = -1; v.Node != nil {
		c.flame.node = int32(find(a.Shape, v.Node))
	}
	if b := []*address.Bar{v.Bar, v.Beside.Bar}[c.focus]; b != nil {
		p := c.panes[c.focus]
		h, ok := p.barNamed(b)
		if !ok {
			return fmt.Errorf("no bar of thread %d begins there", b.Thread.TID)
		}
		p.pickHit(h)
		c.picked(c.focus)
		c.alike = c.now()
	}
	if c.tab == comparePairing && len(v.Rows) > 0 {
		c.pairing.refresh(a)
		i := slices.IndexFunc(c.pairing.kinds, func(k pairKind) bool { return k.words() == v.Rows[0] })
		if i < 0 {
			return fmt.Errorf("nothing was paired %s", v.Rows[0])
		}
		c.pairing.kind = i
	}
	return nil
}

// markNamed marks the heaviest of the functions that are meant.
func (c *comparison) markNamed(ref analyze.Ref) error {
	a := c.answer()
	of := map[int32]bool{}
	for i, rec := range a.Recs {
		for _, f := range ref.Functions(rec) {
			of[c.key(a, i, f)] = true
		}
	}
	best := (*compare.Row)(nil)
	for i := range a.Functions.Rows {
		if r := &a.Functions.Rows[i]; r.Key >= 0 && of[r.Key] && (best == nil || r.ATotal+r.BTotal > best.ATotal+best.BTotal) {
			best = r
		}
	}
	if best == nil {
		return fmt.Errorf("no function of the recordings is called %s", ref.Text)
	}
	c.choose(a, best.Key)
	return nil
}

// keyNamed is the function of the comparison that an address names, -1 for none.
// Where both sides have one of that name and they do not go together, words
// tell which it is.
func (c *comparison) keyNamed(f *recording.FuncName, words []string) int32 {
	only := -1
	for i, w := range onlyWords {
		if slices.Contains(words, w) {
			only = i
		}
	}
	best := int32(-1)
	for k, g := range c.answer().Compared.Tree.Funcs {
		if g.FuncName != *f {
			continue
		}
		if alone := aloneOn(&g); alone == only {
			return int32(k)
		}
		best = int32(k)
	}
	return best
}

// aloneOn is the side that alone has a function, -1 where both have it.
func aloneOn(g *compare.Func) int {
	switch {
	case g.In[1] < 0:
		return 0
	case g.In[0] < 0:
		return 1
	}
	return -1
}

// arriveScrolled scrolls as an address says, once there is what is scrolled.
func (c *comparison) arriveScrolled(u *ui.UI) {
	for _, p := range c.panes {
		p.arriveScrolled(u)
	}
	if v := c.visit.scrolled; v != nil {
		c.visit.scrolled = nil
		if to := c.tabScroll(); to != nil {
			*to = u.Px(v.Down)
		}
	}
}

// tabScroll is how far the chosen tab is scrolled, nil where it is not.
func (c *comparison) tabScroll() *int {
	switch c.tab {
	case compareFlame:
		return &c.flame.scroll
	case compareTwo:
		return &c.panes[c.focus].flame.scroll
	case compareTable:
		return &c.table.scroll
	case comparePairing:
		return &c.pairing.scroll
	}
	return nil
}
