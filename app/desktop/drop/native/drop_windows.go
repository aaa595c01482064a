package native

import (
	"image"
	"sync"
	"unsafe"

	"gioui.org/app"
	"gioui.org/io/event"
	"golang.org/x/sys/windows"

	"ashlar/app/desktop/drop"
)

var (
	shell32         = windows.NewLazySystemDLL("shell32.dll")
	dragAcceptFiles = shell32.NewProc("DragAcceptFiles")
	dragQueryFile   = shell32.NewProc("DragQueryFileW")
	dragQueryPoint  = shell32.NewProc("DragQueryPoint")
	dragFinish      = shell32.NewProc("DragFinish")

	user32            = windows.NewLazySystemDLL("user32.dll")
	setWindowLong     = user32.NewProc(setWindowLongName)
	callWindowProc    = user32.NewProc("CallWindowProcW")
	procedure         = sync.OnceValue(func() uintptr { return windows.NewCallback(windowProc) })
	procedures        sync.Map      // window handle to subclass
	windowProcedureAt = ^uintptr(3) // GWLP_WNDPROC, -4
)

const (
	wmDropFiles = 0x0233
	wmNCDestroy = 0x0082
)

// system makes Windows send dropped files (WM_DROPFILES) and reads those messages before
// Gio's window procedure discards them. Explorer shows that files may be dropped; Windows
// sends nothing during the drag.
type system struct{}

// subclass is a window with our window procedure.
type subclass struct {
	t    *drop.Target
	gios uintptr // Gio's window procedure
}

func (*system) before() {}
func (*system) turn()   {}

func (*system) window(d *Desktop, e event.Event) {
	v, ok := e.(app.Win32ViewEvent)
	if !ok || !v.Valid() {
		return
	}
	d.run(func() {
		if _, has := procedures.Load(v.HWND); has {
			return
		}
		s := &subclass{t: d.t}
		procedures.Store(v.HWND, s)
		if s.gios, _, _ = setWindowLong.Call(v.HWND, windowProcedureAt, procedure()); s.gios == 0 {
			procedures.Delete(v.HWND)
			return
		}
		dragAcceptFiles.Call(v.HWND, 1)
	})
}

// windowProc is called for every message to the window, on its thread.
func windowProc(hwnd, msg, wParam, lParam uintptr) uintptr {
	v, ok := procedures.Load(hwnd)
	if !ok {
		return 0
	}
	s := v.(*subclass)
	switch msg {
	case wmDropFiles:
		s.t.Take(dropped(wParam))
		return 0
	case wmNCDestroy:
		procedures.Delete(hwnd)
	}
	r, _, _ := callWindowProc.Call(s.gios, hwnd, msg, wParam, lParam)
	return r
}

// dropped reads the files from a WM_DROPFILES message.
func dropped(handle uintptr) drop.Drop {
	defer dragFinish.Call(handle)
	var at struct{ X, Y int32 }
	dragQueryPoint.Call(handle, uintptr(unsafe.Pointer(&at)))
	d := drop.Drop{At: image.Pt(int(at.X), int(at.Y))}
	const all = 0xffffffff
	n, _, _ := dragQueryFile.Call(handle, all, 0, 0)
	for i := range n {
		length, _, _ := dragQueryFile.Call(handle, i, 0, 0)
		name := make([]uint16, length+1)
		if got, _, _ := dragQueryFile.Call(handle, i, uintptr(unsafe.Pointer(&name[0])), length+1); got > 0 {
			d.Paths = append(d.Paths, windows.UTF16ToString(name))
		}
	}
	if len(d.Paths) == 0 {
		d.Reason = drop.NoFiles
	}
	return d
}
