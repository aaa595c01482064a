package desktop

import (
	"encoding/xml"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"ashlar/assets/project"
)

func TestReleases(t *testing.T) {
	got := Releases([]byte("# Changelog\n\n## Unreleased\n\n- 1.0.0 text\n\n## 1.2.0, 2026-02-03\n\n## 1.1.0 (2026-01-02)\n\n## First version\n"))
	if want := []Release{{"1.2.0", "2026-02-03"}, {"1.1.0", "2026-01-02"}}; !slices.Equal(got, want) {
		t.Errorf("the releases are %v, want %v", got, want)
	}
}

// TestMetainfoOfAnOwner checks the addresses, and asks appstreamcli about the metadata with
// and without them.
func TestMetainfoOfAnOwner(t *testing.T) {
	defer func(home string) { project.HomePage = home }(project.HomePage)
	for _, home := range []string{"", "https://example.org/ann&bob/ashlar"} {
		project.HomePage = home
		b := metainfo([]Release{{"1.2.0", "2026-02-03"}, {"1.1.0", "2026-01-02"}})
		var c struct {
			URL     string `xml:"url"`
			Licence string `xml:"project_license"`
			Authors string `xml:"developer_name"`
			Picture string `xml:"screenshots>screenshot>image"`
		}
		if err := xml.Unmarshal(b, &c); err != nil || c.URL != home || c.Licence != "MIT" || c.Authors != project.Authors {
			t.Errorf("with the home page %q the metadata is %+v (%v)", home, c, err)
		}
		if want := project.Download("1.2.0", "ashlar.png"); c.Picture != want {
			t.Errorf("the picture is %q, want %q", c.Picture, want)
		}
		if _, err := exec.LookPath("appstreamcli"); err != nil {
			continue
		}
		path := filepath.Join(t.TempDir(), ID+".metainfo.xml")
		if err := os.WriteFile(path, b, 0o644); err != nil {
			t.Fatal(err)
		}
		if out, err := exec.Command("appstreamcli", "validate", "--no-net", path).CombinedOutput(); err != nil {
			t.Errorf("appstreamcli: %v\n%s\n%s", err, out, b)
		}
	}
}
