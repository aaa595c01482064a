package convert

import (
	"slices"
	"strings"

	"ashlar/ingest/recording"
)

// writeFolded writes one event as folded stacks: lines of function names from
// the outermost on, with the value of the event's primary metric, which are
// sorted by their text. Stacks that read the same are one line.
//
// A semicolon in a name becomes a colon, since semicolons stand between names,
// and what ends lines a space.
func writeFolded(j *job) error {
	event, err := j.oneEvent()
	if err != nil {
		return err
	}
	j.total = j.rec.Counts.Stacks + j.rec.Counts.Spans
	r, err := j.rowsOf(event)
	if err != nil {
		return err
	}
	f := &folder{job: j, names: make([]string, j.rec.Functions.Len()), sums: map[string]int64{}}
	e := &j.rec.Events[event]
	if len(e.Metrics) == 0 {
		return errNothing
	}
	for i, k := range r.keys {
		if err := f.add(k.call, r.at(i)[e.Primary], r); err != nil {
			return err
		}
	}
	f.losses(event)
	f.loseNotes("the text has stacks only")
	return f.write(e.Metrics[e.Primary].Decimals)
}

type folder struct {
	*job
	names   []string
	changed int64
	sums    map[string]int64
	path    []recording.CallID
	text    []byte
}

// noStack is the line of what has no stack.
const noStack = "[no stack]"

func (f *folder) add(call recording.CallID, v int64, r *rows) error {
	f.text = f.text[:0]
	f.path = f.rec.Calls.Path(f.path[:0], call)
	for i, c := range f.path {
		if i > 0 {
			f.text = append(f.text, ';')
		}
		f.text = append(f.text, f.name(f.rec.Func(c))...)
	}
	if len(f.path) == 0 {
		f.text = append(f.text, noStack...)
	}
	sum, ok := f.sums[string(f.text)]
	if !ok {
		sum = recording.Missing
	}
	r.add(&sum, v)
	f.sums[string(f.text)] = sum
	return f.tick(1)
}

var foldedName = strings.NewReplacer(";", ":", "\n", " ", "\r", " ", "\t", " ")

// name is a function's name as a line can have it.
func (f *folder) name(id recording.FuncID) string {
	if f.names[id] != "" {
		return f.names[id]
	}
	own := f.rec.NameInFile(id)
	name := strings.TrimSpace(foldedName.Replace(own))
	switch {
	case name == "":
		name = "[unnamed]"
	case name[0] == '#', strings.HasPrefix(name, "//"):
		name = "_" + name // a comment, else
	}
	if name != own {
		f.changed++
	}
	f.names[id] = name
	return name
}

func (f *folder) write(decimals int) error {
	lines := make([]string, 0, len(f.sums))
	for text, v := range f.sums {
		if v != recording.Missing {
			lines = append(lines, text)
		}
	}
	slices.Sort(lines)
	for _, text := range lines {
		f.text = append(append(f.text[:0], text...), ' ')
		f.text = append(appendValue(f.text, f.sums[text], decimals), '\n')
		if _, err := f.w.Write(f.text); err != nil {
			return err
		}
		f.Records++
		if err := f.tick(0); err != nil {
			return err
		}
	}
	return nil
}

func (f *folder) losses(event int) {
	rec := f.rec
	const why = "folded stacks are names and a number"
	e := &rec.Events[event]
	f.lose(int64(len(e.Metrics)-1), "metrics", "%s, that of %s", why, e.Metrics[e.Primary].Name)
	if e.Basis == recording.FromSpans {
		f.loseTrace(why)
		f.loseArgs(why)
	} else {
		f.loseMarks(why)
	}
	f.lose(samples(rec), "times of samples", why)
	f.loseWindows(why)
	f.lose(int64(rec.Contexts.Len()-1), "contexts", why)
	var threads, modules, places int64
	for _, t := range rec.Tracks {
		if t.Spans() > 0 || len(t.Samples) > 0 {
			threads++
		}
	}
	f.lose(threads, "threads", why)
	for i := range rec.Functions.Len() {
		if rec.Functions.At(i).Module != "" {
			modules++
		}
	}
	f.lose(modules, "modules of functions", why)
	for i := range rec.Frames.Len() {
		if fr := rec.Frames.At(i); fr.Addr != 0 || fr.Line != 0 {
			places++
		}
	}
	f.lose(places, "addresses and source lines of frames", why)
	f.lose(f.changed, "names", "they hold a semicolon or another sign that a line cannot; it was replaced")
}
