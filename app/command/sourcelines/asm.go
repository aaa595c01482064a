package sourcelines

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"ashlar/app/core/assembly"
	"ashlar/app/core/evidence"
	"ashlar/app/core/exactnum"
	"ashlar/app/core/subcommand"
	"ashlar/ingest/fetch"
	"ashlar/ingest/format/program/disasm"
	"ashlar/ingest/input/safetext"
	"ashlar/ingest/model/recording"
	"ashlar/ingest/query/analyze"
	"ashlar/render/units"
)

// Assembly describes the code of a function.
type Assembly struct {
	Function string `json:"function"`
	Module   string `json:"module,omitempty"`
	// Binary is the path of the file with the code, and BuildID its build id. Verified
	// reports whether this is the recorded build id; if not, Doubt says why.
	Binary   string `json:"binary"`
	BuildID  string `json:"build_id,omitempty"`
	Verified bool   `json:"verified"`
	Doubt    string `json:"doubt,omitempty"`
	Machine  string `json:"machine"`
	Syntax   string `json:"syntax"`
	// Skid says that the samples are not precise; absent if they are.
	Skid string `json:"skid,omitempty"`
	// HotLoop is the loop with the largest self cost; absent if no loop has any.
	HotLoop *Loop `json:"hot_loop,omitempty"`
	// Parts are the pieces of code that hold the function: if it was inlined, its
	// callers.
	Parts []Part `json:"parts"`
}

// Loop is the code from the target of a jump back to the jump: addresses, as hexadecimal
// texts, of the first and the last instruction, and the sum of their Self.
type Loop struct {
	First string      `json:"first"`
	Last  string      `json:"last"`
	Self  json.Number `json:"self"`
}

// Part is a piece of code of the binary, from the address Start up to End, as hexadecimal
// texts.
type Part struct {
	Symbol string      `json:"symbol,omitempty"`
	Start  string      `json:"start"`
	End    string      `json:"end"`
	Self   json.Number `json:"self"`
}

// Instruction is an instruction with its cost. The heaviest comes first; those without a
// cost follow, those beside a heavy one first.
type Instruction struct {
	Address string `json:"address"` // hexadecimal, as in the binary
	Part    int    `json:"part"`    // index in Parts
	Offset  int64  `json:"offset"`  // from the start of the part
	Text    string `json:"text"`
	// Target is the address that a call or jump continues at; Kind is call, jump, branch
	// or return, absent for others.
	Target string      `json:"target,omitempty"`
	Kind   string      `json:"kind,omitempty"`
	Self   json.Number `json:"self"`
	Total  json.Number `json:"total"`
	Count  int64       `json:"count"` // samples or records behind Self
	Share  json.Number `json:"share"` // Self as a part of the recording's total, from 0 to 1
	// File and Line are the source position; Inlined names the functions inlined there,
	// the innermost first.
	File    string   `json:"source,omitempty"`
	Line    int      `json:"line,omitempty"`
	Inlined []string `json:"inlined,omitempty"`

	index int // in the listing
}

// kinds are the names of instructions by kind.
var kinds = map[disasm.Kind]string{disasm.Call: "call", disasm.Jump: "jump", disasm.Branch: "branch", disasm.Return: "return"}

// code is the code of a function of a recording, with what its costs are measured in.
type code struct {
	rec      *recording.Recording
	q        analyze.Query
	w        *analyze.Weights
	m        *recording.Metric
	function recording.FuncID
	listing  *assembly.Listing
	syntax   disasm.Syntax
}

// code lists the instructions of a function of a recording. exe is the binary to use, "" for
// the recorded one.
func (o *options) code(p *subcommand.Program, rec *recording.Recording, what, exe string) (*code, error) {
	syntax, err := disasm.ParseSyntax(o.syntax)
	if err != nil {
		return nil, subcommand.Misuse("%w", err)
	}
	q, err := o.query(rec)
	if err != nil {
		return nil, err
	}
	w, err := analyze.Weigh(p.Ctx, rec, q)
	if err != nil {
		return nil, err
	}
	function, err := heaviest(rec, w, what)
	if err != nil {
		return nil, subcommand.Misuse("%s: %w", rec.Source.Path, err)
	}
	at := assembly.Options{Syntax: syntax, Beside: beside(rec), Exe: exe}
	if at.Download, err = o.download(p); err != nil {
		return nil, err
	}
	if st, err := os.Stat(rec.Source.At(rec.Source.Path)); err == nil {
		at.Recorded = st.ModTime()
	}
	l, err := assembly.Of(p.Ctx, rec, w, function, at)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", rec.Source.Path, err)
	}
	return &code{rec, q, w, &rec.Events[q.Event].Metrics[q.Metric], function, l, syntax}, nil
}

