package trend

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"

	"ashlar/app/core/series"
	"ashlar/app/core/session"
	"ashlar/ingest/query/trend"
)

// Store computes trends in the background and keeps the last few, so that the way back
// from a comparison of runs needs no reading. The zero value is ready to use.
type Store struct {
	work  session.Async[question, *result]
	kept  []*result // the newest last
	asked question

	mu   sync.Mutex // guards of and done
	of   question
	done int // number of runs read for of
}

// mostKept is the maximum number of kept trends.
const mostKept = 4

// question identifies a trend.
type question struct {
	files         [2]string // of the runs of A and of B, separated by 0
	event, metric string
	generations   [2]int // of the recordings that are shown
}

// questionOf returns a question about the runs of one or two sides.
func questionOf(files [2][]string, event, metric string, generations [2]int) question {
	k := question{event: event, metric: metric, generations: generations}
	for i := range files {
		k.files[i] = strings.Join(files[i], "\x00")
	}
	return k
}

// result is a trend.
type result struct {
	question
	*trend.Runs
	files, names []string       // of the runs that count
	first        int            // number of them that are of side A
	functions    []trend.Series // as [trend.Runs.Find] returns them
	more         int
	out          []string // why other runs do not count
	err          error    // why there is no trend
}

// ask starts computing a trend of the runs of A, followed by those of B, unless it is
// known. It returns nil until then.
// sum sums up a run.
func (s *Store) ask(k question, files [2][]string, wake func(), sum func(ctx context.Context, i int) (*trend.Sum, error)) *result {
	if i := slices.IndexFunc(s.kept, func(r *result) bool { return r.question == k }); i >= 0 {
		if k != s.asked {
			s.work.Cancel()
		}
		s.asked = k
		return s.kept[i]
	}
	s.asked = k
	r, of, ok := s.work.Ask(k, wake, func(ctx context.Context) (*result, error) {
		s.begin(k)
		return find(ctx, k, files, func(i int) (*trend.Sum, error) {
			x, err := sum(ctx, i)
			s.count(k, wake)
			return x, err
		})
	})
	if !ok || of != k {
		return nil
	}
	if s.kept = append(s.kept, r); len(s.kept) > mostKept {
		s.kept = slices.Delete(s.kept, 0, 1)
	}
	return r
}

func (s *Store) begin(k question) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.of, s.done = k, 0
}

func (s *Store) count(k question, wake func()) {
	s.mu.Lock()
	if s.of == k {
		s.done++
	}
	s.mu.Unlock()
	if wake != nil {
		wake()
	}
}

// progress returns the number of runs that have been read for a trend.
func (s *Store) progress(k question) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.of != k {
		return 0
	}
	return s.done
}

// Stop cancels the running computation and forgets all trends.
func (s *Store) Stop() {
	s.work.Stop()
	s.kept = nil
}

// find computes a trend. Runs that cannot be read are left out. Only their sums are kept
// in memory.
func find(ctx context.Context, k question, sides [2][]string, sum func(i int) (*trend.Sum, error)) (*result, error) {
	files := slices.Concat(sides[0], sides[1])
	sums, errs := make([]*trend.Sum, len(files)), make([]error, len(files))
	series.Each(ctx, len(files), func(i int) bool {
		sums[i], errs[i] = sum(i)
		return true
	})
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	r := &result{question: k, Runs: new(trend.Runs)}
	names := series.Names(files)
	for i, f := range files {
		err := errs[i]
		if err == nil {
			err = r.Add(sums[i])
		}
		if sums[i] = nil; err != nil {
			r.out = append(r.out, names[i]+": "+strings.TrimPrefix(err.Error(), f+": "))
			continue
		}
		if r.files, r.names = append(r.files, f), append(r.names, names[i]); i < len(sides[0]) {
			r.first++
		}
	}
	if r.Len() < 2 {
		r.err = errors.New("at least two runs must be readable")
		return r, nil
	}
	var err error
	r.functions, r.more, err = r.Find(ctx, series.MostFunctions)
	return r, err
}
