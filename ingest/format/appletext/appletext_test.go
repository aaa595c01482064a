package appletext

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"ashlar/ingest/format/decode"
	"ashlar/ingest/format/decode/decodetest"
)

const sampleText = `Analysis of sampling Shop (pid 4711) every 2 milliseconds
Process:         Shop [4711]
Date/Time:       2026-03-01 10:00:00.000 +0100
OS Version:      macOS 26.1 (25B1)
----

Call graph:
    100 Thread_21   DispatchQueue_1: com.apple.main-thread  (serial)
    + 100 start  (in dyld) + 1903  [0x18f00]
    +   90 main  (in Shop) + 40  [0x100001000]  main.m:12
    +   ! 60 -[Cart add:count:]  (in Shop) + 8,16  [0x100001100,0x100001108]
    +   ! : 55 mach_msg2_trap  (in libsystem_kernel.dylib) + 8  [0x18f10]
    +   ! 30 ???  (in Shop)  load address 0x100000000 + 0x1f00  [0x100001f00]
    +   10 0x7fff0010
    7 Thread_22: worker
      7 thread_start  (in libsystem_pthread.dylib) + 8  [0x18f20]

Total number in stack (recursive counted multiple, when >=5):
        5       start  (in dyld) + 0  [0x18f00]

Binary Images:
       0x100000000 -        0x10000ffff +Shop (1.0) <UUID> /Applications/Shop
`

const spindumpText = `Date/Time:        2026-03-01 10:00:00.000 +0100
OS Version:       macOS 26.1 (Build 25B1)
Command:          Shop
Duration:         0.06s
Steps:            6 (10ms sampling interval)

Heaviest stack for the main thread of the target process:
  6  start + 10 (dyld + 100) [0x18f00]
  6  main + 40 (Shop + 4096) [0x100001000]

Process:          Shop [4711]
Path:             /Applications/Shop

  Thread 0x1a2b    DispatchQueue "com.apple.main-thread"(1)          6 samples (1-6)    priority 46 (base 46)
  6  start + 10 (dyld + 100) [0x18f00] 1-6
    4  main + 40 (main.m:12 in Shop + 4096) [0x100001000] 1-4
      2  std::map<int, int>::find(int const&) + 8 (Shop + 4352) [0x100001100] 1-2
        <darwinbg, timers coalesced>
      1  ??? (Shop + 7936) [0x100001f00] 4
       *1  ipc_mqueue_receive + 3 (kernel + 77) [0xffffff8000200000] (running) 4
    2  other + 1 (Shop + 1) [0x100001200] 5-6

  Thread 0x1a2c    Thread name "worker"    2 samples (1-2)
  2  thread_start + 8 (libsystem_pthread.dylib + 9) [0x18f20]

Process:          kernel_task [0]

  Thread 0x64    1 sample (1)
 *1  idle + 5 (kernel + 5) [0xffffff8000100000]
`

const instrumentsText = "Weight\tSelf Weight\t\tSymbol Name\n" +
	"1.50 min  100.0%\t0 s\t \tShop (4711)\n" +
	"1.20 s   80.0%\t200.00 ms\t \t main\n" +
	"1.00 s   66.6%\t1.00 s\t \t  std::map<int, int>::find(int const&)\n" +
	"300.00 ms   20.0%\t300.50 µs\t \t idle\n"

// TestTexts checks the stacks of each report. A stack's cost is the total of its row minus
// the totals of the row's children.
func TestTexts(t *testing.T) {
	const main = " {comm=DispatchQueue_1: com.apple.main-thread (serial) pid=4711 tid=21} dyld`start"
	const queue = " {comm=com.apple.main-thread pid=4711 tid=6699} dyld`start"
	for _, c := range []struct {
		name, text string
		decode     decodetest.Decoder
		sniff      decodetest.Sniffer
		want       []string
	}{
		{"sample", sampleText, DecodeSample, Sample.Sniff, []string{
			main + ";0x7fff0010 10",
			main + ";Shop`main;Shop`-[Cart add:count:] 5",
			main + ";Shop`main;Shop`-[Cart add:count:];libsystem_kernel.dylib`mach_msg2_trap 55",
			main + ";Shop`main;Shop`Shop+0x1f00 30",
			" {comm=worker pid=4711 tid=22} libsystem_pthread.dylib`thread_start 7",
		}},
		{"spindump", spindumpText, DecodeSpindump, Spindump.Sniff, []string{
			" {comm=kernel_task pid=0 tid=100} kernel`idle[k] 1",
			queue + ";Shop`main 1",
			queue + ";Shop`main;Shop`Shop+0x1f00;kernel`ipc_mqueue_receive[k] 1",
			queue + ";Shop`main;Shop`std::map<int, int>::find(int const&) 2",
			queue + ";Shop`other 2",
			" {comm=worker pid=4711 tid=6700} libsystem_pthread.dylib`thread_start 2",
		}},
		{"Instruments", instrumentsText, DecodeInstruments, Instruments.Sniff, []string{
			" {} Shop (4711);idle 300500",
			" {} Shop (4711);main 200000000",
			" {} Shop (4711);main;std::map<int, int>::find(int const&) 1000000000",
		}},
		{"Instruments without self", "Bytes Used\tCount\t\tSymbol Name\n1.50 KB 100.0%\t3\t \tmalloc_root\n1.25 KB 80.0%\t2\t \t f\n", DecodeInstruments, Instruments.Sniff, []string{
			" {} malloc_root 256",
			" {} malloc_root;f 1280",
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			slices.Sort(c.want)
			for _, chunk := range []int{0, 1, 13} {
				r, err := decodetest.Bytes(t, c.decode, []byte(c.text), chunk)
				if err != nil {
					t.Fatal(err)
				}
				decodetest.Balanced(t, r)
				if got := decodetest.Stacks(r); !slices.Equal(got, c.want) {
					t.Errorf("chunks of %d:\n%s\nwant\n%s", chunk, strings.Join(got, "\n"), strings.Join(c.want, "\n"))
				}
			}
			if c, err := c.sniff([]byte(c.text), true); c != decode.Certain || err != nil {
				t.Errorf("Sniff = %v, %v", c, err)
			}
		})
	}
}

