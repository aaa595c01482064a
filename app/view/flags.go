package view

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/pflag"
)

// AddFlags adds the flags of the fields that have one: each sets its field of
// st.
func AddFlags(fs *pflag.FlagSet, st *State) {
	for i := range Fields {
		if f := &Fields[i]; f.Flag != "" {
			fs.Var(&flagValue{f, st}, f.Flag, f.FlagDoc)
		}
	}
}

// Flags writes what a State has in fields with flags, as it would be typed, one
// string an argument.
func (v *State) Flags() (args []string) {
	for i := range Fields {
		f := &Fields[i]
		if _, set := f.write(v); set && f.Flag != "" {
			args = append(args, "--"+f.Flag, *f.plain(v))
		}
	}
	return args
}

// flagValue is a flag that sets a field.
type flagValue struct {
	field *Field
	st    *State
}

func (v *flagValue) Type() string { return "string" }

// String is the value that the help calls the default.
func (v *flagValue) String() string {
	if v.field == nil {
		return ""
	}
	if text := *v.field.plain(v.st); text != "" {
		return text
	}
	return v.field.Initial
}

func (v *flagValue) Set(text string) error {
	f := v.field
	if f.Choices != nil && !slices.Contains(f.Choices(), text) {
		return fmt.Errorf("there is no %s %q; there are %s", f.Key, text, listed(f.Choices()))
	}
	if f.check != nil {
		if err := f.check(text); err != nil {
			return err
		}
	}
	if text == f.Initial {
		text = ""
	}
	*f.plain(v.st) = text
	return nil
}

// listed writes words with commas and an and.
func listed(words []string) string {
	n := len(words) - 1
	return strings.Join(words[:n], ", ") + " and " + words[n]
}
