// Command packaging builds the releases: a tar.gz with an install script, a .deb and an .rpm
// for Linux, a zip for Windows, an application bundle on a Mac, and for all of them a list of
// contents and checksums. make dist runs it:
//
//	go run ./assets/packaging -version 1.2.3 -time 1700000000 -o dist
//
// The same source gives the same bytes: files have the time of the commit, no
// owner, and a fixed order.
package main

import (
	"crypto/sha256"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"ashlar/assets/desktop"
)

// release describes the version that is built.
type release struct {
	version string
	time    time.Time // modification time of every file
	root    string    // the module's folder
	out     string
	made    map[string]*program // compiled so far, by path
	// own leaves out the programs for other systems and processors than this one, and
	// compiles with the flags of the tests, which have compiled nearly everything already:
	// all of it with inlining, and nothing position-independent.
	own bool
}

func main() {
	r := release{}
	seconds := flag.Int64("time", 0, "the time of every file, in seconds since 1970")
	flag.StringVar(&r.version, "version", "0.0.0-unknown", "the version")
	flag.StringVar(&r.out, "o", "dist", "the folder to write, made anew")
	flag.BoolVar(&r.own, "own", false, "build only for this system and processor, with the flags of the tests")
	flag.Parse()
	r.time = time.Unix(*seconds, 0).UTC()
	if err := r.build(); err != nil {
		fmt.Fprintln(os.Stderr, "packaging:", err)
		os.Exit(1)
	}
}

