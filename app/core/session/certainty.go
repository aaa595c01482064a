package session

import (
	"context"
	"sync"
	"time"

	"ashlar/ingest/query/compare"
)

// certainty is how sure the differences of one comparison are. It is found in the
// background, in one pass over all spans, whatever is asked of the comparison
// meanwhile: only other numbers end it.
type certainty struct {
	asks newest[*CompareAnswer] // whose confidences are wanted

	mu sync.Mutex
	// of is the comparison that it is about, nil for none; tables are by what their rows
	// stand for.
	of     *compare.Comparison
	tables map[compare.By]*compare.Table
	nodes  []*compare.Confidence
}

// want says whose confidences to find next.
func (s *certainty) want(a *CompareAnswer) {
	s.asks.ask(a, func(was *CompareAnswer, asked bool) (fresh, stale bool) {
		return !a.ConfidencesDone, asked && was.Compared != a.Compared
	})
}

// missing lists what an answer shows and is not known yet; neither if nothing
// can be found out now.
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

// find finds what is missing for an answer; false if there is nothing to be
// found, or ctx ended it.
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

// fill puts what is known into an answer.
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

// ascertain finds the confidences of an answer.
func (c *Comparing) ascertain(ctx context.Context, a *CompareAnswer) (rest time.Duration) {
	c.memory.tidy(a, 1)
	if c.confidences.find(ctx, a) {
		c.show(nil)
	}
	c.memory.tidy(a, 2)
	return 0
}
