package funcname

import "testing"

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
