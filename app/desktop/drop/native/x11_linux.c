#include <stdint.h>
#include <X11/Xlib.h>
#include "_cgo_export.h"

// Exported by libX11 for its input methods, though in no public header.
extern void _XRegisterFilterByType(Display *, Window, int first, int last,
	Bool (*)(Display *, Window, XEvent *, XPointer), XPointer);

static Bool filter(Display *display, Window window, XEvent *e, XPointer data) {
	(void)display;
	(void)window;
	if (e->xclient.format != 32) {
		return False;
	}
	return ashlarDropMessage((uintptr_t)data, e->xclient.message_type, e->xclient.data.l) ? True : False;
}

void ashlar_drop_filter(Display *display, Window window, uintptr_t data) {
	_XRegisterFilterByType(display, window, ClientMessage, ClientMessage, filter, (XPointer)data);
}
