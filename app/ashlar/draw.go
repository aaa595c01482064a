package main

import (
	"fmt"
	"os"

	"ashlar/app/cli"
	"ashlar/app/headless"
	"ashlar/app/shell"
	"ashlar/app/window"
	"ashlar/ingest/recording"
	"ashlar/render/theme"
)

// show runs the window and returns the program's exit code.
func show(o cli.WindowOptions) int {
	th, ok := theme.ByName(o.Theme)
	if !ok {
		th = window.SystemTheme()
	}
	err := window.Run(shell.New(th), window.Options{Files: o.Files, Demo: o.Demo, FrameLog: o.FrameLog, Event: o.Event, Metric: o.Metric})
	if err != nil {
		fmt.Fprintln(os.Stderr, "ashlar:", err)
		return 1
	}
	return 0
}

// render draws what the window would show into a file.
func render(o cli.RenderOptions) error {
	th, ok := theme.ByName(o.Theme)
	if !ok {
		th = theme.Dark
	}
	s := shell.New(th)
	defer s.Close()
	s.View = shell.View(o.View)
	if o.Demo {
		s.OpenDemo()
	} else {
		s.Open(o.File)
	}
	s.Choose(o.Event, o.Metric)
	err := s.Settle(o.StackView, func(rec *recording.Recording) (from, to int64, ranged bool) {
		from, to = 0, rec.Duration()
		if o.Range.HasFrom {
			from = o.Range.From
		}
		if o.Range.HasTo {
			to = o.Range.To
		}
		return from, to, o.Range.IsSet()
	})
	if err != nil {
		return err
	}
	if headless.IsSVG(o.Out) {
		c, err := headless.SVG(s, o.Width, o.Height, o.Scale)
		if err != nil {
			return err
		}
		return headless.WriteSVG(o.Out, c, s.Doc().Name, os.Stdout)
	}
	img, err := headless.Draw(s, o.Width, o.Height, o.Scale)
	if err != nil {
		return err
	}
	return headless.WritePNG(o.Out, img, os.Stdout)
}
