package main

import (
	"image"
	"image/draw"
	"image/png"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"ashlar/app/command"
	"ashlar/app/core/view"
	"ashlar/app/window/headless"
	"ashlar/app/window/shell"
	"ashlar/app/window/workspace"
	"ashlar/ingest/model/recording"
	"ashlar/render/theme"
)

// TestCopiedCommandDrawsWhatIsShown runs the commands copied from graphical panels and
// compares their pictures with the panels, pixel by pixel.
func TestCopiedCommandDrawsWhatIsShown(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, tab string
		view      workspace.View
		theme     *theme.Theme
		mode      theme.Mode
		scale     float32
	}{
		{"timeline", "", workspace.Upper, theme.Light, theme.ByModule, 1},
		{"timeline twice as large", "", workspace.Upper, theme.Dark, theme.ByFunction, 2},
		{"heatmap", "heatmap", workspace.Both, theme.Dark, theme.ByFunction, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := shell.New(c.theme)
			defer s.Close()
			s.Mode = c.mode
			s.Visit(&view.State{Files: []string{view.Demo}, Sides: [2]view.Side{{Show: recording.Offsets(200e9, 1500e9), Select: recording.Offsets(500e9, 900e9)}}, Stacks: view.Stacks{Find: "json"}, Tab: c.tab})
			if err := s.Finish(); err != nil {
				t.Fatal(err)
			}
			s.View = c.view
			shown, err := headless.Draw(s, 900, 560, c.scale)
			if err != nil {
				t.Fatal(err)
			}
			line, rest := s.AsCommand()
			if rest != "" || !strings.HasPrefix(line, "ashlar render 'ashlar:1?file=demo:") {
				t.Fatalf("the command is %s, all but %q", line, rest)
			}
			args := strings.Fields(strings.ReplaceAll(line, "'", ""))[1:]
			out := filepath.Join(t.TempDir(), "out.png")
			args[slices.Index(args, "-o")+1] = out
			var said strings.Builder
			if code := command.Main(args, nil, &said, &said, command.Runner{Render: render}); code != command.Done {
				t.Fatalf("%s: exit %d: %s", line, code, said.String())
			}
			f, err := os.Open(out)
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			img, err := png.Decode(f)
			if err != nil {
				t.Fatal(err)
			}
			drawn := image.NewRGBA(img.Bounds())
			draw.Draw(drawn, drawn.Rect, img, image.Point{}, draw.Src)
			if drawn.Rect != shown.Rect || !slices.Equal(drawn.Pix, shown.Pix) {
				t.Errorf("%s draws another picture than is shown", line)
			}
		})
	}
}
