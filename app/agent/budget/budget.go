// Package budget trims answers to a size limit and records what was cut and which command
// shows it.
package budget

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"slices"
	"sort"
	"strings"
	"unicode/utf8"

	"ashlar/app/core/evidence"
	"ashlar/ingest/input/safetext"
)

// Least is the smallest allowed budget. A smaller one could not hold an answer's subject
// and the note on omissions.
const Least = 200

// LongestText is the maximum length of a text in a bounded answer, in characters. It is
// needed because names in recordings may have any length.
const LongestText = 1000

// Tokens returns the number of tokens in n bytes of text: one for every four bytes, rounded up.
// Users can check it with wc -c.
func Tokens(n int) int { return (n + 3) / 4 }

// LeftOut describes the elements left out of a list in an answer.
type LeftOut struct {
	// List is the path of the list in the answer; Left of its Of elements were left out.
	List string `json:"list"`
	Left int    `json:"left"`
	Of   int    `json:"of"`
	// Share is the cost of the left-out elements as a fraction of the whole list's cost,
	// from 0 to 1. By is the field that holds the cost, empty if the elements have none.
	Share json.Number `json:"share,omitempty"`
	By    string      `json:"by,omitempty"`
}

// Cut holds the fields that describe omissions and problems; they are added to an answer.
type Cut struct {
	// LeftOut names the lists that were cut, and All is the command that prints
	// everything; absent if nothing was left out.
	LeftOut []LeftOut `json:"left_out,omitempty"`
	All     string    `json:"all,omitempty"`
	// TextsCutTo is the length, in characters, to which long texts were cut in the
	// middle.
	TextsCutTo int `json:"texts_cut_to,omitempty"`
	// Damage lists the recordings asked about that have errors.
	Damage []*evidence.Damage `json:"damage,omitempty"`
	// Saturated names the metrics, as EVENT/METRIC, whose totals exceed 2^63 of their
	// smallest unit. Their sums stop there and are lower bounds.
	Saturated []string `json:"saturated,omitempty"`
	// WindowsLeft names the windows of the range that were not counted because they
	// overlap counted windows.
	WindowsLeft []string `json:"windows_left_out,omitempty"`
	// Redacted says what --redact left out.
	Redacted string `json:"redacted,omitempty"`
	// Remarks holds the lines that the command line prints on standard error.
	Remarks []string `json:"remarks,omitempty"`
}

// With is an answer with additional fields. Only an object can hold them: a list is
// written unchanged.
type With struct {
	Of     any
	Beside Cut
}

// MarshalJSON implements json.Marshaler.
func (w With) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	if !w.more() { // most answers: reading them again would take as long as finding them
		err := encode(&b, w.Of)
		return b.Bytes(), err
	}
	v, err := w.read(read(w.Of))
	if err != nil {
		return nil, err
	}
	err = v.write(&b)
	return b.Bytes(), err
}

// more reports whether there is anything to add.
func (w With) more() bool {
	b := &w.Beside
	return len(b.Damage)+len(b.Saturated)+len(b.WindowsLeft)+len(b.Redacted) > 0
}

func (w With) read(v *value, err error) (*value, error) {
	if err != nil || !v.object || !w.more() {
		return v, err
	}
	beside, err := read(w.Beside)
	if err != nil {
		return nil, err
	}
	v.keys, v.list = append(v.keys, beside.keys...), append(v.list, beside.list...)
	return v, nil
}

// costs are the fields that hold the cost of a list element.
var costs = [...]string{"self", "delta_self", "duration", "total", "count"}

// mostTokens is the largest budget in tokens; its bytes fit in an int.
const mostTokens = math.MaxInt / 8

