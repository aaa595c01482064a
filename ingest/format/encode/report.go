package encode

import (
	"fmt"

	"ashlar/ingest/model/recording"
)

// Report describes the result of a conversion.
type Report struct {
	// Records is the number of records written: lines of SPAA, samples of a profile,
	// events of a trace.
	Records int64
	// Lost lists what could not be converted, in the order of discovery.
	Lost []Loss
}

// Loss is one kind of thing that the target cannot hold.
type Loss struct {
	// What names the things, in the plural: "instants".
	What  string `json:"what"`
	Count int64  `json:"count"`
	// Why is the reason, as half a sentence: "a profile has no timeline".
	Why string `json:"why"`
}

// String returns text like "instants (12): a profile has no timeline".
func (l Loss) String() string { return fmt.Sprintf("%s (%d): %s", l.What, l.Count, l.Why) }

// Lose notes n items that are not converted; n <= 0 is ignored. A repeated loss is added
// to the first one.
func (r *Report) Lose(n int64, what, why string, args ...any) {
	if n <= 0 {
		return
	}
	if len(args) > 0 {
		why = fmt.Sprintf(why, args...)
	}
	for i := range r.Lost {
		if l := &r.Lost[i]; l.What == what && l.Why == why {
			l.Count += n
			return
		}
	}
	r.Lost = append(r.Lost, Loss{what, n, why})
}

// LoseTrace reports everything that only traces hold as lost.
func (j *Job) LoseTrace(why string) {
	c := &j.Rec.Counts
	j.Lose(c.Spans, "span times", "%s; their sums by stack are converted", why)
	j.LoseMarks(why)
}

// LoseProcesses reports the names and labels of processes as lost.
func (j *Job) LoseProcesses(why string) {
	var names int64
	for i := range j.Rec.Processes {
		if j.Rec.Processes[i].Name != "" {
			names++
		}
	}
	j.Lose(names, "names of processes", why)
	j.LoseLabels(why)
}

// LoseLabels reports the process labels as lost.
func (j *Job) LoseLabels(why string) {
	var n int64
	for i := range j.Rec.Processes {
		if j.Rec.Processes[i].Labels != "" {
			n++
		}
	}
	j.Lose(n, "process labels", why)
}

// LoseMarks reports everything in a trace other than spans as lost.
func (j *Job) LoseMarks(why string) {
	rec := j.Rec
	j.Lose(rec.Counts.States, "state times", why)
	j.Lose(rec.Counts.Instants, "instants", why)
	j.Lose(Points(rec), "counter points", why)
	j.Lose(int64(len(rec.Flows)), "flows", why)
}

func Points(rec *recording.Recording) int64 {
	var n int64
	for _, c := range rec.Counters {
		n += int64(c.Len())
	}
	return n
}

// LoseArgs reports the arguments of spans as lost.
func (j *Job) LoseArgs(why string) {
	if j.Rec.Args == nil {
		return
	}
	var n int64
	for _, t := range j.Rec.Tracks {
		for i := range t.Lanes {
			l := &t.Lanes[i]
			for k := range l.Len() {
				if l.Args(k) != 0 {
					n++
				}
			}
		}
	}
	j.Lose(n, "span arguments", why)
}

// LoseWindows reports the windows as lost.
func (j *Job) LoseWindows(why string) {
	var n int64
	for _, w := range j.Rec.Windows {
		n += int64(len(w.Windows))
	}
	j.Lose(n, "windows", why)
}

// LoseNotes reports the file's metadata as lost, for targets that have no place for it.
func (j *Job) LoseNotes(why string) {
	src := &j.Rec.Source
	j.Lose(int64(len(src.Notes))+src.MoreNotes, "file notes", why)
}

// LoseMoreNotes reports the metadata that the recording did not keep as lost.
func (j *Job) LoseMoreNotes() {
	j.Lose(j.Rec.Source.MoreNotes, "file notes", "only the first hundred are kept")
}

// LoseOffsets reports the offsets of frames in their functions as lost.
func (j *Job) LoseOffsets() {
	n := j.frames(func(f *recording.Frame) bool { return f.Offset != 0 })
	j.Lose(n, "function offsets", "frames have only an address")
}

// LosePlaces reports the addresses and source positions of frames as lost.
func (j *Job) LosePlaces(why string) {
	n := j.frames(func(f *recording.Frame) bool {
		return f.Addr != 0 || f.Offset != 0 || f.Line != 0 || SourceFile(j.Rec.Functions.Ref(int(f.Func)), f) != ""
	})
	j.Lose(n, "frame addresses and source lines", why)
}

// LoseModules reports the modules of functions as lost.
func (j *Job) LoseModules(why string) {
	var n int64
	for i := range j.Rec.Functions.Len() {
		if j.Rec.Functions.At(i).Module != "" {
			n++
		}
	}
	j.Lose(n, "function modules", why)
}

// LoseTypes reports the frame types that a target cannot distinguish as lost.
func (j *Job) LoseTypes(why string) {
	n := j.frames(func(f *recording.Frame) bool {
		switch j.Rec.Source.TypeOf(f) {
		case "", "kernel", "native":
			return false
		}
		return true
	})
	j.Lose(n, "frame types", why)
}

// LoseSymbols reports details of frames that only profiles hold, such as types, mappings
// and system names, as lost. It is for targets that hold only names.
func (j *Job) LoseSymbols(why string) {
	j.LoseTypes(why)
	j.Lose(int64(len(j.Rec.Source.Mappings)), "binary mappings", why)
	j.Lose(j.frames(func(f *recording.Frame) bool { return f.StartLine != 0 }), "function start lines", why)
	j.Lose(j.frames(func(f *recording.Frame) bool { return f.Folded }), "marks of folded functions", why)
	var symbols int64
	for i := range j.Rec.Functions.Len() {
		if f := j.Rec.Functions.Ref(i); f.Symbol != "" && !f.Demangled {
			symbols++
		}
	}
	j.Lose(symbols, "function system names", why)
}

func (j *Job) frames(is func(*recording.Frame) bool) (n int64) {
	for i := range j.Rec.Frames.Len() {
		if is(j.Rec.Frames.Ref(i)) {
			n++
		}
	}
	return n
}
