package sql

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"ashlar/ingest/model/relation"
)

// grouping is a query that only groups the rows of one table. SQLite would ask for each value
// of each row, which takes thirty times as long as reading the columns, so the groups are made
// here (see groups), and SQLite answers the rest of the query from them.
//
// Only queries are taken of which each part is understood; all others are left to SQLite.
type grouping struct {
	table *relation.Table
	keys  []int // columns, allRecordings for the recording
	sums  []aggregate
	where []condition
	query string // over the table of groups, whose columns are k0, k1, … and a0, a1, …
}

// allRecordings stands for the column relation.Partition.
const allRecordings = -1

// aggregate is a function over a column; allRows stands for *.
type aggregate struct {
	name   string
	column int
}

const allRows = -2

// condition holds for values that are in one of the ranges, or NULL, or not NULL.
type condition struct {
	column         int
	ranges         [][2]int64 // of integers, with both ends
	texts          []string
	not            bool // values that are not in ranges or texts
	null, anything bool
}

func (c *condition) holds(v relation.Value) bool {
	if v.Null || c.null {
		return v.Null && c.null
	}
	if c.anything {
		return true
	}
	if v.Type == relation.Text {
		return slices.Contains(c.texts, v.Text) != c.not
	}
	return slices.ContainsFunc(c.ranges, func(r [2]int64) bool { return r[0] <= v.Int && v.Int <= r[1] }) != c.not
}

var (
	aggregates = []string{"count", "sum", "min", "max", "avg", "total"}
	// scalars are functions of one row.
	scalars = strings.Fields("abs cast ceil coalesce floor format ifnull iif length lower nullif printf replace round sign sqrt substr typeof upper")
	// others are words that change what a query asks for.
	others = strings.Fields("select distinct over filter union intersect except join with window exists collate values offset rowid oid _rowid_ all left right cross natural indexed not")
)

// parser reads a query by its tokens.
type parser struct {
	query string
	ts    []token
	at    int
	g     *grouping
	names []string // of the table: its name and alias
	items [][2]int // of the result, in tokens
	alias map[string]int
	ok    bool
}

// text returns token i in lower case, "" beyond the ends; texts as they are.
func (p *parser) text(i int) string {
	if i < 0 || i >= len(p.ts) {
		return ""
	}
	s := p.query[p.ts[i].from:p.ts[i].to]
	if p.ts[i].kind == wordToken {
		return strings.ToLower(s)
	}
	return s
}

func (p *parser) take(words ...string) bool {
	for k, w := range words {
		if p.text(p.at+k) != w {
			return false
		}
	}
	p.at += len(words)
	return true
}

// fail leaves the query to SQLite.
func (p *parser) fail() { p.ok = false }

// column returns the column that token i names, perhaps after the table's name, and the number
// of tokens.
func (p *parser) column(i int) (column, n int, ok bool) {
	n = 1
	if p.text(i+1) == "." && slices.Contains(p.names, p.text(i)) {
		i, n = i+2, 3
	}
	if i >= len(p.ts) || p.ts[i].kind != wordToken || p.text(i+1) == "." || p.text(i+1) == "(" {
		return 0, n, false
	}
	if p.text(i) == relation.Partition {
		return allRecordings, n, true
	}
	column = p.g.table.Column(p.text(i))
	return column, n, column >= 0
}

