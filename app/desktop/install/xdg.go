package install

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"ashlar/assets/desktop"
	"ashlar/ingest/input/safetext"
)

// folders are the folders that desktops search according to the XDG specifications. Data
// folders and configuration folders are searched from first to last.
type folders struct {
	data, config       string   // the user's
	dataDirs, confDirs []string // the system's
}

// userFolders reads the environment. It ignores relative paths, as the specification
// says.
func userFolders() (folders, error) {
	home, err := os.UserHomeDir()
	if err != nil {
		return folders{}, fmt.Errorf("there is no home folder to install into: %w", err)
	}
	one := func(name, fallback string) string {
		if v := os.Getenv(name); filepath.IsAbs(v) {
			return v
		}
		return filepath.Join(home, fallback)
	}
	list := func(name, fallback string) []string {
		v := os.Getenv(name)
		if v == "" {
			v = fallback
		}
		return slices.DeleteFunc(filepath.SplitList(v), func(d string) bool { return !filepath.IsAbs(d) })
	}
	return folders{
		data: one("XDG_DATA_HOME", ".local/share"), config: one("XDG_CONFIG_HOME", ".config"),
		dataDirs: list("XDG_DATA_DIRS", "/usr/local/share:/usr/share"), confDirs: list("XDG_CONFIG_DIRS", "/etc/xdg"),
	}, nil
}

// put writes the files of the desktop into a data folder. It keeps files that Ashlar did
// not write, or that were edited since.
func put(data, program string, r *record) ([]Line, error) {
	files, err := desktop.Files(program)
	if err != nil {
		return nil, err
	}
	var kept []Line
	for _, f := range files {
		path := filepath.Join(data, filepath.FromSlash(f.Path))
		own, err := r.own(path, f)
		if err != nil {
			return nil, err
		}
		if !own {
			kept = append(kept, lacks("%s is kept: another program wrote it, or it was edited. To replace it, move it away and install again", path))
			continue
		}
		if err := r.mkdir(filepath.Dir(path)); err != nil {
			return nil, err
		}
		if err := write(path, f.Data, 0o644); err != nil {
			return nil, err
		}
		r.wrote(f)
	}
	return append([]Line{ok("%s in %s", safetext.Plural(len(files)-len(kept), "file"), data)}, kept...), nil
}

// take removes the desktop files from a data folder, including those that Ashlar installed
// without a record. It keeps files that Ashlar did not write, or that were edited since.
func take(data string, r *record) ([]Line, error) {
	files, err := desktop.Files("ashlar")
	if err != nil {
		return nil, err
	}
	for _, p := range r.Files {
		if !slices.ContainsFunc(files, func(f desktop.File) bool { return f.Path == p }) {
			files = append(files, desktop.File{Path: p})
		}
	}
	var kept []Line
	n := 0
	for _, f := range files {
		path := filepath.Join(data, filepath.FromSlash(f.Path))
		if _, err := os.Lstat(path); err != nil {
			continue
		}
		own, err := r.own(path, f)
		if err != nil {
			return nil, err
		}
		if !own {
			kept = append(kept, lacks("%s is kept: another program wrote it, or it was edited", path))
			continue
		}
		if err := remove(path); err != nil {
			return nil, err
		}
		n++
	}
	return append([]Line{ok("%s removed from %s", safetext.Plural(n, "file"), data)}, kept...), nil
}

// refresh updates the desktop's caches for a data folder. It reports missing programs:
// without them the desktop notices the change later or never.
func refresh(data string) []Line {
	var lines []Line
	run := func(dir, name string, args ...string) {
		if _, err := os.Stat(filepath.Join(data, dir)); err != nil {
			return
		}
		path, err := exec.LookPath(name)
		if err != nil {
			lines = append(lines, lacks("%s is not installed; the desktop may not notice the change", name))
			return
		}
		if out, err := exec.Command(path, args...).CombinedOutput(); err != nil {
			lines = append(lines, lacks("%s failed: %v: %s", name, err, bytes.TrimSpace(out)))
		}
	}
	run("mime/packages", "update-mime-database", filepath.Join(data, "mime"))
	run("applications", "update-desktop-database", "-q", filepath.Join(data, "applications"))
	// Without this cache desktops look at the folders themselves.
	hicolor := filepath.Join(data, "icons/hicolor")
	if _, err := os.Stat(filepath.Join(hicolor, "icon-theme.cache")); err == nil {
		run("icons/hicolor", "gtk-update-icon-cache", "-q", "-f", "-t", hicolor)
	}
	return lines
}

