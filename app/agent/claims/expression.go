package claims

import (
	"encoding/json"
	"fmt"
	"math/big"
	"strings"
)

// value is a number that a claim is about.
type value struct {
	is      *big.Rat
	unit    unit
	written string // in the answer; "" if it was computed
}

// String returns the number as the answer has it, or in decimals, with at most nine after the
// point if it is a quotient.
func (v *value) String() string {
	if v.written != "" {
		return v.written
	}
	if digits, exact := v.is.FloatPrec(); exact {
		return v.is.FloatString(digits)
	}
	return v.is.FloatString(9)
}

// operators join two fields in a claim. They need spaces on both sides, because names of fields
// may contain hyphens.
var operators = []string{" / ", " - "}

// cutOperator splits a claim's expression at its operator, except within quotes.
func cutOperator(s string) (left, operator, right string) {
	left = s
	outside(s, func(i int) bool {
		for _, op := range operators {
			if strings.HasPrefix(s[i:], op) {
				left, operator, right = s[:i], op, s[i+len(op):]
				return true
			}
		}
		return false
	})
	return strings.TrimSpace(left), operator, strings.TrimSpace(right)
}

// value computes an expression: a field of the command's answer, or the quotient or the
// difference of two. The second may come from another command.
func (c *checker) value(command, expression string) (*value, error) {
	left, operator, right := cutOperator(expression)
	a, err := c.field(command, left)
	if err != nil || operator == "" {
		return a, err
	}
	if other, path, ok := cutComment(right); ok {
		command, right = strings.TrimSpace(other), strings.TrimSpace(path)
	}
	b, err := c.field(command, right)
	switch {
	case err != nil:
		return nil, err
	case operator == " - ":
		return &value{is: new(big.Rat).Sub(a.is, b.is), unit: a.unit}, nil
	case b.is.Sign() == 0:
		return nil, fmt.Errorf("%s is 0: nothing can be divided by it", right)
	}
	v := &value{is: new(big.Rat).Quo(a.is, b.is), unit: unit{name: share}}
	if b.unit.name == "" && a.unit.name != "" { // such as a time for each call
		v.unit = a.unit
	}
	return v, nil
}

// field returns a field of a command's answer.
func (c *checker) field(command, path string) (*value, error) {
	answer, err := c.answer(command)
	if err != nil {
		return nil, err
	}
	v, err := follow(answer, path)
	if err != nil {
		return nil, err
	}
	n, _ := v.(json.Number)
	is, ok := new(big.Rat).SetString(n.String())
	if !ok {
		return nil, fmt.Errorf("%s is not a number", path)
	}
	return &value{is, unitOf(command, answer, path), n.String()}, nil
}
