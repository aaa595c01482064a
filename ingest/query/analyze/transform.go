package analyze

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"ashlar/ingest/input/safetext"
	"ashlar/ingest/model/recording"
	"ashlar/ingest/query/search"
)

// Op is the operation of a Transform.
type Op string

// What transforms do; see [Transforms].
const (
	OpFocus             Op = "focus"
	OpOnly              Op = "only"
	OpHide              Op = "hide"
	OpDrop              Op = "drop"
	OpCollapseRecursion Op = "collapse-recursion"
	OpCollapseModule    Op = "collapse-module"
	OpMergeByFile       Op = "merge-by-file"
	OpMergeByModule     Op = "merge-by-module"
	OpMergeByPackage    Op = "merge-by-package"
	OpMergeByCategory   Op = "merge-by-category"
	OpFoldDigits        Op = "fold-digits"
	OpFoldInlined       Op = "fold-inlined"
	OpHideKernel        Op = "hide-kernel"
	OpCallersOf         Op = "callers-of"
	OpCalleesOf         Op = "callees-of"
	OpInvert            Op = "invert"
	OpByTime            Op = "by-time"
	OpSplitRelated      Op = "split-related"
	OpWhere             Op = "where"
	OpShowFrom          Op = "show-from"
)

// Ref refers to functions. Text is a function's name, or its symbol; if none is called
// that, it is NAME@MODULE, with the module's path or the last element of it, or
// a /regular expression/ that names are searched for. When Exact, Text and
// Module are just those of one function.
type Ref struct {
	Text   string `json:"text,omitempty"`
	Module string `json:"module,omitempty"`
	Exact  bool   `json:"exact,omitempty"`
}

// Named refers to functions as people type them; see Ref.
func Named(text string) Ref { return Ref{Text: text} }

// RefTo refers to just one function.
func RefTo(f recording.Function) Ref { return Ref{Text: f.Name, Module: f.Module, Exact: true} }

// Transform changes stacks before they are added up. A list of them is applied
// in order, each to what the ones before it left; only Invert, CallersOf and
// ByTime also say how the result is looked at, and OpSplitRelated and Where what is
// weighed to begin with (see Query.With), wherever they are. Transforms can be
// compared with == and go through JSON unchanged.
//
// Self, total and count of what is left add up as before; Focus, Only, Drop,
// Where, CallersOf and CalleesOf take away whole stacks and with them their weight.
type Transform struct {
	Op Op `json:"op"`
	Ref
}

// Focus keeps only the stacks that have the function in them, whole.
func Focus(f Ref) Transform { return Transform{OpFocus, f} }

// Only keeps only the stacks that have a frame whose name, module or file
// matches a pattern (see search.Parse); what is not a pattern matches nothing.
func Only(pattern string) Transform { return Transform{OpOnly, Ref{Text: pattern}} }

// CollapseModule makes neighbouring frames of a module one frame that is named
// after it. The module is named by its path, by the last element of it, or by a
// /regular expression/; an expression may stand for several modules, which stay
// apart.
func CollapseModule(module string) Transform {
	return Transform{OpCollapseModule, Ref{Text: module}}
}

// CallersOf keeps the part of stacks from the outermost call of the function
// upwards, and looks at it bottom-up: the callers, callers' callers and so on.
func CallersOf(f Ref) Transform { return Transform{OpCallersOf, f} }

// CalleesOf keeps the part of stacks from the outermost call of the function
// downwards, which becomes the outermost of all.
func CalleesOf(f Ref) Transform { return Transform{OpCalleesOf, f} }

// ByTime orders children by when they were first seen and not by weight; see
// Query.First.
func ByTime() Transform { return Transform{Op: OpByTime} }

// String is a name for a chip or a menu, like "focus priceCart".
func (t Transform) String() string {
	text := t.Text
	if t.Op == OpCollapseModule {
		text = ModuleBase(text)
	}
	switch k := t.Kind(); {
	case k != nil && strings.Contains(k.chip, "%s"):
		return strings.Replace(k.chip, "%s", text, 1)
	case k != nil && k.chip != "":
		return k.chip
	case k != nil && k.Of != OfAll:
		return string(t.Op) + " " + text
	}
	return strings.ReplaceAll(string(t.Op), "-", " ")
}

