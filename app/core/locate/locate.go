// Package locate finds the recordings that an address names, by path or by content among
// nearby files.
package locate

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	"ashlar/app/core/settings"
	"ashlar/app/core/view"
	"ashlar/ingest/fetch"
	stored "ashlar/ingest/format/store"
	"ashlar/ingest/input/safetext"
	"ashlar/ingest/query/join"
)

// mostEntries is the maximum number of folder entries to examine in one search.
const mostEntries = 20_000

// Files makes the paths of an address's files absolute, relative to dir ("" for the
// working directory). If a file is missing or has other contents, Files searches for the
// contents among near, beside the file's path, in dir and beside the files in near. It
// then clears the address's contents, since they are found. Notes are sentences about
// files found elsewhere or with other contents. The error names the missing files.
func Files(v *view.State, dir string, near []string) (notes []string, err error) {
	if dir, err = filepath.Abs(dir); err != nil {
		return nil, err
	}
	first := ""
	for i, f := range v.Files {
		if i == 0 {
			first = f
		}
		if f == "-" || f == view.Demo || fetch.IsURL(f) {
			continue
		}
		if join.IsName(f) {
			v.Files[i] = join.Each(f, func(f string) string {
				if fetch.IsURL(f) {
					return f
				}
				return absolute(dir, f)
			})
			continue // reading it reports missing files
		}
		var note string
		if of, ok := stored.Second(absolute(dir, f)); ok && (i > 0 && of == absolute(dir, first) || exists(of)) {
			if i > 0 && of == absolute(dir, first) {
				of = v.Files[0] // the path where it was found
			}
			v.Files[i] = stored.SecondOf(absolute(dir, of))
			continue
		}
		if v.Files[i], note, err = file(dir, f, meant(v, i), near); err != nil {
			return notes, err
		}
		if note != "" {
			notes = append(notes, note)
		}
	}
	v.Contents = nil
	return notes, nil
}

func absolute(dir, path string) string {
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(dir, path)
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// meant returns the content that the address expects of file i.
func meant(v *view.State, i int) (c view.Content) {
	if i < len(v.Contents) {
		c = v.Contents[i]
	}
	return c
}

func file(dir, path string, c view.Content, near []string) (found, note string, err error) {
	found = absolute(dir, path)
	info, err := os.Stat(found)
	there := err == nil
	if c.Key == "" || there && !info.Mode().IsRegular() {
		if !there {
			err = fmt.Errorf("%s: there is no such file", safetext.Text(path))
		}
		return found, "", err
	}
	if there && HasContent(found, c) {
		return found, "", nil
	}
	elsewhere := search(dir, found, c, near)
	switch {
	case elsewhere != "" && there:
		note = fmt.Sprintf("%s is not the recording that the address was copied from. Opened %s instead", safetext.Text(path), safetext.Text(elsewhere))
	case elsewhere != "":
		note = fmt.Sprintf("%s does not exist. Opened %s with the same contents", safetext.Text(path), safetext.Text(elsewhere))
	case there:
		return found, Other(path), nil
	default:
		return found, "", fmt.Errorf("%s does not exist. No file with the same contents was found in its folder, this folder or the recent files. Add the file's path after the address", safetext.Text(path))
	}
	return elsewhere, note, nil
}

// Other returns a sentence about a file that differs from the address's recording.
func Other(path string) string {
	return safetext.Text(path) + " differs from the recording of the address: marks and selections may be off"
}

// HasContent reports whether a file has the given content.
func HasContent(path string, c view.Content) bool {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() || info.Size() != c.Size {
		return false
	}
	has, _, err := settings.FileContent(path)
	return err == nil && has == c
}

// search returns a file with the given content, looking in the likeliest places first; ""
// if there is none.
func search(dir, path string, c view.Content, near []string) string {
	for _, f := range near {
		if HasContent(f, c) {
			return f
		}
	}
	folders := []string{filepath.Dir(path), dir}
	for _, f := range near {
		folders = append(folders, filepath.Dir(f))
	}
	seen, left := map[string]bool{}, mostEntries
	for _, dir := range folders {
		if seen[dir] {
			continue
		}
		seen[dir] = true
		if f := searchFolder(dir, c, &left); f != "" {
			return f
		}
	}
	return ""
}

// searchFolder searches a folder for the given content. left is the number of entries
// that may still be examined.
func searchFolder(dir string, c view.Content, left *int) string {
	// The folder may be part of a path that nobody typed, and opening a named pipe blocks.
	if info, err := os.Stat(dir); *left <= 0 || err != nil || !info.IsDir() {
		return ""
	}
	d, err := os.Open(dir)
	if err != nil {
		return ""
	}
	defer d.Close()
	entries, _ := d.ReadDir(*left)
	*left -= len(entries)
	for _, e := range entries {
		if path := filepath.Join(dir, e.Name()); e.Type().IsRegular() && HasContent(path, c) {
			return path
		}
	}
	return ""
}

// Name adds the content digests of the address's files, as far as they are local files.
func Name(v *view.State) {
	v.Contents = nil
	for i, f := range v.Files {
		if f == "-" || f == view.Demo || fetch.IsURL(f) {
			continue
		}
		if c := content(f); c.Key != "" {
			for len(v.Contents) < i {
				v.Contents = append(v.Contents, view.Content{})
			}
			v.Contents = append(v.Contents, c)
		}
	}
}

// contents caches the digests of recently named files, because each answer of a session
// names its files again.
var contents struct {
	sync.Mutex
	of map[string]known
}

type known struct {
	info fs.FileInfo
	view.Content
}

const mostContents = 256

// content returns the content digest of a file, if it can be read.
func content(path string) view.Content {
	info, err := os.Stat(path)
	if err != nil {
		return view.Content{}
	}
	contents.Lock()
	was, ok := contents.of[path]
	contents.Unlock()
	if ok && os.SameFile(was.info, info) && was.info.Size() == info.Size() && was.info.ModTime().Equal(info.ModTime()) {
		return was.Content
	}
	c, _, err := settings.FileContent(path)
	if err != nil {
		return view.Content{}
	}
	contents.Lock()
	defer contents.Unlock()
	if contents.of == nil || len(contents.of) >= mostContents {
		contents.of = map[string]known{}
	}
	contents.of[path] = known{info, c}
	return c
}
