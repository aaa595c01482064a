package address

import (
	"errors"
	"fmt"
	"math/big"
	"strconv"
	"strings"

	"ashlar/ingest/analyze"
	"ashlar/ingest/recording"
)

// readers read the value of each key.
var readers = map[string]func(*View, string) error{
	"file": func(v *View, s string) error {
		f, err := unescape(s)
		if err == nil && f == "" {
			err = errors.New("names no file")
		}
		v.Files = append(v.Files, f)
		return err
	},
	"view":   func(v *View, s string) (err error) { v.Parts, err = unescape(s); return err },
	"layout": func(v *View, s string) (err error) { v.Layout, err = unescape(s); return err },
	"show":   func(v *View, s string) (err error) { v.Show, err = parseRange(s); return err },
	"select": func(v *View, s string) (err error) { v.Select, err = parseRange(s); return err },
	"thread": func(v *View, s string) (err error) { v.Threads, err = parseList(s, parseThread); return err },
	"event":  func(v *View, s string) (err error) { v.Event, err = unescape(s); return err },
	"metric": func(v *View, s string) (err error) { v.Metric, err = unescape(s); return err },
	"transform": func(v *View, s string) (err error) {
		v.Transforms, err = parseList(s, parseTransform)
		return err
	},
	"zoom": func(v *View, s string) (err error) { v.Zoom, err = parseList(s, parseFunction); return err },
	"find": func(v *View, s string) (err error) { v.Find, err = unescape(s); return err },
	"tab":  func(v *View, s string) (err error) { v.Tab, err = unescape(s); return err },
	"function": func(v *View, s string) error {
		f, err := parseFunction(s)
		v.Function = &f
		return err
	},
	"mark": func(v *View, s string) (err error) { v.Marks, err = parseList(s, parseMark); return err },
}

func parseList[T any](s string, parse func(string) (T, error)) ([]T, error) {
	var out []T
	for _, part := range strings.Split(s, ",") {
		x, err := parse(part)
		if err != nil {
			return nil, err
		}
		out = append(out, x)
	}
	return out, nil
}

// fields takes a text apart at its colons; at most n fields are allowed.
func fields(s string, n int) ([]string, error) {
	parts := strings.Split(s, ":")
	if len(parts) > n {
		return nil, fmt.Errorf("has %d colons in %q, at most %d are allowed", len(parts)-1, s, n-1)
	}
	for i := range parts {
		var err error
		if parts[i], err = unescape(parts[i]); err != nil {
			return nil, err
		}
	}
	return parts, nil
}

func (t Thread) text() string {
	s := fmt.Sprintf("%d:%d", t.PID, t.TID)
	if t.Name != "" {
		s += ":" + escape(t.Name)
	}
	return s
}

func parseThread(s string) (t Thread, err error) {
	f, err := fields(s, 3)
	if err != nil {
		return t, err
	}
	if len(f) < 2 {
		return t, fmt.Errorf("has %q for a thread; write PID:TID", s)
	}
	var perr, terr error
	t.PID, perr = strconv.ParseInt(f[0], 10, 64)
	t.TID, terr = strconv.ParseInt(f[1], 10, 64)
	if perr != nil || terr != nil {
		return t, fmt.Errorf("has %q for a thread, whose ids are not whole numbers", s)
	}
	if len(f) == 3 {
		t.Name = f[2]
	}
	return t, nil
}

func (f Function) text() string {
	s := escape(f.Name)
	if f.Module != "" {
		s += ":" + escape(f.Module)
	}
	return s
}

func parseFunction(s string) (f Function, err error) {
	parts, err := fields(s, 2)
	if err != nil {
		return f, err
	}
	f.Name = parts[0]
	if len(parts) == 2 {
		f.Module = parts[1]
	}
	return f, nil
}

func transformText(t analyze.Transform) string {
	s := escape(string(t.Op))
	if t.Exact {
		return s + "!" + escape(t.Text) + ":" + escape(t.Module)
	}
	if t.Text != "" || t.Module != "" {
		s += ":" + escape(t.Text)
	}
	if t.Module != "" {
		s += ":" + escape(t.Module)
	}
	return s
}

func parseTransform(s string) (t analyze.Transform, err error) {
	op, rest, exact := strings.Cut(s, "!")
	if exact {
		s = op + ":" + rest
	}
	f, err := fields(s, 3)
	if err != nil {
		return t, err
	}
	f = append(f, "", "")
	t.Op, t.Text, t.Module, t.Exact = analyze.Op(f[0]), f[1], f[2], exact
	return t, nil
}

