package command

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode"

	"ashlar/ingest/input/safetext"
)

// evil is a text that would affect a terminal: it clears the screen, sets the title, rings the
// bell, reverses the text direction and starts a new line.
const evil = "x\u001b[2J\u001b]0;t\u0007\u009b31m\u202e\u2028\u000aFAKE"

// hostile writes a SPAA file with evil in every text field.
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

// TestHostileTexts checks that no command prints control or invisible characters from a
// recording.
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

// TestHostileTrace checks the same for the texts of a Chrome trace: names of threads,
// processes and spans, categories, arguments, counters, flows and metadata.
func TestHostileTrace(t *testing.T) {
	e, err := json.Marshal(evil)
	if err != nil {
		t.Fatal(err)
	}
	text := strings.ReplaceAll(`{"traceEvents":[{"ph":"M","pid":1,"tid":1,"name":"thread_name","args":{"name":EVIL}},{"ph":"M","pid":1,"name":"process_name","args":{"name":EVIL}},{"ph":"M","pid":1,"name":"process_labels","args":{"labels":EVIL}},
{"ph":"X","pid":1,"tid":1,"ts":1,"dur":5,"name":EVIL,"cat":EVIL,"args":{EVIL:EVIL}},{"ph":"X","pid":EVIL,"tid":EVIL,"ts":2,"dur":5,"name":"f"},{"ph":"C","pid":1,"ts":2,"name":EVIL,"args":{EVIL:3}},{"ph":EVIL,"ts":3},{"ph":"i","pid":1,"tid":1,"ts":3,"name":EVIL,"s":EVIL},
{"ph":"s","pid":1,"tid":1,"ts":3,"id":EVIL,"name":EVIL,"cat":EVIL},{"ph":"b","pid":1,"tid":1,"ts":3,"id":EVIL,"name":EVIL,"cat":EVIL}],EVIL:EVIL,"otherData":{EVIL:EVIL},"metadata":{"command_line":EVIL,EVIL:{EVIL:1}}}`, "EVIL", string(e))
	path := filepath.Join(t.TempDir(), "x\u001b[2J\u202e=1.json")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	out := t.TempDir()
	for _, args := range [][]string{
		{"info", path}, {"info", path, "--json"}, {"top", path}, {"top", path, "--tree"}, {"top", path, "--by", "thread"}, {"top", path, "--by", "module"}, {"top", path, "--thread", evil}, {"top", path, "--focus", evil}, {"top", path, "--range", "5s.."},
		{"stats", path, "--function", "/x/"}, {"stats", path, "--function", evil}, {"diff", path, path, "--all"}, {"diff", path, path, "--thread-a", evil}, {"check", path}, {"marks", path}, {"help", evil}, {evil}, {"top", "--" + evil}, {"top", evil},
		{"convert", path, filepath.Join(out, "a.folded")}, {"convert", path, filepath.Join(out, "a.spall")}, {"convert", path, filepath.Join(out, "a.spaa")}, {"convert", path, filepath.Join(out, "a.pb")}, {"convert", path, filepath.Join(out, evil)},
	} {
		r := run(args...)
		for _, said := range []string{r.stdout, r.stderr} {
			if i := strings.IndexFunc(said, func(c rune) bool {
				return c != '\n' && c != '\t' && (unicode.IsControl(c) || unicode.In(c, unicode.Cf, unicode.Zl, unicode.Zp))
			}); i >= 0 {
				t.Errorf("%q prints %q", args, said[max(0, i-40):])
			}
			if strings.Contains(said, "\nFAKE") {
				t.Errorf("%q begins a line with what a name says: %q", args, said)
			}
		}
	}
}

// TestHostileFolded checks that converting to folded stacks writes one harmless line per
// stack.
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
	if rest != "" || safetext.Text(line) != line || !strings.HasSuffix(line, " 3") {
		t.Errorf("written was %q", b)
	}
}
