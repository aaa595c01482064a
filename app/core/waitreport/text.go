package waitreport

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"ashlar/app/core/tabular"
	"ashlar/ingest/input/safetext"
	"ashlar/ingest/model/order"
	"ashlar/ingest/model/recording"
	"ashlar/ingest/query/analyze"
	"ashlar/ingest/query/waits"
	"ashlar/render/units"
)

// Limits of the text per lock.
const (
	textStack   = 4  // functions of a stack
	textThreads = 5  // holders, and losers
	textWidth   = 56 // characters of the picture of a convoy
	textLines   = 8  // threads in the picture of a convoy
)

// Derived explains holds.
const Derived = "Holds are derived from wake-ups: a hold lasts from its first waiter, or from the previous release, to the wake-up. Holds without waiters are unknown."

// Text writes the first n locks for people.
func (a *Answer) Text(n int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s blocked in %s\n", safetext.Short(a.rec.Source.Name), units.Duration(a.blocked), units.Plural(int64(a.Waits), "wait"))
	if a.IdleWaits > 0 {
		fmt.Fprintf(&b, "%s excluded: %s in %s (--idle in includes them)\n", analyze.IdleWaits, units.Duration(a.idle), units.Plural(a.IdleWaits, "wait"))
	}
	if n > 0 {
		b.WriteString(Derived + "\n")
	}
	kind := ""
	for i := range a.locks[:n] {
		l := &a.locks[i]
		if k := l.Kind.String(); k != kind {
			fmt.Fprintf(&b, "\n%s\n", strings.ToUpper(k[:1])+k[1:])
			kind = k
		}
		a.lockText(&b, l)
	}
	if more := a.More + len(a.locks) - n; more > 0 {
		fmt.Fprintf(&b, "\n… and %s more; -n 0 prints all\n", units.Count(int64(more)))
	}
	return b.String()
}

func (a *Answer) lockText(b *strings.Builder, l *waits.Lock) {
	fmt.Fprintf(b, "\n  %s", safetext.Short(l.Title(a.rec)))
	if more := len(l.Places) - 1; more > 0 {
		fmt.Fprintf(b, " and %s", units.Plural(int64(more), "more place"))
	}
	fmt.Fprintf(b, "\n    lost %s in %s of %s, longest %s\n", units.Duration(l.Lost), units.Plural(int64(l.Waits), "wait"), units.Plural(int64(l.Waiters), a.rec.ThreadWord(l.Losers[0].Track)), units.Duration(l.Longest))
	fmt.Fprintf(b, "    held %s in %s (derived), median %s, longest %s\n", units.Duration(l.Held), units.Plural(int64(len(l.Holds)), "hold"), units.Duration(l.Median), units.Duration(l.LongestHold))
	var held, lost []row
	for _, h := range l.Holders {
		held = append(held, row{h.Track, h.Call, 1, h.Count, h.Held, h.Median, h.Longest})
	}
	for _, w := range l.Losers {
		lost = append(lost, row{w.Track, w.Call, 1, w.Count, w.Lost, 0, w.Longest})
	}
	if len(held) > 1 || held[0].track != recording.NoTrack {
		a.rows(b, [][]string{{"held", "holds", "median", "longest", "by"}}, held)
	}
	a.rows(b, [][]string{{"lost", "waits", "longest", "by"}}, lost)
	if l.Kind == waits.Locks {
		a.convoyText(b, l)
	}
}

// row is a line about a thread, or about several threads with one name and stack; track is
// then that of the longest.
type row struct {
	track                int
	call                 recording.CallID
	threads, count       int
	sum, median, longest int64
}

