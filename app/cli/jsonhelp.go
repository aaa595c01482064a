package cli

import (
	"embed"
	"fmt"
	"reflect"
	"strings"

	"ashlar/app/cli/contents"
	"ashlar/app/cli/difference"
	"ashlar/app/cli/jsondoc"
	"ashlar/app/critical"
	"ashlar/app/findings"
	"ashlar/app/overview"
	"ashlar/app/store"
)

// answers are the types of what commands print with --json, by command.
var answers = []struct {
	command string
	of      reflect.Type
}{
	{"overview", reflect.TypeFor[overview.Overview]()}, {"findings", reflect.TypeFor[found]()}, {"info", reflect.TypeFor[contents.Contents]()}, {"top", reflect.TypeFor[top]()}, {"calls", reflect.TypeFor[callList]()}, {"path", reflect.TypeFor[critical.Answer]()}, {"stats", reflect.TypeFor[stats]()}, {"diff", reflect.TypeFor[difference.JSON]()},
	{"check", reflect.TypeFor[checked]()}, {"check --rules", reflect.TypeFor[[]checkRule]()}, {"convert", reflect.TypeFor[conversion]()}, {"marks", reflect.TypeFor[store.Marks]()}, {"cache", reflect.TypeFor[cached]()},
}

// The types' own comments say what fields mean, so that it is said once.
//
//go:embed cache.go look.go calls.go check.go convert.go lengths.go stats.go top.go topview.go
var typeSources embed.FS

// jsonText says what each command's JSON has.
func jsonText(width int) string {
	var b strings.Builder
	docs := jsondoc.Read(typeSources, findings.Source, overview.Source, contents.Source, critical.Source, difference.Source)
	b.WriteString("What commands print with --json: names of fields, what they hold, and what they\nmean. Numbers are exact; null stands where nothing can be said.\n")
	for _, a := range answers {
		fmt.Fprintf(&b, "\nashlar %s --json\n", a.command)
		docs.Write(&b, a.of, width)
	}
	return b.String()
}
