package parquet

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"ashlar/ingest/format/decode"
)

// A role is the purpose of a column.
type role uint8

const (
	roleName role = iota
	roleStack
	roleStart
	roleEnd
	roleDuration
	roleThread
	roleTID
	roleProcess
	rolePID
	roleRecording
	roleArgs
	roleUnfinished
	roles
)

// names are the names of columns by role, in lower case, the preferred one first. Those of
// times may have a unit: start_us.
var names = [roles][]string{
	roleName:       {"name", "function", "span", "span_name", "operation", "operation_name"},
	roleStack:      {"stack", "frames", "stacktrace", "callstack"},
	roleStart:      {"start", "start_time", "begin", "ts", "time", "timestamp"},
	roleEnd:        {"end", "end_time", "stop"},
	roleDuration:   {"duration", "dur"},
	roleThread:     {"thread", "thread_name", "track", "track_name"},
	roleTID:        {"tid", "thread_id", "utid", "track_id"},
	roleProcess:    {"process", "process_name", "service", "service_name"},
	rolePID:        {"pid", "process_id", "upid"},
	roleRecording:  {"recording"},
	roleArgs:       {"args", "arguments", "attributes"},
	roleUnfinished: {"unfinished"},
}

// units lists the endings of columns' names that stand for units of time, each a power of ten
// of picoseconds.
var units = []struct {
	ending string
	exp    int
}{{"_ps", 0}, {"_ns", 3}, {"_us", 6}, {"_µs", 6}, {"_ms", 9}, {"_s", 12}}

// nanoseconds is the exponent of times whose columns say no unit.
const nanoseconds = 3

// unitOf splits the unit off the name of a column; known is false if there is none.
func unitOf(name string) (base string, exp int, known bool) {
	for _, u := range units {
		if base, ok := strings.CutSuffix(name, u.ending); ok {
			return base, u.exp, true
		}
	}
	return name, nanoseconds, false
}

// field is a top-level column of the file.
type field struct {
	name   string // in lower case
	leaves []int
	used   bool
}

func (f *file) fields() (fields []*field) {
	for i := range f.leaves {
		name := strings.ToLower(f.leaves[i].path[0])
		if n := len(fields); n > 0 && i > 0 && f.leaves[i-1].path[0] == f.leaves[i].path[0] {
			fields[n-1].leaves = append(fields[n-1].leaves, i)
			continue
		}
		fields = append(fields, &field{name: name, leaves: []int{i}})
	}
	return fields
}

// flat reports whether the field has one value in a row.
func (f *file) flat(x *field) bool {
	return len(x.leaves) == 1 && f.leaves[x.leaves[0]].maxRep == 0
}

// suits reports whether a field can have a role.
func (f *file) suits(x *field, r role) bool {
	l := &f.leaves[x.leaves[0]]
	switch r {
	case roleStack:
		return f.stackLeaf(x) >= 0
	case roleStart, roleEnd:
		return f.flat(x) && (numeric(l) || l.means == asTimestamp || l.means == asDate)
	case roleDuration:
		return f.flat(x) && (numeric(l) || l.means == asInterval)
	case roleTID, rolePID, roleUnfinished:
		return f.flat(x) && (numeric(l) || l.physical == physicalBool)
	case roleArgs:
		return f.flat(x) && isText(l)
	case roleName:
		return f.flat(x) && isText(l)
	}
	return f.flat(x)
}

// stackLeaf returns the leaf with the names of a stack's frames, -1 if there is none: a text,
// a list of texts, or a list of structures with a name.
func (f *file) stackLeaf(x *field) int {
	for _, i := range x.leaves {
		l := &f.leaves[i]
		last := strings.ToLower(l.path[len(l.path)-1])
		if isText(l) && l.maxRep <= 1 && (len(x.leaves) == 1 || l.maxRep == 1 && slices.Contains(names[roleName], last)) {
			return i
		}
	}
	return -1
}

// find returns the field with a role, nil if there is none.
func (f *file) find(fields []*field, r role) *field {
	for _, name := range names[r] {
		for _, x := range fields {
			base := x.name
			if r == roleStart || r == roleEnd || r == roleDuration {
				base, _, _ = unitOf(base)
			}
			if base == name && !x.used && f.suits(x, r) {
				x.used = true
				return x
			}
		}
	}
	return nil
}

func isText(l *leaf) bool {
	return l.physical == physicalBytes && (l.means == asText || l.means == asStored)
}

// numeric reports whether the values are numbers without a meaning of their own.
func numeric(l *leaf) bool {
	switch l.physical {
	case physicalInt32, physicalInt64, physicalFloat, physicalDouble:
		return l.means == asStored || l.means == asUnsigned || l.means == asDecimal
	case physicalBytes, physicalFixed:
		return l.means == asDecimal
	}
	return false
}

