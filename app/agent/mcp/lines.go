package mcp

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// longestLine is the maximum length of a client's message, in bytes.
const longestLine = 1 << 20

// mostOpen is the number of requests that may wait for their answers before the next one
// is read. It bounds the memory that a client can make the server use.
const mostOpen = 64

// lines reads the client's messages, one per line. It answers invalid messages itself and
// does not pass them on, because they would end the session. The end of the input, which
// cancels all requests, is passed on once they are answered.
type lines struct {
	in   *bufio.Reader
	rest []byte // unread part of the current line
	// ended is called when the client has closed its end.
	ended func()
	ctx   context.Context

	mu       sync.Mutex
	out      io.Writer
	open     map[jsonrpc.ID]bool // requests without an answer
	answered chan struct{}       // has an element if open has become smaller
}

func newLines(ctx context.Context, in io.Reader, out io.Writer) *lines {
	return &lines{in: bufio.NewReaderSize(in, longestLine), out: out, ctx: ctx, open: map[jsonrpc.ID]bool{}, answered: make(chan struct{}, 1)}
}

func (l *lines) Read(b []byte) (int, error) {
	for len(l.rest) == 0 {
		line, err := l.in.ReadSlice('\n')
		if errors.Is(err, bufio.ErrBufferFull) {
			for errors.Is(err, bufio.ErrBufferFull) {
				_, err = l.in.ReadSlice('\n')
			}
			if refused := l.refuse(-32600, fmt.Sprintf("the message is longer than %d bytes", longestLine)); refused != nil {
				return 0, refused
			}
			line = nil
		}
		if line = bytes.TrimSpace(line); len(line) > 0 {
			if m, bad := jsonrpc.DecodeMessage(line); bad == nil && line[0] == '{' {
				l.request(m)
				l.rest = append(append(l.rest, line...), '\n')
				break
			}
			if refused := l.refuse(-32700, "this line is not a JSON-RPC message"); refused != nil {
				return 0, refused
			}
		}
		if err != nil {
			if l.ended != nil {
				l.ended()
				l.ended = nil
			}
			l.wait(0)
			return 0, err
		}
	}
	n := copy(b, l.rest)
	l.rest = l.rest[n:]
	return n, nil
}

// request notes a request, after waiting for the answers of others if there are many.
func (l *lines) request(m jsonrpc.Message) {
	r, ok := m.(*jsonrpc.Request)
	if !ok || !r.IsCall() {
		return
	}
	l.wait(mostOpen - 1)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.open[r.ID] = true
}

// wait waits until at most n requests have no answer, or the session has ended.
func (l *lines) wait(n int) {
	for {
		l.mu.Lock()
		few := len(l.open) <= n
		l.mu.Unlock()
		if few {
			return
		}
		select {
		case <-l.answered:
		case <-l.ctx.Done():
			return
		}
	}
}

func (l *lines) refuse(code int, why string) error {
	_, err := fmt.Fprintf(l, "{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":%d,\"message\":%q}}\n", code, why)
	return err
}

// Write writes a message of the server.
func (l *lines) Write(b []byte) (int, error) {
	m, bad := jsonrpc.DecodeMessage(bytes.TrimSpace(b))
	l.mu.Lock()
	defer l.mu.Unlock()
	if r, ok := m.(*jsonrpc.Response); ok && bad == nil {
		delete(l.open, r.ID)
		select {
		case l.answered <- struct{}{}:
		default:
		}
	}
	return l.out.Write(b)
}

// Close implements io.Closer. It leaves standard input and output open.
func (l *lines) Close() error { return nil }
