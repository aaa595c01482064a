// Package cache stores decoded large recordings in the user's cache folder so that they
// reopen quickly.
//
// Entries are ashlar/recordings/NAME.ashlar in the cache folder ($XDG_CACHE_HOME or
// ~/.cache; ~/Library/Caches; %LocalAppData%), files of package store that only the user
// can read. NAME is a digest of everything that decides the result: the file's path, size,
// modification time and parts of its content, and the version of Ashlar. A changed file
// gets another name, so an outdated entry is never shown. Entries appear when they are
// complete (see package outfile), and mapped data stays readable when another program
// removes the entry.
package cache

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	appstore "ashlar/app/core/settings"
	"ashlar/app/desktop/filelock"
	"ashlar/app/desktop/outfile"
	"ashlar/app/desktop/version"
	"ashlar/ingest"
	"ashlar/ingest/fetch/ssh"
	"ashlar/ingest/format/decode"
	"ashlar/ingest/format/store"
	"ashlar/ingest/model/recording"
	"ashlar/ingest/query/compare"
)

// Cache is where recordings are kept. A nil one keeps nothing. Its methods may be called
// from any goroutine.
type Cache struct {
	dir string
	appstore.CacheSettings
	most int64 // bytes
	// free is how many bytes of a disk are free, and how many it has.
	free func(dir string) (free, total int64, known bool)
	// program tells builds of Ashlar apart, which may read a file otherwise.
	program string

	under sync.WaitGroup // what is being kept
	ctx   context.Context
	stop  context.CancelFunc
}

// Open finds the user's folder, which is made when something is kept. It is nil if
// nothing is to be kept, and if there is no such folder.
func Open(s appstore.CacheSettings) *Cache {
	dir, err := os.UserCacheDir()
	if err != nil || s.Off {
		return nil
	}
	return In(filepath.Join(dir, "ashlar", "recordings"), s)
}

// Scratch is the folder for files without names: see [ingest.Options.Scratch].
func Scratch() string {
	dir, err := os.UserCacheDir()
	if err != nil {
		return ""
	}
	return filepath.Join(dir, "ashlar")
}

// In keeps recordings in a given folder.
func In(dir string, s appstore.CacheSettings) *Cache {
	c := &Cache{dir: dir, CacheSettings: s.WithDefaults(), most: s.WithDefaults().Most * 1e6, free: diskSpace, program: version.String()}
	c.ctx, c.stop = context.WithCancel(context.Background())
	// Builds without a number of their own differ by their files.
	if path, err := os.Executable(); err == nil {
		if info, err := os.Stat(path); err == nil {
			c.program += fmt.Sprint(" ", info.Size(), " ", info.ModTime().UnixNano())
		}
	}
	return c
}

// origin describes the file that a recording was read from, to see whether it still is the same.
type origin struct {
	Path    string    `json:"path"` // absolute
	Bytes   int64     `json:"bytes"`
	Changed time.Time `json:"changed"`
	// Place tells it from all other files that there are on this machine, and has when
	// anything about it was changed last, where the system tells.
	Place   string `json:"place"`
	Content string `json:"content"` // see appstore.Key
	Exe     string `json:"exe,omitempty"`
	Program string `json:"program"`
	Layout  uint64 `json:"layout"`
	// Format and Spans are for lists.
	Format string `json:"format,omitempty"`
	Spans  int64  `json:"spans,omitempty"`
}

// sectionOrigin is the section of a file that has the origin.
const sectionOrigin = "origin"

// look returns the current identity of a file; ok is false for files that are not cached,
// such as small ones. It reads a few MB.
func (c *Cache) look(path string, o decode.Options) (from origin, changed time.Time, ok bool) {
	if ssh.IsURL(path) {
		return c.lookThere(path)
	}
	path, err := filepath.Abs(path)
	if err != nil || c.excluded(path) {
		return from, changed, false
	}
	f, err := os.Open(path)
	if err != nil {
		return from, changed, false
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() || info.Size() < c.Least*1e6 {
		return from, changed, false
	}
	content, err := appstore.Key(f, info.Size())
	if err != nil {
		return from, changed, false
	}
	place, changed := placeOf(info)
	return origin{Path: path, Bytes: info.Size(), Changed: info.ModTime().UTC(), Place: place, Content: content,
		Exe: exeOf(o.Exe), Program: c.program, Layout: recording.Layout()}, changed, true
}

// lookThere is look of a file on another machine, which is asked. Their clocks differ:
// it is held for settled.
func (c *Cache) lookThere(path string) (from origin, changed time.Time, ok bool) {
	is, err := ssh.Stat(c.ctx, path)
	if err != nil || is.Content == "" || is.Bytes < c.Least*1e6/16 { // bringing it here takes longer than reading it
		return from, changed, false
	}
	return origin{Path: path, Bytes: is.Bytes, Changed: is.Changed, Content: is.Content,
		Program: c.program, Layout: recording.Layout()}, changed, true
}

// exeOf says which program names are taken from.
func exeOf(path string) string {
	info, err := os.Stat(path)
	if path == "" || err != nil {
		return path
	}
	return fmt.Sprint(path, " ", info.Size(), " ", info.ModTime().UnixNano())
}

// excluded reports whether a file is in a folder of which nothing is kept.
func (c *Cache) excluded(path string) bool {
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		real = path
	}
	return slices.ContainsFunc(c.Private, func(dir string) bool {
		dir = filepath.Clean(dir)
		in := func(p string) bool {
			rel, err := filepath.Rel(dir, p)
			return err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
		}
		return in(path) || in(real)
	})
}

