// Command probe is a small test window: the tests of package e2e drive it to check that
// keys, mouse, screen and frame log work.
//
// It fills itself with a colour that the keys r, g and b choose. It marks where the left
// button was pressed and released, more darkly with Shift, turns lighter by the wheel, is
// slow on s, and ends with status 3 on q.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"image"
	"image/color"
	"os"
	"time"

	"gioui.org/app"
	"gioui.org/io/event"
	"gioui.org/io/key"
	"gioui.org/io/pointer"
	"gioui.org/op"
	"gioui.org/op/clip"
	"gioui.org/op/paint"
	"gioui.org/unit"
)

type probe struct {
	fill      color.NRGBA
	from, to  image.Point
	mark      color.NRGBA
	frames    int
	log       *json.Encoder
	quit      bool
	hasEvents bool
}

func main() {
	path := flag.String("frame-log", "", "a file for a JSON line each frame")
	flag.Parse()
	p := &probe{fill: color.NRGBA{R: 200, A: 255}}
	if *path != "" {
		f, err := os.Create(*path)
		if err != nil {
			fmt.Fprintln(os.Stderr, "probe:", err)
			os.Exit(1)
		}
		p.log = json.NewEncoder(f)
	}
	go p.run()
	app.Main()
}

func (p *probe) run() {
	var w app.Window
	w.Option(app.Title("probe"), app.Size(unit.Dp(640), unit.Dp(480)))
	var ops op.Ops
	for {
		switch e := w.Event().(type) {
		case app.DestroyEvent:
			os.Exit(0)
		case app.FrameEvent:
			gtx := app.NewContext(&ops, e)
			p.events(gtx.Event)
			if p.quit {
				os.Exit(3)
			}
			event.Op(gtx.Ops, p)
			if !p.hasEvents {
				gtx.Execute(key.FocusCmd{Tag: p})
				p.hasEvents = true
			}
			p.draw(gtx.Ops)
			e.Frame(gtx.Ops)
			p.frames++
			if p.log != nil {
				if err := p.log.Encode(map[string]any{"frame": p.frames, "width": e.Size.X}); err != nil {
					fmt.Fprintln(os.Stderr, "probe:", err)
				}
			}
		}
	}
}

func (p *probe) events(next func(...event.Filter) (event.Event, bool)) {
	for {
		e, ok := next(
			key.FocusFilter{Target: p},
			key.Filter{Focus: p, Optional: key.ModCtrl},
			pointer.Filter{Target: p, Kinds: pointer.Press | pointer.Release | pointer.Scroll,
				ScrollY: pointer.ScrollRange{Min: -1e6, Max: 1e6}},
		)
		if !ok {
			return
		}
		switch e := e.(type) {
		case key.Event:
			if e.State == key.Press {
				p.key(e)
			}
		case pointer.Event:
			p.pointer(e)
		}
	}
}

func (p *probe) key(e key.Event) {
	switch e.Name {
	case "R":
		p.fill = color.NRGBA{R: 200, A: 255}
	case "G":
		p.fill = color.NRGBA{G: 200, A: 255}
	case "B":
		p.fill = color.NRGBA{B: 200, A: 255}
	case "F":
		if e.Modifiers == key.ModCtrl {
			p.fill = color.NRGBA{R: 200, G: 200, A: 255}
		}
	case "S":
		time.Sleep(100 * time.Millisecond)
	case "Q":
		p.quit = true
	}
}

func (p *probe) pointer(e pointer.Event) {
	at := image.Pt(int(e.Position.X), int(e.Position.Y))
	switch e.Kind {
	case pointer.Press:
		p.from, p.to = at, image.Point{}
		p.mark = color.NRGBA{R: 255, G: 255, B: 255, A: 255}
		if e.Modifiers.Contain(key.ModShift) {
			p.mark = color.NRGBA{A: 255}
		}
	case pointer.Release:
		p.to = at
	case pointer.Scroll:
		step := int(e.Scroll.Y) / 2 // ten per notch: on X11, Gio counts press and release as one notch each
		p.fill.R, p.fill.G, p.fill.B = shift(p.fill.R, step), shift(p.fill.G, step), shift(p.fill.B, step)
	}
}

func shift(c uint8, by int) uint8 { return uint8(max(0, min(255, int(c)+by))) }

func (p *probe) draw(ops *op.Ops) {
	paint.Fill(ops, p.fill)
	for _, at := range []image.Point{p.from, p.to} {
		if at != (image.Point{}) {
			square := image.Rectangle{at, at}.Inset(-4)
			paint.FillShape(ops, p.mark, clip.Rect(square).Op())
		}
	}
	// The whole window receives pointer events.
	defer clip.Rect(image.Rect(0, 0, 1<<14, 1<<14)).Push(ops).Pop()
	event.Op(ops, p)
}
