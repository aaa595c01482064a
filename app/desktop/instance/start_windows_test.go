package instance

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/windows"
)

func place(t *testing.T) *Place {
	t.Helper()
	t.Setenv("LocalAppData", t.TempDir())
	p, err := Open()
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestStart starts two programs: the second hands its files to the first.
func TestStart(t *testing.T) {
	p := place(t)
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	l, answer, err := p.Start(ctx, Request{})
	if answer != Own || err != nil {
		t.Fatalf("the first program is told %q (%v)", answer, err)
	}
	got := make(chan Request, 1)
	l.Serve(func(_ context.Context, r Request) Answer {
		got <- r
		return Taken
	})
	// More than fits into the pipe's buffer at once.
	file := `C:\` + strings.Repeat("ü", 100_000) + `.spaa`
	for range 3 {
		second, answer, err := p.Start(ctx, Request{Files: []string{file}, Reuse: true})
		if err != nil || answer != Taken || second != nil {
			t.Fatalf("the second program is told %q (%v)", answer, err)
		}
		if r := <-got; len(r.Files) != 1 || r.Files[0] != file || !r.Reuse {
			t.Errorf("the first program gets %+v", r)
		}
	}
	l.Close()
	if all := p.sockets(p.display); len(all) != 0 {
		t.Errorf("the first program leaves %q", all)
	}
	// A killed program leaves its file.
	stale := filepath.Join(p.dir, p.display+"-stale"+ending)
	if err := os.WriteFile(stale, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	last, answer, err := p.Start(ctx, Request{})
	if answer != Own || err != nil {
		t.Fatalf("after the first has ended, a program is told %q (%v)", answer, err)
	}
	if _, err := os.Stat(stale); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the file of a program that is gone is still there (%v)", err)
	}
	last.Close()
}

// TestSession asks the program that serves, reads an answer longer than the pipe's buffer, and
// hangs up.
func TestSession(t *testing.T) {
	p := place(t)
	l, err := p.Server(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	long := strings.Repeat("x", 1<<20) + "\n"
	ended := make(chan error, 1)
	l.Session = func(ctx context.Context, c net.Conn, question json.RawMessage) {
		if _, err := c.Write([]byte(string(question) + long)); err != nil {
			ended <- err
			return
		}
		<-ctx.Done()
		ended <- nil
	}
	l.Serve(func(context.Context, Request) Answer { return Own })
	if second, err := p.Server(t.Context()); !errors.Is(err, errServed) {
		t.Errorf("a second program that serves: %v, %v", second, err)
	}
	var got string
	answered, err := p.Ask(t.Context(), "why", time.Minute, func(c net.Conn) bool {
		got, err = bufio.NewReader(c).ReadString('\n')
		return err == nil
	})
	if err != nil || !answered || got != `"why"`+long {
		t.Errorf("the answer has %d bytes (%v, %v)", len(got), answered, err)
	}
	if err := <-ended; err != nil {
		t.Error("answering:", err)
	}
}

// TestOthersPipe checks that a pipe is this user's alone, and that a pipe of another owner is
// asked nothing.
func TestOthersPipe(t *testing.T) {
	p := place(t)
	l, err := p.listen(p.display)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	l.Serve(func(context.Context, Request) Answer { return Taken })
	c, err := dial(t.Context(), l.path)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	sd, err := windows.GetSecurityInfo(windows.Handle(c.Conn.(interface{ Fd() uintptr }).Fd()), windows.SE_KERNEL_OBJECT,
		windows.OWNER_SECURITY_INFORMATION|windows.DACL_SECURITY_INFORMATION)
	if err != nil {
		t.Fatal(err)
	}
	me, err := user()
	if err != nil {
		t.Fatal(err)
	}
	acl, _, err := sd.DACL()
	if err != nil || acl == nil || acl.AceCount != 1 || !strings.HasSuffix(sd.String(), fmt.Sprintf(";;;%s)", me)) {
		t.Errorf("the pipe is open to %s (%v)", sd, err)
	}

	// An owner that an administrator may give: the group of administrators.
	path := filepath.Join(p.dir, p.display+"-others"+ending)
	other, err := listenOn(pipe(path), "O:BAD:P(A;;GA;;;WD)")
	if err != nil {
		t.Skip("this user cannot make a pipe with another owner:", err)
	}
	defer other.Close()
	told := make(chan string, 1)
	go func() {
		defer close(told)
		for {
			c, err := other.Accept()
			if err != nil {
				return
			}
			b, _ := io.ReadAll(c)
			told <- string(b)
			c.Close()
		}
	}()
	if c, err := say(t.Context(), path, message{Ashlar: protocol}); err == nil || !strings.Contains(err.Error(), "S-1-5-32-544") {
		t.Errorf("a pipe of another owner: %v, %v", c, err)
	}
	other.Close()
	for s := range told {
		if s != "" {
			t.Errorf("a pipe of another owner is told %q", s)
		}
	}
}
