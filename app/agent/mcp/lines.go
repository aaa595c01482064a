package mcp

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// longestLine is the maximum length of a client's message, in bytes.
const longestLine = 1 << 20

// lines reads the client's messages, one per line. It answers invalid messages itself and
// does not pass them on, because they would end the session.
type lines struct {
	in   *bufio.Reader
	rest []byte // unread part of the current line
	// ended is called when the client has closed its end.
	ended func()

	mu  sync.Mutex
	out io.Writer
}

func newLines(in io.Reader, out io.Writer) *lines {
	return &lines{in: bufio.NewReaderSize(in, longestLine), out: out}
}

func (l *lines) Read(b []byte) (int, error) {
	for len(l.rest) == 0 {
		line, err := l.in.ReadSlice('\n')
		if errors.Is(err, bufio.ErrBufferFull) {
			for errors.Is(err, bufio.ErrBufferFull) {
				_, err = l.in.ReadSlice('\n')
			}
			if refused := l.refuse(-32600, fmt.Sprintf("a message has at most %d bytes", longestLine)); refused != nil {
				return 0, refused
			}
			line = nil
		}
		if line = bytes.TrimSpace(line); len(line) > 0 {
			if _, bad := jsonrpc.DecodeMessage(line); bad == nil && line[0] == '{' {
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
			return 0, err
		}
	}
	n := copy(b, l.rest)
	l.rest = l.rest[n:]
	return n, nil
}

func (l *lines) refuse(code int, why string) error {
	_, err := fmt.Fprintf(l, "{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":%d,\"message\":%q}}\n", code, why)
	return err
}

func (l *lines) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.out.Write(b)
}

// Close implements io.Closer. It leaves standard input and output open.
func (l *lines) Close() error { return nil }
