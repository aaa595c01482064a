package serve

import (
	"bufio"
	"context"
	"io"
	"net"
	"os"
	"time"

	"ashlar/app/desktop/instance"
	"ashlar/app/desktop/version"
)

// Ask asks the running session to answer a command line that was typed here. If the
// command draws a picture, it is written to picture. ok is false if there is no session,
// or if the session cannot answer.
func Ask(ctx context.Context, args []string, stdout, stderr, picture io.Writer) (code int, ok bool, err error) {
	dir, err := os.Getwd()
	if err != nil {
		return 0, false, nil //nolint:nilerr // whoever asks sees to it
	}
	place, err := instance.Open()
	if err != nil {
		return 0, false, nil //nolint:nilerr // there is none to be found
	}
	var last reply
	var b []byte
	ok, _ = place.Ask(ctx, question{Version: version.String(), Dir: dir, Args: args}, patience, func(c net.Conn) bool {
		last, b, err = receive(bufio.NewReader(c), func() error { return c.SetDeadline(time.Time{}) })
		return err == nil
	})
	if !ok {
		return 0, false, ctx.Err()
	}
	return last.Code, true, last.write(b, stdout, stderr, picture)
}

// write copies the output after an answer to its destination.
func (last *reply) write(b []byte, stdout, stderr, picture io.Writer) error {
	for _, p := range last.Parts {
		w := stdout
		switch p.To {
		case 2:
			w = stderr
		case 3:
			w = picture
		}
		if _, err := w.Write(b[:p.N]); err != nil {
			return err
		}
		b = b[p.N:]
	}
	return nil
}

// receive reads a whole answer before anything is written, so that no output is cut off.
// It calls begun once the session has started to answer.
func receive(r *bufio.Reader, begun func() error) (last reply, b []byte, err error) {
	var first reply
	if err := readLine(r, &first); err != nil {
		return last, nil, err
	}
	if !first.Begun {
		return last, nil, errElsewhere
	}
	if err := begun(); err != nil {
		return last, nil, err
	}
	if err := readLine(r, &last); err != nil {
		return last, nil, err
	}
	n := 0
	for _, p := range last.Parts {
		if p.N < 0 || p.N > mostOutput-n {
			return last, nil, errElsewhere
		}
		n += p.N
	}
	if last.Own {
		return last, nil, errElsewhere
	}
	b = make([]byte, n)
	_, err = io.ReadFull(r, b)
	return last, b, err
}