// name is where a recording of such an origin is kept.
func (c *Cache) name(from origin) string {
	from.Format, from.Spans = "", 0
	b, _ := json.Marshal(from) // which has nothing that cannot be
	sum := sha256.Sum256(b)
	return filepath.Join(c.dir, hex.EncodeToString(sum[:16])+extension)
}

const extension = ".ashlar"

// Look returns the recording that was kept of a file, nil if there is none. keep
// keeps what is read of it now, in two steps (see [ingest.Cache]); it is nil if that
// shall not be kept. remark is a
// sentence about what was kept and cannot be used.
func (c *Cache) Look(path string, o decode.Options) (rec *recording.Recording, keep func(context.Context, *recording.Recording) (work func()), remark string) {
	if c == nil {
		return nil, nil, ""
	}
	from, changed, ok := c.look(path, o)
	if !ok {
		return nil, nil, ""
	}
	looked := time.Now()
	if rec, err := c.open(from); err == nil {
		rec.Source.Path, rec.Source.Name = path, filepath.Base(path)
		if ssh.IsURL(path) {
			rec.Source.Name = ssh.Name(path)
		}
		return rec, nil, ""
	} else if !errors.Is(err, fs.ErrNotExist) {
		_ = os.Remove(c.name(from))
		remark = fmt.Sprintf("the cached copy of this file was unusable (%v) and was deleted; the file was read again", err)
	}
	// A file that was changed within the last ticks of the system's clock may be changed
	// once more without another time.
	if looked.Sub(changed) < settled {
		return nil, nil, remark
	}
	return nil, func(ctx context.Context, rec *recording.Recording) func() {
		c.under.Add(1)
		return func() {
			defer c.under.Done()
			ctx, cancel := context.WithCancel(ctx)
			defer cancel()
			defer context.AfterFunc(c.ctx, cancel)()
			_ = c.keep(ctx, from, path, o, rec) // there is the recording anyway
		}
	}, remark
}

// settled is how long a file must have been as it is to be kept.
const settled = 100 * time.Millisecond

// open opens what was kept of an origin, and notes that it was used.
func (c *Cache) open(from origin) (*recording.Recording, error) {
	name := c.name(from)
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	stored, err := store.Open(c.ctx, f)
	if err != nil {
		return nil, err
	}
	var was origin
	if err := json.Unmarshal(stored.Sections[sectionOrigin], &was); err != nil || c.name(was) != name {
		return nil, errors.New("it belongs to another file")
	}
	now := time.Now()
	_ = os.Chtimes(name, now, now) // another program may have removed it
	return stored.Recording, nil
}

