// Package palette finds commands, threads, marks, files and functions by typed text and
// ranks them in one list.
package palette

import (
	"cmp"
	"context"
	"strings"

	"ashlar/app/core/session"
	"ashlar/ingest/model/order"
	"ashlar/ingest/model/recording"
	"ashlar/render/timeline"
	"ashlar/render/widget"
)

// Rank rates how well a text matches a title: 0 for the whole title, 1 for its beginning,
// 2 if each word begins a word of the title, 3 if each word occurs in it. ok is false if
// a word does not occur.
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

// An Item is a choice in the list; Rank orders items of one kind that match equally well.
type Item struct {
	widget.Line
	Rank int
}

// Command returns an item for a command. It comes before all other items if its title
// begins with the typed text, and right after those commands if one of its synonyms
// matches.
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

// kind is larger than any difference between Ranks of one kind.
const kind = 1 << 20

// Other returns an item that can also be found by other names.
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

// Lines returns the items in order.
func Lines(items []Item) []widget.Line {
	order.By(items, func(a, b Item) int { return cmp.Compare(a.Rank, b.Rank) })
	lines := make([]widget.Line, len(items))
	for i := range items {
		lines[i] = items[i].Line
	}
	return lines
}

// most is the maximum number of functions found, and of threads. The best functions are
// kept.
const most = 50

// Found holds the matching functions and threads, best first: by rank, then by cost.
type Found struct {
	Functions []Function
	Tracks    []int
}

// Function is a matching function with its total in the answer, 0 if the answer lacks it.
type Function struct {
	ID    recording.FuncID
	Total int64
}

// Finder searches functions and threads in the background, because a recording may have
// hundreds of thousands of them.
type Finder struct{ found session.Async[key, Found] }

type key struct {
	rec  *recording.Recording
	of   *session.Answer
	text string
}

// Find returns the latest result, which may belong to another text or answer; wake is
// called when there is a newer one. If wake is nil, Find searches at once.
func (f *Finder) Find(rec *recording.Recording, of *session.Answer, text string, wake func()) Found {
	k := key{rec, of, strings.TrimSpace(text)}
	if k.text == "" {
		return Found{}
	}
	found, is, ok := f.found.Ask(k, wake, func(ctx context.Context) (Found, error) { return find(ctx, k) })
	if !ok || is.rec != rec { // ids are valid only in their recording
		return Found{}
	}
	return found
}

// Stop stops the search.
func (f *Finder) Stop() { f.found.Stop() }

// lastPart returns roughly the short name of a function. It is fast, while package
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
			if row := &k.of.Rows[i]; row.IsFunction(k.rec) {
				cost[row.Func] = max(cost[row.Func], row.Total)
			}
		}
	}
	type hit struct {
		f    recording.FuncID
		rank int
	}
	var hits []hit
	best := func(hits []hit) []hit {
		order.By(hits, func(a, b hit) int {
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
