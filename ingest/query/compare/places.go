package compare

import (
	"ashlar/ingest/model/recording"
	"ashlar/ingest/query/compare/match"
)

// placesOf says how functions are matched by where they belong: which recording has
// which place, the place of a function, and what is said of those that have none.
func (c *Comparison) placesOf(by By) (places func([]*recording.Recording, match.Options) (*match.Matching, []map[string]int32), of func(*recording.Function) string, none string) {
	switch by {
	case ByModule:
		return match.Modules, func(f *recording.Function) string { return f.Module }, "[no module]"
	case ByFile:
		return match.Files, func(f *recording.Function) string { return f.File }, "[no file]"
	}
	of = func(f *recording.Function) string {
		name, _ := by.Meaning(f)
		return name
	}
	return func(recs []*recording.Recording, o match.Options) (*match.Matching, []map[string]int32) {
		return match.Places(recs, o, of, nil, nil)
	}, of, ""
}
