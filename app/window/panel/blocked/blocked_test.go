package blocked

import (
	"slices"
	"testing"

	"ashlar/ingest/query/waits"
)

// TestLongestWaitsFirst checks that a channel with longer waits is listed before a lock,
// and that waits that nobody ends are last.
func TestLongestWaitsFirst(t *testing.T) {
	all := []waits.Lock{{Kind: waits.Locks, Lost: 5}, {Kind: waits.Locks, Lost: 2}, {Kind: waits.Channels, Lost: 9}, {Kind: waits.Signals, Lost: 3}, {Kind: waits.Others, Lost: 100}, {Kind: waits.Others, Lost: 200}}
	var lost []int64
	for _, l := range byLost(all) {
		lost = append(lost, l.Lost)
	}
	if want := []int64{9, 5, 3, 2, 200, 100}; !slices.Equal(lost, want) {
		t.Errorf("the waits are %v, want %v", lost, want)
	}
	if all[0].Lost != 5 {
		t.Error("the answer itself is sorted")
	}
}
