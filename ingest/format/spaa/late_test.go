package spaa

import (
	"strings"
	"testing"

	"ashlar/ingest/model/recording"
)

// TestLateDictionary checks that frames and dsos that follow their stacks are read as if
// they came first.
func TestLateDictionary(t *testing.T) {
	stacks := lines(stackLine(`"a"`, "9,1", "", period("5")), stackLine(`"b"`, "9,1", "", period("7")), stackLine(`"c"`, "1", "", period("1")))
	dict := lines(`{"type":"frame","id":9,"func":"f","dso":7,"kind":"user"}`, `{"type":"frame","id":1,"func":"main","dso":7,"kind":"user"}`, `{"type":"dso","id":7,"name":"/bin/x","is_kernel":false}`)
	for name, data := range map[string]string{"in order": lines(head) + dict + stacks, "behind": lines(head) + stacks + dict} {
		rec := read(t, data)
		self, _ := tables(rec, 0)
		equal(t, name+": self", self, map[string]int64{"f|/bin/x": 12, "main|/bin/x": 1})
		equal(t, name+": calls", rec.Calls.Len(), 3)
		for _, w := range rec.Warnings {
			if !w.Error || !w.Minor {
				t.Errorf("%s: %+v weighs on numbers", name, w)
			}
		}
		if name == "behind" {
			equal(t, "warnings", codes(rec), "late-frame×2@line 5 late-dso×1@line 7")
		}
		sameHoweverCut(t, data, []int{3}, []int{1, 100})
	}
}

// TestEventOfStacksAlone checks that the default event is one with records, even if only
// stacks name it.
func TestEventOfStacksAlone(t *testing.T) {
	rec := read(t, dict4+lines(strings.Replace(stackLine(`1`, "1", "", period("5")), "cycles", "faults", 1)))
	equal(t, "event", rec.Events[rec.DefaultEvent()].Name, "faults")
}

// TestParts reads samples and windows whose weight is more or less than that of their
// stacks.
func TestParts(t *testing.T) {
	stack := stackLine(`"g"`, "2,1", "", period("50"))
	samples := func(n int, period string) (s string) {
		for range n {
			s += sampleLine("101", `"g"`, `,"event":"cycles","period":`+period) + "\n"
		}
		return s
	}
	window := func(start, end, v string) string {
		return `{"type":"window","start":` + start + `,"end":` + end + `,"by_stack":[{"stack_id":"g","weights":[` + period(v) + `]}]}`
	}
	for name, c := range map[string]struct{ data, want string }{
		"as much":         {samples(5, "10"), ""},
		"more":            {samples(5, "1000"), `samples-exceed: In "period" of event "cycles", the samples of the stack with leaf "run" add up to 5000, its stack records only to 50`},
		"less":            {samples(4, "10"), `samples-less: In "period" of event "cycles", the samples add up to 40, the stack records to 50`},
		"windows":         {lines(window("1", "2", "30"), window("2", "3", "20")), ""},
		"windows exceed":  {lines(window("1", "2", "30"), window("2", "3", "21")), `windows-exceed: In "period" of event "cycles", the windows of the stack with leaf "run" add up to 51, its`},
		"windows overlap": {lines(window("1", "3", "30"), window("2", "4", "50")), ""},
		"one is too much": {lines(window("1", "3", "30"), window("2", "4", "51")), `windows-exceed: In "period" of event "cycles", the windows of the stack with leaf "run" add up to 51, its`},
	} {
		rec := read(t, dict4+lines(stack)+c.data)
		var found recording.Warning
		for _, w := range rec.Warnings {
			if strings.HasSuffix(w.Code, "-exceed") || strings.HasSuffix(w.Code, "-less") {
				found = w
			}
		}
		if text := strings.TrimPrefix(found.Code+": "+found.Text, ": "); c.want == "" && text != "" || !strings.HasPrefix(text, c.want) {
			t.Errorf("%s: %q, want %q", name, text, c.want)
		}
		if exceeds := strings.HasSuffix(found.Code, "-exceed"); found.Error != exceeds || found.Minor != strings.HasSuffix(found.Code, "-less") {
			t.Errorf("%s: %+v", name, found)
		}
	}
}

// TestFarTimes checks that a time too far away does not extend the timeline: the sample is
// left out, and the window ends at the edge.
func TestFarTimes(t *testing.T) {
	stack := stackLine(`"g"`, "2,1", "", period("50"))
	want := read(t, dict4+lines(stack, sampleLine("101", `"g"`, `,"event":"cycles","period":5`))).Duration()
	for _, far := range []string{
		sampleLine("1700000000", `"g"`, `,"event":"cycles","period":5`),
		sampleLine("-1700000000", `"g"`, `,"event":"cycles","period":5`),
		`{"type":"window","start":101,"end":1700000000,"by_stack":[{"stack_id":"g","weights":[` + period("5") + `]}]}`,
	} {
		rec := read(t, dict4+lines(stack, sampleLine("101", `"g"`, `,"event":"cycles","period":5`), far))
		code, samples := "time-far", int64(1)
		if strings.Contains(far, "window") {
			code = "time-clamped"
		}
		if w := warning(rec, code); rec.Counts.Samples != samples || w.Count != 1 || !w.Error || rec.Duration() != want {
			t.Errorf("%s: %v long, want %v; %+v", far, rec.Duration(), want, rec.Warnings)
		}
	}
}

// TestUnknownWords reads values of the header and of a frame that the specification does
// not define.
func TestUnknownWords(t *testing.T) {
	data := dict4 + lines(stackLine(`"g"`, "2,1", "", period("50")))
	for was, c := range map[string]struct{ now, want string }{
		`"mode":"period"`: {`"mode":"luck"`, `header-value: the header has a value that is not in the specification: mode "luck"`},
		`"kind":"user"`:   {`"kind":"ghost"`, `frame-kind: a frame has the kind "ghost" instead of user, kernel or unknown`},
	} {
		if !strings.Contains(data, was) {
			t.Fatal(was)
		}
		rec := read(t, strings.Replace(data, was, c.now, 1))
		if len(rec.Warnings) != 1 || rec.Warnings[0].Code+": "+rec.Warnings[0].Text != c.want || !rec.Warnings[0].Error || !rec.Warnings[0].Minor {
			t.Errorf("%s: %+v", c.now, rec.Warnings)
		}
	}
}

// TestSpellings checks that the warning about a missing id mentions the same number in
// another spelling.
func TestSpellings(t *testing.T) {
	for has, names := range map[string]string{`255`: `"0xff"`, `"0x10"`: `16`, `"0x00ff"`: `"0xff"`, `18446744073709551613`: `"0xfffffffffffffffd"`, `"16"`: `16`} {
		rec := read(t, dict4+lines(stackLine(has, "1", "", period("5")), sampleLine("101", names, `,"event":"cycles"`)))
		if w := warning(rec, "sample-stack-missing"); !strings.Contains(w.Text, "("+names+"; the file has "+has+", the same number in another spelling)") {
			t.Errorf("%s for %s: %q", names, has, w.Text)
		}
	}
}
