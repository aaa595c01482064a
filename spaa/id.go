package spaa

import (
	"fmt"
	"strconv"
)

// An ID identifies a stack or a window. It is a JSON string or a JSON number, and
// remembers which of them it is. IDs are comparable and can be map keys; the string "7"
// and the number 7 are different IDs. The zero value means absent.
type ID struct {
	text   string
	number bool
	set    bool
}

// StringID returns the ID that a file writes as the JSON string s.
func StringID(s string) ID { return ID{text: s, set: true} }

// NumberID returns the ID that a file writes as the JSON number n.
func NumberID(n Number) ID { return ID{text: string(n), number: true, set: n != ""} }

// IntID returns the ID that a file writes as the JSON number v.
func IntID(v int64) ID { return NumberID(IntNumber(v)) }

// HexID returns the string ID "0x" with the 16 hexadecimal digits of v, the
// form that this package's writer and [ContentID] use.
func HexID(v uint64) ID {
	const digits = "0123456789abcdef"
	var b [18]byte
	b[0], b[1] = '0', 'x'
	for i := len(b) - 1; i > 1; i-- {
		b[i] = digits[v&15]
		v >>= 4
	}
	return StringID(string(b[:]))
}

// IsZero reports whether the ID is absent.
func (id ID) IsZero() bool { return !id.set }

// IsNumber reports whether the file writes the ID as a number.
func (id ID) IsNumber() bool { return id.number }

// String returns the text of the string or the literal of the number.
func (id ID) String() string { return id.text }

// quoted formats an id for error messages: strings in quotes, numbers bare.
func (id ID) quoted() string {
	if id.number {
		return id.text
	}
	return strconv.Quote(id.text)
}

// IDForm is the form in which [ID.Key] packed an id.
type IDForm uint8

const (
	// IDText is the form of an id that cannot be packed: compare the IDs themselves.
	IDText IDForm = 0
	// 1 to 16: a string "0x" with that many lower-case hexadecimal digits.

	// IDInt is a number in 0..2^63-1 without leading zeros, point or exponent.
	IDInt IDForm = 17
)

// Key packs the usual ids ("0x…" with up to 16 lower-case digits, and plain
// non-negative integers) into a word and a form, so that a map of stacks needs
// no strings. Two ids with a form other than [IDText] are equal exactly when
// both results are equal.
func (id ID) Key() (uint64, IDForm) {
	s := id.text
	if id.number {
		if len(s) == 0 || len(s) > 18 {
			return 0, IDText
		}
		var v uint64
		for _, c := range []byte(s) {
			if c-'0' > 9 {
				return 0, IDText
			}
			v = v*10 + uint64(c-'0')
		}
		return v, IDInt
	}
	if len(s) < 3 || len(s) > 18 || s[0] != '0' || s[1] != 'x' {
		return 0, IDText
	}
	var v uint64
	var bad uint8
	for _, c := range []byte(s[2:]) { // no branches: which digits are letters is unpredictable
		d := hexDigits[c]
		v, bad = v<<4|uint64(d&15), bad|d
	}
	if bad > 15 {
		return 0, IDText
	}
	return v, IDForm(len(s) - 2)
}

// hexDigits maps lower-case hexadecimal digits to their values, and all other bytes to
// more than 15.
var hexDigits = func() (t [256]uint8) {
	for i := range t {
		t[i] = 16
	}
	for i, c := range "0123456789abcdef" {
		t[c] = uint8(i)
	}
	return t
}()

// Spellings returns other ids that write the same number (as a JSON number, or as
// hexadecimal or decimal text); none if the id is not a number. The specification leaves
// open whether such ids mean the same stack; this package treats them as different.
func (id ID) Spellings() (other []ID) {
	v, err := strconv.ParseUint(id.text, 10, 64)
	if !id.number && len(id.text) > 2 && (id.text[:2] == "0x" || id.text[:2] == "0X") {
		v, err = strconv.ParseUint(id.text[2:], 16, 64)
	}
	if err != nil {
		return nil
	}
	add := func(o ID) {
		if o != id {
			other = append(other, o)
		}
	}
	number := strconv.FormatUint(v, 10)
	add(NumberID(Number(number)))
	add(StringID(number))
	for digits := 1; digits <= 16; digits++ {
		for _, format := range []string{"0x%0*x", "0x%0*X", "0X%0*X"} {
			if s := fmt.Sprintf(format, digits, v); len(s) == digits+2 {
				add(StringID(s))
			}
		}
	}
	return other
}
