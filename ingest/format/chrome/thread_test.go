package chrome

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"ashlar/ingest/model/recording"
)

// events expands a shorthand for the events of one thread: "B a 1" is a begin of a at 1 µs,
// "X a 1 5" lasts from 1 to 6 µs, "E 3" is an end without a name, "E#7 3" one with id 7.
func events(short string) string {
	var out []string
	for line := range strings.SplitSeq(short, ",") {
		f := strings.Fields(line)
		ph, id, hasID := strings.Cut(f[0], "#")
		e := fmt.Sprintf(`{"ph":%q,"pid":1,"tid":2`, ph)
		if hasID {
			e += `,"id":` + id
		}
		f = f[1:]
		if f[0][0] != '-' && f[0][0] > '9' {
			e += fmt.Sprintf(`,"name":%q`, f[0])
			f = f[1:]
		}
		e += `,"ts":` + f[0]
		if len(f) > 1 {
			e += `,"dur":` + f[1]
		}
		out = append(out, e+"}")
	}
	return "[" + strings.Join(out, ",\n") + "]"
}

// short lists the spans of a track like "a 1..6". A ~ before the end marks an unfinished
// span.
func short(rec *recording.Recording, tr *recording.Track) string {
	var out []string
	for _, s := range spansOf(rec, tr) {
		dots := ".."
		if s.unfinished {
			dots = "..~"
		}
		out = append(out, s.name+" "+s.start+dots+s.end)
	}
	return strings.Join(out, ", ")
}

func codes(rec *recording.Recording) string {
	var out []string
	for _, w := range rec.Warnings {
		out = append(out, fmt.Sprintf("%s:%d", w.Code, w.Count))
	}
	slices.Sort(out)
	return strings.Join(out, " ")
}

