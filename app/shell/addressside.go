package shell

import (
	"maps"
	"slices"

	"ashlar/app/address"
	"ashlar/ingest/recording"
	"ashlar/render/timeline"
	"ashlar/render/ui"
)

// sideAddress is what an address says of a recording's timeline; dp is how many
// pixels a dp has.
func (p *pane) sideAddress(dp float32) address.Side {
	sd := address.Side{Sort: string(p.sort), Filter: p.filter, Scroll: inDP(p.view.Scroll, dp),
		Threads: threadNames(p.rec, p.sel.Tracks), Pin: threadNames(p.rec, p.pinned), Order: threadNames(p.rec, p.order)}
	if p.moved {
		sd.Show = &address.Range{From: p.view.From - p.rec.Start, To: p.view.To - p.rec.Start}
	}
	if p.sel.Ranged {
		sd.Select = &address.Range{From: p.sel.From - p.rec.Start, To: p.sel.To - p.rec.Start}
	}
	for _, i := range slices.Sorted(maps.Keys(p.folds)) {
		switch p.folds[i] {
		case timeline.Closed:
			sd.Fold = append(sd.Fold, threadName(p.rec, i))
		case timeline.Full:
			sd.Unfold = append(sd.Unfold, threadName(p.rec, i))
		}
	}
	for _, i := range slices.Sorted(maps.Keys(p.hidden)) {
		if p.hidden[i] {
			sd.Hide = append(sd.Hide, threadName(p.rec, i))
		}
	}
	for _, i := range slices.Sorted(maps.Keys(p.closed)) {
		if p.closed[i] {
			sd.Close = append(sd.Close, processName(p.rec, i))
		}
	}
	if p.atGoal {
		sd.Goal = new(p.goal - p.rec.Start)
	}
	return sd
}

// inDP is a length in dp, so that it comes back as it was where a dp is as
// large.
func inDP(px int, dp float32) float32 {
	if dp <= 0 || px == 0 {
		return 0
	}
	return float32(px) / dp
}

func threadNames(rec *recording.Recording, tracks []int) (names []address.Thread) {
	for _, i := range tracks {
		names = append(names, threadName(rec, i))
	}
	return names
}

// pinnedProcess is what an address calls the group of pinned threads, which has
// no id.
const pinnedProcess = "pinned"

// processName tells a process by its id, and by its name where another has the
// same; pinned threads have a header of their own.
func processName(rec *recording.Recording, i int) address.Process {
	if i < 0 {
		return address.Process{PID: -1, Name: pinnedProcess}
	}
	p := &rec.Processes[i]
	for k := range rec.Processes {
		if o := &rec.Processes[k]; k != i && o.PID == p.PID {
			return address.Process{PID: p.PID, Name: p.Name}
		}
	}
	return address.Process{PID: p.PID}
}

func processNamed(rec *recording.Recording, of address.Process) (i int, ok bool) {
	if of == (address.Process{PID: -1, Name: pinnedProcess}) {
		return -1, true
	}
	i = slices.IndexFunc(rec.Processes, func(p recording.Process) bool {
		return p.PID == of.PID && (of.Name == "" || p.Name == of.Name)
	})
	return i, i >= 0
}

// goToSide shows what an address says of a recording's timeline.
func (p *pane) goToSide(sd *address.Side, miss func(format string, args ...any)) {
	if r := sd.Select; r != nil {
		if p.selectRange(p.rec.Start+r.From, p.rec.Start+r.To); !p.sel.Ranged {
			miss("the selected time %s of the address lies outside the recording", r)
		}
	}
	if r := sd.Show; r != nil && p.rec.HasTime && r.From < r.To {
		p.fit(p.rec.Start+r.From, p.rec.Start+r.To)
		p.view.From, p.view.To = p.rec.Start+r.From, p.rec.Start+r.To
	}
	tracks := func(of []address.Thread) []int {
		is, missing := tracksNamed(p.rec, of)
		if missing != nil {
			miss("the recording has no thread %d of process %d", missing.TID, missing.PID)
		}
		return is
	}
	p.sel.Tracks = tracks(sd.Threads)
	if slices.Sort(p.sel.Tracks); p.sel.Tracks != nil {
		p.sel.Tracks = slices.Compact(p.sel.Tracks)
	}
	p.pinned, p.order = tracks(sd.Pin), tracks(sd.Order)
	p.folds, p.hidden, p.closed = map[int]timeline.Fold{}, map[int]bool{}, map[int]bool{}
	for _, i := range tracks(sd.Fold) {
		p.folds[i] = timeline.Closed
	}
	for _, i := range tracks(sd.Unfold) {
		p.folds[i] = timeline.Full
	}
	for _, i := range tracks(sd.Hide) {
		p.hidden[i] = true
	}
	for _, pr := range sd.Close {
		if i, ok := processNamed(p.rec, pr); ok {
			p.closed[i] = true
		} else {
			miss("the recording has no process %d", pr.PID)
		}
	}
	if p.filter = sd.Filter; slices.Contains(timeline.Sorts, timeline.Sort(sd.Sort)) {
		p.sort = timeline.Sort(sd.Sort)
	} else {
		miss("threads cannot be sorted by %q", sd.Sort)
	}
	if sd.Goal != nil {
		p.goal, p.atGoal = p.rec.Start+*sd.Goal, true
	}
}

// barAddress names the picked bar.
func (p *pane) barAddress() *address.Bar {
	h := &p.pick.hit
	at := h.Start
	if h.Samples != nil {
		at = h.Samples.Time(h.First)
	}
	return &address.Bar{Thread: threadName(p.rec, h.Track), Lane: h.Lane, Time: at - p.rec.Start}
}

// barNamed finds a bar that begins at a time: a span, or one of samples.
func (p *pane) barNamed(b *address.Bar) (timeline.Hit, bool) {
	is, missing := tracksNamed(p.rec, []address.Thread{b.Thread})
	if missing != nil {
		return timeline.Hit{}, false
	}
	t, at := p.rec.Tracks[is[0]], p.rec.Start+b.Time
	if b.Lane < len(t.Lanes) {
		h, ok := barAt(t, is[0], b.Lane, at)
		return h, ok && h.Start == at
	}
	for _, s := range t.Samples {
		i := s.Search(at)
		if s.Event != p.event || i >= s.Len() || s.Time(i) != at {
			continue
		}
		return p.sampleBarAt(is[0], b.Lane-len(t.Lanes), i, s)
	}
	return timeline.Hit{}, false
}

// arriveScrolled scrolls as an address says, once there is what is scrolled.
func (p *pane) arriveScrolled(u *ui.UI) {
	v := p.visit.scrolled
	if v == nil || p.visit.answered != nil {
		return
	}
	p.visit.scrolled = nil
	sd := &v.Side
	if p.visit.side == 1 {
		sd = &v.Beside
	}
	p.view.Scroll = u.Px(sd.Scroll)
	if to := p.tabScroll(); to != nil && v.Down != 0 && !p.visit.paired {
		*to = u.Px(v.Down)
		if p.tab == tabSource {
			file, _ := p.sourceFile()
			p.sourcePart.of, p.sourcePart.at = sourceSpot{file, p.pick.fn}, int32(v.Line)
		}
	}
}

// tabScroll is how far the chosen tab is scrolled, nil where it is not.
func (p *pane) tabScroll() *int {
	switch p.tab {
	case tabFlame:
		return &p.flame.scroll
	case tabTable:
		return &p.table.scroll
	case tabNear:
		if !p.near.lists {
			return &p.near.pic.scroll
		}
	case tabSource:
		return &p.sourcePart.scroll
	}
	return nil
}
