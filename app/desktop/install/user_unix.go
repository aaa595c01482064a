//go:build unix && !darwin

package install

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"ashlar/assets/desktop"
	"ashlar/ingest/input/safetext"
)

// User registers a program with the desktop of the current user.
func User(program string) ([]Line, error) {
	f, err := userFolders()
	if err != nil {
		return nil, err
	}
	r, err := load(f.data)
	if err != nil {
		return nil, err
	}
	lines, err := put(f.data, program, r)
	if err == nil {
		err = f.offer(r)
	}
	// Save the record even after a failure, so that the files can be removed.
	if serr := r.save(f.data); err == nil {
		err = serr
	}
	if err != nil {
		return lines, err
	}
	lines = append(lines, refresh(f.data)...)
	for _, t := range desktop.OwnTypes {
		if all := f.openers(t); len(all) > 0 && all[0] != entryName {
			lines = append(lines, lacks("%s files still open with %s, as chosen before", t, all[0]))
		}
	}
	return lines, nil
}

// offer adds Ashlar to the alternatives for general types, after the program that opens them
// now, even if that program opens them only as a more general type (JSON as text).
func (f *folders) offer(r *record) error {
	path := filepath.Join(f.config, "mimeapps.list")
	_, err := os.Stat(path)
	fresh := errors.Is(err, fs.ErrNotExist)
	k := readKeyFile(path)
	old := slices.Clone(k)
	_, _, section := k.section(addedApps)
	for _, t := range desktop.OfferedTypes {
		have := k.list(addedApps, t)
		if slices.Contains(have, entryName) {
			continue
		}
		if len(have) == 0 {
			if now := f.opener(t); now != "" && now != entryName {
				have = []string{now}
				if r.Pinned == nil {
					r.Pinned = map[string]string{}
				}
				r.Pinned[t] = now
			}
		}
		k = k.set(addedApps, t, append(have, entryName))
	}
	if slices.Equal(k, old) {
		return nil
	}
	r.List = r.List || fresh
	r.Section = r.Section || !section
	if err := r.mkdir(f.config); err != nil {
		return err
	}
	return write(path, k.bytes(), 0o644)
}

// withdraw undoes offer, and removes Ashlar as the default where the user chose it.
func (f *folders) withdraw(r *record) error {
	path := filepath.Join(f.config, "mimeapps.list")
	old := readKeyFile(path)
	k := slices.Clone(old).without(entryName)
	for t, pinned := range r.Pinned {
		if i := k.find(addedApps, t); i >= 0 && slices.Equal(k.list(addedApps, t), []string{pinned}) {
			k = slices.Delete(k, i, i+1)
		}
	}
	if r.Section {
		k = k.dropSection(addedApps)
	}
	switch {
	case slices.Equal(k, old):
		return nil
	case r.List && len(bytes.TrimSpace(k.bytes())) == 0:
		return remove(path)
	}
	return write(path, k.bytes(), 0o644)
}

// RemoveUser undoes User.
func RemoveUser() ([]Line, error) {
	f, err := userFolders()
	if err != nil {
		return nil, err
	}
	r, err := load(f.data)
	if err != nil {
		return nil, err
	}
	lines, err := take(f.data, r)
	if err != nil {
		return lines, err
	}
	if err := f.withdraw(r); err != nil {
		return lines, err
	}
	lines = append(lines, refresh(f.data)...)
	sweep(f.data)
	if err := remove(filepath.Join(f.data, filepath.FromSlash(recordPath))); err != nil {
		return lines, err
	}
	r.prune()
	return lines, nil
}

// CheckUser checks whether the files that [User] installs for a program exist and are
// unchanged.
func CheckUser(program string) ([]Line, error) {
	f, err := userFolders()
	if err != nil {
		return nil, err
	}
	files, err := desktop.Files(program)
	if err != nil {
		return nil, err
	}
	var lines []Line
	right := 0
	for _, file := range files {
		path := filepath.Join(f.data, filepath.FromSlash(file.Path))
		have, err := os.ReadFile(path)
		switch {
		case err != nil:
			lines = append(lines, lacks("missing: %s", path))
		case !bytes.Equal(have, file.Data):
			lines = append(lines, lacks("written by another program: %s", path))
		default:
			right++
		}
	}
	if right == 0 {
		lines = []Line{lacks("nothing is installed in %s", f.data)}
	} else {
		lines = append(lines, ok("%s in %s", safetext.Plural(right, "file"), f.data))
	}
	for _, t := range desktop.OwnTypes {
		switch all := f.openers(t); {
		case len(all) == 0:
			lines = append(lines, lacks("no program opens %s", t))
		case all[0] != entryName:
			lines = append(lines, lacks("%s is opened by %s", t, all[0]))
		default:
			lines = append(lines, ok("%s is opened by Ashlar", t))
		}
	}
	for _, t := range desktop.OfferedTypes {
		all := f.openers(t)
		i := slices.Index(all, entryName)
		switch {
		case i > 0:
			lines = append(lines, ok("%s is opened by %s; Ashlar is listed as an alternative", t, all[0]))
		case i == 0:
			lines = append(lines, ok("%s is opened by Ashlar", t))
		case len(all) > 0:
			lines = append(lines, lacks("%s is opened by %s; Ashlar is not listed", t, all[0]))
		default:
			lines = append(lines, lacks("no program opens %s; Ashlar is not listed", t))
		}
	}
	return lines, nil
}
