package session

import (
	"cmp"
	"context"
	"reflect"
	"slices"

	"ashlar/ingest/input/memory"
	"ashlar/ingest/model/recording"
	"ashlar/ingest/query/analyze"
	"ashlar/ingest/query/calls"
	"ashlar/ingest/query/search"
	"ashlar/ingest/query/spans"
	"ashlar/render/heatmap"
	"ashlar/render/histogram"
)

// previewSpans is the number of spans that a preview may visit, which takes two cores
// some 20 ms. Sets with at least previewCalls calls get a preview. Both are variables so
// that tests can change them.
var (
	previewSpans = 4 << 20
	previewCalls = 1 << 14
	// mostListed is the maximum number of listed calls. If there are more, only the
	// longest are listed: nobody reads so many, and each row takes memory.
	mostListed = 1 << 20
)

// preview returns a first answer to a question that takes long: a tree that is exact down
// to its depth. It returns nil if the full answer is as fast, or if there are transforms,
// which need whole stacks. in is the question's scope with its calls bound. For a large
// set of calls, the tree ends at the outer calls and leaves out their callees.
func preview(ctx context.Context, rec *recording.Recording, q Question, in recording.Scope) *Answer {
	if len(q.Transforms) > 0 {
		return nil
	}
	asked := q
	q.Scope = in
	depth := 0
	if q.Scope.Calls != nil {
		q.Scope, depth = withoutBelow(rec, q, in)
	} else {
		depth = analyze.Shallow(rec, q.Query, previewSpans)
		q.Depth = depth
	}
	if depth == 0 {
		return nil
	}
	w, err := analyze.Weigh(ctx, rec, q.Query)
	if err != nil {
		return nil
	}
	asked.Depth = depth
	return &Answer{Rec: rec, Question: asked, Scope: in, Tree: analyze.NewTree(rec, w)}
}

// withoutBelow reduces a large set of calls to its outer calls and returns the smallest
// depth of an outer call, or 0 if the full answer is as fast.
func withoutBelow(rec *recording.Recording, q Question, in recording.Scope) (recording.Scope, int) {
	if q.Event >= len(rec.Events) || rec.Events[q.Event].Basis != recording.FromSpans || q.OfProcessors(rec) || in.Calls.Calls < previewCalls {
		return in, 0
	}
	alone := *in.Calls
	alone.Runs = alone.Outer
	depth := 0
	for track := range alone.Outer {
		for lane, runs := range alone.Outer[track] {
			if len(runs) > 0 {
				if d := rec.Calls.Depth(rec.Tracks[track].Lanes[lane].Call(runs[0].First)); depth == 0 || d < depth {
					depth = d
				}
			}
		}
	}
	return in.Of(&alone), depth
}

// sameTree reports whether the answer to a question has the same tree as an earlier
// answer.
func (a *Answer) sameTree(rec *recording.Recording, q *Question) bool {
	return a != nil && a.Rec == rec && reflect.DeepEqual(a.Query, q.Query) && reflect.DeepEqual(a.Transforms, q.Transforms)
}

// answer answers a question, unless ctx ends or memory runs short. Where possible, it
// reuses results of old, the previous answer. first, if not nil, receives a preview.
func answer(ctx context.Context, rec *recording.Recording, q Question, old *Answer, first func(*Answer)) (*Answer, error) {
	watched, unwatch := memory.Watch(ctx, "the answer", nil)
	defer unwatch()
	a, err := find(watched, rec, q, old, first)
	if err != nil {
		return nil, cmp.Or(context.Cause(watched), err)
	}
	return a, nil
}

