package decode

import (
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"ashlar/ingest/model/recording"
)

// given is a call of lines's callback: the beginning of the line, whether it ended with a
// newline, and whether it was too long.
type given struct {
	text        string
	ended, over bool
}

// TestLines compares lines with strings.Split, for random texts in chunks of any size.
func TestLines(t *testing.T) {
	const most = 10
	r := rand.New(rand.NewPCG(1, 2))
	for range 3000 {
		var text []byte
		for range r.IntN(60) {
			text = append(text, "aaaaaabb\n"[r.IntN(9)])
		}
		var want []given
		all := strings.Split(string(text), "\n")
		for i, line := range all {
			last := i == len(all)-1
			if last && line == "" {
				break
			}
			want = append(want, given{line[:min(len(line), most)], !last, len(line) > most})
		}

		left, held := text, []byte(nil)
		next := func(rest int) ([]byte, error) {
			if rest > most {
				t.Fatalf("%q: %d bytes of a line are held", text, rest)
			}
			n := min(r.IntN(7), len(left))
			held = append(slices.Clone(held[len(held)-rest:]), left[:n]...)
			if left = left[n:]; len(left) == 0 {
				return held, io.EOF
			}
			return held, nil
		}
		var got []given
		err := lines(context.Background(), next, recording.NewBuilder(), most, func(line []byte, ended, over bool) error {
			if over { // for a long line, ended depends on how much of it has arrived
				ended = true
			}
			got = append(got, given{string(line[:min(len(line), most)]), ended, over})
			return nil
		})
		for i := range want {
			want[i].ended = want[i].ended || want[i].over
		}
		if err != nil || !slices.Equal(got, want) {
			t.Fatalf("%q: %v, %v; want %v", text, got, err, want)
		}
	}
}

// TestLinesEnd checks that lines returns the callback's error and stops when the context
// ends.
func TestLinesEnd(t *testing.T) {
	b := recording.NewBuilder()
	next := func(int) ([]byte, error) { return []byte("a\nb\n"), nil }
	failed := errors.New("failed")
	if err := lines(context.Background(), next, b, 9, func([]byte, bool, bool) error { return failed }); err != failed {
		t.Errorf("it ended with %v", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	n := 0
	err := lines(ctx, next, b, 9, func([]byte, bool, bool) error {
		if n++; n == 5000 {
			cancel()
		}
		return nil
	})
	if err != context.Canceled || n > 7000 {
		t.Errorf("it ended with %v after %d lines", err, n)
	}
}
