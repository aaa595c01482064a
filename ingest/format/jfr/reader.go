package jfr

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"ashlar/ingest/format/decode"
	"ashlar/ingest/input/source"
	"ashlar/ingest/model/recording"
)

// reader reads the chunks of a file and, in each, the types and the positions of the
// values that events refer to. Meanwhile the decoder adds the events of the previous
// chunk.
type reader struct {
	ctx  context.Context
	from *decode.Reader
	free <-chan *bytes.Buffer // buffers of finished chunks, for reuse: most chunks have a similar size
}

// all sends every chunk to out, the last one with an error if it is cut or damaged.
func (r *reader) all(out chan<- *chunk) error {
	for {
		c, err := r.next()
		if err != nil {
			if _, lost := errors.AsType[*source.Error](err); lost || r.ctx.Err() != nil {
				return err
			}
			c.err = err
		}
		if c == nil {
			return nil
		}
		select {
		case out <- c:
		case <-r.ctx.Done():
			return r.ctx.Err()
		}
		if c.err != nil {
			return nil
		}
	}
}

// next reads a chunk. At the end of the file it returns nil. With an error, it also
// returns the chunk.
func (r *reader) next() (c *chunk, err error) {
	c = &chunk{began: r.from.Bytes, content: r.room()}
	var head [headBytes]byte
	if n, err := io.ReadFull(r.from, head[:]); n == 0 && err == io.EOF {
		return nil, nil
	} else if err != nil {
		return c, cut(err)
	}
	be := binary.BigEndian
	if string(head[:4]) != magic {
		return c, errors.New("no chunk starts here")
	}
	if major := be.Uint16(head[4:]); major < 1 || major > 2 {
		return c, fmt.Errorf("version %d is not supported; 1 and 2 are", major)
	}
	size := int64(be.Uint64(head[8:]))
	if size < headBytes {
		return c, errors.New("the length is missing, because the recorder did not finish the chunk")
	}
	c.content.Write(head[:])
	if _, err := io.CopyN(c.content, r.from, size-headBytes); err != nil {
		return c, cut(err)
	}
	c.b, c.compressed, c.version = c.content.Bytes(), head[67]&1 != 0, fmt.Sprintf("%d.%d", be.Uint16(head[4:]), be.Uint16(head[6:]))
	c.startNanos, c.startTicks, c.perSecond = int64(be.Uint64(head[32:])), int64(be.Uint64(head[48:])), int64(be.Uint64(head[56:]))
	c.metadataAt = int64(be.Uint64(head[24:]))
	c.pools, c.classes, c.counts = map[int64]map[int64]int{}, map[int64]*class{}, map[int64]int{}
	c.stacks, c.threads = map[int64]recording.CallID{}, map[int64]*recording.TrackBuilder{}
	c.traces = newTraces()
	if c.perSecond <= 0 {
		return c, errors.New("the clock frequency is zero or negative")
	}
	c.begun = true
	return c, c.guard(c.describe)
}

func (r *reader) room() *bytes.Buffer {
	select {
	case b := <-r.free:
		b.Reset()
		return b
	default:
		return new(bytes.Buffer)
	}
}

func cut(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return errors.New("it is truncated")
	}
	return err
}
