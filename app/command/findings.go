package command

import (
	"strings"
	"sync"

	"github.com/spf13/pflag"

	"ashlar/app/agent/findings"
	"ashlar/app/command/jsondoc"
	"ashlar/app/core/subcommand"
	"ashlar/ingest/model/recording"
)

// findingsAnswer is the JSON output of findings.
type findingsAnswer struct {
	// Files lists the recordings: one, or the two that were compared.
	Files []string `json:"files"`
	// Findings lists the findings, what is unusual before costs, and of each kind the largest
	// share first; it is empty if there are none.
	Findings []findings.Finding `json:"findings"`
}

func findingsCommand() command {
	return own(subcommand.Command{
		Name: "findings", Args: "FILE [FILE] [--json]", Line: "list unusual behaviour and the largest costs, with evidence",
		Text: `
Fixed rules look for unusual behaviour and for what costs most. Each finding has
its size, its confidence if sampled, the known limits of its rule, and the
command and address that show it. With two files, the findings are the
significant differences.

A finding is unusual, or a cost: a statement about what costs most, which holds
for healthy programs, too. Without unusual behaviour, the answer says so.

` + rulesText(),
		Examples: [][2]string{{"ashlar findings run.spaa", "unusual behaviour"}, {"ashlar findings old.pprof new.pprof --json", "significant changes, as JSON"}},
		Answer:   findingsAnswer{},
	}, func(fs *pflag.FlagSet) func(*call, []string) error {
		return onRecordings(fs, 2, func(c *call, recs []*recording.Recording, asJSON bool) (err error) {
			f := &findingsAnswer{}
			for _, r := range recs {
				f.Files = append(f.Files, r.Source.Path)
			}
			if len(recs) == 2 {
				f.Findings, err = findings.Differences(c.ctx, recs[0], recs[1])
			} else {
				f.Findings, err = findings.Of(c.ctx, recs[0])
			}
			if err != nil {
				return err
			}
			return c.printRows(asJSON, f, "findings", len(f.Findings), func(n int) string {
				return findingsText(f.Findings, n, len(recs) == 2)
			})
		})
	})
}

// findingsText writes the first n findings for people, under a heading for each kind.
func findingsText(all []findings.Finding, n int, compared bool) string {
	var b strings.Builder
	switch unusual, costs := findings.Split(all); {
	case compared && len(all) == 0:
		return "No significant differences.\n"
	case len(unusual) == 0 && len(costs) == 0:
		return "Nothing unusual found.\n"
	case len(unusual) == 0:
		b.WriteString("Nothing unusual found.\n")
	case !compared:
		b.WriteString("Unusual\n")
	}
	for i := range all[:n] {
		if all[i].Kind == findings.Cost && (i == 0 || all[i-1].Kind != findings.Cost) {
			b.WriteString("Costs\n")
		}
		b.WriteString(all[i].Text())
	}
	return b.String()
}

// rulesText lists the rules of findings by kind.
var rulesText = sync.OnceValue(func() string {
	var b strings.Builder
	for _, k := range []struct {
		kind            findings.Kind
		title, harmless string
	}{{findings.Unusual, "Unusual:", "False alarm"}, {findings.Cost, "\nCosts:", "Harmless"}} {
		b.WriteString(k.title + "\n")
		for _, r := range findings.Describe() {
			if r.Kind == k.kind {
				jsondoc.Wrap(&b, r.Name+": "+r.What+". "+k.harmless+" if "+r.Wrong+".", "  ", helpWidth)
			}
		}
	}
	return b.String()
})
