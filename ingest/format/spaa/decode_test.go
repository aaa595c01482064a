package spaa

import (
	"fmt"
	"math/big"
	"slices"
	"strings"
	"testing"

	"ashlar/ingest/model/recording"
)

const (
	head  = `{"type":"header","format":"spaa","version":"1.0","source_tool":"perf","frame_order":"leaf_to_root","events":[{"name":"cycles","kind":"hardware","sampling":{"mode":"period","primary_metric":"period","sample_period":1000}}],"time_range":{"start":100.5,"end":110.5,"unit":"seconds"},"source":{"tool":"perf","command":"perf record -g","tool_version":"6.1"},"stack_id_mode":"local"}`
	dso1  = `{"type":"dso","id":1,"name":"/usr/bin/app","build_id":"abcd","is_kernel":false}`
	dso2  = `{"type":"dso","id":2,"name":"[kernel]","is_kernel":true}`
	fMain = `{"type":"frame","id":1,"func":"main","dso":1,"ip":"0x401000","srcline":"src/main.c:10:3","kind":"user"}`
	fRun  = `{"type":"frame","id":2,"func":"run","dso":1,"ip":"0x402000","symoff":"0x20","srcline":"src/run.c:20","kind":"user"}`
	fRun2 = `{"type":"frame","id":3,"func":"run","dso":1,"ip":"0x402010","srcline":"src/run.h:7","inlined":true,"inline_depth":1,"kind":"user"}`
	fRead = `{"type":"frame","id":4,"func":"0xffff","func_resolved":false,"dso":2,"kind":"kernel"}`
)

// dict4 is a header with dsos and frames, the beginning of most test files.
var dict4 = lines(head, dso1, dso2, fMain, fRun, fRun2, fRead)

func stackLine(id, frames, context, weights string) string {
	return fmt.Sprintf(`{"type":"stack","id":%s,"frames":[%s],"context":{"event":"cycles"%s},"weights":[%s]}`, id, frames, context, weights)
}

func period(v string) string { return `{"metric":"period","value":` + v + `,"unit":"events"}` }

