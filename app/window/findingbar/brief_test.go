package findingbar

import (
	"strings"
	"testing"
	"unicode/utf8"
)

var claims = []string{
	"9 goroutines take turns holding the lock “sync.(*Mutex).Lock in main.(*cache).lookup (main.go:24)”, mostly in “main.(*cache).lookup”: 272 holds, median 648.6 µs, longest 10.89 ms, together 392.1 ms (50.5 % of the recording). 272 waits of 9 goroutines lost 2.340 s.",
	"157 of 1734 calls of “MessageLoop::RunTask” on “Compositor” took at least 1.678 ms (median of the others: 122.0 µs). 149 of 157 slow calls have “src_func=ScheduleBeginImplFrameDeadline”, and 111 of the 1577 others. They start every 16.69 ms.",
	"No thread ran from 436.1 ms to 1 min 8 s (of 1 min 27 s).",
	"“hot” has the highest self cost",
}

// TestBriefKeepsNumbers checks that a sentence is cut only within quoted names or between
// clauses: every number and word outside of names is either whole or left out together with
// all that follows.
func TestBriefKeepsNumbers(t *testing.T) {
	for _, text := range claims {
		for room := 20; room < 300; room++ {
			got, whole := brief(text, func(s string) bool { return utf8.RuneCountInString(s) <= room })
			plain, unquoted := names(text), names(got)
			if whole {
				if unquoted != plain || utf8.RuneCountInString(got) > room {
					t.Fatalf("in %d characters: %q", room, got)
				}
				continue
			}
			left, cut := strings.CutSuffix(unquoted, "…")
			after, found := strings.CutPrefix(plain, left)
			if !found || cut && !strings.ContainsAny(after[:1], ",.;: ") {
				t.Fatalf("in %d characters: %q", room, got)
			}
		}
		if got, whole := brief(text, func(s string) bool { return true }); got != text || !whole {
			t.Errorf("with room: %q", got)
		}
	}
	got, whole := brief(claims[0], func(s string) bool { return utf8.RuneCountInString(s) <= 235 })
	if !whole || !strings.HasSuffix(got, "lost 2.340 s.") || !strings.Contains(got, "…”") {
		t.Errorf("names make no room for numbers: %q, %v", got, whole)
	}
	if got, _ = brief(claims[0], func(s string) bool { return utf8.RuneCountInString(s) <= 100 }); strings.Count(got, "“") != strings.Count(got, "”") {
		t.Errorf("a name is left open: %q", got)
	}
}

// names returns a text with each quoted name replaced by “”.
func names(text string) string {
	parts := strings.Split(text, "“")
	for i := 1; i < len(parts); i++ {
		if at := strings.Index(parts[i], "”"); at >= 0 {
			parts[i] = parts[i][at:]
		}
	}
	return strings.Join(parts, "“")
}
