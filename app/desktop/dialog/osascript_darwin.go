package dialog

import (
	"bytes"
	"context"
	"errors"
	"os/exec"
	"strings"
)

// script opens the system's own dialog. Its arguments are the title, the folder and
// whether several files may be chosen. It prints the chosen paths, one per line, each
// followed by a NUL because names may contain newlines.
const script = `
function run(argv) {
	const app = Application.currentApplication()
	app.includeStandardAdditions = true
	const how = { withPrompt: argv[0], multipleSelectionsAllowed: argv[2] === "true" }
	if (argv[1] !== "") how.defaultLocation = Path(argv[1])
	try {
		return [].concat(app.chooseFile(how)).map(p => p.toString() + "\0").join("")
	} catch (e) {
		if (e.errorNumber === -128) return "" // the user cancelled
		throw e
	}
}`

// Open asks the user for files to open and waits for the answer. The dialog closes when
// ctx ends. Open returns no paths and no error if the user chose none.
func Open(ctx context.Context, r Request) ([]string, error) {
	several := "false"
	if r.Multiple {
		several = "true"
	}
	cmd := exec.CommandContext(ctx, "osascript", "-l", "JavaScript", "-e", script, r.Title, r.Folder, several)
	var said bytes.Buffer
	cmd.Stderr = &said
	out, err := cmd.Output()
	if err != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if errors.Is(err, exec.ErrNotFound) {
			return nil, ErrNone
		}
		return nil, errors.New("the file dialog failed: " + strings.TrimSpace(said.String()))
	}
	var paths []string
	for _, p := range strings.Split(string(out), "\x00") {
		if p = strings.TrimSuffix(p, "\n"); p != "" {
			paths = append(paths, p)
		}
	}
	return paths, nil
}
