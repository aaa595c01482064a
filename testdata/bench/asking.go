//go:build linux

package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"ashlar/ingest"
	"ashlar/ingest/analyze"
	rec "ashlar/ingest/recording"
)

// answered is how long a question about a large recording took.
type answered struct {
	Question string
	Seconds  float64 // the best of several times
	Items    int64   // spans that it was about
}

const asked = 5

// timed runs f a few times; the quickest counts.
func timed(f func() error) (float64, error) {
	var all []float64
	for range asked {
		began := time.Now()
		if err := f(); err != nil {
			return 0, err
		}
		all = append(all, time.Since(began).Seconds())
	}
	return slices.Min(all), nil
}

// askRanges asks for the flamegraph and the table of parts of a recording.
func askRanges(path string) ([]answered, error) {
	r, _, err := ingest.ReadAll(context.Background(), path, ingest.Options{})
	if err != nil {
		return nil, err
	}
	settle()
	var out []answered
	d := r.Duration()
	for _, part := range []struct {
		name     string
		from, to float64
	}{{"a thousandth", .5, .501}, {"a tenth", .45, .55}, {"a quarter", .4, .65}, {"half", .25, .75}, {"three quarters", .1, .85}, {"all but the edges", .001, .999}} {
		q := analyze.Query{Ranged: true, From: r.Start + int64(part.from*float64(d)), To: r.Start + int64(part.to*float64(d))}
		a := answered{Question: part.name}
		a.Seconds, err = timed(func() error {
			w, err := analyze.Weigh(context.Background(), r, q)
			if err != nil {
				return err
			}
			a.Items = w.Records
			tree := analyze.NewTree(r, w)
			analyze.Table(r, tree, analyze.ByFunction)
			return nil
		})
		if err != nil {
			return nil, err
		}
		out = append(out, a)
	}
	return out, nil
}

// askSearch looks for functions by name: one that is in very many spans, one in
// about as many as the middle one, one in few, and one that is not there.
func askSearch(path string) ([]answered, error) {
	r, _, err := ingest.ReadAll(context.Background(), path, ingest.Options{})
	if err != nil {
		return nil, err
	}
	settle()
	names := byCount(r)
	if len(names) == 0 {
		return nil, fmt.Errorf("%s has no spans", path)
	}
	var out []answered
	for _, name := range []string{names[0], names[len(names)/2], names[len(names)-1], "nothing is called this", "e"} {
		p, err := analyze.ParsePattern(name)
		if err != nil {
			return nil, err
		}
		a := answered{Question: name}
		a.Seconds, err = timed(func() error {
			h, err := analyze.Find(context.Background(), r, p)
			if err != nil {
				return err
			}
			a.Items = h.Spans
			h.From(r.Start)
			return nil
		})
		if err != nil {
			return nil, err
		}
		out = append(out, a)
	}
	return out, nil
}

// byCount are the functions that have spans, those with the most first.
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

func slowest(all []answered) answered {
	return slices.MaxFunc(all, func(a, b answered) int { return cmp.Compare(a.Seconds, b.Seconds) })
}

func (b *bench) ranges() ([]result, error) {
	all, r, err := b.ask("ranges")
	if err != nil {
		return nil, err
	}
	var out []result
	for _, a := range all {
		ms := a.Seconds * 1000
		out = append(out, result{
			What:   fmt.Sprintf("a range to flamegraph and table, 50 M spans: %s", a.Question),
			Target: "300 ms, exact", Value: ms, Pass: ms <= 300,
			Measured: fmt.Sprintf("%.0f ms", ms), Note: fmt.Sprintf("%.1f M spans in it; others %.0f %%", float64(a.Items)/mega, 100*r.Others),
		})
	}
	return out, nil
}

func (b *bench) search() ([]result, error) {
	all, r, err := b.ask("search")
	if err != nil {
		return nil, err
	}
	a := slowest(all)
	ms := a.Seconds * 1000
	return []result{{
		What: "search by name, 50 M spans, first hit and all counted", Target: "50 ms, 300 ms", Value: ms, Pass: ms <= 50,
		Measured: fmt.Sprintf("%.0f ms for both", ms),
		Note:     fmt.Sprintf("the slowest of %d, %q: %.1f M hits; others %.0f %%", len(all), a.Question, float64(a.Items)/mega, 100*r.Others),
	}}, nil
}
