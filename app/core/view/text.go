package view

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"ashlar/ingest/input/decimal"
	"ashlar/ingest/input/safetext"
	"ashlar/ingest/model/recording"
	"ashlar/ingest/query/analyze"
	"ashlar/ingest/query/compare/match"
)

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

// divide splits a text at its colons; at most n fields are allowed.
func divide(s string, n int) ([]string, error) {
	parts := strings.Split(s, ":")
	if len(parts) > n {
		return nil, fmt.Errorf("has %d colons in %q; at most %d are allowed", len(parts)-1, s, n-1)
	}
	for i := range parts {
		var err error
		if parts[i], err = unescape(parts[i]); err != nil {
			return nil, err
		}
	}
	return parts, nil
}

func (r Run) text() string {
	s := escape(safetext.URL(r.File))
	if r.Off {
		s += ":off"
	}
	return s
}

func parseRun(s string) (r Run, err error) {
	f, err := divide(s, 2)
	if err != nil {
		return r, err
	}
	if f[0] == "" || len(f) == 2 && f[1] != "off" {
		return r, fmt.Errorf("has invalid run %q; write FILE or FILE:off", s)
	}
	return Run{f[0], len(f) == 2}, nil
}

func (t Thread) text() string {
	s := fmt.Sprintf("%d:%d", t.PID, t.TID)
	if t.Name != "" {
		s += ":" + escape(t.Name)
	}
	return s
}

func parseThread(s string) (t Thread, err error) {
	f, err := divide(s, 3)
	if err != nil {
		return t, err
	}
	if len(f) < 2 {
		return t, fmt.Errorf("has invalid thread %q; write PID:TID", s)
	}
	var perr, terr error
	t.PID, perr = strconv.ParseInt(f[0], 10, 64)
	t.TID, terr = strconv.ParseInt(f[1], 10, 64)
	if perr != nil || terr != nil {
		return t, fmt.Errorf("has invalid thread %q; PID and TID are whole numbers", s)
	}
	if len(f) == 3 {
		t.Name = f[2]
	}
	return t, nil
}

// String returns the content as written in addresses, "" if unknown.
func (c Content) String() string {
	if c.Key == "" {
		return ""
	}
	return strconv.FormatInt(c.Size, 10) + "-" + c.Key
}

// ParseContent parses the output of [Content.String].
func ParseContent(s string) (c Content, err error) {
	if s == "" {
		return c, nil
	}
	size, key, _ := strings.Cut(s, "-")
	c.Key = key
	c.Size, err = strconv.ParseInt(size, 10, 64)
	if err != nil || c.Size < 0 || len(key) != KeyDigits || strings.Trim(key, "0123456789abcdef") != "" {
		return Content{}, fmt.Errorf("has invalid file content %q; write its size, - and %d hexadecimal digits", s, KeyDigits)
	}
	return c, nil
}

func functionText(f recording.FuncName) string {
	s := escape(f.Name)
	if f.Module != "" {
		s += ":" + escape(f.Module)
	}
	return s
}

func parseFunction(s string) (f recording.FuncName, err error) {
	parts, err := divide(s, 2)
	if err != nil {
		return f, err
	}
	parts = append(parts, "")
	return recording.FuncName{Name: parts[0], Module: parts[1]}, nil
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
	f, err := divide(s, 3)
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
	at := recording.Offset(m.From)
	if m.To != m.From {
		at = recording.Offsets(m.From, m.To).String()
	}
	return at + ":" + escape(m.Text)
}

