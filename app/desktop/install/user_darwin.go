package install

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// lsregister registers a bundle with macOS before the Finder sees it.
const lsregister = "/System/Library/Frameworks/CoreServices.framework/Frameworks/LaunchServices.framework/Support/lsregister"

// bundle returns the .app folder that contains a program.
func bundle(program string) (string, error) {
	if real, err := filepath.EvalSymlinks(program); err == nil {
		program = real
	}
	dir, _, found := strings.Cut(program, ".app/Contents/MacOS/")
	if !found {
		return "", errors.New(program + " is not in a bundle; on macOS files are opened by Ashlar.app, which make dist builds")
	}
	return dir + ".app", nil
}

func launchServices(program, flag string) ([]Line, error) {
	app, err := bundle(program)
	if err != nil {
		return nil, err
	}
	if out, err := exec.Command(lsregister, flag, app).CombinedOutput(); err != nil {
		return nil, fmt.Errorf("lsregister could not register %s: %w: %s", app, err, strings.TrimSpace(string(out)))
	}
	return []Line{ok("%s", app)}, nil
}

// User registers a program's bundle with the Finder.
func User(program string) ([]Line, error) { return launchServices(program, "-f") }

// RemoveUser undoes User. After that, deleting the bundle removes the program.
func RemoveUser() ([]Line, error) {
	program, err := os.Executable()
	if err != nil {
		return nil, err
	}
	return launchServices(program, "-u")
}

// CheckUser checks whether a program is in a bundle that the Finder can find.
func CheckUser(program string) ([]Line, error) {
	app, err := bundle(program)
	if err != nil {
		return []Line{lacks("%v", err)}, nil
	}
	if _, err := os.Stat(filepath.Join(app, "Contents/Info.plist")); err != nil {
		return []Line{lacks("missing: %v", err)}, nil
	}
	return []Line{ok("%s", app)}, nil
}
