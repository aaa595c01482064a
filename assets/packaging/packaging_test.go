package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"crypto/md5"
	"debug/pe"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"image/png"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tc-hib/winres"

	"ashlar/app/command"
	"ashlar/assets/desktop"
)

var testTime = time.Unix(1763683200, 0).UTC()

// fake returns a release whose program is the system's shell, because a small file is fast to
// pack many times.
func fake(t *testing.T) (*release, *program) {
	t.Helper()
	root, err := moduleRoot()
	if err != nil {
		t.Fatal(err)
	}
	shell, err := exec.LookPath("sh")
	if err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(shell)
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("DEBFULLNAME", "Bob") // a copy without git has no other maintainer
	t.Setenv("DEBEMAIL", "bob@example.org")
	r := &release{version: "1.2.3-5-gabc", time: testTime, root: root}
	info := &debug.BuildInfo{GoVersion: "go1.26.8", Deps: []*debug.Module{
		{Path: "gioui.org", Version: "v0.10.3", Sum: "h1:x="},
		{Path: "example.org/old", Version: "v1.0.0", Replace: &debug.Module{Path: "example.org/A!b", Version: "v2.0.0+incompatible"}},
	}}
	p := &program{os: "linux", arch: "amd64", binary: b, info: info, notices: []byte("notices\n"),
		licences: map[string]string{"std": "BSD-3-Clause", "gioui.org": "Unlicense OR MIT", "example.org/A!b": "MIT"}}
	if p.sbom, err = sbom(p, r.version); err != nil {
		t.Fatal(err)
	}
	return r, p
}

// twice calls make repeatedly and fails unless it always returns the same bytes.
func twice(t *testing.T, what string, make func() ([]byte, error)) []byte {
	t.Helper()
	a, err := make()
	if err != nil {
		t.Fatalf("%s: %v", what, err)
	}
	for range 4 { // repeat, because maps have a random order
		b, err := make()
		if err != nil || !bytes.Equal(a, b) {
			t.Fatalf("%s comes out differently the second time (%v)", what, err)
		}
	}
	return a
}

