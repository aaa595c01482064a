package picture_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"ashlar/app/command"
	"ashlar/app/command/picture"
	"ashlar/ingest"
	"ashlar/ingest/model/recording"
	"ashlar/ingest/query/analyze"
	format "ashlar/spaa"
)

// specFile is a file that follows every rule of the specification.
var specFile = strings.Split(`{"type":"header","format":"spaa","version":"1.0","source_tool":"perf","frame_order":"leaf_to_root","events":[{"name":"cycles","kind":"hardware","sampling":{"mode":"period","primary_metric":"period","sample_period":10}}],"time_range":{"start":100,"end":110,"unit":"seconds"},"stack_id_mode":"content_addressable"}
{"type":"dso","id":1,"name":"/bin/app","build_id":"ab12","is_kernel":false}
{"type":"dso","id":2,"name":"[kernel.kallsyms]","build_id":"cd34","is_kernel":true}
{"type":"frame","id":1,"func":"main","dso":1,"ip":"0x10","kind":"user"}
{"type":"frame","id":2,"func":"run","dso":1,"ip":"0x20","kind":"user"}
{"type":"frame","id":3,"func":"read","dso":2,"ip":"0xff10","kind":"kernel"}
{"type":"thread","pid":7,"tid":8,"comm":"app"}
{"type":"stack","id":"0xa","frames":[2,1],"context":{"event":"cycles","pid":7,"tid":8},"weights":[{"metric":"samples","value":3},{"metric":"period","value":30}],"exclusive":{"frame":2,"weights":[{"metric":"samples","value":3},{"metric":"period","value":30}]}}
{"type":"stack","id":"0xb","frames":[3,2,1],"context":{"event":"cycles","pid":7,"tid":8},"weights":[{"metric":"samples","value":1},{"metric":"period","value":10}],"exclusive":{"frame":3,"weights":[{"metric":"samples","value":1},{"metric":"period","value":10}]}}
{"type":"sample","timestamp":101,"pid":7,"tid":8,"event":"cycles","period":10,"stack_id":"0xb"}
{"type":"window","id":"w1","start":1,"end":2,"unit":"seconds","by_stack":[{"stack_id":"0xb","weights":[{"metric":"period","value":10}]}]}`, "\n")

// Edits of specFile: change a line, leave one out, move one to the end, or add one.
func change(line int, pairs ...string) func([]string) []string {
	return func(ls []string) []string {
		was := ls[line-1]
		if ls[line-1] = strings.NewReplacer(pairs...).Replace(was); ls[line-1] == was {
			panic("nothing changed: " + pairs[0])
		}
		return ls
	}
}

func leave(line int) func([]string) []string {
	return func(ls []string) []string { return slices.Delete(ls, line-1, line) }
}

func last(line int) func([]string) []string {
	return func(ls []string) []string { return append(slices.Delete(ls, line-1, line), specFile[line-1]) }
}

func put(text string) func([]string) []string {
	return func(ls []string) []string { return append(ls, text) }
}

const (
	allSelf   = "run=30 read=10"
	allCounts = "1 samples, 2 stacks, 3 frames, 1 windows"
	allDrawn  = "all 40 period main run read | 8 · 1 sample | Windows | 1 note"
)

// sentence is a sentence of the specification with an edit of specFile that breaks or uses it,
// and the expected results: check is the finding of the strict check; read is the warning from
// reading, which info also lists; top lists functions with their self cost, for the event
// shown first; info is the record counts; picture is the flamegraph's bars from the outermost,
// the timeline's marks, and the number of problems in the status line.
type sentence struct {
	section, sentence string
	edit              func([]string) []string
	check, read, top  string
	info, picture     string
}

