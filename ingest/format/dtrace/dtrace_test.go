package dtrace

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"ashlar/ingest/format/decode"
	"ashlar/ingest/format/decode/decodetest"
)

var decodeBytes = decodetest.Of(Decode)

// aggregation is dtrace -n 'profile-97 { @[execname, stack(), ustack()] = count(); }'.
const aggregation = `dtrace: description 'profile-97 ' matched 1 probe
^C

  shop worker                                       
              genunix` + "`" + `cv_wait+0x61
              unix` + "`" + `sys_syscall+0x17a

              libc.so.1` + "`" + `__read+0xa
              shop` + "`" + `std::map<int, (anonymous namespace)::Item>::find(int const&) const+0x1f
              shop` + "`" + `main+0x88
                7
  sched                                             
              unix` + "`" + `i86_mwait+0xd
              0xfffffffff8001234
               19

`

// TestTexts checks the stacks of small texts; the expected rows were read by hand.
func TestTexts(t *testing.T) {
	for _, c := range []struct {
		name, text string
		want       []string
	}{
		{"keys and both stacks", aggregation, []string{
			"profile-97 {key=sched} 0xfffffffff8001234[k];unix`i86_mwait[k] 19",
			"profile-97 {key=shop worker} shop`main;shop`std::map<int, (anonymous namespace)::Item>::find(int const&) const;libc.so.1`__read;unix`sys_syscall[k];genunix`cv_wait[k] 7",
		}},
		{"the user's half first, key behind", "\n              a.out`main+0x1\n\n              kernel`trap+0x2\n  vim                                                               12\n\n              0x400812\n\n              kernel`trap+0x2\n  a b                                                               3\n", []string{
			"{key=a b} 0x400812;kernel`trap[k] 3",
			"{key=vim} a.out`main;kernel`trap[k] 12",
		}},
		{"keys before the stack", "\n  java              4711                2\n              libjvm.so`start+0x1\n              60\n", []string{
			"{key1=java key2=4711 key3=2} libjvm.so`start 60",
		}},
		{"several values", "  COUNT   SUM  MAX\n\n              libc.so.6`malloc+0x1\n              app`main+0x9\n   5 640 512\n\n              libc.so.6`malloc+0x7\n              app`main+0x9\n   2 64 -3\n", []string{
			"{} app`main;libc.so.6`malloc 2 64 -3",
			"{} app`main;libc.so.6`malloc 5 640 512",
		}},
		{"a distribution", "\n              libc.so.1`read+0x7\n              app`main+0x1\n\n           value  ------------- Distribution ------------- count    \n             256 |                                         0        \n             512 |@@@@@@@@@@                               12       \n            1024 |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@           36       \n            2048 |                                         0        \n\n\n              libc.so.1`write+0x7\n              app`main+0x1\n\n           value  ------------- Distribution ------------- count    \n             < 0 |                                         0        \n               0 |@@@@                                     3        \n          >= 100 |@@@@@@@@@@                               7        \n\n", []string{
			"{bucket=0} app`main;libc.so.1`write 3",
			"{bucket=1024} app`main;libc.so.1`read 36",
			"{bucket=512} app`main;libc.so.1`read 12",
			"{bucket=>= 100} app`main;libc.so.1`write 7",
		}},
		{"a key and a distribution", "  bash                                              \n              app`f+0x1\n\n           value  ------------- Distribution ------------- count    \n               1 |@@                                       4        \n\n  vi                                                \n              app`f+0x1\n\n           value  ------------- Distribution ------------- count    \n               1 |@@                                       5        \n", []string{
			"{bucket=1 key=bash} app`f 4",
			"{bucket=1 key=vi} app`f 5",
		}},
		{"firings of probes", "CPU     ID                    FUNCTION:NAME\n  0   9153                   uiomove:entry \n              genunix`fop_write+0x1b\n\n  3  63877                       :tick-1s pid=12 execname=sh\n              genunix`fop_read+0x1b\n\n              libc.so.1`__read+0xa\n\n", []string{
			"tick-1s {comm=sh cpu=3 pid=12} libc.so.1`__read;genunix`fop_read[k] 1",
			"uiomove:entry {cpu=0} genunix`fop_write[k] 1",
		}},
		{"quiet firings", "18446744073709 java 99\n              libjvm.so`f+0x1\n              Foo.bar(I)V+0x12\n18446744073809 java 99\n              libjvm.so`f+0x1\n", []string{
			"{text=java 99} Foo.bar(I)V;libjvm.so`f 1",
			"{text=java 99} libjvm.so`f 1",
		}},
		{"aggregations with headings", "Kernel:\n\n              unix`a+0x1\n                1\n\nUser:\n\n              app`b+0x1\n                2\n", []string{
			"Kernel {} unix`a[k] 1",
			"User {} app`b 2",
		}},
		{"no symbols but addresses", "\n              app`0x10001234\n              0x7fff12345678\n               12\n", []string{
			"{} 0x7fff12345678;app`0x10001234 12",
		}},
		{"keys without stacks", "dtrace: description 'syscall:::entry ' matched 236 probes\n^C\n\n  sshd                                               read                                                             12\n  my app                                             write                                                           340\n", []string{
			"syscall:::entry {} my app;write 340",
			"syscall:::entry {} sshd;read 12",
		}},
		{"keys that are numbers, printed twice", "dtrace: description 'a ' matched 1 probe\n             4711               12\n               47                3\n\n             4711               13\n               47                5\n\n             4711               14\n               47                5\n", []string{
			"a {} 47 5",
			"a {} 4711 14",
		}},
		{"distributions without stacks", "dtrace: description 'b ' matched 1 probe\n\n  vi 2                                              \n           value  ------------- Distribution ------------- count    \n               1 |@@                                       4        \n               2 |                                         0        \n               4 |@@                                       6        \n\n", []string{
			"b {bucket=1} vi 2 4",
			"b {bucket=4} vi 2 6",
		}},
		{"firings without stacks", "CPU     ID                    FUNCTION:NAME\n  0   9153                   uiomove:entry pid=12\n  1   9153                   uiomove:entry pid=12\n", []string{
			"uiomove:entry {cpu=0 pid=12} uiomove:entry 1",
			"uiomove:entry {cpu=1 pid=12} uiomove:entry 1",
		}},
		{"no indentation", "\nunix`a+0x1\nunix`b+0x1\n4\n\nunix`c+0x1\n5\n", []string{
			"{} unix`b[k];unix`a[k] 4",
			"{} unix`c[k] 5",
		}},
		{"backquotes and blanks of Windows", "\r\n              app`core::ops::function::FnOnce::call_once{{vtable.shim}}::h1+0x1f\r\n              app`std::_Func_impl<`anonymous namespace'::f>::go+0x3\r\n              nt`KiSystemServiceCopyEnd+0x25\r\n                8\r\n", []string{
			"{} nt`KiSystemServiceCopyEnd[k];app`std::_Func_impl<`anonymous namespace'::f>::go[k];app`core::ops::function::FnOnce::call_once{{vtable.shim}}::h1[k] 8",
		}},
		{"annotations of helpers", "\n              node`v8::Run()+0x1\n              << adaptor >>\n              (anon) as tick at /srv/a.js position 12\n              0x3f00\n                [ timer at b.js ]\n              node`main+0x3\n                [ no news ]\n                5\n", []string{
			"{} node`main;timer at b.js;(anon) as tick at /srv/a.js position 12;<< adaptor >>;node`v8::Run() 5",
		}},
		{"bars in place of tables", "\n              app`f+0x1\n                  |@@@@@@@@ 31\n", []string{"{} app`f 31"}},
		{"a unit", "\n              app`f+0x1\n   31 ms\n", []string{"{} app`f 31"}},
		{"printa with labels", "\nPID:12    3   \n              app`f+0x1\n\n              app`g+0x1\n              31\n", []string{"{key=3 pid=12} app`g;app`f[k] 31"}},
	} {
		t.Run(c.name, func(t *testing.T) { decodetest.StacksOf(t, Decode, Sniff, c.text, c.want) })
	}
}

