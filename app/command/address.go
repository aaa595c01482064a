package command

import (
	"path/filepath"
	"slices"

	"github.com/spf13/pflag"

	"ashlar/app/core/locate"
	"ashlar/app/core/subcommand"
	"ashlar/app/core/view"
	"ashlar/ingest/input/safetext"
)

// address reads an address from the command line and finds its files. Files given after
// the address replace its own. The result has absolute paths. If parts is set, the result
// shows those parts of the window.
func (c *call) address(s, parts string, given ...string) (string, error) {
	v, err := view.Parse(s)
	if err != nil {
		return "", &subcommand.Usage{Err: err}
	}
	if parts != "" {
		v.Parts = parts
	}
	switch {
	case len(given) > 0 && len(given) != len(v.Files):
		return "", misuse("the address names %s, but %d are given after it", safetext.Plural(len(v.Files), "file"), len(given))
	case len(given) > 0:
		return c.given(v, given)
	case len(v.Files) == 0:
		return "", misuse("the address names no file; add file=PATH")
	}
	notes, err := locate.Files(v, c.run.Dir, c.recent())
	for _, n := range notes {
		c.note("%s", n)
	}
	return v.String(), err
}

// given returns the address with its files replaced by the given ones.
func (c *call) given(v *view.State, files []string) (string, error) {
	meant := v.Contents
	v.Files, v.Contents = files, nil
	_, err := locate.Files(v, c.run.Dir, nil)
	for i, f := range v.Files {
		if err == nil && i < len(meant) && meant[i].Key != "" && !locate.HasContent(f, meant[i]) {
			c.note("%s", locate.Other(files[i]))
		}
	}
	return v.String(), err
}

// at resolves a file name against the folder in which the command was typed.
func (c *call) at(path string) string {
	if c.run.Dir == "" || path == "" || filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(c.run.Dir, path)
}

// recent returns the files most recently opened in the window.
func (c *call) recent() (all []string) {
	if c.run.Store == nil {
		return nil
	}
	st, err := c.run.Store()
	if err != nil {
		return nil
	}
	s, _ := st.Settings() // unreadable settings have no recent files
	for _, r := range s.Recents {
		all = append(all, r.Path)
	}
	return all
}

// alone rejects flags that repeat parts of the address.
func alone(fs *pflag.FlagSet, but ...string) (err error) {
	fs.Visit(func(f *pflag.Flag) {
		if err == nil && !slices.Contains(but, f.Name) {
			err = misuse("an address already defines the view; leave out --%s", f.Name)
		}
	})
	return err
}
