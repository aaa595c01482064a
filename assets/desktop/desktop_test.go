package desktop

import (
	"bytes"
	"encoding/xml"
	"image/png"
	"io"
	"slices"
	"strings"
	"testing"
)

// mimeInfo holds the parts of a shared-mime-info file that these tests read.
type mimeInfo struct {
	Types []struct {
		Type  string `xml:"type,attr"`
		Globs []struct {
			Pattern string `xml:"pattern,attr"`
		} `xml:"glob"`
		Icon struct {
			Name string `xml:"name,attr"`
		} `xml:"generic-icon"`
	} `xml:"mime-type"`
}

// TestTypesAgree checks that the constants, the MIME file, the desktop entry and the AppStream
// metadata list the same types.
func TestTypesAgree(t *testing.T) {
	var info mimeInfo
	if err := xml.Unmarshal(read("types.xml"), &info); err != nil {
		t.Fatal(err)
	}
	var defined []string
	for _, m := range info.Types {
		defined = append(defined, m.Type)
		if len(m.Globs) != 1 {
			t.Errorf("%s has %d patterns", m.Type, len(m.Globs))
		}
		if m.Icon.Name != documentIcon {
			t.Errorf("%s has the icon %q, which is not installed", m.Type, m.Icon.Name)
		}
	}
	same(t, "types.xml", defined)

	_, list, _ := strings.Cut(string(read("entry.desktop")), "\nMimeType=")
	list, _, _ = strings.Cut(list, ";\n")
	same(t, "entry.desktop", strings.Split(list, ";"))

	var component struct {
		ID     string   `xml:"id"`
		Launch string   `xml:"launchable"`
		Types  []string `xml:"provides>mediatype"`
	}
	if err := xml.Unmarshal(read("metainfo.xml"), &component); err != nil {
		t.Fatal(err)
	}
	same(t, "metainfo.xml", component.Types)
	if component.ID != ID || component.Launch != ID+".desktop" {
		t.Errorf("metainfo.xml is about %q, started by %q", component.ID, component.Launch)
	}
	for _, line := range []string{"\nIcon=" + ID + "\n", "\nStartupWMClass=" + ID + "\n"} {
		if !bytes.Contains(read("entry.desktop"), []byte(line)) {
			t.Errorf("entry.desktop lacks %q", line)
		}
	}
}

func same(t *testing.T, name string, types []string) {
	t.Helper()
	a, b := slices.Sorted(slices.Values(types)), slices.Sorted(slices.Values(OwnTypes))
	if !slices.Equal(a, b) {
		t.Errorf("%s has the types %v, want %v", name, a, b)
	}
}

func TestFiles(t *testing.T) {
	all, err := Files("ashlar")
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, f := range all {
		if seen[f.Path] || len(f.Data) == 0 || strings.HasPrefix(f.Path, "/") {
			t.Errorf("the file %q is listed twice, empty or absolute", f.Path)
		}
		seen[f.Path] = true
		if strings.HasSuffix(f.Path, ".png") {
			c, err := png.DecodeConfig(bytes.NewReader(f.Data))
			if err != nil || !strings.Contains(f.Path, "/"+itoa(c.Width)+"x"+itoa(c.Height)+"/") {
				t.Errorf("%s is %d by %d pixels (%v)", f.Path, c.Width, c.Height, err)
			}
		}
	}
	if len(all) < 5+2*len(sizes) {
		t.Errorf("there are %d files", len(all))
	}
}

func itoa(n int) string {
	s := ""
	for ; n > 0; n /= 10 {
		s = string(rune('0'+n%10)) + s
	}
	return s
}

