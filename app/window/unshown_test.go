package window

import (
	"errors"
	"testing"

	"gioui.org/app"
	"gioui.org/io/event"
)

// TestFirstEvent checks that a window that Gio cannot make ends with the reason, whether
// the reason comes in time, after a panic, or never.
func TestFirstEvent(t *testing.T) {
	reason := errors.New("EnableMouseInPointer failed: Call not implemented")
	for panics, want := range map[int]string{0: reason.Error(), 2: reason.Error(), 1000: "window initialization failed without a DestroyEvent"} {
		n := 0
		e := firstEvent(func() event.Event {
			if n++; n <= panics {
				panic("window initialization failed without a DestroyEvent")
			}
			return app.DestroyEvent{Err: reason}
		})
		if d, ok := e.(app.DestroyEvent); !ok || d.Err == nil || d.Err.Error() != want {
			t.Errorf("after %d panics: %v, want %s", panics, e, want)
		}
	}
}
