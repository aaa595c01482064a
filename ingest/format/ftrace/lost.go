package ftrace

import (
	"fmt"
	"regexp"
	"strings"
	"sync"

	"ashlar/ingest/input/safetext"
)

// lost matches a line about events lost because a processor's buffer was full, as the
// kernel writes it or as trace-cmd does.
var lost = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^CPU:(\d+) \[(?:LOST (?:(\d+) )?EVENTS|(?:(\d+) )?EVENTS DROPPED)\]$`)
})

// lost reads a line about lost events; it returns false for other lines.
func (d *decoder) lost(l []byte) bool {
	m := lost().FindSubmatch(l)
	if m == nil {
		return false
	}
	cpu := string(m[1])
	if d.losses[cpu] == nil && len(d.losing) == mostProcessors {
		return true
	}
	if d.losses[cpu] == nil {
		d.losses[cpu] = &loss{at: d.n}
		d.losing = append(d.losing, cpu)
	}
	x := d.losses[cpu]
	x.times++
	if count := append(m[2], m[3]...); len(count) > 0 {
		x.events += number(count)
	} else {
		x.more = true
	}
	return true
}

// A loss is the number of events that a processor lost. more means that it lost others, whose
// number the file does not say; at is the first line about it.
type loss struct {
	events int64
	more   bool
	at     int
	times  int
}

// String returns how many events were lost.
func (x *loss) String() string {
	switch {
	case !x.more:
		return safetext.Plural(x.events, "event")
	case x.events == 0:
		return "events"
	}
	return safetext.Plural(x.events, "event") + " and more"
}

// mostProcessors bounds the memory for losses: Linux supports 8192 processors.
const mostProcessors = 8192

// mostLosing is the largest number of processors whose losses are listed.
const mostLosing = 8

// warnLost warns of the events that processors lost.
func (d *decoder) warnLost() {
	if len(d.losing) == 0 {
		return
	}
	first := d.losses[d.losing[0]]
	d.n = first.at
	if len(d.losing) == 1 && first.times == 1 {
		d.b.Warn("events-lost", d.place(), "ftrace lost %s of processor %s before line %d", first, d.losing[0], d.n)
		return
	}
	var list []string
	for _, cpu := range d.losing[:min(len(d.losing), mostLosing)] {
		list = append(list, fmt.Sprintf("%s of processor %s", d.losses[cpu], cpu))
	}
	if n := len(d.losing) - len(list); n > 0 {
		list = append(list, "and others of "+safetext.Plural(int64(n), "processor"))
	}
	d.b.Warn("events-lost", d.place(), "ftrace lost %s, the first before line %d", strings.Join(list, ", "), d.n)
}
