package redact

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"strings"
	"sync"
	"testing"

	"ashlar/testdata/rounds"
)

// TestText checks that secrets are removed and that text that identifies code stays.
func TestText(t *testing.T) {
	r := new(Redactor)
	const secret = "acme"
	for in, keeps := range map[string]string{
		"load https://shop.acme.com:8443/acme/users?q=acme#acme": "load ",
		"render (https://cdn.acme.io/js/app.js?v=acme:12:7)":     "app.js:12:7",
		"GET /v1/acme/42":                          "GET ",
		`open C:\Users\acme\x.dll`:                 "x.dll",
		`read \\acme-server\share\thing`:           "read ",
		"git.acme.com/acme/billing.(*T).Close":     "billing.(*T).Close",
		"cmd/vendor/acme.org/x/tools/ssa.run":      "ssa.run",
		"handler src/acme/handler.py:41":           "handler.py:41",
		"dial db.acme.internal:5432":               "dial ",
		"mail jane@acme.com now":                   " now",
		"file:///home/acme/secret":                 "",
		"worker ~/acme/run":                        "worker ",
		"data:text/html,acme":                      "",
		"webpack:///./src/acme/Cart.tsx":           "Cart.tsx",
		"require('/srv/acme/lib/index.mjs')":       "index.mjs",
		"connect [fe80::acde:1]:80 via 10.0.12.13": "connect ",
	} {
		got := r.Text(in)
		if strings.Contains(got, secret) || strings.Contains(got, "10.0.12") || strings.Contains(got, "acde") || !strings.Contains(got, keeps) {
			t.Errorf("Text(%q) = %q", in, got)
		}
		if again := r.Text(got); again != got {
			t.Errorf("%q becomes %q when it is left out again", got, again)
		}
		if got != new(Redactor).Text(in) {
			t.Errorf("%q has another name each time", in)
		}
	}
	for _, name := range []string{
		"std::vector<int, std::allocator<int>>::operator/(int) const", "net/http.(*conn).serve", "java.net.Socket.connect", "sun.misc.Unsafe.park", "runtime.mallocgc", "memcpy@GLIBC_2.14",
		"a / b", "text/template/parse.(*Tree).parse", "V8.GCScavenger", "operator|", "main.in", "1.2.3", "foo(int*, char const*)", "[kernel.kallsyms]", "<T as core::ops::Div>::div", "com/example/Foo.bar", "(anonymous)", "node:internal",
		"disabled-by-default-devtools.timeline", "libc.so.6+0x12", "frame 12:30", "12.5 ms", "::operator new(unsigned long)", "Promise.then", "core::fmt::Display",
	} {
		if got := r.Text(name); got != name {
			t.Errorf("Text changes %q to %q", name, got)
		}
	}
	for in, want := range map[string]string{"/usr/lib/acme/libz.so.1": "^dir-[0-9a-f]{6}/libz.so.1$", "[vdso]": `^\[vdso\]$`, `C:\acme\prog.exe`: `^dir-[0-9a-f]{6}/prog\.exe$`, "https://acme.com/a.js": "^url-[0-9a-f]{6}/a.js$", "": "^$", "/x": "^x$"} {
		if got := r.File(in); !regexp.MustCompile(want).MatchString(got) || r.File(got) != got {
			t.Errorf("File(%q) = %q, then %q", in, got, r.File(got))
		}
	}
	if said := r.Said(); !strings.Contains(said, "URLs") || !strings.Contains(said, "hosts") || !strings.Contains(said, "folders") {
		t.Errorf("it says %q", said)
	}
}

// TestExpressionsNeed checks that an expression matches no text without one of its needed
// bytes.
func TestExpressionsNeed(t *testing.T) {
	pieces := []string{"[::1]", "a@c.com", "/", "\\", ".", ":", "@", "[", "]", " ", "~", "-", "(", "1", "10.0.12.13", "a", "c", "go", "com", "io", "acme", "localhost", "data", "fe80", "é"}
	rng := rand.New(rand.NewPCG(1, 2))
	all := []expression{anyURL, email, windows, absolute, relative, led, long, short, ipv4, ipv6}
	found := make([]int, len(all))
	for range 3000 {
		var b strings.Builder
		for range 1 + rng.IntN(9) {
			b.WriteString(pieces[rng.IntN(len(pieces))])
		}
		text := b.String()
		for i, e := range all {
			if !e.lazy().MatchString(text) {
				continue
			}
			if found[i]++; e.replace(text, func(string) string { return "" }) == text {
				t.Errorf("%q has none of %q, and %v finds something", text, e.needs, e.lazy())
			}
		}
	}
	for i, n := range found {
		if n == 0 {
			t.Errorf("%v finds nothing in any text", all[i].lazy())
		}
	}
}

func FuzzText(f *testing.F) {
	for _, s := range []string{"https://a.b/c.js:1:2", `\\a\b`, "~/x [::1]:2", "a@b.com/c", "data:,"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		r := new(Redactor)
		r.Text(s)
		r.File(s)
		r.process(s)
	})
}

// TestAtOnce checks that several recordings can be redacted at the same time, as commands
// do that read many files.
func TestAtOnce(t *testing.T) {
	var r Redactor
	var wg sync.WaitGroup
	n := rounds.Size(3000, 300)
	for range 8 {
		wg.Go(func() {
			for i := range n {
				r.Text(fmt.Sprintf("dial db%d.acme.internal", i))
				r.process(fmt.Sprintf("/srv/acme/run --key %d", i))
			}
		})
	}
	wg.Wait()
	if said := r.Said(); !strings.Contains(said, fmt.Sprint(n, " hosts")) || !strings.Contains(said, fmt.Sprint(8*n, " command lines")) {
		t.Errorf("it says %q", said)
	}
}
