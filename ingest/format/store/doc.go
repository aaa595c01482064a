// Package store keeps recordings on disk as columns in their in-memory layout, in a mapped
// file that is read in place. Opening one takes time in proportion to its chunks, tracks
// and names, not its spans.
//
// # Layout
//
// Numbers are little-endian. A file is, one behind the other:
//
//	header   32 bytes: the magic "\x89ashlar\n", the byte order as 0x01020304 (uint32),
//	         the version of this layout (uint32), recording.Layout (uint64), 0 (uint64)
//	data     the chunks of the columns, each at a multiple of 8, and the texts of
//	         arguments in blocks of up to 1 MB; see recording.Pack
//	index    sections, one behind the other, each its name and its content behind the
//	         length of each (uvarint):
//	           recording  what recording.Pack returns: names, tables, where chunks are
//	           sums       the checksums of each 4 MB of the header and the data (uint32)
//	           others     as whoever wrote the file wanted, such as where it came from
//	trailer  40 bytes: where the index begins and its length (uint64 each), its checksum
//	         (uint32), 0 (uint32), the length of the file (uint64), the checksum of the
//	         trailer before it (uint32), "\x89asl"
//
// Checksums are CRC-32 with Castagnoli's polynomial. Chunks are arrays of fixed-width
// numbers and of structs of such as Go lays them out, whose shapes recording.Layout
// sums up: a file of another Layout, or of a machine with other bytes, is refused and
// the recording it was made of has to be read again. So the version changes by itself
// with the types.
package store
