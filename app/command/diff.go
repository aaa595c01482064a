package command

import (
	"errors"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"ashlar/app/command/difference"
	"ashlar/app/core/evidence"
	"ashlar/app/core/missing"
	"ashlar/app/core/subcommand"
	"ashlar/app/core/view"
	"ashlar/ingest/format/folded"
	"ashlar/ingest/model/recording"
	"ashlar/ingest/query/analyze"
	"ashlar/ingest/query/compare"
	"ashlar/ingest/query/compare/match"
)

// Failed is the exit code if a condition of --fail-if holds.
const Failed = 3

func diffCommand() command {
	return own(subcommand.Command{
		Name: "diff", Args: "A B [flags]", Line: "list the differences in cost between two recordings",
		Text: `
A is the baseline, B the candidate. The largest change in self comes first;
unchanged rows are hidden. Functions are matched by name and module, then by
name, then by name without the parts that change from build to build (template
arguments, hashes, addresses, line numbers, versions, numbers of closures).
A folded file with two counts per line (difffolded.pl) is compared by itself:
the first count is A, the second B.
Numbers are as recorded; --normalize total, duration, samples or calls scales B
to A first. Sets of calls are compared per call. Traces whose call counts differ
by more than a tenth are scaled to each function's call count in A. --normalize
raw compares sums.

Confidence is the certainty that a difference is not chance: of all rows with
95 % or more, at most one in twenty is expected to be a false alarm. It is based
on the number of samples, for traces on the durations of spans.
Variation from run to run is not included; pass several recordings per side to
include it.

With --fail-if the exit code is 3 if the condition holds: the total, a function
or a module grew by more than a share of its value in A ('total>5%',
'self(parse)>1%', 'module(libz.so)>0%') or by more than an amount
('total(main.run)>10ms'). With --min-confidence, less certain differences do not
count.
` + viewHelp,
		Examples: [][2]string{
			{"ashlar diff old.spaa new.spaa", "list changed functions"},
			{"ashlar diff old.pprof new.pprof --metric alloc_space --by module", "compare allocations by module"},
			{"ashlar diff --a 'old-*.spaa' --b 'new-*.spaa'", "several runs per side, to include their variation"},
			{"ashlar diff --a old/ --b new/", "all recordings in two folders"},
			{"ashlar diff run.spall --range-a ..10s --range-b 10s..", "the first ten seconds of a run and the rest"},
			{"ashlar diff run.spall --rest-of 1.2s..1.5s", "compare a time range with the rest of the recording"},
			{"ashlar diff run.pprof --metric alloc_space --metric-b inuse_space", "allocated minus in use"},
			{"ashlar diff trace.json --slow RunTask", "compare the slow mode of a function's calls with the rest"},
			{"ashlar diff trace.json --calls-b 'RunTask[60ms..]'", "compare the calls of 60 ms or more with all others"},
			{"ashlar diff old.pprof new.pprof --fail-if 'self(parse)>10ms'", "exit with 3 if parse became slower"},
			{"ashlar diff old.pprof new.pprof --markdown >comment.md", "write a comment for a pull request"},
		},
		Answer: difference.JSON{},
	}, func(fs *pflag.FlagSet) func(*call, []string) error {
		var o diffOptions
		o.flags(fs)
		exeFlag(fs)
		cacheFlag(fs)
		return func(c *call, args []string) error {
			if err := o.check(fs, args); err != nil {
				return err
			}
			if c.budget > 0 && !fs.Changed("rows") {
				o.Rows = 0
			}
			return c.diff(&o)
		}
	})
}

