package install

import (
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"ashlar/ingest"
)

// TestEveryEndingIsOffered checks that the registry lists the last extension of every format.
func TestEveryEndingIsOffered(t *testing.T) {
	for _, f := range ingest.Formats {
		for _, e := range f.Extensions {
			if last := filepath.Ext(e); !slices.Contains(ownEndings, last) && !slices.Contains(offeredEndings, last) {
				t.Errorf("%s of %s is not offered", last, f.Name)
			}
		}
	}
}

// fakeHive is a registry in memory: values by key and name. A key without values has an empty
// map.
type fakeHive map[string]map[string]string

func (f fakeHive) key(path string) string { return strings.ToLower(path) }

func (f fakeHive) get(key, name string) (string, bool, error) {
	v, ok := f[f.key(key)][name]
	return v, ok, nil
}

func (f fakeHive) set(key, name, value string) error {
	path := ""
	for _, part := range strings.Split(f.key(key), `\`) {
		path = strings.TrimPrefix(path+`\`+part, `\`)
		if f[path] == nil {
			f[path] = map[string]string{}
		}
	}
	f[path][name] = value
	return nil
}

func (f fakeHive) unset(key, name string) error {
	delete(f[f.key(key)], name)
	return nil
}

func (f fakeHive) drop(key string) error {
	for k := range f {
		if k == f.key(key) || strings.HasPrefix(k, f.key(key)+`\`) {
			delete(f, k)
		}
	}
	return nil
}

func (f fakeHive) dropEmpty(key string) error {
	if len(f[f.key(key)]) > 0 {
		return nil
	}
	for k := range f {
		if strings.HasPrefix(k, f.key(key)+`\`) {
			return nil
		}
	}
	delete(f, f.key(key))
	return nil
}

func (f fakeHive) clone() fakeHive {
	c := fakeHive{}
	for k, v := range f {
		c[k] = maps.Clone(v)
	}
	return c
}

func TestRegistry(t *testing.T) {
	h := fakeHive{}
	_ = h.set(classes+".json", "", "Editor.Json")
	_ = h.set(classes+".spall", "", "Other.Spall")
	_ = h.set(classes+`.gz\OpenWithProgids`, "Packer", "")
	_ = h.set(`Software\Microsoft\Windows\CurrentVersion\Uninstall`, "x", "y")
	was := h.clone()
	const program = `C:\Users\Jo Do\Ashlar\ashlar.exe`
	if lines, _ := registered(h, program, "1.0"); lines[0].OK {
		t.Errorf("nothing is installed, and the check says %v", lines)
	}
	lines, err := register(h, program, "1.0")
	if err != nil || len(lines) != 2 || lines[1].OK || !strings.Contains(lines[1].Text, "Other.Spall") {
		t.Errorf("registering says %v, %v", lines, err)
	}
	for _, c := range []setting{
		{classes + `Ashlar.Recording\shell\open\command`, "", `"C:\Users\Jo Do\Ashlar\ashlar.exe" --from-desktop -- "%1"`},
		{classes + ".spaa", "", "Ashlar.Recording"},
		{classes + ".json", "", "Editor.Json"},
		{classes + ".spall", "", "Other.Spall"},
		{classes + `.spall\OpenWithProgids`, "Ashlar.Recording", ""},
		{classes + `.json\OpenWithProgids`, "Ashlar.Recording", ""},
		{uninstall, "UninstallString", `"C:\Users\Jo Do\Ashlar\ashlar.exe" uninstall`},
	} {
		if v, ok, _ := h.get(c.key, c.name); !ok || v != c.value {
			t.Errorf(`%s "%s" is %q, want %q`, c.key, c.name, v, c.value)
		}
	}
	if _, ok, _ := h.get(classes+".gz", ""); ok {
		t.Error(".gz was taken")
	}
	lines, err = registered(h, program, "1.0")
	wrong := 0
	for _, l := range lines {
		if !l.OK {
			wrong++
		}
	}
	if err != nil || wrong != 1 { // the wrong line is .spall's
		t.Errorf("the check says %v, %v", lines, err)
	}
	if lines, _ := registered(h, `C:\other\ashlar.exe`, "1.0"); lines[0].OK || !strings.Contains(lines[0].Text, "written by another program:") {
		t.Errorf("the check of another program says %v", lines)
	}
	if _, err := unregister(h); err != nil {
		t.Fatal(err)
	}
	if len(h) != len(was) {
		t.Errorf("left in the registry: %v", h)
	}
	for k, v := range was {
		if !maps.Equal(h[k], v) {
			t.Errorf("%s was %v and is %v", k, v, h[k])
		}
	}
	if _, err := unregister(h); err != nil {
		t.Errorf("removing twice: %v", err)
	}
}
