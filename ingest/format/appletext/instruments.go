package appletext

import (
	"bytes"
	"context"
	"strconv"
	"strings"

	"ashlar/ingest/format/codec"
	"ashlar/ingest/format/decode"
	"ashlar/ingest/format/stacktext"
	"ashlar/ingest/input/source"
	"ashlar/ingest/model/recording"
)

// Instruments is a call tree copied from Instruments (Edit > Deep Copy): tab-separated
// columns with the total, the row's self value and the name, indented by depth.
var Instruments = codec.Format{
	Name:       "instruments",
	Title:      "Instruments call tree",
	Plural:     "Instruments call trees",
	Holds:      "call trees copied from Instruments (Deep Copy): times, bytes or counts by stack",
	Extensions: []string{".instruments.txt", ".tsv"},
	Sniff:      sniffInstruments,
	Decode:     DecodeInstruments,
}

type instrumentsReader struct {
	*tree
	total, own, name int // column indices, -1 for none
	unit             string
}

// DecodeInstruments reads the tree. Rows for processes or threads are frames of the tree,
// as in Instruments.
func DecodeInstruments(ctx context.Context, in *source.Input, b *recording.Builder, _ decode.Options) error {
	d := &instrumentsReader{tree: newTree(b), total: -1, own: -1, name: -1}
	d.event = -1
	b.Source().Tool = "Instruments"
	err := d.sheet.Read(ctx, in, d.line)
	d.tree.tree.Close()
	if none := d.sheet.Close("a call tree copied from Instruments has columns such as Weight, Self Weight and Symbol Name"); err == nil {
		err = none
	}
	return err
}

func (d *instrumentsReader) line(l []byte) {
	if len(bytes.TrimSpace(l)) == 0 {
		return
	}
	columns := strings.Split(string(l), "\t")
	if d.name < 0 {
		d.header(columns)
		d.sheet.SkipLine(d.sheet.Line)
		return
	}
	which := d.own
	if which < 0 {
		which = d.total
	}
	if max(d.name, which) >= len(columns) || strings.TrimSpace(columns[d.name]) == "" {
		d.sheet.LeaveLine(d.sheet.Line, "not-a-row", "is not a row of the call tree and was left out")
		return
	}
	v, unit, ok := quantity(columns[which])
	if !ok {
		d.sheet.LeaveLine(d.sheet.Line, "not-a-row", "has a weight that is not a number and was left out")
		return
	}
	name := columns[d.name]
	d.row(name, unit, v)
}

// row adds a row at the depth of its name's indentation.
func (d *instrumentsReader) row(name, unit string, v int64) {
	if d.event < 0 {
		d.unit = unit
		m := recording.Metric{Name: "count", Unit: "count"}
		switch unit {
		case "ns":
			m.Name, m.Unit = "time", "ns"
		case "bytes":
			m.Name, m.Unit, m.Decimals = "bytes", "bytes", byteDecimals
		}
		d.event = d.sheet.Event(recording.Event{Metrics: []recording.Metric{m}})
	}
	if unit != d.unit && v != 0 {
		d.sheet.LeaveLine(d.sheet.Line, "other-unit", "has a weight in a different unit than earlier rows and was left out")
		return
	}
	trimmed := strings.TrimLeft(name, " ")
	call := d.add(len(name)-len(trimmed), stacktext.Frame{Name: strings.TrimSpace(trimmed)}, v)
	if d.own >= 0 && v != 0 {
		d.sheet.CountCall(d.event, &d.who, call, []int64{v})
	}
}

// header finds the columns.
func (d *instrumentsReader) header(columns []string) {
	for i, c := range columns {
		switch c = strings.TrimSpace(c); {
		case strings.HasPrefix(c, "Symbol Name"):
			d.name = i
		case strings.HasPrefix(c, "Self"):
			d.own = i
		case d.total < 0 && c != "":
			d.total = i
		}
	}
	if d.own < 0 && d.total < 0 {
		d.name = -1
	}
	if d.own >= 0 {
		d.tree.tree.Self = func(recording.CallID, int64, int64) {}
	}
}

// byteDecimals is the number of decimals kept for bytes, because Instruments prints
// thousands of bytes with a fraction.
const byteDecimals = 2

// scales holds the value of each unit in the smallest one: nanoseconds or bytes.
var scales = map[string]struct {
	unit  string
	worth int64
}{
	"": {"", 1}, "ns": {"ns", 1}, "µs": {"ns", 1e3}, "us": {"ns", 1e3}, "ms": {"ns", 1e6}, "s": {"ns", 1e9}, "min": {"ns", 60e9}, "h": {"ns", 3600e9},
	"Bytes": {"bytes", 1}, "bytes": {"bytes", 1}, "B": {"bytes", 1}, "KB": {"bytes", 1 << 10}, "KiB": {"bytes", 1 << 10},
	"MB": {"bytes", 1 << 20}, "MiB": {"bytes", 1 << 20}, "GB": {"bytes", 1 << 30}, "GiB": {"bytes", 1 << 30},
}

// quantity parses "634.00 ms 100.0%", "12.5 KB" and "1,234": into nanoseconds, bytes with
// byteDecimals decimals, or a plain number.
func quantity(s string) (v int64, unit string, ok bool) {
	s = strings.TrimSpace(strings.ReplaceAll(s, ",", ""))
	end := strings.IndexFunc(s, func(r rune) bool { return (r < '0' || r > '9') && r != '.' })
	if end < 0 {
		end = len(s)
	}
	word := ""
	if f := strings.Fields(s[end:]); len(f) > 0 && !strings.HasSuffix(f[0], "%") {
		if _, err := strconv.ParseFloat(f[0], 64); err != nil {
			word = f[0]
		}
	}
	scale, known := scales[word]
	n, isNumber, fits := decode.ParseNumber([]byte(s[:end]))
	if !known || !isNumber || !fits {
		return 0, "", false
	}
	n = n.Round(6)
	worth := scale.worth
	if scale.unit == "bytes" {
		worth *= 100
	}
	if n.Mantissa > (1<<62)/worth {
		return 0, "", false
	}
	v = n.Mantissa * worth
	for range n.Scale {
		v = (v + 5) / 10
	}
	return v, scale.unit, true
}

func sniffInstruments(head []byte, _ bool) (decode.Confidence, error) {
	first, _, _ := bytes.Cut(head, []byte("\n"))
	if bytes.Contains(first, []byte("\tSymbol Name")) && (bytes.HasPrefix(first, []byte("Weight\t")) || bytes.HasPrefix(first, []byte("Running Time\t")) || bytes.Contains(first, []byte("\tSelf")) || bytes.HasPrefix(first, []byte("Bytes Used\t"))) {
		return decode.Certain, nil
	}
	return decode.No, nil
}
