package spaa

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
)

// baseFile breaks no rule at all and has every record type and key.
const baseFile = `{"type":"header","format":"spaa","version":"1.0","source_tool":"perf","frame_order":"leaf_to_root","events":[{"name":"cycles","kind":"hardware","sampling":{"mode":"period","primary_metric":"period","sample_period":100000}},{"name":"malloc","kind":"allocation","sampling":{"mode":"event","primary_metric":"alloc_bytes"},"allocation_tracking":{"tracks_frees":true,"has_timestamps":true}},{"name":"clock","kind":"timer","sampling":{"mode":"frequency","primary_metric":"samples","frequency_hz":99}}],"time_range":{"start":10.0,"end":20.5,"unit":"seconds"},"source":{"tool":"perf","command":"perf record -g","tool_version":"6.1.0"},"stack_id_mode":"content_addressable"}
{"type":"dso","id":12,"name":"/usr/bin/myapp","build_id":"abcd1234567890abcdef","is_kernel":false}
{"type":"dso","id":13,"name":"[kernel.kallsyms]","is_kernel":true}
{"type":"frame","id":201,"func":"check_bounds","dso":12,"ip":"0x401234","symoff":"0x54","srcline":"src/parse.rs:89","inlined":true,"inline_depth":2,"kind":"user"}
{"type":"frame","id":202,"func":"validate_token","dso":12,"ip":"0x401234","symoff":"0x54","srcline":"src/parse.rs:142","inlined":true,"inline_depth":1,"kind":"user"}
{"type":"frame","id":203,"func":"parse_file","dso":12,"ip":"0x401234","symoff":"0x54","srcline":"src/parse.rs:214","inlined":false,"inline_depth":0,"kind":"user"}
{"type":"frame","id":204,"func":"0x409999","func_resolved":false,"dso":12,"ip":"0x409999","srcline_resolved":false,"kind":"user"}
{"type":"frame","id":101,"func":"sys_read","dso":13,"ip":"0xffffffff81000000","kind":"kernel"}
{"type":"thread","pid":4242,"tid":4511,"comm":"myapp"}
{"type":"sample","timestamp":10.0,"pid":4242,"tid":4511,"cpu":3,"event":"cycles","period":100000,"stack_id":"0xa1","context":{}}
{"type":"stack","id":"0xa1","frames":[201,202,203,204],"stack_type":"unified","context":{"pid":4242,"tid":4511,"cpu":3,"event":"cycles"},"weights":[{"metric":"samples","value":2},{"metric":"period","value":200000,"unit":"events"}],"exclusive":{"frame":201,"weights":[{"metric":"samples","value":2},{"metric":"period","value":200000,"unit":"events"}]}}
{"type":"stack","id":"0xa2","frames":[101,204],"context":{"event":"malloc","tid":4511},"weights":[{"metric":"period","value":7},{"metric":"alloc_bytes","value":1000,"unit":"bytes"},{"metric":"free_bytes","value":400},{"metric":"live_bytes","value":600},{"metric":"peak_bytes","value":900}],"exclusive":{"frame":101,"weights":[{"metric":"period","value":7},{"metric":"alloc_bytes","value":1000,"unit":"bytes"},{"metric":"free_bytes","value":400},{"metric":"live_bytes","value":600},{"metric":"peak_bytes","value":900}]},"related_stacks":["0xa3"]}
{"type":"stack","id":"0xa3","frames":[203,204],"stack_type":"user","context":{"event":"clock"},"weights":[{"metric":"samples","value":5},{"metric":"period","value":50}],"exclusive":{"frame":203,"weights":[{"metric":"samples","value":5},{"metric":"period","value":50}]}}
{"type":"sample","timestamp":20.5,"pid":4242,"tid":4511,"event":"cycles","period":100000,"stack_id":"0xa1"}
{"type":"window","id":"w1","start":10,"end":11,"unit":"seconds","by_stack":[{"stack_id":"0xa1","weights":[{"metric":"period","value":100000}]}]}
`

