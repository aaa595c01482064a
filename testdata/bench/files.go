//go:build linux

package main

import (
	"cmp"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/klauspost/compress/zstd"

	"ashlar/testdata/gen/synth"
)

// The recordings measured, with their sizes without -quick.
var (
	spall1 = recording{ext: ".spall", options: synth.Options{Kind: "spall1", Records: 40_000_000}}
	spall3 = recording{ext: ".spall", options: synth.Options{Kind: "spall3", Records: 100_000_000}}
	chrome = recording{ext: ".json", options: synth.Options{Kind: "chrome", Bytes: 1_000_000_000}}
	spaa   = recording{ext: ".spaa", options: synth.Options{Kind: "spaa", Bytes: 1_000_000_000}}
	spaaZ  = recording{ext: ".spaa", options: synth.Options{Kind: "spaa", Bytes: 1_000_000_000}, zstd: true}
	pprof  = recording{ext: ".pb.gz", options: synth.Options{Kind: "pprof", Records: 1_800_000}}
	folded = recording{ext: ".folded", options: synth.Options{Kind: "folded", Records: 300_000}}

	chromePaths = recording{ext: ".json", options: synth.Options{Kind: "chrome", Shape: "paths", Bytes: 447_000_000}}
	pprofPaths  = recording{ext: ".pb.gz", options: synth.Options{Kind: "pprof", Shape: "paths", Records: 600_000}}
)

func synthOptions(kind string, records, bytes int64) synth.Options {
	return synth.Options{Kind: kind, Records: records, Bytes: bytes}
}

// recording describes a recording that package synth makes.
type recording struct {
	ext     string
	options synth.Options
	zstd    bool
	gzip    bool
}

// file is a recording on disk.
type file struct {
	path    string
	bytes   int64
	summary synth.Summary
}

// quickly is the size of recordings with -quick.
const quickly = 50

// get makes a recording unless it is there already.
func (b *bench) get(r recording) (*file, error) {
	o := r.options
	if b.quick {
		o.Records, o.Bytes = o.Records/quickly, o.Bytes/quickly
	}
	name := o.Kind
	if o.Shape != "" {
		name += "-" + o.Shape
	}
	path := filepath.Join(b.dir, fmt.Sprintf("%s-%d%s", name, max(o.Records, o.Bytes), r.ext))
	f := &file{path: path}
	if err := f.describe(); err != nil {
		fmt.Fprintf(os.Stderr, "making %s\n", path)
		if err := make1(path, o); err != nil {
			return nil, err
		}
		if err := f.describe(); err != nil {
			return nil, err
		}
	}
	if r.zstd || r.gzip {
		ext, packer := ".zst", func(w io.Writer) (io.WriteCloser, error) { return zstd.NewWriter(w) }
		if r.gzip {
			ext, packer = ".gz", func(w io.Writer) (io.WriteCloser, error) { return gzip.NewWriter(w), nil }
		}
		f.path += ext
		if _, err := os.Stat(f.path); err != nil {
			if err := whole(f.path, func(w io.Writer) error { return pack(w, path, packer) }); err != nil {
				return nil, err
			}
		}
	}
	info, err := os.Stat(f.path)
	if err != nil {
		return nil, err
	}
	f.bytes = info.Size()
	return f, nil
}

// chooseDir sets the folder for recordings, and creates it.
func (b *bench) chooseDir() error {
	cache, _ := os.UserCacheDir()
	b.dir = cmp.Or(b.dir, os.Getenv("ASHLAR_BENCH_DIR"), filepath.Join(cache, "ashlar", "bench"))
	return os.MkdirAll(b.dir, 0o755)
}

// makeAll makes the recordings of all rows, so that measuring takes less time.
func (b *bench) makeAll() error {
	if err := b.chooseDir(); err != nil {
		return err
	}
	all := []recording{peerChrome, peerFolded, peerPprof, perfettoLarge}
	for name := range sizes {
		for _, s := range subjectsOf(name) {
			all = append(all, s.recording)
		}
	}
	for _, r := range all {
		if _, err := b.get(r); err != nil {
			return err
		}
	}
	return nil
}

// describe reads the generator's summary of a recording.
func (f *file) describe() error {
	if _, err := os.Stat(f.path); err != nil {
		return err
	}
	text, err := os.ReadFile(f.path + ".json")
	if err != nil {
		return err
	}
	return json.Unmarshal(text, &f.summary)
}

func make1(path string, o synth.Options) error {
	var sum *synth.Summary
	err := whole(path, func(w io.Writer) (err error) {
		sum, err = synth.Write(w, o)
		return err
	})
	if err != nil {
		return err
	}
	text, err := json.MarshalIndent(sum, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(path+".json", text, 0o644)
}

// whole writes a file completely or not at all.
func whole(path string, write func(io.Writer) error) error {
	f, err := os.CreateTemp(filepath.Dir(path), ".bench-*")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name()) // does nothing after the rename
	if err := errors.Join(write(f), f.Chmod(0o644), f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}

// pack compresses a file with a packer's usual settings.
func pack(w io.Writer, path string, packer func(io.Writer) (io.WriteCloser, error)) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	z, err := packer(w)
	if err != nil {
		return err
	}
	_, err = io.Copy(z, f)
	return errors.Join(err, z.Close())
}

// warm reads a file once, so that it is in the system's cache.
func (f *file) warm() error {
	r, err := os.Open(f.path)
	if err != nil {
		return err
	}
	defer r.Close()
	_, err = io.Copy(struct{ io.Writer }{io.Discard}, r)
	return err
}
