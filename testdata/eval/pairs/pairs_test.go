package pairs

import (
	"os"
	"testing"
)

// TestLook prints the verdicts of the pairs that may be looked at.
func TestLook(t *testing.T) {
	for i := range All {
		p := &All[i]
		if p.Held() && os.Getenv("HELD") == "" {
			continue
		}
		v, err := Compare(t.Context(), ".", p.File(0), p.File(1))
		if err != nil {
			t.Errorf("%s: %v", p.File(0), err)
			continue
		}
		t.Logf("%v %s %s: %s", p.Right(v), p.Language, p.Name, v.First)
	}
	for _, l := range Languages {
		alarms, of := 0, 0
		for i := range Unchanged {
			for k := range i {
				v, err := Compare(t.Context(), ".", UnchangedFile(l, k), UnchangedFile(l, i))
				if err != nil {
					t.Fatal(err)
				}
				if of++; len(v.Named) > 0 {
					alarms++
					if alarms < 6 {
						t.Logf("alarm %s %d %d: %s", l, k, i, v.First)
					}
				}
			}
		}
		t.Logf("%s: %d alarms in %d", l, alarms, of)
	}
}
