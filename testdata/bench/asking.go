//go:build linux

package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"time"

	"ashlar/app/core/session"
	rec "ashlar/ingest/model/recording"
	"ashlar/ingest/query/analyze"
	"ashlar/ingest/query/calls"
	"ashlar/ingest/query/search"
	"ashlar/ingest/query/spans"
)

// answered holds the time that a question about a large recording took.
type answered struct {
	Question string
	// First is the time in seconds until part of the answer could be shown, Seconds the
	// time until the answer was exact and complete; each is the best of several runs.
	First, Seconds float64
	Items          int64 // spans that the question covered
}

const asked = 5

// asker asks an open recording as a window does.
type asker struct {
	d    *session.Side
	told chan struct{}
}

func newAsker(path string) (*asker, error) {
	a := &asker{told: make(chan struct{}, 1)}
	a.d = session.Open(path, func() {
		select {
		case a.told <- struct{}{}:
		default:
		}
	})
	if err := a.d.Wait(); err != nil {
		return nil, err
	}
	a.clear()
	settle()
	return a, nil
}

// clear asks about the whole recording, so that the next question is a new one.
func (a *asker) clear() {
	a.d.Ask(session.Question{})
	a.until(func() bool {
		x := a.d.Answer()
		return x != nil && x.Rec == a.d.Recording() && !x.Scope.Ranged && x.Scope.Calls == nil && x.Search == nil && a.d.Hits() == nil
	})
}

func (a *asker) until(holds func() bool) {
	for !holds() {
		<-a.told
	}
}

// time asks a question a few times and returns the best times. first reports whether part
// of the answer can be shown, done whether the answer is complete.
func (a *asker) time(name string, q func() session.Question, first, done func() bool) answered {
	x := answered{Question: name, First: math.Inf(1), Seconds: math.Inf(1)}
	for range asked {
		question := q()
		began := time.Now()
		a.d.Ask(question)
		a.until(func() bool { return first() || done() })
		x.First = min(x.First, time.Since(began).Seconds())
		a.until(done)
		x.Seconds = min(x.Seconds, time.Since(began).Seconds())
		a.clear()
	}
	return x
}

// askRanges asks for the flamegraph and the table of parts of a recording.
func askRanges(path string) ([]answered, error) {
	a, err := newAsker(path)
	if err != nil {
		return nil, err
	}
	defer a.d.Close()
	var out []answered
	r := a.d.Recording()
	d := r.Duration()
	for _, part := range []struct {
		name     string
		from, to float64
	}{{"a thousandth", .5, .501}, {"a tenth", .45, .55}, {"a quarter", .4, .65}, {"half", .25, .75}, {"three quarters", .1, .85}, {"all but the edges", .001, .999}} {
		q := analyze.Query{Scope: rec.Between(r.Start+int64(part.from*float64(d)), r.Start+int64(part.to*float64(d)))}
		whole := func() bool { x := a.d.Answer(); return x.Scope.Ranged && x.Scope.Equal(q.Scope) }
		var items int64
		x := a.time(part.name, func() session.Question { return session.Question{Query: q} },
			func() bool { x := a.d.Preview(); return x != nil && x.Scope.Equal(q.Scope) },
			func() bool {
				if !whole() {
					return false
				}
				items = a.d.Answer().Tree.Weights.Records
				return true
			})
		x.Items = items
		out = append(out, x)
	}
	return out, nil
}

// askSearch searches for functions by name: those with the most, the median and the
// fewest spans, and a letter that most names contain.
func askSearch(path string) ([]answered, error) {
	a, err := newAsker(path)
	if err != nil {
		return nil, err
	}
	defer a.d.Close()
	names := byCount(a.d.Recording())
	if len(names) == 0 {
		return nil, fmt.Errorf("%s has no spans", path)
	}
	var out []answered
	for _, name := range []string{names[0], names[len(names)/2], names[len(names)-1], "e"} {
		var p *search.Pattern
		var items int64
		x := a.time(name, func() session.Question {
			p, err = search.Parse(name)
			return session.Question{Search: p}
		}, func() bool {
			h := a.d.Hits()
			return h != nil && h.Pattern == p && h.Len() > 0
		}, func() bool {
			h := a.d.Hits()
			if h == nil || h.Pattern != p || h.Partial {
				return false
			}
			items = h.Spans
			return true
		})
		x.Items = items
		out = append(out, x)
	}
	return out, err
}

