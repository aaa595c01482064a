package v8

import (
	"strconv"
	"strings"

	"ashlar/ingest/input/jsonscan"
	"ashlar/ingest/model/recording"
)

// node is a node of a profile's tree.
type node struct {
	parent    int64
	hasParent bool
	root      bool // the artificial root, not a function
	hits      int64
	frame     recording.FrameID
	call      recording.CallID
	state     state
}

// state is the progress of the search for a node's call.
type state uint8

const (
	unresolved state = iota
	resolving        // being resolved from a descendant; meeting it again means a loop
	resolved
)

// Node adds a node of the tree.
func (p *Profile) Node(text []byte) {
	n := new(node)
	var id int64 = -1
	frame, children := text, []byte(nil)
	for k, v := range jsonscan.Object(text).All {
		switch string(k) {
		case "id":
			id, _ = jsonscan.ParseInt(jsonscan.Unquoted(v))
		case "parent":
			n.parent, n.hasParent = jsonscan.ParseInt(jsonscan.Unquoted(v))
		case "callFrame":
			frame = v
		case "hitCount":
			n.hits, _ = jsonscan.ParseInt(jsonscan.Unquoted(v))
		case "children":
			children = v
		}
	}
	for c := range jsonscan.Array(children).All {
		if child, ok := jsonscan.ParseInt(jsonscan.Unquoted(c)); ok {
			p.parent[child] = id
		}
	}
	var name string
	n.frame, name = CallFrame(p.of.b, frame)
	n.root = name == "(root)"
	p.nodes[id] = n
}

// CallFrame interns the function of a callFrame in V8's profiles and also returns its
// name. Functions are identified by name and script, those without a name also by
// position: the name has it, as in "(anonymous) app.js:20:1". V8 counts lines and columns from 0.
func CallFrame(b *recording.Builder, text []byte) (recording.FrameID, string) {
	var f recording.Function
	var fr recording.Frame
	for k, v := range jsonscan.Object(text).All {
		switch string(k) {
		case "functionName":
			f.Name = jsonscan.Plain(v)
		case "url":
			f.Module = jsonscan.Plain(v)
		case "lineNumber":
			fr.Line = oneBased(v)
		case "columnNumber":
			fr.Column = oneBased(v)
		}
	}
	if f.Name == "" {
		f.Name = "(anonymous)"
		if fr.Line > 0 {
			f.Name += " " + script(f.Module) + strconv.Itoa(int(fr.Line)) + ":" + strconv.Itoa(int(fr.Column))
		}
	}
	f.File = f.Module
	if f.Module != "" {
		f.Kind = recording.KindManaged
	}
	fr.Func, fr.Kind = b.Function(f), f.Kind
	return b.Frame(fr), f.Name
}

// script returns the last part of a script's URL with a colon, "" if it has none that people
// recognize.
func script(url string) string {
	if strings.HasPrefix(url, "data:") {
		return ""
	}
	url, _, _ = strings.Cut(url, "?")
	url, _, _ = strings.Cut(url, "#")
	base := url[strings.LastIndexByte(url, '/')+1:]
	if base == "" || len(base) > 60 {
		return ""
	}
	return base + ":"
}

func oneBased(v []byte) int32 {
	n, ok := jsonscan.ParseInt(jsonscan.Unquoted(v))
	if !ok || n < 0 || n >= 1<<31-1 {
		return 0
	}
	return int32(n + 1)
}

// call returns the call of a node; known is false if the node does not exist.
func (p *Profile) call(id int64) (call recording.CallID, known bool) {
	if p.nodes[id] == nil {
		return recording.NoCall, false
	}
	var path []*node
	for {
		n := p.nodes[id]
		if n == nil || n.state == resolving {
			break
		}
		if n.state == resolved {
			call = n.call
			break
		}
		n.state = resolving
		path = append(path, n)
		if !n.hasParent {
			if n.parent, n.hasParent = p.parent[id]; !n.hasParent {
				break
			}
		}
		id = n.parent
	}
	for i := len(path) - 1; i >= 0; i-- {
		n := path[i]
		if !n.root || call != recording.NoCall {
			call = p.of.b.Call(call, n.frame)
		}
		n.call, n.state = call, resolved
	}
	return call, true
}
