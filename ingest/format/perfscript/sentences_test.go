package perfscript

import (
	"testing"

	"ashlar/ingest/format/decode/decodetest"
)

// TestSentences checks the message for a text with one fault per case: the first warning
// and its place, or the error.
func TestSentences(t *testing.T) {
	const good = "a 1 1.0: 1 c: \n\t1 f (/a)\n\n"
	for _, c := range []struct{ name, text, place, want string }{
		{"empty", "", "", "the text has no samples: perf script prints each as a line with thread, time and event, then one line per frame"},
		{"prose", "hello world, this is a text that is longer than any name of a thread\n", "", "the text has no samples: perf script prints each as a line with thread, time and event, then one line per frame"},
		{"prose between", good + "hello world, this is a text that is longer than any name of a thread\n" + good, "line 4", "Line 4 is neither the start of a sample nor a frame and was left out"},
		{"a frame that is cut", "a 1 1.0: 1 c: \n\t1 f (/a)\n\t2 mai", "line 3", "Line 3 is cut off at the end of the text; the stack is shown without what follows"},
		{"a header that is cut", good + "a 1 1.5: 10", "line 4", "Line 4 is neither the start of a sample nor a frame and was left out"},
		{"rubbish among frames", "a 1 1.0: 1 c: \n\tzzz\n\t1 f (/a)\n", "line 2", "Line 2 is neither a frame nor a sample and was left out"},
		{"a period too large", "a 1 1.0: 99999999999999999999 c: \n\t1 f (/a)\n", "line 1", "The period on line 1 exceeds 63 bits and was left out"},
		{"periods too large together", "a 1 1.0: 9223372036854775807 c: \n\t1 f (/a)\n\na 1 1.0: 1 c: \n\t1 f (/a)\n", "line 4", "The period on line 4 makes the sum exceed 63 bits and was left out"},
		{"a time beyond 63 bits", good + "a 1 18446744073.709551: 1 c: \n\t1 f (/a)\n", "line 4", "The sample on line 4 is more than fifty days from the others; it is in the flamegraph but not on the timeline"},
		{"a far time", good + "a 1 99999999.0: 1 c: \n\t1 f (/a)\n", "line 4", "The sample on line 4 is more than fifty days from the others; it is in the flamegraph but not on the timeline"},
		{"lost samples", good + "a 1 [000] 1.0: PERF_RECORD_LOST lost 5\n", "line 4", "perf lost samples while it recorded: lost 5"},
		{"lost samples twice", good + "a 1 [000] 1.0: PERF_RECORD_LOST lost 5\n" + good + "a 1 [000] 1.0: PERF_RECORD_LOST lost 37\n", "line 4", "perf lost 42 samples while it recorded, in 2 reports"},
		{"a blank line behind the header", "a 1 1.0: 1 c: \n\n\t1 f (/a)\n", "line 3", "A blank line before line 3 splits a sample; its frames were joined"},
		{"more fields", "bash  1 [000] 1.000000: sched:sched_switch: prev=1\n\tffff f (/a)\n\n", "line 1", "Line 1 has fields after the event name (tracepoint arguments, registers, branches) that are not shown"},
	} {
		r, err := decodeText(t, c.text, 0)
		decodetest.Sentence(t, c.name, r, err, c.place, c.want)
	}
}
