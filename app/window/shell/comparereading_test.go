//go:build unix

package shell

import (
	"fmt"
	"io"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"ashlar/ingest/model/recording"
	"ashlar/render/theme"
)

// TestCompareWhileReading compares with a slow pipe: the heading must say that B is still
// being read, and B's partial numbers must not be compared.
func TestCompareWhileReading(t *testing.T) {
	t.Chdir(t.TempDir())
	// Enough input for a first snapshot.
	var b strings.Builder
	b.WriteString("[")
	for i := range 40_000 {
		fmt.Fprintf(&b, `{"ph":"X","pid":1,"tid":1,"ts":%d,"dur":%d,"name":"step %d"},`+"\n", 100*i, 50+i%7, i%9)
	}
	all := b.String()
	if err := os.WriteFile("before.json", []byte(strings.TrimSuffix(all, ",\n")+"]"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo("slow.fifo", 0o600); err != nil {
		t.Fatal(err)
	}
	rest := make(chan bool)
	go func() {
		w, err := os.OpenFile("slow.fifo", os.O_WRONLY, 0)
		if err != nil {
			return
		}
		defer w.Close()
		io.WriteString(w, all[:len(all)/2])
		<-rest
		io.WriteString(w, all[len(all)/2:len(all)-len(all)/10-20]) // cut off in the middle of a record
	}()
	s := New(theme.Dark)
	t.Cleanup(s.Close)
	s.Open("before.json")
	s.OpenBeside("slow.fifo")
	c := s.Versus
	settle := func() {
		t.Helper()
		for _, p := range c.Panes {
			p.Update(&s.Workspace)
		}
		c.Engine.Finish(c.Question(), [2]*recording.Recording(c.Recs()))
		if c.Answer() == nil {
			t.Fatal(c.Engine.Answer().Err)
		}
	}
	if err := c.Panes[0].Doc.Wait(); err != nil {
		t.Fatal(err)
	}
	for range 5000 {
		if c.Panes[1].Doc.Recording().Counts.Spans > 0 {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	settle()
	if got := c.Sums(1); len(got) != 1 || !strings.HasPrefix(got[0].Text, "so far ") || c.Reading() != 1 {
		t.Errorf("while B is read its heading says %v, reading is %d", got, c.Reading())
	}
	if got := c.Sums(0); strings.Contains(got[0].Text, "so far") {
		t.Errorf("A has been read; its heading says %v", got)
	}
	close(rest)
	c.Panes[1].Doc.Wait() // the error is only a warning
	settle()
	// A tenth of the calls is missing, so B is scaled for the comparison.
	if got := c.Sums(1); len(got) != 3 || strings.Contains(got[0].Text, "so far") || !strings.HasPrefix(got[2].Text, "scaled to ") || c.Reading() != -1 {
		t.Errorf("when B has been read its heading says %v, reading is %d", got, c.Reading())
	}
	if _, right, warned, _ := c.Status(); !warned || !strings.HasPrefix(right, "1 warning in B · matched ") {
		t.Errorf("of a file that was cut short the status line says %q", right)
	}
}

// TestEarlierFailureIsNotShown compares with a recording in which nothing has been read yet,
// and then reads it: the earlier failure does not apply any more, so it must not be shown.
func TestEarlierFailureIsNotShown(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, name := range []string{"a.folded", "b.folded"} {
		if err := os.WriteFile(name, []byte("main;work 3\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	s := New(theme.Dark)
	t.Cleanup(s.Close)
	s.Open("a.folded")
	s.OpenBeside("b.folded")
	c := s.Versus
	for _, p := range c.Panes {
		if err := p.Doc.Wait(); err != nil {
			t.Fatal(err)
		}
		p.Update(&s.Workspace)
	}
	c.Engine.Finish(c.Question(), [2]*recording.Recording{c.Panes[0].Rec, {}})
	if err := c.Engine.Answer().Err; err == nil {
		t.Fatal("a comparison with nothing succeeded")
	}
	if got := c.Unanswered(); got != "" {
		t.Errorf("after B has been read the window says %q", got)
	}
}
