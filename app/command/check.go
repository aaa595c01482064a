package command

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/pflag"

	"ashlar/app/command/contents"
	"ashlar/app/core/evidence"
	"ashlar/app/core/subcommand"
	"ashlar/app/core/tabular"
	"ashlar/ingest"
	"ashlar/ingest/input/safetext"
	"ashlar/ingest/input/source"
	"ashlar/ingest/model/recording"
	"ashlar/ingest/query/join"
	"ashlar/ingest/query/redact"
	"ashlar/render/units"
	"ashlar/spaa"
)

func checkCommand() command {
	return own(subcommand.Command{
		Name: "check", Args: "FILE… [--json]", Line: "validate recordings and list their problems",
		Text: `
SPAA files are checked strictly, by every rule of the specification that a file
can break; --rules lists them. Files in other formats are read as the window
reads them, and the warnings are printed; where a file is larger than memory,
--range and --thread read a part of it.

The exit code is 1 when a file breaks a rule whose severity is error, or cannot
be read.`,
		Examples: [][2]string{
			{"ashlar check run.spaa.zst", "list broken rules by line"},
			{"ashlar check *.spaa --json | jq .files[].errors", "the same as JSON"},
			{"ashlar check --rules", "list the rules"},
		},
		Answer: checkAnswer{},
	}, func(fs *pflag.FlagSet) func(*call, []string) error {
		var o checkOptions
		var only partFlags
		rules := fs.Bool("rules", false, "list the rules for SPAA files")
		fs.IntVar(&o.most, "max", 20, "print at most `N` findings per rule (all are counted)")
		subcommand.AnswerFlags(fs, &o.json)
		only.rangeFlag(fs)
		only.threadFlag(fs)
		return func(c *call, args []string) (err error) {
			if o.part, err = only.part(); err != nil {
				return err
			}
			switch {
			case *rules && len(args) > 0:
				return misuse("--rules takes no files; leave out %s", args[0])
			case *rules:
				return c.rules(o.json)
			case len(args) == 0:
				return misuse("name the files to check, or - for standard input")
			case o.most < 1:
				return misuse("--max %d prints nothing; use 1 or more", o.most)
			}
			var files []string
			for _, a := range args {
				parts, err := join.Files(a)
				if err != nil {
					return err
				}
				files = append(files, parts...)
			}
			return c.check(files, &o)
		}
	})
}

type checkOptions struct {
	most int
	json bool
	part recording.Part // part to read, for formats other than SPAA
}

// checkAnswer is the JSON output of check.
type checkAnswer struct {
	Files    []*checkedFile `json:"files"`
	Errors   int64          `json:"errors"`
	Warnings int64          `json:"warnings"`
}

type checkedFile struct {
	File   string `json:"file"`
	Format string `json:"format"`
	// Address shows the file's problems in the window; absent if the file cannot be
	// opened.
	Address string `json:"address,omitempty"`
	// Strict reports whether the format's rules were checked; otherwise the findings are
	// the errors and warnings from reading the file.
	Strict   bool             `json:"strict"`
	Valid    bool             `json:"valid"`
	Errors   int64            `json:"errors"`
	Warnings int64            `json:"warnings"`
	Lines    int64            `json:"lines,omitempty"`
	Records  map[string]int64 `json:"records,omitempty"`
	Findings []checkFinding   `json:"findings"`
	// More is the number of unlisted findings by rule, for rules with more findings than
	// are listed.
	More   map[string]int64 `json:"more,omitempty"`
	Ledger []contents.Tally `json:"ledger,omitempty"`
}

type checkFinding struct {
	Line     int64  `json:"line,omitempty"`
	Severity string `json:"severity"`
	Rule     string `json:"rule"`
	Message  string `json:"message"`
	// Count and First are set for warnings that stand for several places.
	Count int64  `json:"count,omitempty"`
	First string `json:"first,omitempty"`
}

