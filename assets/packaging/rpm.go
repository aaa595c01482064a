package main

import (
	"bytes"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/google/rpmpack"

	"ashlar/assets/desktop"
	"ashlar/assets/project"
)

// rpmArchs maps processors to their names in RPM.
var rpmArchs = map[string]string{"amd64": "x86_64", "arm64": "aarch64", "ppc64le": "ppc64le", "riscv64": "riscv64", "s390x": "s390x"}

// RPM's numbers of the list of folders and of the three parts of the changelog.
const (
	tagDirNames   = 1118
	tagChangeTime = 1080
	tagChangeName = 1081
	tagChangeText = 1082
)

// rpm builds the package for Fedora, openSUSE and their relatives, and its name. It names
// the libraries that it needs, not packages, whose names differ. Like the .deb, it has no
// scripts and only recommends the libraries of the window.
func (r *release) rpm(p, cli *program, shared []desktop.File) ([]byte, string, error) {
	needs, err := needed(p.binary)
	if err != nil {
		return nil, "", err
	}
	arch := rpmArchs[p.arch]
	if arch == "" {
		return nil, "", fmt.Errorf("RPM's name of the processor %s is not known here", p.arch)
	}
	maintainer, err := r.maintainer()
	if err != nil {
		return nil, "", err
	}
	var recommends rpmpack.Relations
	var install strings.Builder
	for _, l := range needs.all() {
		l += "()(64bit)"
		recommends = append(recommends, &rpmpack.Relation{Name: l})
		fmt.Fprintf(&install, " '%s'", l)
	}
	files, err := r.installed(p, cli, shared, needs.launch("/usr/lib64", "dnf install"+install.String()), "zsh/site-functions")
	if err != nil {
		return nil, "", err
	}
	// RPM orders these versions as Debian does.
	m := rpmpack.RPMMetaData{
		Name: "ashlar", Version: debVersion(r.version), Release: "1", Arch: arch,
		Summary: project.Summary, Description: description + "\n\n" + strings.ReplaceAll(strings.TrimPrefix(described(formats()), " "), "\n ", "\n"),
		Licence: project.Licence, URL: project.HomePage, Packager: maintainer, Group: "Development/Tools",
		Epoch: rpmpack.NoEpoch, BuildTime: r.time, BuildHost: "localhost", Compressor: "gzip:6",
		Requires:   rpmpack.Relations{{Name: fmt.Sprintf("libc.so.6(GLIBC_%s)(64bit)", needs.libc)}},
		Recommends: append(recommends, &rpmpack.Relation{Name: "shared-mime-info"}),
	}
	pack, err := rpmpack.NewRPM(m)
	if err != nil {
		return nil, "", err
	}
	var names []string
	add := func(f entry, kind rpmpack.FileType) {
		// With absolute names, whoever unpacks the package by hand would write into /usr.
		name := "./" + f.path
		names = append(names, name)
		pack.AddFile(rpmpack.RPMFile{Name: name, Body: f.data, Mode: uint(f.mode), Owner: "root", Group: "root", MTime: uint32(r.time.Unix()), Type: kind})
	}
	licences := "usr/share/licenses/ashlar"
	for _, dir := range []string{"usr/lib/ashlar", licences} {
		add(file(dir, 0o40755, nil), rpmpack.GenericFile)
	}
	add(file(licences+"/LICENSE", 0o644, r.mustRead("LICENSE")), rpmpack.LicenceFile)
	add(file(licences+"/NOTICES", 0o644, p.notices), rpmpack.LicenceFile)
	for _, f := range files {
		kind := rpmpack.GenericFile
		if strings.HasPrefix(f.path, "usr/share/man/") {
			kind = rpmpack.DocFile
		}
		add(f, kind)
	}
	// The list of folders, which is in the order of the files, needs absolute names.
	slices.Sort(names)
	var dirs []string
	for _, name := range names {
		if dir := path.Dir(name[1:]) + "/"; !slices.Contains(dirs, dir) {
			dirs = append(dirs, dir)
		}
	}
	pack.AddCustomTag(tagDirNames, rpmpack.EntryStringSlice(dirs))
	pack.AddCustomTag(tagChangeTime, rpmpack.EntryInt32([]int32{int32(r.time.Unix())}))
	pack.AddCustomTag(tagChangeName, rpmpack.EntryStringSlice([]string{maintainer + " - " + m.Version + "-" + m.Release}))
	pack.AddCustomTag(tagChangeText, rpmpack.EntryStringSlice([]string{"- Built from the source of this version."}))
	var b bytes.Buffer
	err = pack.Write(&b)
	return b.Bytes(), fmt.Sprintf("ashlar-%s-%s.%s.rpm", m.Version, m.Release, arch), err
}