// untar reads a tar.gz and returns headers and contents by name.
func untar(t *testing.T, b []byte) (heads map[string]*tar.Header, content map[string][]byte) {
	t.Helper()
	z, err := gzip.NewReader(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	heads, content = map[string]*tar.Header{}, map[string][]byte{}
	for r := tar.NewReader(z); ; {
		h, err := r.Next()
		if err == io.EOF {
			return heads, content
		}
		if err != nil {
			t.Fatal(err)
		}
		if !h.ModTime.Equal(testTime) || h.Uid != 0 || h.Gid != 0 {
			t.Errorf("%s is of %v and belongs to %d:%d", h.Name, h.ModTime, h.Uid, h.Gid)
		}
		heads[h.Name] = h
		if content[h.Name], err = io.ReadAll(r); err != nil {
			t.Fatal(err)
		}
	}
}

func TestTarball(t *testing.T) {
	r, p := fake(t)
	b := twice(t, "the tar.gz", func() ([]byte, error) { return r.tarball(p) })
	heads, content := untar(t, b)
	for name, mode := range map[string]int64{"ashlar": 0o755, "install.sh": 0o755, "uninstall.sh": 0o755, "README.md": 0o644, "LICENSE": 0o644, "NOTICES": 0o644} {
		h := heads["ashlar-1.2.3-5-gabc/"+name]
		if h == nil || h.Mode != mode {
			t.Errorf("%s is %+v", name, h)
		}
	}
	if !bytes.Equal(content["ashlar-1.2.3-5-gabc/ashlar"], p.binary) {
		t.Error("the program in the tar.gz is another")
	}
}

// TestInstallScripts runs the scripts in a new home with a script in place of the program.
func TestInstallScripts(t *testing.T) {
	dir, home := filepath.Join(t.TempDir(), "un packed"), filepath.Join(t.TempDir(), "ho me")
	for _, d := range []string{dir, home} {
		if err := os.Mkdir(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for name, b := range map[string][]byte{
		"install.sh": installScript, "uninstall.sh": uninstallScript,
		"ashlar": []byte("#!/bin/sh\necho \"$0 $*\" >> \"$HOME/ran\"\n"),
	} {
		if err := os.WriteFile(filepath.Join(dir, name), b, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	run := func(script string, args ...string) string {
		t.Helper()
		os.Remove(filepath.Join(home, "ran"))
		cmd := exec.Command(filepath.Join(dir, script), args...)
		cmd.Env = []string{"HOME=" + home, "PATH=/usr/bin:/bin"}
		cmd.Dir = "/"
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%s: %v\n%s", script, err, out)
		}
		b, _ := os.ReadFile(filepath.Join(home, "ran"))
		return string(b)
	}
	installed := filepath.Join(home, ".local/bin/ashlar")
	if got := run("install.sh"); got != installed+" install\n" {
		t.Errorf("install.sh ran %q", got)
	}
	if got := run("install.sh"); got != installed+" install\n" {
		t.Errorf("install.sh over an older one ran %q", got)
	}
	if got := run("uninstall.sh"); got != dir+"/ashlar uninstall\n" {
		t.Errorf("uninstall.sh ran %q", got)
	}
	if _, err := os.Stat(installed); err == nil {
		t.Error("uninstall.sh leaves the program")
	}
	if got := run("install.sh", "--prefix", "/opt/a b"); got != dir+"/ashlar install --prefix /opt/a b\n" {
		t.Errorf("install.sh --prefix ran %q", got)
	}
	if err := exec.Command(filepath.Join(dir, "install.sh"), "--prefix").Run(); err == nil {
		t.Error("install.sh takes --prefix without a folder")
	}
}

// unar reads an ar archive and returns the contents by name.
func unar(t *testing.T, b []byte) map[string][]byte {
	t.Helper()
	rest, ok := bytes.CutPrefix(b, []byte("!<arch>\n"))
	if !ok {
		t.Fatal("it is not an archive of ar")
	}
	files := map[string][]byte{}
	for len(rest) > 0 {
		var name, end string
		var at int64
		var uid, gid, mode, size int
		if _, err := fmt.Sscanf(string(rest[:60]), "%s %d %d %d %o %d%s", &name, &at, &uid, &gid, &mode, &size, &end); err != nil || end != "`" || at != testTime.Unix() {
			t.Fatalf("the head %q: %v", rest[:60], err)
		}
		files[name] = rest[60 : 60+size]
		rest = rest[60+size+size%2:]
	}
	return files
}

func TestDeb(t *testing.T) {
	r, p := fake(t)
	shared, err := desktop.Files("ashlar")
	if err != nil {
		t.Fatal(err)
	}
	deb := twice(t, "the .deb", func() ([]byte, error) { return r.deb(p, p, shared) })
	parts := unar(t, deb)
	if string(parts["debian-binary"]) != "2.0\n" {
		t.Errorf("debian-binary is %q", parts["debian-binary"])
	}
	_, control := untar(t, parts["control.tar.gz"])
	heads, data := untar(t, parts["data.tar.gz"])
	sums := strings.Split(strings.TrimSpace(string(control["./md5sums"])), "\n")
	files := 0
	for name, h := range heads {
		if h.Typeflag == tar.TypeReg {
			files++
		}
		if h.Typeflag == tar.TypeReg && !slices.Contains(sums, fmt.Sprintf("%x  %s", md5.Sum(data[name]), strings.TrimPrefix(name, "./"))) {
			t.Errorf("md5sums does not have %s as it is", name)
		}
	}
	if files != len(sums) || files != len(shared)+10+len(command.ManPages("")) {
		t.Errorf("there are %d files, %d sums, and %d files of the desktop", files, len(sums), len(shared))
	}
	if h := heads["./usr/bin/ashlar"]; h == nil || h.Mode != 0o755 {
		t.Errorf("the program is %+v", h)
	}
	for _, want := range []string{"\nVersion: 1.2.3+5.gabc\n", "\nArchitecture: amd64\n", "\nDepends: libc6 (>= ", "\nRecommends: libegl1, libgles2, "} {
		if !strings.Contains(string(control["./control"]), want) {
			t.Errorf("control does not say %q:\n%s", want, control["./control"])
		}
	}
	if _, err := exec.LookPath("dpkg-deb"); err != nil {
		t.Skip("dpkg-deb is not here: this is no Debian")
	}
	path := filepath.Join(t.TempDir(), "a.deb")
	if err := os.WriteFile(path, deb, 0o644); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("dpkg-deb", "--field", path, "Package").CombinedOutput(); err != nil || string(out) != "ashlar\n" {
		t.Errorf("dpkg-deb says the package is %q (%v)", out, err)
	}
	out, err := exec.Command("dpkg-deb", "--extract", path, t.TempDir()).CombinedOutput()
	if err != nil {
		t.Errorf("dpkg-deb cannot unpack it: %v\n%s", err, out)
	}
}

func TestApacheIsReferredTo(t *testing.T) {
	r, p := fake(t)
	p.notices = []byte("first\n\n                                 Apache License\n                           Version 2.0, January 2004\n terms\n   END OF TERMS AND CONDITIONS\n\n   APPENDIX: How to\n   and limitations under the License.\n\nsecond\n")
	got := string(r.copyright(p))
	if strings.Contains(got, "terms") || strings.Contains(got, "APPENDIX") || !strings.Contains(got, "first") || !strings.Contains(got, "\nsecond") || !strings.Contains(got, "common-licenses/Apache-2.0") || !strings.Contains(got, "Permission is hereby granted") {
		t.Errorf("the file of licences is\n%s", got)
	}
}

func TestDebVersions(t *testing.T) {
	for v, want := range map[string]string{"1.2.3": "1.2.3", "1.2.3-5-gabc": "1.2.3+5.gabc", "0.0.0-20251121.7-gabc-dirty": "0.0.0+20251121.7.gabc.dirty", "1.2.3-rc1-2-gabc": "1.2.3~rc1.2.gabc"} {
		if got := debVersion(v); got != want {
			t.Errorf("%s is %s for Debian, want %s", v, got, want)
		}
	}
	// In dpkg's order, ascending.
	order := []string{"0.0.0-unknown", "0.0.0-20251121.7-gabc", "0.0.0-20251121.10-gabc", "1.2.3-rc1", "1.2.3", "1.2.3-5-gabc", "1.2.4"}
	if _, err := exec.LookPath("dpkg"); err != nil {
		return
	}
	for i := 1; i < len(order); i++ {
		if err := exec.Command("dpkg", "--compare-versions", debVersion(order[i-1]), "lt", debVersion(order[i])).Run(); err != nil {
			t.Errorf("for dpkg %s does not come before %s", order[i-1], order[i])
		}
	}
}

func TestUnknownLibraryIsNamed(t *testing.T) {
	for lib := range libraries {
		if !regexp.MustCompile(`^lib[\w-]+\.so\.\d+$`).MatchString(lib) {
			t.Errorf("%s is no library's name", lib)
		}
	}
	if _, err := needed([]byte("no program")); err == nil {
		t.Error("the needs of something that is no program were found")
	}
}

func TestSBOM(t *testing.T) {
	_, p := fake(t)
	b := twice(t, "the SBOM", func() ([]byte, error) { return sbom(p, "1.2.3") })
	var got bom
	if err := json.Unmarshal(b, &got); err != nil {
		t.Fatal(err)
	}
	var purls []string
	refs := map[string]bool{"ashlar": true}
	for _, c := range got.Components {
		purls = append(purls, c.PURL)
		refs[c.Ref] = true
	}
	// Go modules as package URLs, see https://github.com/package-url/purl-spec.
	want := []string{"pkg:golang/std@1.26.8", "pkg:golang/example.org/A%21b@v2.0.0%2Bincompatible", "pkg:golang/gioui.org@v0.10.3"}
	if !slices.Equal(purls, want) {
		t.Errorf("the components are %v, want %v", purls, want)
	}
	for _, d := range got.Dependencies {
		for _, u := range append(d.Uses, d.Ref) {
			if !refs[u] {
				t.Errorf("%s is used, and no component", u)
			}
		}
	}
	if !regexp.MustCompile(`^urn:uuid:[0-9a-f]{8}-[0-9a-f]{4}-[1-8][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`).MatchString(got.Serial) {
		t.Errorf("the serial number is %s", got.Serial)
	}
	licences := []licensed{{Licence: &licenceID{"BSD-3-Clause"}}, {Licence: &licenceID{"MIT"}}, {Expression: "Unlicense OR MIT"}}
	for i, c := range got.Components {
		if !reflect.DeepEqual(c.Licences, licences[i:i+1]) {
			t.Errorf("%s has the licences %+v, want %+v", c.Name, c.Licences, licences[i])
		}
	}
	if got.Format != "CycloneDX" || got.Metadata.Component.Hashes[0].Content == "" {
		t.Errorf("the head is %+v", got.Metadata)
	}
}

// TestLicences reads the licences of the program's own modules, which vary most.
func TestLicences(t *testing.T) {
	r, _ := fake(t)
	info := &debug.BuildInfo{GoVersion: runtime.Version()}
	want := map[string]string{
		"std": "BSD-3-Clause", "gioui.org": "Unlicense OR MIT", "github.com/go-text/typesetting": "Unlicense OR BSD-3-Clause",
		"github.com/klauspost/compress": "Apache-2.0 AND BSD-3-Clause AND MIT", "github.com/godbus/dbus/v5": "BSD-2-Clause",
		"github.com/Microsoft/go-winio": "MIT", "github.com/ncruces/sort": "MIT-0", "github.com/yuin/goldmark": "MIT", "github.com/jezek/xgb": "BSD-3-Clause", "github.com/google/pprof": "Apache-2.0",
	}
	for path := range want {
		if path != "std" {
			info.Deps = append(info.Deps, &debug.Module{Path: path})
		}
	}
	notices, got, err := r.licences(info, nil)
	if err != nil || !maps.Equal(got, want) {
		t.Errorf("the licences are %v, want %v (%v)", got, want, err)
	}
	if strings.Contains(string(notices), "In its folder") {
		t.Error("a licence of a package that is not used is in the notices")
	}
	// Some packages have another licence than their module.
	used, err := r.folders("./app/ashlar", append(os.Environ(), "GOFLAGS=", "CGO_ENABLED=1"))
	if err != nil {
		t.Fatal(err)
	}
	info.Deps = append(info.Deps, &debug.Module{Path: "eliasnaur.com/font"})
	notices, got, err = r.licences(info, used)
	if err != nil || got["eliasnaur.com/font"] != "Apache-2.0 AND BSD-3-Clause" || got["github.com/go-text/typesetting"] != "(Unlicense OR BSD-3-Clause) AND MIT" {
		t.Errorf("the licences are %v (%v)", got, err)
	}
	for folder, want := range map[string]bool{"roboto/ttfs": true, "harfbuzz": true, "zstd/internal/xxhash": true, "noto": false, "s2/cmd/internal/readahead": false, "xgbgen": false, "font/testdata": false} {
		if strings.Contains(string(notices), "\nIn its folder "+folder+":\n") != want {
			t.Errorf("the notices have the licence of %s: %v, want %v", folder, !want, want)
		}
	}
	if got := licence("You may use this on Sundays."); got != "" {
		t.Errorf("an unknown licence is %s", got)
	}
}

// TestWindowsResources compiles a minimal program for Windows and adds resources to it.
func TestWindowsResources(t *testing.T) {
	dir := t.TempDir()
	source, exe := filepath.Join(dir, "main.go"), filepath.Join(dir, "a.exe")
	if err := os.WriteFile(source, []byte("package main\n\nfunc main() {}\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(goTool(), "build", "-o", exe, source)
	cmd.Env = append(os.Environ(), "GOOS=windows", "GOARCH=amd64", "CGO_ENABLED=0", "GOFLAGS=")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	plain, err := os.ReadFile(exe)
	if err != nil {
		t.Fatal(err)
	}
	got := twice(t, "the program for Windows", func() ([]byte, error) { return withResources(plain, "1.2.3-5-gabc") })
	f, err := pe.NewFile(bytes.NewReader(got))
	if err != nil || f.Section(".rsrc") == nil {
		t.Fatalf("the program has no resources, or is none: %v", err)
	}
	rs, err := winres.LoadFromEXE(bytes.NewReader(got))
	if err != nil {
		t.Fatal(err)
	}
	for _, id := range []winres.ID{appIcon, documentIcon} {
		if icon, err := rs.GetIcon(id); err != nil || icon == nil {
			t.Errorf("icon %d: %v", id, err)
		}
	}
	// The version that Windows shows is UTF-16.
	wide := func(s string) (b []byte) {
		for _, c := range s {
			b = binary.LittleEndian.AppendUint16(b, uint16(c))
		}
		return b
	}
	if !bytes.Contains(got, wide("1.2.3-5-gabc")) {
		t.Error("the version is missing")
	}
	if !bytes.Contains(bytes.ToLower(got), []byte("permonitorv2")) {
		t.Error("the manifest is missing")
	}
	if got := fourParts("1.2.3-5-gabc"); got != [4]uint16{1, 2, 3, 5} {
		t.Errorf("1.2.3-5-gabc is %v", got)
	}
	if got := fourParts("0.0.0-20251121.7-gabc"); got != [4]uint16{} {
		t.Errorf("a version by its day is %v", got)
	}
}

func TestMacBundle(t *testing.T) {
	r, p := fake(t)
	b := twice(t, "the bundle", func() ([]byte, error) { return zipped(r.time, bundle(p.binary, r.version)) })
	z, err := zip.NewReader(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]*zip.File{}
	for _, f := range z.File {
		found[f.Name] = f
	}
	if f := found["Ashlar.app/Contents/MacOS/ashlar"]; f == nil || f.Mode().Perm() != 0o755 {
		t.Errorf("the program is %+v", f)
	}
	plist := string(desktop.Plist(appleVersion(r.version)))
	for _, key := range []string{"CFBundleIconFile", "CFBundleTypeIconFile"} {
		_, rest, _ := strings.Cut(plist, "<key>"+key+"</key>")
		name := regexp.MustCompile(`<string>(.*)</string>`).FindStringSubmatch(rest)[1]
		if found["Ashlar.app/Contents/Resources/"+name] == nil {
			t.Errorf("the plist names the icon %s, which is not there", name)
		}
	}
	if !strings.Contains(plist, "<string>1.2.3</string>") {
		t.Error("the plist does not say the version")
	}

	icon := icns(desktop.AppIcon)
	if string(icon[:4]) != "icns" || int(binary.BigEndian.Uint32(icon[4:])) != len(icon) {
		t.Fatalf("the icons' head is % x, of %d bytes", icon[:8], len(icon))
	}
	n := 0
	for rest := icon[8:]; len(rest) > 0; n++ {
		size := binary.BigEndian.Uint32(rest[4:])
		c, err := png.DecodeConfig(bytes.NewReader(rest[8:size]))
		if err != nil || c.Width != iconTypes[n].size {
			t.Errorf("%s is %d pixels wide: %v", rest[:4], c.Width, err)
		}
		rest = rest[size:]
	}
	if n != len(iconTypes) {
		t.Errorf("there are %d icons", n)
	}
}

func TestCommandsAlone(t *testing.T) {
	r, p := fake(t)
	for system, want := range map[string]string{"linux": "ashlar-cli-1.2.3-5-gabc-linux-amd64.tar.gz", "darwin": "ashlar-cli-1.2.3-5-gabc-macos-amd64.tar.gz", "windows": "ashlar-cli-1.2.3-5-gabc-windows-amd64.zip"} {
		p.os = system
		f, err := r.command(p)
		if err != nil || f.path != want {
			t.Errorf("for %s it is %s: %v", system, f.path, err)
		}
		if same := twice(t, want, func() ([]byte, error) { f, err := r.command(p); return f.data, err }); !bytes.Equal(same, f.data) {
			t.Errorf("%s has other bytes each time", want)
		}
	}
}

// TestClear checks that clear empties only folders written by an earlier run.
func TestClear(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"ashlar-1.tar.gz", sumsName} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := clear(dir); err != nil {
		t.Fatal(err)
	}
	if left, _ := os.ReadDir(dir); len(left) != 0 {
		t.Errorf("left are %v", left)
	}
	if err := os.WriteFile(filepath.Join(dir, "thesis.tex"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "ashlar-1.tar.gz"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := clear(dir); err == nil {
		t.Error("a folder with something else was cleared")
	}
	if left, _ := os.ReadDir(dir); len(left) != 2 {
		t.Errorf("something was removed: %v are left", left)
	}
}