func TestRecording(t *testing.T) {
	rec := read(t, dict4+lines(
		`{"type":"thread","pid":7,"tid":8,"comm":"worker"}`,
		stackLine(`"0xa"`, "4,3,1", `,"pid":7,"tid":8,"cpu":2,"comm":"app","probe":{"provider":"syscall","module":""},"x_vendor":{"a":[1, 2],"b":"c"}`, period("30")+`,{"metric":"samples","value":3}`),
		stackLine(`"0xb"`, "2,1", "", period("12")),
		stackLine(`"0xc"`, "", `,"pid":7,"tid":7,"comm":"boss"`, period("5")),
	))
	equal(t, "warnings", codes(rec), "")
	equal(t, "source", rec.Source, recording.Source{Format: "spaa", Version: "1.0", Tool: "perf 6.1", Command: "perf record -g", Checked: true})
	equal(t, "clock", rec.Clock, recording.Clock{Unit: "seconds", PerUnit: 1e12, Origin: recording.Decimal{Mantissa: 1005, Scale: 1}})
	equal(t, "extent", []any{rec.Start, rec.End, rec.HasTime}, []any{int64(0), int64(10e12), true})

	e := rec.Events[0]
	equal(t, "event", []any{e.Name, e.Kind, e.Mode, e.Period, e.Primary, e.Basis}, []any{"cycles", "hardware", "period", int64(1000), 0, recording.FromStacks})
	equal(t, "metrics", e.Metrics, []recording.Metric{
		{Name: "period", Unit: "events", Total: 47},
		{Name: "samples", Unit: "count", PerSample: recording.SampleOne, Total: 3},
	})
	rows := rec.Stacks[0]
	equal(t, "stacks", []string{stackText(rec, rows.Call(0)), stackText(rec, rows.Call(1)), stackText(rec, rows.Call(2))}, []string{"main;run;0xffff", "main;run", ""})
	equal(t, "values", []int64{rows.Value(0, 0), rows.Value(0, 1), rows.Value(1, 1)}, []int64{30, 3, recording.Missing})
	equal(t, "tracks", []int{rows.Track(0), rows.Track(1), rows.Track(2)}, []int{0, recording.NoTrack, 1})
	equal(t, "context", rec.Contexts.At(int(rows.Context(0))), recording.Context{
		{Key: "comm", Value: "app"}, {Key: "cpu", Value: "2"}, {Key: "event", Value: "cycles"}, {Key: "pid", Value: "7"},
		{Key: "probe.module", Value: ""}, {Key: "probe.provider", Value: "syscall"}, {Key: "tid", Value: "8"},
		{Key: "x_vendor.a", Value: "[1,2]"}, {Key: "x_vendor.b", Value: "c"},
	})
	equal(t, "names", []string{rec.Tracks[0].Name, rec.Tracks[1].Name, rec.Processes[0].Name}, []string{"worker", "boss", "boss"})

	path := rec.Calls.Path(nil, rows.Call(0))
	frame := func(i int) recording.Frame { return rec.Frames.At(int(rec.Calls.Frame(path[i]))) }
	main, run, read := rec.Func(path[0]), rec.Func(path[1]), rec.Func(path[2])
	equal(t, "main", rec.Functions.At(int(main)), recording.Function{Name: "main", Module: "/usr/bin/app", File: "src/main.c", Kind: recording.KindUser})
	equal(t, "run", rec.Functions.At(int(run)), recording.Function{Name: "run", Module: "/usr/bin/app", File: "src/run.c", Kind: recording.KindUser})
	equal(t, "read", rec.Functions.At(int(read)), recording.Function{Name: "0xffff", Module: "[kernel]", Kind: recording.KindKernel, Unresolved: true})
	equal(t, "main's frame", frame(0), recording.Frame{Func: main, Addr: 0x401000, Line: 10, Column: 3, Kind: recording.KindUser, BuildID: "abcd"})
	equal(t, "run's frame", frame(1), recording.Frame{Func: run, Addr: 0x402010, File: "src/run.h", Line: 7, Kind: recording.KindUser, Inlined: true, InlineDepth: 1, BuildID: "abcd"})
	other := rec.Frames.At(int(rec.Calls.Frame(rows.Call(1))))
	equal(t, "other frame", other, recording.Frame{Func: run, Addr: 0x402000, Offset: 0x20, Line: 20, Kind: recording.KindUser, BuildID: "abcd"})
}

func TestFrameOrder(t *testing.T) {
	leaf := read(t, dict4+lines(
		stackLine(`"a"`, "4,3,1", "", period("30")), stackLine(`"b"`, "2,1", "", period("12")), stackLine(`"c"`, "2,2,1", "", period("1"))))
	root := read(t, strings.Replace(dict4, "leaf_to_root", "root_to_leaf", 1)+lines(
		stackLine(`"a"`, "1,3,4", "", period("30")), stackLine(`"b"`, "1,2", "", period("12")), stackLine(`"c"`, "1,2,2", "", period("1"))))
	equal(t, "root_to_leaf", dump(root), dump(leaf))
	self, total := tables(leaf, 0)
	equal(t, "self", self, map[string]int64{"0xffff|[kernel]": 30, "run|/usr/bin/app": 13})
	equal(t, "total", total, map[string]int64{"0xffff|[kernel]": 30, "run|/usr/bin/app": 43, "main|/usr/bin/app": 43})
}

func sampleLine(at, id, rest string) string {
	return fmt.Sprintf(`{"type":"sample","timestamp":%s,"stack_id":%s%s}`, at, id, rest)
}

// samplesOf lists the samples of a thread as "time stack cpu values".
func samplesOf(rec *recording.Recording, pid, tid int64) []string {
	var out []string
	for _, t := range rec.Tracks {
		if t.PID != pid || t.TID != tid {
			continue
		}
		for _, s := range t.Samples {
			e := rec.Events[s.Event]
			for i := range s.Len() {
				line := fmt.Sprintf("%s %s cpu%d", rec.Clock.Text(s.Time(i)), stackText(rec, s.Call(i)), s.CPU(i))
				for k := range e.Metrics {
					if v := s.Value(i, &e.Metrics[k], k); v != recording.Missing {
						line += fmt.Sprintf(" %s=%s", e.Metrics[k].Name, recording.Decimal{Mantissa: v, Scale: e.Metrics[k].Decimals})
					}
				}
				out = append(out, line)
			}
		}
	}
	return out
}

