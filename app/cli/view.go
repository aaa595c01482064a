package cli

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"ashlar/ingest/analyze"
	"ashlar/ingest/plain"
	"ashlar/ingest/recording"
	"ashlar/ingest/search"
)

// StackView says how stacks are looked at: what is done to them, in order, and what
// is searched for in the result.
type StackView struct {
	Transforms []analyze.Transform
	Search     string
}

// transformFlags are the flags that add a transform. They may be given several
// times, and apply in the order in which they are typed.
var transformFlags = []struct {
	op          analyze.Op
	name, usage string
	make        func(string) analyze.Transform
}{
	{analyze.OpFocus, "focus", "keep only the stacks that have this `FUNCTION`", onFunction(analyze.Focus)},
	{analyze.OpOnly, "only", "keep only the stacks with a name, module or file like this `TEXT` or /expression/", analyze.Only},
	{analyze.OpHide, "hide", "take out this `FUNCTION`: its cost goes to its caller", onFunction(analyze.Hide)},
	{analyze.OpDrop, "drop", "take away the stacks that have this `FUNCTION`, and their cost", onFunction(analyze.Drop)},
	{analyze.OpCollapseRecursion, "collapse-recursion", "make functions that call themselves directly one frame", onAll(analyze.CollapseRecursion)},
	{analyze.OpCollapseRecursion, "collapse-recursion-of", "leave one frame of this `FUNCTION` in each stack, nothing between", onFunction(analyze.CollapseRecursionOf)},
	{analyze.OpCollapseModule, "collapse-module", "make neighbouring frames of this `MODULE` one frame", analyze.CollapseModule},
	{analyze.OpMergeByFile, "merge-by-file", "make neighbouring frames of one source file one frame", onAll(analyze.MergeByFile)},
	{analyze.OpMergeByModule, "merge-by-module", "make neighbouring frames of one module one frame", onAll(analyze.MergeByModule)},
	{analyze.OpFoldInlined, "fold-inlined", "count inlined functions as what they were inlined into", onAll(analyze.FoldInlined)},
	{analyze.OpHideKernel, "hide-kernel", "count the kernel's functions as what called them", onAll(analyze.HideKernel)},
	{analyze.OpCallersOf, "callers-of", "what calls this `FUNCTION`", onFunction(analyze.CallersOf)},
	{analyze.OpCalleesOf, "callees-of", "what this `FUNCTION` calls", onFunction(analyze.CalleesOf)},
	{analyze.OpJoinRelated, "join-related", "put the kernel's stacks on those of user space that they belong to (DTrace)", onAll(analyze.JoinRelated)},
	{analyze.OpWhere, "where", "keep only what has this label: `KEY=VALUE`, or KEY~EXPRESSION; with != and !~ what has not; several of one key are alternatives", analyze.Where},
	{analyze.OpInvert, "invert", "bottom-up: from where the cost is to the callers", onAll(analyze.Invert)},
	{analyze.OpByTime, "by-time", "in order of time and not of weight", onAll(analyze.ByTime)},
}

func onFunction(f func(analyze.Ref) analyze.Transform) func(string) analyze.Transform {
	return func(s string) analyze.Transform { return f(analyze.Named(s)) }
}

func onAll(f func() analyze.Transform) func(string) analyze.Transform {
	return func(string) analyze.Transform { return f() }
}

// viewHelp explains these flags in the help of a command.
const viewHelp = `
A FUNCTION is a name as top prints it, NAME@MODULE, or a /regular expression/.
Flags that change stacks apply in the order in which they are typed. --where is
about labels: what files say of where stacks were taken, which info lists, and
the pid, tid, comm and cpu of threads and samples.`

// flags adds the view's flags to a command.
func (v *StackView) viewFlags(fs *pflag.FlagSet) {
	v.transformFlags(fs)
	fs.StringVar(&v.Search, "search", "", "find `TEXT` or /expression/ in names, modules and files, or just in one of name:, module:, file:, thread:, arg: before it; how much has it")
}

// transformFlags adds those that change stacks.
func (v *StackView) transformFlags(fs *pflag.FlagSet) {
	for _, f := range transformFlags {
		value := &transformFlag{list: &v.Transforms, make: f.make}
		fs.Var(value, f.name, f.usage)
		if !strings.Contains(f.usage, "`") {
			value.kind = "bool"
			fs.Lookup(f.name).NoOptDefVal = "true"
		}
	}
}

// transformFlag adds a transform to a list for each time it is set.
type transformFlag struct {
	list *[]analyze.Transform
	make func(string) analyze.Transform
	kind string
}

func (f *transformFlag) String() string { return "" }

func (f *transformFlag) Type() string { return f.kind }

func (f *transformFlag) Set(s string) error {
	if f.kind == "bool" {
		switch s {
		case "true":
		case "false":
			return nil
		default:
			return errors.New("this flag takes no value")
		}
	}
	t := f.make(s)
	if err := t.Check(); err != nil {
		return err
	}
	*f.list = append(*f.list, t)
	return nil
}

// Flags writes the view as it would be typed, one string an argument, for a
// recording: the other way round than the flags are read.
func (v *StackView) Flags(rec *recording.Recording) []string {
	var args []string
	for _, t := range v.Transforms {
		of := t.Ref != (analyze.Ref{})
		for _, f := range transformFlags {
			if f.op != t.Op || of != strings.Contains(f.usage, "`") {
				continue
			}
			args = append(args, "--"+f.name)
			switch {
			case t.Op == analyze.OpOnly || t.Op == analyze.OpCollapseModule || t.Op == analyze.OpWhere:
				args = append(args, t.Text)
			case of:
				args = append(args, t.Typed(rec))
			}
		}
	}
	if v.Search != "" {
		args = append(args, "--search", v.Search)
	}
	return args
}

// Check says in one sentence which function, module or label of the view a recording
// does not have, and what it has that is like it.
func (v *StackView) Check(rec *recording.Recording) error {
	if v.Search != "" {
		if _, err := search.Parse(v.Search); err != nil {
			return err
		}
	}
	for _, t := range v.Transforms {
		if err := known(rec, t); err != nil {
			return err
		}
	}
	return nil
}

func known(rec *recording.Recording, t analyze.Transform) error {
	if t.Op == analyze.OpWhere {
		return analyze.CheckWhere(rec, t)
	}
	if t.Op == analyze.OpOnly || t.Ref == (analyze.Ref{}) || t.Op != analyze.OpCollapseModule && len(t.Functions(rec)) > 0 {
		return nil
	}
	// Frames that others were merged into have the names of modules and files.
	merged := func(f recording.Function) bool {
		return t.MatchesModule(f.Module) || t.Op != analyze.OpCollapseModule && f.File == t.Text
	}
	if slices.ContainsFunc(rec.Functions.Slice(), merged) {
		return nil
	}
	if t.Op == analyze.OpCollapseModule {
		return fmt.Errorf("the recording has no module %q", t.Text)
	}
	like := t.Like(rec, 3)
	for i, name := range like {
		like[i] = plain.Short(name)
	}
	if len(like) > 0 {
		return fmt.Errorf("the recording has no function %q; it has %s", t.Text, strings.Join(like, ", "))
	}
	return fmt.Errorf("the recording has no function %q", t.Text)
}
