package view

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"ashlar/ingest/input/safetext"
	"ashlar/ingest/model/recording"
	"ashlar/ingest/query/analyze"
	"ashlar/ingest/query/search"
)

// Stacks describes a view of stacks: the transforms, in order, and the search in the
// result.
type Stacks struct {
	Transforms []analyze.Transform
	Find       string
}

// Clone returns a deep copy.
func (v Stacks) Clone() Stacks { return Stacks{slices.Clone(v.Transforms), v.Find} }

// AddFlags adds the view's flags to a command.
func (v *Stacks) AddFlags(fs *pflag.FlagSet) {
	v.AddTransformFlags(fs)
	fs.StringVar(&v.Find, "search", "", FieldOf("find").FlagDoc)
}

// AddTransformFlags adds the flags that transform stacks.
func (v *Stacks) AddTransformFlags(fs *pflag.FlagSet) {
	for i := range analyze.Transforms {
		k := &analyze.Transforms[i]
		value := &transformFlag{list: &v.Transforms, of: k}
		fs.Var(value, k.Flag, k.Usage)
		if k.Of == analyze.OfAll {
			fs.Lookup(k.Flag).NoOptDefVal = "true"
		}
	}
}

// transformFlag appends a transform to a list each time the flag is set.
type transformFlag struct {
	list *[]analyze.Transform
	of   *analyze.TransformKind
}

func (f *transformFlag) String() string { return "" }

func (f *transformFlag) Type() string {
	if f.of.Of == analyze.OfAll {
		return "bool"
	}
	return ""
}

func (f *transformFlag) Set(s string) error {
	if f.of.Of == analyze.OfAll {
		switch s {
		case "true":
		case "false":
			return nil
		default:
			return errors.New("this flag takes no value")
		}
	}
	t := f.of.Make(s)
	if err := t.Check(); err != nil {
		return err
	}
	*f.list = append(*f.list, t)
	return nil
}

// Invalid returns an error for each transform and search that no recording can have. Views
// leave these out.
func (v *Stacks) Invalid() (all []error) {
	for _, t := range v.Transforms {
		if err := t.Check(); err != nil {
			all = append(all, fmt.Errorf("the address has an invalid transform: %w", err))
		}
	}
	if v.Find != "" {
		if _, err := search.Parse(v.Find); err != nil {
			all = append(all, fmt.Errorf("the address has an invalid search: %w", err))
		}
	}
	return all
}

// Check returns an error, one sentence, that names a function, module or label of the
// view that the recording lacks, and suggests similar ones that it has.
func (v *Stacks) Check(rec *recording.Recording) error {
	if v.Find != "" {
		if _, err := search.Parse(v.Find); err != nil {
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
	switch of := t.Kind().Of; {
	case of == analyze.OfCondition:
		return analyze.CheckWhere(rec, t)
	case of == analyze.OfAll, of == analyze.OfPattern, of == analyze.OfFunction && len(t.Functions(rec)) > 0:
		return nil
	}
	// Merged frames are named after their module or file.
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
		like[i] = safetext.Short(name)
	}
	if len(like) > 0 {
		return fmt.Errorf("the recording has no function %q; it has %s", t.Text, strings.Join(like, ", "))
	}
	return fmt.Errorf("the recording has no function %q", t.Text)
}
