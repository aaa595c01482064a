// Package sourcelines implements "ashlar source": the cost of each line of a source file,
// with its text where the file is available.
package sourcelines

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"ashlar/app/core/bundle"
	"ashlar/app/core/evidence"
	"ashlar/app/core/exactnum"
	"ashlar/app/core/missing"
	"ashlar/app/core/sourcefile"
	"ashlar/app/core/subcommand"
	"ashlar/ingest/fetch"
	"ashlar/ingest/input/safetext"
	"ashlar/ingest/model/order"
	"ashlar/ingest/model/recording"
	"ashlar/ingest/query/analyze"
	"ashlar/render/units"
)

// Command is the source command.
var Command = subcommand.Command{
	Name: "source", Args: "FILE FUNCTION|SOURCE [flags]", Line: "list the cost of each line of a source file, heaviest first",
	Text: `
Lists the lines of the FUNCTION's file, or of a SOURCE file, given by its
recorded path or the end of that path. The text of the lines is printed if the
file lies beside the recording or --exe, or below a --source-root. Self is the
cost of a line by itself, total includes the functions that it calls.

With --asm, the rows are the instructions of the FUNCTION, by address, with the
source lines between them. They come from the recorded binary, which is looked
for by its build id: at its recorded path, beside the recording and in debugger
caches; --exe names another. -n N prints the N heaviest
instructions and their neighbours. x86 and arm64 are supported, in ELF (Linux),
PE (Windows) and Mach-O (macOS) files.

With --asm and --with B, the instructions of two builds are aligned by content:
registers, addresses and places on the stack may differ. + marks an instruction
that only B has, - one that only FILE has. Both binaries must be on this
machine.`,
	Examples: [][2]string{
		{"ashlar source run.spaa parse --source-root .", "the source lines around the function parse"},
		{"ashlar source run.pprof main.go -n 10", "the ten heaviest lines of a file"},
		{"ashlar source perf.data parse --asm -n 0", "all instructions of a function"},
		{"ashlar source old.data parse --asm --with new.data", "what changed between two builds"},
	},
	Answer: Source{},
	Setup:  setup,
}

// Source is the JSON output of source. Values are exact decimals in Unit, shares parts of
// Total from 0 to 1.
type Source struct {
	File   string `json:"file"`
	Source string `json:"source"` // the source file, as the recording names it
	// Path is the file's local path, empty if it was not found; Missing is the reason why
	// its text is not shown.
	Path    string      `json:"path,omitempty"`
	Missing string      `json:"missing,omitempty"`
	Event   string      `json:"event"`
	Metric  string      `json:"metric"`
	Unit    string      `json:"unit"`
	Total   json.Number `json:"total"` // total of the recording
	Self    json.Number `json:"self"`  // sum over the file's lines
	// Samples is the number of samples behind Total; absent if nothing was sampled or the
	// file does not say. Address shows the source file.
	Samples int64  `json:"samples,omitempty"`
	Address string `json:"address"`
	Lines   []Line `json:"lines"`
	// Assembly describes the code of the function and Instructions lists its
	// instructions; with --asm only, and Lines is then empty.
	Assembly     *Assembly     `json:"assembly,omitempty"`
	Instructions []Instruction `json:"instructions,omitempty"`
	// Builds compares the function's code in two builds, and Rows lists the aligned
	// instructions, those with the largest change first; with --with only.
	Builds *Builds     `json:"builds,omitempty"`
	Rows   []BuildsRow `json:"rows,omitempty"`
}

// Line is a source line with a cost. The heaviest comes first; line 0 collects costs
// without a known line.
type Line struct {
	Line  int32       `json:"line"`
	Self  json.Number `json:"self"`
	Total json.Number `json:"total"`
	// Count is the number of spans, samples or records behind Self.
	Count int64 `json:"count"`
	evidence.Shares
	Functions []string `json:"functions"`
	Text      string   `json:"text,omitempty"`

	cost analyze.SourceLine
}

type options struct {
	event, metric string
	rows          int
	json          bool
	roots         []string
	asm           bool
	syntax        string
	exe           string
	with          string
	debuginfod    string
}

