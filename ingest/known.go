package ingest

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"sync"

	"ashlar/ingest/format/decode"
	"ashlar/ingest/input/jsonscan"
)

// known is a format that is recognised but not supported.
type known struct {
	// what is the format's name, and way describes how to get a file that can be opened.
	what, way string
	// A file is recognised by one of several magic numbers, or else by is. But if a
	// supported format is certain of the file, that format is used.
	magic []string
	is    func(*opening) bool
}

// opening is the beginning of a file.
type opening struct {
	head  []byte
	whole bool
	keys  map[string]bool // keys of the outermost JSON object, nil if there is none
	// claimed means that a supported format may be the file's.
	claimed bool
}

// Values of way that several formats share.
const (
	bySpeedscope = "open it in speedscope (https://www.speedscope.app) and export it there"
)

// knowns lists the formats that are recognised but not supported. To add one, add its
// row.
var knowns = []known{
	{"zip archive inside other data", "unpack it and open the recording in it", []string{"PK\x03\x04"}, nil},
	{"trace-cmd recording", "record with `perf record` instead, or convert it with Perfetto's traceconv", []string{"\x17\x08\x44tracing"}, nil},
	{"Massif output", "print it with `ms_print FILE`, or record with heaptrack or a heap profiler that writes pprof", nil, matches(`\Adesc: .*\ncmd: .*\ntime_unit: `)},
	{"V8 log (isolate-*.log)", "record with `node --cpu-prof` instead and open the .cpuprofile", []string{"v8-version,", "shared-library,"}, nil},
	{"V8's text of `node --prof-process`", "record with `node --cpu-prof` instead and open the .cpuprofile", nil, matches(`\AStatistical profiling result from `)},
	{"V8 heap snapshot", "a snapshot has objects but no calls; record a profile", nil, func(b *opening) bool {
		return b.keys["snapshot"] && b.has(`"node_fields"`)
	}},
	{"Safari timeline", bySpeedscope, nil, func(b *opening) bool {
		return b.keys["recording"] && (b.keys["version"] || b.has(`"displayName"`))
	}},
	{".NET trace or heap dump in an old form (.netperf, .gcdump)", "record with `dotnet-trace collect` of .NET Core 3 or later and open the .nettrace", []string{"\x14\x00\x00\x00!FastSerialization.1"}, nil},
	{"export of Apple's Instruments", bySpeedscope, nil, matches(`(?s)\A\s*<\?xml.{0,200}<trace-(query-result|toc)`)},
	{"Tracy trace", "only Tracy reads it; record with spall or as a Chrome trace instead", []string{"tr\xfdP", "tlZ\x04", "tZst", "tracy"}, nil},
	{"Nsight Systems recording", "export it with `nsys export --type sqlite FILE` and convert that with a script such as nsys2json", nil, matches(`\A(QDSTRM|PNSR|nsys)`)},
	{"SQLite database", "if Nsight Systems wrote it, convert it with a script such as nsys2json", []string{"SQLite format 3\x00"}, nil},
	{"dump of Ruby's stackprof", "convert it with `stackprof --stackcollapse FILE > run.folded`", nil, matches(`(?s)\A\x04\x08\{.{0,40}:\x0cversion`)},
	{"dump of Ruby's stackprof", bySpeedscope, nil, func(b *opening) bool {
		return b.keys["mode"] && b.keys["version"] && b.has(`"interval"`, `"samples"`)
	}},
	{"profile of Python's cProfile (pstats)", "cProfile records no stacks; record with `py-spy record -f speedscope -o run.speedscope.json` instead", []string{"{\xa9\x03", "{)\x03", "{(\x03\x00\x00\x00"}, nil},
	{"memray recording", "convert it with `memray transform` or record with py-spy", []string{"memray\x00"}, nil},
	{"gprof profile (gmon.out)", "print it with `gprof PROGRAM FILE` and convert that with gprof2dot, or record with `perf record`", []string{"gmon\x01"}, nil},
	{"gprof's text", "gprof records no stacks; record with `perf record -g` instead", nil, matches(`\A(Flat profile:\n|\x0c?\s*Call graph \(explanation follows\))`)},
	{"text of `perf report`", "print the samples themselves with `perf script` and open that, or open perf.data", nil, func(b *opening) bool {
		return b.begins([]string{"# To display the perf.data header info", "# Total Lost Samples: "})
	}},
	{"output of `perf data convert`", "open perf.data itself", nil, func(b *opening) bool { return b.keys["linux-perf-json-version"] }},
	{"Java thread dump", "fold it with FlameGraph's `stackcollapse-jstack.pl FILE > run.folded`", nil, matches(`(?m)^Full thread dump `)},
	{"Go goroutine dump (text)", "fetch the profile itself (/debug/pprof/goroutine without debug=2), or fold it with FlameGraph's `stackcollapse-go.pl FILE > run.folded`", nil, matches(`\Agoroutine \d+ \[[^\]\n]+\]:\n`)},
	{"Java heap dump (HPROF)", "a dump has objects but no calls; record with async-profiler", []string{"JAVA PROFILE 1.0"}, nil},
	{"program or library", "run the program under a profiler, such as `perf record -g`, and open its recording", []string{"\x7fELF", "\xcf\xfa\xed\xfe", "\xca\xfe\xba\xbe\x00\x00\x00\x02"}, nil},
	{"archive, or file compressed with something other than gzip or zstd", "unpack it", []string{"\xfd7zXZ\x00", "BZh9", "BZh6", "BZh1", "\x04\x22\x4d\x18", "7z\xbc\xaf\x27\x1c", "Rar!\x1a\x07", "PK\x05\x06"}, nil},
	{"tar archive", "unpack it and open the recording in it", nil, func(b *opening) bool { return len(b.head) > 262 && string(b.head[257:262]) == "ustar" }},
	{"SVG picture", "a flamegraph drawn by FlameGraph has no stacks; open the folded stacks it was drawn from", nil, func(b *opening) bool { return b.begins([]string{"<"}) && b.has("<svg ") && !b.has("<html") }},
	{"HTML page", "save the recording itself; if a server sent this page, the address may be wrong", nil, func(b *opening) bool { return !b.claimed && page(b) }},
	{"Unreal Insights trace", "only Unreal Insights reads it", []string{"2CRT", "TRC2", "ECRT"}, nil},
	{"Common Trace Format (CTF), as LTTng writes it", "convert it with `babeltrace2`, or record with `perf record`", []string{"\xc1\x1f\xfc\xc1", "\xc1\xfc\x1f\xc1"}, nil},
	{"OpenTelemetry metrics or logs", "OpenTelemetry profiles and traces can be opened, metrics and logs cannot", nil, func(b *opening) bool { return b.keys["resourceMetrics"] || b.keys["resourceLogs"] }},
	{"Pyroscope flamegraph", "get pprof from its server (format=pprof) and open that", nil, func(b *opening) bool { return b.keys["flamebearer"] }},
	{"tree for d3-flame-graph", "open the folded stacks it was made from", nil, func(b *opening) bool { return b.keys["name"] && b.keys["value"] && b.keys["children"] }},
	{"pyinstrument session", "export it with `pyinstrument --load FILE -r speedscope -o run.speedscope.json`", nil, func(b *opening) bool { return b.keys["session"] && (b.keys["frame_tree"] || b.has(`"frame_records"`)) }},
	{"network requests (HAR)", "HAR files have no calls; save a trace in the browser's Performance panel", nil, func(b *opening) bool { return b.keys["log"] && b.has(`"entries"`, `"creator"`) }},
	{"UTF-16 text", "save it as UTF-8, as with `iconv -f UTF-16 -t UTF-8 FILE`", nil, func(b *opening) bool {
		return b.begins([]string{"\xff\xfe[\x00", "\xff\xfe{\x00", "\xfe\xff\x00[", "\xfe\xff\x00{"})
	}},
	{"Windows event trace (ETW)", "open it in PerfView, save it there for speedscope, and open that", nil, isETW},
}

