//go:build linux

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"runtime"
	"runtime/debug"
	"strings"
	"time"

	"github.com/google/pprof/profile"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"ashlar/ingest"
)

// child runs the measurements that need a process of their own, so that only their time
// and memory are measured. Results go to standard output as JSON.
func child(what string, args []string) error {
	var result any
	var err error
	switch what {
	case "unpack":
		return unpackAlone(args[0])
	case "go-trace":
		return openGoTrace(args[0])
	case "pprof-library":
		return parseAlone(args[0])
	case "json-valid":
		result, err = validAlone(args[0])
	case "held":
		result, err = held(args[0])
	case "open-close":
		result, err = openMany(args)
	case "ranges":
		result, err = askRanges(args[0])
	case "calls":
		result, err = askCalls(args[0])
	case "search":
		result, err = askSearch(args[0])
	default:
		return fmt.Errorf("there is nothing called %q to run", what)
	}
	if err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(result)
}

// unpackAlone only decompresses a file, as loading does.
func unpackAlone(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	var z io.Reader
	if strings.HasSuffix(path, ".gz") {
		z, err = gzip.NewReader(f)
	} else {
		z, err = zstd.NewReader(f, zstd.WithDecoderConcurrency(min(4, runtime.GOMAXPROCS(0))))
	}
	if err != nil {
		return err
	}
	buf := make([]byte, 4<<20)
	for err == nil {
		_, err = io.ReadFull(z, buf)
	}
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		return nil
	}
	return err
}

// parseAlone only parses a pprof profile, with the format's own library.
func parseAlone(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = profile.Parse(f)
	return err
}

// validAlone checks on one core that a file, read into memory, is valid JSON, and returns
// the seconds that the check took.
func validAlone(path string) (float64, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return 0, err
	}
	began := time.Now()
	if !json.Valid(b) {
		return 0, nil // a trace that was cut off
	}
	return time.Since(began).Seconds(), nil
}

// heldMemory measures how much a loaded recording keeps, in bytes.
type heldMemory struct{ Held int64 }

const status = "/proc/self/status"

// settle collects garbage and gives free memory back to the system.
func settle() {
	for range 3 {
		runtime.GC()
	}
	debug.FreeOSMemory()
}

// held loads a recording and returns how much the process has grown, not counting mapped
// files.
func held(path string) (heldMemory, error) {
	settle()
	before := kilobytes(status, "RssAnon")
	l := ingest.Open(context.Background(), path, ingest.Options{})
	defer l.Close()
	if err := l.Wait(); err != nil {
		return heldMemory{}, err
	}
	settle()
	m := heldMemory{Held: kilobytes(status, "RssAnon") - before}
	runtime.KeepAlive(l)
	return m, nil
}

// growth is the memory that was left behind after opening and closing many recordings.
type growth struct {
	Before, After        int64 // bytes
	Goroutines, Mappings int
}

// openMany opens, reads and closes a hundred recordings one after the other. A few are
// opened before that, so that one-time allocations do not count.
func openMany(files []string) (g growth, err error) {
	open := func(n int) error {
		for i := range n {
			l := ingest.Open(context.Background(), files[i%len(files)], ingest.Options{})
			if err := l.Wait(); err != nil {
				return err
			}
			if err := l.Close(); err != nil {
				return err
			}
		}
		return nil
	}
	if err := open(len(files)); err != nil {
		return g, err
	}
	settle()
	g.Before = kilobytes(status, "RssAnon")
	routines, mappings := runtime.NumGoroutine(), mapped(files)
	// The runtime's own memory varies by a megabyte or two, while a leak only grows, so
	// the minimum of a few rounds shows a leak.
	for range 3 {
		if err := open(100); err != nil {
			return g, err
		}
		for i := 0; i < 200 && runtime.NumGoroutine() > routines; i++ {
			time.Sleep(5 * time.Millisecond)
		}
		settle()
		if n := kilobytes(status, "RssAnon"); g.After == 0 || n < g.After {
			g.After = n
		}
	}
	g.Goroutines, g.Mappings = runtime.NumGoroutine()-routines, mapped(files)-mappings
	return g, nil
}

// mapped returns the number of mappings of some files in this process.
func mapped(files []string) int {
	b, err := os.ReadFile("/proc/self/maps")
	if err != nil {
		return 0
	}
	n := 0
	for _, f := range files {
		n += strings.Count(string(b), f+"\n")
	}
	return n
}
