// Package store keeps recordings on disk as columns in their in-memory layout, in a
// mapped file that is read in place. The time to open one depends on its number of
// chunks, tracks and names, not of spans.
//
// # Layout
//
// Numbers are little-endian. A file consists of:
//
//	header   32 bytes: the magic "\x89ashlar\n", the byte order as 0x01020304 (uint32),
//	         the version of this layout (uint32), recording.Layout (uint64), 0 (uint64)
//	data     the chunks of the columns, each at a multiple of 8, and the texts of
//	         arguments in blocks of up to 1 MB; see recording.Pack
//	index    a sequence of sections, each a name and a content, both preceded by their
//	         length (uvarint):
//	           recording  what recording.Pack returns: names, tables, where chunks are
//	           sums       the checksums of each 4 MB of the header and the data (uint32)
//	           others     added by the writer of the file, such as its origin
//	trailer  40 bytes: where the index begins and its length (uint64 each), its checksum
//	         (uint32), 0 (uint32), the length of the file (uint64), the checksum of the
//	         trailer before it (uint32), "\x89asl"
//
// Checksums are CRC-32 with Castagnoli's polynomial. Chunks are arrays of fixed-width
// numbers, or of structs of them in Go's memory layout. recording.Layout is a digest of
// these types, so it changes with them: a file with another Layout or byte order is
// rejected, and the original recording is read again.
package store
