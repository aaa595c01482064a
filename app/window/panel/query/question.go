package query

import (
	"fmt"
	"math"
	"strings"

	"ashlar/app/window/panel"
	"ashlar/ingest/query/spans"
)

// placeholders are the functions in the questions of the manual that stand for the user's
// own; the first that a question has is replaced.
var placeholders = [...]string{"Request", "Query", "Handle"}

// anyThread is the condition of questions about one thread.
const anyThread = "thread_id = 0"

// fillIn puts the name of a function of the recording, and the ID of a thread, in the place of the
// manual's. It returns the name as the query has it now, for the user to replace.
func fillIn(p *panel.Side, query string) (filled, name string) {
	query = strings.Replace(query, anyThread, fmt.Sprint("thread_id = ", likelyThread(p)), 1)
	for _, name = range placeholders {
		if strings.Contains(query, "'"+name+"'") {
			break
		}
	}
	f := likelyFunction(p, strings.Contains(query, " spans "))
	if f == "" || strings.ContainsAny(f, "\x00\n") || !strings.Contains(query, "'"+name+"'") {
		return query, name
	}
	f = strings.ReplaceAll(f, "'", "''")
	return strings.ReplaceAll(query, "'"+name+"'", "'"+f+"'"), f
}

// likelyThread returns the thread of the selected bar if it has spans, else the one with most
// spans that no other span contains.
func likelyThread(p *panel.Side) (best int) {
	most := 0
	for i, t := range p.Rec.Tracks {
		switch {
		case len(t.Lanes) == 0:
		case p.Pick.Kind == panel.PickBar && p.Pick.Hit.Track == i:
			return i
		case t.Lanes[0].Len() > most:
			best, most = i, t.Lanes[0].Len()
		}
	}
	return best
}

// likelyFunction returns the name of the selected function, else of the one with the largest
// self cost. If the question is about spans and the recording has some, it is one with spans.
func likelyFunction(p *panel.Side, inSpans bool) string {
	best, most := "", int64(math.MinInt64)
	picked, isPicked := p.PickedFunction()
	if inSpans && p.Rec.Counts.Spans > 0 {
		for f, self := range spans.SelfTimes(p.Rec) {
			name := p.Rec.Functions.At(int(f)).Name
			if isPicked && name == picked.Name {
				return name
			}
			if self > most {
				best, most = name, self
			}
		}
		return best
	}
	if isPicked {
		return picked.Name
	}
	if a := p.Doc.Answer(); p.Counts(a) {
		for i := range a.Rows {
			if r := &a.Rows[i]; r.Self > most && r.IsFunction(a.Rec) {
				best, most = r.Name, r.Self
			}
		}
	}
	return best
}