type ruleCase struct {
	rule string
	line int64 // of the finding
	also []string
	edit func(t *testing.T, text string) string
}

// sub returns an edit that replaces the first occurrence of each old text by the new one;
// pairs are old, new.
func sub(pairs ...string) func(*testing.T, string) string {
	return func(t *testing.T, text string) string {
		for i := 0; i < len(pairs); i += 2 {
			if !strings.Contains(text, pairs[i]) {
				t.Fatalf("the base file has no %q", pairs[i])
			}
			text = strings.Replace(text, pairs[i], pairs[i+1], 1)
		}
		return text
	}
}

// after returns an edit that inserts lines after the given one.
func after(line int, more ...string) func(*testing.T, string) string {
	return func(t *testing.T, text string) string {
		lines := strings.SplitAfter(text, "\n")
		for i, m := range more {
			lines = slices.Insert(lines, line+i, m+"\n")
		}
		return strings.Join(lines, "")
	}
}

// move returns an edit that moves a line to the place after another (numbered as in the
// base file).
func move(from, to int) func(*testing.T, string) string {
	return func(t *testing.T, text string) string {
		lines := strings.SplitAfter(text, "\n")
		l := lines[from-1]
		lines = slices.Insert(lines, to, l)
		return strings.Join(slices.Delete(lines, from-1, from), "")
	}
}

func drop(line int) func(*testing.T, string) string {
	return func(t *testing.T, text string) string {
		lines := strings.SplitAfter(text, "\n")
		return strings.Join(slices.Delete(lines, line-1, line), "")
	}
}

// like returns a copy of a line of the base file, with replacements.
func like(line int, pairs ...string) string {
	l := strings.Split(baseFile, "\n")[line-1]
	for i := 0; i < len(pairs); i += 2 {
		if !strings.Contains(l, pairs[i]) {
			panic(fmt.Sprintf("line %d has no %q", line, pairs[i]))
		}
		l = strings.ReplaceAll(l, pairs[i], pairs[i+1])
	}
	return l
}