func TestSamples(t *testing.T) {
	rec := read(t, dict4+lines(
		stackLine(`"a"`, "2,1", `,"pid":7,"tid":8`, period("3000")),
		sampleLine("101.000000000001", `"a"`, `,"pid":7,"tid":8,"cpu":3,"event":"cycles","period":1000`),
		sampleLine("100.6", `"a"`, `,"pid":7,"tid":8,"event":"cycles","period":1000.25`),
		sampleLine("102", `"a"`, `,"pid":7,"tid":8,"event":"cycles"`),
		sampleLine("103", `"a"`, `,"period":5`),
	))
	equal(t, "warnings", codes(rec), "period-missing×1@line 11")
	equal(t, "samples", samplesOf(rec, 7, 8), []string{
		"100.6 main;run cpu-1 period=1000.25",
		"101.000000000001 main;run cpu3 period=1000",
		"102 main;run cpu-1",
	})
	equal(t, "without a thread", samplesOf(rec, 0, 0), []string{"103 main;run cpu-1 period=5"})
	equal(t, "its track", rec.Tracks[1].Name, noThread)
	equal(t, "basis", rec.Events[0].Basis, recording.FromStacks)
	equal(t, "total", rec.Events[0].Metrics[0].Total, int64(300000))
}

// TestAmbiguousIDs gives four stacks the same id. A sample must get the stack of its event
// and thread, whatever the order of the records.
func TestAmbiguousIDs(t *testing.T) {
	two := strings.Replace(dict4, `"events":[`, `"events":[{"name":"misses","kind":"hardware","sampling":{"mode":"period","primary_metric":"period"}},`, 1)
	stacks := []string{
		stackLine(`"x"`, "1", `,"pid":7,"tid":7`, period("1")),
		stackLine(`"x"`, "2,1", `,"pid":7,"tid":8`, period("2")),
		strings.Replace(stackLine(`"x"`, "4,1", `,"pid":7,"tid":8`, period("4")), "cycles", "misses", 1),
		stackLine(`"x"`, "4,2,1", `,"pid":9,"tid":9`, period("8")),
	}
	samples := []string{
		sampleLine("101", `"x"`, `,"pid":7,"tid":8,"event":"cycles"`),
		sampleLine("102", `"x"`, `,"pid":7,"tid":8,"event":"misses"`),
		sampleLine("103", `"x"`, `,"pid":7,"tid":7,"event":"cycles"`),
		sampleLine("104", `"x"`, `,"pid":9,"tid":10,"event":"cycles"`), // only its process has such a stack
		sampleLine("105", `"x"`, `,"pid":1,"tid":1,"event":"cycles"`),  // only its event has one
		sampleLine("106", `"x"`, `,"tid":9,"event":"cycles"`),          // the process of the thread is known
	}
	orders := map[string][]string{
		"stacks first":  append(append([]string{}, stacks...), samples...),
		"samples first": append(append([]string{}, samples...), stacks...),
		"mixed":         {stacks[0], samples[0], samples[1], samples[2], stacks[1], samples[3], stacks[3], samples[4], samples[5], stacks[2]},
	}
	for name, records := range orders {
		t.Run(name, func(t *testing.T) {
			rec := read(t, two+lines(records...))
			equal(t, "stack records", rec.Counts.Stacks, int64(4))
			equal(t, "totals", []int64{rec.Events[0].Metrics[0].Total, rec.Events[1].Metrics[0].Total}, []int64{4, 11})
			got := samplesOf(rec, 7, 8) // samples are grouped by event
			slices.Sort(got)
			equal(t, "7/8", got, []string{"101 main;run cpu-1", "102 main;0xffff cpu-1"})
			equal(t, "7/7", samplesOf(rec, 7, 7), []string{"103 main cpu-1"})
			equal(t, "9/10", samplesOf(rec, 9, 10), []string{"104 main;run;0xffff cpu-1"})
			equal(t, "1/1", samplesOf(rec, 1, 1), []string{"105 main cpu-1"})
			if name != "samples first" { // there, the thread's process was not known yet
				equal(t, "9/9", samplesOf(rec, 9, 9), []string{"106 main;run;0xffff cpu-1"})
			}
			if got := codes(rec); !strings.HasPrefix(got, "stack-id-content×3@line ") {
				t.Errorf("warnings: %s", got)
			}
		})
	}
}

