// Package calls selects calls of functions by duration, arguments, search, rank or
// identity. A [Query] is a selection as text; [Bind] resolves it in a recording.
//
// As text a Query is one or more functions, and conditions in brackets that must
// all hold:
//
//	RunTask                          all calls of a function
//	RunTask[60ms..320ms]             calls of 60 ms or more, but less than 320 ms
//	parse|/^read/[self 1ms..]        several functions; self time of 1 ms or more
//	Request[tenant=7, size in 1e6..] arguments: a value, a range of numbers
//	Request[url~"^/api", kind!=ping] a regular expression; any other value
//	RunTask[started 2s..3s]          calls that started in this range
//	*[found "arg:timeout"]           calls of any function that match a search
//	RunTask[slowest 25]              the longest calls that meet the rest
//	RunTask[at 42:43@1.2s 42:43@2s]  the calls that start then on PID:TID
//	!RunTask[60ms..]                 all other calls of the functions
//	[blocked: sync][1ms..]           states of threads
//
// Functions are written as in other places (see [analyze.Ref]). A nested argument is
// KEY.KEY; arguments that are not an object are called args. Names and values with
// separators are in double quotes, as in Go and JSON.
package calls

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"ashlar/ingest/input/decimal"
	"ashlar/ingest/input/safetext"
	"ashlar/ingest/model/recording"
	"ashlar/ingest/query/search"
)

// A Query selects calls.
type Query struct {
	// Functions are in the form that analyze.Named accepts; empty for all functions.
	Functions []string
	// Others inverts the selection: all other calls of the functions.
	Others bool
	// Duration and Self limit a call's duration with and without its callees, in
	// picoseconds. The lower bound is included, the upper is not.
	Duration, Self recording.Range
	// Started limits when a call began, relative to the start of the recording.
	Started recording.Range
	Args    []Arg
	// Found is a text that a search must find in the call (see search.Parse), "" for no
	// condition.
	Found string
	// Slowest keeps only this many of the longest calls, 0 for all.
	Slowest int
	// At lists single calls, nil for any.
	At []Place
}

// An Arg is a condition on an argument. A call without the argument has the value "".
type Arg struct {
	Key string
	// Is is "=" for an equal value, "~" for a matching expression, "!=" or "!~" for their
	// opposites, or "in" for the range Low..High. The range includes both ends; an end
	// may be "".
	Is, Value string
	Low, High string
}

// A Place is the place where a call begins: a thread, and a time in picoseconds from the
// recording's start. Name is the thread's name, if its ids do not identify it.
type Place struct {
	PID, TID int64
	Name     string
	Time     int64
}

// form describes the syntax that Parse accepts.
const form = "write FUNCTION, or FUNCTION[CONDITION, …] with conditions like 60ms..320ms, self 1ms.., started 2s..3s, KEY=VALUE, KEY in 1..5, found TEXT, slowest 25"

// String returns the query in the syntax of Parse.
func (q *Query) String() string {
	var b strings.Builder
	if q.Others {
		b.WriteByte('!')
	}
	for i, f := range q.Functions {
		if i > 0 {
			b.WriteByte('|')
		}
		b.WriteString(functionText(f))
	}
	if len(q.Functions) == 0 {
		b.WriteByte('*')
	}
	var cs []string
	if q.Duration.IsSet() {
		cs = append(cs, q.Duration.String())
	}
	if q.Self.IsSet() {
		cs = append(cs, "self "+q.Self.String())
	}
	if q.Started.IsSet() {
		cs = append(cs, "started "+q.Started.String())
	}
	for i := range q.Args {
		cs = append(cs, q.Args[i].String())
	}
	if q.Found != "" {
		cs = append(cs, "found "+word(q.Found))
	}
	if q.Slowest > 0 {
		cs = append(cs, "slowest "+strconv.Itoa(q.Slowest))
	}
	if len(q.At) > 0 {
		at := "at"
		for i := range q.At {
			at += " " + q.At[i].text()
		}
		cs = append(cs, at)
	}
	if len(cs) > 0 {
		b.WriteString("[" + strings.Join(cs, ", ") + "]")
	}
	return b.String()
}

// String returns the condition in the syntax of Parse.
func (a *Arg) String() string {
	if a.Is == "in" {
		return word(a.Key) + " in " + a.Low + ".." + a.High
	}
	return word(a.Key) + a.Is + word(a.Value)
}

func (p *Place) text() string {
	s := fmt.Sprintf("%d:%d", p.PID, p.TID)
	if p.Name != "" {
		s += ":" + strconv.Quote(p.Name)
	}
	return s + "@" + recording.Offset(p.Time)
}

