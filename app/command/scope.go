package command

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"ashlar/app/core/view"
	"ashlar/ingest/model/recording"
)

// apartFlags are --async and --idle: whether to count async spans and idle samples.
type apartFlags struct{ async, idle apartFlag }

func (f *apartFlags) add(fs *pflag.FlagSet) {
	fs.Var(&f.async, "async", view.FieldOf("async").FlagDoc)
	fs.Var(&f.idle, "idle", view.FieldOf("idle").FlagDoc)
}

// in returns the scope with the flags applied.
func (f *apartFlags) in(in recording.Scope) recording.Scope {
	in.Async, in.Idle = recording.Apart(f.async), recording.Apart(f.idle)
	return in
}

type apartFlag recording.Apart

func (f *apartFlag) Type() string { return "string" }

func (f *apartFlag) String() string {
	if *f == "" {
		return string(recording.Out)
	}
	return string(*f)
}

func (f *apartFlag) Set(text string) error {
	if !slices.Contains(recording.Aparts, text) {
		return fmt.Errorf("there are %s", strings.Join(recording.Aparts, ", "))
	}
	if *f = apartFlag(text); text == string(recording.Out) {
		*f = ""
	}
	return nil
}
