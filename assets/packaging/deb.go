package main

import (
	"bytes"
	"crypto/md5"
	"debug/elf"
	_ "embed"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"ashlar/app/command"
	_ "ashlar/app/command/picture" // registers the views that render can draw
	"ashlar/assets/desktop"
	"ashlar/assets/project"
	"ashlar/ingest"
)

// manPages returns the man pages, by path below a folder. If pack is set, their names end
// in .gz.
func (r *release) manPages(folder string, pack func([]byte) []byte) (files []entry) {
	pages := command.ManPages(r.version)
	for _, name := range slices.Sorted(maps.Keys(pages)) {
		path, page := folder+name+".1", []byte(pages[name])
		if pack != nil {
			path, page = path+".gz", pack(page)
		}
		files = append(files, file(path, 0o644, page))
	}
	return files
}

// libraries maps libraries that Gio needs to their Debian packages. A program that needs
// a library not listed here is an error, so that none is forgotten.
var libraries = map[string]string{
	"libEGL.so.1": "libegl1", "libGLESv2.so.2": "libgles2",
	"libX11.so.6": "libx11-6", "libX11-xcb.so.1": "libx11-xcb1", "libXcursor.so.1": "libxcursor1", "libXfixes.so.3": "libxfixes3",
	"libxkbcommon.so.0": "libxkbcommon0", "libxkbcommon-x11.so.0": "libxkbcommon-x11-0",
	"libwayland-client.so.0": "libwayland-client0", "libwayland-egl.so.1": "libwayland-egl1", "libwayland-cursor.so.0": "libwayland-cursor0",
	"libc.so.6": "libc6", "libm.so.6": "libc6", "libpthread.so.0": "libc6", "libdl.so.2": "libc6", "libresolv.so.2": "libc6",
}

// opened lists the libraries that Gio loads at run time.
var opened = []string{"libEGL.so.1", "libGLESv2.so.2"}

// needs describes what a program needs of a system.
type needs struct {
	libc      string   // the version of the oldest C library that has all symbols
	libraries []string // of the window
	packages  []string // of Debian that have these and what the program opens at run time
}

// all returns the libraries of the window and those that it opens at run time.
func (n *needs) all() []string {
	all := slices.Concat(n.libraries, opened)
	slices.Sort(all)
	return slices.Compact(all)
}

// needed returns what a program needs.
func needed(binary []byte) (*needs, error) {
	f, err := elf.NewFile(bytes.NewReader(binary))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	libs, err := f.ImportedLibraries()
	if err != nil {
		return nil, err
	}
	n := &needs{}
	for _, l := range libs {
		p := libraries[l]
		switch {
		case strings.HasPrefix(l, "ld-linux") || p == "libc6":
		case p == "":
			return nil, fmt.Errorf("the program needs %s, and which package has it is not known here", l)
		default:
			n.libraries = append(n.libraries, l)
		}
	}
	for _, l := range n.all() {
		n.packages = append(n.packages, libraries[l])
	}
	slices.Sort(n.packages)
	n.packages = slices.Compact(n.packages)
	symbols, err := f.ImportedSymbols()
	if err != nil {
		return nil, err
	}
	major, minor := 2, 17
	for _, s := range symbols {
		v, ok := strings.CutPrefix(s.Version, "GLIBC_")
		if !ok {
			continue
		}
		parts := strings.SplitN(v, ".", 3)
		if a, b := number(parts[0]), number(slices.Concat(parts, []string{"0"})[1]); a > major || a == major && b > minor {
			major, minor = a, b
		}
	}
	n.libc = fmt.Sprintf("%d.%d", major, minor)
	return n, nil
}

//go:embed launch.sh
var launcher string

// triplets maps processors to the folders of their libraries in Debian.
var triplets = map[string]string{"amd64": "x86_64-linux-gnu", "arm64": "aarch64-linux-gnu", "386": "i386-linux-gnu", "arm": "arm-linux-gnueabihf", "ppc64le": "powerpc64le-linux-gnu", "riscv64": "riscv64-linux-gnu", "s390x": "s390x-linux-gnu"}