// functionText returns a function's text, quoted if Parse would otherwise misread it.
func functionText(f string) string {
	// Unquoted, a path like /a could be read as an expression that ends at a later slash.
	path := strings.HasPrefix(f, "/") && !strings.HasSuffix(f, "/")
	if got, rest := bareFunction(f); !path && got == f && rest == "" && strings.Trim(f, " ") == f && f != "" && f != "*" && !strings.ContainsAny(f[:1], `!"`) && fit(f) {
		return f
	}
	return strconv.Quote(f)
}

// word returns a key or a value, quoted if its characters have a meaning in a query.
func word(s string) string {
	if s == "" || strings.Trim(s, " ") != s || strings.ContainsAny(s, "\",]=~!") || strings.Contains(s, " in ") || !fit(s) {
		return strconv.Quote(s)
	}
	for _, k := range keywords {
		if s == k || strings.HasPrefix(s, k+" ") {
			return strconv.Quote(s)
		}
	}
	return s
}

// keywords are the words that conditions begin with.
var keywords = []string{"self", "started", "found", "slowest", "at"}

// fit reports whether a text needs no escapes, so that it can be written without quotes.
func fit(s string) bool { return strings.Trim(strconv.Quote(s), `"`) == s }

// bareFunction reads an unquoted function from the front of a text.
func bareFunction(s string) (f, rest string) {
	if strings.HasPrefix(s, "/") {
		for i := 1; i < len(s); i++ {
			if s[i] == '/' && (i+1 == len(s) || s[i+1] == '|' || s[i+1] == '[') {
				return s[:i+1], s[i+1:]
			}
		}
	}
	if name, rest, ok := stateName(s); ok {
		return name, rest
	}
	if i := strings.IndexAny(s, "|["); i >= 0 {
		return s[:i], s[i:]
	}
	return s, ""
}

// Parse parses a query. Errors are one sentence.
func Parse(text string) (*Query, error) {
	q := new(Query)
	rest := strings.TrimSpace(text)
	rest, q.Others = strings.CutPrefix(rest, "!")
	for {
		f, all, after, err := function(rest)
		if err != nil {
			return nil, fmt.Errorf("in %q %w", safetext.Middle(text, 80), err)
		}
		if !all {
			q.Functions = append(q.Functions, f)
		} else if len(q.Functions) > 0 || strings.HasPrefix(after, "|") {
			return nil, fmt.Errorf("%q combines * (all functions) with other names", safetext.Middle(text, 80))
		}
		more := false
		if rest, more = strings.CutPrefix(after, "|"); !more {
			break
		}
	}
	if rest == "" {
		return q, nil
	}
	if rest[0] != '[' || !strings.HasSuffix(rest, "]") {
		return nil, fmt.Errorf("%q is not a set of calls; %s", safetext.Middle(text, 80), form)
	}
	conditions, err := split(rest[1 : len(rest)-1])
	if err != nil {
		return nil, fmt.Errorf("in %q %w", safetext.Middle(text, 80), err)
	}
	for _, c := range conditions {
		if err := q.condition(c); err != nil {
			return nil, fmt.Errorf("the condition %q %w", safetext.Middle(c, 80), err)
		}
	}
	return q, nil
}

// function reads a function, or * for all, from the front of a text.
func function(s string) (f string, all bool, rest string, err error) {
	s = strings.TrimLeft(s, " ")
	if strings.HasPrefix(s, `"`) {
		f, rest, err = quoted(s)
		return f, false, strings.TrimLeft(rest, " "), err
	}
	f, rest = bareFunction(s)
	if f = strings.TrimRight(f, " "); f == "" {
		err = errors.New("a function name is empty; " + form)
	}
	return f, f == "*", rest, err
}

func quoted(s string) (text, rest string, err error) {
	prefix, err := strconv.QuotedPrefix(s)
	if err != nil {
		return "", "", errors.New(`unterminated text in double quotes, or an unknown \ escape`)
	}
	text, err = strconv.Unquote(prefix)
	return text, s[len(prefix):], err
}

// split splits conditions at the commas outside quotes.
func split(s string) (parts []string, err error) {
	from := 0
	err = outside(s, func(i int) bool {
		if s[i] == ',' {
			parts = append(parts, strings.TrimSpace(s[from:i]))
			from = i + 1
		}
		return true
	})
	if last := strings.TrimSpace(s[from:]); last != "" || len(parts) > 0 {
		parts = append(parts, last)
	}
	return parts, err
}

