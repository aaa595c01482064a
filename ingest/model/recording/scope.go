package recording

import (
	"slices"
	"sort"

	"ashlar/ingest/model/lanes"
	"ashlar/ingest/model/sets"
)

// Scope selects a part of a recording: every query is answered within a Scope. The zero
// Scope is the whole recording.
//
// A Scope is a value. Its slices are never written to once it has been handed on, so a
// copy never changes.
type Scope struct {
	// Ranged limits the Scope to the time From..To, in picoseconds on the recording's own
	// clock, as used by Recording.Start, Recording.End and all spans; they are not
	// offsets from the start. Without Ranged, From and To are ignored.
	Ranged   bool
	From, To int64
	// Outside selects the time before From and after To instead. Only weights and
	// comparisons can answer for it, without Calls.
	Outside bool
	// Tracks limits the Scope to some tracks, as indices of Recording.Tracks; nil means
	// all tracks, an empty slice none.
	Tracks []int
	// Calls limits the Scope to the spans and samples in some calls; nil means no limit.
	Calls *CallSet
	// Async and Idle determine whether async operations and idle samples count. Like Calls,
	// they have no effect until the Scope is looked up in a recording (see package calls).
	Async, Idle Apart
	// Beside are the tracks whose spans Async excludes, in order, once looked up.
	Beside []int
}

// Apart determines whether records outside the work of threads count: async operations,
// whose time belongs to no thread because they overlap freely, and samples taken while
// nothing ran.
type Apart string

// The values of Scope.Async and Scope.Idle. The default, "", is like Out, except that
// async operations count if the scope has nothing else.
const (
	Out  Apart = "out"
	In   Apart = "in"
	Only Apart = "only"
)

// Aparts lists all values, the default first.
var Aparts = []string{string(Out), string(In), string(Only)}

// plain returns the default as "".
func (a Apart) plain() Apart {
	if a == Out {
		return ""
	}
	return a
}

// Between returns the Scope of all tracks between two times.
func Between(from, to int64) Scope { return Scope{Ranged: true, From: from, To: to} }

// IsWhole reports whether the Scope is the whole recording, apart from async operations and
// idle samples.
func (s Scope) IsWhole() bool {
	return !s.Ranged && s.Tracks == nil && s.Calls == nil && s.Async != Only && s.Idle != Only
}

// Equal reports whether two Scopes select the same: times are compared only if Ranged is
// set, tracks in any order, and calls by their Text.
func (s Scope) Equal(o Scope) bool {
	if (s.Calls == nil) != (o.Calls == nil) || s.Calls != nil && s.Calls.Text != o.Calls.Text {
		return false
	}
	if s.Async.plain() != o.Async.plain() || s.Idle.plain() != o.Idle.plain() {
		return false
	}
	if s.Ranged != o.Ranged || s.Ranged && (s.From != o.From || s.To != o.To || s.Outside != o.Outside) || (s.Tracks == nil) != (o.Tracks == nil) {
		return false
	}
	return slices.Equal(s.Tracks, o.Tracks) || slices.Equal(ascending(s.Tracks), ascending(o.Tracks))
}

// ascending returns a sorted copy without duplicates.
func ascending(tracks []int) []int { return slices.Compact(slices.Sorted(slices.Values(tracks))) }

// Between returns the Scope with another range of time.
func (s Scope) Between(from, to int64) Scope {
	s.Ranged, s.From, s.To, s.Outside = true, from, to, false
	return s
}

// AllTime returns the Scope without a range of time.
func (s Scope) AllTime() Scope {
	s.Ranged, s.From, s.To, s.Outside = false, 0, 0, false
	return s
}

// Rest returns the Scope with the time outside its range instead.
func (s Scope) Rest() Scope {
	s.Outside = s.Ranged
	return s
}

// Parts returns the Scopes of the time before and after the range of a Scope with Outside,
// as far as there are any; otherwise the Scope itself.
func (s Scope) Parts(rec *Recording) (parts []Scope) {
	if !s.Ranged || !s.Outside {
		return []Scope{s}
	}
	if s.From > rec.Start {
		parts = append(parts, s.Between(rec.Start, s.From))
	}
	if s.To < rec.End {
		parts = append(parts, s.Between(s.To, rec.End))
	}
	return parts
}

