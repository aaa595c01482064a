package perfetto

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// TestCategories: an event has all its categories, however many and however they are
// told: by numbers small and large, as texts, and packed. Several numbers lie in one (see
// joinIDs) where they have room.
func TestCategories(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	ids := []uint64{1, 2, 3, mostID, mostID + 1, 1 << 40}
	var interned []byte
	for i, id := range ids {
		interned = msg(interned, internCategory, msg(num(nil, 1, id), 2, []byte{'a' + byte(i)}))
	}
	interned = msg(interned, internName, msg(num(nil, 1, 7), 2, []byte("e")))
	trace := msg(nil, 1, msg(num(num(nil, packetSequence, 1), packetFlags, flagCleared), packetInterned, interned))
	var want []string
	for at := range uint64(300) {
		e := num(num(num(nil, eventType, typeBegin), eventTrack, 5), eventNameID, 7)
		var has []string
		for range rng.IntN(5) {
			i := rng.IntN(len(ids))
			name := string('a' + rune(i))
			switch has = append(has, name); rng.IntN(8) {
			case 0:
				e = msg(e, eventCategories, []byte(name))
			case 1:
				e = msg(e, eventCategoryIDs, num(nil, 0, ids[i])[1:])
			default:
				e = num(e, eventCategoryIDs, ids[i])
			}
		}
		want = append(want, strings.Join(has, ","))
		p := num(num(nil, packetSequence, 1), packetTime, 100+10*at)
		trace = msg(trace, 1, msg(p, packetEvent, e))
		end := num(num(nil, eventType, typeEnd), eventTrack, 5)
		p = num(num(nil, packetSequence, 1), packetTime, 105+10*at)
		trace = msg(trace, 1, msg(p, packetEvent, end))
	}
	r, err := decodeBytes(t, trace, 0)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for l, i := &r.Tracks[0].Lanes[0], 0; i < l.Len(); i++ {
		got = append(got, r.Functions.At(int(r.Func(l.Call(i)))).Module)
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
