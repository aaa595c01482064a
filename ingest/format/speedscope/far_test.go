package speedscope

import (
	"fmt"
	"testing"
)

// TestFirstTimeFarOutside checks that a stray span at the start of a profile does not push the
// others off the timeline.
func TestFirstTimeFarOutside(t *testing.T) {
	const stray = -1461972216707720
	events := fmt.Sprintf(`{"type":"O","frame":1,"at":%d},{"type":"C","frame":1,"at":%d}`, stray, stray+20)
	for i := range 20 {
		events += fmt.Sprintf(`,{"type":"O","frame":0,"at":%d},{"type":"C","frame":0,"at":%d}`, i*100, i*100+80)
	}
	rec, err := decodeBytes(t, []byte(fmt.Sprintf(`{"shared":{"frames":[{"name":"work"},{"name":"odd"}]},"profiles":[{"type":"evented","name":"t","unit":"microseconds","startValue":%d,"endValue":2000,"events":[%s]}]}`, stray, events)), 0)
	if err != nil {
		t.Fatal(err)
	}
	if got := rec.Events[0].Metrics[0].Total; got != 1600e6 || rec.Duration() != 2000e6 {
		t.Errorf("spans of %d ps in %d ps", got, rec.Duration())
	}
	if len(rec.Warnings) != 1 || rec.Warnings[0].Code != "time-far" || rec.Warnings[0].Count != 2 {
		t.Errorf("warnings %+v", rec.Warnings)
	}
}
