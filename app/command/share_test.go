package command

import (
	"encoding/json"
	"strings"
	"testing"
)

// TestShareOfChange checks that the verdict and the rows give a function the same share of the
// change, and that rows whose changes cancel each other are shares of all changes.
func TestShareOfChange(t *testing.T) {
	a := written(t, "a.folded", "main;read 8983\nmain;solve 22373\nmain;format 7989\n")
	b := written(t, "b.folded", "main;read 8991\nmain;solve 31005\nmain;format 7786\n")
	c := written(t, "c.folded", "main;read 15983\nmain;solve 15373\nmain;format 7989\n")
	for _, test := range []struct{ b, verdict, share string }{
		{b, "solve +8632 (102.3 % of the change, 97 % sure).", "1.0231"},
		{c, "", "0.5"},
	} {
		r := run("diff", a, test.b, "--json")
		var v struct {
			Verdict string
			Rows    []struct {
				Name  string
				Share json.Number
			}
		}
		if err := json.Unmarshal([]byte(r.stdout), &v); err != nil {
			t.Fatal(err, r.stderr)
		}
		if len(v.Rows) == 0 || !strings.HasPrefix(v.Verdict, test.verdict) || !strings.HasPrefix(v.Rows[0].Share.String(), test.share) {
			t.Errorf("%q, rows %+v", v.Verdict, v.Rows)
		}
	}
}