func TestForwardReferences(t *testing.T) {
	stack := stackLine(`17`, "2,1", `,"pid":7,"tid":8`, period("3000"))
	window := `{"type":"window","id":"w1","start":1,"end":2,"unit":"seconds","by_stack":[{"stack_id":17,"weights":[` + period("7") + `]}]}`
	s1, s2 := sampleLine("101", `17`, `,"pid":7,"tid":8,"event":"cycles","period":10`), sampleLine("102", `17`, `,"pid":7,"tid":8,"event":"cycles","period":11`)
	want := read(t, dict4+lines(stack, s1, s2, window))
	got := read(t, dict4+lines(s1, window, stack, s2))
	for _, rec := range []*recording.Recording{want, got} {
		equal(t, "samples", samplesOf(rec, 7, 8), []string{"101 main;run cpu-1 period=10", "102 main;run cpu-1 period=11"})
		equal(t, "windows", rec.Windows[0].Windows, []recording.Window{{ID: "w1", Start: 1e12, End: 2e12, First: 0, Last: 1}})
		equal(t, "row", []any{stackText(rec, rec.Windows[0].Rows.Call(0)), rec.Windows[0].Rows.Track(0), rec.Windows[0].Rows.Value(0, 0)}, []any{"main;run", 0, int64(7)})
		equal(t, "warnings", codes(rec), "")
	}
}

func TestValues(t *testing.T) {
	weight := func(metric, v string) string { return fmt.Sprintf(`{"metric":%q,"value":%s}`, metric, v) }
	tests := []struct {
		name     string
		values   []string
		decimals int
		total    string
		warnings string
	}{
		{"integers", []string{"1", "2"}, 0, "3", ""},
		{"beyond 2^53", []string{"9007199254740993", "2"}, 0, "9007199254740995", ""},
		{"fractions", []string{"1", "0.25", "2.5"}, 2, "3.75", ""},
		{"a fraction of zero", []string{"1.0", "2.50"}, 1, "3.5", ""},
		{"exponents", []string{"1e3", "25e-1"}, 1, "1002.5", ""},
		{"nine decimals", []string{"0.123456789", "1"}, 9, "1.123456789", ""},
		{"ten decimals", []string{"0.1234567895"}, 9, "0.12345679", "rounded×1@line 8"},
		{"negative halves", []string{"-0.1234567895"}, 9, "-0.12345679", "rounded×1@line 8"},
		{"too large", []string{"99999999999999999999"}, 0, "9223372036854775807", "saturated×1@line 8"},
		{"the smallest", []string{"-9223372036854775808"}, 0, "-9223372036854775807", "saturated×1@line 8"},
		{"no room for decimals", []string{"5000000000000000000", "0.5"}, 0, "5000000000000000001", "rounded×1@line 9"},
		{"large after fractions", []string{"0.5", "5000000000000000000"}, 1, "922337203685477580.7", "saturated×1@line 9 total-overflow×1@"},
		{"total", []string{"9000000000000000000", "9000000000000000000", "1"}, 0, "9223372036854775807", "total-overflow×1@"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			data := dict4
			for i, v := range tt.values {
				data += lines(stackLine(fmt.Sprintf(`"s%d"`, i), "1", "", weight("period", v)))
			}
			rec := read(t, data)
			m := rec.Events[0].Metrics[0]
			equal(t, "decimals", m.Decimals, tt.decimals)
			equal(t, "total", recording.Decimal{Mantissa: m.Total, Scale: m.Decimals}.String(), tt.total)
			equal(t, "warnings", codes(rec), tt.warnings)
		})
	}
}

