package settings

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"ashlar/app/core/view"
	"ashlar/ingest/input/source"
)

// Marks holds the marks of a recording. It is also the content of an exported file.
type Marks struct {
	// Format and Version identify the type of file.
	Format  string `json:"format"`
	Version int    `json:"version"`
	// Recording is the key of the recording's content. Name is the last known name of its
	// file, for people.
	Recording string      `json:"recording"`
	Name      string      `json:"name,omitempty"`
	Marks     []view.Mark `json:"marks"`
}

// Values of Format and Version.
const (
	marksFormat  = "ashlar-marks"
	marksVersion = 1
)

func (m *Marks) check() error {
	if m.Format != marksFormat || m.Version != marksVersion {
		return fmt.Errorf("%q version %d instead of %q version %d", m.Format, m.Version, marksFormat, marksVersion)
	}
	return nil
}

// UnmarshalJSON reads marks. It fails if the format or version differs.
func (m *Marks) UnmarshalJSON(b []byte) error {
	type plain Marks
	var p plain
	if err := json.Unmarshal(b, &p); err != nil {
		return err
	}
	*m = Marks(p)
	return m.check()
}

// The key of a large file covers only parts of it: reading gigabytes would keep the disk
// busy for seconds.
const (
	keyBlock  = 64 << 10
	keyBlocks = 64
)

// Key returns a key that identifies a recording by its content, not its path: the
// SHA-256, in hex, of its size (64 bits, big-endian) and of 64 blocks of 64 KiB, evenly
// spaced from the beginning to the end. It covers all of a smaller content.
func Key(content io.ReaderAt, size int64) (string, error) {
	h := sha256.New()
	var n [8]byte
	binary.BigEndian.PutUint64(n[:], uint64(size))
	h.Write(n[:])
	if size <= keyBlock*keyBlocks {
		if _, err := io.Copy(h, io.NewSectionReader(content, 0, size)); err != nil {
			return "", err
		}
		return hex.EncodeToString(h.Sum(nil)), nil
	}
	for i := range int64(keyBlocks) {
		gap := size - keyBlock
		at := gap/(keyBlocks-1)*i + gap%(keyBlocks-1)*i/(keyBlocks-1)
		if _, err := io.Copy(h, io.NewSectionReader(content, at, keyBlock)); err != nil {
			return "", err
		}
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// FileKey returns the Key of a file. It returns "" for anything but a regular file,
// because other files have no lasting content.
func FileKey(path string) (key string, err error) {
	_, key, err = FileContent(path)
	return key, err
}

// FileContent returns the content digest of a file as used in addresses, and the full
// key.
func FileContent(path string) (c view.Content, key string, err error) {
	if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
		return c, "", err
	}
	f, err := source.OpenRegular(path)
	if err != nil {
		return c, "", err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return c, "", err
	}
	if key, err = Key(f, info.Size()); err != nil {
		return c, "", err
	}
	return view.Content{Size: info.Size(), Key: key[:view.KeyDigits]}, key, nil
}

var isKey = regexp.MustCompile(`^[0-9a-f]{64}$`)

func (s *Store) marksPath(key string) (string, error) {
	if !isKey.MatchString(key) {
		return "", fmt.Errorf("%q is not the key of a recording", key)
	}
	return filepath.Join(s.data, "marks", key+".json"), nil
}

// Marks returns the marks of a recording. If their file is invalid, it returns none, and
// Notes has a message.
func (s *Store) Marks(key string) ([]view.Mark, error) {
	path, err := s.marksPath(key)
	if err != nil {
		return nil, err
	}
	var m Marks
	if s.load(path, &m, false) == nil {
		return m.Marks, nil
	}
	m = Marks{}
	err = s.ChangeMarks(key, "", func(now []view.Mark) []view.Mark { m.Marks = now; return now })
	return m.Marks, err
}

// ChangeMarks lets f change the marks of a recording as currently stored. name is the
// recording's name, for lists; "" keeps the stored name.
func (s *Store) ChangeMarks(key, name string, f func([]view.Mark) []view.Mark) error {
	path, err := s.marksPath(key)
	if err != nil {
		return err
	}
	var m Marks
	return s.change(path, &m, func() { m = Marks{} }, func() {
		m.Format, m.Version, m.Recording = marksFormat, marksVersion, key
		if name != "" {
			m.Name = name
		}
		if m.Marks = f(m.Marks); m.Marks == nil {
			m.Marks = []view.Mark{}
		}
	})
}

// Export writes the marks of a recording as JSON.
func (s *Store) Export(w io.Writer, key, name string) error {
	marks, err := s.Marks(key)
	if err != nil {
		return err
	}
	return WriteMarks(w, key, name, marks)
}

// WriteMarks writes marks in the export format.
func WriteMarks(w io.Writer, key, name string, marks []view.Mark) error {
	if marks == nil {
		marks = []view.Mark{}
	}
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(Marks{marksFormat, marksVersion, key, name, marks})
}

// ReadMarks reads exported marks.
func ReadMarks(r io.Reader) (in Marks, err error) {
	b, err := io.ReadAll(io.LimitReader(r, mostFile))
	if err != nil {
		return in, fmt.Errorf("marks cannot be read: %w", err)
	}
	if err := json.Unmarshal(b, &in); err != nil {
		return in, fmt.Errorf("not a file of marks: %s", jsonTrouble(err))
	}
	for i := range in.Marks {
		if in.Marks[i].ID == "" {
			in.Marks[i].ID = rand.Text()
		}
	}
	return in, nil
}

// jsonTrouble says what is wrong with JSON, without the names of this program's types.
func jsonTrouble(err error) string {
	var kind *json.UnmarshalTypeError
	var syntax *json.SyntaxError
	var date *time.ParseError
	switch {
	case errors.As(err, &kind) && kind.Field == "":
		return "it is a JSON " + kind.Value + " instead of an object"
	case errors.As(err, &kind):
		field := kind.Field[strings.LastIndexByte(kind.Field, '.')+1:]
		return fmt.Sprintf("%q must not be a %s (byte %d)", field, kind.Value, kind.Offset)
	case errors.As(err, &date):
		return fmt.Sprintf("%q is not a time such as \"2026-01-31T12:00:00Z\"", date.Value)
	case errors.As(err, &syntax):
		return fmt.Sprintf("%v (byte %d)", syntax, syntax.Offset)
	}
	return err.Error()
}

// mostFile is the maximum size of a file of settings or marks, in bytes.
const mostFile = 64 << 20

// Import adds exported marks to those of a recording, replacing marks with the same id.
// If the marks were made on a different recording, other is that recording's name.
func (s *Store) Import(r io.Reader, key, name string) (added int, other string, err error) {
	in, err := ReadMarks(r)
	if err != nil {
		return 0, "", err
	}
	if in.Recording != key {
		if other = in.Name; other == "" {
			other = in.Recording
		}
	}
	err = s.ChangeMarks(key, name, func(now []view.Mark) []view.Mark {
		for _, m := range in.Marks {
			i := slices.IndexFunc(now, func(x view.Mark) bool { return x.ID == m.ID })
			if i >= 0 {
				now[i] = m
				continue
			}
			now = append(now, m)
			added++
		}
		return now
	})
	return added, other, err
}