var sentences = []sentence{
	{"2", "The header record MUST appear first", last(1), "error header-first", "mended header-not-first", allSelf, allCounts, "all 40 period main run read | 8 · 1 sample | Windows | 2 notes"},
	{"2", "dso records MUST appear before any records that reference them", last(2), "error dictionary-first", "mended late-dso", allSelf, allCounts, "all 40 period main run read | 8 · 1 sample | Windows | 2 notes"},
	{"2", "frame records MUST appear before any records that reference them", last(5), "error dictionary-first", "mended late-frame", allSelf, allCounts, "all 40 period main run read | 8 · 1 sample | Windows | 2 notes"},
	{"2", "thread records MUST appear before any records that reference them", last(7), "error dictionary-first", "mended dictionary-first", allSelf, allCounts, "all 40 period main run read | 8 · 1 sample | Windows | 2 notes"},
	{"2", "Stack and sample records MAY appear in any order after dictionaries", last(9), "", "", allSelf, allCounts, allDrawn},
	{"3.1", "Exactly one header MUST exist: none", leave(1), "error header-first, error header-once", "error event-undeclared, error no-header, no-time-range", allSelf, allCounts, "all 40 period main run read | 8 · 1 sample | Windows | 3 warnings, 1 note"},
	{"3.1", "Exactly one header MUST exist: two", put(specFile[0]), "error header-once", "error duplicate-header", allSelf, allCounts, "all 40 period main run read | 8 · 1 sample | Windows | 1 warning, 1 note"},
	{"3.1", "frame_order MUST be leaf_to_root or root_to_leaf", change(1, "leaf_to_root", "sideways"), "error frame-order", "error frame-order", allSelf, allCounts, "all 40 period main run read | 8 · 1 sample | Windows | 1 warning, 1 note"},
	{"3.1", "stack_id_mode MUST be content_addressable or local", change(1, "content_addressable", "global"), "error stack-id-mode", "mended header-value", allSelf, allCounts, "all 40 period main run read | 8 · 1 sample | Windows | 2 notes"},
	{"3.1", "Each event object MUST contain a name", change(1, `"name":"cycles",`, ""), "error context-event, error event-name, warning sample-event", "error event-name, error event-undeclared", allSelf, allCounts, "all 40 period main run read | 8 · 1 sample | Windows | 2 warnings, 1 note"},
	{"3.1", "Each event object MUST contain a kind of six", change(1, `"kind":"hardware"`, `"kind":"cosmic"`), "error event-kind", "mended event-kind", allSelf, allCounts, "all 40 period main run read | 8 · 1 sample | Windows | 2 notes"},
	{"3.1", "Each event object MUST contain sampling", change(1, `,"sampling":{"mode":"period","primary_metric":"period","sample_period":10}`, ""), "error event-sampling", "error header-content", allSelf, allCounts, "all 40 period main run read | 8 · 1 sample | Windows | 1 warning, 1 note"},
	{"3.1", "sampling MUST contain a mode of three", change(1, `"mode":"period"`, `"mode":"luck"`), "error sampling-mode", "mended header-value", allSelf, allCounts, "all 40 period main run read | 8 · 1 sample | Windows | 2 notes"},
	{"3.1", "sampling MUST contain a primary_metric", change(1, `"primary_metric":"period",`, ""), "error sampling-primary", "error header-content", allSelf, allCounts, "all 40 period main run read | 8 · 1 sample | Windows | 1 warning, 1 note"},
	{"3.2", "id MUST be unique within the file", put(specFile[1]), "error dso-id-unique", "error duplicate-dso", allSelf, allCounts, "all 40 period main run read | 8 · 1 sample | Windows | 1 warning, 1 note"},
	{"3.2", "Kernel DSOs MUST set is_kernel=true", change(3, `"is_kernel":true`, `"is_kernel":false`), "error dso-kernel", "error dso-kernel", allSelf, allCounts, "all 40 period main run read | 8 · 1 sample | Windows | 1 warning, 1 note"},
	{"3.2", "build_id SHOULD be included when available", change(2, `"build_id":"ab12",`, ""), "warning build-id-missing", "", allSelf, allCounts, allDrawn},
	{"3.3", "Frames MUST reference a valid dso", change(5, `"dso":1`, `"dso":9`), "error frame-dso", "error missing-dso", allSelf, allCounts, "all 40 period main run read | 8 · 1 sample | Windows | 1 warning, 1 note"},
	{"3.3", "kind MUST be one of three", change(5, `"kind":"user"`, `"kind":"ghost"`), "error frame-kind", "mended frame-kind", allSelf, allCounts, "all 40 period main run read | 8 · 1 sample | Windows | 2 notes"},
	{"3.3", "When func_resolved is false, func SHOULD contain the raw IP", change(5, `"dso":1`, `"func_resolved":false,"dso":1`), "warning func-address", "", allSelf, allCounts, allDrawn},
	{"3.3", "A thread record has a tid", change(7, `,"tid":8`, ""), "error required-key, warning thread-record", "error missing-key", allSelf, allCounts, "all 40 period main run read | Windows | 1 warning, 1 note"},
	{"3.3", "A thread record has a pid", change(7, `"pid":7,`, ""), "error required-key", "error missing-key", allSelf, allCounts, "all 40 period main run read | Windows | 1 warning, 1 note"},
	{"3.3", "comm is optional", change(7, `,"comm":"app"`, ""), "", "", allSelf, allCounts, "all 40 period main run read | Windows | 1 note"},
	{"4", "Stack references existing frames", change(9, "[3,2,1]", "[4,2,1]"), "error exclusive-leaf, error stack-frame", "error missing-frame, mended exclusive-frame", "run=30 [missing frame 4]=10", "1 samples, 2 stacks, 4 frames, 1 windows", "all 40 period main run [missing frame 4] | 8 · 1 sample | Windows | 1 warning, 2 notes"},
	{"4.1", "Ids can be a numeric hash", func(ls []string) []string {
		for i := range ls {
			ls[i] = strings.ReplaceAll(ls[i], `"0xb"`, "11")
		}
		return ls
	}, "", "", allSelf, allCounts, allDrawn},
	{"4.2", "stack_type is one of three", change(9, `"frames"`, `"stack_type":"mixed","frames"`), "warning stack-type", "", allSelf, allCounts, allDrawn},
	{"4.2", "A user and a kernel stack of one sample SHOULD be linked by related_stacks", func(ls []string) []string {
		ls[7] = strings.Replace(ls[7], `"frames"`, `"stack_type":"user","related_stacks":["0xb"],"frames"`, 1)
		ls[8] = strings.NewReplacer(`"frames":[3,2,1]`, `"stack_type":"kernel","related_stacks":["0xa"],"frames":[3]`).Replace(ls[8])
		return ls
	}, "", "", "run=20 read=10", allCounts, "all 30 period main run read | 8 · 1 sample | Windows | 1 note"},
	{"4.3", "event must match one from header events", change(9, `"event":"cycles"`, `"event":"nope"`), "error context-event", "error event-undeclared, error samples-exceed", "run=30", allCounts, "all 30 period main run | 8 · 1 sample | 2 warnings"},
	{"4.3", "event is required", change(9, `"event":"cycles",`, ""), "error context-event", "error event-missing", allSelf, allCounts, "all 40 period main run read | 8 · 1 sample | Windows | 1 warning, 1 note"},
	{"4.3", "pid and tid are optional", change(9, `,"pid":7,"tid":8`, ""), "", "", allSelf, allCounts, allDrawn},
	{"4.3", "DTrace probes MAY include a probe", change(9, `"tid":8`, `"tid":8,"probe":{"provider":"syscall","name":"entry"}`), "", "", allSelf, allCounts, allDrawn},
	{"4.3", "Perf tracepoints MAY include trace_fields", change(9, `"tid":8`, `"tid":8,"trace_fields":{"prev_pid":1234}`), "", "", allSelf, allCounts, allDrawn},
	{"4.3", "Unknown context keys SHOULD be preserved; custom keys SHOULD have a prefix", change(9, `"tid":8`, `"tid":8,"zone":"a"`), "warning context-key, warning context-prefix", "", allSelf, allCounts, allDrawn},
	{"4.4", "weights MUST include the event's primary metric", change(9, `{"metric":"samples","value":1},{"metric":"period","value":10}`, `{"metric":"samples","value":1}`), "error primary-metric", "error primary-missing, error samples-exceed, error windows-exceed", "run=30", allCounts, "all 30 period main run | 8 · 1 sample | Windows | 3 warnings, 1 note"},
	{"4.4", "A weight has a metric", change(9, `{"metric":"samples","value":1}`, `{"value":1}`), "error required-key", "error bad-weight, error samples-exceed", allSelf, allCounts, "all 40 period main run read | 8 · 1 sample | Windows | 2 warnings, 1 note"},
	{"4.4", "Custom metrics MAY appear", change(9, `{"metric":"samples","value":1}`, `{"metric":"cache_misses","value":4},{"metric":"samples","value":1}`), "", "", allSelf, allCounts, allDrawn},
	{"4.5", "exclusive.frame MUST match the leaf", change(9, `"exclusive":{"frame":3`, `"exclusive":{"frame":2`), "error exclusive-leaf", "mended exclusive-frame", allSelf, allCounts, "all 40 period main run read | 8 · 1 sample | Windows | 2 notes"},
	{"4.5", "exclusive is optional but strongly recommended", change(9, `,"exclusive":{"frame":3,"weights":[{"metric":"samples","value":1},{"metric":"period","value":10}]}`, ""), "warning exclusive-missing", "", allSelf, allCounts, allDrawn},
	{"5.1", "stack_id MUST reference a valid stack record", change(10, `"0xb"`, `"0xc"`), "error sample-stack", "error sample-stack-missing", allSelf, allCounts, "all 40 period main run read | 8 · 1 sample | Windows | 1 warning, 1 note"},
	{"5.1", "timestamp is in the unit and epoch of time_range", change(10, "101", "99"), "warning sample-time", "before-start", allSelf, allCounts, "all 40 period main run read | 8 · 1 sample | Windows | 1 warning, 1 note"},
	{"5.2", "Windows MAY overlap", put(specFile[10]), "", "", allSelf, allCounts, allDrawn},
	{"2", "Each line is a single JSON object", put("nonsense"), "error json-object", "error bad-line", allSelf, allCounts, "all 40 period main run read | 8 · 1 sample | Windows | 1 warning, 1 note"},
	{"2", "Each line has a mandatory type", put(`{"id":5}`), "error type", "error bad-line", allSelf, allCounts, "all 40 period main run read | 8 · 1 sample | Windows | 1 warning, 1 note"},
	{"3.1", "mode frequency has a frequency_hz", change(1, `"mode":"period","primary_metric":"period","sample_period":10`, `"mode":"frequency","primary_metric":"period","frequency_hz":99`), "", "", allSelf, allCounts, allDrawn},
	{"3.1", "Consumers MUST NOT assume time per sample without a frequency", change(1, `"mode":"period","primary_metric":"period","sample_period":10`, `"mode":"frequency","primary_metric":"period"`), "warning wall-clock", "", allSelf, allCounts, allDrawn},
	{"3.1", "mode event: every occurrence", change(1, `"mode":"period"`, `"mode":"event"`), "", "", allSelf, allCounts, allDrawn},
	{"3.2", "build_id is lowercase hex without separators", change(2, `"ab12"`, `"AB-12"`), "error build-id-format", "mended build-id-format", allSelf, allCounts, "all 40 period main run read | 8 · 1 sample | Windows | 2 notes"},
	{"3.3", "srcline_resolved is optional", change(5, `"dso":1`, `"srcline":"a.c:3","srcline_resolved":false,"dso":1`), "", "", allSelf, allCounts, allDrawn},
	{"3.3", "symoff is a hex string", change(5, `"dso":1`, `"symoff":"0x54","dso":1`), "", "", allSelf, allCounts, allDrawn},
	{"3.3", "symoff is a hex string: it is not", change(5, `"dso":1`, `"symoff":84,"dso":1`), "error key-type", "error mistyped-key", allSelf, allCounts, "all 40 period main run read | 8 · 1 sample | Windows | 1 warning, 1 note"},
	{"3.3", "Inlined frames at one IP SHOULD share dso, ip and symoff: they do", change(5, `"ip":"0x20"`, `"ip":"0x10","inlined":true,"inline_depth":1`), "", "", allSelf, allCounts, allDrawn},
	{"3.3", "Inlined frames at one IP SHOULD share dso, ip and symoff: they do not", change(5, `"ip":"0x20"`, `"ip":"0x20","inlined":true,"inline_depth":1`), "warning inline-shared", "", allSelf, allCounts, allDrawn},
	{"3.3", "Frames MUST be ordered by inline depth, deepest first in leaf-to-root", func(ls []string) []string {
		ls[3] = strings.Replace(ls[3], `"ip":"0x10"`, `"ip":"0x10","inlined":true,"inline_depth":2`, 1)
		ls[4] = strings.Replace(ls[4], `"ip":"0x20"`, `"ip":"0x10","inlined":true,"inline_depth":1`, 1)
		return ls
	}, "error inline-order", "error inline-order", allSelf, allCounts, "all 40 period main run read | 8 · 1 sample | Windows | 1 warning, 1 note"},
	{"3.3", "tid is unique within the file", put(`{"type":"thread","pid":9,"tid":8,"comm":"other"}`), "error thread-tid-unique", "mended thread-tid-unique", allSelf, allCounts, "all 40 period main run read | 8 · 1 sample | Windows | 2 notes"},
	{"4", "A stack has an id", change(9, `"id":"0xb",`, ""), "error required-key, error sample-stack, warning window-stack", "error missing-key, error sample-stack-missing, error window-stack-missing", allSelf, allCounts, "all 40 period main run read | 8 · 1 sample | Windows | 3 warnings, 1 note"},
	{"4", "A stack has frames", change(9, `"frames":[3,2,1],`, ""), "error exclusive-leaf, error required-key, warning stack-empty", "error missing-key, mended exclusive-frame", "run=30 all=10", allCounts, "all 40 period main run | 8 · 1 sample | Windows | 1 warning, 2 notes"},
	{"4.1", "Stack ids are unique", change(9, `"id":"0xb"`, `"id":"0xa"`), "error sample-stack, error stack-id-content, warning stack-id-ambiguous, warning window-stack", "error sample-stack-missing, error stack-id-content, error window-stack-missing", allSelf, allCounts, "all 40 period main run read | 8 · 1 sample | Windows | 3 warnings, 1 note"},
	{"4.1", "local ids are arbitrary", func(ls []string) []string {
		ls[0] = strings.Replace(ls[0], "content_addressable", "local", 1)
		for i := range ls {
			ls[i] = strings.ReplaceAll(ls[i], `"0xb"`, `"b one"`)
		}
		return ls
	}, "", "", allSelf, allCounts, allDrawn},
	{"4.2", "related_stacks link to stacks of the file", change(9, `"frames"`, `"related_stacks":["0xz"],"frames"`), "warning related-stacks", "mended related-missing", allSelf, allCounts, "all 40 period main run read | 8 · 1 sample | Windows | 2 notes"},
	{"4.4", "Derived metrics MUST NOT replace native ones: perf retains period", func(ls []string) []string {
		for i := range ls {
			ls[i] = strings.ReplaceAll(strings.ReplaceAll(ls[i], `"metric":"period"`, `"metric":"cpu_time_ns"`), `"primary_metric":"period"`, `"primary_metric":"cpu_time_ns"`)
		}
		return ls
	}, "error native-metric, warning derived-metric", "mended native-metric", allSelf, allCounts, "all 40.00 ns main run read | 8 · 1 sample | Windows | 2 notes"},
	{"4.4", "Derived metrics MUST NOT replace native ones: DTrace retains samples or count", func(ls []string) []string {
		ls[0] = strings.NewReplacer(`"source_tool":"perf"`, `"source_tool":"dtrace"`, `"primary_metric":"period"`, `"primary_metric":"cpu_time_ns"`).Replace(ls[0])
		for i := range ls {
			ls[i] = strings.NewReplacer(`{"metric":"samples","value":3},`, "", `{"metric":"samples","value":1},`, "", `"metric":"period"`, `"metric":"cpu_time_ns"`).Replace(ls[i])
		}
		return ls
	}, "error native-metric, warning derived-metric, warning dtrace-split", "mended native-metric", allSelf, allCounts, "all 40.00 ns main run read | 8 · 1 sample | Windows | 2 notes"},
	{"4.4", "A weight has a value", change(9, `{"metric":"period","value":10}]}}`, `{"metric":"period"}]}}`), "error required-key", "error required-key, exclusive-differs", allSelf, allCounts, "all 40 period main run read | 8 · 1 sample | Windows | 2 warnings, 1 note"},
	{"4.5", "exclusive weights SHOULD include the metrics of the stack", change(9, `{"frame":3,"weights":[{"metric":"samples","value":1},{"metric":"period","value":10}]}`, `{"frame":3,"weights":[{"metric":"period","value":10}]}`), "warning exclusive-metrics", "", allSelf, allCounts, allDrawn},
	{"5.1", "pid, tid and cpu of samples are optional", change(10, `"pid":7,"tid":8,`, ""), "", "", allSelf, allCounts, "all 40 period main run read | Windows | 1 note"},
	{"5.1", "A sample has an event of the header", change(10, `"event":"cycles"`, `"event":"nope"`), "warning sample-event", "error event-undeclared", allSelf, allCounts, "all 40 period main run read | Windows | 1 warning"},
	{"5.1", "A sample has an event", change(10, `"event":"cycles",`, ""), "", "", allSelf, allCounts, allDrawn},
	{"5.1", "A sample has a timestamp", change(10, `"timestamp":101,`, ""), "error required-key", "error missing-key", allSelf, "2 stacks, 3 frames, 1 windows", "all 40 period main run read | Windows | 1 warning"},
	{"5.2", "Windows need not partition the time range", change(11, `"start":1,"end":2`, `"start":3,"end":4`), "", "", allSelf, allCounts, allDrawn},
	{"5.2", "stack_id of windows refers to a stack", change(11, `"0xb"`, `"0xc"`), "warning window-stack", "error window-stack-missing", allSelf, allCounts, "all 40 period main run read | 8 · 1 sample | Windows | 1 warning, 1 note"},
	{"8", "Stable stack identity if content-addressable: one frame sequence, one id", put(`{"type":"stack","id":"0xd","frames":[2,1],"context":{"event":"cycles","pid":7,"tid":8},"weights":[{"metric":"period","value":0}]}`), "warning exclusive-missing, warning metric-suspicious", "", allSelf, "1 samples, 3 stacks, 3 frames, 1 windows", allDrawn},
	{"9.1", "allocation_tracking is optional", change(1, `"kind":"hardware",`, `"kind":"allocation","allocation_tracking":{"tracks_frees":true},`), "warning memory-metrics", "", allSelf, allCounts, allDrawn},
	{"9.2", "Converters SHOULD use the standard metric names", func(ls []string) []string {
		for i := range ls {
			ls[i] = strings.ReplaceAll(strings.ReplaceAll(ls[i], `"metric":"period"`, `"metric":"alloc_bytes"`), `"primary_metric":"period"`, `"primary_metric":"alloc_bytes"`)
		}
		ls[0] = strings.Replace(ls[0], `"kind":"hardware"`, `"kind":"allocation"`, 1)
		return ls
	}, "", "", allSelf, allCounts, "all 40 B main run read | 8 · 1 sample | Windows | 1 note"},
	{"9.4", "A file MAY contain both CPU and memory events", func(ls []string) []string {
		ls[0] = strings.Replace(ls[0], `"events":[`, `"events":[{"name":"malloc","kind":"allocation","sampling":{"mode":"event","primary_metric":"alloc_bytes"}},`, 1)
		return append(ls, `{"type":"stack","id":"0xe","frames":[2,1],"context":{"event":"malloc","tid":8},"weights":[{"metric":"alloc_bytes","value":5,"unit":"bytes"}],"exclusive":{"frame":2,"weights":[{"metric":"alloc_bytes","value":5}]}}`)
	}, "", "", "run=5", "1 samples, 3 stacks, 3 frames, 1 windows", "all 5 B main run | 1 note"},
	{"9.4", "Stack ids remain unique across event types", func(ls []string) []string {
		ls[0] = strings.Replace(ls[0], `"events":[`, `"events":[{"name":"malloc","kind":"allocation","sampling":{"mode":"event","primary_metric":"alloc_bytes"}},`, 1)
		return append(ls, `{"type":"stack","id":"0xa","frames":[2,1],"context":{"event":"malloc","tid":8},"weights":[{"metric":"alloc_bytes","value":5,"unit":"bytes"}],"exclusive":{"frame":2,"weights":[{"metric":"alloc_bytes","value":5}]}}`)
	}, "warning stack-id-events", "", "run=5", "1 samples, 3 stacks, 3 frames, 1 windows", "all 5 B main run | 1 note"},
	{"3.3", "Parsers MAY use (pid, tid) across files; within one, tid is sufficient", change(10, `"pid":7,`, ""), "", "", allSelf, allCounts, allDrawn},
	{"8", "A valid file MUST allow exact flamegraph reconstruction with correct weights", func(ls []string) []string { return ls }, "", "", allSelf, allCounts, allDrawn},
	{"8", "A valid file MUST allow deterministic aggregation: in any order of stacks", last(8), "", "", allSelf, allCounts, allDrawn},
	{"9.4", "Converters SHOULD ensure that time_range encompasses all events", change(10, `"timestamp":101`, `"timestamp":111`), "warning sample-time", "", allSelf, allCounts, allDrawn},
	{"7", "Frame order MUST match the header", change(1, "leaf_to_root", "root_to_leaf"), "error frame-order-match", "error wrong-end", "main=40", allCounts, "all 40 period read run main run main | 8 · 1 sample | Windows | 1 warning, 1 note"},
	{"7", "Unknown record types", put(`{"type":"x_note","text":"a"}`), "warning record-type", "unknown-record", allSelf, allCounts, "all 40 period main run read | 8 · 1 sample | Windows | 1 warning, 1 note"},
	{"7", "Unknown source_tool value SHOULD be warned of", change(1, `"source_tool":"perf"`, `"source_tool":"magic"`), "warning source-tool", "", allSelf, allCounts, allDrawn},
	{"7", "Suspicious metric values SHOULD be warned of", change(10, `"period":10`, `"period":0`), "warning metric-suspicious", "note samples-less", allSelf, allCounts, allDrawn},
}