// TestTimes reads probe firings with times in nanoseconds since boot. The buffers of the
// processors come one after another, so times are not in order.
func TestTimes(t *testing.T) {
	r, err := decodeBytes(t, []byte("CPU     ID                    FUNCTION:NAME\n"+
		"  0   9153                      read:entry 1000000500 sh\n              libc.so.1`read+0x1\n\n"+
		"  1   9153                      read:entry 1000000200 sh\n              libc.so.1`read+0x1\n\n"+
		"  0   9153                      read:entry 1000000900 sh\n              libc.so.1`read+0x1\n\n"), 0)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, tr := range r.Tracks {
		s := tr.SamplesOf(0)
		for i := range s.Len() {
			got = append(got, fmt.Sprint(tr.Name, " ", r.Clock.Text(s.Time(i))))
		}
	}
	slices.Sort(got)
	want := []string{"CPU 0 1000000500", "CPU 0 1000000900", "CPU 1 1000000200"}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if rows := decodetest.Stacks(r); !slices.Equal(rows, []string{"read:entry {cpu=0 text=sh} libc.so.1`read 2", "read:entry {cpu=1 text=sh} libc.so.1`read 1"}) {
		t.Errorf("%q", rows)
	}
}

// TestPrintedAgain reads an aggregation that a script prints each second, with the counts
// since the last time or since the start.
func TestPrintedAgain(t *testing.T) {
	text := func(values ...int) string {
		var s strings.Builder
		for i := 0; i < len(values); i += 2 {
			fmt.Fprintf(&s, "2026 Mar  %d 10:00:0%d\n\n              app`f+0x1\n  %d\n\n              app`g+0x1\n  %d\n\n", 1+i, i, values[i], values[i+1])
		}
		return s.String()
	}
	for _, c := range []struct {
		text string
		want []string
		says string
	}{
		{text(1, 5, 1, 7, 4, 9), []string{" {} app`f 4", " {} app`g 9"}, "printed 3 times with counts that never decrease"},
		{text(1, 5, 1, 2, 4, 9), []string{" {} app`f 6", " {} app`g 16"}, "printed 3 times with counts that also decrease"},
	} {
		r, err := decodeBytes(t, []byte(c.text), 0)
		if err != nil {
			t.Fatal(err)
		}
		if got := decodetest.Stacks(r); !slices.Equal(got, c.want) {
			t.Errorf("%q, want %q", got, c.want)
		}
		if len(r.Warnings) != 1 || !strings.Contains(r.Warnings[0].Text, c.says) {
			t.Errorf("%+v", r.Warnings)
		}
	}
}

