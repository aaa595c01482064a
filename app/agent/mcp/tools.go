package mcp

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/spf13/pflag"

	"ashlar/app/agent/budget"
	"ashlar/app/core/subcommand"
)

// tool is a command that programs may call.
type tool struct {
	name, command string
	what          string
	// args are the command's positional arguments, in order; the first need of them are
	// required.
	args []arg
	need int
	// without lists flags of the command that the tool does not offer, besides those in
	// notForPrograms.
	without []string
	// acts is true for tools with an effect that the user sees.
	acts bool
}

type arg struct{ name, what string }

const aFile = "a recording: a file or URL, as on the command line"

// tools lists all tools.
var tools = []tool{
	{name: "open", command: "info", args: []arg{{"file", aFile}}, need: 1, what: "Open a recording and list its events, metrics, threads, labels, counts and warnings. It stays open, so later calls are fast."},
	{name: "overview", command: "overview", args: []arg{{"file", aFile}}, need: 1, what: "Summary of a recording: format, quality, what is unusual and what costs most, with evidence and confidence, and the next commands."},
	{name: "top", command: "top", args: []arg{{"file", aFile}}, need: 1, what: "Costs in descending order by function, module, file, line, thread, state or label, as a table or a call tree; optionally for a time range, threads or calls, and with transforms of stacks."},
	{name: "calls", command: "calls", args: []arg{{"file", aFile}, {"calls", "the calls: RunTask, RunTask[60ms..320ms], Request[tenant=7], RunTask[slowest 25]; the manual page commands lists all forms"}}, need: 2, what: "Single calls of a trace, with durations, arguments, percentiles and modes."},
	{name: "compare", command: "diff", args: []arg{{"a", "the baseline (A)"}, {"b", "the candidate (B); omit it to compare parts of one file with calls-b, slow, range-b and so on"}}, need: 1, without: []string{"fail-if"}, what: "Differences in cost between the recordings a and b, with the confidence of each and a verdict."},
	{name: "source", command: "source", args: []arg{{"file", aFile}, {"of", "a function, or a source file as the recording names it"}}, need: 2, what: "The cost of each line of a source file, in descending order, with its text if the file is available."},
	{name: "query", command: "sql", args: []arg{{"file", aFile}, {"sql", "a SELECT statement in SQLite's dialect, over the tables spans, samples, stacks, calls, functions, threads, states and others; SELECT table_name, name, type, unit, description FROM columns lists all columns. Times are integers in picoseconds"}}, need: 2, without: []string{"rows", "query"}, what: "Any question about a recording, in SQL: the columns and rows of the result. Reads only; time and memory are bounded."},
	{name: "check", command: "check", args: []arg{{"file", aFile}}, need: 1, without: []string{"rules"}, what: "Problems of a recording: broken rules by line, or warnings from reading it."},
	{name: "show", command: "show", acts: true, args: []arg{{"address", "the address to show (ashlar:1?file=…), such as that of a finding"}}, need: 1, what: "Show an address in the user's open window, with a note in its status line. Fails unless the user shares the session."},
}

// notForPrograms lists flags for the form of the output, and for the place where data is
// kept.
var notForPrograms = map[string]bool{"json": true, "csv": true, "no-cache": true, "help": true, "budget": true, "session": true}

// usual is the default budget, in tokens.
const usual = 2000

// isFor reports whether the tool offers a flag of its command.
func (t *tool) isFor(f *pflag.Flag) bool {
	taken := slices.ContainsFunc(t.args, func(a arg) bool { return a.name == f.Name })
	return !taken && !slices.Contains(t.without, f.Name) && !notForPrograms[f.Name]
}

// input returns the schema of a tool's arguments: the command's positional arguments, and
// its flags by name.
func (t *tool) input(cmd *subcommand.Info) *jsonschema.Schema {
	s := &jsonschema.Schema{Type: "object", Properties: map[string]*jsonschema.Schema{}, AdditionalProperties: &jsonschema.Schema{Not: &jsonschema.Schema{}}}
	add := func(name string, x *jsonschema.Schema) {
		s.Properties[name] = x
		s.PropertyOrder = append(s.PropertyOrder, name)
	}
	for i, a := range t.args {
		add(a.name, &jsonschema.Schema{Type: "string", Description: a.what})
		if i < t.need {
			s.Required = append(s.Required, a.name)
		}
	}
	least := float64(budget.Least)
	add("budget", &jsonschema.Schema{Type: "integer", Minimum: &least, Description: fmt.Sprintf("limit of the answer in tokens of four bytes (default %d); left_out lists the omissions", usual)})
	cmd.Flags.VisitAll(func(f *pflag.Flag) {
		if !t.isFor(f) {
			return
		}
		_, text := pflag.UnquoteUsage(f)
		x := &jsonschema.Schema{Description: text}
		switch f.Value.Type() {
		case "bool":
			x.Type = "boolean"
		case "int":
			x.Type = "integer"
		case "float64":
			x.Type = "number"
		case "stringArray":
			x.Type, x.Items = "array", &jsonschema.Schema{Type: "string"}
		case "string":
			x.Type = "string"
		default: // a flag that may be repeated
			x.Types, x.Items = []string{"string", "array"}, &jsonschema.Schema{Type: "string"}
		}
		add(f.Name, x)
	})
	return s
}

// words returns the command line for a tool's arguments, which match its schema. Flags
// keep the order of the arguments, because transforms apply in order.
func (t *tool) words(arguments json.RawMessage, tokens int) (words []string, err error) {
	words = []string{t.command, "--json", "--budget=" + strconv.Itoa(tokens)}
	given := map[string]string{}
	seen := map[string]bool{}
	d := json.NewDecoder(bytes.NewReader(arguments))
	d.UseNumber()
	if _, err := d.Token(); err != nil {
		return nil, err
	}
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return nil, err
		}
		name, _ := key.(string)
		var v any
		if err := d.Decode(&v); err != nil {
			return nil, err
		}
		if seen[name] {
			return nil, fmt.Errorf("the argument %q is given twice", name)
		}
		if seen[name] = true; name == "budget" {
			continue
		}
		positional := false
		for _, a := range t.args {
			positional = positional || a.name == name
		}
		if positional {
			given[name], _ = v.(string)
			continue
		}
		words = append(words, flagWords(name, v)...)
	}
	words = append(words, "--")
	for i, a := range t.args {
		word, ok := given[a.name]
		switch {
		case !ok && i >= t.need:
			continue
		case word == "":
			return nil, fmt.Errorf("%s is empty", a.name)
		case word == "-":
			return nil, fmt.Errorf("%s: standard input is not available; name a file", a.name)
		}
		words = append(words, word)
	}
	return words, nil
}

// flagWords returns a flag with its value, joined so that the value cannot be taken for
// another word.
func flagWords(name string, v any) (words []string) {
	switch v := v.(type) {
	case bool:
		if v {
			words = []string{"--" + name}
		}
	case []any:
		for _, x := range v {
			words = append(words, flagWords(name, x)...)
		}
	default:
		words = []string{"--" + name + "=" + strings.TrimSpace(fmt.Sprint(v))}
	}
	return words
}

// tokens returns the budget in the arguments, or the usual budget.
func tokens(arguments json.RawMessage) int {
	var asked struct{ Budget *json.Number }
	if json.Unmarshal(arguments, &asked) == nil && asked.Budget != nil {
		if n, err := asked.Budget.Int64(); err == nil && n >= budget.Least {
			return int(min(n, 1<<30))
		}
	}
	return usual
}