// TestLateMetric reads metrics that only the second record has.
func TestLateMetric(t *testing.T) {
	header := strings.Replace(head, `"primary_metric":"period"`, `"primary_metric":"alloc_bytes"`, 1)
	rec := read(t, lines(header, dso1, fMain,
		stackLine(`1`, "1", "", `{"metric":"alloc_bytes","value":10,"unit":"bytes"}`),
		stackLine(`2`, "1", "", `{"metric":"live_bytes","value":3},{"metric":"alloc_bytes","value":20},{"metric":"peak_bytes","value":9}`)))
	equal(t, "metrics", rec.Events[0].Metrics, []recording.Metric{
		{Name: "alloc_bytes", Unit: "bytes", Total: 30},
		{Name: "live_bytes", Unit: "bytes", Kind: recording.Level, Total: 3},
		{Name: "peak_bytes", Unit: "bytes", Kind: recording.Peak, Total: 9},
	})
	equal(t, "first record", []int64{rec.Stacks[0].Value(0, 0), rec.Stacks[0].Value(0, 1)}, []int64{10, recording.Missing})
	equal(t, "warnings", codes(rec), "native-metric×2@line 4")
}

// TestClocksCountTime checks that periods of perf's clocks are nanoseconds even if a
// converter calls them events or gives no unit, and that other events keep the file's unit.
func TestClocksCountTime(t *testing.T) {
	for weight, unit := range map[string]string{period("10"): "events", `{"metric":"period","value":10}`: ""} {
		for event, want := range map[string]string{"cycles": unit, "cpu-clock:pppH": "ns", "task-clock": "ns", "cpu-clocks": unit} {
			header := strings.ReplaceAll(head, `"cycles"`, `"`+event+`"`)
			stack := strings.ReplaceAll(stackLine(`1`, "1", "", weight), `"cycles"`, `"`+event+`"`)
			rec := read(t, lines(header, dso1, fMain, stack))
			if m := rec.Events[0].Metrics[0]; rec.Events[0].Name != event || m.Unit != want || m.Total != 10 {
				t.Errorf("%s of %s: %+v, want %q", weight, event, m, want)
			}
		}
	}
}

// TestFromSamples reads stacks without weights, so that values come from the samples.
func TestFromSamples(t *testing.T) {
	rec := read(t, dict4+lines(
		stackLine(`1`, "1", `,"pid":7,"tid":8`, ""),
		sampleLine("101", `1`, `,"pid":7,"tid":8,"event":"cycles","period":10`),
		sampleLine("102", `1`, `,"pid":7,"tid":8,"event":"cycles","period":0.5`)))
	e := rec.Events[0]
	equal(t, "basis", e.Basis, recording.FromSamples)
	equal(t, "metrics", e.Metrics, []recording.Metric{
		{Name: "period", Decimals: 1, PerSample: recording.SampleColumn, Total: 105},
		{Name: "samples", Unit: "count", PerSample: recording.SampleOne, Total: 2},
	})
	equal(t, "warnings", codes(rec), "primary-metric×1@line 8")

	rec = read(t, dict4+lines(stackLine(`1`, "1", "", ""), stackLine(`2`, "1", "", "")))
	equal(t, "warnings without samples", codes(rec), "primary-missing×2@line 8")
}

func TestClock(t *testing.T) {
	tests := []struct {
		unit, origin, at string
	}{
		{"seconds", "12345.0", "12345.6789"},
		{"seconds", "1700000000.123456789", "1700000060.5"},
		{"seconds", "1700000000.123456789012", "1700000000.123456789013"},
		{"seconds", "163140.599286", "163140.647178"},
		{"s", "5", "4.25"},
		{"milliseconds", "1.5", "100.000000001"},
		{"us", "0", "123456789.000001"},
		{"nanoseconds", "1700000000000000000", "1700000000000000001.125"},
		{"ns", "1.7e18", "1.700000000000000001e18"},
		{"ps", "0", "7.9"},
		{"minutes", "1", "2.5"},
		{"seconds", "0", "1e-400"},
	}
	for _, tt := range tests {
		header := strings.NewReplacer(`"start":100.5,"end":110.5,"unit":"seconds"`, fmt.Sprintf(`"start":%s,"end":%s,"unit":%q`, tt.origin, tt.origin, tt.unit)).Replace(head)
		rec := read(t, lines(header, dso1, fMain, stackLine(`1`, "1", `,"tid":1`, period("1")), sampleLine(tt.at, "1", `,"tid":1`)))
		origin, _ := new(big.Rat).SetString(tt.origin)
		if d := rec.Clock.Origin; d.Scale < 10 { // an origin with more digits than fit in 64 bits is truncated
			origin.SetFrac(big.NewInt(d.Mantissa), new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(d.Scale)), nil))
		}
		at, _ := new(big.Rat).SetString(tt.at)
		ps := at.Sub(at, origin)
		ps.Mul(ps, new(big.Rat).SetInt64(rec.Clock.PerUnit))
		want := new(big.Int).Quo(ps.Num(), ps.Denom())
		got := rec.Tracks[0].Samples[0].Time(0)
		if want.Cmp(big.NewInt(got)) != 0 {
			t.Errorf("%s %s after %s: got %d ps, want %s", tt.at, tt.unit, tt.origin, got, want)
		}
		warnings := ""
		if got < 0 {
			warnings = "before-start×1@line 5"
		}
		equal(t, "warnings", codes(rec), warnings)
	}
}

