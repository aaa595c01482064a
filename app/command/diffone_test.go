package command

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestDiffOfSingleCalls checks that a function with one call per side gets no confidence: diff
// does not call its change noise, and it fulfils no condition under --min-confidence. A
// function with many calls, all longer in B, gets one.
func TestDiffOfSingleCalls(t *testing.T) {
	dir := t.TempDir()
	var files []string
	for side := range 2 {
		var events []string
		for i := range 30 {
			events = append(events, fmt.Sprintf(`{"ph":"X","name":"step","ts":%d,"dur":%d,"pid":1,"tid":1}`, 1000*i, 100+200*side+i))
		}
		events = append(events, fmt.Sprintf(`{"ph":"X","name":"main","ts":0,"dur":%d,"pid":1,"tid":1}`, 40_000*(1+side)))
		path := filepath.Join(dir, fmt.Sprint(side, ".json"))
		if err := os.WriteFile(path, []byte("["+strings.Join(events, ",")+"]"), 0o600); err != nil {
			t.Fatal(err)
		}
		files = append(files, path)
	}
	out := textOf(t, "diff", files[0], files[1])
	if strings.Contains(out, "within noise") || !strings.Contains(out, "Total time +100.0 %") {
		t.Errorf("it is said that\n%s", out)
	}
	for _, line := range strings.Split(out, "\n") {
		f := strings.Fields(line)
		if len(f) == 0 {
			continue
		}
		if name := f[len(f)-1]; name == "main" && !strings.Contains(line, "  ?  ") || name == "step" && !strings.Contains(line, " 98 %") {
			t.Errorf("of one call, or of thirty, it says %q", line)
		}
	}
	for condition, code := range map[string]int{"total>5%": Done, "total(main)>5%": Done, "self(step)>5%": Failed} {
		if r := run("diff", files[0], files[1], "--fail-if", condition, "--min-confidence", "0.95"); r.code != code {
			t.Errorf("--fail-if %s: exit %d, want %d: %s", condition, r.code, code, r.stdout)
		}
	}
	if r := run("diff", files[0], files[1], "--fail-if", "total>5%"); r.code != Failed {
		t.Errorf("where no confidence is asked for: exit %d", r.code)
	}
}
