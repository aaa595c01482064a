package pairs

import (
	"context"
	"path/filepath"
	"slices"
	"strings"

	"ashlar/app/core/verdict"
	"ashlar/ingest"
	"ashlar/ingest/model/recording"
	"ashlar/ingest/query/compare"
)

// Verdict holds the sentences about two recordings.
type Verdict struct {
	First string // the first sentence
	All   string // all sentences
	// Named are the functions in the first sentence, without package and parameters.
	Named []string
}

// Compare compares recordings of a folder, one or several on each side, as "ashlar diff"
// does.
func Compare(ctx context.Context, dir string, a, b []string) (*Verdict, error) {
	var inputs [2][]compare.Input
	for i, files := range [][]string{a, b} {
		for _, f := range files {
			rec, err := read(ctx, filepath.Join(dir, f))
			if err != nil {
				return nil, err
			}
			inputs[i] = append(inputs[i], compare.Input{Rec: rec})
		}
	}
	c, err := compare.Compare(ctx, inputs[0], inputs[1], compare.Options{Normalize: compare.Auto})
	if err != nil {
		return nil, err
	}
	t, err := c.Table(ctx, compare.ByFunction, true)
	if err != nil {
		return nil, err
	}
	v := new(Verdict)
	v.All = verdict.Of(c, t)
	for _, p := range verdict.Parts(c, t) {
		v.First += p.Text
		if before, _, ends := strings.Cut(v.First, ". "); ends {
			v.First = before + "."
			break
		}
		if p.Name && p.To != verdict.Branch { // those in brackets explain the others
			v.Named = append(v.Named, short(p.Text))
		}
	}
	return v, nil
}

// known are the recordings read so far.
var known = map[string]*recording.Recording{}

func read(ctx context.Context, path string) (*recording.Recording, error) {
	if rec := known[path]; rec != nil {
		return rec, nil
	}
	l := ingest.Open(ctx, path, ingest.Options{})
	if err := l.Wait(); err != nil {
		return nil, err
	}
	known[path] = l.Snapshot()
	return known[path], nil
}

// short returns a function's name without its package and its parameters.
func short(name string) string {
	name, _, _ = strings.Cut(name, "(")
	return name[strings.LastIndex(name, ".")+1:]
}

// Right reports whether the first sentence names all planted causes, with no other function
// before them, or no function if nothing was planted.
func (p *Pair) Right(v *Verdict) bool {
	if p.Says != "" && !strings.Contains(v.First, p.Says) {
		return false
	}
	if len(p.Causes) == 0 {
		return len(v.Named) == 0
	}
	for _, c := range p.Causes {
		if !slices.Contains(v.Named[:min(len(v.Named), len(p.Causes))], c) {
			return false
		}
	}
	return true
}
