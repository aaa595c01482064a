package sched

import "testing"

func TestParseMark(t *testing.T) {
	for text, want := range map[string]Mark{
		"B|12|draw|twice\n":  {Kind: 'B', PID: 12, Name: "draw|twice"},
		"B|12|":              {Kind: 'B', PID: 12},
		"E|12\n":             {Kind: 'E', PID: 12},
		"E":                  {Kind: 'E'},
		"E|":                 {Kind: 'E'},
		"S|12|load|-7":       {Kind: 'S', PID: 12, Name: "load", Track: "load", Cookie: "-7"},
		"F|12|load|-7\x00":   {Kind: 'F', PID: 12, Track: "load", Cookie: "-7"},
		"I|12|vsync":         {Kind: 'I', PID: 12, Name: "vsync"},
		"N|12|screen|on":     {Kind: 'N', PID: 12, Track: "screen", Name: "on"},
		"G|12|jobs|first|3":  {Kind: 'G', PID: 12, Track: "jobs", Name: "first", Cookie: "3"},
		"H|12|jobs|3":        {Kind: 'H', PID: 12, Track: "jobs", Cookie: "3"},
		"H|12|jobs|first|3":  {Kind: 'H', PID: 12, Track: "jobs", Cookie: "3"},
		"C|12|heap|42":       {Kind: 'C', PID: 12, Name: "heap", Value: 42},
		"C|12|heap|-3|Blob ": {Kind: 'C', PID: 12, Name: "heap", Value: -3},
	} {
		if m, ok := ParseMark([]byte(text)); !ok || m != want {
			t.Errorf("%q: %+v %v, want %+v", text, m, ok, want)
		}
	}
	for _, text := range []string{"", "\n", "hello", "B", "B|x|a", "I|12|", "N|12|a", "S|12|a", "G|12|a|b", "H|12|a", "C|12|a|b", "C|12||1", "Z|12|a", "Broken|12|a", "trace_event_clock_sync: name=a"} {
		if m, ok := ParseMark([]byte(text)); ok {
			t.Errorf("%q is %+v", text, m)
		}
	}
}
