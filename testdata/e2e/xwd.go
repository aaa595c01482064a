package e2e

import (
	"encoding/binary"
	"errors"
	"fmt"
	"image"
)

// The fields of an X window dump's header (XWDFile.h), each 32 bits, big-endian.
const (
	xwdHeaderSize = iota
	xwdVersion
	xwdFormat
	xwdDepth
	xwdWidth
	xwdHeight
	xwdXOffset
	xwdByteOrder
	xwdBitmapUnit
	xwdBitOrder
	xwdBitmapPad
	xwdBitsPerPixel
	xwdBytesPerLine
	xwdVisualClass
	xwdRedMask
	xwdGreenMask
	xwdBlueMask
	xwdBitsPerRGB
	xwdColormapEntries
	xwdColors
	xwdFields = 25
)

// xwdColorBytes is the size of an entry of the colour map, which is skipped.
const xwdColorBytes = 12

// DecodeXWD decodes an X window dump (the format of xwd) as written by Xvfb: 32 bits per
// pixel, 24 of them colour.
func DecodeXWD(b []byte) (*image.RGBA, error) {
	if len(b) < 4*xwdFields {
		return nil, fmt.Errorf("a window dump of %d bytes has no header", len(b))
	}
	field := func(i int) int { return int(binary.BigEndian.Uint32(b[4*i:])) }
	if field(xwdVersion) != 7 || field(xwdFormat) != 2 || field(xwdBitsPerPixel) != 32 {
		return nil, fmt.Errorf("a window dump of version %d, format %d, %d bits a pixel can't be read (only 7, 2, 32)",
			field(xwdVersion), field(xwdFormat), field(xwdBitsPerPixel))
	}
	if field(xwdRedMask) != 0xff0000 || field(xwdGreenMask) != 0xff00 || field(xwdBlueMask) != 0xff {
		return nil, errors.New("a window dump whose colours are not RGB can't be read")
	}
	width, height, stride := field(xwdWidth), field(xwdHeight), field(xwdBytesPerLine)
	start := field(xwdHeaderSize) + field(xwdColors)*xwdColorBytes
	if width*4 > stride || start+stride*height > len(b) {
		return nil, fmt.Errorf("a window dump of %d bytes is too short for %dx%d", len(b), width, height)
	}
	var order binary.ByteOrder = binary.BigEndian
	if field(xwdByteOrder) == 0 {
		order = binary.LittleEndian
	}
	img := image.NewRGBA(image.Rect(0, 0, width, height))
	for y := range height {
		line := b[start+y*stride:]
		to := img.Pix[y*img.Stride:]
		for x := range width {
			p := order.Uint32(line[4*x:])
			to[4*x], to[4*x+1], to[4*x+2], to[4*x+3] = uint8(p>>16), uint8(p>>8), uint8(p), 255
		}
	}
	return img, nil
}
