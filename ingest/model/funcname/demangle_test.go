package funcname

import "testing"

// FuzzDemangled checks that demangling a malicious name takes little time and gives a name of
// limited length.
func FuzzDemangled(f *testing.F) {
	for _, s := range []string{"_ZW1A", "_ZN3foo3barEi", "_RNvC6_123foo3bar", "_ZN4core3ptr17h0123456789abcdefE", "_ZNSt6vectorIiSaIiEE9push_backERKi"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if name, ok := Demangled(s); ok && (name == "" || len(name) > 1<<longestName) {
			t.Errorf("%q became %d bytes", s, len(name))
		}
	})
}