// Functions lists the functions that a reference stands for.
func (r Ref) Functions(rec *recording.Recording) []recording.FuncID {
	match := r.matcher(rec, nil)
	var out []recording.FuncID
	for i := 0; i < rec.Functions.Len(); {
		run := rec.Functions.Chunk(i)
		for k := range run {
			if match(&run[k]) {
				out = append(out, recording.FuncID(i+k))
			}
		}
		i += len(run)
	}
	return out
}

// Like lists up to n functions whose names contain the reference's text, for
// saying what might have been meant; shortest names first.
func (r Ref) Like(rec *recording.Recording, n int) []string {
	p, err := search.Parse(r.Text)
	if err != nil {
		return nil
	}
	seen := map[string]bool{}
	var out []string
	for i := range rec.Functions.Len() {
		if name := rec.Functions.At(i).Name; p.Match(name) && !seen[name] {
			seen[name] = true
			out = append(out, name)
		}
	}
	slices.SortFunc(out, func(a, b string) int {
		return cmp.Or(cmp.Compare(len(a), len(b)), cmp.Compare(a, b))
	})
	return out[:min(n, len(out))]
}

// Missing is the error of a function that a recording does not have: what it might
// have been.
func (r Ref) Missing(rec *recording.Recording) error {
	hint := ""
	if like := r.Like(rec, 3); len(like) > 0 {
		hint = "; there is " + safetext.Short(strings.Join(like, ", "))
	}
	return fmt.Errorf("no function is called %s%s", safetext.Short(r.Text), hint)
}

// Typed is the shortest text that refers to the same functions of a recording
// when it is typed.
func (r Ref) Typed(rec *recording.Recording) string {
	if !r.Exact {
		return r.Text
	}
	if r.Module == "" || len(Named(r.Text).Functions(rec)) == 1 {
		return r.Text
	}
	if base := r.Text + "@" + ModuleBase(r.Module); len(Named(base).Functions(rec)) == 1 {
		return base
	}
	return r.Text + "@" + r.Module
}

// MatchesModule reports whether CollapseModule stands for a module.
func (t Transform) MatchesModule(module string) bool { return t.modules()(module) }

// matcher returns a test for functions of a recording, and for the groups that
// stand for several of them.
func (r Ref) matcher(rec *recording.Recording, groups []recording.Function) func(*recording.Function) bool {
	if r.Exact {
		return func(f *recording.Function) bool {
			return f.FuncName() == recording.FuncName{Name: r.Text, Module: r.Module}
		}
	}
	named := func(f *recording.Function) bool { return f.Name == r.Text || f.Symbol != "" && f.Symbol == r.Text }
	if anyFunction(rec, groups, named) {
		return named
	}
	if src, ok := search.Expression(r.Text); ok {
		if re, err := regexp.Compile(src); err == nil {
			return func(f *recording.Function) bool { return re.MatchString(f.Name) }
		}
	}
	return func(f *recording.Function) bool { return IsCalled(f.FuncName(), r.Text) }
}

// IsCalled reports whether a text names a function: NAME, or NAME@MODULE with the
// module's path or the last element of it.
func IsCalled(f recording.FuncName, text string) bool {
	if f.Name == text {
		return true
	}
	at := strings.LastIndexByte(text, '@')
	return at >= 0 && f.Name == text[:at] && (f.Module == text[at+1:] || ModuleBase(f.Module) == text[at+1:])
}

func anyFunction(rec *recording.Recording, groups []recording.Function, is func(*recording.Function) bool) bool {
	for i := 0; i < rec.Functions.Len(); {
		run := rec.Functions.Chunk(i)
		if slices.ContainsFunc(run, func(f recording.Function) bool { return is(&f) }) {
			return true
		}
		i += len(run)
	}
	return slices.ContainsFunc(groups, func(f recording.Function) bool { return is(&f) })
}

// modules returns a test for module names; see CollapseModule.
func (r Ref) modules() func(string) bool {
	if src, ok := search.Expression(r.Text); ok && !r.Exact {
		if re, err := regexp.Compile(src); err == nil {
			return func(m string) bool { return m == r.Text || re.MatchString(m) }
		}
	}
	return func(m string) bool { return m == r.Text || !r.Exact && ModuleBase(m) == r.Text }
}
