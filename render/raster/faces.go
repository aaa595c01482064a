package raster

import "ashlar/ingest/model/funcname"

// Faces caches the built-in faces by size in pixels. The zero value is ready to use. It
// must be used by one goroutine only.
type Faces struct {
	regular, medium map[float32]*Face
	names           *funcname.Labels
}

// Regular returns the face for labels and figures.
func (c *Faces) Regular(px float32) *Face { return c.kept(&c.regular, px, Regular) }

// Medium returns the face for names and titles.
func (c *Faces) Medium(px float32) *Face { return c.kept(&c.medium, px, Medium) }

// SetLabels makes all faces write function names as labels that are unique among names;
// see [Face.Fit]. It reports whether that changes anything.
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

// Label returns the full label of a function's name.
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
