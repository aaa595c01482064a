package window

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestFrameLogFile: a frame log replaces an older one and no other file.
func TestFrameLogFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "notes.json")
	for text, ok := range map[string]bool{"": true, `{"at_ms":1,` + "\n": true, `{"traceEvents":[]}`: false, "mine\n": false} {
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		l, err := newFrameLog(path, nil)
		if err == nil {
			l.close()
		}
		b, _ := os.ReadFile(path)
		if ok != (err == nil) || !ok && (string(b) != text || !strings.Contains(err.Error(), "is not a frame log")) {
			t.Errorf("%q: %v, has %q", text, err, b)
		}
	}
}
