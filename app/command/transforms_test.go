package command

import (
	"strings"
	"testing"

	"ashlar/app/core/manual/manualtest"
	"ashlar/ingest/query/analyze"
)

func TestManualHasTheTransforms(t *testing.T) {
	var b strings.Builder
	b.WriteString("| flag | effect | in the window |\n|---|---|---|\n")
	for i := range analyze.Transforms {
		k := &analyze.Transforms[i]
		name, usage := "--"+k.Flag, k.Usage
		if before, rest, ok := strings.Cut(usage, "`"); ok {
			arg, after, _ := strings.Cut(rest, "`")
			name, usage = name+" "+arg, before+arg+after
		}
		where := k.Title
		if k.Key != "" {
			where = "`" + k.Key + "` " + where
		}
		if where == "" {
			where = k.Item()
		}
		b.WriteString("| `" + name + "` | " + usage + " | " + where + " |\n")
	}
	manualtest.CheckTable(t, "assets/manual/flamegraph.md", "transforms", b.String(), *update)
}
