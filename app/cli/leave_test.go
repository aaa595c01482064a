package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode"

	"ashlar/ingest/plain"
)

// evil is a text that does something to a terminal: it clears the screen, sets
// the title, rings, turns what follows around, begins a line.
const evil = "x\u001b[2J\u001b]0;t\u0007\u009b31m\u202e\u2028\u000aFAKE"

// hostile is a recording with such a text wherever one can be.
func hostile(t *testing.T) string {
	text := strings.NewReplacer("EVIL", strings.NewReplacer("\x1b", `\u001b`, "\x07", `\u0007`, "\n", `\n`).Replace(evil)).Replace(
		`{"type":"header","format":"spaa","version":"1.0","source_tool":"EVIL","frame_order":"leaf_to_root","events":[{"name":"EVIL","kind":"software","sampling":{"mode":"period","primary_metric":"mEVIL","period":1}}],"metrics":[{"name":"mEVIL","unit":"uEVIL"},{"name":"EVIL2","unit":"EVIL"}],"stack_id_mode":"local","time_range":{"start":0,"end":5,"unit":"EVIL"}}
{"type":"dso","id":1,"name":"EVIL"}
{"type":"thread","pid":1,"tid":1,"name":"EVIL"}
{"type":"frame","id":1,"func":"EVIL","dso":1,"srcline":"EVIL:3"}
{"type":"stack","id":"EVIL","frames":[1],"context":{"event":"EVIL","pid":1,"tid":1,"comm":"EVIL"},"weights":[{"metric":"mEVIL","value":3,"unit":"uEVIL"},{"metric":"EVIL2","value":12345678}]}
`)
	path := filepath.Join(t.TempDir(), "evil.spaa")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestHostileTexts: no text of a recording reaches the terminal with what does
// something to it, whatever is asked.
func TestHostileTexts(t *testing.T) {
	path := hostile(t)
	for _, args := range [][]string{
		{"info", path}, {"info", path, "--json"}, {"top", path}, {"top", path, "--json"}, {"top", path, "--by", "module"}, {"top", path, "--by", "file"}, {"top", path, "--by", "thread"},
		{"top", path, "--metric", "EVIL"}, {"top", path, "--event", "none"}, {"top", path, "--tree"}, {"top", path, "--focus", "none"},
		{"stats", path, "--function", "x"}, {"diff", path, path}, {"diff", path, path, "--json"}, {"diff", path, path, "--fail-if", "total>1s"}, {"check", path}, {"check", path, "--json"},
		{"convert", path, filepath.Join(t.TempDir(), "out.folded")}, {"convert", path, filepath.Join(t.TempDir(), "\x1b[2J.folded")},
	} {
		r := run(args...)
		for _, out := range []string{r.stdout, r.stderr} {
			for _, c := range out {
				if c != '\n' && c != '\t' && (unicode.IsControl(c) || unicode.In(c, unicode.Cf, unicode.Zl, unicode.Zp)) {
					t.Errorf("%s prints %U: %q", strings.Join(args, " "), c, out)
					break
				}
			}
			if strings.Contains(out, "\nFAKE") {
				t.Errorf("%s begins a line with what a name says: %q", strings.Join(args, " "), out)
			}
		}
		if r.stdout == "" && r.stderr == "" {
			t.Errorf("%s prints nothing", strings.Join(args, " "))
		}
	}
}

// TestHostileFolded: folded stacks are lines of names that do nothing.
func TestHostileFolded(t *testing.T) {
	out := filepath.Join(t.TempDir(), "out.folded")
	if r := run("convert", hostile(t), out); r.code != Done {
		t.Fatal(r.stderr)
	}
	b, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	line, rest, _ := strings.Cut(string(b), "\n")
	if rest != "" || plain.Text(line) != line || !strings.HasSuffix(line, " 3") {
		t.Errorf("written was %q", b)
	}
}
