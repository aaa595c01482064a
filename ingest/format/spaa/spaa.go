// Package spaa decodes SPAA recordings. The library for the format itself is package
// ashlar/spaa.
//
// All cores parse lines into compact batches, one per piece of the file. The goroutine
// that owns the builder merges them in file order, so the result depends neither on how
// the file was split nor on the number of workers.
//
// # Choices and repairs
//
// The format leaves some choices, and files break its rules:
//
//   - Every stack record is kept, even if its id repeats. A sample's id refers
//     to the record of its event and thread, else of its event and process,
//     else of its event, else to the first record. Records may come after the
//     samples and windows that refer to them.
//   - If a dso, frame, thread or header is defined twice, the first definition
//     counts. Frames and dsos may follow the records that refer to them; missing
//     ones are shown as "[missing frame N]" and "[missing dso]".
//   - Values are exact: a metric has as many decimals (at most 9) as its finest
//     value. A metric that first appears late is missing from earlier records.
//   - A sample's period is the value of the event's metric "period" or, if the
//     event has none, of its primary metric, unless that counts samples.
//   - An event whose stack records carry no weights takes its values from its
//     samples ([recording.FromSamples]).
//   - Stack records of type user and kernel that name each other as related are
//     halves of one stack; see [halves].
//   - The spec does not say whether a window's times are absolute or relative
//     to the start of the time range: see [merger.placeWindows].
package spaa

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"regexp"
	"runtime"

	"ashlar/ingest/format/codec"
	"ashlar/ingest/format/decode"
	"ashlar/ingest/input/safetext"
	"ashlar/ingest/input/source"
	"ashlar/ingest/model/recording"
	format "ashlar/spaa"
)

// Format is the SPAA decoder.
var Format = codec.Format{
	Name:       "spaa",
	Title:      "SPAA",
	Holds:      "stacks with all events and metrics, samples, windows",
	Extensions: []string{".spaa"},
	Sniff:      sniff,
	Decode:     Decode,
	Encode:     &codec.Encoder{Extensions: []string{".spaa"}, Windows: true, Write: write, Copy: copyRecords},
}

// sniffLines is the maximum number of lines that sniff examines: a file may begin with
// damaged lines.
const sniffLines = 16

// heapDiff finds the format key of the reports that some SPAA tools write.
var heapDiff = regexp.MustCompile(`"format"\s*:\s*"heap-diff"`)

// sniff looks for a header, whatever the order of its keys, and for records
// that only SPAA has.
func sniff(head []byte, whole bool) (decode.Confidence, error) {
	head = bytes.TrimPrefix(head, bom)
	if c := bytes.TrimLeft(head, " \t\r\n"); len(c) == 0 || c[0] != '{' {
		return decode.No, nil
	}
	var (
		p    format.Parser
		best = decode.No
	)
	rest := head
	for n := 0; n < sniffLines && len(rest) > 0; n++ {
		line, after, ended := bytes.Cut(rest, []byte{'\n'})
		rest = after
		rec, err := p.Parse(string(line))
		if err != nil {
			var syntax *format.SyntaxError
			if errors.As(err, &syntax) && syntax.AtEnd && !ended && !whole && n == 0 && bytes.Contains(line, []byte(`"frame_order"`)) {
				best = max(best, decode.Likely) // the header is longer than head
			}
			continue
		}
		c, err := sniffRecord(rec, &p)
		if err != nil || c == decode.Certain {
			return decode.Certain, err
		}
		best = max(best, c)
	}
	if best == decode.No && heapDiff.Match(head) {
		return decode.Certain, &format.FormatError{Format: "heap-diff"}
	}
	return best, nil
}

func sniffRecord(rec format.Record, p *format.Parser) (decode.Confidence, error) {
	switch rec := rec.(type) {
	case *format.Unknown:
		return decode.No, nil
	case *format.Header:
		switch err := rec.OtherFormat(); {
		case err == nil:
			return decode.Certain, nil
		case rec.Format == "heap-diff":
			return decode.Certain, err
		}
		return decode.No, nil
	}
	if p.Missing() == nil {
		return decode.Likely, nil
	}
	return decode.No, nil
}

var bom = []byte("\xef\xbb\xbf")

// Decode reads a SPAA file into b. The error is one sentence that names the file; b then
// holds everything read before.
func Decode(ctx context.Context, in *source.Input, b *recording.Builder, opt decode.Options) error {
	workers := opt.Workers
	if workers <= 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	defer context.AfterFunc(ctx, in.Stop)()
	s := &splitter{in: in}
	pre, err := findHeader(ctx, s)
	if err != nil {
		return err
	}
	m := newMerger(ctx, b)
	if pre.header != nil {
		m.header(pre.header, pre.line)
	}
	err = runPipeline(ctx, s, pre, workers, m)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if ferr := m.finish(); err == nil {
		err = ferr
	}
	if err != nil {
		return err
	}
	return m.verdict(in.Path)
}

// verdict returns an error if the file has nothing to show.
func (m *merger) verdict(path string) error {
	if m.headerSeen || m.shown > 0 {
		return nil
	}
	what := "is empty"
	if m.line > 0 {
		what = fmt.Sprintf("has no SPAA header (a first line like %s) and no valid stack or sample record in %s",
			`{"type":"header","format":"spaa",…}`, safetext.Plural(m.line, "line"))
		if m.firstBad != "" {
			what += "; first problem: " + m.firstBad
		}
	}
	return &source.Error{Path: path, What: what}
}
