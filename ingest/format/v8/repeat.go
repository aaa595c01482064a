package v8

import (
	"hash/maphash"

	"ashlar/ingest/input/jsonscan"
	"ashlar/ingest/model/recording"
)

// repeats finds what a file holds twice: a chunk that was written twice, and a whole
// profile beside its chunks. DevTools shows a thread's whole profile or its chunks, never
// both.
type repeats struct {
	seed   maphash.Seed
	chunks []uint64 // sums of the samples from chunks
}

// Whole adds the profile of a thread that one event holds, unless chunks have its samples.
func (s *Profiles) Whole(track func() *recording.TrackBuilder, e Event) {
	p := s.New(track)
	p.whole = true
	p.Read(e)
}

// sum returns a hash of an event. Two chunks of equal content differ in their times.
func (s *Profiles) sum(e Event) uint64 {
	var h maphash.Hash
	h.SetSeed(s.seed)
	maphash.WriteComparable(&h, e.At)
	for _, part := range [][]byte{e.Profile, e.Deltas, e.Start, e.End} {
		maphash.WriteComparable(&h, len(part))
		h.Write(part)
	}
	return h.Sum64()
}

// repeated warns of an event that is left out because the file has it twice.
func (s *Profiles) repeated(place int64) {
	s.b.Mended("profile-repeated", byteOf(place), "Part of a CPU profile is in the file twice, with the same times; it is counted once.")
}

// sample returns a hash of a sample with its thread.
func (s *Profiles) sample(track *recording.TrackBuilder, h held) uint64 {
	type sample struct {
		track int
		at    jsonscan.Micros
		call  recording.CallID
	}
	return maphash.Comparable(s.seed, sample{track.Index(), h.at, h.call})
}

// markRepeats marks the samples of whole profiles that another profile of the thread has, too.
func (s *Profiles) markRepeats() {
	var seen map[uint64]int
	for _, p := range s.all {
		if !p.whole || len(p.held) == 0 {
			continue
		}
		if seen == nil {
			seen = map[uint64]int{}
			for _, sum := range s.chunks {
				seen[sum]++
			}
		}
		own := map[uint64]int{}
		track := p.track()
		for i := range p.held {
			h := &p.held[i]
			sum := s.sample(track, *h)
			if own[sum]++; own[sum] > seen[sum] {
				continue
			}
			h.again = true
			s.read.Kept--
			s.read.Leave(byteOf(h.place))
			s.b.Mended("sample-repeated", byteOf(h.place), "A CPU profile (CpuProfile) repeats samples of another profile of its thread: same time, same stack. They are counted once.")
		}
		for sum, n := range own {
			seen[sum] = max(seen[sum], n)
		}
	}
	s.chunks = nil
}
