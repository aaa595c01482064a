package spaa

import (
	"errors"
	"fmt"
	"hash/maphash"
	"io"
	"slices"
	"strings"
	"unicode/utf8"
)

// ValidateOptions bound the work and the memory of [Validate]. The zero value
// means the defaults.
type ValidateOptions struct {
	MaxPerRule int // findings kept for each rule, 20 if 0; further ones are counted
	MaxLine    int // longest line in bytes; 0 is DefaultMaxLine
	MaxDepth   int // deepest nesting of JSON values; 0 is DefaultMaxDepth
	// MaxPending is how many references to records not yet seen are held; 0
	// means 1,048,576. Beyond it a reference counts as missing at once.
	MaxPending int
}

// Finding is one place where a file breaks a rule.
type Finding struct {
	Line     int64  // from 1; 0 where the finding is about the whole file
	Rule     string // id of the [Rule]
	Severity Severity
	Message  string // one sentence
}

// String returns "LINE: error|warning [rule]: sentence".
func (f Finding) String() string {
	return fmt.Sprintf("%d: %s [%s]: %s", f.Line, f.Severity, f.Rule, f.Message)
}

// Report lists the findings of [Validate].
type Report struct {
	Findings []Finding        // by line; at most MaxPerRule of each rule
	Counts   map[string]int64 // all findings by rule
	Records  map[string]int64 // records read, by type
	Lines    int64
	Errors   int64 // all findings of severity Error
	Warnings int64 // all findings of severity Warning
}

// Valid reports whether the file breaks no rule of severity [Error].
func (r *Report) Valid() bool { return r.Errors == 0 }

// Validate reads uncompressed SPAA text once and reports every breach of
// [Rules]. Memory grows with the dictionaries and the number of distinct stack
// ids, not with samples or findings. The error is that of the reader only: a
// bad file is a report.
func Validate(r io.Reader, opts ValidateOptions) (Report, error) {
	v := newValidator(r, opts)
	err := v.run()
	slices.SortStableFunc(v.report.Findings, func(a, b Finding) int { return int(a.Line - b.Line) })
	v.report.Lines = v.lines.line - 1
	return v.report, err
}

type validator struct {
	opts   ValidateOptions
	lines  *lineReader
	parser Parser
	line   Line
	report Report
	seed   maphash.Seed

	sawRecord bool
	headers   int
	header    *Header
	events    map[string]*Event
	start     decimalValue // of the header's time range
	end       decimalValue
	refused   bool // another format: stop

	dsos      map[int64]dsoInfo
	frames    map[int64]frameInfo
	threads   map[int64]struct{}
	stacks    map[stackKey]stackInfo
	idContext map[uint64]struct{} // hashes of stack id and context
	noBuildID []buildIDGap
	anyBuild  bool

	// Records named before (or without) their own record: the first line.
	wantDSO, wantFrame, wantThread map[int64]int64
	wantStack                      map[stackRef]stackWant

	path []frameInfo // scratch: the frames of one stack, leaf first
}

func newValidator(r io.Reader, opts ValidateOptions) *validator {
	if opts.MaxPerRule <= 0 {
		opts.MaxPerRule = 20
	}
	if opts.MaxPending <= 0 {
		opts.MaxPending = 1 << 20
	}
	return &validator{
		opts:   opts,
		lines:  newLineReader(r, opts.MaxLine),
		parser: Parser{MaxDepth: opts.MaxDepth},
		report: Report{Counts: map[string]int64{}, Records: map[string]int64{}},
		seed:   maphash.MakeSeed(),
		dsos:   map[int64]dsoInfo{}, frames: map[int64]frameInfo{}, threads: map[int64]struct{}{},
		stacks: map[stackKey]stackInfo{}, idContext: map[uint64]struct{}{},
		wantDSO: map[int64]int64{}, wantFrame: map[int64]int64{}, wantThread: map[int64]int64{},
		wantStack: map[stackRef]stackWant{},
	}
}

// add counts a finding about the current line and keeps it while there is room.
func (v *validator) add(rule, format string, args ...any) {
	v.addAt(v.lines.line, rule, format, args...)
}

func (v *validator) addAt(line int64, rule, format string, args ...any) {
	severity := rules[ruleIndex[rule]].Severity
	if severity == Error {
		v.report.Errors++
	} else {
		v.report.Warnings++
	}
	v.report.Counts[rule]++
	if v.report.Counts[rule] <= int64(v.opts.MaxPerRule) {
		v.report.Findings = append(v.report.Findings, Finding{line, rule, severity, fmt.Sprintf(format, args...)})
	}
}

func (v *validator) run() error {
	for !v.refused {
		text, err := v.lines.read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			if err = v.badLine(err); err != nil {
				return err
			}
			continue
		}
		v.text(text)
	}
	if !v.refused {
		v.finish()
	}
	return nil
}

func (v *validator) text(text []byte) {
	if v.lines.bom && v.lines.line == 1 {
		v.add("bom", "the file begins with a byte order mark, which SPAA does not need")
	}
	if v.lines.isCRLF {
		v.add("line-end", "the line ends with carriage return and line feed")
	}
	if v.lines.isBlank {
		v.add("blank-line", "the line is blank")
		return
	}
	if !utf8.Valid(text) {
		v.add("utf8", "the line has bytes that are not UTF-8")
	}
	if err := v.lines.parse(&v.parser, text, &v.line); err != nil {
		_ = v.badLine(err) // always a *LineError
		return
	}
	v.record(&v.line)
}