// JSON writes an answer, an object, as compact JSON of at most the given number of
// tokens. It cuts all lists to the same length, at their ends; if that is not enough, it
// also cuts long texts in the middle. If anything is left out, the object gains the
// fields left_out, a list of [LeftOut], and all, the command that leaves nothing out.
func JSON(v any, tokens int, all string) ([]byte, error) {
	tokens = min(tokens, mostTokens)
	room := 4*tokens - 1 // each element takes at least two bytes
	whole, err := readShort(v, room)
	if err != nil {
		return nil, err
	}
	texts := []int{LongestText, 200, 80, 40, 24}
	b, err := whole.bytes()
	if long := whole.hasLonger(LongestText); err != nil || Tokens(len(b)+1) <= tokens && !long && !whole.short() {
		return append(b, '\n'), err
	} else if !long {
		texts[0] = 1 << 30
	}
	for _, text := range texts {
		fits := func(n int) []byte {
			b, err := whole.cut(n, text, all).bytes()
			if err != nil || len(b) > room {
				return nil
			}
			return b
		}
		if fits(0) == nil {
			continue
		}
		most := min(whole.longest(), room)
		n := sort.Search(most, func(n int) bool { return fits(n+1) == nil })
		return append(fits(n), '\n'), nil
	}
	return nil, tooSmall(tokens, all)
}

func tooSmall(tokens int, all string) error {
	return fmt.Errorf("cannot shorten the answer to %d tokens. Use a larger --budget, or none: %s", tokens, all)
}

// Rows writes an answer as text of at most the given number of tokens. write returns the
// text with the first n of all rows. v is the answer as an object; the cost of the rows
// comes from its field named list. If list is "", the text is cut by lines.
func Rows(v any, list string, rows, tokens int, all string, write func(n int) string) (string, error) {
	tokens = min(tokens, mostTokens)
	most := rows // at most this many rows can fit: a line has at least one byte
	if list == "" || rows <= 4*tokens {
		if s := write(rows); Tokens(len(s)) <= tokens {
			return s, nil
		}
	} else {
		most = 4 * tokens
	}
	if list != "" {
		whole, err := readShort(v, 4*tokens)
		if err != nil {
			return "", err
		}
		at := func(n int) string {
			s := write(n)
			return strings.TrimRight(s, "\n") + "\n" + whole.note(list, n, all)
		}
		if n := sort.Search(most, func(n int) bool { return Tokens(len(at(n+1))) > tokens }); Tokens(len(at(n))) <= tokens {
			return at(n), nil
		}
	}
	return Lines(write(0), tokens, all)
}

// Lines cuts a text to the budget at the end of a line.
func Lines(s string, tokens int, all string) (string, error) {
	if Tokens(len(s)) <= tokens {
		return s, nil
	}
	lines := strings.SplitAfter(strings.TrimRight(s, "\n")+"\n", "\n")
	lines = lines[:len(lines)-1]
	for n := len(lines) - 1; n > 0; n-- {
		out := strings.Join(lines[:n], "") + fmt.Sprintf("left out: %d of %s; all: %s\n", len(lines)-n, safetext.Plural(len(lines), "line"), all)
		if Tokens(len(out)) <= tokens {
			return out, nil
		}
	}
	return "", tooSmall(tokens, all)
}

// note returns the line that describes which rows are missing from an answer's text.
func (v *value) note(list string, n int, all string) string {
	rows := v.field(list)
	if rows == nil || rows.of() <= n {
		return "all: " + all + "\n"
	}
	s := fmt.Sprintf("left out: %d of %s", rows.of()-n, safetext.Plural(rows.of(), "row"))
	if by, share := rows.share(n); by != "" {
		s += fmt.Sprintf(", with %s of the sum of %s", percent(share), strings.ReplaceAll(by, "_", " "))
	}
	return s + "; all: " + all + "\n"
}

func percent(r *big.Rat) string {
	f, _ := r.Float64()
	return fmt.Sprintf("%.1f %%", 100*f)
}

// value is JSON that keeps the order of its fields.
type value struct {
	plain  any // text, number, boolean or null
	object bool
	keys   []string
	list   []*value // the values of keys, or the elements of a list
	isList bool
	rest   *beyond // number and cost of the elements after list; nil if there are none
	// by names the field with the elements' cost, and all is its sum over all elements.
	// The first call of share computes both and sets added.
	by    string
	all   *big.Rat
	added bool
}

