package funcname

import (
	"regexp"
	"testing"
)

func TestFoldDigits(t *testing.T) {
	for in, want := range map[string]string{
		"frame 1": "frame #", "frame 48704": "frame #", "utf8.Valid": "utf8.Valid", "main.func1.2": "main.func1.#", "worker-12/job_7": "worker-#/job_#",
		"": "", "12": "#", "SHA256": "SHA256", "a 1 b 22": "a # b #",
	} {
		if got := FoldDigits(in); got != want {
			t.Errorf("%q becomes %q, want %q", in, got, want)
		}
	}
}

// TestFoldedPattern checks that the pattern of a folded name matches exactly the names that
// fold to it.
func TestFoldedPattern(t *testing.T) {
	names := []string{"frame 12", "frame 9", "frame", "frame x", "a.b(3)", "aXb(3)", "step#7", "step##", "utf8", "utf9", "1+2", "frame 12 of 3"}
	for _, of := range names {
		folded := FoldDigits(of)
		is := regexp.MustCompile(FoldedPattern(folded))
		if back, ok := OfFoldedPattern(is.String()); ok != (folded != of || of == "step##") || ok && back != folded {
			t.Errorf("the pattern of %q is that of %q: %v", folded, back, ok)
		}
		for _, name := range names {
			if got, want := is.MatchString(name), FoldDigits(name) == folded; got != want {
				t.Errorf("the pattern of %q matches %q: %v, want %v", folded, name, got, want)
			}
		}
	}
}

// TestOtherPatterns checks that other expressions are not taken for patterns of folded
// names.
func TestOtherPatterns(t *testing.T) {
	for _, text := range []string{"", "^", "$", "frame", "^frame$", "^frame (#|[0-9]+)", "^fr.*(#|[0-9]+)$", `^a\`, "^(#|[0-9])$"} {
		if folded, ok := OfFoldedPattern(text); ok {
			t.Errorf("%q is the pattern of %q", text, folded)
		}
	}
}