func (r *release) build() (err error) {
	if r.root, err = moduleRoot(); err != nil {
		return err
	}
	if err := r.complete(); err != nil {
		return err
	}
	if r.out, err = filepath.Abs(r.out); err != nil {
		return err
	}
	if err := clear(r.out); err != nil {
		return err
	}
	work, err := os.MkdirTemp("", "ashlar-packaging-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)

	var files []entry
	if runtime.GOOS == "darwin" {
		files, err = r.mac(work)
	} else {
		files, err = r.linux(work)
	}
	if err != nil {
		return err
	}
	if !r.own {
		windows, err := r.windows(work)
		if err != nil {
			return err
		}
		files = append(files, windows...)
	}
	commands, err := r.commands(work)
	if err != nil {
		return err
	}
	files = append(files, commands...)
	if why := r.noRecipes(); why != "" {
		fmt.Println("No recipes for Homebrew, AUR, winget, Flatpak and AppImage:", why)
		return r.write(files)
	}
	p, err := r.compile(work, "ashlar", "linux", runtime.GOARCH, "", "CGO_ENABLED=1") // again, at no cost
	if err != nil {
		return err
	}
	recipes, err := r.recipes(p, files)
	if err != nil {
		return err
	}
	// The metadata for software centres refers to the picture.
	return r.write(append(files, recipes, file("ashlar.png", 0o644, r.mustRead("assets/ashlar.png"))))
}

// clear empties a folder. It fails if the folder holds anything but files of an earlier run.
func clear(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil && !os.IsNotExist(err) {
		return err
	}
	for _, e := range entries {
		if name := e.Name(); !strings.HasPrefix(name, "ashlar") && name != sumsName {
			return fmt.Errorf("%s holds %s, which was not written by this: choose another folder", dir, name)
		}
	}
	for _, e := range entries {
		if err := os.Remove(filepath.Join(dir, e.Name())); err != nil {
			return err
		}
	}
	return os.MkdirAll(dir, 0o755)
}

const sumsName = "SHA256SUMS"

// write writes the files and their checksums.
func (r *release) write(files []entry) error {
	var sums strings.Builder
	for _, f := range files {
		fmt.Fprintf(&sums, "%x  %s\n", sha256.Sum256(f.data), f.path)
	}
	for _, f := range append(files, file(sumsName, 0o644, []byte(sums.String()))) {
		path := filepath.Join(r.out, f.path)
		if err := os.WriteFile(path, f.data, os.FileMode(f.mode)); err != nil {
			return err
		}
		fmt.Printf("%10d  %s\n", len(f.data), path)
	}
	return nil
}

func (r *release) linux(work string) ([]entry, error) {
	p, err := r.compile(work, "ashlar", "linux", runtime.GOARCH, "", "CGO_ENABLED=1")
	if err != nil {
		return nil, err
	}
	shared, err := desktop.Files("ashlar")
	if err != nil {
		return nil, err
	}
	tgz, err := r.tarball(p)
	if err != nil {
		return nil, err
	}
	cli, err := r.compile(work, "ashlar-cli", "linux", runtime.GOARCH, "", "CGO_ENABLED=0")
	if err != nil {
		return nil, err
	}
	deb, err := r.deb(p, cli, shared)
	if err != nil {
		return nil, err
	}
	rpm, rpmName, err := r.rpm(p, cli, shared)
	if err != nil {
		return nil, err
	}
	name := fmt.Sprintf("ashlar-%s-linux-%s", r.version, p.arch)
	return []entry{
		file(rpmName, 0o644, rpm),
		file(name+".tar.gz", 0o644, tgz),
		file(fmt.Sprintf("ashlar_%s_%s.deb", debVersion(r.version), debArch(p.arch)), 0o644, deb),
		file(name+".cdx.json", 0o644, p.sbom),
	}, nil
}

func (r *release) windows(work string) (files []entry, err error) {
	for _, arch := range []string{"amd64", "arm64"} {
		p, err := r.compile(work, "ashlar", "windows", arch, "-H windowsgui", "CGO_ENABLED=0")
		if err != nil {
			return nil, err
		}
		if p.binary, err = withResources(p.binary, r.version); err != nil {
			return nil, err
		}
		name := fmt.Sprintf("ashlar-%s-windows-%s", r.version, arch)
		archive, err := zipped(r.time, under(name, r.papers(p, file("ashlar.exe", 0o755, p.binary))))
		if err != nil {
			return nil, err
		}
		files = append(files, file(name+".zip", 0o644, archive), file(name+".cdx.json", 0o644, p.sbom))
	}
	return files, nil
}

func (r *release) mac(work string) ([]entry, error) {
	p, err := r.compile(work, "ashlar", "darwin", runtime.GOARCH, "", "CGO_ENABLED=1")
	if err != nil {
		return nil, err
	}
	name := fmt.Sprintf("ashlar-%s-macos-%s", r.version, p.arch)
	archive, err := zipped(r.time, r.papers(p, bundle(p.binary, r.version)...))
	if err != nil {
		return nil, err
	}
	return []entry{file(name+".zip", 0o644, archive), file(name+".cdx.json", 0o644, p.sbom)}, nil
}

// most returns the maximum size of the program without a window, in bytes, on Linux.
// Programs of other systems are a few per cent larger.
func (r *release) most() int {
	if r.own {
		return 38_150_000
	}
	return 35_250_000
}

// commands builds the programs without a window. They are static, so each machine can
// build them for all systems.
func (r *release) commands(work string) (files []entry, err error) {
	for _, system := range []string{"linux", "darwin", "windows"} {
		for _, arch := range []string{"amd64", "arm64"} {
			if r.own && (system != runtime.GOOS || arch != runtime.GOARCH) {
				continue
			}
			p, err := r.compile(work, "ashlar-cli", system, arch, "", "CGO_ENABLED=0")
			if err != nil {
				return nil, err
			}
			if system == "linux" && len(p.binary) > r.most() {
				return nil, fmt.Errorf("ashlar-cli for %s on %s has %d bytes: more than %d", system, arch, len(p.binary), r.most())
			}
			f, err := r.command(p)
			if err != nil {
				return nil, err
			}
			files = append(files, f)
		}
	}
	return files, nil
}

// command returns the archive of a program without a window.
func (r *release) command(p *program) (entry, error) {
	name := fmt.Sprintf("ashlar-cli-%s-%s-%s", r.version, map[string]string{"darwin": "macos"}[p.os]+strings.TrimPrefix(p.os, "darwin"), p.arch)
	if p.os == "windows" {
		b, err := zipped(r.time, under(name, r.papers(p, file("ashlar-cli.exe", 0o755, p.binary))))
		return file(name+".zip", 0o644, b), err
	}
	b, err := tarred(r.time, "", under(name, r.papers(p, append(r.manPages("man/", nil), file("ashlar-cli", 0o755, p.binary))...)))
	return file(name+".tar.gz", 0o644, packed(b)), err
}

// papers adds the files that accompany every program, such as licences.
func (r *release) papers(p *program, files ...entry) []entry {
	return append(files,
		file("README.md", 0o644, r.mustRead("README.md")), file("LICENSE", 0o644, r.mustRead("LICENSE")),
		file("NOTICES", 0o644, p.notices))
}

func (r *release) mustRead(name string) []byte {
	b, err := os.ReadFile(filepath.Join(r.root, name))
	if err != nil {
		panic(err) // cannot happen: the file is in the tree
	}
	return b
}

func moduleRoot() (string, error) {
	out, err := exec.Command(goTool(), "env", "GOMOD").Output()
	if err != nil {
		return "", fmt.Errorf("asking go where the module is: %w", err)
	}
	return filepath.Dir(strings.TrimSpace(string(out))), nil
}

// goTool returns the go command: the one make uses, else the one on PATH.
func goTool() string {
	if g := os.Getenv("GO"); g != "" {
		return g
	}
	return "go"
}
