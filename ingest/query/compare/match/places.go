package match

import (
	"path"
	"strings"

	"ashlar/ingest/model/recording"
	"ashlar/ingest/query/analyze"
)

// soVersion matches the version in a shared library's name.
var soVersion = lazy(`(\.so)(?:\.[0-9]+)+$|-[0-9]+(?:\.[0-9]+)+(\.so|\.dylib|\.dll|\.jar)`)

// Modules matches the modules of recordings: by path, by the last element of the path,
// then by that element without a version.
func Modules(recs []*recording.Recording, o Options) (*Matching, []map[string]int32) {
	return Places(recs, o, func(f *recording.Function) string { return f.Module },
		analyze.ModuleBase,
		func(m string) string { return soVersion().ReplaceAllString(analyze.ModuleBase(m), "$1$2") })
}

// Files matches source files: by path, by the last two elements of the path, then by the
// last element.
func Files(recs []*recording.Recording, o Options) (*Matching, []map[string]int32) {
	clean := func(s string) string { return strings.ReplaceAll(s, `\`, "/") }
	return Places(recs, o, func(f *recording.Function) string { return f.File },
		func(s string) string {
			dir, base := path.Split(clean(s))
			return path.Join(path.Base(dir), base)
		},
		func(s string) string { return path.Base(clean(s)) })
}

// Places matches the places that functions lie in; of returns the place of a function.
// name and similar, if set, shorten a place's name for the two looser rules. Places also
// returns, for each recording, the index of each place.
func Places(recs []*recording.Recording, o Options, of func(*recording.Function) string, name, similar func(string) string) (*Matching, []map[string]int32) {
	items := make([][]item, len(recs))
	index := make([]map[string]int32, len(recs))
	for r, rec := range recs {
		index[r] = map[string]int32{}
		for i := range rec.Functions.Len() {
			f := rec.Functions.At(i)
			p := of(&f)
			if _, ok := index[r][p]; !ok {
				index[r][p] = int32(len(items[r]))
				items[r] = append(items[r], item{name: p})
			}
		}
	}
	// Functions without a module have a place too, named "", which matches only itself.
	steps := []step{{RuleModule, func(x *item) string { return "=" + x.name }}}
	if !o.NoName && name != nil {
		steps = append(steps, step{RuleName, func(x *item) string { return unlessEmpty(x.name, name) }})
	}
	if !o.NoSimilar && similar != nil {
		steps = append(steps, step{RuleSimilar, func(x *item) string { return unlessEmpty(x.name, similar) }})
	}
	m := newMatcher(items)
	for r := range recs {
		m.begin(r)
		m.run(r, steps)
	}
	for r := range index {
		for p, i := range index[r] {
			index[r][p] = m.ids[r][i]
		}
	}
	return m.matching(), index
}

func unlessEmpty(s string, f func(string) string) string {
	if s == "" {
		return ""
	}
	return f(s)
}
