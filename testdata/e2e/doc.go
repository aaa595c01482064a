// Package e2e drives real windows: it starts an X server without a screen, runs a program
// on it, sends keys and mouse events, and checks the pixels.
//
//	d := e2e.StartDisplay(t)
//	w := d.Start(t, e2e.Build(t, "./app/ashlar"), "--demo")
//	w.Key("f")
//	w.Drag(e2e.Left, image.Pt(200, 100), image.Pt(600, 100), "shift")
//	w.WaitFor("the selection", func(p *image.RGBA) bool { return p.RGBAAt(400, 100) == selected })
//
// It needs Xvfb and xdotool, and fails if they are missing. There is no window manager on
// the display: a window is at the upper left corner, as large as it asked to be, and its
// coordinates are those of the screen. Processes and files are cleaned up when the test
// ends, however it ends; if it failed, the last contents of the screen are kept as a
// picture in the folder failed.
//
// The tests need a main that removes what [Build] made:
//
//	func TestMain(m *testing.M) { os.Exit(e2e.Main(m)) }
package e2e
