// Package picture draws the output of "ashlar render" into a file.
package picture

import (
	"cmp"
	"errors"
	"fmt"
	"image"
	"io"
	"os"
	"strings"

	"ashlar/app/command"
	"ashlar/app/core/view"
	"ashlar/app/desktop/outfile"
	"ashlar/app/window/drawing"
	"ashlar/app/window/shell"
	"ashlar/app/window/workspace"
	"ashlar/ingest/input/safetext"
	"ashlar/ingest/model/recording"
	"ashlar/ingest/query/analyze"
	"ashlar/render/fonts"
	"ashlar/render/theme"
	"ashlar/render/units"
)

// The command line does not import the window, so it learns the panels here.
func init() { command.SetPanels(workspace.PanelNames()) }

// viewOf converts the view option of the command line into the window's view and state.
func viewOf(o command.RenderOptions) (workspace.View, *view.State) {
	v := &o.State
	if o.With != "" {
		v.Event, v.Metric = o.Event, o.Metric // for one file, Choose looks up the names, since the metric may be missing
		v.Unlinked = o.Ranges[0] != o.Ranges[1]
	}
	switch o.View {
	case "both", "compare":
		return workspace.Both, v
	case "timeline":
		return workspace.Upper, v
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
	return workspace.Lower, v
}

// open opens the recordings of a picture and waits until everything in it is ready.
func open(s *shell.Shell, o command.RenderOptions) error {
	s.Cache, s.Scratch, s.Read = o.Cache, o.Scratch, o.Read
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
	if !view.IsAddress(o.File) { // an address defines the whole view
		var v *view.State
		s.View, v = viewOf(o)
		s.GoTo(v)
	}
	if o.Function != "" {
		s.Mark(analyze.Named(o.Function))
	}
	err := s.Finish(o.Ranges[:]...)
	if o.Drawn != nil {
		for _, side := range s.Session.Sides() {
			if rec := side.Recording(); rec != nil {
				o.Drawn(rec)
			}
		}
	}
	return err
}

// Render draws the window's content into a file, on the CPU.
func Render(o command.RenderOptions) error { return RenderBy(o, drawing.Draw) }

// RenderBy is like Render, with a function that draws the pixels.
func RenderBy(o command.RenderOptions, draw func(s *shell.Shell, w, h int, scale float32) (*image.RGBA, error)) error {
	th, ok := theme.ByName(o.Theme)
	if !ok {
		th = theme.Dark
	}
	if o.Remarks == nil {
		o.Remarks = os.Stderr
	}
	fonts.System.Start(nil)
	s := shell.New(th)
	defer s.Close()
	s.Mode = theme.Mode(cmp.Or(o.State.Colour, string(theme.ByFunction)))
	s.Roots = o.Roots
	err := open(s, o)
	full := o.Ranges[0].IsSet() && o.With == "" && !o.Demo && o.File != "-" && s.Doc().Full()
	// When memory is full, the part read so far may end before the range begins.
	if behind := new(recording.BehindEnd); err != nil && !(full && errors.As(err, &behind)) {
		return err
	}
	if full {
		fmt.Fprintf(o.Remarks, "ashlar: %s: larger than memory; drawing only %s\n", safetext.Text(o.File), o.Ranges[0])
		o.Part.Range = o.Ranges[0]
		if err := open(s, o); err != nil {
			return err
		}
	}
	if a := s.Doc().Answer(); o.With == "" && a != nil && a.Tree != nil && a.Tree.Negative != 0 {
		fmt.Fprintf(o.Remarks, "ashlar: negative values in the picture: %s\n", units.Value(a.Tree.Negative, a.Metric()))
	}
	if o.Watch != nil {
		o.Watch()
	}
	s = s.Snapshot() // waits until everything shown is ready
	svg := drawing.IsSVG(o.Out)
	out, path, to := outfile.Options{Replace: true, Only: outfile.Picture(o.Out), Not: s.Address().Files}, o.Out, io.Writer(os.Stdout)
	if o.To != nil {
		path, to = "-", o.To
	}
	if svg {
		return drawing.WriteSVG(path, out, drawing.SVG(s, o.Width, o.Height, o.Scale), s.OpenName(), to)
	}
	img, err := draw(s, o.Width, o.Height, o.Scale)
	if err != nil {
		return err
	}
	return drawing.WritePNG(path, out, img, to)
}
