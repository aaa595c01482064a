package store

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"maps"
	"runtime"
	"slices"
	"sync/atomic"
	"unsafe"

	"ashlar/ingest/input/source"
	"ashlar/ingest/model/recording"
)

const (
	magic      = "\x89ashlar\n"
	magicEnd   = "\x89asl"
	version    = 2
	byteOrder  = 0x01020304
	headerLen  = 32
	trailerLen = 40
	// sumBlock is the number of bytes that each checksum covers.
	sumBlock = 4 << 20
)

// Sections that every file has.
const (
	sectionRecording = "recording"
	sectionSums      = "sums"
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// errForeign is the error for a file from another version of Ashlar or another kind of
// machine.
var errForeign = errors.New("the stored recording is from another version of Ashlar or another kind of machine; open the original file, or convert it again")

// native reports whether numbers have the same layout in memory as in files.
var native = func() bool {
	x := uint32(byteOrder)
	return *(*byte)(unsafe.Pointer(&x)) == byteOrder&0xff
}()

// Write writes a recording that is Done, with additional sections. beside means that the
// original file stays where it is: argument texts in it are not written, and readers of
// the stored recording must get them from there (see [recording.Recording.ArgState]).
func Write(w io.Writer, rec *recording.Recording, sections map[string][]byte, beside bool) error {
	if !native {
		return errors.New("stored recordings need a little-endian machine")
	}
	out := &writer{w: w, sums: nil}
	h := binary.LittleEndian.AppendUint32([]byte(magic), byteOrder)
	h = binary.LittleEndian.AppendUint32(h, version)
	h = binary.LittleEndian.AppendUint64(h, recording.Layout())
	if err := out.write(binary.LittleEndian.AppendUint64(h, 0)); err != nil {
		return err
	}
	index, err := rec.Pack(out.put, beside)
	if err != nil {
		return err
	}
	all := section(nil, sectionRecording, index)
	all = section(all, sectionSums, out.checksums())
	for _, name := range slices.Sorted(maps.Keys(sections)) {
		all = section(all, name, sections[name])
	}
	t := binary.LittleEndian.AppendUint64(nil, uint64(out.at))
	t = binary.LittleEndian.AppendUint64(t, uint64(len(all)))
	t = binary.LittleEndian.AppendUint32(t, crc32.Checksum(all, castagnoli))
	t = binary.LittleEndian.AppendUint32(t, 0)
	t = binary.LittleEndian.AppendUint64(t, uint64(out.at)+uint64(len(all))+trailerLen)
	t = binary.LittleEndian.AppendUint32(t, crc32.Checksum(t, castagnoli))
	if _, err := w.Write(all); err != nil {
		return err
	}
	_, err = w.Write(append(t, magicEnd...))
	return err
}

func section(dst []byte, name string, content []byte) []byte {
	dst = append(binary.AppendUvarint(dst, uint64(len(name))), name...)
	return append(binary.AppendUvarint(dst, uint64(len(content))), content...)
}

// writer writes data and computes its checksums.
type writer struct {
	w    io.Writer
	at   int64
	sum  uint32 // checksum of the current block
	sums []byte
}

func (w *writer) write(b []byte) error {
	if _, err := w.w.Write(b); err != nil {
		return err
	}
	for len(b) > 0 {
		n := min(len(b), int(sumBlock-w.at%sumBlock))
		w.sum = crc32.Update(w.sum, castagnoli, b[:n])
		if w.at += int64(n); w.at%sumBlock == 0 {
			w.sums, w.sum = binary.LittleEndian.AppendUint32(w.sums, w.sum), 0
		}
		b = b[n:]
	}
	return nil
}

// put writes a chunk and fills up to a multiple of 8.
func (w *writer) put(chunk []byte) (int64, error) {
	at := w.at
	err := w.write(chunk)
	if rest := len(chunk) % 8; err == nil && rest != 0 {
		err = w.write(make([]byte, 8-rest))
	}
	return at, err
}

func (w *writer) checksums() []byte {
	if w.at%sumBlock == 0 {
		return w.sums
	}
	return binary.LittleEndian.AppendUint32(w.sums, w.sum)
}

// File is a stored recording that is open.
type File struct {
	Recording *recording.Recording
	// Sections are the standard sections and those added by the writer of the file.
	Sections map[string][]byte
	data     []byte // the header, and the data
}

// Read opens a stored recording in memory. content must not change while keep is
// reachable, and some seconds longer. Error texts continue after the file's name.
func Read(content []byte, keep any) (*File, error) {
	f, err := sections(content)
	if err != nil {
		return nil, err
	}
	return f.unpack(keep)
}

func (f *File) unpack(keep any) (_ *File, err error) {
	index, left := f.Sections[sectionRecording], int64(len(f.data))
	get := func(at, n int64) ([]byte, error) {
		if at < headerLen || at%8 != 0 || n < 0 || at > int64(len(f.data)) || n > int64(len(f.data))-at || n > left {
			return nil, errors.New("a column lies outside of the file")
		}
		left -= n
		return f.data[at : at+n : at+n], nil
	}
	if f.Recording, err = recording.Unpack(index, get, keep); err != nil {
		return nil, fmt.Errorf("the stored recording is damaged: %w", err)
	}
	return f, nil
}

var errCut = errors.New("the stored recording is truncated")

// sections finds the sections of a file.
func sections(content []byte) (*File, error) {
	switch n := len(content); {
	case n < len(magic) || string(content[:len(magic)]) != magic:
		return nil, errors.New("is not a stored recording")
	case n < headerLen+trailerLen:
		return nil, errCut
	}
	u32, u64 := binary.LittleEndian.Uint32, binary.LittleEndian.Uint64
	if !native || u32(content[8:]) != byteOrder || u32(content[12:]) != version || u64(content[16:]) != recording.Layout() {
		return nil, errForeign
	}
	t := content[len(content)-trailerLen:]
	if string(t[36:]) != magicEnd || u64(t[24:]) != uint64(len(content)) {
		return nil, errCut
	}
	at, length := u64(t), u64(t[8:])
	end := uint64(len(content) - trailerLen)
	if u32(t[32:]) != crc32.Checksum(t[:32], castagnoli) || at < headerLen || at > end || length != end-at {
		return nil, errors.New("the stored recording is damaged: its trailer is invalid")
	}
	index := content[at:end]
	if crc32.Checksum(index, castagnoli) != u32(t[16:]) {
		return nil, errors.New("the stored recording is damaged: the checksum of its index does not match")
	}
	f := &File{Sections: map[string][]byte{}, data: content[:at:at]}
	for len(index) > 0 {
		var part [2][]byte
		for i := range part {
			n, used := binary.Uvarint(index)
			if used <= 0 || n > uint64(len(index)-used) {
				return nil, errors.New("the stored recording is damaged: a section is truncated")
			}
			part[i], index = index[used:used+int(n)], index[used+int(n):]
		}
		f.Sections[string(part[0])] = part[1]
	}
	return f, nil
}

// Verify checks the checksums and that the columns are consistent, which Read does not
// check. Error texts continue after the file's name.
func (f *File) Verify(ctx context.Context) error {
	if err := f.verifySums(ctx); err != nil {
		return err
	}
	if err := f.Recording.Verify(ctx); err != nil && ctx.Err() == nil {
		return fmt.Errorf("the stored recording is damaged: %w", err)
	}
	return ctx.Err()
}

// verifySums checks the checksums of the data on all cores, each at about 10 GB/s if the
// file is in memory.
func (f *File) verifySums(ctx context.Context) error {
	sums, blocks := f.Sections[sectionSums], (len(f.data)+sumBlock-1)/sumBlock
	if len(sums) != blocks*4 {
		return errors.New("the stored recording is damaged: it has no checksums")
	}
	var next, damaged atomic.Int64
	damaged.Store(int64(blocks))
	var all source.Group
	for range min(runtime.GOMAXPROCS(0), blocks) {
		all.Go(func() {
			for ctx.Err() == nil && damaged.Load() == int64(blocks) {
				i := int(next.Add(1)) - 1
				if i >= blocks {
					return
				}
				block := f.data[i*sumBlock : min(len(f.data), (i+1)*sumBlock)]
				if crc32.Checksum(block, castagnoli) != binary.LittleEndian.Uint32(sums[i*4:]) {
					damaged.Store(int64(i))
				}
			}
		})
	}
	all.Wait()
	if i := int(damaged.Load()); i < blocks {
		return fmt.Errorf("the stored recording is damaged between bytes %d and %d", i*sumBlock, min(len(f.data), (i+1)*sumBlock))
	}
	return ctx.Err()
}
