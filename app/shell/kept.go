package shell

import (
	"ashlar/render/raster"
	"ashlar/render/ui"
)

// kept is a picture that is drawn anew, and uploaded, only when what it depends
// on has changed.
type kept[K comparable] struct {
	key     K
	picture *ui.Picture
}

func (k *kept[K]) get(key K, draw func() *raster.Canvas) *ui.Picture {
	if k.picture == nil || k.key != key {
		k.key, k.picture = key, ui.NewPicture(draw())
	}
	return k.picture
}