func setup(fs *pflag.FlagSet) func(*subcommand.Program, []string) error {
	var o options
	fs.StringVar(&o.event, "event", "", "the `EVENT` to use (default: the first)")
	fs.StringVar(&o.metric, "metric", "", "the `METRIC` to use (default: the event's primary one)")
	fs.IntVarP(&o.rows, "rows", "n", 30, "print at most `N` lines or instructions, 0 for all")
	fs.BoolVar(&o.asm, "asm", false, "list the instructions of the function instead of source lines")
	fs.StringVar(&o.syntax, "syntax", "", "write instructions in the `SYNTAX` gnu (default), go or intel")
	fs.StringVar(&o.exe, "exe", "", "look for source files also in the folder of this `BINARY`; with --asm, take the instructions from it (default: the recorded one)")
	fs.StringVar(&o.with, "with", "", "with --asm, compare with the function in the recording `B` of another build")
	fs.StringVar(&o.debuginfod, "debuginfod", "", "with --asm, download a missing binary or its symbols from the debuginfod server at this `URL`; env takes the first of $DEBUGINFOD_URLS")
	fs.StringArrayVar(&o.roots, "source-root", nil, "look for source files in `DIR`; with FROM=DIR, look in DIR for files recorded below FROM (repeatable)")
	subcommand.AnswerFlags(fs, &o.json)
	return func(p *subcommand.Program, args []string) error {
		switch {
		case len(args) != 2:
			return subcommand.Misuse("name the recording, and a function or a source file of it")
		case o.rows < 0:
			return subcommand.Misuse("-n %d is negative; 0 prints all lines", o.rows)
		case o.debuginfod != "" && !o.asm:
			return subcommand.Misuse("--debuginfod needs --asm")
		case o.with != "" && !o.asm:
			return subcommand.Misuse("--with needs --asm; ashlar diff A B compares functions")
		}
		rec, err := p.Read(args[0])
		if err != nil {
			return err
		}
		if o.with != "" {
			return o.builds(p, rec, args[1])
		}
		if o.asm {
			return o.instructions(p, rec, args[1])
		}
		s, m, sum, err := o.cost(p, rec, args[1])
		if err != nil {
			return err
		}
		return p.Answer(o.json, s, "lines", len(s.Lines), func(n int) string { return s.text(m, sum, n) })
	}
}

// cost returns the cost of each line of the source file.
func (o *options) cost(p *subcommand.Program, rec *recording.Recording, what string) (*Source, *recording.Metric, int64, error) {
	q, err := o.query(rec)
	if err != nil {
		return nil, nil, 0, err
	}
	file, err := sourceOf(rec, what)
	if err != nil {
		return nil, nil, 0, subcommand.Misuse("%s: %w", rec.Source.Path, err)
	}
	w, err := analyze.Weigh(p.Ctx, rec, q)
	if err != nil {
		return nil, nil, 0, err
	}
	behind, err := evidence.SampledOf(p.Ctx, rec, q, w)
	if err != nil {
		return nil, nil, 0, err
	}
	e := &rec.Events[q.Event]
	m := &e.Metrics[q.Metric]
	cost := analyze.SourceOf(rec, w, file)
	s := &Source{File: rec.Source.Path, Source: file, Event: e.Name, Metric: m.Name, Unit: m.Unit, Total: exactnum.Value(w.Sum, m), Self: exactnum.Value(cost.Self, m), Samples: behind.Samples, Lines: []Line{}}
	text, err := s.read(rec, o.folders())
	if err != nil {
		return nil, nil, 0, err
	}
	spread := map[int32][2]int64{}
	if behind.Spread() != nil {
		for _, l := range analyze.SourceOf(rec, behind.Spread(), file).Lines {
			spread[l.Line] = [2]int64{l.Self, l.Total}
		}
	}
	for _, l := range cost.Lines {
		x := Line{Line: l.Line, Self: exactnum.Value(l.Self, m), Total: exactnum.Value(l.Total, m), Count: l.Count, Functions: []string{}, cost: l,
			Shares: behind.Shares(l.Self, l.Total, w.Sum, spread[l.Line])}
		for _, f := range l.Funcs {
			x.Functions = append(x.Functions, rec.Functions.At(int(f)).Name)
		}
		if l.Line > 0 && int(l.Line) <= len(text) {
			x.Text = text[l.Line-1]
		}
		s.Lines = append(s.Lines, x)
	}
	s.Address = addressOf(rec, q, cost.Lines)
	order.By(s.Lines, func(a, b Line) int {
		return cmp.Or(cmp.Compare(b.cost.Self, a.cost.Self), cmp.Compare(b.cost.Total, a.cost.Total))
	})
	if !o.json && o.rows > 0 {
		s.Lines = s.Lines[:min(len(s.Lines), o.rows)]
	}
	return s, m, w.Sum, nil
}

// query returns the query for the chosen event and metric.
func (o *options) query(rec *recording.Recording) (analyze.Query, error) {
	event, metric, err := analyze.Choose(rec, o.event, o.metric)
	if err != nil || event < 0 {
		return analyze.Query{}, subcommand.Misuse("%s: %w", rec.Source.Path, cmp.Or(missing.Asked(err, o.metric, rec), fmt.Errorf("the recording has no values")))
	}
	return analyze.Query{Event: event, Metric: metric, Scope: analyze.Apart(rec, recording.Scope{})}, nil
}