func TestThreadSpans(t *testing.T) {
	for _, c := range []struct{ name, in, want, codes string }{
		{"nested", "B a 1, B b 2, E b 3, E a 4", "a 1..4, b 2..3", ""},
		{"ends without names", "B a 1, B b 2, E 3, E 4", "a 1..4, b 2..3", ""},
		{"X in order", "X a 0 10, X b 2 3, X c 6 1", "a 0..10, b 2..5, c 6..7", ""},
		{"X out of order", "X b 2 3, X a 0 10", "a 0..10, b 2..5", ""},
		{"X that overlap", "X a 0 10, X b 5 10, X c 6 1", "a 0..10, b 5..15, [overlapping spans] 6..7, c 6..7", "crossing-spans:1 overlapping-spans:1"},
		{"X at equal starts, the inner first", "X b 0 5, X a 0 10", "a 0..10, b 0..5", ""},
		{"X around B", "X a 0 10, B b 2, E b 9, B c 10, E c 11", "a 0..10, b 2..9, c 10..11", ""},
		{"B across the end of X", "X a 0 10, B b 2, X c 5 1, E b 12", "a 0..10, b 2..12, [overlapping spans] 5..6, c 5..6", "crossing-spans:1 overlapping-spans:1"},
		{"X across the end of B", "B b 0, X a 5 10, E b 8, X c 9 1", "b 0..8, a 5..15, c 9..10", "crossing-spans:1"},
		{"ends crosswise", "B a 1, B b 2, E a 5, E b 7", "a 1..5, b 2..7", "crossed-end:1 crossing-spans:1"},
		{"X that begin a rounding before the end of another", "X a 0 10.1, X b 0.5 4.1, X c 4.5 2, X d 10 5, X e 10.2 1", "a 0..10.1, b 0.5..4.6, c 4.6..6.5, d 10.1..15, e 10.2..11.2", "touching-spans:2"},
		{"ends crosswise, told apart by ids", "B#1 a 0, B#2 a 10, E#1 20, E#2 50", "a 0..20, a 10..50", "crossed-end-by-id:1 crossing-spans:1"},
		{"ends crosswise, with names and ids", "B#1 a 0, B#2 a 10, B#3 b 15, E#1 a 20, E#3 b 30, E#2 a 50", "a 0..20, a 10..50, b 15..30", "crossed-end-by-id:1 crossing-spans:1"},
		{"ids that agree with the nesting", "B#1 a 0, B#2 a 10, E#2 20, E#1 50", "a 0..50, a 10..20", ""},
		{"ids on ends only", "B a 0, B b 10, E#1 20, E#2 50", "a 0..50, b 10..20", ""},
		{"another id, the same name", "B#1 a 0, B#2 b 10, E#3 b 20, E#4 a 50", "a 0..50, b 10..20", ""},
		{"another id, no name", "B#1 a 0, E#3 20", "a 0..20", ""},
		{"begins with ids after their ends", "E#2 5, E#1 9, B#1 a 0, B#2 a 1", "a 0..9, a 1..5", ""},
		{"begins with ids after their ends, crosswise", "E#1 5, E#2 9, B#1 a 0, B#2 a 1", "a 0..5, a 1..9", "crossing-spans:1"},
		{"ends crosswise as rounding makes them", "B a 1, B b 2, E a 5, E b 6", "a 1..5, b 2..5", "crossed-end:1 overrun:1"},
		{"a length cut off later than the one around it", "X a 0.4 8000, X b 0.6 7999.9, X c 10 5", "a 0.4..8000.4, b 0.6..8000.4, c 10..15", "overrun:1"},
		{"ends crosswise, of one name twice", "B a 0, B b 1, B a 2, E b 5, E a 5, E a 9", "a 0..9, b 1..5, a 2..5", "crossed-end:1"},
		{"an end that is lacking inside", "B a 1, B b 2, E a 5, B c 7, E c 8", "a 1..5, b 2..~5, c 7..8", "crossed-end:1 unclosed:1"},
		{"an end of another name", "B a 1, E b 5", "a 1..5", "mismatched-end:1"},
		{"an end with nothing open", "B a 1, E a 2, E a 3", "a 1..2", "unmatched-end:1"},
		{"never closed", "B a 1, B b 2, E b 3", "a 1..~3, b 2..3", "unclosed:1"},
		{"never closed inside X", "X a 0 10, B b 2, X c 20 1", "a 0..10, b 2..~10, c 20..21", "unclosed:1"},
		{"out of order, balanced", "B b 1, E b 9, B a 0, E a 10", "a 0..10, b 1..9", ""},
		{"ends before their begins", "E a 5, E b 3, B a 1, B b 2", "a 1..5, b 2..3", ""},
		{"ends later in time first", "B a 0, B a 5, E a 8, E a 3", "a 0..3, a 5..8", ""},
		{"an end before its begin in time", "B a 5, E a 4", "a 5..5", "time-backward:1"},
		{"X without a duration", "B a 0, X b 1, E a 9", "a 0..9, b 1..~9", "crossed-end:1 no-duration:1"},
		{"X of a negative duration", "X a 4 -3", "a 4..4", "negative-duration:1"},
		{"negative times", "B a -5.5, E a -1", "a -5.5..-1", ""},
		{"fractions", "B a 0.000001, X b 0.1 0.000001, E a 1.5e0", "a 0.000001..1.5, b 0.1..0.100001", ""},
		{"nothing at the end of another", "X a 0 5, X b 5 0, X c 5 1", "a 0..5, b 5..5, c 5..6", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			rec := readText(t, events(c.in))
			balanced(t, rec)
			if got := short(rec, rec.Tracks[0]); got != c.want {
				t.Errorf("spans %s\nwant  %s", got, c.want)
			}
			if got := codes(rec); got != c.codes {
				t.Errorf("warnings %q, want %q", got, c.codes)
			}
			for i := range rec.Tracks[0].Lanes {
				l := &rec.Tracks[0].Lanes[i]
				for k := 1; k < l.Len(); k++ {
					if l.Start(k) < l.End(k-1) {
						t.Errorf("lane %d: spans %d and %d cover each other", i, k-1, k)
					}
				}
			}
		})
	}
}

