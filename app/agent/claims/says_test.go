package claims

import (
	"encoding/json"
	"strings"
	"testing"
)

// TestPeople checks how numbers of answers are written for people, and which bold numbers
// repeat them.
func TestPeople(t *testing.T) {
	for _, c := range []struct{ command, answer, path, want, bold string }{
		{"ashlar calls a.json 'f[1ms..]'", `{"count": 7, "min": 8889200}`, "min", "8.889 ms", "8.89 ms"},
		{"ashlar calls a.json f", `{"count": 7, "min": 8889200}`, "count", "", "7"},
		{"ashlar gpu a.json", `{"loop": {"slow": 3, "causes": [{"slow": 1500}]}}`, "loop.slow", "", "3"},
		{"ashlar gpu a.json", `{"loop": {"slow": 3, "causes": [{"slow": 1500}]}}`, "loop.causes[0].slow", "1.500 µs", "1.5 µs"},
		{"ashlar locks a.json", `{"locks": [{"reason": "a.b", "lost": 2000}]}`, `locks[reason="a.b"].lost`, "2.000 µs", "2.000 µs"},
		{"ashlar top a.json", `{"lost": 2000}`, "lost", "", "2000"},
		{"ashlar findings a.json", `{"findings": [{"numbers": [{"value": 0.125, "unit": "share"}]}]}`, "findings[0].numbers[0].value", "12.5 %", "12.5 %"},
		{"ashlar top a.pb.gz", `{"unit": "bytes", "metric": "alloc_space", "total": 1048576}`, "total", "1.000 MiB", "1.000 MiB"},
		{"ashlar top a.perf", `{"unit": "cycles", "metric": "cycles", "total": 12345678}`, "total", "12.35 M cycles", "12.35 M"},
	} {
		d := json.NewDecoder(strings.NewReader(c.answer))
		d.UseNumber()
		var v any
		if err := d.Decode(&v); err != nil {
			t.Fatal(err)
		}
		got := people(c.command, v, c.path)
		if got != c.want {
			t.Errorf("%s # %s is %q, want %q", c.command, c.path, got, c.want)
		}
		if n, _ := follow(v, c.path); !says(c.bold, string(n.(json.Number)), got) {
			t.Errorf("%q is not accepted for %s # %s", c.bold, c.command, c.path)
		}
		if says("9"+c.bold, "1", got) {
			t.Errorf("%q is accepted for %s # %s", "9"+c.bold, c.command, c.path)
		}
	}
}
