package shell

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"gioui.org/f32"
	"gioui.org/io/key"
	"gioui.org/io/pointer"

	"ashlar/app/window/panel"
	"ashlar/render/theme"
)

// slowFrames returns a trace of 400 frames without pauses; every 20th frame has an 8 ms load.
func slowFrames() string {
	var b strings.Builder
	b.WriteString("[")
	at := 0
	for i := range 400 {
		long := 0
		if i%20 == 19 {
			long = 8000
			fmt.Fprintf(&b, `{"ph":"X","pid":1,"tid":1,"ts":%d,"dur":%d,"name":"load"},`, at+100, long)
		}
		fmt.Fprintf(&b, `{"ph":"X","pid":1,"tid":1,"ts":%d,"dur":%d,"name":"Frame"},`, at, 1000+long+i%7)
		at += 1000 + long + i%7
	}
	return strings.TrimSuffix(b.String(), ",") + "]"
}

// led opens a trace with findings, which are computed in the background as in a window.
func led(t *testing.T, content string) *bench {
	path := filepath.Join(t.TempDir(), "trace.json")
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
	b := &bench{t: t, Shell: New(theme.Dark), now: time.Unix(1e9, 0)}
	t.Cleanup(b.Close)
	b.Do.Wake = func() {}
	b.Leads = true
	b.Open(path)
	b.frame()
	return b
}

// TestFindingsLead checks that the row of findings has its place before they are
// computed, so that nothing moves. A click on a finding shows its evidence; one undo goes
// back.
func TestFindingsLead(t *testing.T) {
	b := led(t, slowFrames())
	p := b.Pane
	b.until("the recording", func() bool { return !p.Bounds.Overview.Empty() })
	top := p.Bounds.Overview.Min.Y
	b.until("the findings", func() bool { _, ok := p.Findings(); return ok })
	b.frame()
	found, _ := p.Findings()
	if len(found) == 0 || !strings.Contains(found[0].Claim, "20 of 400 calls of “Frame”") {
		t.Fatalf("the findings are %+v", found)
	}
	if p.Bounds.Overview.Min.Y != top {
		t.Errorf("the overview moves from %d to %d when findings arrive", top, p.Bounds.Overview.Min.Y)
	}
	if len(p.Leads.Bar.Boxes) == 0 {
		t.Fatal("no finding is drawn")
	}
	b.remembered()
	r := p.Leads.Bar.Boxes[0]
	for _, kind := range []pointer.Kind{pointer.Move, pointer.Press, pointer.Release} {
		b.pointer(kind, f32.Pt(float32(r.Min.X+40), float32(r.Min.Y+10)), 0)
	}
	b.frame()
	if p.Tab != panel.Calls {
		t.Fatal("the click shows no calls")
	}
	b.settled()
	b.remembered()
	if p.Scope.Calls == nil || !strings.HasPrefix(p.Scope.Calls.Text, "Frame[") {
		t.Errorf("the scope is %+v", p.Scope.Calls)
	}
	b.Undo()
	b.remembered()
	if p.Scope.Calls != nil || p.Tab != panel.Flamegraph { // undo keeps the selected function
		t.Errorf("undo leads to %s", b.State().View)
	}
}

// TestFindingsByKeys checks that Tab reaches the findings and that Return shows the
// evidence.
func TestFindingsByKeys(t *testing.T) {
	b := led(t, slowFrames())
	b.until("the findings", func() bool { _, ok := b.Pane.Findings(); return ok })
	b.frame()
	for range 12 {
		if b.press(key.NameTab, 0); b.State().Focus == "findings" {
			break
		}
	}
	if b.State().Focus != "findings" {
		t.Fatal("Tab does not reach the findings")
	}
	b.press(key.NameReturn, 0)
	b.until("the evidence", func() bool { b.frame(); return b.Pane.Tab == panel.Calls })
}

// TestFindingsClose checks that the row makes room where there are no findings and the
// status line says so; that the cross hides the row of this recording only; and that the
// command shows and hides it for all.
func TestFindingsClose(t *testing.T) {
	b := led(t, someTrace)
	b.until("the findings", func() bool { _, ok := b.Pane.Findings(); return ok })
	b.frame()
	high := b.Pane.Bounds.Overview.Min.Y
	if !slices.Contains(b.texts(), "Nothing unusual found") || b.NoFindings {
		t.Errorf("the texts are %q", b.texts())
	}
	b.Run("Show or hide findings")
	b.frame()
	top := b.Pane.Bounds.Overview.Min.Y
	if top <= high {
		t.Errorf("without findings the overview is at %d, with their row at %d", high, top)
	}
	b.click(f32.Pt(1280-22, 44+14), 0, pointer.ButtonPrimary)
	b.frame()
	b.frame()
	if now := b.Pane.Bounds.Overview.Min.Y; now >= top || b.NoFindings {
		t.Errorf("the overview is at %d, was at %d; off %v", now, top, b.NoFindings)
	}
	b.Run("Show or hide findings")
	b.frame()
	if b.Pane.Bounds.Overview.Min.Y != top || b.NoFindings {
		t.Error("the command does not show the findings")
	}
	b.Run("Show or hide findings")
	b.frame()
	if b.Pane.Bounds.Overview.Min.Y == top || !b.NoFindings {
		t.Error("the command does not hide the findings")
	}
}