// TestNestedLikeLoose checks that random nested spans give the same calls whether they are
// added one by one or all at once.
func TestNestedLikeLoose(t *testing.T) {
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 1))
		var in []string
		var build func(from, to, depth int)
		build = func(from, to, depth int) {
			for from < to && depth < 5 {
				end := from + r.IntN(to-from+1)
				name := string(rune('a' + r.IntN(4)))
				if r.IntN(2) == 0 {
					in = append(in, fmt.Sprintf("X %s %d %d", name, from, end-from))
					build(from, end, depth+1)
				} else {
					in = append(in, fmt.Sprintf("B %s %d", name, from))
					build(from, end, depth+1)
					in = append(in, fmt.Sprintf("E %s %d", name, end))
				}
				from = end + r.IntN(3)
			}
		}
		build(0, 40, 0)
		if len(in) == 0 {
			continue
		}
		calls := func(text string) string {
			rec := readText(t, text)
			balanced(t, rec)
			var out []string
			for _, l := range rec.Tracks[0].Lanes {
				for i := range l.Len() {
					var stack []string
					for _, c := range rec.Calls.Path(nil, l.Call(i)) {
						stack = append(stack, rec.FuncName(c))
					}
					if l.End(i) > l.Start(i) { // the parent of a span of zero length is not defined
						out = append(out, fmt.Sprintf("%s %d..%d", strings.Join(stack, "/"), l.Start(i), l.End(i)))
					}
				}
			}
			slices.Sort(out)
			return strings.Join(out, "\n")
		}
		ordered := events(strings.Join(in, ","))
		// The last span is out of order, which makes the thread loose. It is too far away
		// to affect the others.
		loose := events(strings.Join(in, ",") + ",X z 1000 1,X y 900 1")
		want := strings.ReplaceAll(strings.ReplaceAll(calls(loose), "\ny 900000000..901000000", ""), "\nz 1000000000..1001000000", "")
		if got := calls(ordered); got != strings.TrimSpace(want) && noEmpty(in) {
			t.Fatalf("seed %d: %v\nin order:\n%s\nloose:\n%s", seed, in, got, want)
		}
	}
}

// noEmpty reports whether every span has a length. A span of zero length may be nested in a
// neighbour or beside it.
func noEmpty(in []string) bool {
	for i, s := range in {
		if strings.HasPrefix(s, "X") && strings.HasSuffix(s, " 0") {
			return false
		}
		if strings.HasPrefix(s, "B") && i+1 < len(in) && strings.HasPrefix(in[i+1], "E") && strings.TrimPrefix(s, "B") == strings.TrimPrefix(in[i+1], "E") {
			return false
		}
	}
	return true
}

func TestAsync(t *testing.T) {
	for _, c := range []struct{ name, in, want, codes string }{
		{"nested by id",
			`[{"ph":"b","cat":"c","id":1,"name":"a","ts":1,"pid":1},{"ph":"b","cat":"c","id":1,"name":"b","ts":2,"pid":1},
			  {"ph":"b","cat":"c","id":2,"name":"a","ts":3,"pid":1},{"ph":"e","cat":"c","id":1,"name":"b","ts":4,"pid":1},
			  {"ph":"e","cat":"c","id":1,"name":"a","ts":5,"pid":1},{"ph":"e","cat":"c","id":2,"name":"a","ts":6,"pid":1}]`,
			"c/a: a 1..5, b 2..4, a 3..6", ""},
		{"ids local to processes",
			`[{"ph":"b","cat":"c","id2":{"local":"7"},"name":"a","ts":1,"pid":1},{"ph":"b","cat":"c","id2":{"local":"7"},"name":"a","ts":2,"pid":2},
			  {"ph":"e","cat":"c","id2":{"local":"7"},"name":"a","ts":3,"pid":1},{"ph":"e","cat":"c","id2":{"local":"7"},"name":"a","ts":4,"pid":2}]`,
			"c/a: a 1..3\nc/a: a 2..4", ""},
		{"the older phases, ended in another process",
			`[{"ph":"S","cat":"c","id":"x","name":"a","ts":1,"pid":1},{"ph":"F","cat":"c","id":"x","name":"a","ts":3,"pid":2}]`,
			"c/a: a 1..3", ""},
		{"an end in the file before its begin",
			`[{"ph":"e","cat":"c","id":"x","name":"a","ts":3,"pid":1},{"ph":"b","cat":"c","id":"x","name":"a","ts":1,"pid":1}]`,
			"c/a: a 1..3", ""},
		{"unmatched and unclosed, without an id",
			`[{"ph":"b","cat":"c","id":"x","name":"a","ts":1},{"ph":"e","cat":"c","id":"y","name":"a","ts":3},{"ph":"b","cat":"c","name":"a","ts":1}]`,
			"c/a: a 1..~3", "no-id:1 unclosed:1 unmatched-end:1"},
		{"an id in two spellings",
			`[{"ph":"b","cat":"c","id":"0x1F","name":"a","ts":1},{"ph":"e","cat":"c","id":31,"name":"a","ts":3}]`,
			"c/a: a 1..~3", "id-spelling:1 unclosed:1 unmatched-end:1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			rec := readText(t, c.in)
			balanced(t, rec)
			var out []string
			for _, tr := range rec.Tracks {
				if tr.Kind == recording.AsyncTrack {
					out = append(out, tr.Name+": "+short(rec, tr))
				}
			}
			if got := strings.Join(out, "\n"); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
			if got := codes(rec); got != c.codes {
				t.Errorf("warnings %q, want %q", got, c.codes)
			}
		})
	}
}

