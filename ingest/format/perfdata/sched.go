package perfdata

import (
	"bytes"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"ashlar/ingest/format/sched"
	"ashlar/ingest/model/recording"
)

// field is the place of a number or text in the data of a tracepoint.
type field struct{ at, size int }

// Layouts of the scheduler's tracepoints in Linux 3 to 6 on 64-bit machines, for files
// that do not contain layouts.
var (
	switchFields = map[string]field{"prev_pid": {24, 4}, "prev_state": {32, 8}, "next_comm": {40, 16}, "next_pid": {56, 4}}
	wakeFields   = map[string]field{"comm": {8, 16}, "pid": {24, 4}}
)

var (
	formatName  = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`name: (sched_\w+)\n`) })
	formatField = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`field:[^;]*?(\w+)(?:\[\d+\])?;\s*offset:(\d+);\s*size:(\d+);`)
	})
)

// tracing reads the layouts of tracepoints from the kernel's text descriptions, which
// come with other data.
func (d *decoder) tracing(b []byte) {
	names := formatName().FindAllSubmatchIndex(b, -1)
	for i, at := range names {
		text := b[at[1]:]
		if i+1 < len(names) {
			text = b[at[1]:names[i+1][0]]
		}
		if end := bytes.Index(text, []byte("print fmt:")); end >= 0 {
			text = text[:end]
		}
		fields := map[string]field{}
		for _, m := range formatField().FindAllSubmatch(text, -1) {
			offset, err1 := strconv.Atoi(string(m[2]))
			size, err2 := strconv.Atoi(string(m[3]))
			if err1 == nil && err2 == nil && offset < 1<<16 && size < 1<<16 {
				fields[string(m[1])] = field{offset, size}
			}
		}
		d.formats[string(b[at[2]:at[3]])] = fields
	}
}

// number returns a numeric field of an event, 0 if it is missing.
func (f field) number(raw []byte) int64 {
	if f.at+f.size > len(raw) {
		return 0
	}
	switch b := raw[f.at:]; f.size {
	case 4:
		return int64(int32(le.Uint32(b)))
	case 8:
		return int64(le.Uint64(b))
	}
	return 0
}

// text returns a text field of an event.
func (f field) text(raw []byte) string {
	if f.at+f.size > len(raw) {
		return ""
	}
	s, _, _ := bytes.Cut(raw[f.at:f.at+f.size], []byte{0})
	return string(s)
}

// schedule processes a scheduler event caused by a thread; at is a time of the recording.
func (d *decoder) schedule(a *attr, raw []byte, at int64, pid, tid int32, cpu int, call recording.CallID) {
	name, ok := strings.CutPrefix(a.name, "sched:")
	if !ok || len(raw) == 0 {
		return
	}
	fields := d.formats[name]
	s := d.states
	s.Owner[int64(tid)] = int64(pid)
	switch name {
	case "sched_switch":
		if fields == nil {
			fields = switchFields
		}
		prev, next := fields["prev_pid"].number(raw), fields["next_pid"].number(raw)
		if next > 0 {
			s.Names[next] = fields["next_comm"].text(raw)
		}
		if a.sampleType&hasCallchain == 0 {
			call = recording.NoCall
		}
		s.Switch(at, int64(cpu), prev, sched.StateOf(fields["prev_state"].number(raw)), call, next)
	case "sched_waking", "sched_wakeup", "sched_wakeup_new":
		if fields == nil {
			fields = wakeFields
		}
		s.Wake(at, int64(tid), call, fields["pid"].number(raw))
	}
}

// onlySched reports whether all events of a recording are the scheduler's.
func (d *decoder) onlySched() bool {
	for _, a := range d.attrs {
		if a.name != "dummy" && !strings.HasPrefix(a.name, "dummy:") && !strings.HasPrefix(a.name, "sched:") {
			return false
		}
	}
	return true
}
