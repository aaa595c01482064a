package recording

import "testing"

// TestLibrary checks which functions belong to a language's library or to the system, and
// which to the program.
func TestLibrary(t *testing.T) {
	for _, c := range []struct {
		f    Function
		want bool
	}{
		{Function{Name: "runtime.mallocgc"}, true},
		{Function{Name: "encoding/json.Marshal"}, true},
		{Function{Name: "testing.(*B).RunParallel.func1"}, true},
		{Function{Name: "testing/fstest.MapFS.Open"}, true},
		{Function{Name: "crypto.SignMessage"}, true},
		{Function{Name: "sync/atomic.(*Int64).Add"}, true},
		{Function{Name: "main.runtime"}, false},
		{Function{Name: "example.com/testing.Run"}, false},
		{Function{Name: "testing::Test::Run()"}, false},
		{Function{Name: "java.lang.Integer.getChars"}, true},
		{Function{Name: "memmove", Module: "/usr/lib/libc.so.6"}, true},
		{Function{Name: "work", Module: "/opt/app/libcar.so"}, false},
		{Function{Name: "do_syscall_64", Kind: KindKernel}, true},
		{Function{Name: "readFile", File: "node:fs"}, true},
	} {
		if got := c.f.Library(); got != c.want {
			t.Errorf("%q in %q of %q: library is %v, want %v", c.f.Name, c.f.File, c.f.Module, got, c.want)
		}
	}
}
