package chrome

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"ashlar/ingest/input/jsonscan"
	"ashlar/testdata/rounds"
)

// TestPlainNumbers checks that plainInt and plainMicros agree with the general parsers on
// value and end.
func TestPlainNumbers(t *testing.T) {
	rounds.Unraced(t)
	rng := rand.New(rand.NewPCG(3, 4))
	plain := 0
	for range 200_000 {
		var s strings.Builder
		for range rng.IntN(22) {
			s.WriteByte("0123456789"[rng.IntN(10)])
		}
		if rng.IntN(2) == 0 {
			s.WriteByte('.')
			for range rng.IntN(9) {
				s.WriteByte("0123456789"[rng.IntN(10)])
			}
		}
		if rng.IntN(8) == 0 {
			s.WriteByte("-e.x\"\x80"[rng.IntN(6)])
		}
		text := s.String()
		b := []byte(text + []string{",", "}", " ", "\n", "]", ""}[rng.IntN(6)] + strings.Repeat("7", rng.IntN(12)))
		m, end := plainMicros(b, 0)
		if end > 0 {
			plain++
			if want, ok := jsonscan.ParseMicros(b[:end]); !ok || want != m || b[end] > ' ' && b[end] != ',' && b[end] != '}' {
				t.Fatalf("%q is %v up to byte %d, not %v", b, m, end, want)
			}
		}
		if n, end := plainInt(b, 0); end > 0 {
			if want, ok := jsonscan.ParseInt(b[:end]); !ok || uint64(want) != n {
				t.Fatalf("%q is %d, not %d", b, n, want)
			}
		}
	}
	if plain < 50_000 {
		t.Errorf("%d numbers were plain", plain)
	}
}

// TestPredicted checks that a scanner that has learned from other events reads an event
// exactly like a new scanner.
func TestPredicted(t *testing.T) {
	rounds.Unraced(t)
	pick := func(r *rand.Rand, s ...string) string { return s[r.IntN(len(s))] }
	quick := 0
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 1))
		colon, comma := pick(r, ":", ": ", " : "), pick(r, ",", ", ", ",\n    ", " ,", ",,")
		keys := strings.Fields(`"ph" "ts" "dur" "pid" "tid" "name" "cat" "args" "id" "bp" "tdur" "x\"y" "n\u0061me" "scope"`)
		r.Shuffle(len(keys), func(i, k int) { keys[i], keys[k] = keys[k], keys[i] })
		keys = keys[:3+r.IntN(8)]
		learned := newScanner()
		var batch, alone batch
		for range 60 {
			var s strings.Builder
			s.WriteString("{")
			for i, k := range keys {
				if r.IntN(80) == 0 {
					continue
				}
				if r.IntN(100) == 0 {
					k = keys[r.IntN(len(keys))]
				}
				if i > 0 {
					s.WriteString(comma)
				}
				s.WriteString(k + colon + strings.Repeat(" ", max(0, r.IntN(60)-58)))
				s.WriteString(pick(r, `"X"`, `"B"`, `""`, `"\\"`, `"a\"b"`, "12", "12.5", "-3", "1e3", "123456789012345678901", "null", `"main"`, `{"a":[1,2]}`, "{}", `"e"`, "0x", `"`+strings.Repeat("n", r.IntN(40))+`"`))
			}
			s.WriteString(pick(r, "}", " }", "\n}", "", "}}"))
			text := []byte(s.String() + strings.Repeat(" ", r.IntN(200)))
			fresh := newScanner()
			learned.final, fresh.final = true, true
			fresh.links.trust = -distrust // prediction is off
			got, want := batch.add(phNone, 0, 0), alone.add(phNone, 0, 0)
			end, st := learned.event(text, 0, got)
			wantEnd, wantSt := fresh.event(text, 0, want)
			if st != wantSt || end != wantEnd && st == jsonscan.Good {
				t.Fatalf("seed %d: %q ends at %d (%v), not %d (%v)", seed, text, end, st, wantEnd, wantSt)
			}
			if st != jsonscan.Good {
				continue
			}
			if x, y := shownEvent(learned, *got), shownEvent(fresh, *want); x != y {
				t.Fatalf("seed %d: %q is %s, not %s", seed, text, x, y)
			}
			if _, ok := learned.predicted(slices.Concat(text, make([]byte, 2*maxLink)), 0, new(event)); ok {
				quick++
			}
		}
	}
	if quick < 1000 {
		t.Errorf("%d events were as expected", quick)
	}
}

// shownEvent formats an event with its interned ids replaced by their texts.
func shownEvent(s *scanner, ev event) string {
	name := func(id *uint32) (text string) {
		if *id > 0 {
			text = s.names.raw[*id-1]
		}
		*id = 0
		return text
	}
	thread := s.threads.keys[ev.thread-1]
	ev.thread = 0
	return fmt.Sprintf("%q %q %+v %+v", name(&ev.name), name(&ev.cat), thread, ev)
}
