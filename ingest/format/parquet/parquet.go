// Package parquet reads and writes Apache Parquet files (https://parquet.apache.org). It writes
// the tables of a recording (see package relation), which databases and notebooks read, and
// reads files with the columns of spans, samples or stacks, such as the results of queries.
package parquet

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"strings"

	"ashlar/ingest/format/codec"
	"ashlar/ingest/format/decode"
	"ashlar/ingest/input/safetext"
	"ashlar/ingest/input/source"
	"ashlar/ingest/model/recording"
)

// Format is Apache Parquet.
var Format = codec.Format{
	Name:       "parquet",
	Title:      "Parquet",
	Plural:     "Parquet files",
	Holds:      "spans, samples or stacks, one per row, such as the result of a query",
	Extensions: []string{".parquet"},
	Sniff:      sniff,
	Decode:     Decode,
}

func sniff(head []byte, _ bool) (decode.Confidence, error) {
	switch {
	case bytes.HasPrefix(head, []byte(magic)):
		return decode.Certain, nil
	case bytes.HasPrefix(head, []byte(magicEncrypted)) && len(head) > 4:
		return decode.Likely, errEncrypted
	}
	return decode.No, nil
}

// column is a leaf that is read.
type column struct {
	*leaf
	index int
	name  string // for arguments, labels and metrics
	exp   int    // of times
	r     *reader
	row   []value // the values of the current row
}

// one returns the value of a column with one value in a row, NULL for no column.
func (c *column) one() *value {
	if c == nil {
		return &value{null: true}
	}
	return &c.row[0]
}

func (c *column) text() string {
	if c == nil {
		return ""
	}
	return c.leaf.text(&c.row[0])
}

type loader struct {
	ctx   context.Context
	b     *recording.Builder
	f     *file
	tally *recording.Tally
	row   int64

	by      [roles]*column
	args    []*column // spans: columns that become arguments
	metrics []*column
	labels  []*column // stacks: columns that become labels
	read    []*column
	event   int
	origin  decode.Picos
	texts   decode.Texts

	frames  map[string]recording.FrameID
	stacks  map[string]recording.CallID
	tracks  map[string]*recording.TrackBuilder
	procs   map[string]int64
	key     []byte
	list    []recording.FrameID
	values  []int64
	attrs   []recording.Attr
	threads int64
}

// Decode reads all rows into b.
func Decode(ctx context.Context, in *source.Input, b *recording.Builder, _ decode.Options) error {
	content, err := in.All(math.MaxInt64)
	if err != nil {
		return err
	}
	f, err := openFile(content)
	if err != nil {
		return err
	}
	if f.table() == "recordings" {
		return decodeTables(ctx, in.Path, b)
	}
	d := &loader{
		ctx: ctx, b: b, f: f, tally: b.Tally("row"), frames: map[string]recording.FrameID{}, stacks: map[string]recording.CallID{},
		tracks: map[string]*recording.TrackBuilder{}, procs: map[string]int64{},
	}
	b.Source().Tool = f.tool
	add, err := d.choose()
	if err != nil {
		return err
	}
	if err := d.anchor(); err != nil {
		return err
	}
	b.SetArgs(d.texts.Text)
	err = d.rows(add)
	d.texts.WarnDropped(b, "row")
	if err == nil && d.tally.Read == 0 {
		err = errors.New("the Parquet file has no rows")
	}
	return err
}

// use marks a leaf as read.
func (d *loader) use(leaf int, name string) *column {
	c := &column{leaf: &d.f.leaves[leaf], index: leaf, name: name, row: make([]value, 1)}
	d.read = append(d.read, c)
	return c
}

