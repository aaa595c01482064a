package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"

	"ashlar/assets/project"
)

// released matches the version of a release, such as 1.2.3.
var released = regexp.MustCompile(`^[1-9]\d*\.\d+\.\d+$|^0\.(?:[1-9]\d*\.\d+|0\.[1-9]\d*)$`)

// complete checks that a release says who answers for it. Other builds may leave it out.
func (r *release) complete() error {
	if !released.MatchString(r.version) {
		return nil
	}
	module, err := r.goSays("list", "-m")
	if err != nil {
		return err
	}
	var lacks []string
	if project.Maintainer == "" {
		lacks = append(lacks, "fill in Maintainer in assets/project/project.go")
	}
	if project.HomePage == "" {
		lacks = append(lacks, "fill in HomePage in assets/project/project.go")
	}
	if host, _, _ := strings.Cut(module, "/"); !strings.Contains(host, ".") {
		lacks = append(lacks, "give the module the path of its repository with .ci/rename")
	}
	if len(lacks) > 0 {
		return fmt.Errorf("version %s would be a release: before the first one, %s", r.version, strings.Join(lacks, ", "))
	}
	return nil
}

// maintainer returns the name and mail address of who answers for a package. Until the
// project has an owner, that is the committer of the commit it is built from.
func (r *release) maintainer() (string, error) {
	if project.Maintainer != "" {
		return project.Maintainer, nil
	}
	if name, mail := os.Getenv("DEBFULLNAME"), os.Getenv("DEBEMAIL"); name != "" && mail != "" {
		return name + " <" + mail + ">", nil
	}
	if _, err := os.Stat(filepath.Join(r.root, ".git")); err == nil {
		cmd := exec.Command("git", "log", "-1", "--format=%cn <%ce>")
		cmd.Dir = r.root
		if out, err := cmd.Output(); err == nil {
			return strings.TrimSpace(string(out)), nil
		}
	}
	return "", errors.New("nobody is named who maintains the package: set DEBFULLNAME and DEBEMAIL to your name and mail address, or fill in assets/project/project.go")
}