func TestSpecification(t *testing.T) {
	right := sentence{"", "nothing is wrong", func(ls []string) []string { return ls }, "", "", allSelf, allCounts, allDrawn}
	for i, s := range append([]sentence{right}, sentences...) {
		t.Run(fmt.Sprintf("%d %s %s", i, s.section, s.sentence), func(t *testing.T) {
			data := strings.Join(s.edit(slices.Clone(specFile)), "\n") + "\n"
			report, err := format.Validate(strings.NewReader(data), format.ValidateOptions{})
			if err != nil {
				t.Fatal(err)
			}
			var check []string
			for _, f := range report.Findings {
				check = append(check, f.Severity.String()+" "+f.Rule)
			}
			path := filepath.Join(t.TempDir(), "x.spaa")
			if err := os.WriteFile(path, []byte(data), 0o600); err != nil {
				t.Fatal(err)
			}
			rec, _, err := ingest.ReadAll(t.Context(), path, ingest.Options{})
			if err != nil {
				t.Fatal(err)
			}
			info := run(t, "info", path)
			var said []string
			for _, w := range rec.Warnings {
				if !strings.Contains(info, "\n  "+w.Code+", ") {
					t.Errorf("info does not list %s:\n%s", w.Code, info)
				}
				switch {
				// Expected: most edits leave one sample record for stacks of four samples.
				case w.Code == "samples-less" && s.read != "note samples-less":
				case w.Error && w.Minor:
					said = append(said, "mended "+w.Code)
				case w.Error:
					said = append(said, "error "+w.Code)
				case w.Minor:
					said = append(said, "note "+w.Code)
				default:
					said = append(said, w.Code)
				}
			}
			equal(t, "check", listed(check), s.check)
			equal(t, "read", listed(said), s.read)
			equal(t, "top", topOf(t, rec), s.top)
			equal(t, "info", countsOf(info), s.info)
			equal(t, "picture", drawn(t, rec, path), s.picture)
		})
	}
}