// askCalls asks for the flamegraph and the table of some 100,000 calls of the function
// with the most calls: the slowest, those between two durations, and all others.
func askCalls(path string) ([]answered, error) {
	a, err := newAsker(path)
	if err != nil {
		return nil, err
	}
	defer a.d.Close()
	r := a.d.Recording()
	names := byCount(r)
	if len(names) == 0 {
		return nil, fmt.Errorf("%s has no spans", path)
	}
	d, err := spans.DurationsOf(context.Background(), r, rec.Scope{}, analyze.Named(names[0]).Functions(r))
	if err != nil {
		return nil, err
	}
	const many = 100_000
	from, n := d.Max, int64(0)
	for _, b := range slices.Backward(d.Logarithmic) {
		if from, n = b.From, n+b.Count; n >= many {
			break
		}
	}
	named := calls.Query{Functions: names[:1]}
	slowest, long, others := named, named, named
	slowest.Slowest, others.Slowest, others.Others = many, many, true
	long.Duration = rec.Range{From: from, HasFrom: true}
	var out []answered
	for _, q := range []calls.Query{slowest, long, others} {
		ask := analyze.Query{Scope: rec.Scope{}.Of(&rec.CallSet{Text: q.String()})}
		var items int64
		x := a.time(q.String(), func() session.Question { return session.Question{Query: ask} },
			func() bool { x := a.d.Preview(); return x != nil && x.Question.Scope.Equal(ask.Scope) },
			func() bool {
				x := a.d.Answer()
				if !x.Question.Scope.Equal(ask.Scope) {
					return false
				}
				items = int64(x.Scope.Calls.Calls)
				return true
			})
		x.Items = items
		out = append(out, x)
	}
	return out, nil
}

// byCount returns the functions that have spans, those with the most spans first.
func byCount(r *rec.Recording) []string {
	counts := make([]int64, r.Functions.Len())
	for c, n := range r.SpanCount {
		if c > 0 && n > 0 {
			counts[r.Func(rec.CallID(c))] += n
		}
	}
	var ids []int
	for f, n := range counts {
		if n > 0 {
			ids = append(ids, f)
		}
	}
	slices.SortFunc(ids, func(a, b int) int { return cmp.Compare(counts[b], counts[a]) })
	var names []string
	for _, f := range ids {
		names = append(names, r.Functions.At(f).Name)
	}
	return names
}

// ask runs questions about the recording of 50 M spans in a process of their
// own.
func (b *bench) ask(what string) ([]answered, run, error) {
	f, err := b.get(spall3)
	if err != nil {
		return nil, run{}, err
	}
	if err := f.warm(); err != nil {
		return nil, run{}, err
	}
	r, err := b.self(what, f.path)
	if err != nil {
		return nil, r, err
	}
	var all []answered
	err = json.Unmarshal([]byte(r.Text), &all)
	return all, r, err
}

func (b *bench) ranges() ([]result, error) {
	all, r, err := b.ask("ranges")
	if err != nil {
		return nil, err
	}
	var out []result
	for _, a := range all {
		first, ms := a.First*1000, a.Seconds*1000
		out = append(out, result{
			What:   fmt.Sprintf("a range to flamegraph and table, 50 M spans: %s", a.Question),
			Target: "something in 50 ms, exact in 300 ms", Value: ms, Pass: first <= 50 && ms <= 300,
			Measured: fmt.Sprintf("%.0f ms, %.0f ms", first, ms), Note: fmt.Sprintf("%.1f M spans in it; others %.0f %%", float64(a.Items)/mega, 100*r.Others),
		})
	}
	return out, nil
}

func (b *bench) calls() ([]result, error) {
	all, r, err := b.ask("calls")
	if err != nil {
		return nil, err
	}
	var out []result
	for _, a := range all {
		first, ms := a.First*1000, a.Seconds*1000
		out = append(out, result{
			What:   fmt.Sprintf("a set of calls to flamegraph and table, 50 M spans: %s", a.Question),
			Target: "something in 50 ms, exact in 300 ms", Value: ms, Pass: first <= 50 && ms <= 300,
			Measured: fmt.Sprintf("%.0f ms, %.0f ms", first, ms), Note: fmt.Sprintf("%d calls; others %.0f %%", a.Items, 100*r.Others),
		})
	}
	return out, nil
}

func (b *bench) search() ([]result, error) {
	all, r, err := b.ask("search")
	if err != nil {
		return nil, err
	}
	var out []result
	for _, a := range all {
		first, ms := a.First*1000, a.Seconds*1000
		out = append(out, result{
			What:   fmt.Sprintf("search by name, 50 M spans: %q", a.Question),
			Target: "first hit in 50 ms, all counted in 300 ms", Value: ms, Pass: first <= 50 && ms <= 300,
			Measured: fmt.Sprintf("%.0f ms, %.0f ms", first, ms), Note: fmt.Sprintf("%.1f M hits; others %.0f %%", float64(a.Items)/mega, 100*r.Others),
		})
	}
	return out, nil
}
