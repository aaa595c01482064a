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
		Name: "path", Args: "FILE [flags]", Line: "show the critical path: the work that set the duration",
		Text: `
The path is found backwards from its end. It stays on a thread while that thread
is running or runnable. Where the thread was blocked, the path moves to the
thread that woke it, at that moment; if the waker is unknown, to the source of
the flow into what ran next. Without a flow, the wait itself is part of the
path, back to the moment when the thread that the path came from began to wait.
So each moment has exactly one step, and the steps, like the sums by state,
thread and function, add up to the whole range.

The path ends on the thread that worked last, or on that of --thread. With
--calls, each call has a path that ends with the call on its thread; nested
calls count only as part of the outermost one.`,
		Examples: [][2]string{
			{"ashlar path run.trace", "the critical path of a whole Go execution trace"},
			{"ashlar path sched.data --range 1.2s..1.3s --thread 4242", "what thread 4242 waited for in that range"},
			{"ashlar path trace.json --calls 'Request[slowest 10]'", "where the ten slowest requests spent their time"},
		},
		Answer: pathreport.Answer{},
	}, func(fs *pflag.FlagSet) func(*call, []string) error {
		var o pathOptions
		o.add(fs, "end the path on this `THREAD`: an id, a name, or part of a name (repeatable)", "steps", textRows, "--json and --csv")
		fs.BoolVar(&o.csv, "csv", false, "print only the steps, as CSV; times in nanoseconds")
		return func(c *call, args []string) error {
			if err := o.parse(c, fs, args, "steps"); err != nil {
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
	idle       apartFlag // of locks
	steps      int       // 0 for all
	json, csv  bool
	demo       *bool
}

// add declares the flags that path and locks share. thread describes --thread; the others
// are for [subcommand.RowsFlag], most being the default number of rows.
func (o *pathOptions) add(fs *pflag.FlagSet, thread, rows string, most int, all string) {
	fs.StringVar(&o.text, "range", "", "only `START..END`, from the recording's start: 1.2s..1.5s, 300ms.., ..2min; bare numbers are seconds")
	fs.StringArrayVar(&o.threads, "thread", nil, thread)
	o.calls.add(fs)
	o.steps = most
	subcommand.RowsFlag(fs, &o.steps, rows, all)
	subcommand.AnswerFlags(fs, &o.json)
	o.demo = demoFlag(fs)
	cacheFlag(fs)
}

// parse takes the file, the range and the number of rows, which the error of --rows calls
// rows.
func (o *pathOptions) parse(c *call, fs *pflag.FlagSet, args []string, rows string) (err error) {
	if o.path, err = oneFile(args, *o.demo); err != nil {
		return err
	}
	if o.rng, err = rangeFlag(o.text); err != nil {
		return err
	}
	return c.takeRows(fs, &o.steps, rows, o.json, o.csv)
}

// criticalPath reads the whole file: a path moves between threads, and flows that arrive
// in a range may have been sent before it.
func (c *call) criticalPath(o *pathOptions) error {
	rec, _, err := c.read(o.path, recording.Part{})
	if err != nil {
		return err
	}
	c.watch("the answer")
	if !rec.HasTime {
		return misfit(rec, errors.New("a critical path needs a timeline: "+missing.Reason(missing.OffCPU, rec)))
	}
	if rec.Counts.Spans == 0 && rec.Counts.States == 0 && len(rec.Flows) == 0 {
		return misfit(rec, errors.New("a critical path needs more than samples: "+missing.Reason(missing.OffCPU, rec)))
	}
	in, err := o.scope(c, rec)
	if err != nil {
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

// scope returns the scope of the flags in a recording.
func (o *pathOptions) scope(c *call, rec *recording.Recording) (in recording.Scope, err error) {
	if o.rng.IsSet() {
		if in, err = o.rng.In(rec); err != nil {
			return in, misfit(rec, err)
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
			return in, misfit(rec, fmt.Errorf("no thread is called %s; ashlar top FILE --by thread lists threads", strings.Join(o.threads, " or ")))
		}
	}
	in.Idle = recording.Apart(o.idle)
	return o.calls.in(c.ctx, rec, in)
}
