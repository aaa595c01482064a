package spaa

import "slices"

// Severity determines whether breaking a rule makes a file invalid.
type Severity uint8

// A file is valid when it breaks no rule of severity Error.
const (
	Error Severity = iota
	Warning
)

// String returns "error" or "warning".
func (s Severity) String() string {
	if s == Error {
		return "error"
	}
	return "warning"
}

// A Rule is a requirement that [Validate] checks: one of the specification, or one that
// follows from it by common sense.
type Rule struct {
	ID       string
	Section  string // section of the SPAA 1.0 specification
	Severity Severity
	Demand   string // the requirement, as a sentence
	Found    string // how a breach is found
}

// Rules returns the table of all rules that [Validate] checks.
func Rules() []Rule { return slices.Clone(rules) }

var ruleIndex = func() map[string]int {
	m := make(map[string]int, len(rules))
	for i, r := range rules {
		m[r.ID] = i
	}
	return m
}()

// Requirements on programs that read or write SPAA are not in the table, because no file
// can break them: that parsers can work in one pass (§2; Reader and Validate read once,
// and Writer enforces the order), that samples without mode frequency do not measure time
// (§3.1; nothing here converts weights to time), that local stack ids are not compared
// between files (§4.1; ContentID does not hash them), and that unknown context keys are
// preserved (§4.3; every object keeps them in Extra). The table is in the order of the
// specification. Rules are errors if the spec says MUST or required, or if §7 says to
// reject the file; SHOULD and doubtful data are warnings.
var rules = []Rule{
	{"utf8", "2", Error, "The encoding is UTF-8", "a line has bytes that are not UTF-8"},
	{"bom", "2", Warning, "UTF-8 text needs no byte order mark", "the file begins with the bytes EF BB BF"},
	{"line-end", "2", Warning, "Lines end with a line feed", "a line ends with carriage return and line feed"},
	{"blank-line", "2", Warning, "Each line is a record", "a line has only white space"},
	{"json-object", "2", Error, "Each line is a single JSON object", "a line does not parse as one strict JSON object"},
	{"line-length", "2", Error, "A line fits in memory", "a line is longer than the limit"},
	{"cut-line", "2", Error, "The last line is whole", "the file ends in the middle of the last line"},
	{"type", "2", Error, "Each record has a type", `"type" is absent or not a string`},
	{"record-type", "2", Warning, "Record types are in the spec", "a record has an unknown type; it is kept"},
	{"duplicate-key", "2", Warning, "An object has no key twice", "a key occurs twice; the last one counts"},
	{"unknown-key", "2", Warning, "Record keys are in the spec", "a record has an unknown key outside its context, or a header or frame has one without a namespace prefix (x_vendor_key); it is kept"},
	{"required-key", "3", Error, "A record has every required key", "a required key is absent, null or of the wrong JSON type"},
	{"key-type", "3", Error, "The values of known keys have the JSON type in the spec", "a known key has a value of a different JSON type"},
	{"dictionary-first", "2", Error, "Dictionary records (dso, frame, thread) appear before the records that reference them", "a record refers to a dictionary record that comes later"},

	{"header-first", "2", Error, "The header record appears first", "the first record is not a header"},
	{"header-once", "3.1", Error, "Exactly one header exists", "the file has no header, or two"},
	{"format", "3.1", Error, `The format is "spaa"`, "the header's format is missing or different, such as heap-diff; then nothing else is checked"},
	{"version", "3.1", Warning, `The version is "1.0"`, "the header has a different version"},
	{"source-tool", "7", Warning, "The source tool is known", "source_tool is absent or not in this package's list"},
	{"frame-order", "3.1", Error, `frame_order is "leaf_to_root" or "root_to_leaf"`, "the header has a different value or none"},
	{"stack-id-mode", "3.1", Error, `stack_id_mode is "content_addressable" or "local"`, "the header has a different value or none"},
	{"event-name", "3.1", Error, "Each event has a name", "an event's name is absent or empty"},
	{"event-name-unique", "3.1", Warning, "Event names are unique", "two events have the same name"},
	{"event-kind", "3.1", Error, "An event's kind is hardware, software, allocation, deallocation, timer or probe", "an event has a different kind or none"},
	{"event-sampling", "3.1", Error, "Each event has a sampling object", "an event has no sampling object"},
	{"sampling-mode", "3.1", Error, "The sampling mode is period, frequency or event", "an event has a different mode or none"},
	{"sampling-primary", "3.1", Error, "The sampling object names the primary metric", "primary_metric is absent or empty"},
	{"wall-clock", "3.1", Warning, "Time per sample needs mode frequency and the frequency", "the mode is frequency, but frequency_hz is absent or not positive"},
	{"time-range", "3.1", Warning, "The time range starts before it ends", "time_range.end is before time_range.start, or one of them is missing"},
	{"time-unit", "3.1", Warning, "Times have a known unit", "the unit of the time range or of a window is absent or not known"},

	{"dso-id-unique", "3.2", Error, "The id of a dso is unique within the file", "two dso records have the same id"},
	{"dso-kernel", "3.2", Error, "Kernel DSOs set is_kernel to true", "a dso named like a kernel image or module, or in brackets and with kernel frames, does not set it"},
	{"build-id-format", "3.2", Error, "A build id is lower-case hexadecimal digits without separators", "a build id has other characters or is empty"},
	{"build-id-missing", "3.2", Warning, "A build id is included when available", "a dso with a path has no build id, although others have one"},
	{"frame-id-unique", "3.3", Error, "A frame id names one frame", "two frame records have the same id"},
	{"frame-dso", "3.3", Error, "A frame references a valid dso", "the frame's dso is absent, or the file has no such dso"},
	{"frame-kind", "3.3", Error, "A frame's kind is user, kernel or unknown", "a frame has a different kind or none"},
	{"frame-kernel-dso", "3.2", Warning, "Kernel frames lie in kernel DSOs", "a frame of kind kernel has a dso with a path and is_kernel false"},
	{"func-address", "3.3", Warning, "An unresolved func is the raw address as hexadecimal text", "func_resolved is false and func is not hexadecimal"},
	{"hex-address", "3.3", Warning, "ip and symoff are hexadecimal text", `an ip or symoff is not "0x" and hexadecimal digits`},
	{"inline-depth", "3.3", Warning, "inline_depth is 0 for a physical frame and more for an inlined one", "inlined and inline_depth contradict each other"},
	{"inline-order", "3.3", Error, "Frames are ordered by inline depth, deepest first from leaf to root", "adjacent frames at one address have depths in another order, or an inlined frame calls its own physical frame"},
	{"inline-shared", "3.3", Warning, "Inlined frames at one address share dso, ip and symoff", "adjacent frames at one ip, one of them inlined, differ in dso or symoff, or an inlined frame's caller has another ip"},
	{"thread-tid-unique", "3.3", Error, "A tid is unique within the file", "two thread records have the same tid"},
	{"thread-record", "3.3", Warning, "Threads of stacks and samples have records", "no thread record has the tid of a stack or sample"},

	{"stack-id-content", "4.1", Error, "With content_addressable, a stack id is a hash of its frames", "two stacks with the same id have different frames"},
	{"stack-id-unique", "4.1", Warning, "A local stack id is unique within the file", "two stacks have the same id, and stack_id_mode is local"},
	{"stack-id-ambiguous", "4.1", Warning, "Stack id, event, thread and process identify one stack", "two records share id, event, pid, tid and comm; all are kept"},
	{"stack-id-events", "9.4", Warning, "Stack ids are unique across event types", "stacks of two events have the same id"},
	{"stack-frame", "7", Error, "A stack references existing frames", "the file lacks a frame of the stack"},
	{"stack-empty", "4", Warning, "A stack has frames", "the frames of a stack are an empty array"},
	{"stack-type", "4.2", Warning, "stack_type is unified, user or kernel", "stack_type has another value"},
	{"stack-type-frames", "4.2", Warning, "A user stack has no kernel frames, and a kernel stack no user frames", "a frame's kind contradicts the stack's type"},
	{"dtrace-split", "4.2", Warning, "DTrace's user and kernel stacks are separate records", "a unified stack of a DTrace file has both kinds of frames"},
	{"related-stacks", "4.2", Warning, "Related stacks exist", "related_stacks has an id that is not in the file"},
	{"context-event", "4.3", Error, "The header declares the event in a stack's context", "the event is absent or not in the header"},
	{"context-key", "7", Warning, "Context keys are in the spec", "a context has an unknown key; it is kept"},
	{"context-prefix", "4.3", Warning, `Custom context keys have a namespace prefix, as in "x_vendor_key"`, "a custom context key has no prefix"},
	{"primary-metric", "4.4", Error, "The weights include the event's primary metric", "a stack has no value for that metric"},
	{"native-metric", "4.4", Error, "perf stacks keep period; DTrace stacks keep samples or count", "a perf or DTrace stack has no such weight"},
	{"derived-metric", "4.4", Warning, "cpu_time_ns is used only where its derivation is documented and valid", "a stack has cpu_time_ns and its event is not sampled by frequency"},
	{"metric-repeated", "4.4", Warning, "The weights give each metric once", "a metric occurs twice"},
	{"metric-unit", "4.4", Warning, "A metric of an event has one unit", "the stacks of an event give a metric two units"},
	{"metric-suspicious", "7", Warning, "Metric values are plausible", "a value is negative, or the primary metric, the sample count or the period is 0"},
	{"metric-total", "7", Warning, "The values of a metric add up to a number of 64 bits", "the sum is 2^63 or more, too large for most programs"},
	{"exclusive-missing", "4.5", Warning, "exclusive is strongly recommended", "a stack has no exclusive weights"},
	{"exclusive-leaf", "4.5", Error, "exclusive.frame is the leaf of the stack's frames", "exclusive.frame is a different frame"},
	{"frame-order-match", "7", Error, "Stacks have the frame order of the header", "exclusive.frame is the frame at the wrong end of the stack"},
	{"exclusive-metrics", "4.5", Warning, "The exclusive object has the same metrics as the stack", "a metric of the stack is missing, or there is an extra one"},
	{"exclusive-value", "4.5", Warning, "exclusive is at most the stack's weight", "an exclusive value is greater than the stack's"},

	{"sample-stack", "5.1", Error, "A sample references a valid stack record", "the stack's id is not in the file"},
	{"sample-event", "5.1", Warning, "Each sample's event is declared in the header", "the event is not in the header"},
	{"sample-time", "5.1", Warning, "A sample's timestamp is in the unit and epoch of the time range, which encompasses it", "a timestamp is outside the time range"},
	{"sample-period", "5.1", Warning, "All samples of an event have a period, or none has", "some samples of an event have no period, so that they weigh nothing"},
	{"samples-sum", "5.1", Error, "The samples of a stack add up to at most its weight", "the sum of the periods, or the number of samples, is greater than the stack's weight"},
	{"window-stack", "5.2", Warning, "A window references stack records", "the stack's id is not in the file"},
	{"window-range", "5.2", Warning, "A window starts before it ends", "a window ends before it starts"},
	{"windows-sum", "5.2", Error, "The weight of a stack in a window is at most its total weight", "a weight in a window is greater than the stack's weight"},

	{"memory-kind", "9.1", Warning, "Memory metrics belong to events of kind allocation or deallocation", "an event of another kind has a memory metric as its primary metric"},
	{"memory-metrics", "9.2", Warning, "Memory events use the standard metric names", "a stack of a memory event has none of them"},
	{"memory-unit", "9.2", Warning, "The units of the memory metrics are bytes and count", "a memory metric has another unit"},
	{"memory-live", "9.2", Warning, "Live is allocated minus freed", "live is not allocated minus freed, or is greater than allocated"},
	{"memory-peak", "9.2", Warning, "peak_bytes is the high-water mark", "peak_bytes is less than live_bytes"},
	{"memory-frees", "9.1", Warning, "Freed and live metrics need a profiler that tracks frees", "a stack has freed or live metrics, but tracks_frees is false"},
}
