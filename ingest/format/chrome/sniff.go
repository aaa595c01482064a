package chrome

import (
	"bytes"

	"ashlar/ingest/format/decode"
	"ashlar/ingest/input/jsonscan"
)

// sniff looks for events with a phase (ph), in an array or bare, or for traceEvents.
func sniff(head []byte, whole bool) (decode.Confidence, error) {
	switch b := value(head); {
	case len(b) == 0:
		return decode.No, nil
	case b[0] == '[':
		return sniffArray(b[1:], whole), nil
	case b[0] == '{':
		return sniffObject(b, whole), nil
	}
	return decode.No, nil
}

// sniffProfile looks for the keys of a .cpuprofile.
func sniffProfile(head []byte, whole bool) (decode.Confidence, error) {
	b := value(head)
	if len(b) == 0 || b[0] != '{' {
		return decode.No, nil
	}
	if isProfileTree(b, whole) {
		return decode.Likely, nil
	}
	keys, _ := jsonscan.Keys(b, whole)
	if keys["nodes"] && !keys["traceEvents"] && (keys["startTime"] || keys["samples"] || keys["timeDeltas"] || bytes.Contains(b, []byte(`"callFrame"`))) {
		return decode.Likely, nil
	}
	return decode.No, nil
}

// value returns the head without its byte order mark and white space.
func value(head []byte) []byte {
	b := head[jsonscan.Space(head, 0):]
	if rest, ok := bytes.CutPrefix(b, []byte("\xEF\xBB\xBF")); ok {
		b = rest[jsonscan.Space(rest, 0):]
	}
	return b
}

// sniffArray looks at the first few elements of an array.
func sniffArray(b []byte, whole bool) decode.Confidence {
	p := 0
	for range 16 {
		for p < len(b) && (b[p] <= ' ' || b[p] == ',') {
			p++
		}
		if p == len(b) {
			break
		}
		if b[p] != '{' {
			// Some writers put a null first, so that each event has a comma before it.
			end, st := jsonscan.Value(b, p, whole)
			if st != jsonscan.Good || b[p] == '[' || b[p] == ']' {
				return decode.No
			}
			p = end
			continue
		}
		keys, end := jsonscan.Keys(b[p:], whole)
		switch {
		case keys["ph"]:
			return decode.Certain
		case end == 0 && keys["ts"] && (keys["pid"] || keys["tid"]):
			return decode.Likely
		case end == 0 && bytes.Contains(b[p:], []byte(`"ph":`)):
			return decode.Maybe // head ends inside an event
		case end == 0:
			return decode.No
		}
		p += end
	}
	return decode.No
}

// sniffObject looks at the keys of the outermost object.
func sniffObject(b []byte, whole bool) decode.Confidence {
	keys, _ := jsonscan.Keys(b, whole)
	bare, _ := bareEvent(b, whole)
	switch {
	case keys["traceEvents"]:
		return decode.Certain
	case bare:
		return decode.Likely
	case keys["stackFrames"] && !keys["profiles"] || keys["displayTimeUnit"] || keys["systemTraceEvents"] || keys["otherData"]:
		if !whole { // the events may come after head
			return decode.Maybe
		}
	}
	return decode.No
}
