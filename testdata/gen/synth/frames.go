package synth

// A frame is a sampled address in a function, or a function inlined there.
type frame struct {
	fn      uint32
	ip      uint64
	site    uint8 // index of the address in the function
	inlined uint8 // depth of inlining; 0 is the function that contains the address
}

// A frameTable holds the frames of a program. A function with several addresses has
// several frames.
type frameTable struct {
	list []frame
	of   []uint32 // the index of each call's frame
}

// apart gives the frames of all calls distinct addresses.
func (t *frameTable) apart() {
	list := make([]frame, len(t.of))
	for i, of := range t.of {
		list[i] = t.list[of]
		list[i].ip = list[i].ip&^0xffffff | uint64(i)<<2&0xffffff
		t.of[i] = uint32(i)
	}
	t.list = list
}

func newFrameTable(p *program) frameTable {
	frames := frameTable{of: make([]uint32, len(p.calls))}
	known := make(map[frame]uint32)
	for i := range p.calls {
		c := &p.calls[i]
		f := frame{fn: c.fn, site: c.site}
		if c.inlined {
			up := frames.list[frames.of[c.parent]] // parents come before their children
			f.ip, f.inlined = up.ip, up.inlined+1
		} else {
			f.ip = modules[p.funcs[c.fn].module].base + uint64(c.fn)<<8 + uint64(c.site)*0x2c
		}
		index, ok := known[f]
		if !ok {
			index = uint32(len(frames.list))
			known[f] = index
			frames.list = append(frames.list, f)
		}
		frames.of[i] = index
	}
	return frames
}
