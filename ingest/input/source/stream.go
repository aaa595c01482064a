package source

import (
	"fmt"
	"io"
	"sync"
	"time"
)

const (
	// patience is the maximum time to hold back a chunk while waiting for more.
	patience = 30 * time.Millisecond
	// oneRead is the maximum size of a Read. If the rest of the buffer is taken during a
	// Read, the data of that Read has to be copied.
	oneRead = 256 << 10
	// restRoom is the number of bytes left free at the start of a buffer, for the rest of
	// the previous chunk.
	restRoom = 64 << 10
)

// stream reads ahead by one buffer in its own goroutine, so that reading and
// decompressing continue while the last chunk is decoded.
type stream struct {
	r       io.Reader
	release func() // closes the source of r; called once reading has ended
	// interrupt makes a blocked Read return, where that is possible.
	interrupt func()

	mu      sync.Mutex
	changed sync.Cond
	size    int    // content bytes per buffer; 0 before the first take
	buf     []byte // room for a rest, then content up to fill
	room    int    // start of the content in buf
	fill    int
	taken   int64
	err     error
	stopped bool
	started bool
	ended   chan struct{}
}

func newStream(r io.Reader, release func()) *stream {
	s := &stream{r: r, release: release, ended: make(chan struct{})}
	s.changed.L = &s.mu
	return s
}

// take returns keep followed by up to size fresh bytes. It waits until size bytes have
// arrived, or at least one byte and patience has passed, or the stream has ended. After
// giveUp, if that is not 0, it returns without fresh bytes and without an error. While it
// waits without fresh bytes, it calls silent, unless nil, each time patience has passed,
// until silent returns true.
func (s *stream) take(keep []byte, size int, patience, giveUp time.Duration, silent func() bool) ([]byte, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.started && !s.stopped {
		s.started = true
		s.fresh(size)
		go s.read()
	}
	s.await(size, patience, giveUp, silent)
	n := min(size, s.fill-s.room)
	if s.stopped {
		n = 0
	}
	if n == 0 {
		if s.err == nil && s.stopped {
			return keep, io.ErrClosedPipe
		}
		return keep, s.err
	}
	return s.cut(keep, n, size), nil
}

// await waits until size bytes have arrived, the stream has ended, or a time has passed:
// see take. The mutex must be held.
func (s *stream) await(size int, patience, giveUp time.Duration, silent func() bool) {
	impatient, gaveUp, quiet := false, false, false
	after := func(d time.Duration, flag *bool) func() bool {
		return time.AfterFunc(d, func() {
			s.mu.Lock()
			*flag = true
			s.mu.Unlock()
			s.changed.Broadcast()
		}).Stop
	}
	var timers []func() bool
	for s.fill-s.room < size && s.err == nil && !s.stopped {
		if len(s.buf)-s.room < size {
			s.enlarge(size)
			s.changed.Broadcast() // the reader may be waiting for room
		}
		if (impatient && s.fill > s.room) || gaveUp {
			break
		}
		if timers == nil {
			timers = append(timers, after(patience, &impatient))
			if giveUp > 0 {
				timers = append(timers, after(giveUp, &gaveUp))
			}
			if silent != nil {
				timers = append(timers, after(patience, &quiet))
			}
		}
		if quiet {
			if quiet = false; !s.unlocked(silent) {
				timers = append(timers, after(patience, &quiet))
			}
			continue
		}
		s.changed.Wait()
	}
	for _, stop := range timers {
		stop()
	}
}

// cut returns keep followed by n bytes of content, and makes room for size more bytes.
func (s *stream) cut(keep []byte, n, size int) []byte {
	s.taken += int64(n)
	from := s.room - len(keep)
	if from < 0 || n < s.fill-s.room {
		// keep is longer than the room for it, or content is left over.
		out := make([]byte, len(keep)+n)
		copy(out, keep)
		copy(out[len(keep):], s.buf[s.room:s.room+n])
		if s.room += n; s.room == s.fill {
			s.fresh(s.size)
			s.changed.Broadcast()
		}
		return out
	}
	out := s.buf[from:s.fill:s.fill]
	copy(out, keep)
	s.fresh(size)
	s.changed.Broadcast()
	return out
}

// unlocked calls f with the mutex unlocked.
func (s *stream) unlocked(f func() bool) bool {
	s.mu.Unlock()
	defer s.mu.Lock()
	return f()
}

// fresh begins a new buffer.
func (s *stream) fresh(size int) {
	s.size = size
	s.room = min(restRoom, size)
	s.fill = s.room
	s.buf = make([]byte, s.room+size)
}

// enlarge makes room for size bytes of content, including the present ones.
func (s *stream) enlarge(size int) {
	old := s.buf[s.room:s.fill]
	s.fresh(size)
	s.fill += copy(s.buf[s.room:], old)
}

// total returns the number of content bytes taken.
func (s *stream) total() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.taken
}

func (s *stream) read() {
	defer close(s.ended)
	if s.release != nil {
		defer s.release()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for idle := 0; s.err == nil; {
		for s.fill == len(s.buf) && !s.stopped {
			s.changed.Wait()
		}
		if s.stopped {
			return
		}
		buf, dst := s.buf, s.buf[s.fill:min(len(s.buf), s.fill+oneRead)]
		s.mu.Unlock()
		n, err := readSafely(s.r, dst)
		s.mu.Lock()
		if idle++; n > 0 {
			idle = 0
		}
		if err == nil && idle > 100 {
			err = io.ErrNoProgress
		}
		s.add(buf, dst[:n])
		s.err = err
		s.changed.Broadcast()
	}
}

// readSafely turns a panic of a decompressor into an error. The panic would end the
// program, because nothing else in this goroutine recovers it.
func readSafely(r io.Reader, dst []byte) (n int, err error) {
	defer func() {
		if p := recover(); p != nil {
			n, err = 0, fmt.Errorf("the decompressor failed: %v", p)
		}
	}()
	return r.Read(dst)
}

// add records that fresh was read into the end of buf. If buf has been taken meanwhile,
// fresh is copied to the new buffer, which may be smaller.
func (s *stream) add(buf, fresh []byte) {
	if len(fresh) == 0 {
		return
	}
	if &buf[0] == &s.buf[0] {
		s.fill += len(fresh)
		return
	}
	if n := s.fill + len(fresh); n > len(s.buf) {
		s.buf = append(make([]byte, 0, n), s.buf[:s.fill]...)[:n]
	}
	s.fill += copy(s.buf[s.fill:], fresh)
}

// stop ends reading; what was read and not taken is lost.
func (s *stream) stop() {
	s.mu.Lock()
	was := s.stopped
	s.stopped = true
	started := s.started
	s.mu.Unlock()
	s.changed.Broadcast()
	if was {
		return
	}
	if s.interrupt != nil {
		s.interrupt()
	}
	if !started {
		if s.release != nil {
			s.release()
		}
		close(s.ended)
	}
}

// wait returns when reading has ended, or after two seconds if a Read cannot be
// interrupted.
func (s *stream) wait() {
	select {
	case <-s.ended:
	case <-time.After(2 * time.Second):
	}
}
