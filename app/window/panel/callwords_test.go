package panel

import "testing"

// TestCallWords checks the description of sets of calls, with one and two ends of each
// limit.
func TestCallWords(t *testing.T) {
	for set, want := range map[string]string{
		"RunTask":                           "RunTask",
		"parse|/^read/[self 1ms..]":         "parse, /^read/, self 1 ms or longer",
		"*[80us..100us]":                    "all functions, 80 µs to 100 µs",
		"!RunTask[60ms.., slowest 25]":      "all but RunTask, 60 ms or longer, the slowest 25",
		"RunTask[..2ms, started 2s..]":      "RunTask, shorter than 2 ms, started 2 s or later",
		"Request[tenant=7, size in 1..5]":   "Request, tenant=7, size in 1..5",
		`*[found "arg:time, out"]`:          "all functions, with arg:time, out",
		"RunTask[at 42:43@1.2s]":            "RunTask, the call at 1.2 s",
		"RunTask[at 42:43@1.2s 42:43@1.3s]": "RunTask, 2 selected",
		"/^Step#(#|[0-9]+)$/[18ms..]":       "Step##, 18 ms or longer",
		"RunTask[":                          "RunTask[",
	} {
		if got := CallWords(set); got != want {
			t.Errorf("%s is %q, want %q", set, got, want)
		}
	}
}
