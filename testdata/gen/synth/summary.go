package synth

// A Summary counts the contents of a recording. Times are in ns.
type Summary struct {
	Kind  string `json:"kind"`
	Shape string `json:"shape,omitempty"`
	Seed  uint64 `json:"seed"`
	Bytes int64  `json:"bytes"`

	// Records are all records of the file: events of any kind and names of
	// threads in a trace, lines of SPAA and folded stacks, samples of pprof.
	Records int64 `json:"records"`

	Spans   int64 `json:"spans"`
	Samples int64 `json:"samples"`
	Stacks  int64 `json:"stacks"` // stack records, not distinct stacks
	Windows int64 `json:"windows"`

	// Functions counts the functions that occur in a span or a stack. Paths counts the
	// different call paths of the spans and stacks, including the paths that lead to
	// them; it is 0 for stacks that share hardly any path, because counting them would
	// take much memory. MaxDepth is 1 for a root.
	Functions int `json:"functions"`
	Paths     int `json:"paths"`
	MaxDepth  int `json:"max_depth"`

	Start    int64 `json:"start_ns"` // the first event, in the file's own time
	End      int64 `json:"end_ns"`   // the last event
	Duration int64 `json:"duration_ns"`

	SpanTime int64 `json:"span_time_ns"` // total duration of all spans
	RootTime int64 `json:"root_time_ns"` // total duration of the outermost spans

	Weights []Weight `json:"weights,omitempty"` // weights of stacks
	// WindowWeight is the sum of all windows' weights (metric period).
	WindowWeight int64 `json:"window_weight,omitempty"`

	// Threads lists all threads of the program; a short recording may contain no records
	// of some.
	Threads []Thread `json:"threads"`
}

// A Weight is the sum of a metric over all stacks of an event.
type Weight struct {
	Event   string `json:"event,omitempty"`
	Metric  string `json:"metric"`
	Unit    string `json:"unit,omitempty"`
	Primary bool   `json:"primary"`
	Total   int64  `json:"total"`
}

// A Thread is a thread of the recording.
type Thread struct {
	PID     int    `json:"pid"`
	TID     int    `json:"tid"`
	Name    string `json:"name"`
	Spans   int64  `json:"spans"`
	Samples int64  `json:"samples"`
}

func newSummary(p *program) *Summary {
	s := &Summary{}
	for _, t := range p.threads {
		s.Threads = append(s.Threads, Thread{PID: t.pid, TID: t.tid, Name: t.name})
	}
	return s
}

// at widens the recording's time to hold t.
func (s *Summary) at(t int64) {
	if s.Start == 0 || t < s.Start {
		s.Start = t
	}
	if t > s.End {
		s.End = t
	}
}

// count sets the numbers of functions and paths seen; seen marks the calls.
func (s *Summary) count(p *program, seen []bool) {
	funcs := make([]bool, len(p.funcs))
	for i, is := range seen {
		if is {
			funcs[p.calls[i].fn] = true
			if p.wander == nil {
				s.Paths++
			}
		}
	}
	for _, is := range funcs {
		if is {
			s.Functions++
		}
	}
}
