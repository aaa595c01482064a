package match

import (
	"fmt"
	"strings"

	"ashlar/ingest/model/recording"
)

var digits = lazy(`[0-9]+`)

// Threads matches the tracks of recordings: by name and role (the main thread of its
// process, any other thread, or a row of async operations), then by role and name without
// numbers, then by role and order. The Funcs of the result stand for tracks; a track
// without a name is named by its thread id.
func Threads(recs []*recording.Recording, o Options) *Matching {
	items := make([][]item, len(recs))
	for r, rec := range recs {
		for i, t := range rec.Tracks {
			name := t.Name
			// The file stands for the position, so that threads with the same name are
			// matched in order.
			items[r] = append(items[r], item{name: name, module: role(t), file: fmt.Sprintf("%d/%09d", r, i), bare: name == ""})
		}
	}
	steps := []step{{RuleModule, func(x *item) string {
		if x.bare {
			return ""
		}
		return x.module + "\x00" + x.name
	}}}
	if !o.NoSimilar {
		steps = append(steps, step{RuleSimilar, func(x *item) string {
			if x.bare {
				return ""
			}
			return x.module + "\x00" + digits().ReplaceAllString(x.name, "")
		}})
	}
	if !o.NoOrder {
		steps = append(steps, step{RuleOrder, func(x *item) string { return x.module }})
	}
	m := newMatcher(items)
	for r := range recs {
		m.begin(r)
		m.run(r, steps)
	}
	for f := range m.funcs {
		x := &m.funcs[f]
		x.Module, x.File = "", ""
		for r, i := range x.In {
			if i >= 0 && x.Name == "" {
				x.Name = fmt.Sprintf("thread %d", recs[r].Tracks[i].TID)
			}
		}
	}
	return m.matching()
}

func role(t *recording.Track) string {
	switch {
	case t.Kind == recording.AsyncTrack:
		return "async"
	case t.PID == t.TID && t.TID != 0:
		return "main"
	}
	return "thread"
}

// FindTracks returns the tracks that the user means by a name, a thread id, or part of a
// name.
func FindTracks(rec *recording.Recording, want string) ([]int, error) {
	var exact, part []int
	for i, t := range rec.Tracks {
		switch {
		case t.Name == want || fmt.Sprint(t.TID) == want:
			exact = append(exact, i)
		case want != "" && strings.Contains(strings.ToLower(t.Name), strings.ToLower(want)):
			part = append(part, i)
		}
	}
	if len(exact) == 0 {
		exact = part
	}
	if len(exact) == 0 {
		return nil, fmt.Errorf("the recording has no thread %q; %s", want, trackNames(rec))
	}
	return exact, nil
}

func trackNames(rec *recording.Recording) string {
	const most = 12
	var names []string
	for i, t := range rec.Tracks {
		if i == most {
			names = append(names, fmt.Sprintf("and %d more", len(rec.Tracks)-most))
			break
		}
		if t.Name != "" {
			names = append(names, fmt.Sprintf("%s (%d)", t.Name, t.TID))
		} else {
			names = append(names, fmt.Sprint(t.TID))
		}
	}
	if names == nil {
		return "it has none"
	}
	return "it has " + strings.Join(names, ", ")
}
