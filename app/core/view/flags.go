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

// AddFlags adds the flags of all fields that have one. Each flag sets its field of st.
func AddFlags(fs *pflag.FlagSet, st *State) {
	for i := range Fields {
		if f := &Fields[i]; f.Flag != "" {
			fs.Var(&flagValue{f, st}, f.Flag, f.FlagDoc)
		}
	}
}

// Args returns the fields with the given keys as command line arguments. ok is false if
// the arguments cannot express all of them, such as threads that have neither a unique id
// nor a unique name.
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

// transformArgs returns the flags of the transforms, in order.
func transformArgs(v *State, rec *recording.Recording) (args []string, ok bool) {
	for _, t := range v.Transforms {
		k := t.Kind()
		if args = append(args, "--"+k.Flag); k.Of != analyze.OfAll {
			args = append(args, t.Typed(rec))
		}
	}
	return args, true
}

// threadArgs returns arguments that select exactly the given threads: by id, or by name
// if another thread has the same id. ok is false if neither is unique.
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

// flagValue is the value of a flag that sets a field.
type flagValue struct {
	field *Field
	st    *State
}

func (v *flagValue) Type() string { return "string" }

// String returns the value shown as the default in the help.
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

// listed joins words with commas and "and".
func listed(words []string) string {
	n := len(words) - 1
	return strings.Join(words[:n], ", ") + " and " + words[n]
}
