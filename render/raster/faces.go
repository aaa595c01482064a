package raster

import "ashlar/ingest/model/funcname"

// Faces keeps the built-in faces by their size in pixels. The zero value is ready;
// it belongs to one goroutine.
type Faces struct {
	regular, medium map[float32]*Face
	names           *funcname.Labels
}

// Regular is the face of labels and figures.
func (c *Faces) Regular(px float32) *Face { return c.kept(&c.regular, px, Regular) }

// Medium is the face of names and titles.
func (c *Faces) Medium(px float32) *Face { return c.kept(&c.medium, px, Medium) }

// SetLabels has all faces write names by their labels among others, see [Face.Fit], and
// reports whether they did not do so already.
func (c *Faces) SetLabels(names *funcname.Labels) bool {
	if c.names == names {
		return false
	}
	c.names = names
	for _, in := range []map[float32]*Face{c.regular, c.medium} {
		for _, f := range in {
			f.names = names
		}
	}
	return true
}

// Label returns all of the label of a function's name.
func (c *Faces) Label(name string) string { return c.names.Of(name).Text }

func (c *Faces) kept(in *map[float32]*Face, px float32, make func(px float32) *Face) *Face {
	f := (*in)[px]
	if f == nil {
		if *in == nil {
			*in = map[float32]*Face{}
		}
		f = make(px)
		f.names = c.names
		(*in)[px] = f
	}
	return f
}
