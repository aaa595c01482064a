// Package palette finds commands, threads, marks, files and functions by typed text and
// ranks them in one list.
package palette

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"ashlar/app/core/session"
	"ashlar/ingest/model/recording"
	"ashlar/render/timeline"
	"ashlar/render/widget"
)

// Rank says how well a text names something, from 0 for the very title: 1 for its
// beginning, 2 where each word begins one of its words, 3 where each is somewhere in
// it. ok is false if one is not.
func Rank(title, text string) (rank int, ok bool) {
	title, text = strings.ToLower(title), strings.ToLower(strings.TrimSpace(text))
	switch {
	case title == text:
		return 0, true
	case strings.HasPrefix(title, text):
		return 1, true
	}
	rank = 2
	for _, w := range strings.Fields(text) {
		at := strings.Index(title, w)
		if at < 0 {
			return 0, false
		}
		for at > 0 && letter(title[at-1]) {
			next := strings.Index(title[at+1:], w)
			if next < 0 {
				rank = 3
				break
			}
			at += 1 + next
		}
	}
	return rank, true
}

func letter(c byte) bool { return c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c >= 0x80 }

// An Item is something to choose; Rank orders those of one kind that a text names as
// well.
type Item struct {
	widget.Line
	Rank int
}

// Command makes an item of a command, which comes before everything else where its
// title begins with what is typed, and right behind those where other words for it do.
func Command(i Item, text, words string) (Item, bool) {
	rank, ok := Rank(i.Title, text)
	if _, also := Rank(words, text); !ok && also {
		rank, ok = 2, true
	}
	if i.Rank += rank * kind; rank < 2 {
		i.Rank -= 2 * kind
	}
	return i, ok
}

// kind is more than the Ranks of one kind differ by.
const kind = 1 << 20

// Other makes an item of something that a text may also find by another name.
func Other(i Item, text string, names ...string) (Item, bool) {
	best, found := 0, false
	for _, n := range append(names, i.Title) {
		if rank, ok := Rank(n, text); ok && (!found || rank < best) {
			best, found = rank, true
		}
	}
	i.Rank += best*kind + kind/2
	return i, found
}

// Lines are the items in order.
func Lines(items []Item) []widget.Line {
	slices.SortStableFunc(items, func(a, b Item) int { return cmp.Compare(a.Rank, b.Rank) })
	lines := make([]widget.Line, len(items))
	for i := range items {
		lines[i] = items[i].Line
	}
	return lines
}

// most is how many functions and threads are found at most, the best.
const most = 50

// Found are functions and threads that a text names, the best first: by how well,
// then by what they cost.
type Found struct {
	Functions []Function
	Tracks    []int
}

// Function is one of them with its total in the answer, 0 if it is not in it.
type Function struct {
	ID    recording.FuncID
	Total int64
}

// Finder looks for functions and threads, of which a recording may have hundreds of
// thousands, in the background.
type Finder struct{ found session.Async[key, Found] }

type key struct {
	rec  *recording.Recording
	of   *session.Answer
	text string
}

// Find returns what was found last, which may be for another text or answer; wake is
// called when there is more. Without wake it looks at once.
func (f *Finder) Find(rec *recording.Recording, of *session.Answer, text string, wake func()) Found {
	k := key{rec, of, strings.TrimSpace(text)}
	if k.text == "" {
		return Found{}
	}
	found, is, ok := f.found.Ask(k, wake, func(ctx context.Context) (Found, error) { return find(ctx, k) })
	if !ok || is.rec != rec { // whose numbers are others
		return Found{}
	}
	return found
}

// Stop ends looking.
func (f *Finder) Stop() { f.found.Stop() }

// lastPart is about what people call a function. That is quickly found; package
// funcname is exact.
func lastPart(name string) string {
	if i := strings.IndexByte(name, '('); i > 0 && !strings.HasPrefix(name[i:], "(*") {
		name = name[:i]
	}
	return name[strings.LastIndexAny(name, ".:/")+1:]
}

func find(ctx context.Context, k key) (found Found, err error) {
	cost := make([]int64, k.rec.Functions.Len())
	if k.of != nil && k.of.Rec == k.rec {
		for i := range k.of.Rows {
			if f := int(k.of.Rows[i].Func); f < len(cost) {
				cost[f] = max(cost[f], k.of.Rows[i].Total)
			}
		}
	}
	type hit struct {
		f    recording.FuncID
		rank int
	}
	var hits []hit
	best := func(hits []hit) []hit {
		slices.SortFunc(hits, func(a, b hit) int {
			return cmp.Or(cmp.Compare(a.rank, b.rank), cmp.Compare(cost[b.f], cost[a.f]), cmp.Compare(a.f, b.f))
		})
		return hits[:min(most, len(hits))]
	}
	for f := range k.rec.Functions.Len() {
		if f%4096 == 0 && ctx.Err() != nil {
			return found, ctx.Err()
		}
		name := k.rec.Functions.At(f).Name
		rank, ok := Rank(name, k.text)
		if !ok {
			continue
		}
		if rank > 1 {
			if last, is := Rank(lastPart(name), k.text); is {
				rank = min(rank, last)
			}
		}
		if hits = append(hits, hit{recording.FuncID(f), rank}); len(hits) == 100*most {
			hits = best(hits)
		}
	}
	for _, h := range best(hits) {
		found.Functions = append(found.Functions, Function{h.f, cost[h.f]})
	}
	for i, t := range k.rec.Tracks {
		if _, ok := Rank(timeline.NameAndID(t), k.text); ok && len(found.Tracks) < most {
			found.Tracks = append(found.Tracks, i)
		}
	}
	return found, nil
}
