package tabular

import (
	"fmt"
	"math/rand/v2"
	"os/exec"
	"strings"
	"testing"
	"unicode/utf8"

	"ashlar/ingest/input/safetext"
)

// TestFit checks that no line is too wide, that numbers stay whole and in their columns, and
// that names are shortened in the middle.
func TestFit(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for range 200 {
		rows := [][]string{{"self", "share", "function", "module"}}
		for i := range 12 {
			rows = append(rows, []string{fmt.Sprint(r.IntN(1 << 30)), fmt.Sprintf("%d.%d %%", r.IntN(100), r.IntN(10)), fmt.Sprint("begin", i, strings.Repeat("é:", r.IntN(90)), "end"), "m" + strings.Repeat("o", r.IntN(40))})
		}
		var b strings.Builder
		Columns(&b, "  ", "rrll", rows)
		width := 60 + r.IntN(60)
		text := "A sentence " + strings.Repeat("that goes on ", 20) + "\n" + b.String()
		fitted := Fit(text, width)
		lines := strings.Split(strings.TrimSuffix(fitted, "\n"), "\n")
		for _, l := range lines {
			if utf8.RuneCountInString(l) > width {
				t.Fatalf("%d columns in a terminal of %d: %s", utf8.RuneCountInString(l), width, l)
			}
		}
		table := lines[len(lines)-len(rows):]
		for i, l := range table {
			if !strings.Contains(l, rows[i][0]) || !strings.Contains(l, rows[i][1]) {
				t.Fatalf("a number was cut: %q of %q", l, rows[i])
			}
			if i > 0 && (!strings.Contains(l, "be") || strings.Index(l, "begin") != strings.Index(table[1], "begin")) {
				t.Fatalf("%q does not stand below %q", l, table[1])
			}
		}
		if strings.Join(strings.Fields(strings.Join(lines[:len(lines)-len(rows)], " ")), " ") != strings.TrimSpace("A sentence "+strings.Repeat("that goes on ", 20)) {
			t.Fatalf("the sentence is %q", lines)
		}
	}
	if s := "a  b\nshort\n"; Fit(s, 80) != s {
		t.Errorf("%q is changed to %q", s, Fit(s, 80))
	}
}

// TestFitCommand checks that a shell reads the same words from a wrapped command.
func TestFitCommand(t *testing.T) {
	words := []string{"ashlar", "top", "a file with blanks in its name and more than a line of it.folded", "--callers-of", "it's", "--metric", "x", "--search", strings.Repeat("y", 50), "end"}
	text := Fit("  "+safetext.Command(words...)+"\n", 60)
	if strings.Count(text, "\n") < 3 {
		t.Errorf("it is one line: %s", text)
	}
	sh, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("NOT RUN: there is no bash to read the command: ", err)
	}
	out, err := exec.Command(sh, "-c", "ashlar() { printf '%s\\0' ashlar \"$@\"; }\n"+text).Output()
	if got := strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00"); err != nil || strings.Join(got, "|") != strings.Join(words, "|") {
		t.Errorf("%s\nis read as %q (%v)", text, got, err)
	}
}
