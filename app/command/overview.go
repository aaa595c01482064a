package command

import (
	"github.com/spf13/pflag"

	"ashlar/app/agent/overview"
	"ashlar/app/core/subcommand"
	"ashlar/ingest/model/recording"
)

func overviewCommand() command {
	return own(subcommand.Command{
		Name: "overview", Args: "FILE [--json]", Line: "summarise a recording: contents, findings, next steps",
		Text: `
One page: format and quality of the recording, what is unusual in it, its most
expensive functions and threads, and the commands to run next. The answer has at
most 1,500 tokens (--budget changes that), whatever the recording.`,
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
