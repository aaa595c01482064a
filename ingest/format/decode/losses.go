package decode

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"sync"

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

// Close rewords the warning if there are several reports: what is a clause with the place of the
// number, like "perf lost %s samples".
func (l *Losses) Close(b *recording.Builder, code, what string) {
	if l.reports < 2 {
		return
	}
	n := fmt.Sprint(l.sum)
	switch {
	case l.more && l.sum == 0:
		return
	case l.more:
		n = "at least " + n
	}
	b.Reword(code, what+" while it recorded, in %d reports", n, l.reports)
}