func find(ctx context.Context, rec *recording.Recording, q Question, old *Answer, first func(*Answer)) (*Answer, error) {
	a := &Answer{Rec: rec, Question: q}
	steps := []struct {
		asked bool
		find  func(ctx context.Context, old *Answer) error
	}{
		{true, func(ctx context.Context, old *Answer) error { return a.tree(ctx, old, first) }},
		{a.Search != nil, a.search},
		{a.Around != nil, a.around},
		{rec.Counts.States > 0, a.states},
		{!a.ByFunction(), a.group},
		{a.Threads, a.threads},
		{a.Stats, a.stats},
		{a.Heat, a.heat},
		{a.Listed != "", a.list},
		{a.Path, a.path},
		{a.Blocked, a.blocked},
	}
	for _, s := range steps {
		if !s.asked {
			continue
		}
		if err := s.find(ctx, old); err != nil {
			return nil, err
		}
	}
	if q.Source != "" {
		a.Lines = analyze.SourceOf(rec, a.Tree.Weights, q.Source)
	}
	return a, nil
}

// tree binds the scope and builds the tree and the table of functions. If old has the
// same tree, it also takes over old's other results.
func (a *Answer) tree(ctx context.Context, old *Answer, first func(*Answer)) error {
	if err := a.bind(ctx, old); err != nil {
		return err
	}
	if old.sameTree(a.Rec, &a.Question) {
		a.Tree, a.Rows, a.Spans, a.Grid, a.States = old.Tree, old.Rows, old.Spans, old.Grid, old.States
		if old.By == a.By {
			a.Grouped, a.Ungrouped = old.Grouped, old.Ungrouped
		}
		return nil
	}
	if first != nil {
		if s := preview(ctx, a.Rec, a.Question, a.Scope); s != nil {
			first(s)
		}
	}
	w, err := analyze.Weigh(ctx, a.Rec, a.bound())
	if err != nil {
		return err
	}
	if a.Tree = analyze.NewTree(a.Rec, w, a.Transforms...); ctx.Err() != nil {
		return ctx.Err()
	}
	a.Rows = analyze.Table(a.Rec, a.Tree, analyze.ByFunction)
	return nil
}

// bind finds the calls of the question's scope, or takes them from the previous answer.
func (a *Answer) bind(ctx context.Context, old *Answer) (err error) {
	if old != nil && old.Rec == a.Rec && old.Question.Scope.Equal(a.Question.Scope) {
		a.Scope = old.Scope
	} else {
		a.Scope, err = calls.Bind(ctx, a.Rec, a.Question.Scope)
	}
	return err
}

// bound returns the query with its calls bound.
func (a *Answer) bound() analyze.Query {
	q := a.Query
	q.Scope = a.Scope
	return q
}

// around finds the callers and callees of a function and builds the trees on both sides.
// Both trees start at the function, even if the whole tree is inverted.
func (a *Answer) around(context.Context, *Answer) error {
	near := analyze.Around(a.Rec, a.Tree, *a.Around)
	a.Near = &near
	ts := slices.DeleteFunc(slices.Clone(a.Transforms), func(t analyze.Transform) bool { return t.Op == analyze.OpInvert })
	side := func(t analyze.Transform) *analyze.Tree {
		return analyze.NewTree(a.Rec, a.Tree.Weights, append(slices.Clip(ts), t)...)
	}
	a.Above, a.Below = side(analyze.CallersOf(*a.Around)), side(analyze.CalleesOf(*a.Around))
	return nil
}

func (a *Answer) states(ctx context.Context, _ *Answer) (err error) {
	if a.States == nil {
		a.States, err = analyze.StatesIn(ctx, a.Rec, a.Scope)
	}
	return err
}

// group builds the table of rows other than functions.
func (a *Answer) group(ctx context.Context, _ *Answer) (err error) {
	if a.Grouped != nil {
		return nil
	}
	a.Grouped, err = analyze.RowsBy(ctx, a.Rec, a.bound(), a.By, func() []analyze.Row { return analyze.Table(a.Rec, a.Tree, a.By) }, a.Transforms...)
	if err != nil && ctx.Err() == nil {
		a.Ungrouped, a.Grouped, err = err, []analyze.Row{}, nil
	}
	return err
}

func (a *Answer) threads(ctx context.Context, old *Answer) (err error) {
	if old != nil && old.Rec == a.Rec && old.ThreadOf != nil {
		a.ThreadOf = old.ThreadOf
		return nil
	}
	a.ThreadOf, err = analyze.ThreadOf(ctx, a.Rec)
	return err
}