var ruleCases = []ruleCase{
	{rule: "utf8", line: 9, edit: sub(`"comm":"myapp"`, "\"comm\":\"my\xffapp\"")},
	{rule: "bom", line: 1, edit: sub(`{"type":"header"`, "\xef\xbb\xbf{\"type\":\"header\"")},
	{rule: "line-end", line: 1, edit: sub("\n", "\r\n")},
	{rule: "blank-line", line: 10, edit: after(9, " ")},
	{rule: "json-object", line: 10, edit: after(9, `{"type":"thread","pid":1,`)},
	{rule: "json-object", line: 10, edit: after(9, `[1]`)},
	{rule: "json-object", line: 10, edit: after(9, `{"type":"thread"} x`)},
	{rule: "line-length", line: 10, edit: after(9, strings.Repeat(" ", 5000)+`{"type":"thread"}`)},
	{rule: "cut-line", line: 16, edit: func(_ *testing.T, s string) string { return s + `{"type":"sam` }},
	{rule: "type", line: 10, edit: after(9, `{"pid":1}`)},
	{rule: "record-type", line: 10, edit: after(9, `{"type":"note","text":"hello"}`)},
	{rule: "duplicate-key", line: 9, edit: sub(`"pid":4242,"tid":4511,"comm"`, `"pid":1,"pid":4242,"tid":4511,"comm"`)},
	{rule: "duplicate-key", line: 9, also: []string{"unknown-key"}, edit: sub(`"comm":"myapp"`, `"comm":"myapp","a":1,"a":2`)},
	{rule: "duplicate-key", line: 1, edit: sub(`"version":"1.0"`, `"version":"0.9","version":"1.0"`)},
	{rule: "unknown-key", line: 9, edit: sub(`"comm":"myapp"`, `"comm":"myapp","nice":1`)},
	{rule: "unknown-key", line: 1, edit: sub(`"tool":"perf"`, `"tool":"perf","host":"h"`)},
	{rule: "unknown-key", line: 9, edit: sub(`"comm":"myapp"`, `"comm":"myapp","cpu":1`)},
	{rule: "required-key", line: 9, edit: sub(`"pid":4242,"tid":4511,"comm"`, `"tid":4511,"comm"`)},
	{rule: "required-key", line: 11, edit: sub(`"weights":[{"metric":"samples","value":2},`, `"weights":[{"metric":"samples"},`)},
	{rule: "key-type", line: 9, edit: sub(`"comm":"myapp"`, `"comm":5`)},
	{rule: "key-type", line: 1, edit: sub(`"tool_version":"6.1.0"`, `"tool_version":6.1`)},
	{rule: "key-type", line: 11, edit: sub(`"cpu":3,"event":"cycles"},`, `"cpu":"3","event":"cycles"},`)},

	{rule: "header-first", line: 1, edit: move(1, 2)},
	{rule: "header-once", line: 2, edit: after(1, like(1))},
	{rule: "header-once", line: 0, also: []string{"header-first"}, edit: drop(1)},
	{rule: "format", line: 1, edit: sub(`"format":"spaa"`, `"format":"heap-diff"`)},
	{rule: "format", line: 1, edit: sub(`"format":"spaa",`, ``)},
	{rule: "version", line: 1, edit: sub(`"version":"1.0"`, `"version":"2.0"`)},
	{rule: "source-tool", line: 1, edit: sub(`"source_tool":"perf"`, `"source_tool":"abacus"`)},
	{rule: "frame-order", line: 1, edit: sub(`"leaf_to_root"`, `"sideways"`)},
	{rule: "stack-id-mode", line: 1, edit: sub(`,"stack_id_mode":"content_addressable"`, ``)},
	{rule: "event-name", line: 1, also: []string{"context-event"}, edit: sub(`"name":"clock",`, ``)},
	{rule: "event-name-unique", line: 1, also: []string{"context-event"}, edit: sub(`"name":"clock"`, `"name":"malloc"`)},
	{rule: "event-kind", line: 1, edit: sub(`"kind":"timer"`, `"kind":"cuckoo"`)},
	{rule: "event-sampling", line: 1, edit: sub(`,"sampling":{"mode":"frequency","primary_metric":"samples","frequency_hz":99}`, ``)},
	{rule: "sampling-mode", line: 1, edit: sub(`"mode":"event"`, `"mode":"guess"`)},
	{rule: "sampling-primary", line: 1, edit: sub(`"primary_metric":"samples",`, ``)},
	{rule: "wall-clock", line: 1, edit: sub(`,"frequency_hz":99`, ``)},
	{rule: "time-range", line: 1, also: []string{"sample-time"}, edit: sub(`"end":20.5`, `"end":9.99`)},
	{rule: "time-unit", line: 1, edit: sub(`"end":20.5,"unit":"seconds"`, `"end":20.5,"unit":"moons"`)},
	{rule: "time-unit", line: 15, edit: sub(`"end":11,"unit":"seconds"`, `"end":11`)},
	{rule: "memory-kind", line: 1, edit: sub(`"kind":"allocation"`, `"kind":"software"`)},

	{rule: "dso-id-unique", line: 3, edit: after(2, like(2))},
	{rule: "dso-kernel", line: 3, edit: sub(`"is_kernel":true`, `"is_kernel":false`)},
	{rule: "dso-kernel", line: 4, also: []string{"build-id-missing"}, edit: after(3, `{"type":"dso","id":14,"name":"/lib/modules/6.1/ext4.ko.xz"}`)},
	{rule: "dso-kernel", line: 4, edit: after(3, `{"type":"dso","id":14,"name":"[nf_tables]","is_kernel":false}`, `{"type":"frame","id":1,"func":"f","dso":14,"kind":"kernel"}`, `{"type":"dso","id":15,"name":"[vdso]"}`, `{"type":"frame","id":2,"func":"f","dso":15,"kind":"kernel"}`)},
	{rule: "build-id-format", line: 2, edit: sub(`"abcd1234567890abcdef"`, `"ABCD-1234"`)},
	{rule: "build-id-missing", line: 4, edit: after(3, `{"type":"dso","id":14,"name":"/lib/libc.so"}`)},
	{rule: "frame-id-unique", line: 5, edit: after(4, like(4))},
	{rule: "frame-dso", line: 7, edit: sub(`"func_resolved":false,"dso":12`, `"func_resolved":false,"dso":99`)},
	{rule: "frame-dso", line: 7, edit: sub(`"func_resolved":false,"dso":12`, `"func_resolved":false`)},
	{rule: "dictionary-first", line: 7, edit: move(3, 8)},
	{rule: "dictionary-first", line: 10, edit: move(7, 15)},
	{rule: "dictionary-first", line: 9, edit: move(9, 15)},
	{rule: "frame-kind", line: 7, edit: sub(`"srcline_resolved":false,"kind":"user"`, `"srcline_resolved":false,"kind":"gnome"`)},
	{rule: "frame-kind", line: 7, edit: sub(`"srcline_resolved":false,"kind":"user"`, `"srcline_resolved":false`)},
	{rule: "frame-kernel-dso", line: 9, edit: after(8, `{"type":"frame","id":1,"func":"f","dso":12,"kind":"kernel"}`)},
	{rule: "func-address", line: 7, edit: sub(`"func":"0x409999"`, `"func":"[unknown]"`)},
	{rule: "hex-address", line: 7, edit: sub(`"ip":"0x409999"`, `"ip":"4231577"`)},
	{rule: "hex-address", line: 4, edit: sub(`"symoff":"0x54"`, `"symoff":"84"`), also: []string{"inline-shared"}},
	{rule: "inline-depth", line: 6, edit: sub(`"inlined":false,"inline_depth":0`, `"inline_depth":1`), also: []string{"inline-shared", "inline-order"}},
	{rule: "inline-depth", line: 6, edit: sub(`"inlined":false,"inline_depth":0`, `"inlined":true,"inline_depth":0`), also: []string{"inline-shared"}},
	{rule: "inline-order", line: 11, edit: sub(`[201,202,203,204]`, `[201,203,202,204]`, `"frames":[201,203,202,204]`, `"frames":[202,201,203,204]`, `"exclusive":{"frame":201`, `"exclusive":{"frame":202`)},
	{rule: "inline-order", line: 11, also: []string{"inline-shared"}, edit: sub(`[201,202,203,204]`, `[203,202,204]`, `"exclusive":{"frame":201`, `"exclusive":{"frame":203`)},
	{rule: "inline-shared", line: 11, edit: sub(`"func":"validate_token","dso":12`, `"func":"validate_token","dso":13`)},
	{rule: "inline-shared", line: 11, edit: sub(`[201,202,203,204]`, `[201,204]`)},
	{rule: "thread-tid-unique", line: 10, edit: after(9, like(9, "4242", "4243"))},
	{rule: "thread-record", line: 9, edit: drop(9)},

	{rule: "stack-id-content", line: 12, also: []string{"stack-id-ambiguous"}, edit: after(11, like(11, "[201,202,203,204]", "[203,204]", `"frame":201`, `"frame":203`))},
	{rule: "stack-id-unique", line: 12, edit: func(t *testing.T, s string) string {
		s = after(11, like(11, `"tid":4511`, `"tid":4511,"comm":"x"`))(t, s)
		return sub(`"content_addressable"`, `"local"`)(t, s)
	}},
	{rule: "stack-id-ambiguous", line: 12, edit: after(11, like(11))},
	{rule: "stack-id-events", line: 12, edit: after(11, like(11, `"event":"cycles"`, `"event":"clock"`))},
	{rule: "stack-frame", line: 13, edit: sub(`[203,204],"stack_type":"user"`, `[203,77],"stack_type":"user"`)},
	{rule: "stack-empty", line: 13, also: []string{"exclusive-leaf"}, edit: sub(`[203,204]`, `[]`)},
	{rule: "stack-type", line: 13, edit: sub(`"stack_type":"user"`, `"stack_type":"mixed"`)},
	{rule: "stack-type-frames", line: 13, edit: sub(`"stack_type":"user"`, `"stack_type":"kernel"`)},
	{rule: "dtrace-split", line: 12, edit: sub(`"source_tool":"perf"`, `"source_tool":"dtrace"`)},
	{rule: "related-stacks", line: 12, edit: sub(`["0xa3"]`, `["0xa3","0xa9"]`)},
	{rule: "context-event", line: 13, edit: sub(`"context":{"event":"clock"}`, `"context":{"event":"clack"}`)},
	{rule: "context-event", line: 13, edit: sub(`"context":{"event":"clock"}`, `"context":{}`)},
	{rule: "context-event", line: 13, edit: sub(`"context":{"event":"clock"},`, ``)},
	{rule: "context-key", line: 13, edit: sub(`"context":{"event":"clock"}`, `"context":{"event":"clock","x_acme_zone":1}`)},
	{rule: "context-prefix", line: 13, also: []string{"context-key"}, edit: sub(`"context":{"event":"clock"}`, `"context":{"event":"clock","zone":1}`)},
	{rule: "primary-metric", line: 11, edit: sub(`{"metric":"period","value":200000,"unit":"events"}]`, `{"metric":"other","value":1}]`), also: []string{"exclusive-metrics"}},
	{rule: "native-metric", line: 13, also: []string{"exclusive-metrics"}, edit: sub(`{"metric":"samples","value":5},{"metric":"period","value":50}`, `{"metric":"samples","value":5}`)},
	{rule: "derived-metric", line: 11, also: []string{"exclusive-metrics"}, edit: sub(`"weights":[{"metric":"samples","value":2}`, `"weights":[{"metric":"cpu_time_ns","value":9},{"metric":"samples","value":2}`)},
	{rule: "metric-repeated", line: 11, edit: sub(`"weights":[{"metric":"samples","value":2}`, `"weights":[{"metric":"samples","value":2},{"metric":"samples","value":2}`)},
	{rule: "metric-unit", line: 12, also: []string{"stack-id-ambiguous"}, edit: after(11, like(11, `"unit":"events"`, `"unit":"ticks"`))},
	{rule: "metric-suspicious", line: 10, edit: sub(`"period":100000`, `"period":0`)},
	{rule: "metric-suspicious", line: 11, also: []string{"exclusive-value"}, edit: sub(`"value":200000`, `"value":0`)},
	{rule: "metric-suspicious", line: 11, also: []string{"exclusive-value"}, edit: sub(`"value":200000`, `"value":-5`)},
	{rule: "metric-total", line: 11, also: []string{"exclusive-value"}, edit: sub(`"weights":[{"metric":"samples","value":2}`, `"weights":[{"metric":"samples","value":9223372036854775808}`)},
	{rule: "exclusive-missing", line: 13, edit: sub(`,"exclusive":{"frame":203,"weights":[{"metric":"samples","value":5},{"metric":"period","value":50}]}`, ``)},
	{rule: "exclusive-leaf", line: 11, edit: sub(`"exclusive":{"frame":201`, `"exclusive":{"frame":202`)},
	{rule: "frame-order-match", line: 11, edit: sub(`"exclusive":{"frame":201`, `"exclusive":{"frame":204`)},
	{rule: "frame-order-match", line: 11, also: []string{"inline-order", "inline-shared"}, edit: sub(`"leaf_to_root"`, `"root_to_leaf"`)},
	{rule: "exclusive-metrics", line: 13, edit: sub(`"exclusive":{"frame":203,"weights":[{"metric":"samples","value":5},`, `"exclusive":{"frame":203,"weights":[`)},
	{rule: "exclusive-value", line: 13, edit: sub(`"exclusive":{"frame":203,"weights":[{"metric":"samples","value":5}`, `"exclusive":{"frame":203,"weights":[{"metric":"samples","value":5.5}`)},

	{rule: "sample-stack", line: 14, edit: sub(`"stack_id":"0xa1"}`+"\n", `"stack_id":"0xa9"}`+"\n")},
	{rule: "sample-event", line: 10, edit: sub(`"cpu":3,"event":"cycles","period"`, `"cpu":3,"event":"bicycles","period"`)},
	{rule: "sample-time", line: 14, edit: sub(`"timestamp":20.5`, `"timestamp":20.500000001`)},
	{rule: "sample-time", line: 10, edit: sub(`"timestamp":10.0`, `"timestamp":9.999999999999`)},
	{rule: "window-stack", line: 15, edit: sub(`"by_stack":[{"stack_id":"0xa1"`, `"by_stack":[{"stack_id":161`)},
	{rule: "sample-period", line: 10, edit: sub(`"cpu":3,"event":"cycles","period":100000`, `"cpu":3,"event":"cycles"`)},
	{rule: "samples-sum", line: 11, edit: sub(`"cpu":3,"event":"cycles","period":100000`, `"cpu":3,"event":"cycles","period":100001`)},
	{rule: "windows-sum", line: 11, edit: sub(`"by_stack":[{"stack_id":"0xa1","weights":[{"metric":"period","value":100000`, `"by_stack":[{"stack_id":"0xa1","weights":[{"metric":"period","value":200001`)},
	{rule: "window-range", line: 15, edit: sub(`"start":10,"end":11`, `"start":12,"end":11`)},

	{rule: "memory-metrics", line: 13, edit: sub(`"context":{"event":"clock"}`, `"context":{"event":"malloc"}`), also: []string{"primary-metric"}},
	{rule: "memory-unit", line: 12, edit: sub(`"unit":"bytes"`, `"unit":"kB"`)},
	{rule: "memory-live", line: 12, also: []string{"exclusive-value"}, edit: sub(`{"metric":"live_bytes","value":600}`, `{"metric":"live_bytes","value":599}`)},
	{rule: "memory-peak", line: 12, also: []string{"exclusive-value"}, edit: sub(`{"metric":"peak_bytes","value":900}`, `{"metric":"peak_bytes","value":599}`)},
	{rule: "memory-frees", line: 12, edit: sub(`"tracks_frees":true`, `"tracks_frees":false`)},
}