// Length returns the length of the selected time.
func (s Scope) Length(rec *Recording) (length int64) {
	for _, p := range s.Parts(rec) {
		from, to := p.Bounds(rec)
		length += to - from
	}
	return length
}

// On returns the Scope limited to the given tracks instead of its own; nil means all tracks.
func (s Scope) On(tracks []int) Scope {
	s.Tracks = tracks
	return s
}

// Moved returns the Scope with its range shifted by a number of picoseconds.
func (s Scope) Moved(by int64) Scope {
	if s.Ranged {
		s.From, s.To = s.From+by, s.To+by
	}
	return s
}

// Clip limits the range to the time of a recording, and drops tracks that the recording
// does not have. A range outside the recording becomes an empty range at the nearest
// edge.
func (s Scope) Clip(rec *Recording) Scope {
	if s.Ranged {
		s.From = min(max(s.From, rec.Start), rec.End)
		s.To = min(max(s.To, s.From), rec.End)
	}
	absent := func(t int) bool { return t < 0 || t >= len(rec.Tracks) }
	if slices.ContainsFunc(s.Tracks, absent) {
		s.Tracks = slices.DeleteFunc(slices.Clone(s.Tracks), absent)
	}
	return s
}

// Bounds returns the range of time; the whole recording's if there is none, or Outside.
func (s Scope) Bounds(rec *Recording) (from, to int64) {
	if s.Ranged && !s.Outside {
		return s.From, s.To
	}
	return rec.Start, rec.End
}

// HasTrack reports whether a track is in the Scope. NoTrack is in it if all tracks are.
func (s Scope) HasTrack(track int) bool {
	return (s.Tracks == nil || slices.Contains(s.Tracks, track)) && !slices.Contains(s.Beside, track)
}

// TrackTest returns a faster HasTrack for many calls.
func (s Scope) TrackTest() func(track int) bool {
	if s.Tracks == nil && s.Beside == nil {
		return func(int) bool { return true }
	}
	set := make(map[int]bool, len(s.Tracks)+len(s.Beside))
	for _, t := range s.Tracks {
		set[t] = true
	}
	for _, t := range s.Beside {
		set[t] = s.Tracks == nil // if Tracks is nil, set holds the excluded tracks
	}
	all := s.Tracks == nil
	return func(t int) bool { return set[t] != all }
}

// HasTime reports whether a moment is in the range, both edges included.
func (s Scope) HasTime(at int64) bool { return !s.Ranged || at >= s.From && at <= s.To }

// Of returns the Scope limited to other calls; nil means no limit.
func (s Scope) Of(calls *CallSet) Scope {
	s.Calls = calls
	return s
}

// SpansIn returns the spans first..last-1 of a lane that overlap the range. A zero-length
// span counts if it lies in the range, both edges included. See CallSet.SpanRuns for the
// effect of Calls.
func (s Scope) SpansIn(l *lanes.Lane) (first, last int) {
	n := l.Len()
	if !s.Ranged {
		return 0, n
	}
	first = l.Search(s.From)
	for first > 0 && l.End(first-1) == s.From && l.Start(first-1) == s.From {
		first--
	}
	last = first + sort.Search(n-first, func(k int) bool { return l.Start(first+k) >= s.To })
	for last < n && l.Start(last) == s.To && l.End(last) == s.To {
		last++
	}
	return first, last
}

// SamplesIn returns the samples of a track that are in the range and in the calls. From
// is included and To is not, unless it is the end of the recording.
func (s Scope) SamplesIn(rec *Recording, track int, of *Samples) []sets.Run {
	first, last := 0, of.Len()
	if s.Ranged {
		if first = of.Search(s.From); s.To < rec.End {
			last = of.Search(s.To)
		}
	}
	if s.Calls != nil {
		return s.Calls.SampleRuns(rec, track, of, first, last)
	}
	return []sets.Run{{First: first, Last: max(first, last)}}
}