func TestClockLimits(t *testing.T) {
	rec := read(t, dict4+lines(stackLine(`1`, "1", `,"tid":1`, period("1")),
		sampleLine("1e30", "1", `,"tid":1`), sampleLine("-1e999999999999", "1", `,"tid":1`)))
	equal(t, "samples", rec.Counts.Samples, int64(0)) // not at the edges of the time range either
	equal(t, "extent", []int64{rec.Start, rec.End}, []int64{0, 10e12})
	equal(t, "warnings", codes(rec), "time-far×2@line 9")
	equal(t, "ledger", tally(rec, "sample"), recording.Tally{Kind: "sample", Read: 2, LeftOut: 2, FirstLeftOut: "line 9"})

	header := strings.Replace(head, `"time_range":{"start":100.5,"end":110.5,"unit":"seconds"},`, "", 1)
	rec = read(t, lines(header, dso1, fMain, stackLine(`1`, "1", `,"tid":1`, period("1")),
		sampleLine("50.25", "1", `,"tid":1`), sampleLine("49", "1", `,"tid":1`)))
	equal(t, "extent", []int64{rec.Start, rec.End}, []int64{-125e10, 0})
	equal(t, "origin", rec.Clock.Origin.String(), "50.25")
	equal(t, "warnings", codes(rec), "no-time-range×1@line 5")

	rec = read(t, strings.Replace(dict4, `"unit":"seconds"`, `"unit":"fortnights"`, 1)+lines(stackLine(`1`, "1", "", period("1"))))
	equal(t, "warnings", codes(rec), "time-unit×1@line 1")
	equal(t, "extent", rec.End, int64(10e12))
}

func TestWindows(t *testing.T) {
	window := func(start, end, unit string) string {
		return fmt.Sprintf(`{"type":"window","id":5,"start":%s,"end":%s,"unit":%q,"by_stack":[{"stack_id":1,"weights":[%s]},{"stack_id":2,"weights":[{"metric":"period","value":0.5}]}]}`, start, end, unit, period("7"))
	}
	stacks := lines(stackLine(`1`, "1", `,"pid":7,"tid":8`, period("1")), stackLine(`2`, "2,1", `,"pid":7,"tid":8`, period("1")), stackLine(`2`, "2,1", `,"pid":7,"tid":9`, period("1")))
	tests := []struct {
		name, windows string
		start, end    int64
		warnings      string
	}{
		{"relative", window("1", "2.5", "seconds"), 1e12, 25e11, ""},
		{"absolute", window("101.5", "102.5", "seconds"), 1e12, 2e12, ""},
		{"another unit", window("1000", "2500", "ms"), 1e12, 25e11, ""},
		{"absolute in another unit", window("101500", "102500", "ms"), 1e12, 2e12, ""},
		{"over the start", window("100", "101", "seconds"), -5e11, 5e11, ""},
		{"backwards", window("2", "1", "seconds"), 2e12, 2e12, "window-end×1@line 11"},
		{"far away", window("500", "501", "seconds"), 3995e11, 4005e11, "window-place×1@line 11"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			rec := read(t, dict4+stacks+lines(tt.windows))
			ws := rec.Windows[0]
			equal(t, "window", ws.Windows, []recording.Window{{ID: "5", Start: tt.start, End: tt.end, First: 0, Last: 2}})
			equal(t, "values", []int64{ws.Rows.Value(0, 0), ws.Rows.Value(1, 0)}, []int64{70, 5})
			equal(t, "decimals", rec.Events[0].Metrics[0].Decimals, 1)
			equal(t, "tracks", []int{ws.Rows.Track(0), ws.Rows.Track(1)}, []int{0, recording.NoTrack})
			equal(t, "total", rec.Events[0].Metrics[0].Total, int64(30))
			equal(t, "warnings", codes(rec), tt.warnings)
		})
	}
}

