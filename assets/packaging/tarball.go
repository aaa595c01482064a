package main

import (
	_ "embed"
	"fmt"
)

//go:embed install.sh
var installScript []byte

//go:embed uninstall.sh
var uninstallScript []byte

// tarball builds the tar.gz for Linux. The program contains the icons and file types, so
// only scripts are added.
func (r *release) tarball(p *program) ([]byte, error) {
	files := r.papers(p, append(r.manPages("man/", nil),
		file("ashlar", 0o755, p.binary),
		file("install.sh", 0o755, installScript), file("uninstall.sh", 0o755, uninstallScript))...)
	b, err := tarred(r.time, "", under(fmt.Sprintf("ashlar-%s", r.version), files))
	if err != nil {
		return nil, err
	}
	return packed(b), nil
}
