package shell

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"ashlar/render/theme"
)

// TestFunctionsOfOneName checks that functions of one name have their module beside it in the list
// of the heaviest functions, and that others do not.
func TestFunctionsOfOneName(t *testing.T) {
	const profile = `{"nodes":[{"id":1,"callFrame":{"functionName":"(root)"},"children":[2,3,4]},
{"id":2,"callFrame":{"functionName":"digest","url":"file:///hash.js","lineNumber":1,"columnNumber":1}},
{"id":3,"callFrame":{"functionName":"digest","url":"file:///app.js","lineNumber":1,"columnNumber":1}},
{"id":4,"callFrame":{"functionName":"score","url":"file:///score.js","lineNumber":1,"columnNumber":1}}],
"startTime":0,"endTime":60,"samples":[2,3,4],"timeDeltas":[10,20,30]}`
	path := filepath.Join(t.TempDir(), "a.cpuprofile")
	if err := os.WriteFile(path, []byte(profile), 0o644); err != nil {
		t.Fatal(err)
	}
	s := &bench{t: t, Shell: New(theme.Dark), now: time.Unix(1e9, 0)}
	defer s.Close()
	s.Open(path)
	s.until("the list", func() bool { return strings.Contains(s.shapes(), "Top functions by self") })
	shapes := s.shapes()
	for name, want := range map[string]bool{"hash.js": true, "app.js": true, "score.js": false} {
		if strings.Contains(shapes, name) != want {
			t.Errorf("%s is shown: %v\n%s", name, !want, shapes)
		}
	}
}