func parseMark(s string) (m Mark, err error) {
	f, err := divide(s, 4)
	if err != nil {
		return m, err
	}
	switch {
	case f[0] == "f" && len(f) == 4:
		m.Func, m.Text = &recording.FuncName{Name: f[1], Module: f[2]}, f[3]
		return m, nil
	case len(f) != 2:
		return m, fmt.Errorf("has invalid mark %q; write TIME:TEXT, FROM..TO:TEXT or f:NAME:MODULE:TEXT", s)
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

// mostLanes is the limit for lane numbers in an address. No recording has that many
// lanes.
const mostLanes = 1 << 20

func (b Bar) text() string {
	return b.Thread.text() + "@" + strconv.Itoa(b.Lane) + "@" + recording.Offset(b.Time)
}

func parseBar(s string) (b Bar, err error) {
	at := strings.LastIndexByte(s, '@')
	mid := strings.LastIndexByte(s[:max(0, at)], '@')
	if mid < 0 {
		return b, fmt.Errorf("has invalid bar %q; write PID:TID@LANE@TIME", s)
	}
	if b.Thread, err = parseThread(s[:mid]); err != nil {
		return b, err
	}
	if b.Lane, err = parseNumber(s[mid+1:at], mostLanes); err != nil {
		return b, err
	}
	b.Time, err = parseTime(s[at+1:])
	return b, err
}

func (p Process) text() string {
	if p.Name != "" {
		return strconv.FormatInt(p.PID, 10) + ":" + escape(p.Name)
	}
	return strconv.FormatInt(p.PID, 10)
}

func parseProcess(s string) (p Process, err error) {
	f, err := divide(s, 2)
	if err != nil {
		return p, err
	}
	if p.PID, err = strconv.ParseInt(f[0], 10, 64); err != nil {
		return p, fmt.Errorf("has invalid process %q; write PID or PID:NAME", s)
	}
	if len(f) == 2 {
		p.Name = f[1]
	}
	return p, nil
}

func (w Width) text() string { return escape(w.Column) + ":" + decimalText(w.DP) }

func parseWidth(s string) (w Width, err error) {
	f, err := divide(s, 2)
	if err != nil {
		return w, err
	}
	if len(f) != 2 {
		return w, fmt.Errorf("has invalid width %q; write NAME:DP", s)
	}
	w.Column = f[0]
	w.DP, err = parseDecimal(f[1])
	return w, err
}

func pairText(p match.Pair) string { return escape(p.A) + ":" + escape(p.B) }

func parsePair(s string) (p match.Pair, err error) {
	f, err := divide(s, 2)
	if err != nil {
		return p, err
	}
	if len(f) != 2 {
		return p, fmt.Errorf("has invalid pair %q; write A:B", s)
	}
	return match.Pair{A: f[0], B: f[1]}, nil
}

// parseRange parses the text of a [recording.Range]; its times may be negative.
func parseRange(s string) (r recording.Range, err error) {
	from, to, ok := strings.Cut(s, "..")
	if !ok || from == "" && to == "" {
		return r, fmt.Errorf("has invalid range %q; write FROM..TO, FROM.. or ..TO", s)
	}
	if r.HasFrom = from != ""; r.HasFrom {
		if r.From, err = parseTime(from); err != nil {
			return r, err
		}
	}
	if r.HasTo = to != ""; r.HasTo {
		r.To, err = parseTime(to)
	}
	return r, err
}

// decimalText formats a number so that it parses to the same value.
func decimalText(v float32) string { return strconv.FormatFloat(float64(v), 'f', -1, 32) }

func parseDecimal(s string) (float32, error) {
	v, err := strconv.ParseFloat(s, 32)
	if err != nil || strings.Trim(s, "-0123456789.") != "" || len(s) > longestNumber {
		return 0, fmt.Errorf("has invalid number %q; write a decimal number", s)
	}
	return float32(v), nil
}

// parseNumber reads a whole number from 0 to most.
func parseNumber(s string, most int) (int, error) {
	n, err := strconv.Atoi(s)
	if err != nil || n < 0 || n > most {
		return 0, fmt.Errorf("has invalid number %q; write a whole number from 0 to %d", s, most)
	}
	return n, nil
}

// longestNumber is the maximum length of a number, in characters.
const longestNumber = 40

// parseTime parses a time, which may be negative: before the recording's start.
func parseTime(s string) (int64, error) {
	number, negative := strings.CutPrefix(s, "-")
	t, err := decimal.ParseLength(number)
	if err != nil {
		return 0, fmt.Errorf("has invalid time %q: it %w", s, err)
	}
	if negative {
		t = -t
	}
	return t, nil
}

const unescaped = "-._~/@*()[]^$"

// escape percent-encodes all but plain characters, byte by byte because paths may not be
// UTF-8.
func escape(s string) string {
	var b strings.Builder
	for i := range len(s) {
		c := s[i]
		if c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || strings.IndexByte(unescaped, c) >= 0 {
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
			return "", fmt.Errorf("has the invalid escape %q; write %% and two hexadecimal digits", s[i:i+3])
		}
		b.WriteByte(byte(v))
		i += 2
	}
	return b.String(), nil
}