var testOptions = ValidateOptions{MaxLine: 4096}

func TestRulesBaseIsClean(t *testing.T) {
	report, err := Validate(strings.NewReader(baseFile), testOptions)
	if err != nil || len(report.Findings) > 0 || !report.Valid() {
		t.Fatal(err, report.Findings)
	}
	want := map[string]int64{"header": 1, "dso": 2, "frame": 5, "thread": 1, "stack": 3, "sample": 2, "window": 1}
	if !maps.Equal(report.Records, want) || report.Lines != 15 {
		t.Errorf("records %v in %d lines", report.Records, report.Lines)
	}
}

func TestRules(t *testing.T) {
	tried := map[string]bool{}
	for i, c := range ruleCases {
		tried[c.rule] = true
		t.Run(fmt.Sprintf("%s/%d", c.rule, i), func(t *testing.T) {
			text := c.edit(t, baseFile)
			report, err := Validate(strings.NewReader(text), testOptions)
			if err != nil {
				t.Fatal(err)
			}
			found := false
			for _, f := range report.Findings {
				found = found || f.Rule == c.rule && f.Line == c.line
				if f.Rule != c.rule && !slices.Contains(c.also, f.Rule) {
					t.Errorf("unexpected: %v", f)
				}
				if f.Severity != rules[ruleIndex[f.Rule]].Severity {
					t.Errorf("severity of %v", f)
				}
			}
			if !found {
				t.Errorf("no finding on line %d, only %v", c.line, report.Findings)
			}
			i, ok := ruleIndex[c.rule]
			if !ok {
				t.Fatalf("there is no rule %q", c.rule)
			}
			if rules[i].Severity == Error && report.Valid() {
				t.Error("the file is called valid")
			}
		})
	}
	for _, r := range Rules() {
		if !tried[r.ID] {
			t.Errorf("no case breaks rule %q", r.ID)
		}
	}
}