// number returns the number in v; false if there is none or it does not fit.
func (l *leaf) number(v *value) (n decode.Number, ok bool) {
	switch l.physical {
	case physicalBool:
		return decode.Number{Mantissa: v.i}, !v.null
	case physicalInt32:
		if n.Mantissa = v.i; l.means == asUnsigned {
			n.Mantissa = int64(uint32(v.i))
		}
	case physicalInt64:
		n.Mantissa = v.i
		ok = l.means != asUnsigned || v.i >= 0
		return l.scaled(n), ok && !v.null
	case physicalFloat, physicalDouble:
		if v.null || math.IsNaN(v.f) || math.IsInf(v.f, 0) {
			return n, false
		}
		if whole := math.Trunc(v.f); whole == v.f && math.Abs(v.f) < 1<<62 {
			return decode.Number{Mantissa: int64(v.f)}, true
		}
		bits := 64
		if l.physical == physicalFloat {
			bits = 32
		}
		n, ok, fits := decode.ParseNumber(strconv.AppendFloat(nil, v.f, 'g', -1, bits))
		return n, ok && fits
	case physicalBytes, physicalFixed:
		if v.null || l.means != asDecimal {
			return n, false
		}
		u := new(big.Int).SetBytes(v.b)
		if len(v.b) > 0 && v.b[0]&0x80 != 0 {
			u.Sub(u, new(big.Int).Lsh(big.NewInt(1), uint(len(v.b)*8)))
		}
		n.Mantissa = u.Int64()
		return l.scaled(n), u.IsInt64()
	default:
		return n, false
	}
	return l.scaled(n), !v.null
}

func (l *leaf) scaled(n decode.Number) decode.Number {
	if l.means == asDecimal {
		n.Scale = l.scale
	}
	return n
}

const (
	day         = 86_400
	julianEpoch = 2_440_588 // 1970-01-01 as a Julian day
)

// time returns a time or a length of time. exp is the unit of plain numbers.
func (l *leaf) time(v *value, exp int) (t decode.Picos, ok bool) {
	if v.null {
		return t, false
	}
	switch l.means {
	case asTimestamp:
		if l.physical == physicalInt96 {
			ns, days := int64(binary.LittleEndian.Uint64(v.b)), int64(binary.LittleEndian.Uint32(v.b[8:]))
			days -= julianEpoch
			if ns < 0 || ns > day*2e9 || days > 100_000 || days < -100_000 {
				return t, false
			}
			v.i = days*day*1e9 + ns
		}
		return decode.Number{Mantissa: v.i}.Picos(l.exp), true
	case asDate:
		return decode.Number{Mantissa: v.i * day}.Picos(12), true
	case asInterval:
		if len(v.b) != 12 || binary.LittleEndian.Uint32(v.b) != 0 { // months have no fixed length
			return t, false
		}
		days, ms := binary.LittleEndian.Uint32(v.b[4:]), binary.LittleEndian.Uint32(v.b[8:])
		return decode.Number{Mantissa: int64(days)*day*1000 + int64(ms)}.Picos(9), true
	}
	n, ok := l.number(v)
	return n.Picos(exp), ok
}

// json returns a value for arguments, nil for NULL.
func (l *leaf) json(v *value) []byte {
	if v.null {
		return nil
	}
	switch {
	case l.physical == physicalBool:
		return strconv.AppendBool(nil, v.i != 0)
	case numeric(l) && l.means != asDecimal && l.physical != physicalFloat && l.physical != physicalDouble:
		if l.means == asUnsigned && l.physical == physicalInt32 {
			return strconv.AppendUint(nil, uint64(uint32(v.i)), 10)
		}
		if l.means == asUnsigned {
			return strconv.AppendUint(nil, uint64(v.i), 10)
		}
		return strconv.AppendInt(nil, v.i, 10)
	case l.physical == physicalFloat || l.physical == physicalDouble:
		return decode.Float(v.f)
	case l.means == asDecimal:
		if n, ok := l.number(v); ok {
			return []byte(decimalText(n))
		}
	}
	return decode.Quoted(l.text(v))
}

// text returns a value as text, "" for NULL.
func (l *leaf) text(v *value) string {
	switch {
	case v.null:
		return ""
	case isText(l) && (l.means == asText || utf8.Valid(v.b)):
		return string(v.b)
	case l.means == asDecimal:
		if n, ok := l.number(v); ok {
			return decimalText(n)
		}
	case l.means == asTimestamp && l.physical != physicalInt96:
		unit := map[int]int64{9: 1e3, 6: 1e6, 3: 1e9}[l.exp]
		s := v.i / unit
		return time.Unix(s, (v.i-s*unit)*(1e9/unit)).UTC().Format(time.RFC3339Nano)
	case l.means == asDate:
		return time.Unix(v.i*day, 0).UTC().Format(time.DateOnly)
	}
	if v.b != nil {
		return hex.EncodeToString(v.b)
	}
	return string(l.plainNumber(v))
}

// plainNumber returns a number as it is stored.
func (l *leaf) plainNumber(v *value) []byte {
	if l.physical == physicalFloat || l.physical == physicalDouble {
		return strconv.AppendFloat(nil, v.f, 'g', -1, 64)
	}
	return strconv.AppendInt(nil, v.i, 10)
}

func decimalText(n decode.Number) string {
	s := new(big.Rat).SetFrac(big.NewInt(n.Mantissa), new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(n.Scale)), nil))
	return s.FloatString(n.Scale)
}

// columnList lists the columns of the file for a sentence.
func (f *file) columnList(fields []*field) string {
	const most = 12
	var list []string
	for i, x := range fields {
		if i == most {
			list = append(list, fmt.Sprintf("and %d more", len(fields)-most))
			break
		}
		list = append(list, strconv.Quote(x.name))
	}
	return strings.Join(list, ", ")
}
