package decode

import "ashlar/ingest/input/source"

// Reader reads an input for libraries that want an io.Reader.
type Reader struct {
	In *source.Input
	// Bytes is the number of bytes read.
	Bytes int64

	rest []byte
	err  error
}

func (r *Reader) Read(p []byte) (int, error) {
	for len(r.rest) == 0 {
		if r.err != nil {
			return 0, r.err
		}
		r.rest, _, r.err = r.In.Next(0)
	}
	n := copy(p, r.rest)
	r.rest = r.rest[n:]
	r.Bytes += int64(n)
	return n, nil
}
