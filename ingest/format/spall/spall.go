// Package spall decodes spall traces: versions 0, 1 and 3 of the manual format, and
// version 3 of the automatic format, which compiler instrumentation writes.
//
// The layouts are those of the public C headers; version 0 is described in the
// format's own text. Files are little-endian and packed.
package spall

import (
	"context"
	"encoding/binary"
	"fmt"
	"io"

	"ashlar/ingest/format/codec"
	"ashlar/ingest/format/decode"
	"ashlar/ingest/input/source"
	"ashlar/ingest/model/recording"
)

// Magic numbers at the start of a file, as u64.
const (
	magicManual = 0x0BADF00D
	magicAuto   = 0xABADF00D
)

// headerLen is the size of the manual format's header: u64 magic, u64 version,
// f64 timestamp_unit, u64 must_be_0. The automatic one has u64 base_address
// and u16 path_len in place of the last, then the path.
const (
	headerLen     = 32
	autoHeaderLen = 34
)

// Format is spall.
var Format = codec.Format{
	Name:       "spall",
	Title:      "spall",
	Holds:      "versions 0, 1 and 3, and auto-instrumented version 3: spans, thread and process names, arguments",
	Extensions: []string{".spall"},
	Sniff:      sniff,
	Decode:     decodeAll,
	Args:       argsOf,
	Encode:     &codec.Encoder{Extensions: []string{".spall"}, Write: write},
}

func sniff(head []byte, whole bool) (decode.Confidence, error) {
	if len(head) < 8 {
		if whole && len(head) >= 4 {
			switch binary.LittleEndian.Uint32(head) {
			case magicManual, magicAuto:
				return decode.Likely, fmt.Errorf("is a spall trace truncated in its header, at byte %d", len(head))
			}
		}
		return decode.No, nil
	}
	magic := binary.LittleEndian.Uint64(head)
	if magic != magicManual && magic != magicAuto {
		return decode.No, nil
	}
	_, err := readHeader(head, whole)
	return decode.Certain, err
}

// header is the parsed file header.
type header struct {
	auto    bool
	version uint64
	unit    float64 // microseconds per tick, nanoseconds from version 3 on
	size    int     // bytes the header takes
	base    uint64  // load address of the program (automatic only)
	path    string  // the program (automatic only)
}

func (h *header) name() string {
	if h.auto {
		return fmt.Sprintf("%d auto", h.version)
	}
	return fmt.Sprint(h.version)
}

// readHeader parses the header from the first bytes of a file. Versions with an unknown
// layout are an error.
func readHeader(b []byte, whole bool) (header, error) {
	cut := func() (header, error) {
		if !whole {
			return header{}, io.ErrUnexpectedEOF
		}
		return header{}, fmt.Errorf("is a spall trace truncated in its header, at byte %d", len(b))
	}
	if len(b) < 24 {
		return cut()
	}
	h := header{
		auto:    binary.LittleEndian.Uint64(b) == magicAuto,
		version: binary.LittleEndian.Uint64(b[8:]),
		unit:    floatAt(b, 16),
		size:    headerLen,
	}
	switch {
	case h.auto && h.version < 3:
		return h, fmt.Errorf("is an automatic spall trace of version %d, from before version 3 was final; record it again with a current spall header", h.version)
	case h.auto && h.version > 3, !h.auto && h.version != 0 && h.version != 1 && h.version != 3:
		return h, fmt.Errorf("is a spall trace of version %d, whose layout is unpublished; versions 0, 1 and 3 are supported", h.version)
	}
	if h.auto {
		if len(b) < autoHeaderLen {
			return cut()
		}
		h.base = binary.LittleEndian.Uint64(b[24:])
		h.size = autoHeaderLen + int(binary.LittleEndian.Uint16(b[32:]))
		if len(b) < h.size && !whole {
			return h, nil // sniffing a pipe; the path is read again later
		}
		h.path = clean(b[autoHeaderLen:min(len(b), h.size)])
	}
	if len(b) < h.size {
		return cut()
	}
	return h, nil
}

// decodeAll reads a trace. One goroutine turns bytes into batches of events,
// the calling one puts them into the builder.
func decodeAll(ctx context.Context, in *source.Input, b *recording.Builder, opt decode.Options) error {
	head, _, err := in.Head(1 << 17)
	if err != nil {
		return err
	}
	h, err := readHeader(head, true)
	if err != nil {
		return err
	}
	return run(ctx, in, b, opt, h, head)
}
