//go:build linux

package native

import "testing"

// TestGioIsWrapped checks that the linker wrapped Gio's Wayland listener, in this test as in
// the program.
func TestGioIsWrapped(t *testing.T) {
	if !wrapped() {
		t.Error("Gio's Wayland listener is not wrapped: files cannot be dropped there")
	}
}

// TestFallBackToX11 checks that the window opens through XWayland, if available, when the
// listener is not wrapped.
func TestFallBackToX11(t *testing.T) {
	for _, c := range []struct {
		wrapped bool
		display string
		want    string
	}{
		{true, ":0", ""}, {true, "", ""}, {false, "", ""}, {false, ":0", "WAYLAND_DISPLAY=none"},
	} {
		got := ""
		chooseX11(c.wrapped, c.display, func(name, value string) error {
			got += name + "=" + value
			return nil
		})
		if got != c.want {
			t.Errorf("wrapped %v, on display %q: sets %q, want %q", c.wrapped, c.display, got, c.want)
		}
	}
}