// of returns the number of elements of a list, including those in rest.
func (v *value) of() int {
	if v.rest == nil {
		return len(v.list)
	}
	return len(v.list) + v.rest.n
}

// short reports whether a list of an answer is longer than the part that was read.
func (v *value) short() bool {
	return slices.ContainsFunc(v.list, func(x *value) bool { return x.rest != nil })
}

// readShort is like read, but keeps at most limit elements of each list at the top level of
// the answer.
func readShort(v any, limit int) (*value, error) {
	if w, ok := v.(With); ok {
		return w.read(readShort(w.Of, limit))
	}
	v, rest := shorter(v, limit)
	whole, err := read(v)
	for name, r := range rest {
		if list := whole.field(name); err == nil && list != nil {
			list.rest = r
		}
	}
	return whole, err
}

func read(v any) (*value, error) {
	var b bytes.Buffer
	if err := encode(&b, v); err != nil {
		return nil, err
	}
	d := json.NewDecoder(&b)
	d.UseNumber()
	return readValue(d)
}

// encode writes JSON in which <, > and & stay as they are, and a newline.
func encode(b *bytes.Buffer, v any) error {
	e := json.NewEncoder(b)
	e.SetEscapeHTML(false)
	return e.Encode(v)
}

func readValue(d *json.Decoder) (*value, error) {
	t, err := d.Token()
	if err != nil {
		return nil, err
	}
	open, ok := t.(json.Delim)
	if !ok {
		return &value{plain: t}, nil
	}
	v := &value{object: open == '{', isList: open == '['}
	for d.More() {
		if v.object {
			k, err := d.Token()
			if err != nil {
				return nil, err
			}
			v.keys = append(v.keys, k.(string))
		}
		x, err := readValue(d)
		if err != nil {
			return nil, err
		}
		v.list = append(v.list, x)
	}
	_, err = d.Token()
	return v, err
}

// bytes returns the JSON as printed, with invisible characters written as \uXXXX.
func (v *value) bytes() ([]byte, error) {
	var b, seen bytes.Buffer
	if err := v.write(&b); err != nil {
		return nil, err
	}
	_, err := safetext.Writer(&seen).Write(b.Bytes())
	return seen.Bytes(), err
}

func (v *value) write(b *bytes.Buffer) error {
	if !v.object && !v.isList {
		err := encode(b, v.plain)
		b.Truncate(b.Len() - 1) // the newline
		return err
	}
	b.WriteByte(map[bool]byte{true: '{', false: '['}[v.object])
	for i, x := range v.list {
		if i > 0 {
			b.WriteByte(',')
		}
		if v.object {
			if err := (&value{plain: v.keys[i]}).write(b); err != nil {
				return err
			}
			b.WriteByte(':')
		}
		if err := x.write(b); err != nil {
			return err
		}
	}
	b.WriteByte(map[bool]byte{true: '}', false: ']'}[v.object])
	return nil
}

// field returns the field with a name, nil if there is none.
func (v *value) field(name string) *value {
	for i, k := range v.keys {
		if k == name {
			return v.list[i]
		}
	}
	return nil
}

// longest returns the length of the longest list in v.
func (v *value) longest() (n int) {
	if v.canBeCut() {
		n = len(v.list)
	}
	for _, x := range v.list {
		n = max(n, x.longest())
	}
	return n
}

// hasLonger reports whether v contains a text of more than most characters.
func (v *value) hasLonger(most int) bool {
	if s, ok := v.plain.(string); ok && len(s) > most && utf8.RuneCountInString(s) > most {
		return true
	}
	return slices.ContainsFunc(v.list, func(x *value) bool { return x.hasLonger(most) })
}

// isTable reports whether an object's keys come from the file. It tells by their number:
// no Go type here has more than 40 fields.
func (v *value) isTable() bool { return v.object && len(v.keys) > 40 }

