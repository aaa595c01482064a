package main

import (
	"path/filepath"
	"testing"
)

// TestPlanted: overview and its first two commands name as many planted causes as
// causes.tsv says, and nothing where nothing was planted.
func TestPlanted(t *testing.T) {
	all, err := readPlanted("planted")
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob("planted/recordings/*")
	if err != nil || len(files) != len(all) || len(all) < 60 {
		t.Errorf("causes.tsv lists %d recordings, the folder has %d (%v)", len(all), len(files), err)
	}
	for i := range all {
		p := &all[i]
		a, err := p.ask()
		if err != nil {
			t.Errorf("%s: %v", p.path, err)
		}
		if a.String() != p.answered {
			t.Errorf("%s: the answer is %q, causes.tsv has %q; the findings are %+v", p.path, &a, p.answered, a.found)
		}
		if a.tokens > 6000 {
			t.Errorf("%s takes %d tokens", p.path, a.tokens)
		}
	}
}