// TestThreads checks the names of tracks and processes.
func TestThreads(t *testing.T) {
	rec := read(t, dict4+lines(
		`{"type":"thread","pid":7,"tid":7}`,
		`{"type":"thread","pid":7,"tid":8,"comm":"given"}`,
		stackLine(`1`, "1", `,"pid":7,"tid":7,"comm":"sh"`, period("1")),
		stackLine(`2`, "1", `,"pid":7,"tid":7,"comm":"app"`, period("1")),
		stackLine(`3`, "1", `,"pid":7,"tid":7,"comm":"app"`, period("1")),
		stackLine(`4`, "1", `,"tid":8,"comm":"other"`, period("1")), // pid from the thread record
		stackLine(`5`, "1", `,"pid":20,"tid":21,"comm":"a"`, period("1")),
		stackLine(`6`, "1", `,"pid":20,"tid":22,"comm":"b"`, period("1")),
		stackLine(`7`, "1", `,"pid":20,"tid":23,"comm":"b"`, period("1")),
	))
	var got []string
	for _, tr := range rec.Tracks {
		got = append(got, fmt.Sprintf("%s %d/%d %s", rec.Processes[tr.Process].Name, tr.PID, tr.TID, tr.Name))
	}
	equal(t, "tracks", got, []string{"app 7/7 app", "app 7/8 given", "b 20/21 a", "b 20/22 b", "b 20/23 b"})
	equal(t, "warnings", codes(rec), "")
}

func TestSplitSrcLine(t *testing.T) {
	tests := []struct {
		in, file  string
		line, col int32
	}{
		{"src/parse.rs:214", "src/parse.rs", 214, 0},
		{"a.js:10:11", "a.js", 10, 11},
		{"node:path:66:25", "node:path", 66, 25},
		{"node:fs", "node:fs", 0, 0},
		{`C:\src\a.cs:12`, `C:\src\a.cs`, 12, 0},
		{`C:\src\a.cs`, `C:\src\a.cs`, 0, 0},
		{"http://host:8080/a.js:1:2", "http://host:8080/a.js", 1, 2},
		{"(program):10:11", "(program)", 10, 11},
		{"a.c:12 (discriminator 3)", "a.c", 12, 0},
		{"a:1:2:3", "a:1", 2, 3},
		{"a.c:99999999999", "a.c:99999999999", 0, 0},
		{"a.c:", "a.c:", 0, 0},
		{":5", ":5", 0, 0},
		{"??:0", "", 0, 0},
		{"??", "", 0, 0},
		{"", "", 0, 0},
	}
	for _, tt := range tests {
		file, line, col := splitSrcLine(tt.in)
		if string(file) != tt.file || line != tt.line || col != tt.col {
			t.Errorf("%q: got %q %d %d, want %q %d %d", tt.in, file, line, col, tt.file, tt.line, tt.col)
		}
	}
}

// TestUnitsOfTime checks that values of a metric in several units of time are converted to
// the first one.
func TestUnitsOfTime(t *testing.T) {
	in := func(value, unit string) string {
		return stackLine(`"`+unit+`"`, "2,1", "", `{"metric":"period","value":`+value+`,"unit":"`+unit+`"}`)
	}
	for _, c := range []struct {
		lines []string
		total recording.Decimal
		unit  string
	}{
		{[]string{in("5000000", "ns"), in("5", "ms")}, recording.Decimal{Mantissa: 10000000}, "ns"},
		{[]string{in("5", "ms"), in("5000000", "ns")}, recording.Decimal{Mantissa: 10}, "ms"},
		{[]string{in("5", "ms"), in("1250", "us"), in("2", "s")}, recording.Decimal{Mantissa: 200625, Scale: 2}, "ms"},
	} {
		rec := read(t, dict4+lines(c.lines...))
		m := rec.Events[0].Metrics[0]
		equal(t, "warnings", codes(rec), "")
		equal(t, "total", []any{recording.Decimal{Mantissa: m.Total, Scale: m.Decimals}.String(), m.Unit}, []any{c.total.String(), c.unit})
	}
}
