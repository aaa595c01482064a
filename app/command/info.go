package command

import (
	"github.com/spf13/pflag"

	"ashlar/app/command/contents"
	"ashlar/app/core/evidence"
	"ashlar/app/core/subcommand"
)

func infoCommand() command {
	return own(subcommand.Command{
		Name: "info", Args: "FILE [--json]", Line: "show the contents of a recording",
		Text: `
Totals are exact. Warnings list the problems of the file, each with its first
place. The ledger counts records of each kind: read, kept, repaired and left
out. If reading stops early, the part read so far is printed and the exit code
is 1.`,
		Examples: [][2]string{
			{"ashlar info run.spaa.zst", "show the contents of a recording"},
			{"ashlar info run.spall --json | jq .counts", "the same as JSON"},
			{"zcat run.json.gz | ashlar info -", "read standard input"},
		},
		Answer: contents.Contents{},
	}, func(fs *pflag.FlagSet) func(*call, []string) error {
		var asJSON bool
		subcommand.AnswerFlags(fs, &asJSON)
		var only partFlags
		only.rangeFlag(fs)
		only.threadFlag(fs)
		demo := demoFlag(fs)
		cacheFlag(fs)
		return func(c *call, args []string) error {
			path, err := oneFile(args, *demo)
			if err != nil {
				return err
			}
			part, err := only.part()
			if err != nil {
				return err
			}
			rec, stats, err := c.read(path, part)
			if err != nil {
				return err
			}
			c.watch("the answer")
			in, err := contents.Of(c.ctx, rec, stats)
			if err != nil {
				return err
			}
			in.Address = evidence.About(rec)
			return c.answer(rec, asJSON, in, in.Text)
		}
	})
}
