package recording

import (
	"slices"
	"sort"

	"ashlar/ingest/model/lanes"
	"ashlar/ingest/model/sets"
)

// Scope says which part of a recording is meant: every question asked of one is
// answered within a Scope. The zero Scope is the whole recording.
//
// A Scope is a value. The slices of one are never written to once it has been
// handed on, so that a copy of it stays what it was.
type Scope struct {
	// Ranged limits it to the time From..To: picoseconds on the recording's own
	// clock, as Recording.Start, Recording.End and all spans have them, and not
	// offsets from its start. Without Ranged both mean nothing.
	Ranged   bool
	From, To int64
	// Tracks limits it to some tracks, as indices of Recording.Tracks; nil is all,
	// an empty slice none.
	Tracks []int
	// Calls limits it to what ran in some calls; nil stands for all.
	Calls *CallSet
	// Async and Idle say whether async operations and idle samples count. Like
	// Calls they are looked up in a recording (see package calls) before anything is
	// left out.
	Async, Idle Apart
	// Beside are the tracks whose spans Async leaves out, in order, once that has
	// been looked up.
	Beside []int
}

// Apart reports whether what is apart from the work of threads counts: async
// operations, which overlap freely, so that their time is nobody's, and samples of
// nothing at work.
type Apart string

// The values of Scope.Async and Scope.Idle. Out is the default, also written ""; if there
// is nothing else, async operations count even then.
const (
	Out  Apart = "out"
	In   Apart = "in"
	Only Apart = "only"
)

// Aparts are all there are, the one that a Scope begins with first.
var Aparts = []string{string(Out), string(In), string(Only)}

// plain writes what a Scope begins with as "".
func (a Apart) plain() Apart {
	if a == Out {
		return ""
	}
	return a
}

// Between is the Scope of all tracks from a time to another one.
func Between(from, to int64) Scope { return Scope{Ranged: true, From: from, To: to} }

// IsWhole reports whether the Scope is the whole recording, apart from async operations and
// idle samples.
func (s Scope) IsWhole() bool {
	return !s.Ranged && s.Tracks == nil && s.Calls == nil && s.Async != Only && s.Idle != Only
}

// Equal reports whether two Scopes mean the same: times count only where they
// limit, tracks in any order, calls by what is said of them.
func (s Scope) Equal(o Scope) bool {
	if (s.Calls == nil) != (o.Calls == nil) || s.Calls != nil && s.Calls.Text != o.Calls.Text {
		return false
	}
	if s.Async.plain() != o.Async.plain() || s.Idle.plain() != o.Idle.plain() {
		return false
	}
	if s.Ranged != o.Ranged || s.Ranged && (s.From != o.From || s.To != o.To) || (s.Tracks == nil) != (o.Tracks == nil) {
		return false
	}
	return slices.Equal(s.Tracks, o.Tracks) || slices.Equal(ascending(s.Tracks), ascending(o.Tracks))
}

// ascending sorts a copy and leaves out what is there twice.
func ascending(tracks []int) []int { return slices.Compact(slices.Sorted(slices.Values(tracks))) }

// Between limits the Scope to a range of time in place of the one it had.
func (s Scope) Between(from, to int64) Scope {
	s.Ranged, s.From, s.To = true, from, to
	return s
}

// AllTime takes the limits of time away.
func (s Scope) AllTime() Scope {
	s.Ranged, s.From, s.To = false, 0, 0
	return s
}

// On limits the Scope to some tracks in place of those it had; nil stands for
// all.
func (s Scope) On(tracks []int) Scope {
	s.Tracks = tracks
	return s
}

// Moved is the Scope with its range later by some picoseconds.
func (s Scope) Moved(by int64) Scope {
	if s.Ranged {
		s.From, s.To = s.From+by, s.To+by
	}
	return s
}

// Clip cuts the range to the time that a recording has, and leaves out tracks
// that it does not have. Of a range outside the recording only its nearest edge
// is left.
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

// Bounds is the range of time, or that of the whole recording when nothing
// limits it.
func (s Scope) Bounds(rec *Recording) (from, to int64) {
	if s.Ranged {
		return s.From, s.To
	}
	return rec.Start, rec.End
}

// HasTrack reports whether a track is in the Scope. NoTrack is where all tracks
// are.
func (s Scope) HasTrack(track int) bool {
	return (s.Tracks == nil || slices.Contains(s.Tracks, track)) && !slices.Contains(s.Beside, track)
}

// TrackTest is HasTrack for many questions.
func (s Scope) TrackTest() func(track int) bool {
	if s.Tracks == nil && s.Beside == nil {
		return func(int) bool { return true }
	}
	set := make(map[int]bool, len(s.Tracks)+len(s.Beside))
	for _, t := range s.Tracks {
		set[t] = true
	}
	for _, t := range s.Beside {
		set[t] = s.Tracks == nil // which then has those that do not count
	}
	all := s.Tracks == nil
	return func(t int) bool { return set[t] != all }
}

// HasTime reports whether a moment is in the range, both edges included.
func (s Scope) HasTime(at int64) bool { return !s.Ranged || at >= s.From && at <= s.To }

// Of returns the Scope limited to other calls; nil is no limit.
func (s Scope) Of(calls *CallSet) Scope {
	s.Calls = calls
	return s
}

// SpansIn are the spans first..last-1 of a lane that touch the range. A span of
// no length counts where it lies, both edges included. See CallSet.SpanRuns for
// which of them Calls leaves.
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

// SamplesIn are the samples of a track of a recording that are in the range (From
// included, To not, but that the last moment of the recording belongs to the last
// range) and in its calls.
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