func (c *call) check(files []string, o *checkOptions) error {
	all := checkAnswer{Files: []*checkedFile{}}
	bad := 0
	for _, path := range files {
		f := c.checkFile(path, o)
		c.redactCheck(f)
		if f.Format != "" && path != "-" {
			f.Address = evidence.About(&recording.Recording{Source: recording.Source{Path: f.File, Redacted: c.redactor != nil}})
		}
		f.Valid = f.Errors == 0
		if !f.Valid {
			bad++
		}
		all.Files = append(all.Files, f)
		all.Errors += f.Errors
		all.Warnings += f.Warnings
		if !o.json && c.budget == 0 { // file by file, since there may be many
			if err := c.say(f.text()); err != nil {
				return err
			}
		}
	}
	err := c.printRows(o.json, all, "", 0, func(int) string {
		var b strings.Builder
		for _, f := range all.Files {
			if c.budget > 0 {
				b.WriteString(f.text())
			}
		}
		fmt.Fprintf(&b, "%s and %s in %s\n", units.Plural(all.Errors, "error"), units.Plural(all.Warnings, "warning"), units.Plural(int64(len(files)), "file"))
		return b.String()
	})
	if err != nil {
		return err
	}
	switch {
	case bad == 1 && len(files) == 1:
		return fmt.Errorf("%s has errors", all.Files[0].File)
	case bad > 0:
		return fmt.Errorf("errors in %d of %s", bad, units.Plural(int64(len(files)), "file"))
	}
	return nil
}

// redactCheck redacts the findings for --redact.
func (c *call) redactCheck(f *checkedFile) {
	if c.redactor == nil {
		return
	}
	was := f.File
	f.File = redact.FileName(was)
	for i := range f.Findings {
		x := &f.Findings[i]
		x.Message = c.redactor.Text(strings.ReplaceAll(x.Message, was, f.File))
		x.First = c.redactor.Text(x.First)
	}
}

// checkFile checks one file. A failure to read it is a finding.
func (c *call) checkFile(path string, o *checkOptions) *checkedFile {
	f := &checkedFile{File: path, Findings: []checkFinding{}}
	if err := c.look(f, o); err != nil {
		what := err.Error()
		var named *source.Error
		if errors.As(err, &named) {
			what = named.What
		}
		f.Errors++
		f.Findings = append(f.Findings, checkFinding{Severity: "error", Rule: "unreadable", Message: what})
	}
	return f
}

func (c *call) look(f *checkedFile, o *checkOptions) error {
	in, err := c.openInput(c.ctx, f.File)
	if err != nil {
		return err
	}
	defer in.Close()
	f.Format, err = formatOf(in)
	var other *spaa.FormatError
	if err == nil && f.Format == "spaa" || errors.As(err, &other) || err != nil && isNamedSPAA(in.Name) {
		f.Format = "spaa"
		if o.part.IsSet() {
			return &source.Error{Path: f.File, What: "SPAA files are checked as a whole; leave out " + o.part.String()}
		}
		return f.strict(in, o)
	}
	if err != nil {
		return err
	}
	return f.lenient(c.ctx, in, o.part)
}

// isNamedSPAA reports whether a file of unknown content has the extension of SPAA.
func isNamedSPAA(name string) bool {
	name = strings.ToLower(name)
	for _, ext := range []string{".spaa", ".spaa.zst", ".spaa.gz"} {
		if strings.HasSuffix(name, ext) {
			return true
		}
	}
	return false
}

// strict checks an SPAA file by the rules of the format.
func (f *checkedFile) strict(in *source.Input, o *checkOptions) error {
	var report spaa.Report
	err := source.Protect(in.Path, func() (err error) {
		report, err = spaa.Validate(&inputReader{in: in}, spaa.ValidateOptions{MaxPerRule: o.most})
		return err
	})
	f.Strict, f.Lines, f.Records = true, report.Lines, report.Records
	f.Errors, f.Warnings = report.Errors, report.Warnings
	listed := map[string]int64{}
	for _, x := range report.Findings {
		listed[x.Rule]++
		f.Findings = append(f.Findings, checkFinding{Line: x.Line, Severity: x.Severity.String(), Rule: x.Rule, Message: x.Message})
	}
	for rule, n := range report.Counts {
		if n > listed[rule] {
			if f.More == nil {
				f.More = map[string]int64{}
			}
			f.More[rule] = n - listed[rule]
		}
	}
	return err
}

