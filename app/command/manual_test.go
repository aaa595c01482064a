package command

import (
	"io/fs"
	"os"
	"regexp"
	"strings"
	"testing"

	"ashlar/app/agent/findings"
	"ashlar/app/core/manual/manualtest"
	"ashlar/assets"
	"ashlar/testdata/rounds"
)

// TestManualCommands checks that every command line in the manual, the README and the examples
// of the commands uses existing commands and flags.
func TestManualCommands(t *testing.T) {
	rounds.Unraced(t)
	pages := map[string]string{}
	files, err := fs.Glob(assets.Manual(), "*.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range files {
		text, err := fs.ReadFile(assets.Manual(), name)
		if err != nil {
			t.Fatal(err)
		}
		pages[name] = string(text)
	}
	for _, name := range []string{"README.md", ".github/CONTRIBUTING.md", ".github/SECURITY.md"} {
		text, err := os.ReadFile("../../" + name)
		if err != nil {
			t.Fatal(err)
		}
		pages[name] = string(text)
	}
	for _, c := range append(commands(), windowCommand()) {
		for _, e := range c.Examples {
			pages["help of "+c.Name] += "\n" + e[0] + "\n"
		}
	}
	// Whole lines, after a pipe, or code within a line.
	find := regexp.MustCompile("(?m)^(?:[^`\n]* \\| )?(?:sudo )?ashlar( .*)$|`(?:[^`\n]* )?ashlar( [^`\n]*)`")
	found := 0
	for name, text := range pages {
		for _, m := range find.FindAllStringSubmatch(text, -1) {
			found++
			checkCommandLine(t, name, strings.TrimSpace(m[1]+m[2]))
		}
	}
	if found < 60 {
		t.Errorf("only %d command lines were found", found)
	}
}

// TestManualHasTheCommands checks that the table of commands in the manual matches ashlar
// help.
func TestManualHasTheCommands(t *testing.T) {
	var b strings.Builder
	b.WriteString("| command | task |\n|---|---|\n")
	for _, c := range append([]command{windowCommand()}, commands()...) {
		args := strings.TrimSuffix(strings.TrimSuffix(c.Args, " [flags]"), " [--json]")
		b.WriteString("| `" + strings.ReplaceAll(strings.Join(strings.Fields("ashlar "+c.Name+" "+args), " "), "|", `\|`) + "` | " + c.Line + " |\n")
	}
	manualtest.CheckTable(t, "assets/manual/commands.md", "commands", b.String(), *update)
}

// TestManualHasTheViews: the manual lists what render --view draws.
func TestManualHasTheViews(t *testing.T) {
	code := func(names []string) string { return "`" + strings.Join(names, "`, `") + "`" }
	manualtest.CheckTable(t, "assets/manual/commands.md", "views", "Views of one recording: "+code(Views)+". Of two: "+code(CompareViews)+".\n", *update)
}

// TestManualHasTheCosts checks that the manual says of each rule about costs why healthy
// programs have it.
func TestManualHasTheCosts(t *testing.T) {
	var b strings.Builder
	b.WriteString("| rule | healthy programs that have it |\n|---|---|\n")
	for _, r := range findings.Describe() {
		if r.Kind == findings.Cost {
			b.WriteString("| *" + r.Name + "* | " + r.Healthy + " |\n")
		}
	}
	manualtest.CheckTable(t, "assets/manual/commands.md", "costs", b.String(), *update)
}

func checkCommandLine(t *testing.T, page, line string) {
	t.Helper()
	args := shellWords(line)
	cmd := find(args[0])
	if cmd == nil {
		window := windowCommand()
		cmd = &window
		if regexp.MustCompile(`^[a-z]+$`).MatchString(args[0]) {
			t.Errorf("%s: %s is no command: ashlar %s", page, args[0], line)
		}
	} else {
		args = args[1:]
	}
	flags, _ := cmd.prepare()
	flags.BoolP("help", "h", false, "")
	if err := flags.Parse(args); err != nil {
		t.Errorf("%s: ashlar %s: %v", page, line, err)
	}
	if cmd.Name == "help" && len(args) > 0 && args[0] == strings.ToLower(args[0]) && args[0] != "man" && !helpHas(args[0]) {
		t.Errorf("%s: there is no help on %s", page, args[0])
	}
}

func helpHas(name string) bool {
	for _, t := range topics() {
		if t.name == name {
			return true
		}
	}
	return find(name) != nil
}

// shellWords splits a line into words as a shell would, up to a pipe or a comment.
func shellWords(line string) []string {
	var words []string
	for _, w := range regexp.MustCompile(`'[^']*'|\S+`).FindAllString(line, -1) {
		if w == "|" || w == "#" {
			break
		}
		words = append(words, strings.Trim(w, "'"))
	}
	return words
}
