package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"ashlar/app/agent/findings"
	"ashlar/app/command"
)

// TestPlanted checks that overview and its first two commands give the answer in causes.tsv
// for each recording.
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

// TestEachRuleIsChecked checks that each rule has a finding in some recording, and that
// check-claims can recompute all numbers of the reports on all recordings with findings.
func TestEachRuleIsChecked(t *testing.T) {
	left := map[string]bool{}
	for _, r := range findings.Describe() {
		left[r.Name] = true
	}
	look := func(files ...string) {
		var found struct{ Findings []findings.Finding }
		if err := json.Unmarshal(output(t, append([]string{"findings", "--json"}, files...)...), &found); err != nil {
			t.Fatal(err)
		}
		before := len(left)
		for _, f := range found.Findings {
			delete(left, f.Rule)
		}
		if len(left) == before {
			return // others have shown the same rules
		}
		report := filepath.Join(t.TempDir(), "report.md")
		if err := os.WriteFile(report, output(t, append([]string{"report", "-o", "-"}, files...)...), 0o644); err != nil {
			t.Fatal(err)
		}
		output(t, "check-claims", report)
	}
	all, err := readPlanted("planted")
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range all {
		path, err := filepath.Abs(p.path)
		if err != nil {
			t.Fatal(err)
		}
		look(path)
	}
	look("../../app/command/testdata/training-gpu.json") // training on several GPUs
	dir := t.TempDir()
	for _, c := range cases(1) {
		paths, err := c.write(dir)
		if err != nil {
			t.Fatal(err)
		}
		look(paths...)
	}
	for name := range left {
		t.Errorf("no recording has a finding of %s", name)
	}
}

// output runs a command and returns its output.
func output(t *testing.T, args ...string) []byte {
	t.Helper()
	var out, errs bytes.Buffer
	if code := command.Main(args, bytes.NewReader(nil), &out, &errs, command.Runner{}); code != command.Done {
		t.Errorf("%v: %s%s", args, errs.String(), out.String())
	}
	return out.Bytes()
}
