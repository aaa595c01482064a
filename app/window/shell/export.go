package shell

import (
	"context"
	"errors"
	"fmt"
	"image"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"gioui.org/io/key"

	"ashlar/app/core/settings"
	"ashlar/app/desktop/outfile"
	"ashlar/ingest"
	"ashlar/ingest/format/encode"
	"ashlar/ingest/model/recording"
	"ashlar/ingest/query/calls"
	"ashlar/ingest/query/extract"
	"ashlar/render/units"
)

// exportCommands returns the commands that follow, edit, copy and save.
func exportCommands() []Command {
	return []Command{
		{"Follow file on or off", []Chord{chord("R", key.ModCtrl)}, true, func(s *Shell) { s.ToggleFollow() }},
		{"Open source in editor", []Chord{chord("E", key.ModCtrl)}, true, func(s *Shell) { s.Pane.SourcePart.Edit(&s.Host, &s.Pane.Side) }},
		{"Copy table as JSON", nil, true, func(s *Shell) { s.CopyGrid() }},
		{"Save table (CSV, JSON)", nil, true, func(s *Shell) { s.saveTable() }},
		{"Save picture (PNG, SVG)", nil, true, func(s *Shell) { s.savePicture() }},
		{"Save selection as recording", nil, true, func(s *Shell) { s.saveSelection() }},
		{"Save marks (JSON)", nil, true, func(s *Shell) { s.saveMarks() }},
		{"Add marks from file", nil, true, func(s *Shell) { s.loadMarks() }},
		{shareTitle, nil, false, func(s *Shell) { s.toggleShare() }},
	}
}

func (s *Shell) saveTable() {
	g := s.Grid()
	if g == nil {
		return
	}
	out := s.replacing()
	s.askSave("File name ending in .csv, .tsv or .json", s.Pane.Stem()+"-"+strings.ReplaceAll(g.Name, " ", "-")+".csv", func(path string) error {
		switch strings.ToLower(filepath.Ext(path)) {
		case ".csv":
			return writeText(path, out, g.Separated(','))
		case ".tsv", ".txt":
			return writeText(path, out, g.Separated('\t'))
		case ".json":
			return writeText(path, out, g.Json())
		}
		return fmt.Errorf("%s: unknown table format. End the name in .csv, .tsv or .json", path)
	})
}

func writeText(path string, o outfile.Options, text string) error {
	return outfile.Write(path, o, func(w io.Writer) error {
		_, err := io.WriteString(w, text)
		return err
	})
}

// replacing returns the options for saving over the file that the user named and saw to
// exist. Open files are never replaced.
func (s *Shell) replacing() outfile.Options {
	return outfile.Options{Replace: true, Not: s.Address().Files}
}

// saveSelection saves the selected time and threads as a recording, with the transforms
// applied to the stacks.
func (s *Shell) saveSelection() {
	p := s.Pane
	if !p.Rec.Done {
		s.Say("The recording is still loading")
		return
	}
	rec := p.Rec
	in, ts := p.Scope.On(slices.Clone(p.Scope.Tracks)), slices.Clone(p.Transforms)
	event := rec.Events
	opt := encode.Options{}
	if p.Event < len(event) {
		opt.Event = event[p.Event].Name
	}
	replace := s.replacing()
	s.askSave("File name. The extension sets the format: .spaa, .pb.gz, .json, .spall, …", p.Stem()+"-part.spaa", func(path string) error {
		target, err := ingest.FormatFor(path)
		if err != nil {
			return err
		}
		if !target.Encode.OneEvent {
			opt.Event = "" // the format holds all events
		}
		ctx := context.Background()
		in.Async, in.Idle = recording.In, recording.In // the file includes async spans and idle samples
		in, err := calls.Bind(ctx, rec, in)
		if err != nil {
			return err
		}
		part, notes, err := extract.Recording(ctx, rec, in, ts)
		if err != nil {
			return err
		}
		out, err := outfile.Create(path, replace)
		if err != nil {
			return err
		}
		defer out.Close()
		opt.Limit = &encode.Limit{Input: rec.Source.Bytes, Free: -1}
		if !target.Encode.Compresses(path) {
			opt.Limit.Free = out.Free()
		}
		rep, err := target.Write(ctx, out, path, part, opt)
		if err != nil {
			return err
		}
		if err := out.Commit(); err != nil {
			return err
		}
		for _, l := range rep.Lost {
			notes = append(notes, l.What+": "+l.Why)
		}
		if len(notes) > 0 {
			return errors.New("Saved " + path + "; not saved: " + strings.Join(notes, "; "))
		}
		return nil
	})
}

// savePicture saves the window's contents as a picture.
func (s *Shell) savePicture() {
	if s.Picture == nil {
		s.Say("Pictures cannot be drawn on this computer")
		return
	}
	still, size, scale := s.Snapshot(), s.Size, s.Density
	s.askSave("File name ending in .png or .svg", s.Pane.Stem()+".png", func(path string) error {
		return s.Picture(still, path, size, scale)
	})
}

// Snapshot returns a shell with the same view that never changes, so that another
// goroutine can draw it. It shares no pictures with this shell.
func (s *Shell) Snapshot() *Shell {
	o := New(s.Theme)
	o.Mode, o.View, o.Scale, o.Columns, o.HiddenColumns = s.Mode, s.View, s.Scale, s.Columns, s.HiddenColumns
	if s.Pane == nil {
		return o
	}
	o.Roots = s.Roots
	if v := s.Versus; v != nil {
		o.Versus = v.Snapshot()
		o.Pane = o.Versus.Panes[v.Focus]
		return o
	}
	o.Pane = s.Pane.Snapshot()
	return o
}

func (s *Shell) saveMarks() {
	p := s.Pane
	if len(p.Marks) == 0 {
		s.Say("No marks. Press B to add one")
		return
	}
	key, name, marks := p.MarkList.Key, p.Doc.Name, slices.Clone(p.Marks)
	out := s.replacing()
	s.askSave("File name", p.Stem()+"-marks.json", func(path string) error {
		return outfile.Write(path, out, func(w io.Writer) error { return settings.WriteMarks(w, key, name, marks) })
	})
}

// loadMarks adds marks that were exported.
func (s *Shell) loadMarks() {
	take := func(s *Shell, path string) {
		f, err := os.Open(path)
		if err == nil {
			defer f.Close()
			var in settings.Marks
			if in, err = settings.ReadMarks(f); err == nil {
				n := len(s.Pane.Marks)
				for _, m := range in.Marks {
					s.Pane.MarkList.Add(m)
				}
				s.Say(units.Plural(int64(len(s.Pane.Marks)-n), "mark") + " added")
			}
		}
		if err != nil {
			s.Say(path + ": " + err.Error())
		}
	}
	s.pick("Add marks", func(s *Shell) { s.typePath("File of marks", s.startDir(), false, take) }, func(s *Shell, paths []string) { take(s, paths[0]) })
}

// Picture draws a still shell into a file; size is in pixels.
type Picture func(still *Shell, path string, size image.Point, scale float32) error