// mimeLeftovers names the files that update-mime-database leaves when all types are gone.
var mimeLeftovers = []string{"aliases", "generic-icons", "globs", "globs2", "icons", "magic", "mime.cache", "subclasses", "treemagic", "types", "version", "XMLnamespaces"}

// sweep removes caches that have become empty.
func sweep(data string) {
	mime := filepath.Join(data, "mime")
	if entries, err := os.ReadDir(filepath.Join(mime, "packages")); err == nil && len(entries) == 0 || errors.Is(err, fs.ErrNotExist) {
		for _, name := range mimeLeftovers {
			_ = os.Remove(filepath.Join(mime, name))
		}
		for _, name := range []string{"application", "packages"} {
			_ = os.Remove(filepath.Join(mime, name)) // fails if it is not empty
		}
		_ = os.Remove(mime)
	}
	apps := filepath.Join(data, "applications")
	if entries, err := os.ReadDir(apps); err == nil && len(entries) == 1 && entries[0].Name() == "mimeinfo.cache" {
		_ = os.Remove(filepath.Join(apps, "mimeinfo.cache"))
	}
}

// entryName is the file name of Ashlar's desktop entry, by which mimeapps.list and
// mimeinfo.cache refer to it.
const entryName = desktop.ID + ".desktop"

// openers lists the desktop entries of the programs that open a type, the default first.
// It leaves out entries that do not exist.
func (f *folders) openers(mediaType string) []string {
	var found []string
	add := func(names []string) {
		for _, n := range names {
			if n != "" && !slices.Contains(found, n) && f.entryExists(n) {
				found = append(found, n)
			}
		}
	}
	var lists []keyFile
	for _, dir := range append([]string{f.config}, f.confDirs...) {
		for _, d := range strings.Split(strings.ToLower(os.Getenv("XDG_CURRENT_DESKTOP")), ":") {
			if d != "" && filepath.IsLocal(d) {
				lists = append(lists, readKeyFile(filepath.Join(dir, d+"-mimeapps.list")))
			}
		}
		lists = append(lists, readKeyFile(filepath.Join(dir, "mimeapps.list")))
	}
	dataDirs := append([]string{f.data}, f.dataDirs...)
	for _, dir := range dataDirs {
		lists = append(lists, readKeyFile(filepath.Join(dir, "applications/mimeapps.list")))
	}
	for _, section := range []string{defaultApps, addedApps} {
		for _, l := range lists {
			add(l.list(section, mediaType))
		}
	}
	for _, dir := range dataDirs {
		add(readKeyFile(filepath.Join(dir, "applications/mimeinfo.cache")).list("MIME Cache", mediaType))
	}
	return found
}

// opener returns the desktop entry of the program that opens a type, perhaps as one of its
// more general types; "" if there is none.
func (f *folders) opener(mediaType string) string {
	for _, t := range append([]string{mediaType}, broader[mediaType]...) {
		if all := f.openers(t); len(all) > 0 {
			return all[0]
		}
	}
	return ""
}

// broader maps offered types to their more general types, according to shared-mime-info.
var broader = map[string][]string{"application/json": {"application/javascript", "text/javascript", "text/plain"}}

func (f *folders) entryExists(name string) bool {
	if !filepath.IsLocal(name) {
		return false
	}
	for _, dir := range append([]string{f.data}, f.dataDirs...) {
		if _, err := os.Stat(filepath.Join(dir, "applications", name)); err == nil {
			return true
		}
	}
	return false
}
