package perfscript

import (
	"bytes"
	"strconv"
	"strings"

	"ashlar/ingest/model/recording"
)

// meta is the content of the comments of `perf script --header`, and the sum of all
// periods.
type meta struct {
	version, command string
	events           map[string]sampling
	total            int64
	notes            recording.Source // only its notes are used
}

// sampling is how an event was sampled.
type sampling struct {
	every int64 // a period, or a rate in Hz
	freq  bool
}

// comment reads a line that begins with #.
func (m *meta) comment(l []byte) {
	key, value, ok := bytes.Cut(bytes.TrimLeft(l, "# "), []byte(":"))
	if !ok {
		return
	}
	v := strings.TrimSpace(string(value))
	switch strings.TrimSpace(string(key)) {
	case "perf version":
		m.version = v
	case "cmdline":
		m.command = v
	case "event":
		m.event(v)
	case "hostname":
		m.notes.Note(recording.NoteHost, v)
	case "captured on":
		m.notes.Note(recording.NoteTime, v)
	case "os release", "arch", "nrcpus online", "cpudesc", "total memory":
		m.notes.Note(strings.TrimSpace(string(key)), v)
	}
}

// event reads "name = cycles, …, { sample_period, sample_freq } = 199, …,
// freq = 1, …".
func (m *meta) event(s string) {
	value := func(key string) string {
		i := strings.Index(s, key+" = ")
		if i < 0 {
			return ""
		}
		v, _, _ := strings.Cut(s[i+len(key)+3:], ",")
		return strings.TrimSpace(v)
	}
	name := value("name")
	every, err := strconv.ParseInt(value("{ sample_period, sample_freq }"), 10, 64)
	if name == "" || err != nil {
		return
	}
	if m.events == nil {
		m.events = map[string]sampling{}
	}
	m.events[name] = sampling{every, strings.Contains(s, ", freq = 1")}
}

// apply copies the metadata into the recording.
func (m *meta) apply(b *recording.Builder) {
	if m.version != "" {
		b.Source().Tool = "perf " + m.version
	}
	b.Source().Command = m.command
	b.Source().Notes = m.notes.Notes
	for i := range b.Events() {
		e := b.Event(i)
		s, ok := m.events[e.Name]
		switch {
		case !ok:
		case s.freq:
			e.Mode, e.Frequency = "frequency", float64(s.every)
		case e.Mode == "period":
			e.Period = s.every
		}
	}
}

// softwareEvents are the events that the kernel itself counts (see perf list).
var softwareEvents = map[string]bool{
	"cpu-clock": true, "task-clock": true, "page-faults": true, "faults": true, "minor-faults": true, "major-faults": true,
	"context-switches": true, "cs": true, "cpu-migrations": true, "migrations": true, "alignment-faults": true,
	"emulation-faults": true, "dummy": true, "bpf-output": true, "cgroup-switches": true,
}

// EventKind distinguishes tracepoints ("sched:sched_switch"), software events and
// hardware events. Modifiers (":u", ":ppp") follow the name.
func EventKind(name string) string {
	base, mod, colon := strings.Cut(name, ":")
	switch {
	case name == "":
		return ""
	case softwareEvents[base]:
		return "software"
	case colon && strings.Trim(mod, "ukhpPGHSDWIeb") != "":
		return "probe"
	}
	return "hardware"
}

// PeriodUnit returns the unit of an event's period.
func PeriodUnit(name string) string {
	base, _, _ := strings.Cut(name, ":")
	switch base {
	case "cpu-clock", "task-clock":
		return "ns"
	}
	return "events"
}

func itoa(n int64) string { return strconv.FormatInt(n, 10) }
