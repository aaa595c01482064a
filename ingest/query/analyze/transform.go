package analyze

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"ashlar/ingest/input/safetext"
	"ashlar/ingest/model/recording"
	"ashlar/ingest/query/search"
)

// Op is the operation of a Transform.
type Op string

// Operations of transforms; see [Transforms].
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
	OpHideLibrary       Op = "hide-library"
	OpCallersOf         Op = "callers-of"
	OpCalleesOf         Op = "callees-of"
	OpInvert            Op = "invert"
	OpByTime            Op = "by-time"
	OpSplitRelated      Op = "split-related"
	OpWhere             Op = "where"
	OpShowFrom          Op = "show-from"
	OpMine              Op = "mine"
)

// Ref refers to functions. If Exact, Text and Module are the name and module of one
// function. Otherwise Text is a function's name or symbol or, if no function has that,
// NAME@MODULE, with the module's path or its last element, or a /regular expression/ that
// is searched for in names.
type Ref struct {
	Text   string `json:"text,omitempty"`
	Module string `json:"module,omitempty"`
	Exact  bool   `json:"exact,omitempty"`
}

// Named returns a reference to functions as typed by the user; see Ref.
func Named(text string) Ref { return Ref{Text: text} }

// RefTo refers to just one function.
func RefTo(f recording.Function) Ref { return Ref{Text: f.Name, Module: f.Module, Exact: true} }

// Transform changes stacks before they are added up. A list of transforms is applied in
// order, each to the result of the previous one. Only Invert, CallersOf and ByTime also
// change the display. OpSplitRelated and Where change which records are weighed (see
// Query.With), so their position in the list does not matter. Transforms can be compared
// with == and survive JSON unchanged.
//
// Self, total and count of the remaining stacks add up as before; Focus, Only, Drop,
// Where, CallersOf and CalleesOf remove whole stacks together with their weight.
type Transform struct {
	Op Op `json:"op"`
	Ref
}

// Focus keeps only the stacks that contain the function, in full.
func Focus(f Ref) Transform { return Transform{OpFocus, f} }

// Only keeps only the stacks with a frame whose name, module or file matches a pattern
// (see search.Parse); an invalid pattern matches nothing.
func Only(pattern string) Transform { return Transform{OpOnly, Ref{Text: pattern}} }

// Mine merges all frames into the nearest caller that matches a pattern of one's own code.
func Mine(pattern string) Transform { return Transform{OpMine, Ref{Text: pattern}} }

// CollapseModule merges adjacent frames of a module into one frame with the module's
// name. The module is given by its path, by the last element of its path, or by a
// /regular expression/, which may match several modules; these stay separate.
func CollapseModule(module string) Transform {
	return Transform{OpCollapseModule, Ref{Text: module}}
}

// CallersOf keeps the part of stacks from the outermost call of the function up to the
// root, and shows it bottom-up: the callers, callers' callers and so on.
func CallersOf(f Ref) Transform { return Transform{OpCallersOf, f} }

// CalleesOf keeps the part of stacks from the outermost call of the function down to the
// leaf; that call becomes the root of the stack.
func CalleesOf(f Ref) Transform { return Transform{OpCalleesOf, f} }

// ByTime orders children by the time of their first occurrence instead of by weight; see
// Query.First.
func ByTime() Transform { return Transform{Op: OpByTime} }

// String returns a name for a chip or a menu, like "focus priceCart".
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

// Like returns up to n functions whose names contain the reference's text, as
// suggestions; shortest names first.
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

// Missing returns the error for a function that a recording does not have, with
// suggestions.
func (r Ref) Missing(rec *recording.Recording) error {
	if err := r.Check(); err != nil {
		return err
	}
	hint := ""
	if like := r.Like(rec, 3); len(like) > 0 {
		hint = "; there is " + safetext.Short(strings.Join(like, ", "))
	}
	return fmt.Errorf("no function is called %s%s", safetext.Short(r.Text), hint)
}

// Check returns an error if the reference is an expression that cannot be used.
func (r Ref) Check() error {
	if src, ok := search.Expression(r.Text); ok && !r.Exact {
		if _, err := search.Compile(src); err != nil {
			return fmt.Errorf("%s is neither a name nor a regular expression: %w", safetext.Middle(r.Text, 80), err)
		}
	}
	return nil
}

// Typed returns the shortest text that refers to the same functions of a recording when
// typed.
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

// MatchesModule reports whether CollapseModule applies to a module.
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
		if re, err := search.Compile(src); err == nil {
			return func(f *recording.Function) bool { return re.MatchString(f.Name) }
		}
	}
	return func(f *recording.Function) bool { return IsCalled(f.FuncName(), r.Text) }
}

// IsCalled reports whether a text names a function: NAME, or NAME@MODULE with the
// module's path or its last element.
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
		if re, err := search.Compile(src); err == nil {
			return func(m string) bool { return m == r.Text || re.MatchString(m) }
		}
	}
	return func(m string) bool { return m == r.Text || !r.Exact && ModuleBase(m) == r.Text }
}