func TestFlows(t *testing.T) {
	x := func(tid, ts, dur int) string {
		return fmt.Sprintf(`{"ph":"X","name":"w","pid":1,"tid":%d,"ts":%d,"dur":%d},`, tid, ts, dur)
	}
	for _, c := range []struct{ name, in, want, codes string }{
		{"to the next span",
			`[` + x(1, 0, 10) + `{"ph":"s","id":1,"name":"q","ts":5,"pid":1,"tid":1},{"ph":"f","id":1,"name":"q","ts":6,"pid":1,"tid":2},` + x(2, 8, 2) + `]`,
			"q: 1@5 2@8", ""},
		{"to the span around it",
			`[` + x(1, 0, 10) + `{"ph":"s","id":1,"name":"q","ts":5,"pid":1,"tid":1},{"ph":"f","bp":"e","id":1,"name":"q","ts":6,"pid":1,"tid":2},` + x(2, 8, 2) + `]`,
			"q: 1@5 2@6", ""},
		{"three steps, the end first in the file",
			`[{"ph":"f","bp":"e","id":1,"name":"q","ts":9,"pid":1,"tid":3},{"ph":"t","id":1,"name":"q","ts":6,"pid":1,"tid":2},{"ph":"s","id":1,"name":"q","ts":5,"pid":1,"tid":1}]`,
			"q: 1@5 2@6 3@9", ""},
		{"one id twice",
			`[{"ph":"s","id":1,"name":"q","ts":1,"pid":1,"tid":1},{"ph":"f","bp":"e","id":1,"name":"q","ts":2,"pid":1,"tid":2},{"ph":"s","id":1,"name":"q","ts":3,"pid":1,"tid":1},{"ph":"f","bp":"e","id":1,"name":"q","ts":4,"pid":1,"tid":2}]`,
			"q: 1@1 2@2\nq: 1@3 2@4", ""},
		{"the end is first in the file, and reused",
			`[{"ph":"f","bp":"e","id":1,"name":"q","ts":9,"pid":1,"tid":3},{"ph":"s","id":1,"name":"q","ts":5,"pid":1,"tid":1},{"ph":"t","id":1,"name":"q","ts":6,"pid":1,"tid":2},{"ph":"t","id":1,"name":"q","ts":7,"pid":1,"tid":2},{"ph":"f","bp":"e","id":1,"name":"q","ts":12,"pid":1,"tid":4},{"ph":"s","id":1,"name":"q","ts":10,"pid":1,"tid":4}]`,
			"q: 1@5 2@6 2@7 3@9\nq: 4@10 4@12", ""},
		{"the next span stands before it in the file",
			`[` + x(2, 8, 2) + x(2, 7, 1) + x(2, 20, 1) + `{"ph":"s","id":1,"name":"q","ts":5,"pid":1,"tid":1},{"ph":"f","id":1,"name":"q","ts":6,"pid":1,"tid":2}]`,
			"q: 1@5 2@7", ""},
		{"no span begins after it",
			`[` + x(2, 1, 2) + `{"ph":"s","id":1,"name":"q","ts":5,"pid":1,"tid":1},{"ph":"f","id":1,"name":"q","ts":6,"pid":1,"tid":2}]`,
			"q: 1@5 2@6", ""},
		{"ids of two processes",
			`[{"ph":"s","id2":{"local":"0x1"},"name":"q","ts":1,"pid":1,"tid":1},{"ph":"s","id2":{"local":"0x1"},"name":"q","ts":2,"pid":2,"tid":2},{"ph":"f","bp":"e","id2":{"local":"0x1"},"name":"q","ts":3,"pid":1,"tid":3},{"ph":"f","bp":"e","id2":{"local":"0x1"},"name":"q","ts":4,"pid":2,"tid":4}]`,
			"q: 1@1 3@3\nq: 2@2 4@4", ""},
		{"two starts and two ends of one moment",
			`[{"ph":"s","id":1,"name":"q","ts":1,"pid":1,"tid":1},{"ph":"s","id":1,"name":"q","ts":1,"pid":1,"tid":2},{"ph":"f","bp":"e","id":1,"name":"q","ts":1,"pid":1,"tid":3},{"ph":"f","bp":"e","id":1,"name":"q","ts":1,"pid":1,"tid":4},{"ph":"s","id":1,"name":"q","ts":2,"pid":1,"tid":5},{"ph":"s","id":1,"name":"q","ts":2,"pid":1,"tid":6}]`,
			"q: 1@1 3@1\nq: 2@1 4@1", "lone-flow:2"},
		{"nothing runs backwards",
			`[{"ph":"f","bp":"e","id":1,"name":"q","ts":1,"pid":1,"tid":1},{"ph":"s","id":1,"name":"q","ts":2,"pid":1,"tid":1}]`,
			"", "lone-flow:2"},
		{"by bind_id, received before it was sent",
			`[{"ph":"X","name":"c","bind_id":"0x1","flow_in":true,"ts":1,"dur":1,"pid":1,"tid":3},{"ph":"X","name":"d","bind_id":"0x1","flow_in":true,"ts":9,"dur":1,"pid":1,"tid":3},{"ph":"X","name":"a","bind_id":"0x1","flow_out":true,"ts":5,"dur":1,"pid":1,"tid":1}]`,
			"d: 1@5 3@9", "lone-flow:1"},
		{"alone", `[{"ph":"s","id":1,"name":"q","ts":1,"pid":1,"tid":1}]`, "", "lone-flow:1"},
		{"by bind_id",
			`[{"ph":"X","name":"a","bind_id":"0x1","flow_out":true,"ts":1,"dur":1,"pid":1,"tid":1},{"ph":"X","name":"b","bind_id":"0x1","flow_in":true,"flow_out":true,"ts":3,"dur":1,"pid":1,"tid":2},{"ph":"X","name":"c","bind_id":"0x1","flow_in":true,"ts":5,"dur":1,"pid":1,"tid":3}]`,
			"b: 1@1 2@3\nc: 2@3 3@5", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			rec := readText(t, c.in)
			balanced(t, rec)
			var out []string
			for _, f := range rec.Flows {
				s := f.Name + ":"
				for _, p := range f.Steps {
					s += fmt.Sprintf(" %d@%s", rec.Tracks[p.Track].TID, rec.Clock.Text(p.Time))
				}
				out = append(out, s)
			}
			if got := strings.Join(out, "\n"); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
			if got := codes(rec); got != c.codes {
				t.Errorf("warnings %q, want %q", got, c.codes)
			}
		})
	}
}

// TestSpelledEndsInOrder checks that the first of several ends with an id in another spelling is
// the one that the warning names.
func TestSpelledEndsInOrder(t *testing.T) {
	events := make([]string, 0, 40)
	for i := range 20 {
		events = append(events, fmt.Sprintf(`{"ph":"b","cat":"c","id":"0x%x","name":"a","ts":1}`, i+1))
	}
	for i := range 20 {
		events = append(events, fmt.Sprintf(`{"ph":"e","cat":"c","id":%d,"name":"a","ts":3}`, i+1))
	}
	for range 5 {
		rec := readText(t, "["+strings.Join(events, ",")+"]")
		i := slices.IndexFunc(rec.Warnings, func(w recording.Warning) bool { return w.Code == "id-spelling" })
		if i < 0 || !strings.Contains(rec.Warnings[i].Text, `"0x1"`) {
			t.Fatalf("%+v", rec.Warnings)
		}
	}
}
