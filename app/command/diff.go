package command

import (
	"errors"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"ashlar/app/command/difference"
	"ashlar/app/core/evidence"
	"ashlar/app/core/locate"
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
		Name: "diff", Args: "A B [flags]", Line: "compare two recordings: what costs more or less in B than in A",
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
			{"ashlar diff run.spall --rest-of 1.2s..1.5s", "what is different in this time"},
			{"ashlar diff run.pprof --metric alloc_space --metric-b inuse_space", "allocated minus still in use"},
			{"ashlar diff trace.json --slow RunTask", "compare the slow mode of a function's calls with the rest"},
			{"ashlar diff trace.json --calls-b 'RunTask[60ms..]'", "the same with your own limit"},
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

type diffOptions struct {
	chooser
	difference.Options // a file "" is the built-in recording
	view               view.Stacks
	calls, callsB      callsFlag
	slow, typical      callsFlag
	apart              apartFlags
	alone              bool // only one file was named, with no flag to compare its parts
	normalize          compare.Normalize
	match              match.Options
	pairs, apartPairs  []string
	json, markdown     bool
	rest               recording.Range // A is the time outside, B the time inside

	text struct { // as typed
		a, b, failIf         []string
		rangeA, rangeB, rest string
		by, normalize, match string
	}
	demo *bool
}

func (o *diffOptions) flags(fs *pflag.FlagSet) {
	t := &o.text
	fs.StringArrayVar(&t.a, "a", nil, "recordings of side A: a `FILE`, a folder or a quoted pattern (repeatable)")
	fs.StringArrayVar(&t.b, "b", nil, "recordings of side B: a `FILE`, a folder or a quoted pattern")
	o.chooser.flags(fs)
	fs.StringVar(&o.MetricB, "metric-b", "", "the `METRIC` of B (default: the counterpart of A's)")
	fs.StringVar(&t.by, "by", string(compare.ByFunction), "make a `ROW` of each function, stack, or whatever top groups by: module, file, line, package, name, category, thread, state, context:KEY, arg:KEY")
	fs.StringVar(&t.normalize, "normalize", string(compare.Auto), "scale B to A `BY` total, duration, samples or calls; raw does not scale, auto scales by calls if call counts differ by more than a tenth")
	fs.StringVar(&t.rangeA, "range-a", "", "only `START..END` of A, from its start: 1.2s..1.5s, 300ms.., ..2min")
	fs.StringVar(&t.rangeB, "range-b", "", "only `START..END` of B")
	fs.StringVar(&t.rest, "rest-of", "", "compare `START..END` of one recording (B) with the rest of it (A), scaled by duration")
	o.calls.add(fs)
	o.apart.add(fs)
	fs.Var(&o.callsB, "calls-b", "only what ran in these `CALLS` of B (default: those of --calls); with one recording and no --calls, A is all other calls")
	fs.Var(&o.slow, "slow", "explain slow calls: B is the slowest mode of these `CALLS`, or the slowest tenth if there is one mode; A is the rest")
	fs.Var(&o.typical, "typical", "compare the one call that `CALLS` names (B) with the median of the calls that took about as long (A)")
	fs.StringVar(&o.Threads[0], "thread-a", "", "only this `THREAD` of A: its name, its id, or part of its name")
	fs.StringVar(&o.Threads[1], "thread-b", "", "only this `THREAD` of B")
	fs.StringVar(&t.match, "match", "module,name,similar,order,renamed", "the `RULES` to match by: module, name, similar, order (threads) and renamed (functions that do the same under another name)")
	fs.StringArrayVar(&o.pairs, "pair", nil, "a function renamed in B, as `OLD=NEW` (repeatable)")
	fs.StringArrayVar(&o.apartPairs, "no-pair", nil, "do not match these functions as renamed: `OLD=NEW` (repeatable)")
	fs.Float64Var(&o.Sure, "min-confidence", 0, "hide rows with a confidence below `P`, from 0 to 1")
	fs.StringArrayVar(&t.failIf, "fail-if", nil, "exit with 3 if the `CONDITION` holds: total>5%, self(NAME)>10ms, total(NAME)>…, module(NAME)>… (repeatable)")
	fs.BoolVar(&o.All, "all", false, "also list unchanged rows")
	fs.IntVarP(&o.Rows, "rows", "n", textRows, "print at most `N` rows, 0 for all (default 30; with --json all)")
	fs.Lookup("rows").DefValue = "0" // no automatic default in the help: the text states it
	fs.BoolVar(&o.json, "json", false, "print JSON")
	fs.BoolVar(&o.markdown, "markdown", false, "print Markdown, for a pull request")
	subcommand.BudgetFlag(fs)
	subcommand.RedactFlag(fs)
	o.view.AddTransformFlags(fs)
	o.demo = fs.Bool("demo", false, "use the built-in recording for both sides")
}

// check parses and checks the flags.
func (o *diffOptions) check(fs *pflag.FlagSet, args []string) (err error) {
	if err := o.files(args); err != nil {
		return err
	}
	t := &o.text
	if o.Ranges[0], err = rangeFlag(t.rangeA); err != nil {
		return err
	}
	if o.Ranges[1], err = rangeFlag(t.rangeB); err != nil {
		return err
	}
	if o.rest, err = rangeFlag(t.rest); err != nil {
		return err
	}
	if o.By, err = compare.ParseBy(t.by); err != nil {
		return &subcommand.Usage{Err: err}
	}
	if o.normalize, err = compare.ParseNormalize(t.normalize); err != nil {
		return &subcommand.Usage{Err: err}
	}
	if err := o.rules(t.match); err != nil {
		return err
	}
	for flag, pairs := range map[string][]string{"--pair": o.pairs, "--no-pair": o.apartPairs} {
		for _, p := range pairs {
			if a, b, ok := strings.Cut(p, "="); !ok || a == "" || b == "" {
				return misuse("%s %q should be OLD=NEW", flag, p)
			}
		}
	}
	if o.Sure < 0 || o.Sure > 1 || o.Sure != o.Sure {
		return misuse("--min-confidence %v is not between 0 and 1", o.Sure)
	}
	for _, text := range t.failIf {
		cond, err := difference.ParseCondition(text)
		if err != nil {
			return &subcommand.Usage{Err: err}
		}
		if cond.Never(o.normalize) {
			return misuse("--fail-if %q can never hold with --normalize total, which makes the totals equal", text)
		}
		o.If = append(o.If, cond)
	}
	if o.slow.isSet() && o.typical.isSet() || (o.slow.isSet() || o.typical.isSet()) && (o.calls.isSet() || len(o.Files[0]) > 1 || !slices.Equal(o.Files[0], o.Files[1])) {
		return misuse("--slow and --typical already define both sides; use one of them, without --calls and --calls-b")
	}
	if !fs.Changed("normalize") && (o.calls.isSet() || o.slow.isSet() || o.typical.isSet()) {
		o.normalize = compare.Calls // the sets rarely have the same number of calls
	}
	if o.rest.IsSet() {
		if t.rangeA != "" || t.rangeB != "" || o.calls.isSet() || o.callsB.isSet() || o.slow.isSet() || o.typical.isSet() || len(o.Files[0]) > 1 || !slices.Equal(o.Files[0], o.Files[1]) {
			return misuse("--rest-of already defines both sides of one recording; leave out other ranges, calls and files")
		}
		if !fs.Changed("normalize") {
			o.normalize = compare.Duration
		}
	}
	if o.Rows < 0 {
		return misuse("-n %d is negative; 0 prints all rows", o.Rows)
	}
	if o.json && o.markdown {
		return misuse("use either --json or --markdown")
	}
	if o.json && !fs.Changed("rows") {
		o.Rows = 0
	}
	return nil
}

// files sets the files of both sides.
func (o *diffOptions) files(args []string) error {
	sides := len(o.text.a) > 0 || len(o.text.b) > 0
	switch {
	case *o.demo:
		if len(args) > 0 || sides {
			return misuse("--demo replaces both files; leave out the others")
		}
		o.Files[0], o.Files[1] = []string{""}, []string{""}
	case sides && len(args) > 0:
		return misuse("unexpected file %s with --a and --b; quote patterns so that the shell does not expand them", args[0])
	case sides:
		var err error
		if o.Files[0], err = expand("--a", o.text.a); err != nil {
			return err
		}
		if o.Files[1], err = expand("--b", o.text.b); err != nil {
			return err
		}
	case len(args) == 1 && args[0] != "":
		o.Files[0], o.Files[1] = args, args
	case len(args) != 2 || args[0] == "" || args[1] == "":
		return misuse("name two files, the baseline first; for several files per side use --a and --b")
	default:
		o.Files[0], o.Files[1] = args[:1], args[1:]
	}
	if same := slices.Equal(o.Files[0], o.Files[1]); same && len(o.Files[0]) == 1 && !sides && (len(args) == 1 || *o.demo) {
		t := &o.text
		o.alone = t.rest == "" && t.rangeA == "" && t.rangeB == "" && o.Threads[0] == "" && o.Threads[1] == "" && o.MetricB == "" && !o.callsB.isSet() && !o.slow.isSet() && !o.typical.isSet()
		if !o.calls.isSet() && o.callsB.isSet() {
			others := *o.callsB.query
			others.Others = !others.Others
			o.calls.query = &others
		}
	}
	if !o.callsB.isSet() {
		o.callsB = o.calls
	}
	return nil
}

// expand replaces patterns and folders by the recordings they name.
func expand(flag string, names []string) ([]string, error) {
	if len(names) == 0 {
		return nil, misuse("%s is missing; name the recordings of both sides", flag)
	}
	files, _, err := locate.Runs(names)
	if err != nil {
		return nil, misuse("%s: %w", flag, err)
	}
	return files, nil
}

// rules parses --match.
func (o *diffOptions) rules(text string) error {
	o.match = match.Options{NoModule: true, NoName: true, NoSimilar: true, NoOrder: true, NoRenamed: true}
	for _, r := range strings.Split(text, ",") {
		switch strings.TrimSpace(r) {
		case "module":
			o.match.NoModule = false
		case "name":
			o.match.NoName = false
		case "similar":
			o.match.NoSimilar = false
		case "order":
			o.match.NoOrder = false
		case "renamed":
			o.match.NoRenamed = false
		case "", "none":
		default:
			return misuse("unknown rule %q; rules are module, name, similar, order and renamed", r)
		}
	}
	return nil
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
		c.note("--min-confidence hides all rows: the recordings do not contain sample counts, so differences have no confidence")
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
		return errors.New("--fail-if cannot be judged: " + strings.TrimSuffix(text, "."))
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
			c.note("%s: left out of the range, since they overlap others: %s", in.Rec.Source.Path, windowsText(left))
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
		return in, misuse("--rest-of %s is all of %s: nothing is left to compare with", o.text.rest, rec.Source.Path)
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

// splitPairs splits OLD=NEW. Names may contain =, so it prefers a split where both sides
// are functions.
func splitPairs(texts []string, sides [2][]compare.Input) []match.Pair {
	if len(texts) == 0 {
		return nil
	}
	var names [2]map[string]bool
	for side, in := range sides {
		names[side] = map[string]bool{}
		for _, x := range in {
			for i := range x.Rec.Functions.Len() {
				names[side][x.Rec.Functions.At(i).Name] = true
			}
		}
	}
	var out []match.Pair
	for _, s := range texts {
		a, b, _ := strings.Cut(s, "=")
		best := match.Pair{A: a, B: b}
		for i := range s {
			if s[i] == '=' && names[0][s[:i]] && names[1][s[i+1:]] {
				best = match.Pair{A: s[:i], B: s[i+1:]}
			}
		}
		out = append(out, best)
	}
	return out
}
