package command

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"

	"ashlar/app/agent/budget"
	"ashlar/app/command/jsondoc"
)

// answer is the type of a command's --json output.
type answer struct {
	command string
	of      reflect.Type
}

// answers lists the output types of all commands.
func answers() (all []answer) {
	for _, c := range commands() {
		if c.Answer != nil {
			all = append(all, answer{c.Name, reflect.TypeOf(c.Answer)})
		}
		if c.Name == "check" {
			all = append(all, answer{"check --rules", reflect.TypeFor[[]checkRule]()})
		}
	}
	return all
}

// jsonText describes the JSON output of all commands.
func jsonText(width int) string {
	var b strings.Builder
	b.WriteString("The --json output of each command: the names, types and meanings of its fields.\nNumbers are exact; null means that the value is unknown. For JSON schemas, see\nashlar help json COMMAND, or ashlar help json all.\n\nFields that any command may add\n")
	jsondoc.Write(&b, jsondoc.Schema(reflect.TypeFor[budget.Cut]()), width)
	for _, a := range answers() {
		fmt.Fprintf(&b, "\nashlar %s --json\n", a.command)
		jsondoc.Write(&b, jsondoc.Schema(a.of), width)
	}
	return b.String()
}

// jsonSchema returns the schema of a command's output, or the schemas of all commands.
func jsonSchema(command string) (string, error) {
	schemas := map[string]any{}
	for _, a := range answers() {
		schemas[a.command] = jsondoc.Answer(a.of)
	}
	var of any = schemas
	if command != "all" {
		if of = schemas[command]; of == nil {
			return "", misuse("command %q has no JSON output; ashlar help json lists the commands that do", command)
		}
	}
	b, err := json.MarshalIndent(of, "", "  ")
	return string(b) + "\n", err
}
