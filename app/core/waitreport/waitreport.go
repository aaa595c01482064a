// Package waitreport prints the locks and channels of a recording, with the threads that
// held them and those that waited, as JSON and as text.
package waitreport

import (
	"context"
	"encoding/json"

	"ashlar/app/core/evidence"
	"ashlar/app/core/exactnum"
	"ashlar/app/core/view"
	"ashlar/ingest/model/recording"
	"ashlar/ingest/query/waits"
)

// Answer is the JSON output of locks. Times are exact decimals in nanoseconds, starts
// counted from the recording's start.
type Answer struct {
	File string `json:"file"`
	// Blocked is the time that threads were blocked, the sum of Lost of all locks, and
	// Waits the number of waits.
	Blocked json.Number `json:"blocked"`
	Waits   int         `json:"waits"`
	// IdleWaits is the number of waits of idle goroutines of the Go runtime that were not
	// counted, and Idle their time.
	IdleWaits int64       `json:"idle_waits_left_out,omitempty"`
	Idle      json.Number `json:"idle_left_out,omitempty"`
	// Address shows the waits.
	Address string `json:"address"`
	Locks   []Lock `json:"locks"`
	// More is the number of locks that were left out.
	More int `json:"more"`

	rec     *recording.Recording
	locks   []waits.Lock
	blocked int64
	idle    int64
}

// Lock is a lock, channel or other thing that threads waited for. Recordings do not identify
// locks: waits at one place count as waits for one lock, as do waits that were ended by the
// same line of the program.
type Lock struct {
	// Kind is locks, channels, signals or other waits, and Reason that of the blocked
	// state.
	Kind   string `json:"kind"`
	Reason string `json:"reason"`
	// Places are where threads waited for it, the one with the longest time first.
	Places []string `json:"places"`
	// Waits is the number of waits, Waiters that of the threads that waited, Lost the sum
	// of the waits and Longest the longest.
	Waits   int         `json:"waits"`
	Waiters int         `json:"waiters"`
	Lost    json.Number `json:"lost"`
	Longest json.Number `json:"longest"`
	// Holds are derived: a hold lasts from its first waiter, or from the release before
	// it, to the wake-up that ends a wait.
	Holds Holds `json:"holds_derived"`
	// Holders are the threads that ended waits, by the stack with which they did, and
	// Losers the threads that waited, by their stack; the longest time first.
	Holders []Holder `json:"holders"`
	Losers  []Loser  `json:"losers"`
	// Convoy is the longest time in which two threads or more waited without a pause,
	// null if two never did.
	Convoy *Convoy `json:"convoy"`
}

// Holds sums up the holds of a lock, by Threads recorded threads.
type Holds struct {
	Count   int         `json:"count"`
	Threads int         `json:"threads"`
	Sum     json.Number `json:"sum"`
	Median  json.Number `json:"median"`
	Longest json.Number `json:"longest"`
}

// Holder is a thread that ended waits, "" if unknown, with its stack, the innermost
// function first.
type Holder struct {
	Thread  string      `json:"thread"`
	TID     string      `json:"tid"`
	Stack   []string    `json:"stack"`
	Count   int         `json:"count"`
	Sum     json.Number `json:"sum"`
	Median  json.Number `json:"median"`
	Longest json.Number `json:"longest"`
}

// Loser is a thread that waited, with its stack, the innermost function first.
type Loser struct {
	Thread  string      `json:"thread"`
	TID     string      `json:"tid"`
	Stack   []string    `json:"stack"`
	Count   int         `json:"count"`
	Lost    json.Number `json:"lost"`
	Longest json.Number `json:"longest"`
}

// Convoy is a time in which threads wait without a pause: Most is the largest number that
// waited at once, Waits the number of waits in it.
type Convoy struct {
	Start  json.Number `json:"start"`
	Length json.Number `json:"length"`
	Most   int         `json:"most_waiting"`
	Waits  int         `json:"waits"`
}

// Of returns the answer for a scope whose calls are bound, with at most the given number
// of locks, 0 for all.
func Of(ctx context.Context, rec *recording.Recording, in recording.Scope, most int) (*Answer, error) {
	a := &Answer{File: rec.Source.Path, Locks: []Lock{}, rec: rec}
	all, err := waits.Of(ctx, rec, in)
	if err != nil {
		return nil, err
	}
	for i := range all {
		recording.Add(&a.blocked, all[i].Lost)
		a.Waits += all[i].Waits
	}
	a.Blocked = exactnum.Nanoseconds(a.blocked)
	if a.IdleWaits, a.idle, err = waits.LeftOut(ctx, rec, in); err != nil {
		return nil, err
	}
	if a.IdleWaits > 0 {
		a.Idle = exactnum.Nanoseconds(a.idle)
	}
	if most > 0 && len(all) > most {
		a.More, all = len(all)-most, all[:most]
	}
	a.locks = all
	for i := range all {
		a.Locks = append(a.Locks, a.lock(&all[i]))
	}
	v := *view.OfScope(rec, in)
	v.Tab = "blocked"
	a.Address = evidence.Address(v, rec)
	return a, nil
}

// mostListed limits the holders and losers of a lock in JSON.
const mostListed = 20

func (a *Answer) lock(l *waits.Lock) Lock {
	ns := exactnum.Nanoseconds
	x := Lock{Kind: l.Kind.String(), Reason: l.Reason, Places: []string{}, Waits: l.Waits, Waiters: l.Waiters, Lost: ns(l.Lost), Longest: ns(l.Longest),
		Holds: Holds{len(l.Holds), holding(l), ns(l.Held), ns(l.Median), ns(l.LongestHold)}, Holders: []Holder{}, Losers: []Loser{}}
	for i := range l.Places {
		x.Places = append(x.Places, l.Places[i].Text(a.rec))
	}
	for _, h := range l.Holders[:min(mostListed, len(l.Holders))] {
		thread, tid := a.thread(h.Track)
		x.Holders = append(x.Holders, Holder{thread, tid, a.stack(h.Call), h.Count, ns(h.Held), ns(h.Median), ns(h.Longest)})
	}
	for _, h := range l.Losers[:min(mostListed, len(l.Losers))] {
		thread, tid := a.thread(h.Track)
		x.Losers = append(x.Losers, Loser{thread, tid, a.stack(h.Call), h.Count, ns(h.Lost), ns(h.Longest)})
	}
	if c := &l.Convoy; c.To > c.From {
		x.Convoy = &Convoy{ns(c.From - a.rec.Start), ns(c.To - c.From), c.Most, c.Waits}
	}
	return x
}

// holding returns the number of recorded threads that held a lock.
func holding(l *waits.Lock) int {
	on := map[int]bool{}
	for i := range l.Holders {
		if t := l.Holders[i].Track; t != recording.NoTrack {
			on[t] = true
		}
	}
	return len(on)
}

func (a *Answer) stack(call recording.CallID) []string {
	return append([]string{}, waits.Functions(a.rec, call)...)
}

func (a *Answer) thread(track int) (name, tid string) {
	if track == recording.NoTrack {
		return "", ""
	}
	t := a.rec.Tracks[track]
	return t.Title(), recording.IDText(t.TID)
}
