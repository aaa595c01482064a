package command

import (
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"ashlar/app/command/difference"
	"ashlar/app/core/locate"
	"ashlar/app/core/subcommand"
	"ashlar/app/core/view"
	"ashlar/ingest/model/recording"
	"ashlar/ingest/query/compare"
	"ashlar/ingest/query/compare/match"
)

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
	fs.StringArrayVar(&t.b, "b", nil, "recordings of side B: a `FILE`, a folder or a quoted pattern (repeatable)")
	o.chooser.flags(fs)
	fs.StringVar(&o.MetricB, "metric-b", "", "the `METRIC` of B (default: the counterpart of A's)")
	fs.StringVar(&t.by, "by", string(compare.ByFunction), "group rows by `WHAT`: function, stack, module, file, line, package, name, category, thread, state, context:KEY, arg:KEY")
	fs.StringVar(&t.normalize, "normalize", string(compare.Auto), "scale B to A `BY` total, duration, samples or calls; raw does not scale; auto scales by calls if call counts differ by more than a tenth")
	fs.StringVar(&t.rangeA, "range-a", "", "only `START..END` of A, from its start: 1.2s..1.5s, 300ms.., ..2min")
	fs.StringVar(&t.rangeB, "range-b", "", "only `START..END` of B")
	fs.StringVar(&t.rest, "rest-of", "", "compare `START..END` of one recording (B) with the rest of it (A), scaled by duration")
	o.calls.add(fs)
	o.apart.add(fs)
	fs.Var(&o.callsB, "calls-b", "only these `CALLS` of B and everything inside them (default: those of --calls); with one recording and no --calls, A is all other calls")
	fs.Var(&o.slow, "slow", "explain slow calls: B is the slowest mode of these `CALLS`, their outliers, or the slowest tenth; A is all others")
	fs.Var(&o.typical, "typical", "compare one call, named by `CALLS` (B), with the median of calls of similar duration (A)")
	fs.StringVar(&o.Threads[0], "thread-a", "", "only this `THREAD` of A: its name, its id, or part of its name")
	fs.StringVar(&o.Threads[1], "thread-b", "", "only this `THREAD` of B")
	fs.StringVar(&t.match, "match", "module,name,similar,order,renamed", "the `RULES` to match by: module, name, similar, order (threads) and renamed (another name, but similar callers, callees and cost)")
	fs.StringArrayVar(&o.pairs, "pair", nil, "a function renamed in B, as `OLD=NEW` (repeatable)")
	fs.StringArrayVar(&o.apartPairs, "no-pair", nil, "do not match these functions as renamed: `OLD=NEW` (repeatable)")
	fs.Float64Var(&o.Sure, "min-confidence", 0, "hide rows with a confidence below `P`, from 0 to 1")
	fs.StringArrayVar(&t.failIf, "fail-if", nil, "exit with 3 if the `CONDITION` holds: total>5%, self(NAME)>10ms, total(NAME)>…, module(NAME)>… (repeatable)")
	fs.BoolVar(&o.All, "all", false, "also list unchanged rows")
	fs.StringVar(&o.Sort, "sort", difference.SortSelf, "sort rows by the change in `WHAT`: self or total; --min-confidence applies to that")
	fs.BoolVar(&o.PerRun, "per-run", false, "also list the cost of each row in each recording, if a side has several")
	o.Rows = textRows
	subcommand.RowsFlag(fs, &o.Rows, "rows", "--json")
	subcommand.AnswerFlags(fs, &o.json)
	fs.BoolVar(&o.markdown, "markdown", false, "print Markdown, for a pull request")
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
	for i, pairs := range [][]string{o.pairs, o.apartPairs} {
		for _, p := range pairs {
			if a, b, ok := strings.Cut(p, "="); !ok || a == "" || b == "" {
				return misuse("%s %q should be OLD=NEW", []string{"--pair", "--no-pair"}[i], p)
			}
		}
	}
	if o.Sort != difference.SortSelf && o.Sort != difference.SortTotal {
		return misuse("unknown order %q; rows are sorted by self or total", o.Sort)
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
			return misuse("--fail-if %q never holds with --normalize total, which makes the totals equal", text)
		}
		o.If = append(o.If, cond)
	}
	if o.slow.isSet() && o.typical.isSet() || (o.slow.isSet() || o.typical.isSet()) && (o.calls.isSet() || len(o.Files[0]) > 1 || !slices.Equal(o.Files[0], o.Files[1])) {
		return misuse("--slow and --typical each define both sides; use only one of them, with one file and without --calls and --calls-b")
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