func TestEntryQuotes(t *testing.T) {
	for program, want := range map[string]string{
		"ashlar":            "ashlar",
		"/opt/a/ashlar":     "/opt/a/ashlar",
		"/opt/my apps/it":   `"/opt/my apps/it"`,
		`/a"b/ashlar`:       `"/a\\"b/ashlar"`,
		"/home/$x/ashlar":   `"/home/\\$x/ashlar"`,
		`/back\slash/prog`:  `"/back\\\\slash/prog"`,
		"/home/ü ber/ash`x": "\"/home/ü ber/ash\\\\`x\"",
	} {
		b, err := Entry(program)
		if err != nil {
			t.Error(err)
			continue
		}
		if !strings.Contains(string(b), "\nExec="+want+" --from-desktop -- %F\n") {
			t.Errorf("%s is not started by Exec=%s:\n%s", program, want, b)
		}
		if strings.Contains(string(b), "TryExec=ashlar\n") != (program == "ashlar") {
			t.Errorf("TryExec does not name %s", program)
		}
	}
	for _, bad := range []string{"", "/a\nb", "/a\x00b", "/50%/ashlar"} {
		if _, err := Entry(bad); err == nil {
			t.Errorf("an entry for %q was made", bad)
		}
	}
}

// TestPlistHasForm checks the property list against its DTD: a dict alternates keys and
// values, an array holds only values.
func TestPlistHasForm(t *testing.T) {
	d := xml.NewDecoder(bytes.NewReader(Plist("1.2.3")))
	top := map[string]any{}
	for {
		tok, err := d.Token()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if e, ok := tok.(xml.StartElement); ok && e.Name.Local == "dict" {
			top = value(t, d, e).(map[string]any)
		}
	}
	if top["CFBundleIdentifier"] != ID || top["CFBundleShortVersionString"] != "1.2.3" || top["CFBundleExecutable"] != "ashlar" {
		t.Errorf("the property list says %v", top)
	}
	declared := map[string]bool{"public.json": true, "org.gnu.gnu-zip-archive": true}
	for _, key := range []string{"UTExportedTypeDeclarations", "UTImportedTypeDeclarations"} {
		for _, d := range top[key].([]any) {
			declared[d.(map[string]any)["UTTypeIdentifier"].(string)] = true
		}
	}
	for _, d := range top["CFBundleDocumentTypes"].([]any) {
		for _, id := range d.(map[string]any)["LSItemContentTypes"].([]any) {
			if !declared[id.(string)] {
				t.Errorf("documents of the type %s are opened, but it is declared nowhere", id)
			}
		}
	}
}

// value reads an element of a property list.
func value(t *testing.T, d *xml.Decoder, e xml.StartElement) any {
	t.Helper()
	var list []any
	dict, key := map[string]any{}, ""
	text := ""
	for {
		tok, err := d.Token()
		if err != nil {
			t.Fatal(err)
		}
		switch tok := tok.(type) {
		case xml.CharData:
			text += string(tok)
		case xml.StartElement:
			v := value(t, d, tok)
			switch {
			case e.Name.Local == "array":
				list = append(list, v)
			case e.Name.Local != "dict":
				t.Fatalf("a %s holds a %s", e.Name.Local, tok.Name.Local)
			case (tok.Name.Local == "key") != (key == ""):
				t.Fatalf("%s stands where it may not, after the key %q", tok.Name.Local, key)
			case key == "":
				key = v.(string)
			default:
				dict[key], key = v, ""
			}
		case xml.EndElement:
			switch e.Name.Local {
			case "dict":
				if key != "" {
					t.Fatalf("the key %s has no value", key)
				}
				return dict
			case "array":
				return list
			case "true", "false":
				return e.Name.Local == "true"
			case "string", "key":
				return text
			}
			t.Fatalf("there is no element %s in property lists", e.Name.Local)
		}
	}
}

// TestFormatsAreNamed checks that the metadata lists the supported formats.
func TestFormatsAreNamed(t *testing.T) {
	all, err := Files("ashlar")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range all {
		if strings.HasSuffix(f.Path, ".metainfo.xml") && !bytes.Contains(f.Data, []byte("speedscope, ")) {
			t.Errorf("%s does not name the formats:\n%s", f.Path, f.Data)
		}
		if strings.HasSuffix(f.Path, ".metainfo.xml") && bytes.ContainsRune(f.Data, '@') {
			t.Errorf("%s has a mark left", f.Path)
		}
	}
}
