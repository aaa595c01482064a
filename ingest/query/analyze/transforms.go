package analyze

import (
	"cmp"
	"fmt"

	"ashlar/ingest/model/recording"
	"ashlar/ingest/query/search"
)

// Argument is the kind of argument of a transform.
type Argument uint8

// Arguments of transforms.
const (
	OfAll       Argument = iota // none: the transform applies to all stacks
	OfFunction                  // a function; see Ref
	OfPattern                   // a pattern; see search.Parse
	OfModule                    // a module
	OfCondition                 // a condition on a label; see Where
)

// TransformKind is a kind of transform. The flags of the command line, the menus, the
// palette and the manual are all derived from it.
type TransformKind struct {
	Op Op
	Of Argument
	// Flag is the transform's flag on the command line, and Usage the flag's help.
	Flag, Usage string
	// Title is the transform's command in the window, Key the command's key, and Menu its
	// menu item if that has another text; see Item.
	Title, Key, Menu string
	// chip is the text of a chip, with %s for the transform's text; "" for the name of
	// the operation.
	chip string
	// takes is set if the transform removes whole stacks.
	takes bool
	// pass changes the stacks; nil if the transform selects records instead (see
	// Query.With).
	pass func(p *callPaths, t Transform)
}

// Transforms are all kinds, in the order of menus and help.
var Transforms = []TransformKind{
	{Op: OpFocus, Of: OfFunction, Flag: "focus", Usage: "keep only stacks with this `FUNCTION`",
		Title: "Focus on selected function", Menu: "Focus", takes: true,
		pass: func(p *callPaths, t Transform) { p.focus(p.matches(t)) }},
	{Op: OpOnly, Of: OfPattern, Flag: "only", Usage: "keep only stacks with a name, module or file that matches `TEXT` or /expression/", takes: true,
		pass: func(p *callPaths, t Transform) { p.focus(p.like(t)) }},
	{Op: OpHide, Of: OfFunction, Flag: "hide", Usage: "merge this `FUNCTION` into its callers",
		Title: "Merge selected function into callers", Menu: "Merge into callers",
		pass: func(p *callPaths, t Transform) { p.hide(p.matches(t)) }},
	{Op: OpDrop, Of: OfFunction, Flag: "drop", Usage: "remove stacks with this `FUNCTION` from totals",
		Title: "Remove selected function from totals", Menu: "Remove from totals", takes: true,
		pass: func(p *callPaths, t Transform) { p.drop(p.matches(t)) }},
	{Op: OpCallersOf, Of: OfFunction, Flag: "callers-of", Usage: "show the callers of this `FUNCTION`",
		Title: "Callers of selected function", Menu: "Show only callers", chip: "callers of %s", takes: true,
		pass: func(p *callPaths, t Transform) { p.callersOf(p.matches(t)); p.inverted = true }},
	{Op: OpCalleesOf, Of: OfFunction, Flag: "callees-of", Usage: "show the callees of this `FUNCTION`",
		Title: "Callees of selected function", Menu: "Show only callees", chip: "callees of %s", takes: true,
		pass: func(p *callPaths, t Transform) { p.calleesOf(p.matches(t)) }},
	{Op: OpShowFrom, Of: OfPattern, Flag: "show-from", Usage: "start stacks at the outermost frame that matches `TEXT` or /expression/ (name, module or file); remove stacks without one", chip: "from %s", takes: true,
		pass: func(p *callPaths, t Transform) { p.calleesOf(p.like(t)) }},
	{Op: OpMine, Of: OfPattern, Flag: "mine", Usage: "merge all frames into the nearest caller with a name, module or file that matches `TEXT` or /expression/: library code counts as part of your own", chip: "own code: %s",
		pass: func(p *callPaths, t Transform) { p.mine(p.like(t)) }},
	{Op: OpCollapseRecursion, Of: OfFunction, Flag: "collapse-recursion-of", Usage: "merge all frames of this `FUNCTION` in a stack, with everything between them",
		Menu: "Collapse its recursion", chip: "collapse recursion of %s",
		pass: func(p *callPaths, t Transform) { p.collapseRecursionOf(p.matches(t)) }},
	{Op: OpCollapseModule, Of: OfModule, Flag: "collapse-module", Usage: "merge adjacent frames of this `MODULE`", chip: "collapse %s",
		pass: func(p *callPaths, t Transform) { p.collapseModule(t.modules()) }},
	{Op: OpInvert, Flag: "invert", Usage: "bottom-up: from leaf frames to callers",
		Title: "Invert flamegraph (bottom-up)", Key: "I", Menu: "Bottom-up",
		pass: func(p *callPaths, _ Transform) { p.inverted = true }},
	{Op: OpByTime, Flag: "by-time", Usage: "order by time instead of weight",
		Title: "Sort flamegraph by time", Key: "O", Menu: "Sort by time", chip: "sorted by time",
		pass: func(p *callPaths, _ Transform) { p.byTime = true }},
	{Op: OpCollapseRecursion, Flag: "collapse-recursion", Usage: "merge frames of direct recursion",
		Title: "Collapse recursion", Key: "R",
		pass: func(p *callPaths, _ Transform) { p.collapseRecursion() }},
	{Op: OpMergeByModule, Flag: "merge-by-module", Usage: "merge adjacent frames of one module",
		Title: "Merge by module",
		pass:  func(p *callPaths, _ Transform) { p.mergeBy(p.moduleGroup) }},
	{Op: OpMergeByFile, Flag: "merge-by-file", Usage: "merge adjacent frames from the same source file",
		Title: "Merge by file",
		pass:  func(p *callPaths, _ Transform) { p.mergeBy(p.fileGroup) }},
	{Op: OpMergeByPackage, Flag: "merge-by-package", Usage: "merge adjacent frames of one package, namespace, crate or script",
		Title: "Merge by package",
		pass:  func(p *callPaths, _ Transform) { p.mergeBy(p.meaningGroup(ByPackage)) }},
	{Op: OpMergeByCategory, Flag: "merge-by-category", Usage: "merge adjacent spans of one category (Chrome)",
		Title: "Merge by category",
		pass:  func(p *callPaths, _ Transform) { p.mergeBy(p.meaningGroup(ByCategory)) }},
	{Op: OpFoldDigits, Flag: "fold-digits", Usage: "merge functions whose names differ only in numbers",
		Title: "Fold numbers in names",
		pass:  func(p *callPaths, _ Transform) { p.mergeBy(p.meaningGroup(ByName)) }},
	{Op: OpFoldInlined, Flag: "fold-inlined", Usage: "merge inlined functions into their callers",
		Title: "Fold inlined frames",
		pass:  func(p *callPaths, _ Transform) { p.foldInlined() }},
	{Op: OpHideKernel, Flag: "hide-kernel", Usage: "merge kernel functions into their callers",
		Title: "Hide kernel frames",
		pass:  func(p *callPaths, _ Transform) { p.hideKernel() }},
	{Op: OpHideLibrary, Flag: "hide-library", Usage: "merge functions of the kernel, the system and standard libraries into their callers",
		pass: func(p *callPaths, _ Transform) { p.hideLibrary() }},
	{Op: OpSplitRelated, Flag: "split-related", Usage: "keep the user and kernel halves of a stack separate, as recorded (DTrace)",
		Title: "Split user and kernel stacks", chip: "user and kernel stacks split"},
	{Op: OpWhere, Of: OfCondition, Flag: "where", Usage: "keep only stacks with the label `KEY=VALUE` or KEY~EXPRESSION; != and !~ exclude; several values of one key are alternatives", chip: "%s"},
}

