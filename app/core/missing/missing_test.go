package missing_test

import (
	"encoding/json"
	"strings"
	"testing"

	"ashlar/app/core/missing"
	"ashlar/ingest"
	"ashlar/ingest/model/recording"
)

// TestFormats checks that advice names only formats that exist.
func TestFormats(t *testing.T) {
	known := map[string]bool{"": true}
	for _, f := range ingest.Formats {
		known[f.Name] = true
	}
	for format := range missing.Formats() {
		if !known[format] {
			t.Errorf("there is no format %q", format)
		}
	}
	for k := missing.OffCPU; k <= missing.Lines; k++ {
		for format := range known {
			text := missing.Reason(k, &recording.Recording{Source: recording.Source{Format: format}})
			if b, err := json.Marshal(text); err != nil || len(b) < 40 || strings.Contains(text, "with ;") || strings.HasSuffix(text, "with ") {
				t.Errorf("of %s it says %q", format, text)
			}
		}
	}
}