func (m Mark) text() string {
	if m.Func != nil {
		return "f:" + escape(m.Func.Name) + ":" + escape(m.Func.Module) + ":" + escape(m.Text)
	}
	at := timeText(m.From)
	if m.To != m.From {
		at = Range{m.From, m.To}.String()
	}
	return at + ":" + escape(m.Text)
}

func parseMark(s string) (m Mark, err error) {
	f, err := fields(s, 4)
	if err != nil {
		return m, err
	}
	switch {
	case f[0] == "f" && len(f) == 4:
		m.Func, m.Text = &Function{f[1], f[2]}, f[3]
		return m, nil
	case len(f) != 2:
		return m, fmt.Errorf("has %q for a mark; write TIME:TEXT, FROM..TO:TEXT or f:NAME:MODULE:TEXT", s)
	}
	m.Text = f[1]
	if strings.Contains(f[0], "..") {
		r, err := parseRange(f[0])
		if err == nil {
			m.From, m.To = r.From, r.To
		}
		return m, err
	}
	m.From, err = parseTime(f[0])
	m.To = m.From
	return m, err
}

// String writes a range as FROM..TO.
func (r Range) String() string { return timeText(r.From) + ".." + timeText(r.To) }

func parseRange(s string) (*Range, error) {
	from, to, ok := strings.Cut(s, "..")
	if !ok {
		return nil, fmt.Errorf("has %q for a range; write FROM..TO", s)
	}
	var r Range
	var err error
	if r.From, err = parseTime(from); err != nil {
		return nil, err
	}
	r.To, err = parseTime(to)
	return &r, err
}

// scales are the units of times, and how many digits of a picosecond they
// have.
var scales = []struct {
	unit   string
	digits int
	ps     int64
}{{"ps", 0, 1}, {"ns", 3, 1e3}, {"us", 6, 1e6}, {"ms", 9, 1e9}, {"s", 12, 1e12}}

// timeText writes a time in the largest unit it reaches.
func timeText(ps int64) string {
	u := scales[0]
	for _, s := range scales {
		if ps >= s.ps || ps <= -s.ps {
			u = s
		}
	}
	if ps == 0 {
		return "0s"
	}
	return recording.Decimal{Mantissa: ps, Scale: u.digits}.String() + u.unit
}

// longestNumber is how many characters a time may have.
const longestNumber = 40

func parseTime(s string) (int64, error) {
	bad := fmt.Errorf("has %q for a time; write a number and a unit: ps, ns, us, ms or s", s)
	for _, u := range scales {
		number, ok := strings.CutSuffix(s, u.unit)
		if !ok || strings.Trim(number, "-0123456789.") != "" {
			continue // ns also ends in s
		}
		r, ok := new(big.Rat).SetString(number)
		if !ok || len(number) > longestNumber {
			return 0, bad
		}
		r.Mul(r, new(big.Rat).SetInt64(u.ps))
		if !r.IsInt() || !r.Num().IsInt64() {
			return 0, fmt.Errorf("has %q for a time, which is finer than a picosecond or too long", s)
		}
		return r.Num().Int64(), nil
	}
	return 0, bad
}

const plain = "-._~/@*()[]^$"

// escape writes what is not plain as %XX, byte by byte: paths may be no UTF-8.
func escape(s string) string {
	var b strings.Builder
	for i := range len(s) {
		c := s[i]
		if c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || strings.IndexByte(plain, c) >= 0 {
			b.WriteByte(c)
			continue
		}
		const hex = "0123456789ABCDEF"
		b.Write([]byte{'%', hex[c>>4], hex[c&15]})
	}
	return b.String()
}

func unescape(s string) (string, error) {
	if !strings.Contains(s, "%") {
		return s, nil
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] != '%' {
			b.WriteByte(s[i])
			continue
		}
		if i+2 >= len(s) {
			return "", errors.New("ends within a % escape")
		}
		v, err := strconv.ParseUint(s[i+1:i+3], 16, 8)
		if err != nil {
			return "", fmt.Errorf("has the escape %q, which is not %% and two hexadecimal digits", s[i:i+3])
		}
		b.WriteByte(byte(v))
		i += 2
	}
	return b.String(), nil
}
