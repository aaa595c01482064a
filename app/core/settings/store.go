// Package settings stores what Ashlar remembers between runs: settings in one file, and
// the marks of each recording in a file of their own.
//
// Settings are settings.json in the folder ashlar of the user's configuration
// ($XDG_CONFIG_HOME or ~/.config; ~/Library/Application Support; %AppData%); see
// [Settings] for the members. Marks are marks/KEY.json in the folder ashlar of the user's
// data ($XDG_DATA_HOME or ~/.local/share; otherwise as for the configuration); see [Key].
//
// Files are written atomically (see package outfile), so readers see either the old or the
// new version. Changes are made under a lock, so that concurrent instances do not lose
// each other's changes. A file that cannot be parsed is renamed and reported, never
// overwritten.
package settings

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"time"

	"ashlar/app/desktop/filelock"
	"ashlar/app/desktop/outfile"
	"ashlar/ingest/input/source"
)

// Store reads and writes settings and marks. Its methods may be called from any
// goroutine.
type Store struct {
	config, data string
	mu           sync.Mutex
	notes        []string
}

// Open returns the Store in the user's folders, which are created with the first write.
func Open() (*Store, error) {
	config, err := os.UserConfigDir()
	if err != nil {
		return nil, fmt.Errorf("there is no folder for settings: %w", err)
	}
	data := config
	if runtime.GOOS != "windows" && runtime.GOOS != "darwin" {
		if data = os.Getenv("XDG_DATA_HOME"); !filepath.IsAbs(data) {
			home, err := os.UserHomeDir()
			if err != nil {
				return nil, fmt.Errorf("there is no folder for marks: %w", err)
			}
			data = filepath.Join(home, ".local", "share")
		}
	}
	return In(filepath.Join(config, "ashlar"), filepath.Join(data, "ashlar")), nil
}

// In returns a Store in the two given folders.
func In(config, data string) *Store { return &Store{config: config, data: data} }

// Notes returns the messages about renamed files. It returns each message once.
func (s *Store) Notes() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := s.notes
	s.notes = nil
	return n
}

func (s *Store) note(format string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.notes = append(s.notes, fmt.Sprintf(format, args...))
}

// load reads a JSON file into v; without a file, v stays as it is. An invalid file is
// renamed if change is true.
func (s *Store) load(path string, v any, change bool) error {
	b, err := read(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("%s: cannot be read: %w", path, err)
	}
	bad := json.Unmarshal(b, v)
	if bad == nil || !change {
		return bad
	}
	aside := fmt.Sprintf("%s.broken-%s", path, time.Now().Format("20060102-150405.000000"))
	if err := os.Rename(path, aside); err != nil {
		return fmt.Errorf("%s: damaged (%w), and cannot be renamed: %w", path, bad, err)
	}
	s.note("%s is invalid (%v). It was renamed to %s; the default settings are used.", path, bad, filepath.Base(aside))
	return bad
}

// read returns the content of a file of ours.
func read(path string) ([]byte, error) {
	f, err := source.OpenRegular(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, mostFile+1))
	if err == nil && len(b) > mostFile {
		err = fmt.Errorf("larger than %d MB", mostFile>>20)
	}
	return b, err
}

// change reads a file, lets f change its content and writes it, while other instances are
// locked out. fresh resets v after an invalid file was renamed.
func (s *Store) change(path string, v any, fresh, f func()) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return fmt.Errorf("%s: cannot be created: %w", filepath.Dir(path), err)
	}
	unlock, err := lock(path + ".lock")
	if err != nil {
		return err
	}
	defer unlock()
	if err := s.load(path, v, true); err != nil {
		if _, gone := os.Lstat(path); !errors.Is(gone, fs.ErrNotExist) {
			return err // the file still exists: do not overwrite it
		}
		fresh()
	}
	f()
	b, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return fmt.Errorf("%s: cannot be written: %w", path, err)
	}
	return outfile.Write(path, outfile.Options{Replace: true, Mode: 0o600}, func(w io.Writer) error {
		_, err := w.Write(append(b, '\n'))
		return err
	})
}

// patience is how long a change waits while another program holds the lock. A change
// takes milliseconds, so a program that holds the lock longer hangs.
const patience = 3 * time.Second

// lock waits for the lock of a file. On file systems without locks, it returns without
// one.
func lock(path string) (unlock func(), err error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("%s: cannot be opened: %w", path, err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	switch err := filelock.Wait(ctx, f); {
	case err == nil, errors.Is(err, errors.ErrUnsupported):
		return func() { f.Close() }, nil
	case errors.Is(err, context.DeadlineExceeded):
		err = fmt.Errorf("not saved: another program has held the lock for %v; end that program", patience)
		fallthrough
	default:
		f.Close()
		return nil, fmt.Errorf("%s: %w", path, err)
	}
}
