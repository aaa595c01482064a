package dtrace

import (
	"bytes"
	"regexp"
	"strings"
	"sync"

	"ashlar/ingest/format/stacktext"
)

// kind is the kind of a line of DTrace's output.
type kind int

const (
	other kind = iota
	blank
	message      // a message of dtrace itself
	columns      // the header above probe firings: CPU ID FUNCTION:NAME
	firing       // a probe that fired
	distribution // the header of a distribution
	row          // a row of a distribution
	frameOf      // a frame of a stack
)

// frameLine is a cached result of parsing a line.
type frameLine struct {
	frame stacktext.Frame
	ok    bool
}

var dashes = []byte("------------- Distribution -------------")

// classify returns the kind of a line; body is its text without surrounding white space.
// cache stores frames and may be nil.
func classify(l, body []byte, cache map[string]frameLine) (kind, stacktext.Frame) {
	var none stacktext.Frame
	switch {
	case len(body) == 0:
		return blank, none
	case bytes.HasPrefix(body, []byte("dtrace: ")), string(body) == "^C":
		return message, none
	case bytes.HasPrefix(body, []byte("CPU")) && bytes.HasSuffix(body, []byte("FUNCTION:NAME")):
		return columns, none
	case bytes.Contains(body, dashes):
		return distribution, none
	}
	if f, ok := cache[string(body)]; ok {
		if f.ok {
			return frameOf, f.frame
		}
	} else {
		f, ok := parseFrame(body)
		if ok {
			if cache != nil && len(cache) < 1<<20 {
				cache[string(body)] = frameLine{f, ok}
			}
			return frameOf, f
		}
	}
	if i := bytes.IndexByte(body, '|'); i >= 0 {
		if _, n, ok := stacktext.Bar(body); ok {
			if _, isNumber := stacktext.Number(n); isNumber {
				return row, none
			}
		}
	}
	if parseProbe(body).name != "" {
		return firing, none
	}
	return other, none
}

// parseFrame parses "module`symbol+0xoff", "module`0xaddress" and "0xaddress". More
// backquotes, and blanks, may follow the first backquote.
func parseFrame(body []byte) (f stacktext.Frame, ok bool) {
	s := string(body)
	i := strings.IndexByte(s, '`')
	if i < 0 {
		a, isHex := stacktext.Hex(s, 17)
		return stacktext.Frame{Addr: a}, isHex
	}
	if i == 0 || i == len(s)-1 || strings.ContainsAny(s[:i], ";:|(\t") {
		return f, false
	}
	f.Module = s[:i]
	f.Name, f.Offset = stacktext.Offset(s[i+1:], 16)
	if a, isHex := stacktext.Hex(f.Name, 17); isHex {
		f.Name, f.Addr = "", a
	}
	return f, true
}

// bare returns a frame that is only a text: from a virtual machine's helper, or an
// annotation in brackets.
func bare(s string) stacktext.Frame {
	if strings.HasPrefix(s, "[ ") && strings.HasSuffix(s, " ]") {
		s = strings.TrimSpace(s[1 : len(s)-1])
	}
	f := stacktext.Frame{}
	f.Name, f.Offset = stacktext.Offset(s, 16)
	return f
}

// A probe is the line that DTrace prints when a probe fires, except in quiet mode.
type probe struct {
	cpu  int
	name string // function:name
	rest string // output of the script itself
}

var fired = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(\d{1,5})\s+(\d{1,9})\s+(\S*[^:\s]?:[A-Za-z_]\S*|\S.*:(?:entry|return))(?:\s+(.*))?$`)
})

// parseProbe parses the line of a probe that fired; name is "" for any other line.
func parseProbe(body []byte) (p probe) {
	if body[0] < '0' || body[0] > '9' || !bytes.Contains(body, []byte{':'}) {
		return p
	}
	m := fired().FindSubmatch(body)
	if m == nil {
		return p
	}
	n, _ := stacktext.Number(m[1])
	return probe{cpu: int(n), name: strings.TrimPrefix(string(m[3]), ":"), rest: string(m[4])}
}

// A value is a line below a stack: optional keys, and a count.
type value struct {
	keys    string
	numbers []int64
	unit    string
}

// units are the units that scripts print after a value.
var units = map[string]string{"ns": "ns", "us": "us", "ms": "ms", "s": "s", "sec": "s", "bytes": "bytes", "KB": "KB", "MB": "MB"}

// parseValue parses a line that ends with a number. If the line has only numbers, all of
// them are values, else only the last one.
func parseValue(s string) (v value, ok bool) {
	if before, behind, isBar := stacktext.Bar([]byte(s)); isBar {
		s = string(before) + " " + string(behind)
	}
	s = strings.TrimSpace(s)
	words := strings.Fields(s)
	if n := len(words); n > 1 && units[words[n-1]] != "" {
		v.unit = units[words[n-1]]
		s = strings.TrimSpace(s[:len(s)-len(words[n-1])])
		words = words[:n-1]
	}
	from := len(words)
	for from > 0 {
		n, isNumber := stacktext.Number([]byte(words[from-1]))
		if !isNumber {
			break
		}
		from--
		v.numbers = append([]int64{n}, v.numbers...)
		if len(v.numbers) > 16 {
			return v, false
		}
	}
	if len(v.numbers) == 0 {
		return v, false
	}
	if from > 0 {
		v.numbers = v.numbers[len(v.numbers)-1:]
		v.keys = strings.TrimSpace(s[:len(s)-len(words[len(words)-1])])
	}
	return v, true
}

// split splits keys at two or more blanks.
func split(s string) (keys []string) {
	for _, k := range strings.Split(strings.ReplaceAll(s, "\t", "  "), "  ") {
		if k = strings.TrimSpace(k); k != "" {
			keys = append(keys, k)
		}
	}
	return keys
}

// columnNames reads the head of a table, which scripts write in capitals.
func columnNames(s string) (names []string) {
	words := strings.Fields(s)
	if len(words) < 2 {
		return nil
	}
	for _, w := range words {
		if w != strings.ToUpper(w) || strings.Trim(w, "ABCDEFGHIJKLMNOPQRSTUVWXYZ_()%") != "" {
			return nil
		}
		names = append(names, strings.ToLower(w))
	}
	return names
}
