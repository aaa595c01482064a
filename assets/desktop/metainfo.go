package desktop

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"io/fs"
	"regexp"
	"strings"

	"ashlar/assets"
	"ashlar/assets/project"
	"ashlar/ingest"
)

// changelog returns the manual's list of changes.
func changelog() []byte {
	b, err := fs.ReadFile(assets.Manual(), "changelog.md")
	if err != nil {
		panic(err) // cannot happen: the file is embedded
	}
	return b
}

// metainfo returns the AppStream metadata. What is not known before the first release, the
// addresses and the releases, is left out.
func metainfo(releases []Release) []byte {
	links := ""
	if home := project.HomePage; home != "" {
		links = fmt.Sprintf("  <url type=\"homepage\">%s</url>\n", text(home))
		if len(releases) > 0 {
			links += fmt.Sprintf("  <screenshots>\n    <screenshot type=\"default\">\n      <caption>A timeline above, a flamegraph below</caption>\n      <image>%s</image>\n    </screenshot>\n  </screenshots>\n",
				text(project.Download(releases[0].Version, "ashlar.png")))
		}
	}
	if len(releases) > 0 {
		links += "  <releases>\n"
		for _, r := range releases {
			links += fmt.Sprintf("    <release version=\"%s\" date=\"%s\"/>\n", r.Version, r.Date)
		}
		links += "  </releases>\n"
	}
	b := read("metainfo.xml")
	for mark, value := range map[string]string{"@AUTHORS@": text(project.Authors), "@LICENCE@": text(project.Licence), "@FORMATS@": ingest.List(), "@LINKS@\n": links} {
		b = bytes.ReplaceAll(b, []byte(mark), []byte(value))
	}
	return b
}

// text escapes a string for XML.
func text(s string) string {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(s)) // memory does not fail
	return b.String()
}

// Release is a version with the day on which it came out, as in 2026-01-02.
type Release struct{ Version, Date string }

var releaseHeading = regexp.MustCompile(`(?m)^## v?(\d+\.\d+\.\d+)[ ,(]+(\d{4}-\d\d-\d\d)\)?\s*$`)

// Releases returns the releases in a changelog, the latest first. Their headings are
// "## 1.2.3, 2026-01-02".
func Releases(changelog []byte) (all []Release) {
	for _, m := range releaseHeading.FindAllSubmatch(changelog, -1) {
		all = append(all, Release{string(m[1]), string(m[2])})
	}
	return all
}
