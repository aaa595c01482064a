// Package firefox reads the profiles of the Firefox Profiler: processed profiles of all
// versions, which profiler.firefox.com, samply and many others write; raw Gecko profiles;
// and the profiles that Firefox's DevTools saved before version 98, which contain a raw
// one. All are JSON; see
// https://github.com/firefox-devtools/profiler/tree/main/docs-developer.
//
// A thread is a track with its samples, whose weights and CPU times are exact. Its
// markers are on a track of their own because they may overlap: markers with a duration
// are spans, in rows by name, the others are instants.
//
// Versions differ in the place and form of tables: shared or per thread, parents by index
// or by distance, times or time differences, file names in a table of sources or with the
// function. The reader looks at the data rather than at the version.
//
// A table may come after the tables that refer to it, so all tables are kept until the
// end of the file, in only a few bytes per number.
package firefox

import (
	"bytes"
	"context"
	"errors"

	"ashlar/ingest/format/codec"
	"ashlar/ingest/format/decode"
	"ashlar/ingest/input/jsonscan"
	"ashlar/ingest/input/source"
	"ashlar/ingest/model/recording"
)

// Format is the profile format of the Firefox Profiler and samply.
var Format = codec.Format{
	Name:       "firefox",
	Title:      "Firefox or samply profile",
	Plural:     "Firefox and samply profiles",
	Holds:      "samples with weights and CPU times, markers, counters and allocations of all threads and processes; processed profiles, raw Gecko profiles and those of the old DevTools",
	Extensions: []string{".json", ".profile.json"},
	Sniff:      Sniff,
	Decode:     Decode,
}

// Sniff looks for the keys that both kinds of profiles begin with.
func Sniff(head []byte, whole bool) (decode.Confidence, error) {
	keys := jsonscan.KeysOf(head, whole)
	has := func(word string) bool { return bytes.Contains(head, []byte(word)) }
	switch {
	case keys["traceEvents"] || keys["profiles"]:
		return decode.No, nil
	case keys["label"] && keys["duration"] && keys["markers"] && !keys["meta"]:
		return decode.Certain, nil // saved by the old DevTools
	case keys["meta"] && (has(`"preprocessedProfileVersion"`) || has(`"processType"`) || has(`"interval"`) && has(`"startTime"`)):
		return decode.Certain, nil
	case (keys["threads"] || keys["shared"] || keys["libs"]) && has(`"stackTable"`) && has(`"frameTable"`):
		return decode.Certain, nil // meta is last
	case keys["meta"] && (keys["threads"] || keys["libs"]):
		return decode.Likely, nil
	}
	return decode.No, nil
}

// decoder turns the file into a recording.
type decoder struct {
	b     *recording.Builder
	ctx   context.Context
	texts *decode.Texts
	root  *profile

	ids    map[string]int64 // ids made for processes and threads without a number
	names  map[recording.TrackKey]bool
	origin *decode.Picos // the file's time at picosecond 0, nil until it is known
	sort   int
	events map[string]*event
	spans  bool
	group  map[string]uint32 // by marker name

	samples, markers, points, allocations, threads *recording.Tally
}

// profile holds the data of one process, or of all processes together.
type profile struct {
	from      int64
	meta      meta
	tables    tables // shared by all threads
	threads   []*thread
	counters  []*counter
	processes []*profile
	timeline  timeline
}

// Decode reads a profile into b. If the file is cut or damaged, it reads the part before
// the damage.
func Decode(ctx context.Context, in *source.Input, b *recording.Builder, _ decode.Options) error {
	d := &decoder{b: b, ctx: ctx, texts: new(decode.Texts), root: new(profile),
		ids: map[string]int64{}, names: map[recording.TrackKey]bool{}, events: map[string]*event{}, group: map[string]uint32{}}
	d.threads, d.samples, d.markers = b.Tally("thread"), b.Tally("sample"), b.Tally("marker")
	d.allocations, d.points = b.Tally("allocation"), b.Tally("counter point")
	err := decode.JSON(ctx, in, b, func(s *jsonscan.Stream) { (&reader{d: d, s: s}).profile(d.root, 0) })
	if err != nil {
		return err
	}
	if err := d.build(); err != nil {
		return err
	}
	if d.threads.Read == 0 && d.points.Read == 0 {
		return errors.New("the profile has no threads")
	}
	d.texts.WarnDropped(b, "marker")
	return nil
}

func (d *decoder) tick() error {
	return decode.Tick(d.ctx, d.b)
}

// number returns the id of a process or thread, which may be text.
func (d *decoder) number(raw []byte) int64 {
	text := jsonscan.Plain(raw)
	if text == "" {
		return 0
	}
	if n, ok, fits := decode.ParseNumber([]byte(text)); ok && fits && n.Scale == 0 && n.Mantissa > recording.TextID {
		return n.Mantissa
	}
	id, ok := d.ids[text]
	if !ok {
		id = recording.TextID - int64(len(d.ids))
		d.ids[text] = id
	}
	return id
}
