package store

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"ashlar/ingest/input/source"
	"ashlar/ingest/model/recording"
)

// secondMark behind the path of a file names the second recording in it: of two that are
// compared.
const secondMark = "#b"

// sectionSecond has the second recording, stored as a file of its own would be.
const sectionSecond = "second recording"

// SecondOf names the second recording in a file.
func SecondOf(path string) string { return path + secondMark }

// Second is the file of which a path names the second recording; ok is false for the path
// of a file.
func Second(path string) (file string, ok bool) {
	file, ok = strings.CutSuffix(path, secondMark)
	if !ok || !strings.EqualFold(filepath.Ext(file), Format.Extensions[0]) {
		return "", false
	}
	_, err := os.Stat(path)
	return file, errors.Is(err, fs.ErrNotExist)
}

// Add makes a recording the second one among the sections of a file.
func Add(sections map[string][]byte, rec *recording.Recording) error {
	var b bytes.Buffer
	if err := Write(&b, rec, nil, false); err != nil {
		return err
	}
	sections[sectionSecond] = b.Bytes()
	return nil
}

// OpenSecond opens the second recording in a file.
func OpenSecond(file string) (*source.Input, error) {
	content, err := second(file)
	if err != nil {
		return nil, err
	}
	in := source.FromBytes(SecondOf(file), content)
	in.Name = filepath.Base(file) + " (B)"
	return in, nil
}

func second(file string) ([]byte, error) {
	fail := func(what string, err error) error { return &source.Error{Path: file, What: what, Err: err} }
	f, err := os.Open(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fail("there is no such file", err)
	} else if err != nil {
		return nil, fail("it cannot be read", err)
	}
	defer f.Close()
	var content []byte
	err = source.Protect(file, func() (err error) {
		content, err = Section(f, sectionSecond)
		return err
	})
	switch {
	case err != nil:
		return nil, fail(err.Error(), err)
	case content == nil:
		return nil, fail("it has only one recording", nil)
	}
	return content, nil
}