// The base file with frames from root to leaf is valid too.
func TestRulesRootToLeaf(t *testing.T) {
	text := sub(`leaf_to_root`, `root_to_leaf`, `[201,202,203,204]`, `[204,203,202,201]`,
		`[101,204]`, `[204,101]`, `[203,204]`, `[204,203]`)(t, baseFile)
	report, err := Validate(strings.NewReader(text), testOptions)
	if err != nil || len(report.Findings) > 0 {
		t.Fatal(err, report.Findings)
	}
}

// Recursion at one address does not break the rule about inline order.
func TestInlineRecursion(t *testing.T) {
	text := sub(`[201,202,203,204]`, `[201,202,203,201,202,203,204]`)(t, baseFile)
	report, err := Validate(strings.NewReader(text), testOptions)
	if err != nil || len(report.Findings) > 0 {
		t.Fatal(err, report.Findings)
	}
}

func TestValidateCaps(t *testing.T) {
	var b bytes.Buffer
	b.WriteString(like(1) + "\n")
	for i := range 1000 {
		fmt.Fprintf(&b, "{\"type\":\"sample\",\"timestamp\":11,\"stack_id\":%d}\n", i)
	}
	report, err := Validate(&b, ValidateOptions{MaxPerRule: 7, MaxPending: 100})
	if err != nil {
		t.Fatal(err)
	}
	if report.Counts["sample-stack"] != 1000 || len(report.Findings) != 7 || report.Errors != 1000 {
		t.Errorf("%d counted, %d kept, %d errors", report.Counts["sample-stack"], len(report.Findings), report.Errors)
	}
}