// addressOf returns an address that shows the file and selects the first function with a
// line in it.
func addressOf(rec *recording.Recording, q analyze.Query, lines []analyze.SourceLine) string {
	v := evidence.Of(rec, q)
	v.Tab = "source"
	for _, l := range lines {
		if len(l.Funcs) > 0 {
			f := rec.Functions.At(int(l.Funcs[0]))
			v.Function = &recording.FuncName{Name: f.Name, Module: f.Module}
			break
		}
	}
	return evidence.Address(v, rec)
}

// sourceOf returns the source file that contains the function what, or the file whose
// path ends with what.
func sourceOf(rec *recording.Recording, what string) (string, error) {
	ref := analyze.Named(what)
	functions := ref.Functions(rec)
	for _, f := range functions {
		if file := rec.Functions.At(int(f)).File; file != "" {
			return file, nil
		}
	}
	files := map[string]bool{}
	take := func(file string) {
		slashed := strings.ReplaceAll(file, `\`, "/")
		if file != "" && (file == what || strings.HasSuffix(slashed, "/"+strings.TrimPrefix(what, "./"))) {
			files[file] = true
		}
	}
	for i := range rec.Functions.Len() {
		take(rec.Functions.At(i).File)
	}
	for i := range rec.Frames.Len() {
		f := rec.Frames.At(i)
		if len(functions) > 0 && slices.Contains(functions, f.Func) && f.File != "" {
			return f.File, nil
		}
		take(f.File)
	}
	switch {
	case len(files) == 1:
		for f := range files {
			return f, nil
		}
	case len(files) > 1:
		var names []string
		for f := range files {
			names = append(names, safetext.Short(f))
		}
		slices.Sort(names)
		return "", fmt.Errorf("%s: ambiguous, %s match: %s", what, units.Plural(int64(len(names)), "source file"), strings.Join(names[:min(len(names), 4)], ", "))
	case len(functions) > 0:
		return "", fmt.Errorf("the recording has no source file for %s: %s", what, missing.Reason(missing.Lines, rec))
	}
	return "", ref.Missing(rec)
}

// folders returns the roots of sources: those given, and the folder of the program given.
func (o *options) folders() []string {
	if o.exe == "" {
		return o.roots
	}
	return append(slices.Clone(o.roots), "="+filepath.Dir(o.exe))
}

// read returns the text of the source file, nil if it is not available.
func (s *Source) read(rec *recording.Recording, given []string) ([]string, error) {
	var roots []sourcefile.Root
	for _, g := range given {
		r, err := sourcefile.ParseRoot(g)
		if err != nil {
			return nil, subcommand.Misuse("%w", err)
		}
		roots = append(roots, r)
	}
	beside := ""
	if s.File != "" && s.File != "-" && !fetch.IsURL(s.File) {
		beside = filepath.Dir(s.File)
	}
	at := rec.Source.At(beside)
	path, err := sourcefile.Find(s.Source, roots, at)
	if text := bundle.Lines(rec.Source.At(s.File), s.Source); path == "" && text != nil {
		return text, nil
	}
	if path == "" {
		s.Missing = "source file not found; set --source-root"
	}
	var text []string
	if path != "" && err == nil {
		text, err = sourcefile.Lines(path)
	}
	typed := func(p string) string { return p }
	if at != beside { // show paths in the recording's folder as that folder was typed
		typed = func(p string) string {
			if rest, ok := strings.CutPrefix(p, at+string(filepath.Separator)); ok && p != s.Source {
				return filepath.Join(beside, rest)
			}
			return p
		}
	}
	var outside *sourcefile.Outside
	switch {
	case errors.As(err, &outside):
		s.Missing = (&sourcefile.Outside{Path: typed(outside.Path)}).Error()
	case err != nil:
		s.Missing = err.Error()
	case path != "":
		s.Path = typed(path)
	}
	return text, nil
}

func (s *Source) text(m *recording.Metric, sum int64, n int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s of %s %s\n", safetext.Short(s.Source), safetext.Short(s.Metric), safetext.Short(s.File), units.Value(sum, m))
	if s.Missing != "" {
		fmt.Fprintf(&b, "%s\n", safetext.Text(s.Missing))
	}
	fmt.Fprintf(&b, "\n%12s %8s %12s %6s\n", "self", "", "total", "line")
	for i := range s.Lines[:n] {
		l := &s.Lines[i]
		text := l.Text
		if text == "" {
			text = strings.Join(l.Functions, ", ")
		}
		fmt.Fprintf(&b, "%12s %8s %12s %6d  %s\n", units.Value(l.cost.Self, m), units.Percent(l.cost.Self, sum), units.Value(l.cost.Total, m), l.Line, safetext.Short(text))
	}
	return b.String()
}
