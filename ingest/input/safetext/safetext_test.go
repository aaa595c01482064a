package safetext

import (
	"bytes"
	"encoding/json"
	"io"
	"os/exec"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

// bad contains one of each kind of text that affects a terminal: an escape sequence, a
// title, a bell, C1 controls, bidi overrides and isolates, line separators, a tag, and
// invalid UTF-8.
const bad = "a\x1b[2Jb\x1b]0;title\x07c\u009b31md\u202ee\u2066f\u2028g\U000e0001h\x9bi\x00j\x7fk\r\nl\tm\u200bn\ufeffo"

// calm fails the test if a text contains invisible characters or invalid UTF-8.
func calm(t *testing.T, what, s string) {
	t.Helper()
	for _, r := range s {
		if r != '\n' && r != '\t' && (unicode.IsControl(r) || unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp)) {
			t.Errorf("%s leaves %U in %q", what, r, s)
		}
	}
	if !utf8.ValidString(s) {
		t.Errorf("%s leaves what is no UTF-8: %q", what, s)
	}
}

func TestText(t *testing.T) {
	for what, s := range map[string]string{"Text": Text(bad), "Short": Short(strings.Repeat(bad, 20)), "Cell": Cell("=" + bad), "Word": word(bad)} {
		if calm(t, what, s); strings.ContainsAny(s, "\n\t") {
			t.Errorf("%s leaves more than a line: %q", what, s)
		}
	}
	const good = "std::vector<int, 名前> größe → ∑ 🎉"
	if got := Text(good); got != good {
		t.Errorf("Text changes %q to %q", good, got)
	}
	if got := Short(strings.Repeat("x", 200)); utf8.RuneCountInString(got) != longest || !strings.Contains(got, "…") {
		t.Errorf("Short makes %q", got)
	}
}

func TestLines(t *testing.T) {
	const in, want = "a\x00b\x1b[31m\x7f\u009b\n\tשָׁ\u200f 👩\u200d👧\r\nend", "a·b·[31m··\n\tשָׁ\u200f 👩\u200d👧\r\nend"
	if got := Lines(in); got != want {
		t.Errorf("%q becomes %q, want %q", in, got, want)
	}
}

func TestCell(t *testing.T) {
	for in, want := range map[string]string{
		"=1+1": "'=1+1", "+cmd": "'+cmd", "-2+3": "'-2+3", "@SUM(A1)": "'@SUM(A1)", "  =x": "'  =x", "\t=x": "' =x", "\n=x": "' =x", "operator=": "operator=",
		"-5": "-5", "+5.25": "+5.25", "-1e9": "-1e9", "": "", "-": "'-", "12 %": "12 %",
		"＝1+1": "'＝1+1", "＋a": "'＋a", "－a": "'－a", "＠a": "'＠a", "a＝b": "a＝b", "…": "…",
	} {
		if got := Cell(in); got != want {
			t.Errorf("Cell(%q) = %q, want %q", in, got, want)
		}
	}
}

// TestCommand checks that a shell splits the command into the original words.
func TestCommand(t *testing.T) {
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("there is no bash to read the commands: ", err)
	}
	words := []string{"a b", "it's", "$(touch PWNED)", "`x`", "", "plain/name-1.spaa", "a;b&c|d>e", "~", "*", "a\\b", "é", "x\x1b[201~y", "'\n\\\u202e'", "\xff", "!x"}
	out, err := exec.Command(bash, "-c", "printf '%s\\0' "+Command(words...)).Output()
	if got := strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00"); err != nil || strings.Join(got, "\x00") != strings.Join(words, "\x00") {
		t.Errorf("%s gives %q (%v)", Command(words...), got, err)
	}
	calm(t, "Command", Command(words...))
}

// TestWriter checks that the output has no invisible characters, however the input is split
// into writes, and that JSON keeps its meaning.
func TestWriter(t *testing.T) {
	j, err := json.Marshal(bad)
	if err != nil {
		t.Fatal(err)
	}
	for _, size := range []int{1, 2, 3, 1000} {
		var b bytes.Buffer
		w := Writer(&b)
		for rest := j; len(rest) > 0; rest = rest[min(size, len(rest)):] {
			if _, err := w.Write(rest[:min(size, len(rest))]); err != nil {
				t.Fatal(err)
			}
		}
		calm(t, "Writer", b.String())
		var got, want string
		if json.Unmarshal(b.Bytes(), &got) != nil || json.Unmarshal(j, &want) != nil || got != want {
			t.Errorf("by %d: %q, want %q", size, got, want)
		}
	}
	var b bytes.Buffer
	_, _ = io.WriteString(Writer(&b), bad)
	calm(t, "Writer", b.String())
	if !strings.Contains(b.String(), `a\u001b[2Jb`) {
		t.Errorf("an escape is not seen in %q", b.String())
	}
}

func TestURL(t *testing.T) {
	for in, want := range map[string]string{
		"http://user:secret@host:1/p?seconds=5&token=abc&x=a%20b#frag": "http://host:1/p?seconds=5&token=xxxxx&x=a%20b",
		"https://me@host/p": "https://host/p", "HTTP://u:p@h": "http://h", "http://h/?X-Amz-Signature=1&access_token=2&api%5Fkey=3&key=4&seconds=1": "http://h/?X-Amz-Signature=xxxxx&access_token=xxxxx&api%5Fkey=xxxxx&key=xxxxx&seconds=1",
		"http://me:se cret@[::1/x?token=abc": "http://[::1/x", "http://h/p": "http://h/p", "http://h/p?keyboard=us": "http://h/p?keyboard=us",
		"/home/a@b/run?token=1": "/home/a@b/run?token=1", "": "", "-": "-",
	} {
		if got := URL(in); got != want {
			t.Errorf("URL(%q) = %q, want %q", in, got, want)
		}
	}
}
