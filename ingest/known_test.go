package ingest

import (
	"strings"
	"testing"
)

// beginnings maps the first bytes of files in unsupported formats to a part of the error
// message.
var beginnings = map[string]string{
	"PK\x03\x04\x14\x00":                                                                                "zip archive",
	"\x17\x08\x44tracing6\x00\x00\x08":                                                                  "trace-cmd",
	"desc: --x\ncmd: ./a\ntime_unit: i\n#-----------\nsnapshot=0\n":                                     "ms_print FILE",
	"v8-version,12,4,254,21,-node.33,0\nshared-library,/usr/bin/node,0x55,0x56,0\n":                     "node --cpu-prof",
	"Statistical profiling result from isolate-0x5581-v8.log, (12 ticks, 1 unaccounted, 0 excluded).\n": "V8's text of `node --prof-process`",
	`{"snapshot":{"meta":{"node_fields":["type","name"]}},"nodes":[1]}`:                                 "V8 heap snapshot",
	`{"version":1,"recording":{"displayName":"Timeline Recording 1","records":[]},"overview":{}}`:       "Safari timeline",
	"\x14\x00\x00\x00!FastSerialization.1\x05\x05\x01":                                                  "dotnet-trace collect",
	"<?xml version=\"1.0\"?>\n<trace-query-result>\n":                                                   "Instruments",
	"tr\xfdP\x01\x08\x04":                                 "Tracy trace",
	"QDSTRM\x00\x01":                                      "Nsight Systems",
	"SQLite format 3\x00\x10\x00":                         "SQLite database",
	"\x04\x08{\x0d:\x0cversionf\x081.2:\x09mode:\x09wall": "stackprof --stackcollapse FILE",
	`{"version":1.2,"mode":"wall","interval":1000,"samples":3,"frames":{}}`:                   "stackprof",
	"{\xa9\x03\xda\x01~\xe9\x00\x00\x00\x00":                                                  "py-spy record -f speedscope",
	"memray\x00\x0b\x00\x00\x00":                                                              "memray transform",
	"gmon\x01\x00\x00\x00\x00":                                                                "gprof PROGRAM FILE",
	"Flat profile:\n\nEach sample counts as 0.01 seconds.\n":                                  "gprof's text",
	"# To display the perf.data header info, please use --header/--header-only options.\n#\n": "`perf script`",
	`{"linux-perf-json-version": 1,"headers": {}}`:                                            "`perf data convert`",
	"2022-01-01 00:00:00\nFull thread dump OpenJDK 64-Bit Server VM (11):\n":                  "stackcollapse-jstack.pl",
	"goroutine 1 [running]:\nmain.main()\n\t/a/b.go:12 +0x1\n":                                "stackcollapse-go.pl",
	"JAVA PROFILE 1.0.2\x00\x00":                                                              "HPROF",
	"\x7fELF\x02\x01\x01\x00\x00\x00":                                                         "program or library",
	"\xfd7zXZ\x00\x00":                                                                        "archive, or file compressed with something other than gzip or zstd",
	"a.json" + strings.Repeat("\x00", 251) + "ustar\x00":                                      "tar archive",
	"<?xml version=\"1.0\"?>\n<!DOCTYPE svg PUBLIC \"a\" \"b\">\n<svg version=\"1.1\">":       "folded stacks it was drawn from",
	"<!DOCTYPE html><html><body>404":                                                          "HTML page",
	"2CRT\x00\x00":                                                                            "Unreal",
	"\xc1\x1f\xfc\xc1\x00":                                                                    "Common Trace Format",
	`{"resourceMetrics":[{}]}`:                                                                "OpenTelemetry metrics or logs",
	`{"version":1,"flamebearer":{"names":["total"]}}`:                                         "format=pprof",
	`{"name":"root","value":10,"children":[]}`:                                                "d3-flame-graph",
	`{"session":{"duration":2.0},"frame_tree":{}}`:                                            "pyinstrument --load FILE",
	`{"log":{"version":"1.2","creator":{},"entries":[]}}`:                                     "(HAR)",
	"\xff\xfe[\x00{\x00":                                                                      "UTF-16 text",
	etl():                                                                                     "(ETW)",
}

// etl returns the start of a Windows event log: the header of a buffer and the marker of
// its first event.
func etl() string {
	b := make([]byte, 0x200)
	b[1], b[2] = 0, 1 // size: 64 KB
	copy(b[0x48:], "\x02\x00\x02\xc0")
	return string(b)
}

func TestKnownFormats(t *testing.T) {
	used := map[string]bool{}
	for head, want := range beginnings {
		for _, whole := range []bool{true, false} {
			f, err := Sniff("x", []byte(head), whole)
			if f != nil || err == nil || !strings.Contains(err.Error(), want) || !strings.HasPrefix(err.Error(), "unsupported format: ") || !strings.Contains(err.Error(), "; ") {
				t.Errorf("%q: %v %v, want %s", head, f, err, want)
				continue
			}
			for i := range knowns {
				if strings.HasPrefix(err.Error(), "unsupported format: "+knowns[i].what+";") && strings.HasSuffix(err.Error(), knowns[i].way) {
					used[knowns[i].what+knowns[i].way] = true
				}
			}
		}
	}
	for _, k := range knowns {
		if !used[k.what+k.way] {
			t.Errorf("nothing tries %s: %s", k.what, k.way)
		}
	}
}