// launch returns the script that starts the program with a window, or the one without if
// libraries are missing from a folder. That one tells the user about the command that
// installs them.
func (n *needs) launch(folder, install string) []byte {
	return []byte(strings.NewReplacer("@LIBRARIES@", strings.Join(n.libraries, " "), "@FOLDER@", folder, "@INSTALL@", install).Replace(launcher))
}

// completions returns the completion scripts of all shells, below usr/share. Zsh's folder
// differs between distributions.
func completions(zsh string) (files []entry, err error) {
	for shell, path := range map[string]string{"bash": "bash-completion/completions/ashlar", "zsh": zsh + "/_ashlar", "fish": "fish/vendor_completions.d/ashlar.fish"} {
		var script, problem bytes.Buffer
		if command.Main([]string{"completion", shell}, nil, &script, &problem, command.Runner{}) != command.Done {
			return nil, fmt.Errorf("completions for %s: %s", shell, problem.String())
		}
		files = append(files, file("usr/share/"+path, 0o644, script.Bytes()))
	}
	return files, nil
}

func number(s string) int {
	n, err := strconv.Atoi(s)
	if err != nil {
		return 0
	}
	return n
}

// debVersion returns a version in Debian's form, in which a hyphen would begin the
// revision. What follows a release sorts after it, as in 1.2.3+5.gabc, and what leads to it
// before, as in 1.2.3~rc1.
func debVersion(version string) string {
	upstream, rest, more := strings.Cut(version, "-")
	if !more {
		return upstream
	}
	sign := "+"
	if rest == "" || rest[0] < '0' || rest[0] > '9' {
		sign = "~"
	}
	return upstream + sign + strings.ReplaceAll(rest, "-", ".")
}

func debArch(arch string) string {
	switch arch {
	case "386":
		return "i386"
	case "arm":
		return "armhf"
	case "ppc64le":
		return "ppc64el"
	}
	return arch
}

// overrides is for lintian, which expects that only programs of Debian's own Go packages are
// static.
const overrides = "ashlar: statically-linked-binary [usr/bin/ashlar-cli]\n"

// description is the packages' text about the program, without the formats.
const description = `Ashlar opens recordings made by profilers and tracers and shows, in one
window, when things happened (a timeline) and where the cost went (a
flamegraph, a table of functions), linked: select some time and everything
below answers for it.`

// formats is the end of that text.
func formats() string {
	return "It opens " + ingest.List() + ". A command line answers the same questions for scripts."
}

// installed returns the files that all packages for Linux install: the program and the one
// without a window, what starts one of them, what the desktop needs, and man pages.
func (r *release) installed(p, cli *program, shared []desktop.File, launch []byte, zsh string) ([]entry, error) {
	scripts, err := completions(zsh)
	if err != nil {
		return nil, err
	}
	files := []entry{
		file("usr/bin/ashlar", 0o755, launch),
		file("usr/bin/ashlar-cli", 0o755, cli.binary),
		file("usr/lib/ashlar/ashlar", 0o755, p.binary),
		file("usr/share/man/man1/ashlar-cli.1.gz", 0o644, gzipped([]byte(".so man1/ashlar.1\n"))),
	}
	files = append(files, scripts...)
	files = append(files, r.manPages("usr/share/man/man1/", gzipped)...)
	for _, f := range shared {
		files = append(files, file("usr/share/"+f.Path, 0o644, f.Data))
	}
	return files, nil
}