// diff compares the recordings and prints the result.
func (c *call) diff(o *diffOptions) error {
	var cut []error
	inputs, err := c.diffInputs(o, &cut)
	if err != nil {
		return err
	}
	c.watch("the comparison")
	if err := o.itself(inputs[0][0].Rec); err != nil {
		return err
	}
	o.match.Hand, o.match.Apart = splitPairs(o.pairs, inputs), splitPairs(o.apartPairs, inputs)
	opts := compare.Options{Event: o.event, Metric: o.metric, MetricB: o.MetricB, Normalize: o.normalize, Match: o.match, Transforms: o.view.Transforms}
	if err := checkAny(&o.view, inputs); err != nil {
		return err
	}
	compared, err := compare.Compare(c.ctx, inputs[0], inputs[1], opts)
	if err != nil {
		return missing.Asked(err, o.metric, inputs[0][0].Rec)
	}
	d, err := difference.New(c.ctx, compared, o.Options)
	if err != nil {
		if misused := (*difference.Misuse)(nil); errors.As(err, &misused) {
			err = &subcommand.Usage{Err: err}
		}
		return err
	}
	if o.Sure > 0 && d.Unfounded() {
		c.note("--min-confidence hides all rows: the recordings have no sample counts, so differences have no confidence")
	}
	c.leaveWindows(compared, inputs, o.json)
	var answer *difference.JSON
	if o.json || c.budget > 0 {
		answer = d.JSON()
	}
	if o.json && len(inputs[0]) == 1 && len(inputs[1]) == 1 {
		answer.Address = o.address(compared, inputs[0][0], inputs[1][0])
	}
	err = c.printRows(o.json, answer, "rows", d.Len(), func(n int) string {
		if o.markdown {
			return d.First(n).Markdown()
		}
		return d.First(n).Text()
	})
	if err = errors.Join(append([]error{err}, cut...)...); err != nil {
		return err
	}
	if text := d.Nothing(); text != "" && len(o.If) > 0 {
		return errors.New("--fail-if cannot be decided: " + strings.TrimSuffix(text, "."))
	}
	if len(d.Failed) > 0 {
		return &subcommand.Failed{Text: strings.Join(d.Failed, "; ")}
	}
	return nil
}

// leaveWindows notes the windows of a range that were not counted because they overlap
// others.
func (c *call) leaveWindows(compared *compare.Comparison, inputs [2][]compare.Input, asJSON bool) {
	m := compared.Metric
	for i, in := range slices.Concat(inputs[0], inputs[1]) {
		left := analyze.Query{Event: m.Event[i], Metric: m.Metric[i], Scope: in.Scope}.WindowsLeft(in.Rec)
		if c.beside.WindowsLeft = append(c.beside.WindowsLeft, left...); len(left) > 0 && !asJSON {
			c.note("%s: windows left out because they overlap others: %s", in.Rec.Source.Path, windowsText(left))
		}
	}
}

// address returns the address of the comparison.
func (o *diffOptions) address(c *compare.Comparison, a, b compare.Input) string {
	v := evidence.Of(a.Rec, analyze.Query{Event: c.Metric.Event[0], Metric: c.Metric.Metric[0], Scope: a.Scope})
	v.Sides[1] = view.OfScope(b.Rec, b.Scope).Sides[0]
	v.Stacks, v.Tab = o.view, "table"
	v.Pairs, v.Apart = slices.Clone(o.match.Hand), o.match.Apart
	for _, r := range c.Renames {
		v.Pairs = append(v.Pairs, match.Pair{A: r.A.String(), B: r.B.String()})
	}
	v.NoModule, v.NoName, v.NoSimilar, v.NoOrder, v.NoRenamed = o.match.NoModule, o.match.NoName, o.match.NoSimilar, o.match.NoOrder, o.match.NoRenamed
	if o.By != compare.ByFunction {
		v.Group = string(o.By)
	}
	if o.By == compare.ByStack {
		v.Tab, v.Group = "difference", ""
	}
	if o.normalize != compare.Auto {
		v.Normalize = string(o.normalize)
	}
	return evidence.Address(v, a.Rec, b.Rec)
}