// choose finds the columns of spans, samples or stacks, and returns the function that adds a
// row.
func (d *loader) choose() (add func(), err error) {
	fields, table := d.f.fields(), d.f.table()
	found := [roles]*field{}
	for r := range roles {
		found[r] = d.f.find(fields, r)
	}
	x := found[roleThread]
	if x != nil && found[roleTID] == nil && numeric(&d.f.leaves[x.leaves[0]]) {
		found[roleThread], found[roleTID] = nil, x
	}
	x = found[roleProcess]
	if x != nil && found[rolePID] == nil && numeric(&d.f.leaves[x.leaves[0]]) {
		found[roleProcess], found[rolePID] = nil, x
	}
	for r, x := range found {
		if x == nil {
			continue
		}
		leaf := x.leaves[0]
		if role(r) == roleStack {
			leaf = d.f.stackLeaf(x)
		}
		d.by[r] = d.use(leaf, x.name)
		_, d.by[r].exp, _ = unitOf(x.name)
	}
	spans := d.by[roleStack] == nil && d.by[roleStart] != nil && (d.by[roleEnd] != nil || d.by[roleDuration] != nil)
	var others []string
	for _, x := range fields {
		if x.used || table != "" && x.name != "value" {
			continue
		}
		switch l := &d.f.leaves[x.leaves[0]]; {
		case spans && len(d.args) < maxArgs && d.argFields(x):
		case spans || !d.f.flat(x):
			others = append(others, safetext.Short(x.name))
		case numeric(l) && !isID(x.name):
			d.metrics = append(d.metrics, d.use(x.leaves[0], x.name))
		case d.by[roleStart] == nil && isText(l):
			d.labels = append(d.labels, d.use(x.leaves[0], x.name))
		default:
			others = append(others, safetext.Short(x.name))
		}
	}
	named, timed := d.by[roleName] != nil || d.by[roleStack] != nil, d.by[roleStart] != nil
	switch {
	case table != "" && (!named || !timed && len(d.metrics) == 0):
		return nil, fmt.Errorf("this is the table %q of a recording, without spans, samples or stacks. Open the table spans, or the recording itself", safetext.Short(table))
	case !named:
		return nil, fmt.Errorf("the Parquet file has no column %q, %q or %q of spans, samples or stacks. Its columns: %s", "name", "function", "stack", safetext.Short(d.f.columnList(fields)))
	case !timed && len(d.metrics) == 0 && d.by[roleStack] == nil:
		return nil, fmt.Errorf("the Parquet file has names, but neither times (such as %q and %q) nor values. Its columns: %s", "start", "duration", safetext.Short(d.f.columnList(fields)))
	}
	if len(others) > 0 {
		d.b.Remark("columns-unused", "", "%s not shown: %s", safetext.Plural(len(others), "column"), strings.Join(others[:min(len(others), 10)], ", "))
	}
	if table == "spans" {
		d.b.Remark("threads-by-number", "", "The table spans has no names of threads and processes, and does not tell async operations apart: they count like other spans")
	}
	if table == "samples" || table == "stacks" || table == "window_stacks" {
		d.b.Warn("innermost-only", "", "The table %s has only the innermost function of each stack", table)
	}
	switch {
	case spans:
		d.event = d.b.AddEvent(recording.SpanEvent())
		return d.span, nil
	case timed:
		d.addEvent(recording.Event{Kind: "sample", Basis: recording.FromSamples})
		return d.sample, nil
	}
	d.addEvent(recording.Event{Basis: recording.FromStacks})
	return d.stack, nil
}

// maxArgs is the maximum number of columns that become arguments.
const maxArgs = 64

// argFields makes the leaves of a field arguments.
func (d *loader) argFields(x *field) bool {
	for _, i := range x.leaves {
		if d.f.leaves[i].maxRep > 0 {
			return false
		}
	}
	for _, i := range x.leaves {
		d.args = append(d.args, d.use(i, d.f.leaves[i].name()))
	}
	return true
}

// isID reports whether a column numbers things, so that its values cannot be added up.
func isID(name string) bool {
	return name == "id" || name == "depth" || name == "cpu" || name == "line" || strings.HasSuffix(name, "_id")
}