// deb builds the package for Debian and its relatives, from the program and the one without
// a window. The package has no scripts: the desktop's packages notice new file types, entries
// and icons by triggers. It only recommends the libraries of the window, so that a server can
// do without them.
func (r *release) deb(p, cli *program, shared []desktop.File) ([]byte, error) {
	needs, err := needed(p.binary)
	if err != nil {
		return nil, err
	}
	triplet := triplets[p.arch]
	if triplet == "" {
		return nil, fmt.Errorf("the folder of Debian's libraries for %s is not known here", p.arch)
	}
	files, err := r.installed(p, cli, shared, needs.launch("/usr/lib/"+triplet, "apt-get install "+strings.Join(needs.packages, " ")), "zsh/vendor-completions")
	if err != nil {
		return nil, err
	}
	maintainer, err := r.maintainer()
	if err != nil {
		return nil, err
	}
	homepage := ""
	if project.HomePage != "" {
		homepage = "Homepage: " + project.HomePage + "\n"
	}
	day := r.time.Format("Mon, 02 Jan 2006 15:04:05 -0700")
	changes := fmt.Sprintf("ashlar (%s) unstable; urgency=medium\n\n  * Built from the source of this version.\n\n -- %s  %s\n", debVersion(r.version), maintainer, day)
	doc := "usr/share/doc/ashlar/"
	files = append(files,
		file("usr/share/lintian/overrides/ashlar", 0o644, []byte(overrides)),
		file(doc+"copyright", 0o644, r.copyright(p)),
		file(doc+"changelog.gz", 0o644, gzipped([]byte(changes))),
	)
	size, sums := 0, ""
	for _, f := range sorted(files) {
		size += (len(f.data) + 1023) / 1024
		sums += fmt.Sprintf("%x  %s\n", md5.Sum(f.data), f.path)
	}
	size += len(folders(files)) // dpkg counts a kilobyte for each folder
	control := fmt.Sprintf(`Package: ashlar
Version: %s
Architecture: %s
Maintainer: %s
Installed-Size: %d
Depends: libc6 (>= %s)
Recommends: %s, libegl-mesa0, libgl1-mesa-dri, shared-mime-info
Section: devel
Priority: optional
%sDescription: %s
%s
 .
%s
`, debVersion(r.version), debArch(p.arch), maintainer, size, needs.libc, strings.Join(needs.packages, ", "), homepage, strings.ToLower(project.Summary[:1])+project.Summary[1:], described(description), described(formats()))
	controls, err := tarred(r.time, "./", []entry{file("control", 0o644, []byte(control)), file("md5sums", 0o644, []byte(sums))})
	if err != nil {
		return nil, err
	}
	data, err := tarred(r.time, "./", files)
	if err != nil {
		return nil, err
	}
	return ar(r.time, []entry{
		file("debian-binary", 0o644, []byte("2.0\n")),
		file("control.tar.gz", 0o644, packed(controls)),
		file("data.tar.gz", 0o644, packed(data)),
	}), nil
}

// apache matches the text of the Apache License, with its usual appendix.
var apache = regexp.MustCompile(`(?s)[ \t]*Apache License\s+Version 2\.0, January 2004.*?END OF TERMS AND CONDITIONS(?:\s+APPENDIX: .*?limitations under the License\.)?`)

// copyright returns Debian's file of licences: of Ashlar and of its modules. Every Debian
// system has the Apache License already, and packages may not repeat it.
func (r *release) copyright(p *program) []byte {
	notices := apache.ReplaceAll(p.notices, []byte("Apache License, Version 2.0: see /usr/share/common-licenses/Apache-2.0"))
	return fmt.Appendf(nil, "Ashlar is free software under the MIT licence:\n\n%s\n\n%s",
		bytes.TrimSpace(r.mustRead("LICENSE")), notices)
}

// described wraps text for a Debian description: lines of at most 78 characters, each
// indented by a space.
func described(text string) string {
	var b strings.Builder
	n := 0
	for _, w := range strings.Fields(text) {
		if n > 0 && n+1+len(w) > 78 {
			b.WriteByte('\n')
			n = 0
		}
		b.WriteString(" " + w)
		n += 1 + len(w)
	}
	return b.String()
}
