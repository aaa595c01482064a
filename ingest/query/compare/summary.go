package compare

import "ashlar/ingest/query/compare/match"

import "ashlar/ingest/model/recording"

// Matched summarizes the matches of one rule.
type Matched struct {
	Rule match.Rule
	// Status is Changed for matches on both sides, otherwise Gone or New.
	Status Status
	// Count is the number of functions (or other rows of the table); A and B are the sums
	// of their self values.
	Count int
	A, B  int64
}

// Matched returns the number of rows and their weight for each matching rule, then for
// rows on one side only. Rules without matches are left out.
func (t *Table) Matched() []Matched {
	order := []Matched{
		{Rule: match.RuleHand, Status: Changed}, {Rule: match.RuleModule, Status: Changed}, {Rule: match.RuleName, Status: Changed},
		{Rule: match.RuleSimilar, Status: Changed}, {Rule: match.RuleOrder, Status: Changed}, {Rule: match.RuleRenamed, Status: Changed}, {Rule: match.Unmatched, Status: Changed},
		{Rule: match.Unmatched, Status: Gone}, {Rule: match.Unmatched, Status: New},
	}
	for i := range t.Rows {
		row := &t.Rows[i]
		rule, status := row.Rule, row.Status
		switch status {
		case Same:
			status = Changed
		case Gone, New:
			rule = match.Unmatched
		}
		for k := range order {
			if o := &order[k]; o.Rule == rule && o.Status == status {
				o.Count++
				recording.Add(&o.A, row.ASelf)
				recording.Add(&o.B, row.BSelf)
			}
		}
	}
	out := order[:0]
	for _, o := range order {
		if o.Count > 0 {
			out = append(out, o)
		}
	}
	return out
}
