package compare

import (
	"ashlar/ingest/model/recording"
	"ashlar/ingest/query/compare/match"
)

// placesOf returns how to group functions by place: places matches the places of
// recordings, of returns a function's place, and none is the name for functions without a
// place.
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
