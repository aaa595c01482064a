package chrome

import (
	"bytes"
	"context"
	"encoding/json"

	"ashlar/ingest/format/decode"
	"ashlar/ingest/input/jsonscan"
	"ashlar/ingest/input/source"
	"ashlar/ingest/model/recording"
)

// profileTree is a .cpuprofile as V8 wrote it until 2016 (Profiler.CPUProfile of version
// 1.1 of Chrome's DevTools protocol; Node.js before 8): nodes are nested, lines and
// columns count from 1, startTime and endTime are in seconds, and timestamps, which the
// oldest files lack, in microseconds.
type profileTree struct {
	Head               *treeNode
	StartTime, EndTime float64
	Samples            []int64
	Timestamps         []float64
}

type treeNode struct {
	FunctionName             string
	URL                      string
	LineNumber, ColumnNumber float64
	HitCount                 float64
	ID                       *int64
	Children                 []treeNode
}

// isProfileTree reports whether b begins with the keys of a profileTree.
func isProfileTree(b []byte, whole bool) bool {
	keys, _ := jsonscan.Keys(b, whole)
	return keys["head"] && !keys["nodes"] && bytes.Contains(b, []byte(`"functionName"`))
}

// mostTree is the maximum size of a file with a profileTree, in bytes. The file is read
// as one value.
const mostTree = 1 << 30

// runProfile reads a .cpuprofile of either form.
func runProfile(ctx context.Context, in *source.Input, b *recording.Builder, opt decode.Options) error {
	head, whole, err := in.Head(4 << 10)
	if err != nil {
		return err
	}
	if text := value(head); len(text) == 0 || text[0] != '{' || !isProfileTree(text, whole) {
		return run(ctx, in, b, opt)
	}
	text, err := in.All(mostTree)
	if err != nil {
		return err
	}
	var t profileTree
	if err := json.Unmarshal(value(text), &t); err != nil || t.Head == nil {
		return &source.Error{Path: in.Path, What: "is a truncated or damaged V8 CPU profile of the old form (a tree); record it again with node --cpu-prof or DevTools"}
	}
	flat, err := json.Marshal(t.flat())
	if err != nil {
		return err
	}
	of := source.FromBytes(in.Name, flat)
	of.Path = in.Path
	defer of.Close()
	return run(ctx, of, b, opt)
}

// flat returns the profile in the form that V8 writes today.
func (t *profileTree) flat() any {
	nodes := []map[string]any{}
	unnamed := int64(-1)
	var add func(n *treeNode, parent *int64)
	add = func(n *treeNode, parent *int64) {
		if n.ID == nil {
			id := unnamed
			n.ID, unnamed = &id, unnamed-1
		}
		node := map[string]any{
			"id": *n.ID, "hitCount": int64(n.HitCount),
			"callFrame": map[string]any{"functionName": n.FunctionName, "url": n.URL, "lineNumber": int64(n.LineNumber) - 1, "columnNumber": int64(n.ColumnNumber) - 1},
		}
		if parent != nil {
			node["parent"] = *parent
		}
		nodes = append(nodes, node)
		for i := range n.Children {
			add(&n.Children[i], n.ID)
		}
	}
	add(t.Head, nil)
	const second = 1e6 // µs per second
	start, end := t.StartTime*second, t.EndTime*second
	at, deltas := start, make([]int64, len(t.Samples))
	for i := range deltas {
		next := start + (end-start)*float64(i)/float64(len(deltas))
		if i < len(t.Timestamps) {
			next = t.Timestamps[i]
		}
		deltas[i] = int64(next) - int64(at)
		at = next
	}
	return map[string]any{"nodes": nodes, "samples": append([]int64{}, t.Samples...), "timeDeltas": deltas, "startTime": int64(start), "endTime": int64(end)}
}
