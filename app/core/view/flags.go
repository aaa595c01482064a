package view

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"ashlar/ingest/model/recording"
	"ashlar/ingest/query/analyze"
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

// Args writes the fields of some keys as a command about a recording is told them, one
// string an argument; ok is false if no command can be told all of it, which is so
// of threads that have neither ids nor names of their own.
func (v *State) Args(rec *recording.Recording, keys ...string) (args []string, ok bool) {
	ok = true
	for i := range Fields {
		f := &Fields[i]
		if f.Text(v) == "" || !slices.Contains(keys, f.Key) {
			continue
		}
		if f.args == nil {
			args = append(args, "--"+f.Flag, *f.plain(v))
			continue
		}
		own, said := f.args(v, rec)
		args, ok = append(args, own...), ok && said
	}
	return args, ok
}

// transformArgs are the flags of the transforms, in their order.
func transformArgs(v *State, rec *recording.Recording) (args []string, ok bool) {
	for _, t := range v.Transforms {
		k := t.Kind()
		if args = append(args, "--"+k.Flag); k.Of != analyze.OfAll {
			args = append(args, t.Typed(rec))
		}
	}
	return args, true
}

// threadArgs name just the given threads: by their ids, or by their names where
// another thread has the same id; ok is false if neither tells them from others.
func threadArgs(rec *recording.Recording, of []Thread) (args []string, ok bool) {
	tracks := (&binder{rec: rec}).tracks(of)
	for _, i := range tracks {
		t := rec.Tracks[i]
		found := false
		for _, name := range []string{strconv.FormatInt(t.TID, 10), t.Name} {
			part := recording.Part{Threads: []string{name}}
			found = name != "" && part.Takes(t)
			for k, o := range rec.Tracks {
				found = found && (slices.Contains(tracks, k) || !part.Takes(o))
			}
			if found {
				args = append(args, "--thread", name)
				break
			}
		}
		if !found {
			return nil, false
		}
	}
	return args, true
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
