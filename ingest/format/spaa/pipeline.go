package spaa

import (
	"bytes"
	"context"
	"errors"
	"io"
	"sync"

	"ashlar/ingest/format/decode"
	"ashlar/ingest/input/source"
)

// largeBatch is the number of items and weights from which a batch is too large to keep for
// reuse: one line can be very long.
const largeBatch = 1 << 17

// job is a piece on its way to becoming a batch.
type job struct {
	piece
	done chan *batch // has room for the one batch
}

// pipeline parses pieces on several goroutines and returns the batches in file order.
type pipeline struct {
	order  chan *job // in file order
	free   chan *batch
	end    error // why reading ended; set before order is closed
	stop   context.CancelFunc
	all    sync.WaitGroup
	strict *strictText
}

// startPipeline starts the reader and the workers.
func startPipeline(ctx context.Context, s *splitter, pre prelude, workers int, strict *strictText) *pipeline {
	ctx, stop := context.WithCancel(ctx)
	ahead := workers + 2
	p := &pipeline{
		order: make(chan *job, ahead),
		// Large enough for all batches that can exist at once.
		free: make(chan *batch, ahead+workers+2),
		stop: stop, strict: strict,
	}
	jobs := make(chan *job, ahead)
	for k := range workers {
		p.all.Go(func() { p.work(jobs, k, s.in, pre) })
	}
	p.all.Go(func() {
		defer close(p.order)
		defer close(jobs)
		p.end = feed(ctx, s, pre.held, func(pc piece) bool {
			j := &job{pc, make(chan *batch, 1)}
			select {
			case p.order <- j:
			case <-ctx.Done():
				return false
			}
			select {
			case jobs <- j:
				return true
			case <-ctx.Done():
				close(j.done)
				return false
			}
		})
	})
	return p
}

// feed passes pieces to emit until the input ends, and returns the reason for the end;
// nil at the end of the file.
func feed(ctx context.Context, s *splitter, held []piece, emit func(piece) bool) error {
	for _, pc := range held {
		if !emit(pc) {
			return ctx.Err()
		}
	}
	for {
		pc, err := s.next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if !emit(pc) {
			return ctx.Err()
		}
	}
}

// work is the loop of one worker: it parses pieces.
func (p *pipeline) work(jobs <-chan *job, worker int, in *source.Input, pre prelude) {
	ps := parser{rootFirst: pre.rootFirst()}
	var room []byte
	for j := range jobs {
		var b *batch
		select {
		case b = <-p.free:
		default:
			b = new(batch)
		}
		b.clear()
		b.worker = worker
		b.err = source.Protect(in.Path, func() (err error) {
			if j.data, err = in.Copy(j.data, j.at, &room); err != nil {
				j.data = j.data[:bytes.LastIndexByte(j.data, '\n')+1]
			}
			ps.parse(j.piece, b)
			if b.text = b.text[:0]; !p.strict.off.Load() {
				b.text = append(b.text, j.data...)
			}
			return err
		})
		j.data = nil
		j.done <- b
	}
}

// close stops all goroutines and waits for them.
func (p *pipeline) close() {
	p.stop()
	for range p.order { // unblocks the reader until it sees the cancellation
	}
	p.all.Wait()
}

// runPipeline merges the whole input. The error is why reading ended early.
func runPipeline(ctx context.Context, s *splitter, pre prelude, workers int, m *merger) error {
	p := startPipeline(ctx, s, pre, workers, &m.strict)
	defer p.close()
	m.mirrors = make([]mirror, workers)
	err := decode.Each(m.b, p.order, func(j *job) error {
		b := <-j.done
		if b == nil || ctx.Err() != nil {
			return context.Canceled
		}
		m.merge(b)
		if m.strict.add(b.text); j.long {
			m.strict.off.Store(true)
		}
		if b.err != nil {
			s.in.Stop() // the reader may be waiting for a pipe
			return b.err
		}
		if len(b.items)+len(b.weights) < largeBatch {
			select {
			case p.free <- b:
			default:
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	return p.end
}
