package manual_test

import (
	"fmt"
	"strings"
	"testing"

	"ashlar/app/core/manual/manualtest"
	"ashlar/ingest"
)

// TestManualHasTheFormats checks that the tables of formats in the manual and the README match
// the registry.
func TestManualHasTheFormats(t *testing.T) {
	for i := range ingest.Formats {
		if f := &ingest.Formats[i]; f.Holds == "" {
			t.Errorf("the format %s does not say what is read: set Holds", f.Name)
		}
	}
	for _, page := range []string{"assets/manual/opening.md", "README.md"} {
		manualtest.CheckTable(t, page, "formats", formatsTable(), *update)
	}
}

// formatsTable returns the manual's table of formats.
func formatsTable() string {
	var s strings.Builder
	s.WriteString("| format | what is read | written as |\n|---|---|---|\n")
	for i := range ingest.Formats {
		f, written := &ingest.Formats[i], "–"
		if f.Encode != nil {
			written = "`" + strings.Join(f.Encode.Extensions, "`, `") + "`"
		}
		fmt.Fprintf(&s, "| %s (`%s`) | %s | %s |\n", f.Title, f.Extensions[0], f.Holds, written)
	}
	return s.String()
}