// TestValidateInFileOrder checks that errors found only at the end of the file are kept in file
// order, so that the limit per rule keeps the same ones each time.
func TestValidateInFileOrder(t *testing.T) {
	b := bytes.NewBufferString(like(1) + "\n")
	for i := range 50 {
		fmt.Fprintf(b, `{"type":"frame","id":%d,"func":"f","dso":%d}`+"\n", i, 100+i)
		fmt.Fprintf(b, `{"type":"sample","timestamp":10,"tid":%d,"event":"e%d","stack_id":"0x9%d"}`+"\n", 100+i, i, i)
		fmt.Fprintf(b, `{"type":"sample","timestamp":10,"tid":%d,"event":"e%d","stack_id":"0x1%02d","period":9}`+"\n", 100+i, i, i)
		fmt.Fprintf(b, `{"type":"stack","id":"0x1%02d","frames":[%d],"context":{"event":"cycles"},"weights":[{"metric":"period","value":1}]}`+"\n", i, 200+i)
		fmt.Fprintf(b, `{"type":"window","start":10,"end":11,"unit":"seconds","by_stack":[{"stack_id":"0x1%02d","weights":[{"metric":"period","value":2}]}]}`+"\n", i)
	}
	report, err := Validate(b, ValidateOptions{MaxPerRule: 1})
	if err != nil {
		t.Fatal(err)
	}
	first := map[string]int64{}
	for _, f := range report.Findings {
		first[f.Rule] = f.Line
	}
	for rule, line := range map[string]int64{"frame-dso": 2, "sample-stack": 3, "thread-record": 3, "sample-period": 3, "stack-frame": 5, "windows-sum": 5} {
		if report.Counts[rule] != 50 || first[rule] != line {
			t.Errorf("%s: %d found, first kept on line %d, want 50 and line %d", rule, report.Counts[rule], first[rule], line)
		}
	}
}

