package address

import (
	"errors"
	"math"
	"strconv"
	"strings"

	"ashlar/ingest/analyze"
	"ashlar/ingest/compare"
	"ashlar/ingest/recording"
)

// keyInfo is a key: how its value is written, which is left out where it is what
// a window begins with, and read.
type keyInfo struct {
	name  string
	write func(*View) (value string, ok bool)
	read  func(*View, string) error
}

// keys are all but file, in the order they are written in.
var keys = func() []keyInfo {
	ks := []keyInfo{
		one("part", func(v *View) *Part { return &v.Part }, Part.text, parsePart),
		many("only", func(v *View) *[]string { return &v.Only }, escape, unescape),
		one("exe", func(v *View) *string { return &v.Exe }, escape, unescape),
		one("view", func(v *View) *string { return &v.Parts }, escape, unescape),
		one("layout", func(v *View) *string { return &v.Layout }, escape, unescape),
	}
	ks = append(ks, sideKeys("", func(v *View) *Side { return &v.Side })...)
	ks = append(ks, sideKeys(".b", func(v *View) *Side { return &v.Beside })...)
	return append(ks,
		one("event", func(v *View) *string { return &v.Event }, escape, unescape),
		one("metric", func(v *View) *string { return &v.Metric }, escape, unescape),
		many("transform", func(v *View) *[]analyze.Transform { return &v.Transforms }, transformText, parseTransform),
		many("zoom", func(v *View) *[]recording.FuncName { return &v.Zoom }, functionText, parseFunction),
		one("find", func(v *View) *string { return &v.Find }, escape, unescape),
		one("tab", func(v *View) *string { return &v.Tab }, escape, unescape),
		maybe("function", func(v *View) **recording.FuncName { return &v.Function }, functionText, parseFunction),
		many("node", func(v *View) *[]recording.FuncName { return &v.Node }, functionText, parseFunction),
		maybe("around", func(v *View) **recording.FuncName { return &v.Around }, functionText, parseFunction),
		many("callers", func(v *View) *[]recording.FuncName { return &v.Callers }, functionText, parseFunction),
		many("callees", func(v *View) *[]recording.FuncName { return &v.Callees }, functionText, parseFunction),
		many("mark", func(v *View) *[]Mark { return &v.Marks }, Mark.text, parseMark),
		one("colour", func(v *View) *string { return &v.Colour }, escape, unescape),
		one("table", func(v *View) *string { return &v.Table }, escape, unescape),
		one("sort", func(v *View) *string { return &v.Sort }, escape, unescape),
		many("columns", func(v *View) *[]string { return &v.Columns }, escape, unescape),
		many("widths", func(v *View) *[]Width { return &v.Widths }, Width.text, parseWidth),
		many("rows", func(v *View) *[]string { return &v.Rows }, escape, unescape),
		one("split", func(v *View) *float32 { return &v.Split }, decimalText, parseDecimal),
		one("down", func(v *View) *float32 { return &v.Down }, decimalText, parseDecimal),
		one("line", func(v *View) *int { return &v.Line }, strconv.Itoa, func(s string) (int, error) { return parseNumber(s, math.MaxInt32) }),
		many("with", func(v *View) *[]string { return &v.With }, escape, unescape),
		one("normalize", func(v *View) *string { return &v.Normalize }, escape, unescape),
		one("width", func(v *View) *string { return &v.Width }, escape, unescape),
		many("pair", func(v *View) *[]compare.Pair { return &v.Pairs }, pairText, parsePair),
	)
}()

func sideKeys(suffix string, side func(*View) *Side) []keyInfo {
	threads := func(name string, of func(*Side) *[]Thread) keyInfo {
		return many(name+suffix, func(v *View) *[]Thread { return of(side(v)) }, Thread.text, parseThread)
	}
	return []keyInfo{
		maybe("show"+suffix, func(v *View) **Range { return &side(v).Show }, Range.String, parseRange),
		maybe("select"+suffix, func(v *View) **Range { return &side(v).Select }, Range.String, parseRange),
		threads("thread", func(s *Side) *[]Thread { return &s.Threads }),
		threads("fold", func(s *Side) *[]Thread { return &s.Fold }),
		threads("unfold", func(s *Side) *[]Thread { return &s.Unfold }),
		threads("hide", func(s *Side) *[]Thread { return &s.Hide }),
		threads("pin", func(s *Side) *[]Thread { return &s.Pin }),
		threads("order", func(s *Side) *[]Thread { return &s.Order }),
		many("close"+suffix, func(v *View) *[]Process { return &side(v).Close }, Process.text, parseProcess),
		one("threads"+suffix, func(v *View) *string { return &side(v).Sort }, escape, unescape),
		one("filter"+suffix, func(v *View) *string { return &side(v).Filter }, escape, unescape),
		one("scroll"+suffix, func(v *View) *float32 { return &side(v).Scroll }, decimalText, parseDecimal),
		maybe("goal"+suffix, func(v *View) **int64 { return &side(v).Goal }, timeText, parseTime),
		maybe("bar"+suffix, func(v *View) **Bar { return &side(v).Bar }, Bar.text, parseBar),
		one("anchor"+suffix, func(v *View) *int64 { return &side(v).Anchor }, timeText, parseTime),
	}
}

// one is a key with a value; the zero value is left out.
func one[T comparable](name string, of func(*View) *T, text func(T) string, parse func(string) (T, error)) keyInfo {
	return keyInfo{name: name,
		write: func(v *View) (string, bool) {
			var zero T
			x := *of(v)
			return text(x), x != zero
		},
		read: func(v *View, s string) (err error) { *of(v), err = parse(s); return err },
	}
}

// maybe is a key with a value that may be missing.
func maybe[T any](name string, of func(*View) **T, text func(T) string, parse func(string) (T, error)) keyInfo {
	return keyInfo{name: name,
		write: func(v *View) (string, bool) {
			if x := *of(v); x != nil {
				return text(*x), true
			}
			return "", false
		},
		read: func(v *View, s string) error {
			x, err := parse(s)
			*of(v) = &x
			return err
		},
	}
}

// many is a key with a list of values; an empty one is left out.
func many[T any](name string, of func(*View) *[]T, text func(T) string, parse func(string) (T, error)) keyInfo {
	return keyInfo{name: name,
		write: func(v *View) (string, bool) {
			parts := make([]string, len(*of(v)))
			for i, x := range *of(v) {
				parts[i] = text(x)
			}
			return strings.Join(parts, ","), len(parts) > 0
		},
		read: func(v *View, s string) (err error) { *of(v), err = parseList(s, parse); return err },
	}
}

// addFile takes the value of a file key.
func (v *View) addFile(s string) error {
	f, err := unescape(s)
	if err == nil && f == "" {
		err = errors.New("names no file")
	}
	v.Files = append(v.Files, f)
	return err
}
