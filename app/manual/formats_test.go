package manual_test

import (
	"testing"

	"ashlar/app/manual/manualtest"
	"ashlar/ingest"
)

// The table of formats is that of the registry, in the manual and the README.
func TestManualHasTheFormats(t *testing.T) {
	for _, page := range []string{"assets/manual/opening.md", "README.md"} {
		manualtest.CheckTable(t, page, "formats", ingest.Table(), *update)
	}
}
