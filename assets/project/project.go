// Package project holds what packages and program say about the project. Its owner fills in
// the empty values before the first release; until then packages leave them out, and no
// release can be built. The module's path is in go.mod: .ci/rename changes it everywhere.
package project

const (
	Name    = "Ashlar"
	Summary = "Viewer for recorded runs of programs"
	Authors = "The Ashlar authors" // as in LICENSE
	Licence = "MIT"                // the SPDX identifier
)

var (
	// Maintainer answers for the packages: "Ann Example <ann@example.org>". While it is
	// empty, packages name the committer of the commit that they are built from.
	Maintainer = ""
	// HomePage is the address of the repository: "https://example.org/ann/ashlar". The
	// files of a release are in releases/download/vVERSION below it, as on GitHub and
	// Forgejo.
	HomePage = ""
)

// Download returns the address of a file of a release, "" without a home page.
func Download(version, file string) string {
	if HomePage == "" {
		return ""
	}
	return HomePage + "/releases/download/v" + version + "/" + file
}