// TestWindowsAddUp checks that the weights of windows are added up if no windows overlap, in
// whatever order they come, and that windows which overlap are compared one by one.
func TestWindowsAddUp(t *testing.T) {
	const head = `{"type":"header","format":"spaa","version":"1.0","source_tool":"perf","frame_order":"leaf_to_root","events":[{"name":"cycles","kind":"hardware","sampling":{"mode":"period","primary_metric":"period"}}],"time_range":{"start":0,"end":10,"unit":"seconds"},"stack_id_mode":"local"}
{"type":"dso","id":1,"name":"/bin/app"}
{"type":"frame","id":1,"func":"f","dso":1,"kind":"user"}
{"type":"stack","id":"a","frames":[1],"context":{"event":"cycles"},"weights":[{"metric":"period","value":100}]}
`
	window := func(start, end, value, unit string) string {
		return `{"type":"window","start":` + start + `,"end":` + end + `,"unit":"` + unit + `","by_stack":[{"stack_id":"a","weights":[{"metric":"period","value":` + value + `}]}]}` + "\n"
	}
	for _, c := range []struct{ name, windows, want string }{
		{"one", window("0", "5", "100", "seconds"), ""},
		{"one too many", window("0", "5", "101", "seconds"), `a window has a period of 101 for stack "a", more than the stack's total of 100`},
		{"two parts", window("5", "10", "40", "seconds") + window("0", "5", "60", "seconds"), ""},
		{"two parts too many", window("5", "10", "60", "seconds") + window("0", "5", "60", "seconds"), `the windows add up to a period of 120 for stack "a", more than the stack's total of 100`},
		{"overlapping", window("0", "5", "60", "seconds") + window("4", "9", "60", "seconds"), ""},
		{"two units", window("0", "5", "60", "seconds") + window("5", "9", "60", "milliseconds"), ""},
	} {
		report, err := Validate(strings.NewReader(head+c.windows), ValidateOptions{})
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		for _, f := range report.Findings {
			if f.Rule == "windows-sum" {
				got += f.Message
			}
		}
		if got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

// An empty file, and one of only NUL bytes, gives a finding and no panic.
func TestValidateNothing(t *testing.T) {
	for _, text := range []string{"", "\n", strings.Repeat("\x00", 1<<20)} {
		report, err := Validate(strings.NewReader(text), ValidateOptions{})
		if err != nil || report.Counts["header-once"] != 1 {
			t.Errorf("%.4q: %v %v", text, report, err)
		}
	}
}

// TestSamplesOfEvents checks that samples count for the stack of their event where stacks of
// two events have one id.
func TestSamplesOfEvents(t *testing.T) {
	malloc := `{"type":"stack","id":"0xa1","frames":[201,202,203,204],"context":{"event":"malloc","tid":4511},"weights":[{"metric":"alloc_bytes","value":1000,"unit":"bytes"}],"exclusive":{"frame":201,"weights":[{"metric":"alloc_bytes","value":1000}]}}`
	sample := func(event string) string {
		return `{"type":"sample","timestamp":12,"pid":4242,"tid":4511,"event":"` + event + `","period":1,"stack_id":"0xa1"}`
	}
	sums := func(lines ...string) int64 {
		report, err := Validate(strings.NewReader(baseFile+strings.Join(lines, "\n")+"\n"), testOptions)
		if err != nil {
			t.Fatal(err)
		}
		return report.Counts["samples-sum"]
	}
	if n := sums(malloc, sample("malloc")); n != 0 {
		t.Errorf("%d errors for a sample of another event with the same stack id", n)
	}
	if n := sums(malloc, sample("cycles")); n == 0 {
		t.Error("no error for more samples of an event than its stack has")
	}
}
