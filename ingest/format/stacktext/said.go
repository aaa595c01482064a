package stacktext

import (
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"

	"ashlar/ingest/format/decode"
)

// date matches a time as DTrace prints it with %Y.
var date = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\b\d{4} [A-Z][a-z]{2} [ 0-3]?\d \d\d:\d\d:\d\d\b`)
})

// Said parses the text that a script printed before a stack: a time, named fields, and
// other text. It returns the time in nanoseconds, nil if there is none, and stores the
// rest in w.
func Said(text string, w *Who) (at *int64) {
	if d := date().FindString(text); d != "" {
		if t, err := time.Parse("2006 Jan _2 15:04:05", strings.ReplaceAll(d, "  ", " ")); err == nil {
			at = new(t.UnixNano())
			text = strings.Replace(text, d, "", 1)
		}
	}
	var rest []string
	words := strings.Fields(text)
	for i := 0; i < len(words); i++ {
		word := words[i]
		key, value, named := field(word)
		if named && value == "" && i+1 < len(words) {
			i++
			value = strings.Trim(words[i], ",;")
		}
		switch {
		case named && at == nil && times[key]:
			if at = nanos(value); at == nil {
				w.Set(key, value)
			}
		case named:
			w.Set(key, value)
		case at == nil && len(rest) == 0 && moment(word):
			if at = nanos(strings.Trim(word, ":,[]")); at == nil {
				rest = append(rest, word)
			}
		default:
			rest = append(rest, word)
		}
	}
	if len(rest) > 0 {
		w.Set("text", strings.Join(rest, " "))
	}
	return at
}

var times = map[string]bool{"timestamp": true, "walltimestamp": true, "time": true, "ts": true, "nsecs": true, "vtimestamp": false}

// field splits "pid=12", "PID:12" and "pid:" into key and value.
func field(word string) (key, value string, ok bool) {
	i := strings.IndexAny(word, "=:")
	if i <= 0 || strings.Contains(word, "::") || strings.Contains(word, "`") {
		return "", "", false
	}
	key = strings.ToLower(strings.Trim(word[:i], "[("))
	if strings.Trim(key, "abcdefghijklmnopqrstuvwxyz_0123456789") != "" || key == "" || key[0] <= '9' {
		return "", "", false
	}
	return key, strings.Trim(word[i+1:], ",;"), true
}

// moment reports whether a word without a name looks like a time. Nanoseconds since boot
// or since 1970 have at least ten digits, seconds at least three decimals.
func moment(word string) bool {
	word = strings.Trim(word, ":,[]")
	whole, fraction, _ := strings.Cut(word, ".")
	if whole == "" || strings.Trim(whole+fraction, "0123456789") != "" {
		return false
	}
	return len(fraction) >= 3 || fraction == "" && len(whole) >= 10
}

// nanos reads nanoseconds, or seconds with a fraction.
func nanos(word string) *int64 {
	if n, err := strconv.ParseInt(word, 10, 64); err == nil && n >= 0 {
		return &n
	}
	n, ok, fits := decode.ParseNumber([]byte(word))
	if !ok || !fits || n.Mantissa < 0 || n.Scale > 9 {
		return nil
	}
	if v, ok := n.At(9); ok {
		return &v
	}
	return nil
}
