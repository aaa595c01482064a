package synth

import (
	"fmt"
	"slices"
	"strings"
)

// A shape is a variant of a kind of recording, in addition to the way in which programs
// usually write it.
type shape struct{ name, what string }

// Names of shapes used by several functions.
const (
	oneThread    = "one-thread"
	fractions    = "fractions"
	longNames    = "long-names"
	smallBuffers = "small-buffers"
	deepStacks   = "deep"
	manyLabels   = "labels"
	sortedKeys   = "sorted"
	automatic    = "auto"
	stackEach    = "stack-each"
	manyFrames   = "frames"
	heavyStacks  = "heavy"
	manyArgs     = "args"
	writtenNames = "written"
	packedTrace  = "packed"
	manyPaths    = "paths"
	recursion    = "recursion"
	millionNames = "million-names"
)

var shapes = map[string][]shape{
	"spall1": {
		{"", "names as long as they are"},
		{fractions, "times in µs with a fraction"},
		{longNames, "names of 30 characters"},
		{oneThread, "one thread"},
		{manyPaths, "nearly as many call paths as spans"},
	},
	"spall3": {
		{"", "buffers of some thousand events"},
		{smallBuffers, "buffers of some ten events"},
		{automatic, "of code that is traced as a whole: steps of addresses and times"},
		{manyPaths, "nearly as many call paths as spans"},
	},
	"spaa": {
		{"", "the type of a record first"},
		{sortedKeys, "the keys of each record sorted"},
		{stackEach, "a stack record for each sample"},
		{manyFrames, "200,000 frames"},
		{manyPaths, "a stack of 28 frames for each sample, which share hardly any path"},
	},
	"perfetto": {
		{"", "an argument at some of the slices"},
		{manyArgs, "an argument at each slice"},
		{writtenNames, "names that are written out at each slice, and not told by number once"},
		{packedTrace, "packets that are compressed in others"},
	},
	"pprof": {
		{"", "a label on each of many samples"},
		{deepStacks, "few samples, each with hundreds of locations"},
		{manyLabels, "labels that no other sample has, beside others"},
		{manyPaths, "stacks of 28 frames that share hardly any path"},
	},
	"folded": {{"", "up to 28 frames"}, {deepStacks, "few stacks, each of hundreds of frames"}, {heavyStacks, "500 stacks of large counts"}, {manyPaths, "stacks of 28 frames that share hardly any path"}},
}

// Shapes returns the names of the shapes of a kind; the first is "", the usual one.
func Shapes(kind string) (names []string) {
	for _, s := range shapesOf(kind) {
		names = append(names, s.name)
	}
	return names
}

// ShapeIs describes a shape.
func ShapeIs(kind, name string) string {
	for _, s := range shapesOf(kind) {
		if s.name == name {
			return s.what
		}
	}
	return ""
}

func shapesOf(kind string) []shape {
	if kind == "chrome" {
		all := make([]shape, len(chromeShapes))
		for i := range chromeShapes {
			all[i] = shape{chromeShapes[i].name, chromeShapes[i].what}
		}
		return all
	}
	if s := shapes[kind]; s != nil {
		return s
	}
	return []shape{{}}
}

// checkShape returns an error if a kind has no such shape.
func checkShape(kind, name string) error {
	if all := Shapes(kind); !slices.Contains(all, name) {
		if len(all) == 1 {
			return fmt.Errorf("%s has no shapes", kind)
		}
		return fmt.Errorf("%s has no shape %q: choose one of%s", kind, name, strings.Join(all, " "))
	}
	return nil
}

// ManyPaths reports whether recordings of a shape have nearly as many call paths as spans or
// samples.
func ManyPaths(shape string) bool {
	return shape == manyPaths || shape == recursion || shape == millionNames
}

// turns returns how many times in a row each stack is repeated in a shape.
func turns(name string) int {
	if name == deepStacks {
		return 20
	}
	return 1
}
