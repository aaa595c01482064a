package decode

import (
	"encoding/json"
	"math"
	"strconv"
	"strings"

	"ashlar/ingest/input/jsonscan"
)

// Args writes a JSON object, member by member.
type Args struct{ b []byte }

// Raw adds a member whose value is valid JSON, unless it is empty.
func (a *Args) Raw(key string, value []byte) {
	if len(value) == 0 {
		return
	}
	if len(a.b) > 0 {
		a.b = append(a.b, ',')
	} else {
		a.b = append(a.b, '{')
	}
	a.b = append(append(append(a.b, Quoted(key)...), ':'), value...)
}

// Value adds a member whose value is JSON from a file, perhaps malformed.
func (a *Args) Value(key string, raw []byte) {
	if json.Valid(raw) {
		a.Raw(key, raw)
		return
	}
	a.Text(key, jsonscan.Plain(raw))
}

// Text adds a member that is a text, unless it is empty.
func (a *Args) Text(key, value string) {
	if value != "" {
		a.Raw(key, Quoted(value))
	}
}

// JSON returns the object, nil if it has no members. The result is valid until the next
// Reset.
func (a *Args) JSON() []byte {
	if len(a.b) == 0 {
		return nil
	}
	return append(a.b, '}')
}

// Reset begins another object.
func (a *Args) Reset() { a.b = a.b[:0] }

// Quoted returns a text as JSON.
func Quoted(s string) []byte {
	b, err := json.Marshal(strings.ToValidUTF8(s, "\uFFFD"))
	if err != nil {
		return []byte(`""`)
	}
	return b
}

// Micros parses a time in microseconds and returns nanoseconds. ok is false if raw is not
// a number, is negative or does not fit.
func Micros(raw []byte) (ns int64, ok bool) {
	n, ok, fits := ParseNumber(jsonscan.Unquoted(raw))
	if !ok || !fits || n.Mantissa < 0 {
		return 0, false
	}
	n.Scale -= 3
	return n.Round(0).At(0)
}

// Float returns a number as JSON, or as a JSON string if it is NaN or infinite.
func Float(f float64) []byte {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return Quoted(strconv.FormatFloat(f, 'g', -1, 64))
	}
	return strconv.AppendFloat(nil, f, 'g', -1, 64)
}
