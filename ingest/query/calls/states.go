package calls

import (
	"context"
	"slices"
	"strings"

	"ashlar/ingest/model/recording"
	"ashlar/ingest/model/sets"
	"ashlar/ingest/query/scan"
)

// statesIn returns the states that the query selects. Their times are those of the set,
// which limits samples and other states to them.
func (l *lookup) statesIn(ctx context.Context) (*recording.CallSet, error) {
	var tracks []scan.Stretch
	for i, t := range l.rec.Tracks {
		if !l.in.HasTrack(i) || t.States.Len() == 0 {
			continue
		}
		if first, last := l.in.SpansIn(&t.States); first < last {
			tracks = append(tracks, scan.Stretch{Lane: &t.States, Track: i, Row: recording.StateLane, First: first, Last: last})
		}
	}
	items := scan.Cut(tracks...)
	pieces, slow, err := l.pick(ctx, items)
	if err != nil {
		return nil, err
	}
	n := len(l.rec.Tracks)
	all, set := make([][]sets.Run, n), &recording.CallSet{Text: l.q.String(), States: make([][]sets.Run, n), Times: make([][]recording.Time, n)}
	for i, s := range items {
		all[s.Track] = append(all[s.Track], pieces[i].all...)
		set.States[s.Track] = append(set.States[s.Track], pieces[i].chosen...)
	}
	for _, c := range slow {
		track := items[c.item].Track
		set.States[track] = append(set.States[track], sets.Run{First: int(c.span), Last: int(c.span) + 1})
	}
	for track := range set.States {
		runs := l.settled(all[track], set.States[track])
		set.States[track] = runs
		lane := &l.rec.Tracks[track].States
		for _, r := range runs {
			set.Calls += r.Last - r.First
			for i := r.First; i < r.Last; i++ {
				set.Times[track] = after(set.Times[track], lane.Start(i), lane.End(i))
			}
		}
	}
	return set, nil
}

// after appends a time that follows all others, joined with the last one if they touch.
func after(times []recording.Time, from, to int64) []recording.Time {
	if n := len(times); n > 0 && times[n-1].To == from {
		times[n-1].To = to
		return times
	}
	return append(times, recording.Time{From: from, To: to})
}

// OfStates reports whether all functions of the query are states of threads.
func (q *Query) OfStates(rec *recording.Recording) bool {
	return rec.Counts.States > 0 && len(q.Functions) > 0 && newLookup(rec, recording.Scope{}, &Query{Functions: q.Functions}).states
}

// stateName reads the name of a state from the front of a text, such as [blocked: sync].
func stateName(s string) (name, rest string, ok bool) {
	end := strings.IndexByte(s, ']')
	if !strings.HasPrefix(s, "[") || end < 0 {
		return "", s, false
	}
	name, rest = s[:end+1], s[end+1:]
	is := slices.ContainsFunc(recording.States, func(x recording.State) bool {
		in := name[1:end]
		return in == x.String() || strings.HasPrefix(in, x.String()+": ")
	})
	return name, rest, is && (rest == "" || rest[0] == '[' || rest[0] == '|')
}
