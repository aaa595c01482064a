package shell

import (
	"slices"
	"testing"

	"ashlar/app/window/panel"
	"ashlar/ingest/model/recording"
)

// TestCallsOfAnEarlierQuestion checks that the list of calls never shows the number of one
// function's calls as that of all functions while these are counted.
func TestCallsOfAnEarlierQuestion(t *testing.T) {
	b := newBench(t, someTrace)
	p := b.Pane
	for f := range p.Rec.Functions.Len() {
		if p.Rec.Functions.At(f).Name == "read" {
			p.Pick = panel.Picked{Kind: panel.PickFunc, Fn: recording.FuncID(f)}
		}
	}
	p.Tab = panel.Calls
	b.until("the calls of the function", func() bool { return slices.Contains(b.texts(), "2 calls of read") })
	p.List.All = true
	b.until("all calls", func() bool {
		texts := b.texts()
		if slices.Contains(texts, "2 calls of all functions") {
			t.Fatal("the calls of read are shown as those of all functions")
		}
		return slices.Contains(texts, "4 calls of all functions")
	})
}
