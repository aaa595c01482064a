package pprof

import (
	"strings"
	"testing"

	"github.com/google/pprof/profile"

	"ashlar/ingest/format/decode/decodetest"
)

// TestSentences checks the message for a profile with one fault per case: the first warning
// and its place, or the error.
func TestSentences(t *testing.T) {
	good := raw(t, example())
	other := example()
	other.DefaultSampleType = "heap"
	twice := example()
	twice.Sample[1].Label = map[string][]string{"user": {"ann", "bob"}}
	digits, sized, thread := example(), example(), example()
	digits.Sample[1].Label = map[string][]string{"tid": {"7"}}
	sized.Sample[1].Label = map[string][]string{"size": {"48 bytes"}}
	thread.Sample[1].NumLabel = map[string][]int64{"thread": {7}}
	nowhere, fileless := example(), example()
	for _, p := range []*profile.Profile{nowhere, fileless} {
		fn := *p.Location[0].Line[0].Function
		fn.ID = 900
		loc := &profile.Location{ID: 900, Address: 0x9000, Mapping: p.Location[0].Mapping, Line: []profile.Line{{Function: &fn}}}
		if p == nowhere {
			loc.Mapping = nil
		} else {
			fn.Filename = ""
		}
		p.Function, p.Location = append(p.Function, &fn), append(p.Location, loc)
		p.Sample[1].Location = append([]*profile.Location{loc}, p.Sample[1].Location...)
	}
	with := func(b ...byte) []byte { return append(good[:len(good):len(good)], b...) }
	for _, c := range []struct {
		name        string
		content     []byte
		place, want string
	}{
		{"empty", nil, "", "the profile is empty"},
		{"no sample types", []byte{0x32, 0}, "", "the profile has no sample types"},
		{"cut before the names", good[:len(good)/2], "", "the profile is too damaged to read: too much data (valid up to byte 277 of 287)"},
		{"cut at the end", with(0x12, 0x20, 1), "byte 575", "The profile is truncated or damaged at byte 575 of 578; the rest is left out"},
		{"a bad field", append([]byte{0x12, 3, 0x0a, 9, 1}, good...), "byte 0", "Field 2 of the profile at byte 0 is damaged and left out"},
		{"several", append(good[:len(good):len(good)], good...), "", "the file holds several profiles one after the other; join them with `go tool pprof -proto` or open them one by one"},
		{"several old ones", []byte(strings.Repeat("heap profile: 1: 2 [3: 4] @ heap/1\n1: 2 [3: 4] @ 0x10\n\n# runtime.MemStats\n", 2)), "", "the file holds several profiles one after the other; join them with `go tool pprof -proto` or open them one by one"},
		{"several old counts", []byte(strings.Repeat("threadcreate profile: total 7\n7 @ 0x10 0x20\n", 2)), "", "the file holds several profiles one after the other; join them with `go tool pprof -proto` or open them one by one"},
		{"an old one that is cut", []byte("heap profile: 1: 2 [3: 4] @ heap/1\nwhat\n"), "", "the profile in a legacy format cannot be read: unexpected number of sample values: got 0, want 6"},
		{"no such location", with(0x12, 7, 0x0a, 2, 0xe7, 0x07, 0x12, 1, 5), "sample 8", "Sample 8 refers to 1 location not in the profile; its stack is shorter"},
		{"a default that is no type", raw(t, other), "", "The profile's default sample type heap is not one of its types; the default is cpu"},
		{"a label with two values", raw(t, twice), "sample 2", "Label user of sample 2 has 2 values, which are shown as one"},
		{"a text of digits", raw(t, digits), "sample 2", "Label tid of sample 2 is the text 7; copies have it as a number"},
		{"a text like a number with a unit", raw(t, sized), "sample 2", "Label size of sample 2 is the text 48 bytes; copies have it as a number"},
		{"a number as a thread's name", raw(t, thread), "sample 2", "Label thread of sample 2 is the number 7; copies have it as a text"},
		{"a function with and without a mapping", raw(t, nowhere), "", "Function main has a mapping in some places and none in others; copies give it /usr/bin/app everywhere"},
		{"a function with and without a file", raw(t, fileless), "", "Function main has a file in some places and none in others; copies give it main.c everywhere"},
		{"more in use than allocated", []byte("heap profile: 1: 2 [3: 4] @ heap/1\n9: 900 [3: 400] @ 0x10\n"), "sample 1", "Sample 1 has 900 of inuse_space but only 400 of alloc_space"},
		{"a value too few", with(0x12, 6, 0x0a, 1, 10, 0x12, 1, 5), "sample 8", "Sample 8 has 1 value, but the profile has 2 sample types"},
	} {
		r, err := decodeBytes(t, c.content)
		decodetest.Sentence(t, c.name, r, err, c.place, c.want)
	}
}
