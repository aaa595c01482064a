package perfscript

import (
	"fmt"
	"strings"
	"testing"
)

// TestFirstTimeFarOutside checks that a stray time of the first sample does not push the others
// off the timeline.
func TestFirstTimeFarOutside(t *testing.T) {
	text := "a 1 0.000001: 100 c: \n\t1 f (/a)\n\n"
	for i := range 10 {
		text += fmt.Sprintf("a 1 1700000000.%d: 100 c: \n\t1 f (/a)\n\n", i)
	}
	rec, err := decodeText(t, text, 0)
	if err != nil {
		t.Fatal(err)
	}
	if d := rec.Duration(); d != 900e9 || rec.Tracks[0].Samples[0].Len() != 10 || rec.Events[0].Metrics[1].Total != 1100 {
		t.Errorf("the recording has %d ps, %d samples", d, rec.Tracks[0].Samples[0].Len())
	}
	if len(rec.Warnings) != 1 || rec.Warnings[0].Count != 1 || !strings.HasPrefix(rec.Warnings[0].Text, "The sample on line 1 is more than fifty days from the others") {
		t.Errorf("warnings %+v", rec.Warnings)
	}
}
