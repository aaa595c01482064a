// Package heapprofile reads V8's heap profiles (.heapprofile), which Chrome's DevTools
// ("Allocation sampling") and `node --heap-prof` write: a call tree with the bytes
// allocated and still in use at each node. See HeapProfiler's SamplingHeapProfile in
// https://chromedevtools.github.io/devtools-protocol/v8.
package heapprofile

import (
	"bytes"
	"context"
	"errors"

	"ashlar/ingest/format/codec"
	"ashlar/ingest/format/decode"
	"ashlar/ingest/format/v8"
	"ashlar/ingest/input/jsonscan"
	"ashlar/ingest/input/source"
	"ashlar/ingest/model/recording"
)

// Format is V8's heap profile format.
var Format = codec.Format{
	Name:       "heapprofile",
	Title:      "V8 heap profile",
	Plural:     "V8 heap profiles",
	Holds:      "stacks with bytes allocated and still in use",
	Extensions: []string{".heapprofile"},
	Sniff:      Sniff,
	Decode:     Decode,
}

// Sniff looks for the root node and its sizes.
func Sniff(head []byte, whole bool) (decode.Confidence, error) {
	keys := jsonscan.KeysOf(head, whole)
	if keys["head"] && bytes.Contains(head, []byte(`"callFrame"`)) && bytes.Contains(head, []byte(`"selfSize"`)) {
		return decode.Certain, nil
	}
	return decode.No, nil
}

// node is a call of the tree. Nodes follow their callers.
type node struct {
	above int // index of the caller, -1 for the outermost call
	frame recording.FrameID
	named bool
	root  bool
	size  int64
	sized bool
	from  int64
}

type decoder struct {
	b     *recording.Builder
	s     *jsonscan.Stream
	tally *recording.Tally
	nodes []node
}

// Decode reads the tree into an event whose metric is the bytes in use.
func Decode(ctx context.Context, in *source.Input, b *recording.Builder, _ decode.Options) error {
	d := &decoder{b: b, tally: b.Tally("node")}
	if err := decode.JSON(ctx, in, b, d.file); err != nil {
		return err
	}
	if len(d.nodes) == 0 {
		return errors.New("the heap profile has no calls")
	}
	return d.build(ctx)
}

func (d *decoder) file(s *jsonscan.Stream) {
	if d.s = s; !d.s.Enter('{') {
		return
	}
	for key := range d.s.Members {
		switch {
		case key == "head" && d.s.Enter('{'):
			d.tree()
		default: // samples: the parts of the sizes, without stack or time
			d.s.Skip()
		}
	}
}

// level is an object of the tree, or the list of its callees.
type level struct {
	node int
	list bool
}

// tree reads the calls without recursion, because they may be nested deeper than this
// program's stack allows.
func (d *decoder) tree() {
	levels := []level{{d.open(-1), false}}
	for len(levels) > 0 && d.s.Damage < 0 {
		l := levels[len(levels)-1]
		switch {
		case !d.s.Next():
			levels = levels[:len(levels)-1]
		case !l.list:
			key, ok := d.s.Key()
			if !ok {
				return
			}
			if key == "children" && d.s.Enter('[') {
				levels = append(levels, level{l.node, true})
				continue
			}
			d.member(&d.nodes[l.node], key)
		case d.s.Enter('{'):
			levels = append(levels, level{d.open(l.node), false})
		default:
			decode.LeaveValue(d.b, d.tally, "not-a-node", d.s.Offset(), "a call")
			d.s.Skip()
		}
	}
}

func (d *decoder) open(above int) int {
	d.nodes = append(d.nodes, node{above: above, from: d.s.Offset()})
	return len(d.nodes) - 1
}

func (d *decoder) member(n *node, key string) {
	if key != "callFrame" && key != "selfSize" {
		d.s.Skip()
		return
	}
	raw, ok := d.s.Value()
	if !ok {
		return
	}
	if key == "callFrame" {
		var name string
		n.frame, name = v8.CallFrame(d.b, raw)
		n.named, n.root = true, name == "(root)"
		return
	}
	v, ok, fits := decode.ParseNumber(jsonscan.Unquoted(raw))
	n.size, n.sized = v.Round(0).Mantissa, ok && fits && v.Mantissa >= 0
}

// build turns the calls into stacks.
func (d *decoder) build(ctx context.Context) error {
	event := d.b.AddEvent(recording.Event{Kind: "allocation", Basis: recording.FromStacks, Metrics: []recording.Metric{{Name: "inuse_space", Unit: "bytes", Kind: recording.Level}}})
	calls := make([]recording.CallID, len(d.nodes))
	for i := range d.nodes {
		if i%8192 == 0 {
			if err := decode.Tick(ctx, d.b); err != nil {
				return err
			}
		}
		n := &d.nodes[i]
		d.tally.Read++
		if n.above >= 0 {
			calls[i] = calls[n.above]
		}
		if !n.named {
			d.b.Warn("no-function", decode.Byte(n.from), "The call at byte %d has no function; it counts for its caller", n.from)
		} else if n.above >= 0 || !n.root { // the root is not a function
			calls[i] = d.b.Call(calls[i], n.frame)
		}
		if !n.sized {
			d.tally.Leave(decode.Byte(n.from))
			d.b.Warn("no-size", decode.Byte(n.from), "The call at byte %d has no valid size; it counts as 0", n.from)
			continue
		}
		d.tally.Kept++
		if n.size > 0 {
			d.b.AddStack(event, calls[i], recording.NoTrack, 0, []int64{n.size})
		}
	}
	return nil
}
