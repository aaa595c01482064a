package bcc

import (
	"testing"

	"ashlar/ingest/format/decode/decodetest"
)

var decodeBytes = decodetest.Of(Decode)

const profile = `Sampling at 49 Hertz of all threads by user + kernel stack... Hit Ctrl-C to end.
^C
    copy_user
    do_syscall_64
    entry_SYSCALL_64_after_hwframe
    read
    main
    -                my shop (9036)
        3

    [unknown]
    std::map<int, int>::find(int const&)
    -                shop (9036)
        12

`

func TestTexts(t *testing.T) {
	for _, c := range []struct {
		name, text string
		want       []string
	}{
		{"profile", profile, []string{
			"cpu-clock {comm=my shop pid=9036} main;read;entry_SYSCALL_64_after_hwframe[k];do_syscall_64[k];copy_user[k] 3",
			"cpu-clock {comm=shop pid=9036} std::map<int, int>::find(int const&);[unknown] 12",
		}},
		{"offcputime with a delimiter", "Tracing off-CPU time (us) of all threads by user + kernel stack... Hit Ctrl-C to end.\n    schedule\n    --\n    b'nanosleep'\n    -                sleep (12)\n        1000042\n", []string{
			"off-cpu {comm=sleep pid=12} nanosleep;schedule[k] 1000042",
		}},
		{"addresses, offsets and modules", "    ffffffff81000012 schedule\n    00007f0012345678 f+0x1f [libc-2.31.so]\n    -                a (1)\n        7\n", []string{
			"{comm=a pid=1} libc-2.31.so`f;schedule[k] 7",
		}},
		{"stackcount", "Tracing 1 functions for \"ip_output\"... Hit Ctrl-C to end.\n^C\n  ip_output\n  __libc_send\n  main\n    sshd [4711]\n    3\n\n  ip_output\n    5\n", []string{
			"ip_output {comm=sshd pid=4711} main;__libc_send;ip_output 3",
			"ip_output {} ip_output 5",
		}},
		{"wakeuptime", "Tracing blocked time (us) by kernel stack... Hit Ctrl-C to end.\n    target:          vmstat\n    ffffffff81000012 wake\n    waker:           swapper/1\n        5000042\n", []string{
			"blocked {target=vmstat waker=swapper/1} wake[k] 5000042",
		}},
	} {
		t.Run(c.name, func(t *testing.T) { decodetest.StacksOf(t, Decode, Sniff, c.text, c.want) })
	}
}

// TestSentences checks the message for a text with one fault per case.
func TestSentences(t *testing.T) {
	const good = "    f\n    -                a (1)\n        7\n"
	for _, c := range []struct{ name, text, place, want string }{
		{"empty", "", "", "no stacks found: bcc's tools print one frame per line, then the thread as `- NAME (PID)`, then a count"},
		{"cut", good + "    f\n    g", "line 4", "Line 4 begins a stack without a count, which was left out"},
		{"lost", "Possibly lost 12 samples\n" + good, "line 1", "bcc says: Possibly lost 12 samples"},
		{"lost twice", "Possibly lost 12 samples\nWARNING: 3 stack traces could not be displayed.\n" + good, "line 1", "bcc lost 15 records while it recorded, in 2 reports"},
		{"no thread", good + "    -  a\n", "line 4", "Line 4 is neither a frame nor a thread and was left out"},
	} {
		r, err := decodeBytes(t, []byte(c.text), 0)
		decodetest.Sentence(t, c.name, r, err, c.place, c.want)
	}
}

func FuzzDecode(f *testing.F) {
	f.Add([]byte(profile), 3)
	f.Add([]byte("Tracing 1 functions for \"a\"\n  f\n  b'g'_[k]\n    x [4]\n    3\n  b'\nWARNING: 3\n    target: a\n    ffffffff81000012 g+0x1 [m]\n    --\n    --\n  7\n    -  x\n"), 1)
	decodetest.FuzzParts(f, Decode, Sniff, decodetest.Stacks)
}
