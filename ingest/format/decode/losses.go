package decode

import (
	"math"
	"regexp"
	"strconv"
	"sync"

	"ashlar/ingest/input/safetext"
	"ashlar/ingest/model/recording"
)

// Losses sums the records that a tool reports as lost.
type Losses struct {
	sum     int64
	reports int
	more    bool // some report has no number
}

var firstNumber = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\d+`) })

// Add warns of a report, whose first number is the number of lost records, at a place. intro and
// said are the text if there is only this report.
func (l *Losses) Add(b *recording.Builder, code, place, intro, said string) {
	l.reports++
	n, err := strconv.ParseInt(firstNumber().FindString(said), 10, 64)
	if err != nil {
		l.more = true
	}
	l.sum += min(n, math.MaxInt64-l.sum)
	b.Warn(code, place, "%s: %s", intro, said)
}

// Close rewords the warning if there are several reports, so that it says how many records the
// tool lost in all. One is the noun for a record, in the singular.
func (l *Losses) Close(b *recording.Builder, code, tool, one string) {
	if l.reports < 2 {
		return
	}
	lost := safetext.Plural(l.sum, one)
	switch {
	case l.more && l.sum == 0:
		return
	case l.more:
		lost = "at least " + lost
	}
	b.Reword(code, "%s lost %s while it recorded, in %d reports", tool, lost, l.reports)
}
