package match

import (
	"regexp"
	"strings"
	"sync"
)

// normalName returns a function's name without the parts that change from build to build:
// template and type arguments (C++, Rust, Go), Rust's hashes, addresses, line numbers,
// version suffixes, the numbers of Go's closures and of lambdas, and the suffixes of
// clones that gcc and clang make.
//
//	std::vector<int>::push_back         std::vector::push_back
//	core::ptr::drop::h0123456789abcdef  core::ptr::drop
//	main.run.func1.2                    main.run.func0.0
//	work.constprop.0.isra.1             work
//	memcpy@@GLIBC_2.14                  memcpy
//	handler (app.js:12:7)               handler (app.js)
//
// It is for matching, not for display.
func normalName(name string) string {
	s := stripArguments(name)
	for _, r := range replacements {
		if r.if_ == "" || strings.Contains(s, r.if_) {
			s = r.re().ReplaceAllString(s, r.with)
		}
	}
	if s = strings.TrimSpace(s); s == "" {
		return name
	}
	return s
}

// replacements run in this order. if_ is text without which the pattern cannot match:
// most names do not contain it, which saves the search.
var replacements = []struct {
	if_  string
	re   func() *regexp.Regexp
	with string
}{
	// perf and c++filt write clones as "f(int) [clone .isra.0]".
	{"[clone ", lazy(`\s*\[clone [^\]]*\]`), ""},
	// gcc and clang; several may follow each other.
	{".", lazy(`(?:\.(?:isra|part|constprop|cold|localalias|lto_priv|llvm|clone|ipa|__uniq|warm|hot|unlikely|startup|specialized|resolved)(?:\.[0-9A-Fa-f]+)*)+$`), ""},
	// Rust, legacy mangling.
	{"::h", lazy(`::h[0-9a-f]{16}\b`), ""},
	// Symbol versions: memcpy@GLIBC_2.2.5, memcpy@@GLIBC_2.14; package versions:
	// lodash@4.17.21, golang.org/x/net@v0.1.0, example.com/mod/v2.F.
	{"@", lazy(`@@?[A-Za-z_]*_?v?[0-9]+(?:\.[0-9]+)*(?:-[0-9A-Za-z.]+)?`), ""},
	{"/v", lazy(`/v[0-9]+([./])`), "$1"},
	// Offsets and addresses.
	{"+0x", lazy(`\+0x[0-9A-Fa-f]+`), ""},
	{"0x", lazy(`0x[0-9A-Fa-f]+`), "0x"},
	// Line and column numbers after a file name, at the end or before a bracket.
	{":", lazy(`((?:[^:]|^)):[0-9]+(?::[0-9]+)?(\)?)$`), "$1$2"},
	// Go numbers closures and wrappers in the order in which it compiles them.
	{".", lazy(`\.(func|gowrap|deferwrap|init|glob\.\.func)[0-9]+`), ".${1}0"},
	{".", lazy(`\.[0-9]+(\.|$|-)`), ".0$1"},
	// Lambdas: {lambda(int)#2}, $_3, 'lambda1', {closure#4}, {closure_env#0}.
	{"#", lazy(`#[0-9]+`), "#0"},
	{"$_", lazy(`\$_[0-9]+`), "$$_0"},
	{"lambda", lazy(`'lambda[0-9]*'`), "'lambda'"},
}

func lazy(pattern string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(pattern) })
}

// stripArguments removes <…> and […] after a name. Brackets that are a name themselves
// (<init>, <module>, <impl Trait for T>, [kernel]) stay, without the arguments inside them.
func stripArguments(s string) string {
	if !strings.ContainsAny(s, "<[") {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); {
		c := s[i]
		if op := operatorAt(s, i); op > 0 {
			b.WriteString(s[i : i+op])
			i += op
			continue
		}
		if (c == '<' || c == '[') && followsName(s, i) {
			if end := closing(s, i); end > 0 {
				// Remove the colons of Rust's turbofish f::<T> too.
				if kept := b.String(); strings.HasSuffix(kept, "::") {
					b.Reset()
					b.WriteString(strings.TrimSuffix(kept, "::"))
				}
				i = end
				continue
			}
		}
		b.WriteByte(c)
		i++
	}
	return b.String()
}

// followsName reports whether the bracket at i belongs to a name before it.
func followsName(s string, i int) bool {
	if i == 0 {
		return false
	}
	p := s[i-1]
	word := p == '_' || p == '$' || p >= '0' && p <= '9' || p >= 'a' && p <= 'z' || p >= 'A' && p <= 'Z' || p >= 0x80
	// In f::<T> the brackets are type arguments of f; in ns::<lambda> they are a name.
	if i > 2 && s[i-2:i] == "::" && s[i] == '<' {
		end := closing(s, i)
		return end > 0 && (end == len(s) || strings.HasPrefix(s[end:], "::") || s[end] == '(') && !strings.ContainsAny(s[i:end], "({") &&
			s[i:] != "<lambda>" && !strings.HasPrefix(s[i:], "<impl ")
	}
	return word
}

// operatorAt returns the length of a C++ operator's name at i, such as operator<< or
// operator[], if it has any of <, > and []; else 0.
func operatorAt(s string, i int) int {
	const word = "operator"
	if !strings.HasPrefix(s[i:], word) {
		return 0
	}
	rest := s[i+len(word):]
	for _, op := range []string{"<=>", "<<=", ">>=", "->*", "<<", ">>", "<=", ">=", "->", "[]", "<", ">"} {
		if strings.HasPrefix(rest, op) {
			return len(word) + len(op)
		}
	}
	return 0
}

// closing returns the index after the bracket that closes the bracket at i, 0 if there is
// none. The arrows of operator-> and of function types do not count as brackets.
func closing(s string, i int) int {
	depth := 0
	for k := i; k < len(s); k++ {
		if op := operatorAt(s, k); op > 0 {
			k += op - 1
			continue
		}
		switch s[k] {
		case '<', '[', '(':
			depth++
		case '>':
			if s[k-1] == '-' || s[k-1] == '=' {
				continue
			}
			depth--
		case ']', ')':
			depth--
		}
		if depth == 0 {
			return k + 1
		}
	}
	return 0
}
