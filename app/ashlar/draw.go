package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"ashlar/app/cli"
	"ashlar/app/desk"
	"ashlar/app/headless"
	"ashlar/app/instance"
	"ashlar/app/outfile"
	"ashlar/app/shell"
	"ashlar/app/store"
	"ashlar/app/view"
	"ashlar/app/window"
	"ashlar/ingest/analyze"
	"ashlar/ingest/fetch"
	"ashlar/ingest/plain"
	"ashlar/ingest/recording"
	"ashlar/render/fonts"
	"ashlar/render/theme"
	"ashlar/render/units"
)

// show runs the window and returns the program's exit code.
func show(o cli.WindowOptions) int {
	others, taken := handOver(o)
	if taken {
		return 0
	}
	s := shell.New(theme.Dark)
	s.SetTheme("system")
	s.SetTheme(o.Theme)
	s.Roots, s.FollowFiles = o.Roots, o.Follow
	kept, err := store.Open()
	if err != nil {
		fmt.Fprintln(os.Stderr, "ashlar:", plain.Text(err.Error())) // it works without
	}
	err = window.Run(s, window.Options{
		Files: o.Files, Demo: o.Demo, FrameLog: o.FrameLog, Event: o.Event, Metric: o.Metric, Exe: o.Exe, Part: o.Part, Others: others,
		Store: kept, AskedTheme: o.Theme != "",
	})
	if err != nil {
		fmt.Fprintln(os.Stderr, "ashlar:", plain.Text(err.Error()))
		return 1
	}
	return 0
}

// handOver asks the windows that are open already to take the files. Where none
// does, the listener lets others find this program; it is nil where they can't.
func handOver(o cli.WindowOptions) (l *instance.Listener, taken bool) {
	r := instance.Request{Reuse: o.Reuse, Compare: o.Compare}
	for _, f := range o.Files {
		if f == "-" || fetch.IsURL(f) {
			continue
		}
		if view.Is(f) {
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
		fmt.Fprintln(os.Stderr, "ashlar:", plain.Text(err.Error()))
	}
	return l, taken
}

// viewOf is what a view of the command line is in the window.
func viewOf(o cli.RenderOptions) (desk.View, *view.State) {
	v := &o.State
	if o.With != "" {
		v.Event, v.Metric = o.Event, o.Metric // of one, names that may lack one are looked for otherwise
		v.Unlinked = o.Ranges[0] != o.Ranges[1]
	}
	switch o.View {
	case "both", "compare":
		return desk.Both, v
	case "timeline":
		return desk.Upper, v
	case "modules", "files", "threads":
		v.Tab, v.Group = "functions", strings.TrimSuffix(o.View, "s")
	case "flame":
	case "diff":
		v.Tab = "difference"
	default:
		v.Tab = o.View
	}
	if v.Tab == "" {
		v.Tab = "flamegraph"
	}
	return desk.Lower, v
}

// open opens what a picture is of, and waits for all that it shows.
func open(s *shell.Shell, o cli.RenderOptions) error {
	switch {
	case o.Demo:
		s.OpenDemo()
	case o.Part.IsSet():
		s.OpenPartWith(o.File, o.Exe, o.Part)
	default:
		s.OpenWith(o.File, o.Exe)
	}
	if o.With != "" {
		s.OpenBeside(o.With)
	}
	s.Choose(o.Event, o.Metric)
	if !view.Is(o.File) { // which says all of it
		var v *view.State
		s.View, v = viewOf(o)
		s.GoTo(v)
	}
	if o.Function != "" {
		s.Mark(analyze.Named(o.Function))
	}
	return s.Settle(o.Ranges[:]...)
}

// render draws what the window would show into a file.
func render(o cli.RenderOptions) error {
	th, ok := theme.ByName(o.Theme)
	if !ok {
		th = theme.Dark
	}
	fonts.System.Start(nil)
	s := shell.New(th)
	defer s.Close()
	s.Mode = theme.Mode(cmp.Or(o.State.Colour, string(theme.ByFunction)))
	s.Roots = o.Roots
	err := open(s, o)
	full := o.Ranges[0].IsSet() && o.With == "" && !o.Demo && o.File != "-" && s.Doc().Full()
	// What was read before memory was full may end before the range begins.
	if behind := new(recording.BehindEnd); err != nil && !(full && errors.As(err, &behind)) {
		return err
	}
	if full {
		fmt.Fprintf(os.Stderr, "ashlar: %s: it is larger than memory; drawing %s of it\n", plain.Text(o.File), o.Ranges[0])
		o.Part.Range = o.Ranges[0]
		if err := open(s, o); err != nil {
			return err
		}
	}
	if a := s.Doc().Answer(); o.With == "" && a != nil && a.Tree != nil && a.Tree.Negative != 0 {
		fmt.Fprintf(os.Stderr, "ashlar: of what is drawn %s are below zero\n", units.Value(a.Tree.Negative, a.Metric()))
	}
	s = s.Still() // which waits for all that it shows
	out := outfile.Options{Replace: true, Not: s.Address().Files}
	if headless.IsSVG(o.Out) {
		return headless.WriteSVG(o.Out, out, headless.SVG(s, o.Width, o.Height, o.Scale), s.OpenName(), os.Stdout)
	}
	img, err := headless.Draw(s, o.Width, o.Height, o.Scale)
	if err != nil {
		return err
	}
	return headless.WritePNG(o.Out, out, img, os.Stdout)
}
