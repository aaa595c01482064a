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
	// Findings lists the findings, the largest share first; it is empty if there are
	// none.
	Findings []findings.Finding `json:"findings"`
}

func findingsCommand() command {
	return own(subcommand.Command{
		Name: "findings", Args: "FILE [FILE] [--json]", Line: "list unusual behaviour, with evidence",
		Text: `
Fixed rules look for unusual behaviour. Each finding has its size, its
confidence if sampled, the known limits of its rule, and the command and address
that show it. A recording without unusual behaviour has no findings. With two
files, the findings are the significant differences.

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
				if len(f.Findings) == 0 {
					return "No findings.\n"
				}
				var b strings.Builder
				for i := range f.Findings[:n] {
					b.WriteString(f.Findings[i].Text())
				}
				return b.String()
			})
		})
	})
}

// rulesText lists the rules of findings.
var rulesText = sync.OnceValue(func() string {
	var b strings.Builder
	for _, r := range findings.Describe() {
		jsondoc.Wrap(&b, r[0]+": "+r[1]+". False alarm if "+r[2]+".", "  ", helpWidth)
	}
	return b.String()
})
