package analyze

// EachPath visits all nodes, with push and pop called for the nodes that join and leave
// the path from the root to the visited node's parent.
//
// Neighbouring nodes mostly lie on neighbouring paths, because calls are numbered as they
// occur, and their memory is near. So nodes are visited by number, which moves the path
// from one to the next. If that moves too much, as when two deep stacks grow by turns, the
// rest is visited depth first.
func (t *Tree) EachPath(visit, push, pop func(node int32)) {
	p := pathWalk{t: t, push: push, pop: pop, moves: 4*len(t.Nodes) + 1000}
	visit(0)
	p.enter(0)
	for i := int32(1); int(i) < len(t.Nodes); i++ {
		if !p.goTo(t.Nodes[i].Parent) {
			p.leave(0)
			t.walk(func(k int) {
				if k >= int(i) {
					visit(int32(k))
				}
				push(int32(k))
			}, func(k int) { pop(int32(k)) })
			return
		}
		visit(i)
	}
	p.leave(0)
}

type pathWalk struct {
	t         *Tree
	path      []int32 // from the root
	missing   []int32
	push, pop func(node int32)
	moves     int // how many more nodes may be pushed
}

func (p *pathWalk) enter(node int32) {
	p.path = append(p.path, node)
	p.push(node)
}

// leave shortens the path to a length.
func (p *pathWalk) leave(n int) {
	for len(p.path) > n {
		last := len(p.path) - 1
		p.pop(p.path[last])
		p.path = p.path[:last]
	}
}

// goTo makes the path the one to a node; false if that takes too many moves.
func (p *pathWalk) goTo(node int32) bool {
	p.missing = p.missing[:0]
	for at := node; ; {
		depth := int(p.t.Nodes[at].Depth)
		p.leave(depth + 1)
		if len(p.path) == depth+1 && p.path[depth] == at {
			break
		}
		p.leave(depth)
		p.missing = append(p.missing, at)
		at = p.t.Nodes[at].Parent
	}
	if p.moves -= len(p.missing); p.moves < 0 {
		return false
	}
	for k := len(p.missing) - 1; k >= 0; k-- {
		p.enter(p.missing[k])
	}
	return true
}

// walk visits the nodes depth first: enter before a node's children, leave
// after them.
func (t *Tree) walk(enter, leave func(node int)) {
	stack := []int32{0}
	for len(stack) > 0 {
		i := stack[len(stack)-1]
		if i < 0 {
			stack = stack[:len(stack)-1]
			leave(int(^i))
			continue
		}
		enter(int(i))
		stack[len(stack)-1] = ^i
		stack = append(stack, t.Children(int(i))...)
	}
}
