package folded

import (
	"slices"
	"strings"

	"ashlar/ingest/format/encode"
	"ashlar/ingest/format/encode/sums"
	"ashlar/ingest/input/memory"
	"ashlar/ingest/input/safetext"
	"ashlar/ingest/model/recording"
)

// writeFolded writes one event as folded stacks: lines of function names, outermost
// first, and the value of the event's primary metric. Lines are sorted by text. Stacks
// with the same text become one line.
//
// A semicolon in a name becomes a colon, because semicolons separate names. A line break
// in a name becomes a space.
func write(j *encode.Job) error {
	event, err := sums.OneEvent(j)
	if err != nil {
		return err
	}
	j.Total = j.Rec.Counts.Stacks + j.Rec.Counts.Spans
	r, err := sums.Of(j, event)
	if err != nil {
		return err
	}
	f := &folder{Job: j, names: make([]string, j.Rec.Functions.Len()), sums: map[string]int64{}}
	e := &j.Rec.Events[event]
	if len(e.Metrics) == 0 {
		return encode.ErrNothing
	}
	size := f.size(r)
	if err := r.Expect(j, size); err != nil {
		return err
	}
	// The lines are sorted in memory.
	if err := memory.Need(size, "writing folded stacks"); err != nil {
		return err
	}
	for i, k := range r.Keys {
		if err := f.add(k.Call, r.At(i)[e.Primary], r); err != nil {
			return err
		}
	}
	f.losses(event)
	f.LoseNotes("the text has only stacks")
	return f.write(e.Metrics[e.Primary].Decimals)
}

// size returns the length of the rows' lines, without the values.
func (f *folder) size(r *sums.Rows) int64 {
	calls := &f.Rec.Calls
	long := make([]int64, calls.Len()) // by call: the length of its line
	for c := 1; c < len(long); c++ {
		long[c] = 1 + int64(len(f.Rec.FuncName(recording.CallID(c)))) + long[calls.Parent(recording.CallID(c))]
	}
	var sum int64
	for _, k := range r.Keys {
		sum += long[k.Call]
	}
	return sum
}

type folder struct {
	*encode.Job
	names   []string
	changed int64
	sums    map[string]int64
	path    []recording.CallID
	text    []byte
}

// noStack is the stack written for values without a stack.
const noStack = "[no stack]"

func (f *folder) add(call recording.CallID, v int64, r *sums.Rows) error {
	f.text = f.text[:0]
	f.path = f.Rec.Calls.Path(f.path[:0], call)
	for i, c := range f.path {
		if i > 0 {
			f.text = append(f.text, ';')
		}
		f.text = append(f.text, f.name(f.Rec.Func(c))...)
	}
	if len(f.path) == 0 {
		f.text = append(f.text, noStack...)
	}
	sum, ok := f.sums[string(f.text)]
	if !ok {
		sum = recording.Missing
	}
	r.Add(&sum, v)
	f.sums[string(f.text)] = sum
	return f.Tick(1)
}

// name returns a function's name in a form that fits in a line.
func (f *folder) name(id recording.FuncID) string {
	if f.names[id] != "" {
		return f.names[id]
	}
	own := f.Rec.NameInFile(id)
	name := strings.TrimSpace(safetext.Text(strings.ReplaceAll(own, ";", ":")))
	switch {
	case name == "":
		name = "[unnamed]"
	case name[0] == '#', strings.HasPrefix(name, "//"):
		name = "_" + name // otherwise it would be a comment
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
		f.text = append(encode.AppendValue(f.text, f.sums[text], decimals), '\n')
		if _, err := f.W.Write(f.text); err != nil {
			return err
		}
		f.Records++
		if err := f.Tick(0); err != nil {
			return err
		}
	}
	return nil
}

func (f *folder) losses(event int) {
	rec := f.Rec
	const why = "each folded stack is a list of names and a number"
	e := &rec.Events[event]
	f.Lose(int64(len(e.Metrics)-1), "metrics", "%s; only %s is written", why, e.Metrics[e.Primary].Name)
	if e.Basis == recording.FromSpans {
		f.LoseTrace(why)
		f.LoseArgs(why)
	} else {
		f.LoseMarks(why)
	}
	f.Lose(encode.Samples(rec), "sample times", why)
	f.LoseWindows(why)
	f.Lose(int64(rec.Contexts.Len()-1), "contexts", why)
	f.Lose(threads(rec), "threads", why)
	f.LoseProcesses(why)
	f.LoseModules(why)
	f.LosePlaces(why)
	f.LoseSymbols(why)
	f.Lose(f.changed, "names", "semicolons and other invalid characters were replaced")
}

// threads counts the threads that have records.
func threads(rec *recording.Recording) (n int64) {
	used := make([]bool, len(rec.Tracks))
	for _, s := range rec.Stacks {
		for i := 0; s != nil && i < s.Len(); i++ {
			if t := s.Track(i); t != recording.NoTrack {
				used[t] = true
			}
		}
	}
	for i, t := range rec.Tracks {
		if used[i] || t.Spans() > 0 || len(t.Samples) > 0 || t.States.Len() > 0 {
			n++
		}
	}
	return n
}
