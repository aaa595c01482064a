package command

import (
	"strings"
	"testing"
)

// TestSamplesOfWindows checks that samples of the whole recording are not given as the samples
// behind windows in a range.
func TestSamplesOfWindows(t *testing.T) {
	window := func(stack, times string) string {
		return `{"type":"window","id":"w` + stack + `",` + times + `,"unit":"seconds","by_stack":[{"stack_id":"` + stack + `","weights":[{"metric":"period","value":20}]}]}` + "\n"
	}
	path := written(t, "w.spaa", damageHead+damageDict+damageStack("a", "2,1", "cycles", "")+damageStack("b", "1", "cycles", "")+
		window("a", `"start":0,"end":1`)+window("b", `"start":1,"end":2`))
	r := run("top", path, "--range", "0s..1s", "--json")
	if !strings.Contains(r.stdout, `"total": 20,`) || strings.Contains(r.stdout, `"samples"`) || strings.Contains(r.stdout, "interval") {
		t.Error(r.stdout, r.stderr)
	}
	if r := run("top", path, "--json"); !strings.Contains(r.stdout, `"samples": 2,`) {
		t.Error(r.stdout, r.stderr)
	}
}
