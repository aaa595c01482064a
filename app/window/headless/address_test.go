package headless

import (
	"bytes"
	"fmt"
	"image"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"ashlar/app/window/drawing"
	"ashlar/app/window/shell"
	"ashlar/render/golden"
	"ashlar/render/theme"
)

// wander and wanderBeside are commands that change the view of one recording and of two.
var (
	wander = []string{"Zoom in", "Zoom in", "Later", "Earlier", "Next event", "Next metric", "Next tab", "Next colour mode", "Scroll down", "Page down", "Fold or unfold thread", "Fold all threads",
		"Pin or unpin thread", "Move thread down", "Select next row", "Select next span", "Select first callee", "Extend selected time", "Zoom to selection", "Focus on selected function",
		"Merge selected function into callers", "Invert flamegraph (bottom-up)", "Sort flamegraph by time", "Flip flamegraph", "Callers and callees", "Callers and callees as lists", "Collapse recursion", "Merge by module", "Hide kernel frames",
		"Zoom to selected function", "Calls", "Heatmap", "Source", "About this file", "Table of functions", "Table of modules", "Table of threads", "Next span of function", "Hide thread"}
	wanderBeside = []string{"Zoom in", "Later", "Next tab", "Next tab", "Next normalisation", "Switch side", "Link or unlink sides", "Link by time or by calls", "Set anchor here", "Swap A and B", "Fold all threads", "Flip flamegraph", "Invert flamegraph (bottom-up)",
		"Extend selected time", "Select next row", "Select next span", "Scroll down", "Next colour mode"}
)

// TestAddressesShowTheSame runs random commands and checks that opening the resulting
// address draws the same picture.
func TestAddressesShowTheSame(t *testing.T) {
	differ := map[string]bool{}
	for seed := range uint64(addresses()) {
		r := rand.New(rand.NewPCG(seed, 11))
		s := shell.New(theme.Dark)
		commands := wander
		switch seed % 3 {
		case 0:
			s.OpenDemo()
		case 1:
			trace(t, s)
			path, err := filepath.Abs("trace.spall")
			if err != nil {
				t.Fatal(err)
			}
			s.Open(path) // addresses hold absolute paths
		case 2:
			twinFiles(t)
			dir, err := os.Getwd()
			if err != nil {
				t.Fatal(err)
			}
			s.Open(filepath.Join(dir, "before.json"))
			s.OpenBeside(filepath.Join(dir, "after.json"))
			commands = wanderBeside
		}
		pass(t, s)
		var did []string
		for range 3 + r.IntN(10) {
			did = append(did, commands[r.IntN(len(commands))])
			if r.IntN(6) == 0 {
				s.Pick([]string{"runtime.mallocgc", "parse", "render"}[r.IntN(3)])
			}
			if !s.Run(did[len(did)-1]) {
				t.Fatalf("there is no command %q", did[len(did)-1])
			}
			pass(t, s)
		}
		at := s.Address().String()
		want := still(t, s)

		back := shell.New(theme.Dark)
		back.Open(at)
		pass(t, back)
		got := still(t, back)
		if again := back.Address().String(); again != at {
			t.Errorf("seed %d, %s:\n%s became\n%s", seed, strings.Join(did, ", "), at, again)
		}
		if !bytes.Equal(got.Pix, want.Pix) {
			t.Errorf("seed %d, %s: what %s shows differs at %v", seed, strings.Join(did, ", "), at, golden.Unlike(got, want))
			for name, img := range map[string]*image.RGBA{fmt.Sprint(seed, "-want.png"): want, fmt.Sprint(seed, "-got.png"): got} {
				if err := drawing.WritePNG(t.ArtifactDir()+"/"+name, replaced, img, nil); err != nil {
					t.Error(err)
				}
			}
		}
		if slices.Contains(did, "Zoom in") && !strings.Contains(at, "show") {
			t.Errorf("seed %d: %s does not say what is seen", seed, at)
		}
		differ[at] = true
		s.Close()
		back.Close()
	}
	if n := addresses(); len(differ) < n*9/10 {
		t.Errorf("there were only %d addresses", len(differ))
	}
}

// addresses returns the number of addresses to try; the environment variable
// ASHLAR_ADDRESSES overrides it.
func addresses() int {
	if n, err := strconv.Atoi(os.Getenv("ASHLAR_ADDRESSES")); err == nil {
		return n
	}
	return 6
}

// still draws a snapshot of the shell, which lacks the keyboard focus and the messages of
// commands.
func still(t *testing.T, s *shell.Shell) *image.RGBA {
	t.Helper()
	img, err := Draw(s.Snapshot(), 1100, 700, 1)
	if err != nil {
		t.Fatal(err)
	}
	return img
}

// pass waits until all answers are in, then draws the shell.
func pass(t *testing.T, s *shell.Shell) *image.RGBA {
	t.Helper()
	var img *image.RGBA
	for range 2 { // a frame may ask new questions
		var err error
		if err = s.Finish(); err != nil && !strings.Contains(err.Error(), "normalise") {
			t.Fatal(err)
		}
		if img, err = Draw(s, 1100, 700, 1); err != nil {
			t.Fatal(err)
		}
	}
	return img
}
