// Package series reads a series of runs of a program and describes how costs changed.
package series

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"sync/atomic"

	"ashlar/ingest/input/safetext"
	"ashlar/ingest/input/source"
	"ashlar/ingest/model/order"
	"ashlar/ingest/query/trend"
	"ashlar/render/units"
)

// mostReading is the maximum number of recordings that are in memory at once.
const mostReading = 4

// Each calls read for the runs 0 to n-1, some at once, until a call returns false or ctx ends.
func Each(ctx context.Context, n int, read func(i int) bool) {
	var next atomic.Int64
	var failed atomic.Bool
	var readers source.Group
	for range min(mostReading, runtime.GOMAXPROCS(0)) {
		readers.Go(func() {
			for !failed.Load() && ctx.Err() == nil {
				i := int(next.Add(1)) - 1
				if i >= n {
					return
				}
				if !read(i) {
					failed.Store(true)
				}
			}
		})
	}
	readers.Wait()
}

// ByTime sorts files by their times of modification.
func ByTime(files []string) error {
	at := map[string]int64{}
	for _, f := range files {
		info, err := os.Stat(f)
		if err != nil {
			return err
		}
		at[f] = info.ModTime().UnixNano()
	}
	order.By(files, func(a, b string) int { return int(min(1, max(-1, at[a]-at[b]))) })
	return nil
}

// MostFunctions is the number of functions in which changes are sought unless the user
// asks for others: those with the largest mean costs.
const MostFunctions = 30

// MostCompared is the maximum number of runs on each side of a comparison: those next to
// the change.
const MostCompared = 10

// Around returns the runs to compare for a change: those before it and those from it on.
func Around(runs []string, c *trend.Change) (before, after []string) {
	return runs[max(c.From, c.At-MostCompared):c.At], runs[c.At:min(c.To, c.At+MostCompared)]
}

// Names returns the names of files, with their folders if two names are the same.
func Names(files []string) []string {
	names := make([]string, len(files))
	seen := map[string]bool{}
	for i, f := range files {
		names[i] = filepath.Base(f)
		if seen[names[i]] {
			return withFolders(files)
		}
		seen[names[i]] = true
	}
	return names
}

func withFolders(files []string) []string {
	names := make([]string, len(files))
	for i, f := range files {
		names[i] = filepath.Join(filepath.Base(filepath.Dir(f)), filepath.Base(f))
	}
	return names
}

// Title names the metric, the number of runs, and the first and the last run.
func Title(r *trend.Runs, names []string) string {
	of := r.Metric.Name
	if r.Event != "" {
		of += " of " + r.Event
	}
	return fmt.Sprintf("%s over %s, %s to %s", safetext.Short(of), units.Plural(int64(len(names)), "run"), safetext.Short(names[0]), safetext.Short(names[len(names)-1]))
}

// Verdict sums up the changes of the total and of functions sorted as [trend.Runs.Find]
// does.
func Verdict(r *trend.Runs, functions []trend.Series, names []string) string {
	of := ""
	if len(functions) > 0 {
		if c := functions[0].Largest(); c != nil {
			of = " Largest change of a function: " + safetext.Short(functions[0].Function.Name) + " " + From(r, names, c) + "."
		}
	}
	switch c := r.Total.Largest(); {
	case c != nil:
		total := "Total " + From(r, names, c)
		if more := len(r.Total.Changes) - 1; more > 0 {
			total += ", and " + units.Plural(int64(more), "more change")
		}
		return total + "." + of
	case of != "":
		return "No lasting change of the total." + of
	}
	return "No lasting change."
}

// From describes a change: its size, the runs up to the next change, the means around it
// and the probability that it is chance.
func From(r *trend.Runs, names []string, c *trend.Change) string {
	until := "on"
	if c.To < len(names) {
		until = "to " + safetext.Short(names[c.To-1])
	}
	return fmt.Sprintf("%s from %s %s: %s to %s (%s)", Size(c), safetext.Short(names[c.At]), until, Value(r, c.Before), Value(r, c.After), Chance(c))
}

// Size returns the relative size of a change.
func Size(c *trend.Change) string { return units.Change(int64(c.Before+.5), int64(c.After+.5)) }

// Chance returns the probability that a change is chance.
func Chance(c *trend.Change) string { return fmt.Sprintf("p = %.2g", c.P) }

// Value formats a mean.
func Value(r *trend.Runs, v float64) string { return units.Value(int64(v+.5), &r.Metric) }

// Only says in which runs a new or removed function occurs; "" for other functions.
func Only(s *trend.Series, names []string) string {
	from, to, ok := s.Span()
	if !ok {
		return ""
	}
	return "only from " + safetext.Short(names[from]) + " to " + safetext.Short(names[to-1])
}
