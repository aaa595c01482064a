package command

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ashlar/assets"
)

// TestBadInput checks that each bad file gives one line that names it, and exit code 1.
func TestBadInput(t *testing.T) {
	dir := t.TempDir()
	file := func(name, content string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
	zeros := file("zeros.bin", "")
	if err := os.Truncate(zeros, 2<<30); err != nil {
		t.Fatal(err)
	}
	headless := `{"type":"dso","id":1,"name":"a"}` + "\n" + `{"type":"frame","id":1,"func":"f","dso":1}` + "\n"
	for _, c := range []struct{ name, path, words string }{
		{"missing", filepath.Join(dir, "nowhere.spaa"), "there is no such file"},
		{"no such folder", filepath.Join(dir, "no", "where.spaa"), "there is no such file"},
		{"below a file", filepath.Join(file("plain", "x"), "run.spaa"), ""},
		{"directory", dir, " is a folder. Open a file in it"},
		{"device", os.DevNull, "is a device"},
		{"empty", file("empty.spaa", ""), "empty.spaa is empty"},
		{"unknown", file("letter.txt", "Dear Sir or Madam,\n"), `letter.txt: unknown format (starts with "Dear Sir or Madam,"). Supported: SPAA`},
		{"unknown bytes", file("noise.bin", "\x00\x01\xfe\xff\x00\x00"), `noise.bin: unknown format (starts with the bytes 00 01 fe ff 00 00, "......"). Supported: SPAA`},
		{"zeros", zeros, "zero bytes). Supported: SPAA"},
		{"spaa without a header and stacks", file("headless.spaa", headless), "SPAA"},
		{"heap-diff", file("diff.json", `{"format":"heap-diff","type":"header"}`+"\n"), "heap-diff"},
		{"spall, header only cut", file("cut.spall", "\xad\xde\x0b\x0b"), ""},
		{"gzip of nothing", file("short.gz", "\x1f\x8b\x08\x00"), "gzip"},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, args := range [][]string{{"info", c.path}, {"top", c.path}, {"info", c.path, "--json"}} {
				r := run(args...)
				r.sentence(t, Problem, c.path, c.words)
				if r.stdout != "" {
					t.Errorf("%v printed %q", args, r.stdout)
				}
			}
		})
	}
}

// TestPartly checks that commands print what they could read of a truncated file, and exit
// with an error.
func TestPartly(t *testing.T) {
	path := filepath.Join(t.TempDir(), "half.spaa.zst")
	if err := os.WriteFile(path, assets.Demo()[:len(assets.Demo())/2], 0o644); err != nil {
		t.Fatal(err)
	}
	for _, cmd := range []string{"info", "top"} {
		r := run(cmd, path, "--json")
		r.sentence(t, Problem, path, "reading stopped early", "truncated")
		if !json.Valid([]byte(r.stdout)) {
			t.Errorf("%s printed %q", cmd, r.stdout)
		}
	}
	var in struct {
		Warnings []struct{ Code string }
		Counts   struct{ Stacks, Samples int }
	}
	if err := json.Unmarshal([]byte(run("info", path, "--json").stdout), &in); err != nil {
		t.Fatal(err)
	}
	codes := ""
	for _, w := range in.Warnings {
		codes += w.Code + " "
	}
	if !strings.Contains(codes, "failed") || in.Counts.Stacks == 0 || in.Counts.Samples == 0 {
		t.Errorf("warnings %s, %+v: want what could be read, and why not all", codes, in.Counts)
	}
}

// TestCannotAnswer checks that --range on a recording without times is not an error: the
// answer covers the whole recording and says so.
func TestCannotAnswer(t *testing.T) {
	r := run("top", "testdata/damaged.spaa", "--range", "1ms..2ms", "--json")
	r.sentence(t, Done, "testdata/damaged.spaa", "period of cycles has no timestamps")
	var v struct {
		Range    *struct{}
		Answered *bool
		Total    json.Number
	}
	if err := json.Unmarshal([]byte(r.stdout), &v); err != nil {
		t.Fatal(err)
	}
	if v.Range != nil || v.Answered == nil || *v.Answered || v.Total != "5" {
		t.Errorf("%s: want no range, not answered, a total of 5", r.stdout)
	}
}
