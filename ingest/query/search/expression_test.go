package search

import (
	"strings"
	"testing"
	"time"
)

func TestCompile(t *testing.T) {
	var names []string
	for range 300 {
		names = append(names, "boost::container::vector::push_back")
	}
	for _, src := range []string{
		``, `.*`, `^(parse|render).*\.go$`, `(?i)` + strings.Repeat("a", 500), `.{200,}`,
		`^(` + strings.Join(names, "|") + `)$`,
	} {
		if _, err := Compile(src); err != nil {
			t.Errorf("%.40s: %v", src, err)
		}
	}
	for src, words := range map[string]string{
		strings.Repeat(".*", 5000):       "it is too complex (10000 wildcards, classes and repetitions, the limit is 250)",
		strings.Repeat("(ab|cd)?", 2000): "too complex (2000 ",
		strings.Repeat("a?", 251):        "too complex",
		`(.{100}){3}`:                    "too complex",
		strings.Repeat("(ab|cd)", 251):   "too complex (502 alternatives, the limit is 500)",
		strings.Repeat("a{1000}", 21):    "too long (21000 characters with repetitions, the limit is 20000)",
		strings.Repeat("a", 17<<10):      "it is too long (17408 bytes, the limit is 16384)",
		strings.Repeat("(", 10_000):      "…",
		`(`:                              "missing closing )",
	} {
		_, err := Compile(src)
		if err == nil || !strings.Contains(err.Error(), words) || len(err.Error()) > 200 {
			t.Errorf("%.40s: %v", src, err)
		}
	}
}

// TestSlowest checks that the slowest expressions that are allowed take milliseconds for a
// long name. What Compile refuses would take minutes; a busy machine may take a second.
func TestSlowest(t *testing.T) {
	name := strings.Repeat("lookup::std::node::", 10)
	for _, src := range []string{strings.Repeat(".*", 100) + "§", `.{200}`, strings.Repeat("(lo|st)?", 166) + "§", strings.Repeat("n.?", 100), strings.Repeat("(lo|st)", 250)} {
		re, err := Compile(src)
		if err != nil {
			t.Fatalf("%.40s: %v", src, err)
		}
		began := time.Now()
		for range 10 {
			re.MatchString(name)
		}
		if each := time.Since(began) / 10; each > 5*time.Second {
			t.Errorf("%.40s: %s a name", src, each)
		} else {
			t.Logf("%.40s: %s a name", src, each)
		}
	}
}
