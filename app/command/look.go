package command

import (
	"strings"
	"sync"

	"github.com/spf13/pflag"

	"ashlar/app/agent/findings"
	"ashlar/app/agent/overview"
	"ashlar/app/command/jsondoc"
	"ashlar/app/core/subcommand"
	"ashlar/ingest/model/recording"
)

func overviewCommand() command {
	return own(subcommand.Command{
		Name: "overview", Args: "FILE [--json]", Line: "summarise a recording: contents, findings, next steps",
		Text: `
One page: format and quality of the recording, its most expensive functions and
threads, findings, and the commands to run next. The answer has at most 1,500
tokens (--budget changes that), whatever the recording.`,
		Examples: [][2]string{{"ashlar overview run.spaa", "start here"}, {"ashlar overview run.pftrace --json --budget 800", "a short answer for a program"}},
		Answer:   overview.Overview{},
	}, func(fs *pflag.FlagSet) func(*call, []string) error {
		return onRecordings(fs, 1, func(c *call, recs []*recording.Recording, asJSON bool) error {
			o, err := overview.Of(c.ctx, recs[0])
			if err != nil {
				return err
			}
			if c.budget == 0 {
				c.budget = overview.Most
			}
			return c.printRows(asJSON, o, "", 0, func(int) string { return o.Text() })
		})
	})
}

// findingsAnswer is the JSON output of findings.
type findingsAnswer struct {
	// Files are the recordings: one, or two that were compared.
	Files []string `json:"files"`
	// Findings are the largest share first; empty where no rule finds anything.
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
		Examples: [][2]string{{"ashlar findings run.spaa", "what stands out"}, {"ashlar findings old.pprof new.pprof --json", "significant changes, for programs"}},
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
		jsondoc.Wrap(&b, r[0]+": "+r[1]+". Wrong when "+r[2]+".", "  ", helpWidth)
	}
	return b.String()
})

// onRecordings is a command about one recording, or as many as most.
func onRecordings(fs *pflag.FlagSet, most int, run func(c *call, recs []*recording.Recording, asJSON bool) error) func(*call, []string) error {
	asJSON := fs.Bool("json", false, "print JSON")
	subcommand.BudgetFlag(fs)
	subcommand.RedactFlag(fs)
	demo := demoFlag(fs)
	return func(c *call, args []string) error {
		if most == 1 || len(args) < 2 {
			path, err := oneFile(args, *demo)
			if err != nil {
				return err
			}
			args = []string{path}
		} else if len(args) > most || *demo {
			return misuse("name one recording, or two to compare")
		}
		var recs []*recording.Recording
		for _, path := range args {
			rec, _, err := c.read(path, recording.Part{})
			if err != nil {
				return err
			}
			recs = append(recs, rec)
		}
		c.watch("the answer")
		if err := run(c, recs, *asJSON); err != nil {
			return err
		}
		return stopped(recs[0])
	}
}
