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
	"ashlar/ingest/input/source"
	"ashlar/ingest/model/order"
	"ashlar/ingest/model/recording"
	"ashlar/ingest/query/compare"
)

// Cache stores recordings in a folder. A nil Cache stores nothing. Its methods may be
// called from any goroutine.
type Cache struct {
	dir string
	appstore.CacheSettings
	most int64 // bytes
	// free returns the free and total bytes of the disk.
	free func(dir string) (free, total int64, known bool)
	// program identifies the build of Ashlar, since another build may read a file
	// differently.
	program string

	under sync.WaitGroup // entries being written
	ctx   context.Context
	stop  context.CancelFunc
}

// Open opens the cache in the user's cache folder, which is created with the first entry.
// It returns nil if caching is off or there is no such folder.
func Open(s appstore.CacheSettings) *Cache {
	dir, err := os.UserCacheDir()
	if err != nil || s.Off {
		return nil
	}
	return In(filepath.Join(dir, "ashlar", "recordings"), s)
}

// Scratch returns the folder for unnamed temporary files: see [ingest.Options.Scratch].
func Scratch() string {
	dir, err := os.UserCacheDir()
	if err != nil {
		return ""
	}
	return filepath.Join(dir, "ashlar")
}

// In returns a cache in the given folder.
func In(dir string, s appstore.CacheSettings) *Cache {
	c := &Cache{dir: dir, CacheSettings: s.WithDefaults(), most: s.WithDefaults().Most * 1e6, free: diskSpace, program: version.String()}
	c.ctx, c.stop = context.WithCancel(context.Background())
	// Builds may have the same version, so identify them also by the executable's size
	// and time.
	if path, err := os.Executable(); err == nil {
		if info, err := os.Stat(path); err == nil {
			c.program += fmt.Sprint(" ", info.Size(), " ", info.ModTime().UnixNano())
		}
	}
	return c
}

// origin identifies the state of the file that a recording was read from.
type origin struct {
	Path    string    `json:"path"` // absolute
	Bytes   int64     `json:"bytes"`
	Changed time.Time `json:"changed"`
	// Place identifies the file on this machine and contains the time of its last change
	// of any kind, if the system provides them.
	Place   string `json:"place"`
	Content string `json:"content"` // see appstore.Key
	Exe     string `json:"exe,omitempty"`
	Program string `json:"program"`
	Layout  uint64 `json:"layout"`
	// Format and Spans are shown in lists and do not identify the file.
	Format string `json:"format,omitempty"`
	Spans  int64  `json:"spans,omitempty"`
}

// sectionOrigin is the section of an entry with its origin.
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
	f, err := source.OpenRegular(path)
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

// lookThere is look for a file on another machine, which it asks over ssh. The clocks may
// differ, so changed stays zero: the file counts as settled.
func (c *Cache) lookThere(path string) (from origin, changed time.Time, ok bool) {
	is, err := ssh.Stat(c.ctx, path)
	if err != nil || is.Content == "" || is.Bytes < c.Least*1e6/16 { // transfer takes longer than reading, so cache smaller files too
		return from, changed, false
	}
	return origin{Path: path, Bytes: is.Bytes, Changed: is.Changed, Content: is.Content,
		Program: c.program, Layout: recording.Layout()}, changed, true
}

// exeOf identifies the program that function names come from.
func exeOf(path string) string {
	info, err := os.Stat(path)
	if path == "" || err != nil {
		return path
	}
	return fmt.Sprint(path, " ", info.Size(), " ", info.ModTime().UnixNano())
}

// excluded reports whether a file is in a folder that must not be cached.
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

// name returns the path of the entry for an origin.
func (c *Cache) name(from origin) string {
	from.Format, from.Spans = "", 0
	b, _ := json.Marshal(from) // an origin can always be encoded
	sum := sha256.Sum256(b)
	return filepath.Join(c.dir, hex.EncodeToString(sum[:16])+extension)
}

const extension = ".ashlar"

// Look returns the cached recording of a file, nil if there is none. keep stores the
// recording read now, in two steps (see [ingest.Cache]); it is nil if the recording is
// not to be stored. remark is a sentence about an unusable entry.
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
		then := "was deleted"
		if os.Remove(c.name(from)) != nil {
			then = "cannot be deleted: " + c.name(from)
		}
		remark = fmt.Sprintf("the cached copy of this file was unusable (%v) and %s; the file was read again", err, then)
	}
	// A file changed within the last tick of the system's clock may change again without
	// a new time.
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
			_ = c.keep(ctx, from, path, o, rec) // the recording is usable without the cache
		}
	}, remark
}

// settled is how long a file must have been unchanged to be cached.
const settled = 100 * time.Millisecond

// open opens the entry for an origin and marks it as used.
func (c *Cache) open(from origin) (*recording.Recording, error) {
	name := c.name(from)
	f, err := source.OpenRegular(name)
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

// keep stores a recording, unless the file changed meanwhile.
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
		return nil // another program stored it first
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

// lock lets only one program write at a time; others would write the same entry.
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

// watched is a file that stops accepting writes if writing is cancelled, the file is too
// large, or the disk is nearly full.
type watched struct {
	*outfile.File
	cache   *Cache
	ctx     context.Context
	at, due int64
}

// lookEvery is the number of bytes between checks of the disk's free space.
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

// Entry is a cached recording.
type Entry struct {
	Path   string    `json:"path"` // path of the file it was read from
	Format string    `json:"format"`
	Bytes  int64     `json:"bytes"`      // size of the entry on disk
	Of     int64     `json:"file_bytes"` // size of the original file
	Used   time.Time `json:"used"`
	name   string
}

// List lists the entries, most recently used first.
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
	order.By(all, func(a, b Entry) int { return b.Used.Compare(a.Used) })
	return all, nil
}

func originOf(name string) (from origin, err error) {
	f, err := source.OpenRegular(name)
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

// globbed returns a pattern that matches only the given path.
func globbed(path string) string {
	if os.PathSeparator == '\\' {
		return path
	}
	return strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`).Replace(path)
}

// Dir returns the cache's folder.
func (c *Cache) Dir() string { return c.dir }

// Clean removes all entries and returns their size in bytes.
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

// tidy removes older entries of the same file. If the cache is too large or the disk too
// full, it also removes the least recently used entries, except the newest.
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

// Wait waits until all pending entries are written.
func (c *Cache) Wait() {
	if c != nil {
		c.under.Wait()
	}
}

// Close cancels pending writes and waits for them to end.
func (c *Cache) Close() {
	if c != nil {
		c.stop()
		c.under.Wait()
	}
}
