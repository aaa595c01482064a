package shell

import (
	"bytes"
	"fmt"
	"image"
	"testing"
	"time"

	"gioui.org/io/input"
	"gioui.org/io/key"
	"gioui.org/layout"
	"gioui.org/op"
	"gioui.org/unit"

	"ashlar/render/raster"
	"ashlar/render/svg"
	"ashlar/render/theme"
	"ashlar/testdata/rounds"
)

// themed draws several frames of the demo, presses a key, draws two more and returns the
// last one as SVG.
func themed(t *testing.T, th *theme.Theme, name key.Name) []byte {
	t.Helper()
	s := New(th)
	defer s.Close()
	s.OpenDemo()
	var ops op.Ops
	var router input.Router
	size := image.Pt(1000, 700)
	frame := func() *svg.Canvas {
		ops.Reset()
		s.Shapes = svg.New(size.X, size.Y, raster.Pack(s.Theme.Background))
		s.Layout(layout.Context{Ops: &ops, Now: time.Now(), Source: router.Source(),
			Metric: unit.Metric{PxPerDp: 1, PxPerSp: 1}, Constraints: layout.Exact(size)})
		router.Frame(&ops)
		return s.Shapes
	}
	for end := time.Now().Add(20 * time.Second); s.Pane == nil || !s.Pane.Rec.Done || s.Pane.Doc.Answer() == nil; time.Sleep(5 * time.Millisecond) {
		if frame(); time.Now().After(end) {
			t.Fatal("the demo is not read")
		}
	}
	frame()
	if name != "" {
		router.Queue(key.Event{Name: name, State: key.Press})
	}
	frame()
	var out bytes.Buffer
	if err := frame().Write(&out, ""); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// TestAKeyChangesTheWholeTheme checks that no cached picture keeps colours of the
// previous theme.
func TestAKeyChangesTheWholeTheme(t *testing.T) {
	rounds.Unraced(t)
	b := theme.Dark.Background
	dark := fmt.Appendf(nil, "#%02x%02x%02x", b.R, b.G, b.B)
	if !bytes.Contains(themed(t, theme.Dark, ""), dark) {
		t.Fatalf("in the dark theme nothing is %s", dark)
	}
	if bytes.Contains(themed(t, theme.Dark, "L"), dark) {
		t.Errorf("in the light theme something is still %s", dark)
	}
}
