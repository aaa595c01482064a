package difference

import (
	"strings"
	"testing"
)

func FuzzCondition(f *testing.F) {
	for _, s := range []string{"total>5%", "self(operator>(a, b))>1ms", "module(x)<=-1e", "total(f)>=.5kB", "self()>1"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		c, err := ParseCondition(s)
		if err != nil {
			return
		}
		if c.limit == nil || c.what == "" || c.op == "" || c.name == "" && c.what != condTotal {
			t.Errorf("%q is read as %+v", s, c)
		}
		if len(c.name) > len(s) || !strings.Contains(s, c.name) {
			t.Errorf("%q names %q", s, c.name)
		}
	})
}

func TestConditionNames(t *testing.T) {
	for text, want := range map[string]string{
		"self(operator>(a, b))>1ms": "operator>(a, b)", "total(std::map<int>::at)>5%": "std::map<int>::at",
		"self( f )>1%": " f ", "total>5%": "", "module(/usr/lib/x(1).so)>0": "/usr/lib/x(1).so",
	} {
		if c, err := ParseCondition(text); err != nil || c.name != want {
			t.Errorf("%q names %q (%v), want %q", text, c.name, err, want)
		}
	}
}
