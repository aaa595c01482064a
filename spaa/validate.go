package spaa

import (
	"cmp"
	"errors"
	"fmt"
	"hash/maphash"
	"io"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"
)

// ValidateOptions bound the work and the memory of [Validate]. The zero value
// means the defaults.
type ValidateOptions struct {
	MaxPerRule int // findings kept for each rule, 20 if 0; more are only counted
	MaxLine    int // longest line in bytes; 0 is DefaultMaxLine
	MaxDepth   int // deepest nesting of JSON values; 0 is DefaultMaxDepth
	// MaxPending limits the number of references held to records that have not been seen
	// yet; 0 means 1,048,576. Beyond the limit, such a reference counts as missing at
	// once.
	MaxPending int
}

// Finding is a place where a file breaks a rule.
type Finding struct {
	Line     int64  // from 1; 0 if the finding is about the whole file
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

// Validate reads uncompressed SPAA text once and reports every violation of [Rules].
// Memory grows with the dictionaries and the number of distinct stack ids, not with
// samples or findings. Errors come only from the reader: an invalid file gives a report,
// not an error.
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
	report Report
	seed   maphash.Seed

	sawRecord bool
	headers   int
	header    *Header
	events    map[string]*Event
	start     decimalValue // start of the header's time range
	end       decimalValue
	refused   bool // another format: stop

	dsos      map[int64]dsoInfo
	frames    map[int64]frameInfo
	threads   map[int64]struct{}
	stacks    map[stackKey]stackInfo
	idContext map[uint64]struct{} // hashes of stack id and context
	noBuildID []buildIDGap
	anyBuild  bool

	// By id, the line of the first reference to a record that has not been seen.
	wantDSO, wantFrame, wantThread map[int64]int64
	wantStack                      map[stackRef]stackWant
	sums                           map[stackKey]*stackSums
	windows                        []windowTime
	periods                        map[string]*periods  // by event
	units                          map[metricOf]string  // of the stacks' weights
	totals                         map[metricOf]float64 // of the stacks' weights

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
		parser: Parser{MaxDepth: opts.MaxDepth, Extras: true},
		report: Report{Counts: map[string]int64{}, Records: map[string]int64{}},
		seed:   maphash.MakeSeed(),
		dsos:   map[int64]dsoInfo{}, frames: map[int64]frameInfo{}, threads: map[int64]struct{}{},
		stacks: map[stackKey]stackInfo{}, idContext: map[uint64]struct{}{},
		wantDSO: map[int64]int64{}, wantFrame: map[int64]int64{}, wantThread: map[int64]int64{},
		wantStack: map[stackRef]stackWant{}, sums: map[stackKey]*stackSums{}, periods: map[string]*periods{}, units: map[metricOf]string{},
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
		v.add("bom", "the file begins with a byte order mark; SPAA needs none")
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
	rec, err := v.lines.parse(&v.parser, string(text))
	if err != nil {
		_ = v.badLine(err) // always a *LineError
		return
	}
	v.record(rec)
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

func (v *validator) record(r Record) {
	p := &v.parser
	if !v.sawRecord && p.kind != KindHeader {
		v.add("header-first", "the first record is a %s, but the header must come first", r.RecordType())
	}
	v.sawRecord = true
	v.count(r.RecordType())
	if p.Duplicates > 0 {
		v.add("duplicate-key", "an object of this record has duplicate keys (%d); the last value counts", p.Duplicates)
	}
	if p.kind != KindHeader || v.headers == 0 {
		v.keys(r)
	}
	switch r := r.(type) {
	case *Header:
		v.checkHeader(r)
	case *DSO:
		v.checkDSO(r)
	case *Frame:
		v.checkFrame(r)
	case *Thread:
		v.checkThread(r)
	case *Stack:
		v.checkStack(r)
	case *Sample:
		v.checkSample(r)
	case *Window:
		v.checkWindow(r)
	default:
		v.add("record-type", "the record type %q is not in the spec; the record is kept", r.RecordType())
	}
}

// count counts a record by its type. Beyond a limit on the number of types, further
// unknown types are counted together as "unknown".
func (v *validator) count(name string) {
	const maxTypes = 1000
	if _, ok := v.report.Records[name]; !ok {
		name = strings.Clone(name) // not the whole line
		if len(v.report.Records) >= maxTypes && v.parser.kind == KindUnknown {
			name = KindUnknown.String()
		}
	}
	v.report.Records[name]++
}

// keys reports missing keys, except keys with a rule of their own, and keys that break
// the spec.
func (v *validator) keys(r Record) {
	kind := v.parser.kind
	h, ok := r.(*Header)
	other := ok && h.Format != "" && h.OtherFormat() != nil // other formats have other keys
	for _, key := range v.parser.Missing() {
		if other || kind == KindFrame && (key == "dso" || key == "kind") || kind == KindStack && key == "context" {
			continue
		}
		v.add("required-key", "the %s record has no usable %q", kind, key)
	}
	for _, pr := range v.parser.Problems {
		switch {
		case pr.Kind == LackingKey:
			v.add("required-key", "the %s has no usable %q", pr.Object, pr.Key)
		case pr.Kind == MistypedKey:
			v.add("key-type", "%q of the %s has the wrong JSON type: %.40s", pr.Key, pr.Object, pr.Value)
		case pr.Object == contextPlan.name:
			v.contextKey(pr.Key)
		case (kind == KindHeader || kind == KindFrame) && strings.HasPrefix(pr.Key, "x_"): // custom keys with a namespace are allowed
		default:
			v.add("unknown-key", "the key %q of the %s is not in the spec; it is kept", pr.Key, pr.Object)
		}
	}
}

func (v *validator) contextKey(key string) {
	v.add("context-key", "the context key %q is not in the spec; it is kept", key)
	if !strings.HasPrefix(key, "x_") && !strings.ContainsAny(key, ".:/") {
		v.add("context-prefix", "the custom context key %q has no namespace prefix such as x_vendor_", key)
	}
}

// given reports whether an object has a text field, even with an empty text.
func given(text string, x Extra, key string) bool { return text != "" || string(x[key]) == `""` }

// in returns a function that reports whether a word is among words.
func in(words ...string) func(string) bool {
	return func(word string) bool { return slices.Contains(words, word) }
}

// missing reports the lines that want an id that never came, by id, in file order.
func (v *validator) missing(rule, format string, wanted map[int64]int64) {
	ids := slices.SortedFunc(maps.Keys(wanted), func(a, b int64) int {
		return cmp.Or(cmp.Compare(wanted[a], wanted[b]), cmp.Compare(a, b))
	})
	for _, id := range ids {
		v.addAt(wanted[id], rule, format, id)
	}
}

// finish runs the checks that need the whole file. Their findings are in file order, so
// that the same file always has the same ones.
func (v *validator) finish() {
	if v.headers == 0 {
		v.addAt(0, "header-once", "the file has no header record")
	}
	v.missing("frame-dso", "the frame references dso %d, which is not in the file", v.wantDSO)
	v.missing("stack-frame", "the stack references frame %d, which is not in the file", v.wantFrame)
	v.missing("thread-record", "no thread record has the tid %d, first used here", v.wantThread)
	for _, want := range slices.SortedFunc(maps.Values(v.wantStack), stackWant.compare) {
		v.missingStack(want)
	}
	v.checkSums()
	v.checkPeriods()
	if v.anyBuild {
		for _, gap := range v.noBuildID {
			v.addAt(gap.line, "build-id-missing", "dso %q has no build id, although others have one", gap.name)
		}
	}
}