// canBeCut reports whether elements of v may be left out. A list of two numbers is an
// interval and stays whole.
func (v *value) canBeCut() bool {
	ends := v.isList && len(v.list) == 2 && !slices.ContainsFunc(v.list, func(x *value) bool { _, number := x.plain.(json.Number); return !number })
	return v.isList && !ends || v.isTable()
}

// cut returns the value with lists of at most n elements and texts of at most text
// characters, and with the fields that record the cuts.
func (v *value) cut(n, text int, all string) *value {
	var left []*LeftOut
	out := v.cutAt("", n, text, &left)
	if len(left) == 0 && text == 1<<30 {
		return out
	}
	if left == nil {
		left = []*LeftOut{}
	}
	said, err := read(left)
	if err != nil {
		panic(err) // impossible: texts and numbers can always be encoded
	}
	out.keys = append(append([]string{}, out.keys...), "left_out", "all")
	out.list = append(append([]*value{}, out.list...), said, &value{plain: all})
	if text < 1<<30 {
		out.keys = append(out.keys, "texts_cut_to")
		out.list = append(out.list, &value{plain: text})
	}
	return out
}

func (v *value) cutAt(path string, n, text int, left *[]*LeftOut) *value {
	if s, ok := v.plain.(string); ok {
		return &value{plain: middle(s, text)}
	}
	if !v.object && !v.isList {
		return v
	}
	out := &value{object: v.object, isList: v.isList, keys: v.keys, list: make([]*value, 0, len(v.list))}
	keep := v.list
	if v.canBeCut() && v.of() > n {
		keep = keep[:min(n, len(keep))]
		v.noteLeftOut(path, n, left)
		if v.object {
			out.keys = out.keys[:n]
		}
	}
	for i, x := range keep {
		at := path
		if v.object {
			at = strings.TrimPrefix(path+"."+v.keys[i], ".")
		} else {
			at += "[]"
		}
		out.list = append(out.list, x.cutAt(at, n, text, left))
	}
	return out
}

// noteLeftOut records the elements left out of a list. It adds up lists with the same
// path.
func (v *value) noteLeftOut(path string, n int, left *[]*LeftOut) {
	for _, l := range *left {
		if l.List == path {
			l.Left, l.Of, l.Share, l.By = l.Left+v.of()-n, l.Of+v.of(), "", ""
			return
		}
	}
	l := &LeftOut{List: path, Left: v.of() - n, Of: v.of()}
	if by, share := v.share(n); by != "" {
		l.By, l.Share = by, json.Number(share.FloatString(4))
	}
	*left = append(*left, l)
}

// share returns the cost of the elements from n on as a part of the cost of all elements.
func (v *value) share(n int) (by string, share *big.Rat) {
	if !v.added {
		v.added = true
		for i, name := range costs {
			var all sum
			v.addUp(name, len(v.list), &all)
			v.all = all.rat()
			if v.rest != nil {
				v.all.Add(v.all, v.rest.cost[i].rat())
			}
			if v.all.Sign() > 0 {
				v.by = name
				break
			}
		}
	}
	if v.by == "" {
		return "", nil
	}
	var kept sum
	v.addUp(v.by, n, &kept)
	rest := new(big.Rat).Sub(v.all, kept.rat())
	return v.by, rest.Quo(rest, v.all)
}

// addUp adds the cost of the first n elements to s.
func (v *value) addUp(by string, n int, s *sum) {
	for _, x := range v.list[:min(n, len(v.list))] {
		if f := x.field(by); f != nil {
			if number, ok := f.plain.(json.Number); ok {
				s.add(string(number))
			}
		}
	}
}

// middle shortens a text of more than most characters by leaving out its middle.
func middle(s string, most int) string {
	if utf8.RuneCountInString(s) <= most {
		return s
	}
	r := []rune(s)
	head := most / 2
	return string(r[:head]) + "…" + string(r[len(r)-(most-head-1):])
}
