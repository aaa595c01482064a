package main

import (
	"crypto/sha256"
	"embed"
	"fmt"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"ashlar/assets/desktop"
	"ashlar/assets/project"
)

//go:embed recipes
var recipeFiles embed.FS

// recipePaths maps files of the folder recipes to their paths in the archive.
var recipePaths = map[string]string{
	"README.md": "README.md", "ashlar-cli.rb": "homebrew/ashlar-cli.rb", "PKGBUILD": "aur/PKGBUILD", "SRCINFO": "aur/.SRCINFO",
	"winget.yaml": "winget/Ashlar.Ashlar.yaml", "winget.installer.yaml": "winget/Ashlar.Ashlar.installer.yaml", "winget.locale.en-US.yaml": "winget/Ashlar.Ashlar.locale.en-US.yaml",
	"flatpak.yml": "flatpak/" + desktop.ID + ".yml", "appimage.sh": "appimage/build.sh",
}

// archPackages maps libraries that the program needs to their packages in Arch Linux.
var archPackages = map[string]string{
	"libEGL.so.1": "libglvnd", "libGLESv2.so.2": "libglvnd",
	"libX11.so.6": "libx11", "libX11-xcb.so.1": "libx11", "libXcursor.so.1": "libxcursor", "libXfixes.so.3": "libxfixes",
	"libxkbcommon.so.0": "libxkbcommon", "libxkbcommon-x11.so.0": "libxkbcommon-x11",
	"libwayland-client.so.0": "wayland", "libwayland-egl.so.1": "wayland", "libwayland-cursor.so.0": "wayland",
}

// noRecipes says why there are no recipes, or returns "".
func (r *release) noRecipes() string {
	switch {
	case !released.MatchString(r.version):
		return r.version + " is no release"
	case project.HomePage == "":
		return "fill in HomePage in assets/project/project.go"
	case runtime.GOOS != "linux":
		return "they are made on Linux"
	case r.own:
		return "they refer to the programs for other systems too"
	}
	return ""
}

var (
	plainAddress = regexp.MustCompile(`^https://[A-Za-z0-9._~/-]+[^/]$`)
	fileMark     = regexp.MustCompile(`@(URL|SUM):([^@]+)@`)
	anyMark      = regexp.MustCompile(`@[A-Z-]+@`)
)

// recipes returns an archive of descriptions for Homebrew, AUR, winget, Flatpak and
// AppImage, which refer to the files of a release.
func (r *release) recipes(p *program, files []entry) (entry, error) {
	needs, err := needed(p.binary)
	if err != nil {
		return entry{}, err
	}
	maintainer, err := r.maintainer()
	if err != nil {
		return entry{}, err
	}
	arch := rpmArchs[p.arch]
	if arch == "" {
		return entry{}, fmt.Errorf("the name of the processor %s in other distributions is not known here", p.arch)
	}
	if !plainAddress.MatchString(project.HomePage) {
		return entry{}, fmt.Errorf("HomePage in assets/project/project.go is %q: recipes need an https address without special characters or a final slash", project.HomePage)
	}
	var depends []string
	for _, l := range needs.all() {
		pack := archPackages[l]
		if pack == "" {
			return entry{}, fmt.Errorf("the package of %s in Arch Linux is not known here", l)
		}
		depends = append(depends, pack)
	}
	slices.Sort(depends)
	depends = slices.Compact(depends)
	marks := strings.NewReplacer(
		"@NAME@", project.Name, "@SUMMARY@", project.Summary, "@AUTHORS@", project.Authors, "@LICENCE@", project.Licence,
		"@HOME@", project.HomePage, "@MAINTAINER@", maintainer, "@VERSION@", r.version, "@DATE@", r.time.Format("2006-01-02"),
		"@DESCRIPTION@", strconv.Quote(strings.ReplaceAll(description, "\n", " ")),
		"@ARCH@", arch, "@GOARCH@", p.arch, "@GLIBC@", needs.libc,
		"@DEPENDS@", strings.Join(depends, " "), "@DEPENDS-LINES@", "\tdepends = "+strings.Join(depends, "\n\tdepends = "))
	var all []entry
	for name, path := range recipePaths {
		b, err := recipeFiles.ReadFile("recipes/" + name)
		if err != nil {
			return entry{}, err
		}
		text := fileMark.ReplaceAllStringFunc(marks.Replace(string(b)), func(mark string) string {
			m := fileMark.FindStringSubmatch(mark)
			for _, f := range files {
				switch {
				case f.path != m[2]:
				case m[1] == "URL":
					return project.Download(r.version, f.path)
				default:
					return fmt.Sprintf("%x", sha256.Sum256(f.data))
				}
			}
			err = fmt.Errorf("the recipe %s refers to %s, which is not in the release", name, m[2])
			return mark
		})
		if m := anyMark.FindString(text); err == nil && m != "" {
			err = fmt.Errorf("the recipe %s has the unknown mark %s", name, m)
		}
		if err != nil {
			return entry{}, err
		}
		mode := int64(0o644)
		if strings.HasSuffix(name, ".sh") {
			mode = 0o755
		}
		all = append(all, file(path, mode, []byte(text)))
	}
	name := "ashlar-" + r.version + "-recipes"
	b, err := tarred(r.time, "", under(name, all))
	return file(name+".tar.gz", 0o644, packed(b)), err
}
