package calls

import (
	"encoding/json"
	"strconv"
	"strings"

	"ashlar/ingest/model/recording"
	"ashlar/ingest/query/scan"
	"ashlar/ingest/query/search"
)

// Member is one of a span's arguments.
type Member struct{ Key, Value string }

// mostMembers limits the number of arguments read per span.
const mostMembers = 1000

// WholeArgs is the key for arguments that are not a JSON object.
const WholeArgs = "args"

// Members parses the text of a span's arguments: the members of a JSON object. Members of
// nested objects are named KEY.KEY. Strings are without quotes, other values as written.
func Members(text string) (ms []Member) {
	if text == "" || text == "{}" {
		return nil
	}
	ms, ok := members(nil, "", []byte(text))
	if !ok {
		return []Member{{WholeArgs, text}}
	}
	return ms
}

func members(ms []Member, prefix string, object []byte) ([]Member, bool) {
	d := json.NewDecoder(strings.NewReader(string(object)))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return ms, false
	}
	for d.More() && len(ms) < mostMembers {
		k, err := d.Token()
		key, is := k.(string)
		var raw json.RawMessage
		if err != nil || !is || d.Decode(&raw) != nil || len(raw) == 0 {
			return ms, false
		}
		var s string
		switch raw[0] {
		case '"':
			if json.Unmarshal(raw, &s) != nil {
				return ms, false
			}
			ms = append(ms, Member{prefix + key, s})
		case '{':
			ms, _ = members(ms, prefix+key+".", raw)
		default:
			ms = append(ms, Member{prefix + key, string(raw)})
		}
	}
	return ms, true
}

// argTest returns a test for the text of spans' arguments.
func argTest(args []Arg) func(text string) bool {
	tests := make([]func(string) bool, len(args))
	for i := range args {
		tests[i] = args[i].test()
	}
	return func(text string) bool {
		ms := Members(text)
		for i, is := range tests {
			value := ""
			for _, m := range ms {
				if m.Key == args[i].Key {
					value = m.Value
				}
			}
			if !is(value) {
				return false
			}
		}
		return true
	}
}

func (a *Arg) test() func(value string) bool {
	value := a.Value
	switch a.Is {
	case "in":
		low, lerr := strconv.ParseFloat(a.Low, 64)
		high, herr := strconv.ParseFloat(a.High, 64)
		return func(v string) bool {
			n, err := strconv.ParseFloat(v, 64)
			return err == nil && (lerr != nil || n >= low) && (herr != nil || n <= high)
		}
	case "~", "!~":
		re, err := search.Compile(value)
		return func(v string) bool { return err == nil && re.MatchString(v) != (a.Is == "!~") }
	}
	return func(v string) bool { return (v == value) != (a.Is == "!=") }
}

// mostAsked limits the number of spans whose arguments are read to find the arguments of
// a recording, and perFunction the number per function.
const (
	mostAsked   = 4000
	perFunction = 4
)

// ArgumentKeys lists the arguments of the spans of a recording, first those that most
// functions have, then by name. It reads only a few spans of each function.
func ArgumentKeys(rec *recording.Recording) []string {
	if rec.Args == nil {
		return nil
	}
	var some []Detail
	asked := make([]uint8, rec.Functions.Len())
	for _, s := range scan.Lanes(rec, recording.Scope{}) {
		s.EachCall(func(first int, of []recording.CallID) {
			for k, c := range of {
				f := rec.Func(c)
				if asked[f] == perFunction || len(some) == mostAsked {
					continue
				}
				if ref := s.Lane.Args(first + k); ref != 0 {
					asked[f]++
					some = append(some, Detail{Args: Members(rec.Args(ref))})
				}
			}
		})
	}
	return Keys(some)
}