// rows writes rows below heads. If there are many, it merges the rows of threads with the same
// name and stack.
func (a *Answer) rows(b *strings.Builder, text [][]string, rows []row) {
	if len(rows) > textThreads {
		rows = a.merged(rows)
	}
	withMedian := len(text[0]) == 5
	for i := range rows {
		r := &rows[i]
		if i == textThreads {
			more := make([]string, len(text[0]))
			more[len(more)-1] = "… and " + units.Count(int64(len(rows)-i)) + " more"
			text = append(text, more)
			break
		}
		line := []string{units.Duration(r.sum), units.Count(int64(r.count)), units.Duration(r.longest), a.who(r)}
		if withMedian {
			median := ""
			if r.threads == 1 {
				median = units.Duration(r.median)
			}
			line = slices.Insert(line, 2, median)
		}
		text = append(text, line)
	}
	tabular.Columns(b, "    ", strings.Repeat("r", len(text[0])-1)+"l", text)
}

func (a *Answer) merged(rows []row) (all []row) {
	type key struct {
		name string
		call recording.CallID
	}
	at := map[key]int{}
	for _, r := range rows {
		k := key{call: r.call}
		if r.track != recording.NoTrack {
			k.name = a.rec.Tracks[r.track].Title()
		}
		i, ok := at[k]
		if !ok {
			at[k], all = len(all), append(all, r)
			continue
		}
		x := &all[i]
		x.threads++
		x.count += r.count
		recording.Add(&x.sum, r.sum)
		if r.longest > x.longest {
			x.longest, x.track = r.longest, r.track
		}
	}
	order.By(all, func(x, y row) int { return cmp.Compare(y.sum, x.sum) })
	return all
}

// who names a thread and what it did.
func (a *Answer) who(r *row) string {
	name := "unknown"
	if r.track != recording.NoTrack {
		name = a.rec.TrackLabel(r.track)
	}
	if r.threads > 1 {
		name = fmt.Sprintf("%s, longest of %s", name, units.Plural(int64(r.threads), a.rec.ThreadWord(r.track)))
	}
	if stack := waits.StackText(a.rec, r.call, textStack); stack != "" {
		name += ": " + stack
	}
	return safetext.Short(name)
}

// convoyText draws the longest convoy: a line per thread that held the lock or waited.
func (a *Answer) convoyText(b *strings.Builder, l *waits.Lock) {
	c := &l.Convoy
	if c.To <= c.From {
		return
	}
	fmt.Fprintf(b, "    longest convoy: %s from %s, %s, up to %s at once\n", units.Duration(c.To-c.From), units.Duration(c.From-a.rec.Start), units.Plural(int64(c.Waits), "wait"), units.Count(int64(c.Most)))
	var order []int
	lines := map[int][]rune{}
	mark := func(track int, from, to int64, with rune) {
		if track == recording.NoTrack || to <= c.From || from >= c.To {
			return
		}
		line, ok := lines[track]
		if !ok {
			line = []rune(strings.Repeat(" ", textWidth))
			lines[track], order = line, append(order, track)
		}
		x := func(at int64) int {
			return int(float64(max(0, min(at, c.To)-c.From)) / float64(c.To-c.From) * textWidth)
		}
		for i := min(x(from), textWidth-1); i < max(x(to), min(x(from), textWidth-1)+1); i++ {
			if with == '█' || line[i] == ' ' {
				line[i] = with
			}
		}
	}
	for i := range l.Holds {
		if h := &l.Holds[i]; h.To > c.From && h.From < c.To {
			mark(int(h.Waker.Track), h.From, h.To, '█')
		}
	}
	for _, w := range c.In {
		mark(w.Track, w.From, w.To, '·')
	}
	rows := [][]string{}
	for i, track := range order {
		if i == textLines {
			rows = append(rows, []string{"", units.Plural(int64(len(order)-i), "more "+a.rec.ThreadWord(track))})
			break
		}
		rows = append(rows, []string{"|" + string(lines[track]) + "|", cmp.Or(safetext.Short(a.rec.TrackLabel(track)), "unknown")})
	}
	tabular.Columns(b, "      ", "ll", rows)
	b.WriteString("      █ holds · waits\n")
}