// badLine reports a *LineError and returns other errors.
func (v *validator) badLine(err error) error {
	var e *LineError
	if !errors.As(err, &e) {
		return err
	}
	switch {
	case errors.Is(e.Err, ErrCutLine):
		v.add("cut-line", "the file ends in the middle of this record; the writer was cut off")
	case errors.Is(e.Err, ErrLineTooLong):
		v.add("line-length", "%v", e.Err)
	case errors.Is(e.Err, ErrNoType):
		v.add("type", "%v", e.Err)
	default:
		v.add("json-object", "the line is not one JSON object: %v", e.Err)
	}
	return nil
}

func (v *validator) record(l *Line) {
	if !v.sawRecord && l.Kind != KindHeader {
		v.add("header-first", "the first record is a %s, but the header must come first", l.Type)
	}
	v.sawRecord = true
	if l.Kind == KindUnknown {
		v.countUnknown(string(l.Type))
	} else {
		v.report.Records[l.Kind.String()]++
	}
	if l.Duplicates > 0 {
		v.add("duplicate-key", "an object of this record has keys twice (%d), of which the last counts", l.Duplicates)
	}
	if l.Kind != KindHeader && l.Kind != KindUnknown {
		v.required(l)
		v.keys(l.Extra, l.Kind.String()+" record", func(key string) bool {
			return keyBits[key]&kindKeys[l.Kind] != 0
		})
	}
	switch l.Kind {
	case KindHeader:
		v.checkHeader(l)
	case KindDSO:
		v.checkDSO(&l.DSO)
	case KindFrame:
		v.checkFrame(&l.Frame)
	case KindThread:
		v.checkThread(&l.Thread)
	case KindStack:
		v.checkStack(l)
	case KindSample:
		v.checkSample(l)
	case KindWindow:
		v.checkWindow(&l.Window)
	default:
		v.add("record-type", "the spec has no record type %q; the record is kept", l.Type)
	}
}

// countUnknown counts a record of an unknown type; of very many types, those
// that come late are counted together as "unknown".
func (v *validator) countUnknown(name string) {
	const maxTypes = 1000
	if _, ok := v.report.Records[name]; !ok && len(v.report.Records) >= maxTypes {
		name = KindUnknown.String()
	}
	v.report.Records[name]++
}

// required reports lacking keys, but not those that have a rule of their own.
func (v *validator) required(l *Line) {
	for _, key := range l.Missing() {
		switch {
		case l.Kind == KindFrame && (key == "dso" || key == "kind"), l.Kind == KindStack && key == "context":
		default:
			v.add("required-key", "the %s record has no usable %q", l.Kind, key)
		}
	}
	if l.Kind == KindDSO && l.has&hasID != 0 && !l.DSO.ID.OK || l.Kind == KindFrame && l.has&hasID != 0 && !l.Frame.ID.OK {
		v.add("required-key", `the %s record has no usable "id"`, l.Kind)
	}
}

// keys reports the keys that an object keeps as extras.
func (v *validator) keys(extra []RawField, where string, known func(key string) bool) {
	var seen map[string]bool
	if len(extra) > 1 {
		seen = make(map[string]bool, len(extra))
	}
	for _, f := range extra {
		key := string(f.Key)
		switch {
		case f.Mistyped:
			v.add("key-type", "%q of the %s has a value of the wrong JSON type: %.40s", key, where, f.Value)
		case !known(key) && where == contextName:
			v.contextKey(key)
		case !known(key):
			v.add("unknown-key", "the spec has no key %q in a %s; it is kept", key, where)
		}
		if seen[key] && f.bit == 0 { // the parser counts known keys
			v.add("duplicate-key", "%q stands twice in the %s; the last counts", key, where)
		}
		if seen != nil {
			seen[key] = true
		}
	}
}

const contextName = "context"

func (v *validator) contextKey(key string) {
	v.add("context-key", "the spec has no context key %q; it is kept", key)
	if !strings.HasPrefix(key, "x_") && !strings.ContainsAny(key, ".:/") {
		v.add("context-prefix", "the custom context key %q has no namespace prefix such as x_vendor_", key)
	}
}

// in returns the predicate of a set of keys.
func in(keys ...string) func(string) bool {
	return func(key string) bool { return slices.Contains(keys, key) }
}

var (
	weightKeys    = in("metric", "value", "unit")
	exclusiveKeys = in("frame", "weights")
	byStackKeys   = in("stack_id", "weights")
	probeKeys     = in("provider", "module", "function", "name")
	contextKeys   = in("event", "pid", "tid", "cpu", "comm", "probe", "execname", "uid", "zonename", "trace_fields")
)

// finish checks what only the end of the file can tell.
func (v *validator) finish() {
	if v.headers == 0 {
		v.addAt(0, "header-once", "the file has no header record")
	}
	for id, line := range v.wantDSO {
		v.addAt(line, "frame-dso", "the frame references dso %d, which the file does not have", id)
	}
	for id, line := range v.wantFrame {
		v.addAt(line, "stack-frame", "the stack references frame %d, which the file does not have", id)
	}
	for tid, line := range v.wantThread {
		v.addAt(line, "thread-record", "no thread record has the tid %d that is named here first", tid)
	}
	for _, want := range v.wantStack {
		v.missingStack(want)
	}
	if v.anyBuild {
		for _, gap := range v.noBuildID {
			v.addAt(gap.line, "build-id-missing", "dso %q has no build id although others have", gap.name)
		}
	}
}
