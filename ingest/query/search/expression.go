package search

import (
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"

	"ashlar/ingest/input/safetext"
)

// Limits of regular expressions. Each character of a name takes as many steps as places in
// the expression that could be reached: 5,000 of `.*` keep a comparison busy for minutes.
// Literal characters cost little, so a list of some hundred functions is within the limits.
const (
	mostBytes    = 16 << 10
	mostLiterals = 20_000
	mostBranches = 500 // alternatives
	mostWild     = 250 // wildcards, classes and repetitions
)

// Compile parses a regular expression in Go's syntax. Every expression that comes from
// outside is compiled here; one that would take too long to match is an error.
func Compile(src string) (*regexp.Regexp, error) {
	if len(src) > mostBytes {
		return nil, fmt.Errorf("it is too long (%d bytes, the limit is %d)", len(src), mostBytes)
	}
	tree, err := syntax.Parse(src, syntax.Perl)
	if e := (*syntax.Error)(nil); errors.As(err, &e) {
		return nil, &syntax.Error{Code: e.Code, Expr: safetext.Middle(e.Expr, mostQuoted)}
	}
	var n size
	n.add(tree.Simplify())
	switch {
	case n.wild > mostWild:
		return nil, fmt.Errorf("it is too complex (%d wildcards, classes and repetitions, the limit is %d)", n.wild, mostWild)
	case n.branches > mostBranches:
		return nil, fmt.Errorf("it is too complex (%d alternatives, the limit is %d)", n.branches, mostBranches)
	case n.literals > mostLiterals:
		return nil, fmt.Errorf("it is too long (%d characters with repetitions, the limit is %d)", n.literals, mostLiterals)
	}
	return regexp.Compile(src)
}

// mostQuoted is the length to which an expression is shortened in an error.
const mostQuoted = 80

// size counts what matching an expression takes.
type size struct{ literals, branches, wild int }

func (n *size) add(re *syntax.Regexp) {
	switch re.Op {
	case syntax.OpLiteral:
		n.literals += len(re.Rune)
	case syntax.OpAlternate:
		n.branches += len(re.Sub)
	case syntax.OpCharClass, syntax.OpAnyChar, syntax.OpAnyCharNotNL, syntax.OpStar, syntax.OpPlus, syntax.OpQuest:
		n.wild++
	}
	for _, sub := range re.Sub {
		n.add(sub)
	}
}
