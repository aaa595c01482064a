package spaa

import (
	"crypto/sha256"
	"encoding/binary"
)

// A FrameIdentity identifies a frame across recordings: equal frames of different
// recordings have equal identities. Unknown parts are empty.
type FrameIdentity struct {
	Func    string // function name as the file gives it
	DSO     string // name of the frame's dso
	BuildID string // build id of the dso
	SymOff  string // offset in the function, as in [Frame.SymOff]
}

// contentDomain distinguishes these hashes from other hashes and from other versions of
// themselves.
const contentDomain = "spaa stack 1\n"

// ContentID returns the content-addressable id (spec 4.1) of a stack whose
// frames are given from the leaf to the root, whatever the file's frame order:
// "0x" and 16 lower-case hexadecimal digits.
//
// The id is the first eight bytes, big-endian, of SHA-256 over: the text
// "spaa stack 1\n", the number of frames, and for each frame the function,
// the dso's name, its build id and the symbol offset, each as its length in
// bytes and the bytes. Numbers are unsigned LEB128 varints. File-local
// frame ids do not enter, so equal stacks of two files have equal ids.
func ContentID(frames []FrameIdentity) ID {
	b := append(make([]byte, 0, 1024), contentDomain...)
	b = binary.AppendUvarint(b, uint64(len(frames)))
	for i := range frames {
		f := &frames[i]
		for _, s := range [...]string{f.Func, f.DSO, f.BuildID, f.SymOff} {
			b = binary.AppendUvarint(b, uint64(len(s)))
			b = append(b, s...)
		}
	}
	sum := sha256.Sum256(b)
	return HexID(binary.BigEndian.Uint64(sum[:]))
}