// TestSentences checks the message for a text with one fault per case.
func TestSentences(t *testing.T) {
	const good = "\n              unix`a+0x1\n                1\n"
	for _, c := range []struct{ name, text, place, want string }{
		{"empty", "", "", "no stacks found: DTrace prints one frame per line, such as unix`idle+0xa7, and below them a count or nothing"},
		{"drops", "dtrace: 12 aggregation drops on CPU 3\n" + good, "line 1", "DTrace lost events while it recorded: 12 aggregation drops on CPU 3"},
		{"drops of several CPUs", "dtrace: 12 aggregation drops on CPU 3\ndtrace: 7 drops on CPU 1\n" + good, "line 1", "DTrace lost 19 events while it recorded, in 2 reports"},
		{"no stacks", "dtrace: description 'x ' matched 1 probe\n  sh   12\n", "line 2", "The text has no stacks. The keys of each count, or the probe that fired, are shown as frames; add stack() or ustack() to the script for stacks"},
		{"many counts above a stack", strings.Repeat("  sh       12\n", 100) + "\n" + good, "line 1", "Line 1 has a count without a stack and was left out"},
		{"errors", good + "dtrace: error on enabled probe ID 1 (ID 5: a:b:c:entry): invalid address\n", "line 4", "DTrace reported an error at a probe: error on enabled probe ID 1 (ID 5: a:b:c:entry): invalid address"},
		{"a count without a stack", "  sh       12\n\n" + good, "line 1", "Line 1 has a count without a stack and was left out"},
		{"cut behind a key", "\n              unix`a+0x1\n  sh     12\n\n              unix`b+0x1\n  jav", "line 5", "Line 5 begins a stack that is truncated at the end of the text and was left out"},
		{"cut behind a key above", "\n  sh\n              unix`a+0x1\n               12\n  jav", "line 5", "Line 5 has a key without a stack, because the text is truncated there, and was left out"},
		{"cut", good + "\n              unix`b+0x1\n              un", "line 5", "Line 5 begins a stack that is truncated at the end of the text and was left out"},
	} {
		r, err := decodeBytes(t, []byte(c.text), 0)
		decodetest.Sentence(t, c.name, r, err, c.place, c.want)
	}
}

func TestSniff(t *testing.T) {
	decodetest.Sniffs(t, Sniff, true, map[string]decode.Confidence{
		aggregation: decode.Certain,
		"\n              0x7f00\n              0x7f10\n      5\n":                                    decode.Maybe,
		"unix`a;unix`b 5\nunix`a;unix`c 7\n":                                                         decode.No,
		"unix`a 5\nunix`c 7\n":                                                                       decode.No,
		"dtrace: description 'x ' matched 1 probe\n\n  sh   12\n":                                    decode.Likely,
		"CPU     ID                    FUNCTION:NAME\n  0   9153                   uiomove:entry \n": decode.Likely,
		"sh   12\nbash  5\n":                                                                         decode.No,
		"hello `world`\nand more\n":                                                                  decode.No,
		"a 1 1.0: 1 c: \n\t1 f (/a)\n\n":                                                             decode.No,
		"":                                                                                           decode.No,
	})
}

func FuzzDecode(f *testing.F) {
	f.Add([]byte("dtrace: description 'x' matched 1 probe\n  sh  a  12\n  4 5\n\n  vi\n  value ------------- Distribution ------------- count\n  1 |@@ 4\nCPU ID FUNCTION:NAME\n 0 1 a:entry\n"), 1)
	f.Add([]byte(aggregation), 3)
	f.Add([]byte("CPU     ID                    FUNCTION:NAME\n  0   1   read:entry 12345678901 pid=4\n              a`b+0x1\n\n              c`d\n"), 1)
	f.Add([]byte("\n              a`b\n\n           value  ------------- Distribution ------------- count\n     512 |@@@ 12\n   5 |@ 3\n\n"), 2)
	f.Add([]byte("dtrace: 1 drops\n9999999999 a\n  m`x\n  [ y ]\n9999999999 b\n  0x12\n  [ z ]\n"), 0)
	f.Add([]byte("A B\n\n  m`x\n 1 2\n2026 Mar  1 10:00:00\n\n  m`x\n  9223372036854775807 2\n"), 0)
	f.Add([]byte("unix`idle+0xa7\n1\vms\n"), 0)
	decodetest.FuzzParts(f, Decode, Sniff, decodetest.Stacks)
}