// grouped returns the grouping that a query asks for, nil if it asks for anything else.
func grouped(query string) *grouping {
	p := &parser{query: query, g: &grouping{}, alias: map[string]int{}, ok: true}
	for _, t := range tokens(query) {
		switch {
		case t.kind == commentToken:
			continue
		case t.kind == textToken && (query[t.from] != '\'' || strings.Contains(query[t.from+1:t.to], "''") || len(p.ts) > 0 && p.ts[len(p.ts)-1].kind == textToken):
			return nil
		}
		p.ts = append(p.ts, t)
	}
	for len(p.ts) > 0 && p.text(len(p.ts)-1) == ";" {
		p.ts = p.ts[:len(p.ts)-1]
	}
	if !p.take("select") {
		return nil
	}
	for i := 1; i < len(p.ts); i++ {
		if p.ts[i].kind == wordToken && slices.Contains(others, p.text(i)) && !(p.text(i) == "not" && p.text(i+1) == "null") || strings.ContainsAny(p.text(i), "[]") && p.ts[i].kind == otherToken {
			return nil
		}
	}
	from := slices.IndexFunc(p.ts, func(t token) bool { return strings.EqualFold(query[t.from:t.to], "from") })
	if from < 0 {
		return nil
	}
	p.splitItems(from)
	p.at = from + 1
	if p.g.table = relation.Named(p.text(p.at)); p.g.table == nil {
		return nil
	}
	p.names = []string{p.text(p.at)}
	p.at++
	p.take("as")
	if w := p.text(p.at); p.at < len(p.ts) && p.ts[p.at].kind == wordToken && !slices.Contains(words, strings.ToUpper(w)) {
		p.names = append(p.names, w)
		p.at++
	}
	if p.take("where") {
		p.conditions()
	}
	if p.take("group", "by") {
		p.groupBy()
	}
	rest, having := p.at, p.text(p.at) == "having"
	if having {
		rest++
	} else if w := p.text(p.at); w != "" && w != "order" && w != "limit" {
		return nil
	}
	list := p.rewrite(1, from, false)
	tail := p.rewrite(rest, len(p.ts), !having)
	if !p.ok || len(p.g.keys) == 0 && (len(p.g.sums) == 0 || having) {
		return nil
	}
	if having {
		tail = " WHERE " + tail
	}
	p.g.query = "SELECT " + list + ` FROM "` + groupTable + `" ` + tail
	return p.g
}

// splitItems finds the items of the result and their names.
func (p *parser) splitItems(from int) {
	depth, start := 0, 1
	for i := 1; i <= from; i++ {
		switch w := p.text(i); {
		case w == "(":
			depth++
		case w == ")":
			depth--
		case w == "as" && depth == 0:
			p.alias[p.text(i+1)] = len(p.items)
		case (w == "," || i == from) && depth == 0:
			p.items = append(p.items, [2]int{start, i})
			start = i + 1
		}
	}
}

// groupBy reads the columns after GROUP BY: names, or numbers or names of items of the result
// that are columns.
func (p *parser) groupBy() {
	for {
		column, n, ok := p.column(p.at)
		if !ok {
			item, known := p.alias[p.text(p.at)]
			if number, err := strconv.Atoi(p.text(p.at)); err == nil {
				item, known = number-1, true
			}
			if !known || item < 0 || item >= len(p.items) {
				p.fail()
				return
			}
			is := p.items[item]
			var of int
			if column, of, ok = p.column(is[0]); !ok || is[0]+of != is[1] && p.text(is[0]+of) != "as" {
				p.fail()
				return
			}
			n = 1
		}
		if column >= 0 && p.g.table.Columns[column].Type == relation.Real {
			p.fail()
			return
		}
		p.g.keys = append(p.g.keys, column)
		if p.at += n; !p.take(",") {
			return
		}
	}
}

// rewrite returns tokens from..to with the columns of groups in place of columns and
// aggregates. In the order of the result, a term may be the name of an item.
func (p *parser) rewrite(from, to int, ordered bool) string {
	var b strings.Builder
	depth := 0
	for i := from; i < to; i++ {
		w := p.text(i)
		switch w {
		case "(":
			depth++
		case ")":
			depth--
		case "*":
			if before := p.text(i - 1); i == from || before == "," || before == "." {
				p.fail()
			}
		}
		word := p.ts[i].kind == wordToken && (w[0] < '0' || w[0] > '9')
		name := func() bool { return p.text(i-1) == "as" && depth == 0 && !ordered }
		switch column, n, is := p.column(i); {
		case !word || name():
			b.WriteString(p.query[p.ts[i].from:p.ts[i].to])
		case slices.Contains(aggregates, w) && p.text(i+1) == "(":
			b.WriteString(p.aggregate(&i, w))
		case p.text(i+1) == "(" && !slices.Contains(scalars, w) && !slices.Contains(words, strings.ToUpper(w)), p.text(i+1) == "." && n == 1:
			p.fail()
		case is && n == 1 && p.aliased(w):
			after := p.text(i + 1)
			if before := p.text(i - 1); !ordered || depth > 0 || before != "by" && before != "," || after != "" && after != "," && after != "asc" && after != "desc" && after != "limit" {
				p.fail()
			}
			b.WriteString(w)
		case is:
			k := slices.Index(p.g.keys, column)
			if k < 0 || p.text(i-1) == ")" || i > from && p.ts[i-1].kind == textToken || i > from && p.ts[i-1].kind == wordToken && !slices.Contains(words, strings.ToUpper(p.text(i-1))) {
				p.fail() // a column without a group, or a name without AS
			}
			b.WriteString("k" + strconv.Itoa(k))
			i += n - 1
		default:
			b.WriteString(p.query[p.ts[i].from:p.ts[i].to])
		}
		if end := p.ts[min(i, len(p.ts)-1)].to; i+1 < len(p.ts) && p.ts[i+1].from > end || word {
			b.WriteByte(' ')
		}
	}
	return b.String()
}

