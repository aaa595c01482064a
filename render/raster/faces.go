package raster

// Faces keeps the built-in faces by their size in pixels. The zero value is ready;
// it belongs to one goroutine.
type Faces struct {
	regular, medium map[float32]*Face
}

// Regular is the face of labels and figures.
func (c *Faces) Regular(px float32) *Face { return kept(&c.regular, px, Regular) }

// Medium is the face of names and titles.
func (c *Faces) Medium(px float32) *Face { return kept(&c.medium, px, Medium) }

func kept(in *map[float32]*Face, px float32, make func(px float32) *Face) *Face {
	f := (*in)[px]
	if f == nil {
		if *in == nil {
			*in = map[float32]*Face{}
		}
		f = make(px)
		(*in)[px] = f
	}
	return f
}
