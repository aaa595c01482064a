package assembly

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"ashlar/ingest/format/program/disasm"
)

// Alignment pairs the instructions of a function in two builds. Instructions are alike if
// they differ only in registers, addresses and places on the stack.
type Alignment struct {
	A, B *Listing
	Rows []Row
	// Matched counts the rows with both instructions. Doubt says why the pairs are
	// uncertain, "" if they are not.
	Matched int
	Doubt   string
}

// Row is an instruction of both builds, or of one: the other's index is then -1.
type Row struct{ A, B int }

// Align aligns the instructions of two builds.
func Align(a, b *Listing) *Alignment {
	al := &Alignment{A: a, B: b}
	m := matcher{a: a.forms(), b: b.forms(), pair: make([]int, len(a.Insts))}
	for i := range m.pair {
		m.pair[i] = -1
	}
	m.match(0, len(m.a), 0, len(m.b))
	next := 0
	for i, k := range m.pair {
		if k < 0 {
			al.Rows = append(al.Rows, Row{i, -1})
			continue
		}
		for ; next < k; next++ {
			al.Rows = append(al.Rows, Row{-1, next})
		}
		al.Rows = append(al.Rows, Row{i, k})
		al.Matched++
		next = k + 1
	}
	for ; next < len(m.b); next++ {
		al.Rows = append(al.Rows, Row{-1, next})
	}
	if most := min(len(a.Insts), len(b.Insts)); 2*al.Matched < most {
		al.Doubt = fmt.Sprintf("Doubtful alignment: only %d of %d instructions are alike.", al.Matched, most)
	}
	return al
}

var (
	register = regexp.MustCompile(`%?\b(?:[re]?(?:[abcd]x|[sd]il?)|[abcd][lh]|r(?:8|9|1[0-5])[dwb]?|[re]?bpl?|[xyz]mm[0-9]+|[wxvq][0-9]+)\b`)
	onStack  = regexp.MustCompile(`-?0x[0-9a-f]+\((%[re]sp|%[re]bp|R)`)
	ofIP     = regexp.MustCompile(`-?0x[0-9a-f]+\(%rip\)( # 0x[0-9a-f]+)?`)
	address  = regexp.MustCompile(`\b(0x)?[0-9a-f]{3,}\b`)
	plus     = regexp.MustCompile(`\+0x[0-9a-f]+>`)
)

// forms returns the texts of the instructions without what differs between builds.
func (l *Listing) forms() []string {
	all := make([]string, len(l.Insts))
	for i := range l.Insts {
		in := &l.Insts[i]
		op, rest, _ := strings.Cut(in.Text, " ")
		switch in.Kind {
		case disasm.Jump, disasm.Branch:
			rest = "" // where to depends on the code between
			if in.Target != 0 && in.Target <= in.Addr {
				rest = "back"
			}
		case disasm.Call:
			if open := strings.IndexByte(rest, '<'); open >= 0 {
				rest = rest[open:]
			}
			rest = plus.ReplaceAllString(rest, ">")
		default:
			rest = onStack.ReplaceAllString(ofIP.ReplaceAllString(rest, "M(%rip)"), "M($1")
			rest = register.ReplaceAllString(rest, "R")
			if open := strings.IndexByte(rest, '<'); open >= 0 {
				rest = address.ReplaceAllString(rest[:open], "A") + plus.ReplaceAllString(rest[open:], ">")
			}
		}
		all[i] = op + " " + rest
	}
	return all
}

// matcher finds the common instructions of a and b.
type matcher struct {
	a, b []string
	pair []int // of a, -1 for none
}

// mostCells limits the table for instructions between those that occur once.
const mostCells = 4 << 20

// match pairs a[a0:a1] with b[b0:b1]: the same begin and end, then instructions that occur
// once, then the longest common subsequence of the rest.
func (m *matcher) match(a0, a1, b0, b1 int) {
	for a0 < a1 && b0 < b1 && m.a[a0] == m.b[b0] {
		m.pair[a0] = b0
		a0, b0 = a0+1, b0+1
	}
	for a0 < a1 && b0 < b1 && m.a[a1-1] == m.b[b1-1] {
		a1, b1 = a1-1, b1-1
		m.pair[a1] = b1
	}
	if a0 == a1 || b0 == b1 {
		return
	}
	if (a1-a0)*(b1-b0) <= mostCells {
		m.longest(a0, a1, b0, b1)
		return
	}
	anchors := m.anchors(a0, a1, b0, b1)
	for _, x := range anchors {
		m.pair[x.A] = x.B
		m.match(a0, x.A, b0, x.B)
		a0, b0 = x.A+1, x.B+1
	}
	if len(anchors) > 0 {
		m.match(a0, a1, b0, b1)
	}
}

// anchors returns the longest rising sequence of instructions that occur once on each side.
func (m *matcher) anchors(a0, a1, b0, b1 int) []Row {
	once := func(all []string, from, to int) map[string]int {
		at := map[string]int{}
		for i := from; i < to; i++ {
			if _, ok := at[all[i]]; ok {
				at[all[i]] = -1
			} else {
				at[all[i]] = i
			}
		}
		return at
	}
	inA, inB := once(m.a, a0, a1), once(m.b, b0, b1)
	var rows, ends []Row
	before := map[Row]Row{}
	for i := a0; i < a1; i++ {
		if k, ok := inB[m.a[i]]; ok && k >= 0 && inA[m.a[i]] >= 0 {
			x := Row{i, k}
			at, _ := slices.BinarySearchFunc(ends, k, func(r Row, k int) int { return r.B - k })
			if at > 0 {
				before[x] = ends[at-1]
			}
			ends = append(ends[:at], append([]Row{x}, ends[min(at+1, len(ends)):]...)...)
		}
	}
	for n := len(ends) - 1; n >= 0; n-- {
		if len(rows) == 0 {
			rows = append(rows, ends[n])
		} else {
			rows = append(rows, before[rows[len(rows)-1]])
		}
	}
	slices.Reverse(rows)
	return rows
}

// longest pairs the longest common subsequence.
func (m *matcher) longest(a0, a1, b0, b1 int) {
	w := b1 - b0 + 1
	table := make([]int32, (a1-a0+1)*w)
	for i := a1 - 1; i >= a0; i-- {
		for k := b1 - 1; k >= b0; k-- {
			at := (i-a0)*w + k - b0
			if m.a[i] == m.b[k] {
				table[at] = table[at+w+1] + 1
			} else {
				table[at] = max(table[at+w], table[at+1])
			}
		}
	}
	for i, k := a0, b0; i < a1 && k < b1; {
		at := (i-a0)*w + k - b0
		switch {
		case m.a[i] == m.b[k]:
			m.pair[i] = k
			i, k = i+1, k+1
		case table[at+w] >= table[at+1]:
			i++
		default:
			k++
		}
	}
}