func (p *parser) aliased(name string) bool { _, ok := p.alias[name]; return ok }

// aggregate reads an aggregate from token *i on, and leaves *i at its last token.
func (p *parser) aggregate(i *int, name string) string {
	a, n := aggregate{name, allRows}, 1
	if p.text(*i+2) != "*" || name != "count" {
		var ok bool
		if a.column, n, ok = p.column(*i + 2); !ok {
			p.fail()
		}
	}
	if *i += 2 + n; p.text(*i) != ")" || !p.ok {
		p.fail()
		return ""
	}
	if a.column >= 0 && name != "count" {
		switch p.g.table.Columns[a.column].Type {
		case relation.Real: // sums depend on the order
			p.fail()
		case relation.Text:
			if name != "min" && name != "max" {
				p.fail()
			}
		}
	} else if a.column == allRecordings && name != "count" {
		p.fail()
	}
	k := slices.Index(p.g.sums, a)
	if k < 0 {
		k, p.g.sums = len(p.g.sums), append(p.g.sums, a)
	}
	return "a" + strconv.Itoa(k)
}

// conditions reads comparisons of columns with numbers and texts, joined by AND.
func (p *parser) conditions() {
	for p.ok {
		column, n, ok := p.column(p.at)
		if !ok {
			p.fail()
			return
		}
		p.at += n
		c := condition{column: column}
		switch {
		case p.take("is", "null"):
			c.null = true
		case p.take("is", "not", "null"):
			c.anything = true
		case p.take("between"):
			if from, to := p.number(column), int64(0); p.take("and") {
				to = p.number(column)
				c.ranges = [][2]int64{{from, to}}
			} else {
				p.fail()
			}
		case p.take("in", "("):
			for p.literal(&c, "="); p.take(","); {
				p.literal(&c, "=")
			}
			if !p.take(")") {
				p.fail()
			}
		default:
			op := ""
			for ; p.at < len(p.ts) && strings.Contains("=<>!", p.text(p.at)) && len(op) < 3; p.at++ {
				op += p.text(p.at)
			}
			p.literal(&c, op)
		}
		p.g.where = append(p.g.where, c)
		if !p.take("and") {
			return
		}
	}
}

// literal reads what a column is compared with.
func (p *parser) literal(c *condition, op string) {
	if c.not = op == "!=" || op == "<>"; c.not || op == "==" {
		op = "="
	}
	if p.at < len(p.ts) && p.ts[p.at].kind == textToken {
		s := p.text(p.at)
		if op != "=" || !p.isText(c.column) || len(s) < 2 || s[len(s)-1] != '\'' {
			p.fail()
			return
		}
		c.texts = append(c.texts, s[1:len(s)-1])
		p.at++
		return
	}
	n := p.number(c.column)
	switch op {
	case "=":
		c.ranges = append(c.ranges, [2]int64{n, n})
	case "<":
		c.ranges = append(c.ranges, [2]int64{math.MinInt64, n - 1})
	case "<=":
		c.ranges = append(c.ranges, [2]int64{math.MinInt64, n})
	case ">":
		c.ranges = append(c.ranges, [2]int64{n + 1, math.MaxInt64})
	case ">=":
		c.ranges = append(c.ranges, [2]int64{n, math.MaxInt64})
	default:
		p.fail()
	}
}

func (p *parser) isText(column int) bool {
	return column == allRecordings || p.g.table.Columns[column].Type == relation.Text
}

// number reads a whole number for a column of integers.
func (p *parser) number(column int) int64 {
	sign := int64(1)
	if p.take("-") {
		sign = -1
	}
	w := p.text(p.at)
	n, err := strconv.ParseInt(w, 10, 64)
	if f, ferr := strconv.ParseFloat(w, 64); err != nil && ferr == nil && w[0] >= '0' && w[0] <= '9' && f == math.Trunc(f) && f < 1<<53 {
		n, err = int64(f), nil
	}
	if next := p.text(p.at + 1); err != nil || n < 0 || n == math.MaxInt64 || p.isText(column) || p.g.table.Columns[max(0, column)].Type != relation.Integer ||
		next != "" && next != "and" && next != ")" && next != "," && next != "group" && next != "order" && next != "limit" {
		p.fail()
	}
	p.at++
	return sign * n
}