// TestSteps checks the leaf and time of the spindump samples whose rows list their steps.
// Such samples are on the timeline.
func TestSteps(t *testing.T) {
	r, err := decodetest.Bytes(t, DecodeSpindump, []byte(spindumpText), 0)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, tr := range r.Tracks {
		if s := tr.SamplesOf(0); s != nil {
			for i := range s.Len() {
				got = append(got, fmt.Sprint(s.Time(i)/1e9, " ms ", r.FuncName(s.Call(i))))
			}
		}
	}
	want := []string{"0 ms std::map<int, int>::find(int const&)", "10 ms std::map<int, int>::find(int const&)", "20 ms main", "30 ms ipc_mqueue_receive", "40 ms other", "50 ms other"}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if f := r.Events[0].Frequency; f != 100 {
		t.Errorf("%g Hz, want 100", f)
	}
}

// TestSentences checks the message for a text with one fault per case.
func TestSentences(t *testing.T) {
	const graph = "Analysis of sampling a (pid 1) every 1 millisecond\nCall graph:\n    3 Thread_1\n"
	for _, c := range []struct {
		name, text  string
		decode      decodetest.Decoder
		place, want string
	}{
		{"no graph", "Analysis of sampling a\n", DecodeSample, "", "no stacks found: each row of a sample call graph has a count, a function and (in MODULE)"},
		{"more below", graph + "      2 f  (in a)\n        3 g  (in a)\n", DecodeSample, "line 4", "The row on line 4 has a smaller value than the sum of the rows below it; the sum is used"},
		{"cut", graph + "      2 f  (in a)\n", DecodeSample, "line 4", "The report is truncated in its call graph, at line 4: rows are missing, so the callers of the last rows have too much self"},
		{"no row", graph + "      f\n      2 f  (in a)\n", DecodeSample, "line 4", "Line 4 is not a row of the call graph and was left out"},
		{"no number", instrumentsText + "x\t0 s\t \tf\nx\ty\t \tf\n", DecodeInstruments, "line 7", "Line 7 has a weight that is not a number and was left out"},
		{"row without its weight", "Symbol Name\tSelf Weight\na\t3\nb\n", DecodeInstruments, "line 3", "Line 3 is not a row of the call tree and was left out"},
		{"another unit", instrumentsText + "1 KB\t1 KB\t \tf\n", DecodeInstruments, "line 6", "Line 6 has a weight in a different unit than earlier rows and was left out"},
		{"no spindump", "Steps: 1 (10ms sampling interval)\n", DecodeSpindump, "", "no stacks found: each row of a spindump tree has a count, a function and (MODULE + OFFSET)"},
	} {
		r, err := decodetest.Bytes(t, c.decode, []byte(c.text), 0)
		decodetest.Sentence(t, c.name, r, err, c.place, c.want)
	}
}

func FuzzSample(f *testing.F) {
	f.Add([]byte(sampleText), 3)
	decodetest.FuzzParts(f, DecodeSample, Sample.Sniff, decodetest.Stacks)
}

func FuzzSpindump(f *testing.F) {
	f.Add([]byte(spindumpText), 3)
	f.Add([]byte("Steps: 2 (1ms sampling interval)\n  Thread 0x1 x\n  2  f (a) 1-99999999\n *3  g (b + 1) 9-2\n"), 1)
	decodetest.FuzzParts(f, DecodeSpindump, Spindump.Sniff, decodetest.Stacks)
}

func FuzzInstruments(f *testing.F) {
	f.Add([]byte(instrumentsText), 3)
	f.Add([]byte("Self\t\tSymbol Name\n99999999999999999 h\t\t a\n1.5e9 KB\t\t  b\n"), 1)
	decodetest.FuzzParts(f, DecodeInstruments, Instruments.Sniff, decodetest.Stacks)
}
