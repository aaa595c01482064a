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

// secondMark, appended to a file's path, names the second of two recordings in it, which
// is compared with the first.
const secondMark = "#b"

// sectionSecond holds the second recording, in the same form as a file of its own.
const sectionSecond = "second recording"

// SecondOf returns the path that names the second recording in a file.
func SecondOf(path string) string { return path + secondMark }

// Second splits a path made by SecondOf; ok is false for the path of an ordinary file.
func Second(path string) (file string, ok bool) {
	file, ok = strings.CutSuffix(path, secondMark)
	if !ok || !strings.EqualFold(filepath.Ext(file), Format.Extensions[0]) {
		return "", false
	}
	_, err := os.Stat(path)
	return file, errors.Is(err, fs.ErrNotExist)
}

// Add stores a recording in the sections of a file, as its second recording.
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
	f, err := source.OpenRegular(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fail("there is no such file", err)
	} else if err != nil {
		return nil, fail("cannot be read", err)
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
		return nil, fail("has only one recording", nil)
	}
	return content, nil
}
