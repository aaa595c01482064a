package bpftrace

import (
	"bytes"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"ashlar/ingest/format/decode"
	"ashlar/ingest/format/stacktext"
	"ashlar/ingest/model/recording"
)

// parseFrame parses "symbol+12", "0x7f12", and the output of the stack mode perf:
// "ffffffff81000012 symbol+18 ([kernel.kallsyms])".
func parseFrame(s string) (f stacktext.Frame) {
	digits := 8
	if i := strings.LastIndex(s, " ("); i > 0 && strings.HasSuffix(s, ")") && i+2 < len(s) && (s[i+2] == '/' || s[i+2] == '[') {
		s, f.Module = s[:i], s[i+2:len(s)-1]
		digits = 4 // an address comes first; programs at a fixed place have short ones
	}
	if word, rest, ok := strings.Cut(s, " "); ok {
		if a, isHex := stacktext.Hex(word, digits); isHex {
			f.Addr, s = a, strings.TrimSpace(rest)
		}
	}
	if a, isHex := stacktext.Hex(s, 8); isHex {
		f.Addr = a
		return f
	}
	f.Name, f.Offset = stacktext.Offset(s, 16)
	if f.Offset == 0 {
		f.Name, f.Offset = stacktext.Offset(s, 10)
	}
	return f
}

var stats = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^count (-?\d+), average (-?\d+), total (-?\d+)$`)
})

// parseValue parses a count, the output of stats() or avg(), or a tuple of numbers.
func parseValue(s string) ([]recording.Metric, []int64, bool) {
	if n, ok := stacktext.Number([]byte(s)); ok {
		return counted, []int64{n}, true
	}
	var words []string
	var metrics []recording.Metric
	if m := stats().FindStringSubmatch(s); m != nil {
		words = m[1:]
		metrics = []recording.Metric{{Name: "count", Unit: "count"}, {Name: "average", Unit: "count", Kind: recording.Peak}, {Name: "total", Unit: "count"}}
	} else if strings.HasPrefix(s, "(") && strings.HasSuffix(s, ")") {
		words = strings.Split(s[1:len(s)-1], ",")
		if len(words) > 16 {
			return nil, nil, false
		}
		for i := range words {
			words[i] = strings.TrimSpace(words[i])
			metrics = append(metrics, recording.Metric{Name: "value" + strconv.Itoa(i+1), Unit: "count"})
		}
	} else {
		return nil, nil, false
	}
	var values []int64
	for _, w := range words {
		n, ok := stacktext.Number([]byte(w))
		if !ok {
			return nil, nil, false
		}
		values = append(values, n)
	}
	return metrics, values, true
}

var (
	opens = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?m)^@\w*\[[^\]\n]*$`) })
	ends  = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?m)^(, .*)?\]:( |$)`) })
	holds = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?m)^@\w*\[[^\]\n]*\]: ?\n[ \t]+\S+\+\d+$`)
	})
	frames = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?m)^([ \t]+\S[^\n]*\+\d+\n){2}`) })
)

// Sniff looks for a map whose key spans several lines, or for the start message of
// bpftrace with stacks.
func Sniff(head []byte, whole bool) (decode.Confidence, error) {
	text := decode.Text(head)
	whole, head = whole && len(text) == len(head), text
	if bytes.IndexByte(head[:min(len(head), 4096)], 0) >= 0 {
		return decode.No, nil
	}
	maps := bytes.HasPrefix(head, []byte("@")) || bytes.Contains(head, []byte("\n@"))
	started := bytes.HasPrefix(bytes.TrimSpace(head[:min(len(head), 200)]), []byte("Attaching "))
	if !maps && !started {
		return decode.No, nil // return early: the regular expressions below are slow on a head without lines
	}
	head = bytes.ReplaceAll(head, []byte("\r\n"), []byte("\n"))
	switch {
	case maps && (opens().Match(head) && (ends().Match(head) || !whole) || holds().Match(head)):
		return decode.Certain, nil
	case started && frames().Match(head):
		return decode.Likely, nil
	}
	return decode.No, nil
}