// itself handles a single named file. A folded file with two counts per line holds both
// the run before and the run after; other files are an error.
func (o *diffOptions) itself(rec *recording.Recording) error {
	if !o.alone {
		return nil
	}
	if o.metric == "" && len(rec.Events) == 1 {
		if ms := rec.Events[0].Metrics; len(ms) == 2 && ms[0].Name == folded.Before && ms[1].Name == folded.After {
			o.metric, o.MetricB = folded.Before, folded.After
			return nil
		}
	}
	return misuse("name a second file, or compare parts of one with --range-a, --range-b, --thread-a, --thread-b, --calls-b or --metric-b")
}

// diffInputs reads the files, each once.
func (c *call) diffInputs(o *diffOptions, cut *[]error) (sides [2][]compare.Input, err error) {
	known := map[string]*recording.Recording{}
	for side, files := range [][]string{o.Files[0], o.Files[1]} {
		rng, thread, of := o.Ranges[0], o.Threads[0], &o.calls
		if side == 1 {
			rng, thread, of = o.Ranges[1], o.Threads[1], &o.callsB
		}
		for _, f := range files {
			rec := known[f]
			if rec == nil {
				if rec, err = c.readRange(f, rng); err != nil {
					return sides, err
				}
				known[f] = rec
				if err := stopped(rec); err != nil {
					*cut = append(*cut, err)
				}
			}
			in := compare.Input{Rec: rec}
			if rng.IsSet() {
				if !rec.HasTime {
					return sides, misuse("%s has no timestamps; remove the range", rec.Source.Path)
				}
				if in.Scope, err = rng.In(rec); err != nil {
					return sides, misuse("%s: %w", rec.Source.Path, err)
				}
			}
			if o.rest.IsSet() {
				if in.Scope, err = o.part(rec, side); err != nil {
					return sides, err
				}
			}
			if thread != "" {
				if in.Scope.Tracks, err = match.FindTracks(rec, thread); err != nil {
					return sides, misuse("%s: %w", rec.Source.Path, err)
				}
			}
			in.Scope = o.apart.in(in.Scope)
			if side == 0 {
				if err := c.ofOne(o, rec, in.Scope); err != nil {
					return sides, err
				}
			}
			if in.Scope.Calls, err = of.meant(rec); err != nil {
				return sides, err
			}
			sides[side] = append(sides[side], in)
		}
	}
	return sides, nil
}

// part returns a side of --rest-of.
func (o *diffOptions) part(rec *recording.Recording, side int) (in recording.Scope, err error) {
	if !rec.HasTime {
		return in, misuse("%s has no timestamps; remove --rest-of", rec.Source.Path)
	}
	if in, err = o.rest.In(rec); err != nil {
		return in, misuse("%s: %w", rec.Source.Path, err)
	}
	if in.Rest().Length(rec) == 0 {
		return in, misuse("--rest-of %s covers all of %s: nothing is left to compare with", o.text.rest, rec.Source.Path)
	}
	if side == 0 {
		in = in.Rest()
	}
	return in, nil
}

// ofOne sets the sets of calls on both sides for --slow or --typical.
func (c *call) ofOne(o *diffOptions, rec *recording.Recording, in recording.Scope) (err error) {
	of := &o.slow
	if o.typical.isSet() {
		of = &o.typical
	}
	if !of.isSet() {
		return nil
	}
	if _, err = of.meant(rec); err != nil {
		return err
	}
	if of == &o.typical {
		o.callsB = o.typical
		o.calls.query, _, err = of.query.Typical(c.ctx, rec, in)
	} else {
		o.callsB.query, o.calls.query, _, err = of.query.Slow(c.ctx, rec, in)
	}
	if err != nil && c.ctx.Err() == nil {
		err = misfit(rec, err)
	}
	return err
}

// checkAny is [view.Stacks.Check] for several recordings: it succeeds if one of them
// passes.
func checkAny(v *view.Stacks, sides [2][]compare.Input) error {
	var first error
	for _, in := range sides {
		for _, x := range in {
			err := v.Check(x.Rec)
			if err == nil {
				return nil
			}
			if first == nil {
				first = err
			}
		}
	}
	return first
}
