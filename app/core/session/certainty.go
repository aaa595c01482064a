package session

import (
	"context"
	"sync"
	"time"

	"ashlar/ingest/query/compare"
)

// certainty finds the confidences of one comparison in the background, in one pass over
// all spans. Changes of the question do not interrupt it unless the numbers change.
type certainty struct {
	asks newest[*CompareAnswer] // the answer whose confidences are wanted

	mu sync.Mutex
	// of is the comparison with these confidences, nil if there are none; tables are
	// indexed by the kind of row.
	of     *compare.Comparison
	tables map[compare.By]*compare.Table
	nodes  []*compare.Confidence
}

// want sets the answer to find confidences for.
func (s *certainty) want(a *CompareAnswer) {
	s.asks.ask(a, func(was *CompareAnswer, asked bool) (fresh, stale bool) {
		return !a.ConfidencesDone, asked && was.Compared != a.Compared
	})
}

// missing returns the tables of an answer that still lack confidences, and whether its
// nodes do. It returns nothing if they cannot be found yet.
func (s *certainty) missing(a *CompareAnswer) (tables []compare.By, nodes bool) {
	if a == nil || a.Err != nil || a.Method == compare.FromDurations && !a.whole() {
		return nil, false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.of != a.Compared {
		s.of, s.tables, s.nodes, nodes = a.Compared, map[compare.By]*compare.Table{}, nil, true
	}
	for _, by := range []compare.By{compare.ByFunction, a.by()} {
		if s.tables[by] == nil && (len(tables) == 0 || tables[0] != by) {
			tables = append(tables, by)
		}
	}
	return tables, nodes
}

// find finds the missing confidences of an answer. It returns false if none are missing,
// or if ctx ended it.
func (s *certainty) find(ctx context.Context, a *CompareAnswer) bool {
	by, nodes := s.missing(a)
	if len(by) == 0 {
		return false
	}
	var tables []*compare.Table
	var all []*compare.Confidence
	var err error
	if nodes {
		tables, all, err = a.Compared.NodeConfidences(ctx, by...)
	} else {
		tables = make([]*compare.Table, 1)
		tables[0], err = a.Compared.Table(ctx, by[0], true)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if err != nil || s.of != a.Compared {
		s.of = nil
		return false
	}
	for i, t := range tables {
		s.tables[by[i]] = t
	}
	if nodes {
		s.nodes = all
	}
	return true
}

// fill copies the known confidences into an answer.
func (s *certainty) fill(a *CompareAnswer) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.of != a.Compared {
		return
	}
	functions, table := s.tables[compare.ByFunction], s.tables[a.by()]
	if functions != nil {
		a.Functions, a.Nodes = functions, s.nodes
	}
	if table != nil {
		a.Table = table
	}
	a.ConfidencesDone = functions != nil && table != nil
}

// ascertain finds the confidences of an answer and shows them.
func (c *Comparing) ascertain(ctx context.Context, a *CompareAnswer) (rest time.Duration) {
	c.memory.tidy(a, 1)
	if c.confidences.find(ctx, a) {
		c.show(nil)
	}
	c.memory.tidy(a, 2)
	return 0
}