// addEvent adds the event of samples or stacks, with a metric for each column of numbers.
func (d *loader) addEvent(e recording.Event) {
	for _, c := range d.metrics {
		m := recording.Metric{Name: c.name, PerSample: recording.SampleColumn}
		switch base, exp, known := unitOf(c.name); {
		case known:
			m.Name, m.Unit = base, map[int]string{0: "ns", 3: "ns", 6: "us", 9: "ms", 12: "s"}[exp]
			c.exp = exp
		case base == "bytes" || strings.HasSuffix(base, "_bytes"):
			m.Unit = "bytes"
		}
		e.Metrics = append(e.Metrics, m)
	}
	if e.Metrics == nil {
		e.Metrics = []recording.Metric{{Name: "samples", Unit: "count", PerSample: recording.SampleOne}}
	}
	d.event = d.b.AddEvent(e)
	for i, c := range d.metrics {
		if _, exp, known := unitOf(c.name); known && exp == 0 {
			d.b.SetDecimals(d.event, i, 3)
		}
	}
}

// anchor finds the time from which the recording counts.
func (d *loader) anchor() error {
	start := d.by[roleStart]
	if start == nil {
		return nil
	}
	var times []decode.Picos
	each := 1 + 4096/max(1, len(d.f.groups))
	for g := range d.f.groups {
		r, err := newReader(d.f, start.leaf, &d.f.groups[g].chunks[start.index])
		if err != nil {
			return nil // rows says so
		}
		var v value
		for i := 0; i < each && r.next(&v); i++ {
			if t, ok := start.time(&v, start.exp); ok {
				times = append(times, t)
			}
		}
		if err := d.ctx.Err(); err != nil {
			return err
		}
	}
	exp := start.exp
	if start.means == asTimestamp {
		exp = start.leaf.exp
	}
	clock := d.b.Clock()
	clock.Unit = map[int]string{0: "ps", 3: "ns", 6: "us", 9: "ms", 12: "seconds"}[exp]
	clock.PerUnit = int64(math.Pow10(exp))
	if len(times) == 0 {
		return nil
	}
	t := times[decode.Anchor(times)]
	if _, ok := t.Since(decode.Picos{}); ok {
		return nil // count from the file's own zero
	}
	d.origin = t
	clock.Origin = recording.Decimal{Mantissa: t.Mantissa, Scale: t.Scale + exp}
	return nil
}

// rows reads all rows.
func (d *loader) rows(add func()) error {
	for g := range d.f.groups {
		group := &d.f.groups[g]
		for _, c := range d.read {
			r, err := newReader(d.f, c.leaf, &group.chunks[c.index])
			if err != nil {
				return err
			}
			c.r = r
		}
		for range group.rows {
			if d.row++; d.row%256 == 0 {
				d.b.Progress()
				if err := d.ctx.Err(); err != nil {
					return err
				}
			}
			for _, c := range d.read {
				if err := c.move(); err != nil {
					return d.damaged(err)
				}
			}
			d.tally.Read++
			add()
		}
	}
	return nil
}

// damaged returns the error for a row that cannot be read, or warns if rows before it could.
func (d *loader) damaged(err error) error {
	if d.row == 1 || errors.Is(err, errEncrypted) {
		return err
	}
	d.b.Warn("damaged", d.place(), "The file is damaged at row %d: %v. Everything before is shown", d.row, err)
	return nil
}

func (d *loader) place() string { return fmt.Sprintf("row %d", d.row) }

// move reads the values of the next row.
func (c *column) move() error {
	c.row = c.row[:1]
	if !c.r.next(&c.row[0]) {
		return cmp.Or(c.r.err, fmt.Errorf("the column %q has too few values", c.leaf.name()))
	}
	for c.r.inner() {
		if len(c.row) == maxFrames {
			return fmt.Errorf("a list in the column %q has more than %d values", c.leaf.name(), maxFrames)
		}
		c.row = append(c.row, value{})
		if !c.r.next(&c.row[len(c.row)-1]) {
			return cmp.Or(c.r.err, fmt.Errorf("the column %q has too few values", c.leaf.name()))
		}
	}
	return c.r.err
}

// maxFrames is the maximum number of frames of a stack.
const maxFrames = 1 << 20

// leave leaves the row out.
func (d *loader) leave(code, why string) {
	d.tally.Leave(d.place())
	d.b.Warn(code, d.place(), "Rows %s and were left out, first row %d", why, d.row)
}