// download returns how to download binaries, nil unless the user asked for it.
func (o *options) download(p *subcommand.Program) (func(ctx context.Context, id, kind string) (string, error), error) {
	server := o.debuginfod
	if server == "env" {
		all := strings.Fields(os.Getenv("DEBUGINFOD_URLS"))
		if len(all) == 0 {
			return nil, subcommand.Misuse("--debuginfod env: $DEBUGINFOD_URLS is empty")
		}
		server = all[0]
	}
	switch {
	case server == "":
		return nil, nil
	case !strings.HasPrefix(server, "http://") && !strings.HasPrefix(server, "https://"):
		return nil, subcommand.Misuse("--debuginfod %s is not an http or https URL", safetext.Short(server))
	}
	d := &fetch.Debuginfod{Server: server}
	if dir, err := os.UserCacheDir(); err == nil {
		d.Dir = filepath.Join(dir, "ashlar", "debuginfod")
	}
	const step = 32 << 20 // bytes between lines of progress
	var said int64
	d.Progress = func(url string, n int64) {
		switch {
		case said > n || said == 0:
			fmt.Fprintf(p.Stderr, "Downloading %s\n", url)
			said = 1
		case n-said >= step:
			fmt.Fprintf(p.Stderr, "  %d MB\n", n>>20)
			said = n
		}
	}
	return d.Get, nil
}

// instructions prints the code of a function.
func (o *options) instructions(p *subcommand.Program, rec *recording.Recording, what string) error {
	c, err := o.code(p, rec, what, o.exe)
	if err != nil {
		return err
	}
	behind, err := evidence.SampledOf(p.Ctx, rec, c.q, c.w)
	if err != nil {
		return err
	}
	s := o.listed(rec, c.listing, c.q, c.w, c.function)
	s.Samples = behind.Samples
	s.Assembly.Syntax = string(c.syntax)
	if !o.json && o.rows > 0 {
		s.Instructions = s.Instructions[:min(len(s.Instructions), o.rows)]
	}
	return p.Answer(o.json, s, "instructions", len(s.Instructions), func(n int) string { return s.code(c.listing, c.m, c.w.Sum, n, o.lines(rec)) })
}

// beside returns the folder of the recording, "" if it is not a file.
func beside(rec *recording.Recording) string {
	if path := rec.Source.Path; path != "" && path != "-" && !fetch.IsURL(path) {
		return rec.Source.At(filepath.Dir(path))
	}
	return ""
}

// heaviest returns the function that what refers to. If it refers to several, that is the one
// with the largest self cost.
func heaviest(rec *recording.Recording, w *analyze.Weights, what string) (recording.FuncID, error) {
	ref := analyze.Named(what)
	all := ref.Functions(rec)
	if len(all) == 0 {
		return 0, ref.Missing(rec)
	}
	self := map[recording.FuncID]int64{}
	for c := 1; c < len(w.Self); c++ {
		self[rec.Func(recording.CallID(c))] += w.Self[c]
	}
	return slices.MaxFunc(all, func(a, b recording.FuncID) int {
		return cmp.Or(cmp.Compare(self[a], self[b]), cmp.Compare(b, a))
	}), nil
}

