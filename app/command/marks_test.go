package command

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ashlar/app/core/settings"
)

// TestMarksExport checks that marks are written to a new file, replace an old one only if
// asked, and never overwrite their recording.
func TestMarksExport(t *testing.T) {
	dir := t.TempDir()
	rec, notes := filepath.Join(dir, "v.json"), filepath.Join(dir, "notes.json")
	const content = `[{"ph":"X","name":"f","ts":1,"dur":2,"pid":1,"tid":1}]`
	if err := os.WriteFile(rec, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	export := func(args ...string) ran {
		var r ran
		var out, err bytes.Buffer
		r.code = Main(append([]string{"marks", rec, "--export"}, args...), nil, &out, &err, Runner{Store: func() (*settings.Store, error) { return settings.In(dir, dir), nil }})
		r.stdout, r.stderr = out.String(), err.String()
		return r
	}
	for _, args := range [][]string{{rec}, {rec, "--force"}, {filepath.Join(dir, ".", "v.json"), "-f"}} {
		r := export(args...)
		r.sentence(t, Problem, "v.json", "is the input recording; name another file")
	}
	if b, err := os.ReadFile(rec); err != nil || string(b) != content {
		t.Fatalf("the recording is %q now (%v)", b, err)
	}
	if r := export(notes); r.code != Done {
		t.Fatal(r.stderr)
	}
	r := export(notes)
	r.sentence(t, Problem, "notes.json", "--force replaces it")
	if r := export(notes, "--force"); r.code != Done {
		t.Error(r.stderr)
	}
	if b, _ := os.ReadFile(notes); !strings.Contains(string(b), "ashlar-marks") {
		t.Errorf("exported was %q", b)
	}
}

// TestNoMarks checks that a recording without marks is answered with a sentence.
func TestNoMarks(t *testing.T) {
	dir := t.TempDir()
	var out, err bytes.Buffer
	code := Main([]string{"marks", "testdata/small.spall"}, nil, &out, &err, Runner{Store: func() (*settings.Store, error) { return settings.In(dir, dir), nil }})
	if code != Done || out.Len() > 0 || err.String() != "ashlar: the recording has no marks\n" {
		t.Errorf("exit code %d, %q, %q", code, &out, &err)
	}
}
