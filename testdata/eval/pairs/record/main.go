// Command record makes the recordings of testdata/eval/pairs: it builds a small program
// in three languages before and after planted changes, runs it under the profiler of its
// language, and writes the profiles. It needs go, g++, perf and node.
//
//	go run ./testdata/eval/pairs/record testdata/eval/pairs
package main

import (
	"bytes"
	"compress/gzip"
	_ "embed"
	"fmt"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"ashlar/testdata/eval/pairs"
)

//go:embed shop.go.txt
var goSource string

//go:embed shop.cc.txt
var ccSource string

//go:embed shop.js.txt
var jsSource string

// place is the folder in which the programs are built and run. Its name occurs in the
// recordings.
const place = "/tmp/shop"

func main() {
	log.SetFlags(0)
	if len(os.Args) != 2 {
		log.Fatal("usage: record FOLDER")
	}
	if err := os.MkdirAll(place, 0o755); err != nil {
		log.Fatal(err)
	}
	for _, p := range pairs.All {
		for side, c := range [2]pairs.Change{{}, p.Change} {
			if err := record(filepath.Join(os.Args[1], p.File(side)), p.Language, c); err != nil {
				log.Fatalf("%s: %v", p.File(side), err)
			}
		}
	}
	for _, language := range pairs.Languages {
		for i := range pairs.Unchanged {
			if err := record(filepath.Join(os.Args[1], pairs.UnchangedFile(language, i)), language, pairs.Change{}); err != nil {
				log.Fatalf("%s %d: %v", language, i, err)
			}
		}
		rounds(os.Args[1], language)
	}
}

// rounds records the pairs with several runs a side. Each program runs once in each round,
// so that a slow minute of the machine hits all of them alike.
func rounds(folder, language string) {
	for i := range pairs.Runs {
		programs := append([]pairs.Pair{{Language: language, Name: "before"}}, pairs.Several(language)...)
		for _, p := range programs {
			if err := record(filepath.Join(folder, pairs.RunFile(language, p.Name, i)), language, p.Change); err != nil {
				log.Fatalf("%s %s, run %d: %v", language, p.Name, i, err)
			}
		}
	}
}

// record builds and runs a changed program and writes its profile, unless it exists.
func record(to, language string, c pairs.Change) error {
	if _, err := os.Stat(to); err == nil {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return err
	}
	frames, workers := fmt.Sprint(c.Times(frames[language])), fmt.Sprint(max(1, c.Workers))
	profile := filepath.Join(place, "profile")
	os.RemoveAll(profile)
	switch language {
	case pairs.Go:
		bin, err := built(language, c, func(bin string) error {
			build := []string{"build", "-trimpath", "-o", bin}
			if c.Flags != "" {
				build = append(build, "-gcflags="+c.Flags)
			}
			return run("go", append(build, write("shop.go", goSource, c))...)
		})
		if err != nil {
			return err
		}
		if err := run(bin, "-o", profile, "-frames", frames, "-workers", workers); err != nil {
			return err
		}
		data, err := os.ReadFile(profile) // compressed already
		if err != nil {
			return err
		}
		return os.WriteFile(to, data, 0o644)
	case pairs.CPP:
		bin, err := built(language, c, func(bin string) error {
			flags := []string{"-O1", "-pthread", "-o", bin, write("shop.cc", ccSource, c)}
			return run("g++", append(flags, strings.Fields(c.Flags)...)...)
		})
		if err != nil {
			return err
		}
		if err := run("perf", "record", "-q", "-F", "499", "--call-graph", "dwarf,4096", "-e", "cpu-clock:u", "-o", profile, bin, frames, workers); err != nil {
			return err
		}
		text, err := exec.Command("perf", "script", "--no-inline", "-i", profile, "-F", "comm,pid,tid,time,event,ip,sym,dso").Output()
		if err != nil {
			return err
		}
		return compress(to, text)
	}
	src := write("shop.js", jsSource, c)
	flags := c.Flags
	if flags == "" {
		flags = "--no-turbo-inlining" // otherwise all of the program becomes one function
	}
	args := append(strings.Fields(flags), "--cpu-prof", "--cpu-prof-interval=2000", "--cpu-prof-dir="+place, "--cpu-prof-name=profile", src, frames)
	if err := run("node", args...); err != nil {
		return err
	}
	data, err := os.ReadFile(profile)
	if err != nil {
		return err
	}
	return compress(to, data)
}

// programs are the folders of the programs that were built, by language, changes of the
// text, and flags. A program runs under the same path as all others, since its path occurs
// in its recordings.
var programs = map[string]string{}

// built returns the path of a program, which build makes if it is needed for the first time.
func built(language string, c pairs.Change, build func(bin string) error) (bin string, err error) {
	key := fmt.Sprint(language, c.Replace, c.Flags)
	if programs[key] == "" {
		folder := filepath.Join(place, fmt.Sprint(len(programs)))
		if err := os.MkdirAll(folder, 0o755); err != nil {
			return "", err
		}
		if err := build(filepath.Join(folder, "shop")); err != nil {
			return "", err
		}
		programs[key] = folder
	}
	bin = filepath.Join(place, "shop")
	os.Remove(bin)
	return bin, os.Link(filepath.Join(programs[key], "shop"), bin)
}

// frames is the number of frames in a run, chosen so that a run takes two to three seconds.
var frames = map[string]int{pairs.Go: 20000, pairs.CPP: 5000, pairs.Node: 4000}

// write writes the source of a changed program and returns its path.
func write(name, source string, c pairs.Change) string {
	for _, r := range c.Replace {
		if !strings.Contains(source, r[0]) {
			log.Fatalf("%s has no %q", name, r[0])
		}
		source = strings.ReplaceAll(source, r[0], r[1])
	}
	path := filepath.Join(place, name)
	if err := os.WriteFile(path, []byte(source), 0o644); err != nil {
		log.Fatal(err)
	}
	return path
}

func run(name string, args ...string) error {
	out, err := exec.Command(name, args...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("%s: %w\n%s", name, err, out)
	}
	return nil
}

// compress writes data to a gzip file.
func compress(to string, data []byte) error {
	var b bytes.Buffer
	w, _ := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if _, err := w.Write(data); err != nil {
		return err
	}
	if err := w.Close(); err != nil {
		return err
	}
	return os.WriteFile(to, b.Bytes(), 0o644)
}