// refused returns an error for a file in a known but unsupported format, else nil. sure
// is the highest confidence of any supported format.
func refused(head []byte, whole bool, sure decode.Confidence) error {
	b, taken := &opening{head: head, whole: whole, claimed: sure > decode.No}, sure == decode.Certain
	p := jsonscan.Space(head, 0)
	if p == 0 && bytes.HasPrefix(head, []byte("\xef\xbb\xbf")) {
		p = jsonscan.Space(head, 3)
	}
	if p < len(head) && head[p] == '{' {
		b.keys, _ = jsonscan.Keys(head[p:], whole)
	}
	for i := range knowns {
		k := &knowns[i]
		if b.begins(k.magic) || k.is != nil && !taken && k.is(b) {
			return fmt.Errorf("unsupported format: %s; %s", k.what, k.way)
		}
	}
	return nil
}

// has reports whether the start of the file contains all words.
func (b *opening) has(words ...string) bool {
	for _, w := range words {
		if !bytes.Contains(b.head, []byte(w)) {
			return false
		}
	}
	return true
}

func (b *opening) begins(magics []string) bool {
	return slices.ContainsFunc(magics, func(m string) bool { return bytes.HasPrefix(b.head, []byte(m)) })
}

var page = matches(`(?i)\A\s*<(!doctype html|html)[ >]`)

// matches returns a function that matches a pattern at the start of a file. Patterns are
// compiled on first use: most are never used, and compiling them all takes too long for a
// program that answers in milliseconds.
func matches(pattern string) func(*opening) bool {
	re := sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(pattern) })
	return func(b *opening) bool { return re().Match(b.head) }
}

// isETW recognises a Windows event log (ETL) by its first buffer: a WMI_BUFFER_HEADER with
// plausible sizes, followed by the event that describes the log file.
func isETW(b *opening) bool {
	h := b.head
	if len(h) < 0x70 {
		return false
	}
	word := func(at int) uint32 {
		return uint32(h[at]) | uint32(h[at+1])<<8 | uint32(h[at+2])<<16 | uint32(h[at+3])<<24
	}
	size := word(0)
	// The buffer header is 72 bytes long. The event after it is of the system logger, with
	// marker 0xc0010002 or 0xc0020002.
	marker := word(0x48)
	return size >= 4096 && size%1024 == 0 && word(4) <= size && (marker == 0xc0010002 || marker == 0xc0020002)
}
