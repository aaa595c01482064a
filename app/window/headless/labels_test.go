package headless

import (
	"os"
	"strings"
	"testing"

	"ashlar/app/core/view"
	"ashlar/app/window/drawing"
	"ashlar/app/window/shell"
	"ashlar/render/theme"
)

// locks is a trace of two functions whose names differ only in the package; one calls the
// other.
const locks = `[{"ph":"M","name":"thread_name","pid":1,"tid":1,"args":{"name":"com.example.Worker"}},
{"ph":"X","name":"sync.(*Mutex).Lock","pid":1,"tid":1,"ts":0,"dur":1000},
{"ph":"X","name":"internal/sync.(*Mutex).Lock","pid":1,"tid":1,"ts":100,"dur":800}]`

// TestNamesReadAlike checks that two functions with the same short name get different
// labels, the same ones in timeline, flamegraph and tables, and that a thread's name is
// not shortened.
func TestNamesReadAlike(t *testing.T) {
	for _, tab := range []string{"flamegraph", "functions", "calltree", "callers&function=sync.(*Mutex).Lock", "calls"} {
		t.Run(tab, func(t *testing.T) {
			t.Chdir(t.TempDir())
			if err := os.WriteFile("locks.json", []byte(locks), 0o644); err != nil {
				t.Fatal(err)
			}
			s := shell.New(theme.Dark)
			defer s.Close()
			s.Open("ashlar:1?file=locks.json&tab=" + tab)
			settle(t, s, view.Stacks{})
			var b strings.Builder
			if err := drawing.SVG(s, 1200, 700, 1).Write(&b, ""); err != nil {
				t.Fatal(err)
			}
			for text, want := range map[string]int{">sync.(*Mutex).Lock<": 2, ">internal/sync.(*Mutex).Lock<": 2, ">com.example.Worker<": 1, ">Worker<": 0, ">Mutex.Lock<": 0, ">Lock<": 0, ">(*Mutex).Lock<": 0} {
				if n := strings.Count(b.String(), text); n < want || want == 0 && n > 0 {
					t.Errorf("%d texts are %s, want %d or more", n, text, want)
				}
			}
		})
	}
}