// keep writes a recording down, unless the file has become another meanwhile.
func (c *Cache) keep(ctx context.Context, from origin, path string, o decode.Options, rec *recording.Recording) error {
	if err := os.MkdirAll(c.dir, 0o700); err != nil {
		return err
	}
	unlock, err := c.lock(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	name := c.name(from)
	if _, err := os.Stat(name); err == nil {
		return nil // another program was first
	}
	if now, _, ok := c.look(path, o); !ok || c.name(now) != name {
		return errors.New("the file changed while it was read")
	}
	from.Format, from.Spans = rec.Source.Format, rec.Counts.Spans
	about, err := json.Marshal(from)
	if err != nil {
		return err
	}
	out, err := outfile.Create(name, outfile.Options{Replace: true, Mode: 0o600})
	if err != nil {
		return err
	}
	defer out.Close()
	whole := *rec
	whole.Warnings = slices.DeleteFunc(slices.Clone(rec.Warnings), func(w recording.Warning) bool { return w.Code == ingest.WarnKept })
	if whole.Durations, err = compare.SumDurations(ctx, rec); err != nil {
		return err
	}
	w := &watched{File: out, cache: c, ctx: ctx}
	if err := store.Write(w, &whole, map[string][]byte{sectionOrigin: about}, !ssh.IsURL(path)); err != nil {
		return err
	}
	if now, _, ok := c.look(path, o); !ok || c.name(now) != name {
		return errors.New("the file changed while it was read")
	}
	if err := out.Commit(); err != nil {
		return err
	}
	c.tidy(name, from.Path)
	return nil
}

// lock has one program write at a time: they would write the same.
func (c *Cache) lock(ctx context.Context) (unlock func(), err error) {
	f, err := os.OpenFile(filepath.Join(c.dir, "lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	if err := filelock.Wait(ctx, f); err != nil && !errors.Is(err, errors.ErrUnsupported) {
		f.Close()
		return nil, err
	}
	return func() { f.Close() }, nil
}

// watched writes a file for as long as somebody wants it and the disk has room.
type watched struct {
	*outfile.File
	cache   *Cache
	ctx     context.Context
	at, due int64
}

// lookEvery is how much is written between looks at the disk.
const lookEvery = 64 << 20

func (w *watched) Write(b []byte) (int, error) {
	if w.ctx.Err() != nil {
		return 0, w.ctx.Err()
	}
	if w.at+int64(len(b)) > w.cache.most {
		return 0, errors.New("it is larger than the cache")
	}
	if w.at >= w.due {
		w.due = w.at + lookEvery
		if free, total, known := w.cache.free(w.cache.dir); known && free-lookEvery < total/100*w.cache.Free {
			return 0, errors.New("the disk is nearly full")
		}
	}
	w.at += int64(len(b))
	return w.File.Write(b)
}

var _ io.Writer = (*watched)(nil)

// Entry is a recording that is kept.
type Entry struct {
	Path   string    `json:"path"` // of the file it was read from
	Format string    `json:"format"`
	Bytes  int64     `json:"bytes"`      // on the disk
	Of     int64     `json:"file_bytes"` // of the file
	Used   time.Time `json:"used"`
	name   string
}

// List lists what is kept, the last used first.
func (c *Cache) List() (all []Entry, err error) {
	if c == nil {
		return nil, nil
	}
	names, err := filepath.Glob(filepath.Join(globbed(c.dir), "*"+extension))
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		info, err := os.Lstat(name)
		if err != nil || !info.Mode().IsRegular() {
			continue
		}
		e := Entry{Bytes: info.Size(), Used: info.ModTime(), name: name}
		if from, err := originOf(name); err == nil {
			e.Path, e.Format, e.Of = from.Path, from.Format, from.Bytes
		}
		all = append(all, e)
	}
	slices.SortStableFunc(all, func(a, b Entry) int { return b.Used.Compare(a.Used) })
	return all, nil
}

func originOf(name string) (from origin, err error) {
	f, err := os.Open(name)
	if err != nil {
		return from, err
	}
	defer f.Close()
	b, err := store.Section(f, sectionOrigin)
	if err != nil {
		return from, err
	}
	return from, json.Unmarshal(b, &from)
}

// globbed is a pattern that only a path matches.
func globbed(path string) string {
	if os.PathSeparator == '\\' {
		return path
	}
	return strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`).Replace(path)
}

// Dir is where recordings are kept.
func (c *Cache) Dir() string { return c.dir }

// Clean removes all that is kept and returns how much that was.
func (c *Cache) Clean() (bytes int64, err error) {
	all, err := c.List()
	for _, e := range all {
		if rerr := os.Remove(e.name); rerr != nil && !errors.Is(rerr, fs.ErrNotExist) {
			err = errors.Join(err, rerr)
			continue
		}
		bytes += e.Bytes
	}
	return bytes, err
}

// tidy removes what was kept of a file before, and what was used longest ago where it
// is too much in total, or the disk is too full. The newest stays.
func (c *Cache) tidy(newest, path string) {
	all, err := c.List()
	if err != nil {
		return
	}
	sum := int64(0)
	for _, e := range all {
		if e.name == newest {
			sum += e.Bytes
		}
	}
	for _, e := range all {
		if e.name == newest {
			continue
		}
		free, total, known := c.free(c.dir)
		if e.Path == path || sum+e.Bytes > c.most || known && free < total/100*c.Free {
			_ = os.Remove(e.name)
			continue
		}
		sum += e.Bytes
	}
}

// Wait waits until all that is to be kept is.
func (c *Cache) Wait() {
	if c != nil {
		c.under.Wait()
	}
}

// Close gives up what is being kept, and waits for that.
func (c *Cache) Close() {
	if c != nil {
		c.stop()
		c.under.Wait()
	}
}
