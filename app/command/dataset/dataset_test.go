package dataset

import (
	"bytes"
	"strings"
	"testing"

	"ashlar/ingest/model/relation"
)

// TestViews checks that there is a view for each table.
func TestViews(t *testing.T) {
	var b bytes.Buffer
	if err := Views(&b); err != nil {
		t.Fatal(err)
	}
	for _, x := range relation.Tables {
		if !strings.Contains(b.String(), "VIEW "+x.Name+" AS SELECT * FROM read_parquet('"+x.Name+"/*/*.parquet'") {
			t.Errorf("no view of %s", x.Name)
		}
	}
}

// TestDescribed checks that the help lists every column.
func TestDescribed(t *testing.T) {
	for _, x := range relation.Tables {
		if !strings.Contains(Command.Text, "\n"+x.Name+": ") {
			t.Errorf("the help lacks %s", x.Name)
		}
		for _, c := range x.Columns {
			if !strings.Contains(Command.Text, "\n  "+c.Name+" ("+strings.ToLower(c.Type.String())) {
				t.Errorf("the help lacks %s.%s", x.Name, c.Name)
			}
		}
	}
}