// outside visits the bytes outside quotes, until visit returns false.
func outside(s string, visit func(i int) bool) error {
	for i := 0; i < len(s); i++ {
		if s[i] == '"' {
			_, rest, err := quoted(s[i:])
			if err != nil {
				return err
			}
			i = len(s) - len(rest) - 1
			continue
		}
		if !visit(i) {
			return nil
		}
	}
	return nil
}

// bare parses a key or a value, with or without quotes.
func bare(s string) (string, error) {
	s = strings.TrimSpace(s)
	if !strings.HasPrefix(s, `"`) {
		return s, nil
	}
	text, rest, err := quoted(s)
	if err == nil && rest != "" {
		err = fmt.Errorf("has %q after the quoted text", rest)
	}
	return text, err
}

func (q *Query) condition(c string) (err error) {
	head, rest, _ := strings.Cut(c, " ")
	switch head {
	case "found":
		if q.Found, err = bare(rest); err == nil {
			_, err = search.Parse(q.Found)
		}
		return err
	case "slowest":
		if q.Slowest, err = strconv.Atoi(strings.TrimSpace(rest)); err != nil || q.Slowest < 1 {
			return errors.New("needs a whole number of at least 1")
		}
		return nil
	case "at":
		return q.places(rest)
	}
	op, at := "", -1
	err = outside(c, func(i int) bool {
		for _, o := range []string{"!=", "!~", "=", "~", " in "} {
			if strings.HasPrefix(c[i:], o) {
				op, at = o, i
				return false
			}
		}
		return true
	})
	switch {
	case err != nil:
		return err
	case at >= 0:
		return q.arg(c[:at], op, c[at+len(op):])
	case head == "self":
		return limit(&q.Self, rest)
	case head == "started":
		return limit(&q.Started, rest)
	}
	return limit(&q.Duration, c)
}

func (q *Query) arg(key, op, value string) (err error) {
	a := Arg{Is: strings.TrimSpace(op)}
	if a.Key, err = bare(key); err != nil {
		return err
	}
	if a.Key == "" {
		return errors.New("names no argument")
	}
	if a.Is == "in" {
		var ok bool
		if a.Low, a.High, ok = strings.Cut(strings.TrimSpace(value), ".."); !ok || a.Low == "" && a.High == "" {
			return errors.New("should be KEY in LOW..HIGH, LOW.. or ..HIGH")
		}
		for _, n := range []string{a.Low, a.High} {
			if _, err := strconv.ParseFloat(n, 64); n != "" && err != nil {
				return fmt.Errorf("has the invalid number %q", n)
			}
		}
	} else if a.Value, err = bare(value); err != nil {
		return err
	}
	if strings.HasSuffix(a.Is, "~") {
		if _, err := search.Compile(a.Value); err != nil {
			return fmt.Errorf("has an invalid regular expression: %w", err)
		}
	}
	q.Args = append(q.Args, a)
	return nil
}

// limit reads a time range.
func limit(r *recording.Range, s string) (err error) {
	if r.IsSet() {
		return errors.New("occurs twice")
	}
	if !strings.Contains(s, "..") {
		return errors.New("is unknown; " + form)
	}
	if *r, err = recording.ParseRange(s); err != nil {
		err = fmt.Errorf("cannot be read: %w", err)
	}
	return err
}

func (q *Query) places(s string) error {
	for s = strings.TrimSpace(s); s != ""; s = strings.TrimSpace(s) {
		end := len(s)
		if err := outside(s, func(i int) bool {
			if s[i] == ' ' {
				end = i
			}
			return s[i] != ' '
		}); err != nil {
			return err
		}
		p, err := parsePlace(s[:end])
		if err != nil {
			return err
		}
		q.At, s = append(q.At, p), s[end:]
	}
	if len(q.At) == 0 {
		return errors.New("names no call; write at PID:TID@TIME")
	}
	return nil
}

func parsePlace(s string) (p Place, err error) {
	bad := fmt.Errorf("has the invalid call %q; write PID:TID@TIME", s)
	at := strings.LastIndexByte(s, '@')
	if at < 0 {
		return p, bad
	}
	if p.Time, err = decimal.ParseLength(s[at+1:]); err != nil {
		return p, fmt.Errorf("has invalid time %q: it %w", s[at+1:], err)
	}
	pid, rest, ok := strings.Cut(s[:at], ":")
	tid, name, named := strings.Cut(rest, ":")
	var perr, terr error
	p.PID, perr = strconv.ParseInt(pid, 10, 64)
	p.TID, terr = strconv.ParseInt(tid, 10, 64)
	if !ok || perr != nil || terr != nil {
		return p, bad
	}
	if named {
		if p.Name, err = bare(name); err != nil {
			return p, err
		}
	}
	return p, nil
}