// listed returns the answer for a listing.
func (o *options) listed(rec *recording.Recording, l *assembly.Listing, q analyze.Query, w *analyze.Weights, function recording.FuncID) *Source {
	e := &rec.Events[q.Event]
	m := &e.Metrics[q.Metric]
	f := rec.Functions.At(int(function))
	a := &Assembly{Function: f.Name, Module: f.Module, Binary: l.Binary, BuildID: l.BuildID, Verified: l.Verified, Doubt: l.Doubt, Machine: l.Machine, Skid: assembly.Skid(rec, e.Name)}
	for _, p := range l.Parts {
		a.Parts = append(a.Parts, Part{Symbol: p.Name, Start: hex(p.Low), End: hex(p.High), Self: exactnum.Value(p.Self, m)})
	}
	if first, last, self := l.HotLoop(); self > 0 {
		a.HotLoop = &Loop{First: hex(l.Insts[first].Addr), Last: hex(l.Insts[last].Addr), Self: exactnum.Value(self, m)}
	}
	s := &Source{File: rec.Source.Path, Source: f.File, Event: e.Name, Metric: m.Name, Unit: m.Unit, Total: exactnum.Value(w.Sum, m), Self: exactnum.Value(l.Self, m), Lines: []Line{}, Assembly: a}
	v := evidence.Of(rec, q)
	v.Tab, v.Function = "source", &recording.FuncName{Name: f.Name, Module: f.Module}
	s.Address = evidence.Address(v, rec)
	for _, i := range l.Ranked() {
		in := &l.Insts[i]
		x := Instruction{Address: hex(in.Addr), Part: in.Part, Offset: int64(l.Offset(i)), Text: in.Text, Kind: kinds[in.Kind],
			Self: exactnum.Value(in.Self, m), Total: exactnum.Value(in.Total, m), Count: in.Count, Share: evidence.Share(in.Self, w.Sum),
			File: in.File, Line: in.Line, Inlined: in.Inlined, index: i}
		if in.Target != 0 {
			x.Target = hex(in.Target)
		}
		s.Instructions = append(s.Instructions, x)
	}
	return s
}

func hex(n uint64) string { return fmt.Sprintf("%#x", n) }

// code formats the first n instructions in the order of their addresses. source returns
// the text of a source line.
func (s *Source) code(l *assembly.Listing, m *recording.Metric, sum int64, n int, source func(file string, line int) string) string {
	var b strings.Builder
	a := s.Assembly
	fmt.Fprintf(&b, "%s: %s of %s %s\n", safetext.Short(a.Function), safetext.Short(s.Metric), safetext.Short(s.File), units.Value(sum, m))
	check := l.IDKind + " verified"
	if !a.Verified {
		check = a.Doubt
	}
	fmt.Fprintf(&b, "%s, %s, %s\n", safetext.Text(a.Binary), a.Machine, check)
	if a.Skid != "" {
		fmt.Fprintf(&b, "%s\n", a.Skid)
	}
	if first, last, self := l.HotLoop(); self > 0 {
		fmt.Fprintf(&b, "hot loop: +%#x to +%#x, %s of the instructions' self cost\n", l.Offset(first), l.Offset(last), units.Percent(self, l.Self))
	}
	var shown []int
	for i := range s.Instructions[:n] {
		shown = append(shown, s.Instructions[i].index)
	}
	slices.Sort(shown)
	last, file, line := -1, "", 0
	for _, i := range shown {
		in := &l.Insts[i]
		p := &l.Parts[in.Part]
		switch {
		case last < 0 || l.Insts[last].Part != in.Part:
			fmt.Fprintf(&b, "\n%12s %8s %8s  %s\n", "self", "", "offset", safetext.Short(p.Title()))
			file, line = "", 0
			if i > p.First {
				b.WriteString("                                …\n")
			}
		case i != last+1:
			b.WriteString("                                …\n")
		}
		if in.Line > 0 && (in.File != file || in.Line != line) {
			file, line = in.File, in.Line
			fmt.Fprintf(&b, "%32s%s:%d  %s\n", "", safetext.Short(filepath.Base(file)), line, safetext.Short(strings.TrimSpace(source(file, line))))
		}
		last = i
		value, share := "", ""
		if in.Self != 0 {
			value, share = units.Value(in.Self, m), units.Percent(in.Self, sum)
		}
		fmt.Fprintf(&b, "%12s %8s %8s  %s\n", value, share, fmt.Sprintf("+%#x", l.Offset(i)), safetext.Short(in.Text))
	}
	if l.PartsLeft > 0 {
		fmt.Fprintf(&b, "\n%s not shown\n", units.Plural(int64(l.PartsLeft), "more piece of code"))
	}
	return b.String()
}

// lines returns a function that returns the text of source lines, "" if it is not
// available.
func (o *options) lines(rec *recording.Recording) func(file string, line int) string {
	texts := map[string][]string{}
	return func(file string, line int) string {
		text, ok := texts[file]
		if !ok {
			s := &Source{File: rec.Source.Path, Source: file}
			text, _ = s.read(rec, o.folders())
			texts[file] = text
		}
		if line > 0 && line <= len(text) {
			return text[line-1]
		}
		return ""
	}
}
