package widget

import (
	"image"

	"ashlar/render/raster"
	"ashlar/render/ui"
)

// Kept caches a picture: it is drawn and uploaded again only if its key has changed.
type Kept[K comparable] struct {
	key      K
	picture  *ui.Picture
	canvases raster.Pool
}

func (k *Kept[K]) Get(u *ui.UI, key K, size image.Point, paint func(on raster.Surface)) *ui.Picture {
	if !k.picture.Serves(u) || k.key != key {
		k.key, k.picture = key, u.Paint(&k.canvases, size, paint)
	}
	return k.picture
}