func equal(t *testing.T, what, got, want string) {
	t.Helper()
	if got != want {
		t.Errorf("%s:\ngot  %s\nwant %s", what, got, want)
	}
}

// run runs a command and returns its output.
func run(t *testing.T, args ...string) string {
	t.Helper()
	var out, errs strings.Builder
	if code := command.Main(args, nil, &out, &errs, command.Runner{Render: picture.Render}); code != command.Done {
		t.Fatalf("%v: %s", args, errs.String())
	}
	return out.String()
}

var count = regexp.MustCompile(`(?m)^ +(\d+)  (samples|stacks|frames|windows)$`)

// countsOf returns the record counts that info prints, as in "1 samples, 2 stacks".
func countsOf(info string) string {
	var out []string
	for _, m := range count.FindAllStringSubmatch(info, -1) {
		out = append(out, m[1]+" "+m[2])
	}
	return strings.Join(out, ", ")
}

var problems = regexp.MustCompile(`^\d+ (error|warning|note)s?\b`)

// drawn renders a file and returns the texts in the picture, in the form of sentence.picture.
func drawn(t *testing.T, rec *recording.Recording, path string) string {
	t.Helper()
	out := filepath.Join(t.TempDir(), "x.svg")
	run(t, "render", path, "--no-cache", "-o", out)
	f, err := os.Open(out)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	functions := map[string]bool{}
	for i := range rec.Functions.Len() {
		functions[rec.Functions.At(i).Name] = true
	}
	var bars, rest []string
	inFlame := false
	for _, said := range allTexts(t, f) {
		switch {
		case strings.HasPrefix(said, "all  "):
			inFlame = true
			bars = append(bars, strings.ReplaceAll(said, "  ", " "))
		case said == "Total" || said == "Whole recording":
			inFlame = false
		case inFlame && functions[said]:
			bars = append(bars, said)
		case said == "Windows", strings.Contains(said, "· 1 sample") && !strings.HasPrefix(said, "SPAA"):
			rest = append(rest, said)
		case problems.MatchString(said):
			rest = append(rest, said)
		}
	}
	return strings.Join(bars, " ") + " | " + strings.Join(rest, " | ")
}

// listed sorts texts, removes duplicates and joins them.
func listed(texts []string) string {
	slices.Sort(texts)
	return strings.Join(slices.Compact(texts), ", ")
}

// topOf lists the functions with a self cost, heaviest first.
func topOf(t *testing.T, rec *recording.Recording) string {
	e := rec.DefaultEvent()
	w, err := analyze.Weigh(t.Context(), rec, analyze.Query{Event: e, Metric: rec.Events[e].Primary})
	if err != nil {
		t.Fatal(err)
	}
	self := map[string]int64{}
	for c, v := range w.Self {
		self[rec.FuncName(recording.CallID(c))] += v
	}
	var names []string
	for name, v := range self {
		if v != 0 {
			names = append(names, name)
		}
	}
	slices.SortFunc(names, func(a, b string) int { return int(self[b] - self[a]) })
	var out []string
	for _, name := range names {
		out = append(out, fmt.Sprintf("%s=%d", name, self[name]))
	}
	return strings.Join(out, " ")
}
