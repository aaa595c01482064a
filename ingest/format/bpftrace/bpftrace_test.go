package bpftrace

import (
	"slices"
	"testing"

	"ashlar/ingest/format/decode/decodetest"
)

var decodeBytes = decodetest.Of(Decode)

// profile is bpftrace -e 'profile:hz:99 { @[kstack, ustack, comm] = count(); }'.
const profile = `Attaching 1 probe...
^C

@[
    cpuidle_enter_state+205
    secondary_startup_64_no_verify+194
, , swapper/1]: 3
@[, 
    std::vector<int, my alloc>::push_back(int const&)+18
    0x7f0012345678
    main+40
, shop, worker]: 5
@[
    copy_user+12
    do_syscall_64+59

, 
    read+9
    main+8
, cat]: 12
`

func TestTexts(t *testing.T) {
	for _, c := range []struct {
		name, text string
		want       []string
	}{
		{"both stacks and a name", profile, []string{
			"{key1=shop key2=worker} main;0x7f0012345678;std::vector<int, my alloc>::push_back(int const&) 5",
			"{key=cat} main;read;do_syscall_64[k];copy_user[k] 12",
			"{key=swapper/1} secondary_startup_64_no_verify[k];cpuidle_enter_state[k] 3",
		}},
		{"keys before", "@slow[4711, a]b, \n    f+1\n    g+2\n]: 7\n@slow[4712, c, \n    f+1\n]: -8\n", []string{
			"slow {key1=4711 key2=a]b} g;f 7",
			"slow {key1=4712 key2=c} f -8",
		}},
		{"a histogram", "@usecs[\n    f+1\n    g+2\n, sh]: \n[0]                    3 |@@@@                |\n[2, 4)                 0 |                    |\n[1K, 2K)              12 |@@@@@@@@@@@@@@@@@@@@|\n\n@usecs[\n    g+2\n]: \n(..., 0)               1 |@@@@                |\n[100, ...)             2 |@@@@                |\n\n", []string{
			"usecs {bucket=(..., 0)} g 1",
			"usecs {bucket=[0] key=sh} g;f 3",
			"usecs {bucket=[100, ...)} g 2",
			"usecs {bucket=[1K, 2K) key=sh} g;f 12",
		}},
		{"statistics", "@b[\n    f+1\n]: count 3, average 10, total 31\n", []string{"b {} f 3 10 31"}},
		{"a tuple", "@b[\n    f+1\n]: (1, 2)\n", []string{"b {} f 1 2"}},
		{"a stack as value", "@last[12]: \n        f+1\n        g+2\n\n@last[13]: \n        f+1\n\n", []string{"last {key=12} g;f 1", "last {key=13} f 1"}},
		{"mode perf", "@[\n\tffffffff81000012 vfs_read+18 ([kernel.kallsyms])\n\t7f1200000010 read+0x10 (/usr/lib/libc.so.6)\n\t550000001000 [unknown] (/opt/a b)\n]: 4\n", []string{
			"{} /opt/a b`[unknown];/usr/lib/libc.so.6`read;[kernel.kallsyms]`vfs_read[k] 4",
		}},
		{"mode perf, short addresses", "@[\n\t401136 f0+18 (/bin/app)\n\t8048 [unknown] (/bin/app)\n\tadd one+1 (/bin/app)\n]: 4\n", []string{
			"{} /bin/app`add one;/bin/app`[unknown];/bin/app`f0 4",
		}},
		{"stacks one by one", "Attaching 2 probes...\n1000000000 pid=7 x\n\n        f+1\n        main+2\n\n1000000500 pid=7 y\n\n        vfs_read+1\n        do_syscall_64+2\n\n        main+2\n\n", []string{
			"{pid=7 text=x} main;f 1",
			"{pid=7 text=y} main;do_syscall_64[k];vfs_read[k] 1",
		}},
	} {
		t.Run(c.name, func(t *testing.T) { decodetest.StacksOf(t, Decode, Sniff, c.text, c.want) })
	}
}

// TestPrintedAgain prints a map twice without clearing it, as a script with interval does.
// The last values count.
func TestPrintedAgain(t *testing.T) {
	r, err := decodeBytes(t, []byte("@[\n    f+1\n]: 1\n@[\n    g+1\n]: 4\n\n@[\n    g+1\n]: 5\n@[\n    f+1\n]: 6\n\n"), 0)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := decodetest.Stacks(r), []string{" {} f 6", " {} g 5"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestSentences checks the message for a text with one fault per case.
func TestSentences(t *testing.T) {
	const good = "@[\n    f+1\n]: 1\n"
	for _, c := range []struct{ name, text, place, want string }{
		{"empty", "", "", "no stacks found: bpftrace prints a map entry as @[, one frame per line, then ]: and a value"},
		{"lost", "Lost 12 events\n" + good, "line 1", "bpftrace lost events while it recorded: Lost 12 events"},
		{"lost twice", "Lost 12 events\n" + good + "Lost 31 events\n", "line 1", "bpftrace lost 43 events while it recorded, in 2 reports"},
		{"no stack", good + "@x[sh, 2]: 7\n", "line 4", "Line 4 has a map entry without a stack, which was left out"},
		{"no value", good + "@x[\n    f+1\n]: (a, b)\n", "line 4", `Line 4 begins a map entry with a value that is not a number, "(a, b)"; it was left out`},
		{"cut", good + "@x[\n    f+1\n    g", "line 4", "Line 4 begins a map entry that is truncated at the end of the text and was left out"},
		{"warnings", "WARNING: no symbols\n" + good, "line 1", "bpftrace says: WARNING: no symbols"},
	} {
		r, err := decodeBytes(t, []byte(c.text), 0)
		decodetest.Sentence(t, c.name, r, err, c.place, c.want)
	}
}

func FuzzDecode(f *testing.F) {
	f.Add([]byte(profile), 3)
	f.Add([]byte("@usecs[\n    f+1\n, sh]: \n[0]   3 |@@@ |\n(..., 0)  1 |@ |\n\n@b[\n    f+1\n]: count 3, average 10, total 31\n@last[1]: \n    f+1\n"), 1)
	f.Add([]byte("Attaching 1 probe...\n1000000000 a\n\n    f+1\n\n    g+1\nLost 3 events\n@x: 1\n@[a]:\n@"), 2)
	decodetest.FuzzParts(f, Decode, Sniff, decodetest.Stacks)
}