// Item returns the text of the menu item, "" for none.
func (k *TransformKind) Item() string { return cmp.Or(k.Menu, k.Title) }

// Make returns a transform of this kind, with an argument as typed by the user.
func (k *TransformKind) Make(text string) Transform {
	if k.Of == OfAll {
		return Transform{Op: k.Op}
	}
	return Transform{k.Op, Ref{Text: text}}
}

// On returns a transform of this kind for exactly one function.
func (k *TransformKind) On(f recording.Function) Transform { return Transform{k.Op, RefTo(f)} }

// Kind returns the kind of a transform, nil for an unknown operation.
func (t Transform) Kind() *TransformKind {
	for i := range Transforms {
		k := &Transforms[i]
		if k.Op == t.Op && (k.Of == OfAll) == (t.Ref == Ref{}) {
			return k
		}
	}
	for i := range Transforms { // the argument is missing, or not allowed for this operation
		if Transforms[i].Op == t.Op {
			return &Transforms[i]
		}
	}
	return nil
}

// Typed returns the transform's argument as typed on a command line for a recording, ""
// if it has none.
func (t Transform) Typed(rec *recording.Recording) string {
	if k := t.Kind(); k != nil && k.Of != OfFunction {
		return t.Text
	}
	return t.Ref.Typed(rec)
}

// Check returns an error of one sentence for an invalid transform from outside: an
// unknown operation, or an expression that cannot be parsed.
func (t Transform) Check() error {
	k := t.Kind()
	switch {
	case k == nil:
		return fmt.Errorf("unknown transform %q", t.Op)
	case k.Of == OfAll:
		return nil
	case k.Of == OfPattern:
		p, err := search.Parse(t.Text)
		if err == nil && !p.OfFunctions() {
			err = fmt.Errorf("%s searches %ss, not stacks", t.Text, p.Field())
		}
		return err
	case k.Of == OfCondition:
		_, err := parseCondition(t.Text)
		return err
	case t.Text == "" && !t.Exact:
		return fmt.Errorf("%s needs a name", t.Op)
	}
	return t.Ref.Check()
}
