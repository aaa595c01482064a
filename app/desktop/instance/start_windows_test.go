package instance

import (
	"context"
	"testing"
	"time"
)

// TestStart starts two programs. Where sockets are missing, as in Windows before version
// 1803, each opens its own window.
func TestStart(t *testing.T) {
	t.Setenv("LocalAppData", t.TempDir())
	p, err := Open()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	l, answer, err := p.Start(ctx, Request{})
	if answer != Own {
		t.Fatalf("the first program is told %q", answer)
	}
	file := `C:\run.spaa`
	if err != nil {
		t.Log("no sockets here:", err)
		if l != nil {
			t.Error("there is a listener nevertheless")
		}
		if _, answer, err := p.Start(ctx, Request{Files: []string{file}, Reuse: true}); answer != Own || err == nil {
			t.Errorf("the second program is told %q (%v)", answer, err)
		}
		return
	}
	got := make(chan Request, 1)
	l.Serve(func(_ context.Context, r Request) Answer {
		got <- r
		return Taken
	})
	second, answer, err := p.Start(ctx, Request{Files: []string{file}, Reuse: true})
	if err != nil || answer != Taken || second != nil {
		t.Fatalf("the second program is told %q (%v)", answer, err)
	}
	if r := <-got; len(r.Files) != 1 || r.Files[0] != file || !r.Reuse {
		t.Errorf("the first program gets %+v", r)
	}
	l.Close()
	if _, answer, err := p.Start(ctx, Request{}); answer != Own || err != nil {
		t.Errorf("after the first has ended, a program is told %q (%v)", answer, err)
	}
}