func (a *Answer) stats(ctx context.Context, _ *Answer) (err error) {
	if a.Spans == nil && a.Tree.Weights.Basis == analyze.Spans {
		a.Spans, err = spans.Stats(ctx, a.Rec, a.Scope)
	}
	return err
}

// heat builds the heatmap, for the whole time.
func (a *Answer) heat(ctx context.Context, _ *Answer) (err error) {
	if a.Grid == nil {
		whole := a.bound()
		whole.Scope = whole.Scope.AllTime()
		a.Grid, err = heatmap.NewGrid(ctx, a.Rec, whole, nil)
	}
	return err
}

// list lists single calls. It ignores the selection of calls, so the list does not change
// when the user selects some of them.
func (a *Answer) list(ctx context.Context, old *Answer) error {
	in := a.Question.Scope.Of(nil)
	same := old != nil && old.List != nil && old.Rec == a.Rec && old.Listed == a.Listed && old.Question.Scope.Of(nil).Equal(in)
	if same && old.ListedBy == a.ListedBy {
		a.List = old.List
		return nil
	}
	in, err := calls.Bind(ctx, a.Rec, in.Of(&recording.CallSet{Text: a.Listed}))
	if err != nil {
		return err
	}
	l := new(CallList)
	if same {
		l.Durations = old.List.Durations
	} else if l.Durations, err = spans.DurationsIn(ctx, a.Rec, in); err != nil {
		return err
	}
	if l.Longest = in.Calls.Calls > mostListed && (a.ListedBy == "" || a.ListedBy == calls.ByDuration); l.Longest {
		if in.Calls, err = longest(ctx, a.Rec, a.Question.Scope.Of(nil), a.Listed); err != nil {
			return err
		}
	}
	if same && !l.Longest && !old.List.Longest && len(old.List.Rows) > 0 {
		l.Rows, err = calls.Sort(ctx, a.Rec, old.List.Rows, a.ListedBy)
	} else {
		l.Rows, err = calls.List(ctx, a.Rec, in.Calls, a.ListedBy)
	}
	if err != nil {
		if ctx.Err() != nil {
			return err
		}
		l.Rows = nil // too many calls, or no such argument: keep the histogram
	}
	some, err := calls.Details(ctx, a.Rec, calls.Some(l.Rows))
	if err != nil {
		return err
	}
	l.First, l.Keys = some[:min(len(some), calls.First)], calls.Keys(some)
	if from, to := in.Bounds(a.Rec); !l.Longest {
		l.Dots = histogram.NewDots(len(l.Rows), from, to, func(i int) (int64, int64) { return l.Rows[i].Start, l.Rows[i].Duration })
	}
	l.CPU = slices.ContainsFunc(some, func(d calls.Detail) bool { return d.HasCPU })
	if l.CPU {
		l.Keys = slices.DeleteFunc(l.Keys, func(k string) bool { return k == "tdur" || k == "tts" })
	}
	a.List = l
	return nil
}

// longest finds the longest calls of a set.
func longest(ctx context.Context, rec *recording.Recording, in recording.Scope, listed string) (*recording.CallSet, error) {
	q, err := calls.Parse(listed)
	if err != nil {
		return nil, err
	}
	q.Slowest = mostListed
	bound, err := calls.Bind(ctx, rec, in.Of(&recording.CallSet{Text: q.String()}))
	return bound.Calls, err
}

// search finds the matches in the tree. For a pattern that is not only about functions,
// it first finds the places of the matches in the recording.
func (a *Answer) search(ctx context.Context, last *Answer) (err error) {
	switch {
	case a.Search.OfFunctions():
		a.Matched = analyze.Match(a.Rec, a.Tree, a.Search)
		return nil
	case last != nil && last.Found != nil && last.Found.Pattern.Equal(a.Search) && last.Found.Of(a.Rec):
		a.Found = last.Found
	default:
		if a.Found, err = search.Find(ctx, a.Rec, a.Search); err != nil {
			return err
		}
	}
	a.Matched, err = analyze.MatchHits(ctx, a.Rec, a.Tree, a.bound(), a.Found)
	return err
}
