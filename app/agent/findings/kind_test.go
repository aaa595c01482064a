package findings

import (
	"strings"
	"testing"

	"ashlar/ingest/model/recording"
)

// TestKindOfTrack checks that findings about goroutines call them so, and findings about
// threads threads: one that is idle between calls, and one with much less time than its peers.
func TestKindOfTrack(t *testing.T) {
	const ms = int64(1e9)
	for _, word := range []string{"", "goroutine"} {
		b := recording.NewBuilder()
		b.AddEvent(recording.SpanEvent())
		b.ProcessInfo(b.Process(1)).Member = word
		frame := b.FunctionFrame(b.Function(recording.Function{Name: "Frame"}))
		for i, name := range []string{"Main", "worker 1", "worker 2", "worker 3", "worker 4"} {
			track := b.Track(recording.TrackKey{PID: 1, TID: int64(i + 1)})
			track.SetName(name)
			at := int64(0)
			for k := range int64(300) {
				long := []int64{ms, 4 * ms, 4 * ms, 4 * ms, ms / 1000}[i]
				if i == 0 {
					long += k % 4 * ms / 10
				}
				track.Begin(at, frame, 0)
				track.End(at + long)
				at += 7*ms + k%4*ms/10
			}
		}
		found, err := Of(t.Context(), b.Finish())
		if err != nil {
			t.Fatal(err)
		}
		var text string
		for _, f := range found {
			text += f.Rule + ": " + f.Claim + "\n"
		}
		subject := "Thread"
		if word != "" {
			subject = "Goroutine"
		}
		for _, want := range []string{"pause: " + subject + " “Main” is idle", "starving: " + subject + " “worker 4"} {
			if !strings.Contains(text, want) {
				t.Errorf("%q is missing in:\n%s", want, text)
			}
		}
	}
}