// lenient reads a file of another format and copies its warnings and ledger.
func (f *checkedFile) lenient(ctx context.Context, in *source.Input, part recording.Part) error {
	l := ingest.OpenInput(ctx, in, ingest.Options{Part: part})
	defer l.Close()
	err := l.Wait()
	rec := l.Snapshot()
	for i := range rec.Warnings {
		w := &rec.Warnings[i]
		x := checkFinding{Severity: "warning", Rule: w.Code, Message: w.Text, Count: w.Count, First: w.First}
		switch w.Code {
		case "failed", recording.WarnPart + "-behind":
			x.Severity = "error"
			f.Errors += w.Count
		case recording.WarnPart: // the requested part
			x.Severity = "note"
		default:
			switch {
			case w.Error:
				x.Severity = "error"
				f.Errors += w.Count
			case w.Minor:
				x.Severity = "note"
			default:
				f.Warnings += w.Count
			}
		}
		f.Findings = append(f.Findings, x)
	}
	f.tallies(rec)
	return err
}

func (f *checkedFile) tallies(rec *recording.Recording) {
	for _, t := range rec.Ledger {
		f.Ledger = append(f.Ledger, contents.Tally(t))
	}
}

// mostMessage is the length to which check shortens a message: it may quote a name of any length.
const mostMessage = 1000

// text writes the findings as lines from which editors can jump to the place.
func (f *checkedFile) text() string {
	var b strings.Builder
	name := safetext.Text(f.File)
	for _, x := range f.Findings {
		b.WriteString(name)
		if x.Line > 0 {
			fmt.Fprintf(&b, ":%d", x.Line)
		}
		fmt.Fprintf(&b, ": %s [%s]: %s", x.Severity, safetext.Short(x.Rule), safetext.Middle(safetext.Text(x.Message), mostMessage))
		switch {
		case x.Count > 1 && x.First != "":
			fmt.Fprintf(&b, " (%s, first at %s)", tabular.Often(x.Count), safetext.Text(x.First))
		case x.Count > 1:
			fmt.Fprintf(&b, " (%s)", tabular.Often(x.Count))
		case x.First != "":
			fmt.Fprintf(&b, " (at %s)", safetext.Text(x.First))
		}
		b.WriteByte('\n')
	}
	for _, r := range spaa.Rules() {
		if n := f.More[r.ID]; n > 0 {
			fmt.Fprintf(&b, "%s: %s [%s]: %s more; --max prints more\n", name, r.Severity, r.ID, units.Count(n))
		}
	}
	for _, t := range f.Ledger {
		fmt.Fprintf(&b, "%s: note [ledger]: %s: %s read, %s kept, %s repaired, %s left out\n", name, safetext.Text(t.Kind),
			units.Count(t.Read), units.Count(t.Kept), units.Count(t.Repaired), units.Count(t.LeftOut))
	}
	if !f.Strict && f.Format != "" {
		fmt.Fprintf(&b, "%s: note [strict]: only SPAA has a strict check; these are the errors and warnings from reading the file as %s\n", name, f.Format)
	}
	return b.String()
}

// checkRule is a row of --rules as JSON.
type checkRule struct {
	ID       string `json:"id"`
	Section  string `json:"section"`
	Severity string `json:"severity"`
	Demand   string `json:"demand"`
	Found    string `json:"found"`
}

// rules lists the rules that SPAA files are checked by.
func (c *call) rules(asJSON bool) error {
	var rows []checkRule
	table := [][]string{{"rule", "section", "severity", "requirement"}}
	for _, r := range spaa.Rules() {
		rows = append(rows, checkRule{r.ID, r.Section, r.Severity.String(), r.Demand, r.Found})
		table = append(table, []string{r.ID, r.Section, r.Severity.String(), r.Demand}, []string{"", "", "", "  found when " + r.Found})
	}
	if asJSON {
		return writeJSON(c.stdout, rows)
	}
	var b strings.Builder
	tabular.Columns(&b, "", "llll", table)
	return c.say(b.String())
}
