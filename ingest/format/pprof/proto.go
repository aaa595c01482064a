package pprof

// Numbers of fields in profile.proto.
const (
	fieldSample   = 2
	fieldLocation = 4
	fieldFunction = 5
	fieldStrings  = 6

	sampleLocation = 1
	sampleValue    = 2
	sampleLabel    = 3

	messageID    = 1 // id of a location or a function
	locationLine = 4
	lineFunction = 1
)

// Wire types.
const (
	wireVarint = 0
	wire64     = 1
	wireBytes  = 2
	wire32     = 5
)

// wireField is one field of a message.
type wireField struct {
	num, typ int
	number   uint64 // value of a varint
	body     []byte // content of a field of bytes
}

// varint reads the number at b[i:]; next is negative if there is none. Like pprof's
// library, it reads at most ten bytes and drops bits beyond 64.
func varint(b []byte, i int) (v uint64, next int) {
	if i < len(b) && b[i] < 0x80 {
		return uint64(b[i]), i + 1
	}
	for shift := uint(0); i < len(b) && shift < 70; shift += 7 {
		c := b[i]
		v |= uint64(c&0x7F) << shift
		if i++; c < 0x80 {
			return v, i
		}
	}
	return 0, -1
}

// nextField reads the field at b[i:]; next is negative when there is none that
// can be read.
func nextField(b []byte, i int) (f wireField, next int) {
	tag, i := varint(b, i)
	if i < 0 {
		return f, -1
	}
	f.num, f.typ = int(tag>>3), int(tag&7)
	switch f.typ {
	case wireVarint:
		f.number, i = varint(b, i)
		return f, i
	case wire64:
		i += 8
	case wire32:
		i += 4
	case wireBytes:
		var size uint64
		if size, i = varint(b, i); i < 0 || size > uint64(len(b)-i) {
			return f, -1
		}
		f.body = b[i : i+int(size)]
		return f, i + int(size)
	default:
		return f, -1
	}
	if i > len(b) {
		return f, -1
	}
	return f, i
}
