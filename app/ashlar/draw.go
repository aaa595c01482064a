package main

import (
	"context"
	"errors"
	"fmt"
	"image"
	"os"
	"path/filepath"

	"ashlar/app/command"
	"ashlar/app/command/picture"
	"ashlar/app/core/settings"
	"ashlar/app/core/view"
	"ashlar/app/desktop/instance"
	"ashlar/app/window"
	"ashlar/app/window/drawing"
	"ashlar/app/window/headless"
	"ashlar/app/window/shell"
	"ashlar/ingest/fetch"
	"ashlar/ingest/input/safetext"
	"ashlar/render/theme"
)

// show runs the window and returns the program's exit code.
func show(o command.WindowOptions, runner command.Runner) int {
	others, taken := handOver(o)
	if taken {
		return 0
	}
	s := shell.New(theme.Dark)
	s.SetTheme("system")
	s.SetTheme(o.Theme)
	s.Roots, s.FollowFiles, s.Cache, s.Scratch = o.Roots, o.Follow, o.Cache, o.Scratch
	defer o.Cache.Close()
	kept, err := settings.Open()
	if err != nil {
		fmt.Fprintln(os.Stderr, "ashlar:", safetext.Text(err.Error())) // not fatal: defaults are used
	}
	err = window.Run(s, window.Options{
		Files: o.Files, Demo: o.Demo, Desktop: o.Desktop, FrameLog: o.FrameLog, Event: o.Event, Metric: o.Metric, Exe: o.Exe, Part: o.Part, Others: others,
		Store: kept, AskedTheme: o.Theme != "", Run: runner.Answer,
	})
	if err != nil {
		text := safetext.Text(err.Error())
		fmt.Fprintln(os.Stderr, "ashlar:", text)
		showMessage(text)
		return 1
	}
	return 0
}

// handOver asks the open windows to take the files. If none does, it returns a listener that
// lets later programs find this one, nil if that fails.
func handOver(o command.WindowOptions) (l *instance.Listener, taken bool) {
	r := instance.Request{Reuse: o.Reuse, Compare: o.Compare}
	for _, f := range o.Files {
		if f == "-" || fetch.IsURL(f) {
			continue
		}
		if view.IsAddress(f) {
			r.Files = append(r.Files, f)
			continue
		}
		if abs, err := filepath.Abs(f); err == nil {
			r.Files = append(r.Files, abs)
		}
	}
	place, err := instance.Open()
	if err == nil {
		var answer instance.Answer
		l, answer, err = place.Start(context.Background(), r)
		taken = answer == instance.Taken
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "ashlar:", safetext.Text(err.Error()))
	}
	return l, taken
}

// render draws the window's content into a file. It uses the GPU if there is one with enough
// memory for its driver, the CPU otherwise.
func render(o command.RenderOptions) error {
	return picture.RenderBy(o, func(s *shell.Shell, w, h int, scale float32) (*image.RGBA, error) {
		img, err := headless.Draw(s, w, h, scale)
		if errors.Is(err, headless.ErrNoGPU) {
			return drawing.Draw(s, w, h, scale)
		}
		return img, err
	})
}
