package command

import (
	"cmp"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/pflag"

	"ashlar/app/core/missing"
	"ashlar/app/core/pathreport"
	"ashlar/app/core/subcommand"
	"ashlar/ingest/model/recording"
)

func pathCommand() command {
	return own(subcommand.Command{
		Name: "path", Args: "FILE [flags]", Line: "find the critical path: what everything else waited for",
		Text: `
The path is found from its end backwards. It stays on a thread while that is at
work or could be. Where the thread was blocked until it was woken, the path goes
to who woke it, at that moment; where nobody is known to have, to where the flow
was sent that ended in what ran next. Where there is none either, the wait
itself is part of the path, back to the moment at which the thread that the path
came through began to wait. So each moment has exactly one step: steps, and sums
by state, thread and function, add up to the time that was asked for.

It ends on the thread that was at work last, or on the one that --thread names.
With --calls there is a path of each call, to its end on its thread; of calls
that lie in each other only of the outermost.`,
		Examples: [][2]string{
			{"ashlar path run.trace", "of a whole execution trace of Go"},
			{"ashlar path sched.data --range 1.2s..1.3s --thread 4242", "what thread 4242 had to wait for in that time"},
			{"ashlar path trace.json --calls 'Request[slowest 10]'", "where the ten slowest requests spent their time"},
		},
		Answer: pathreport.Answer{},
	}, func(fs *pflag.FlagSet) func(*call, []string) error {
		var o pathOptions
		fs.StringVar(&o.text, "range", "", "only `START..END`, from the recording's start: 1.2s..1.5s")
		fs.StringArrayVar(&o.threads, "thread", nil, "the path ends on this `THREAD`, an id, name or part of it; may be repeated")
		o.calls.add(fs)
		fs.IntVarP(&o.steps, "rows", "n", textRows, "print at most `N` steps, 0 for all (default 30; with --json and --csv all)")
		fs.Lookup("rows").DefValue = "0" // said in the text, since it depends
		fs.BoolVar(&o.json, "json", false, "print JSON")
		fs.BoolVar(&o.csv, "csv", false, "print only the steps, as CSV with times in nanoseconds")
		subcommand.BudgetFlag(fs)
		subcommand.RedactFlag(fs)
		demo := demoFlag(fs)
		cacheFlag(fs)
		return func(c *call, args []string) (err error) {
			if o.path, err = oneFile(args, *demo); err != nil {
				return err
			}
			if o.rng, err = rangeFlag(o.text); err != nil {
				return err
			}
			if err := c.takeRows(fs, &o.steps, "steps", o.json, o.csv); err != nil {
				return err
			}
			return c.criticalPath(&o)
		}
	})
}

type pathOptions struct {
	path, text string
	threads    []string
	rng        recording.Range
	calls      callsFlag
	steps      int // 0 for all
	json, csv  bool
}

// criticalPath needs all of the file: a path goes from thread to thread, and flows that
// arrive in a range may have been sent before it.
func (c *call) criticalPath(o *pathOptions) error {
	rec, _, err := c.read(o.path, recording.Part{})
	if err != nil {
		return err
	}
	c.watch("the answer")
	if !rec.HasTime {
		return misfit(rec, errors.New("there is no timeline, so nothing says what waited for what: "+missing.Reason(missing.OffCPU, rec)))
	}
	if rec.Counts.Spans == 0 && rec.Counts.States == 0 && len(rec.Flows) == 0 {
		return misfit(rec, errors.New("samples alone do not say what waited for what: "+missing.Reason(missing.OffCPU, rec)))
	}
	var in recording.Scope
	if o.rng.IsSet() {
		if in, err = o.rng.In(rec); err != nil {
			return misfit(rec, err)
		}
	}
	if len(o.threads) > 0 {
		only := recording.Part{Threads: o.threads}
		for i, t := range rec.Tracks {
			if only.Takes(t) {
				in.Tracks = append(in.Tracks, i)
			}
		}
		if in.Tracks == nil {
			return misfit(rec, fmt.Errorf("no thread is called %s: ashlar top FILE --by thread lists them", strings.Join(o.threads, " or ")))
		}
	}
	if in, err = o.calls.in(c.ctx, rec, in); err != nil {
		return err
	}
	a, err := pathreport.Of(c.ctx, rec, in, o.steps)
	if err != nil {
		return misfit(rec, err)
	}
	if o.csv {
		return cmp.Or(a.CSV(c.stdout), stopped(rec))
	}
	return cmp.Or(c.printRows(o.json, a, "steps", len(a.Steps), a.Text), stopped(rec))
}
