//go:build linux

package main

import (
	"encoding/csv"
	"encoding/json"
	"image"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ashlar/testdata/e2e"
)

// command runs a command by its title in the command palette.
func (s *session) command(title string) {
	s.t.Helper()
	s.Key("ctrl+k")
	s.until("the palette", func(f frame) bool { return strings.HasPrefix(f.Typed, "Command") })
	s.Type(title)
	s.until("the command's name", func(f frame) bool { return strings.HasSuffix(f.Typed, title) })
	s.Key("Return")
}

// saveAs answers the prompt for a file name and waits until the file is saved.
func (s *session) saveAs(path string) {
	s.t.Helper()
	s.until("the line for a file's name", func(f frame) bool {
		return strings.HasPrefix(f.Typed, "File name")
	})
	s.Type(path) // replaces the proposed name; the folder stays
	s.until("the path", func(f frame) bool { return strings.HasSuffix(f.Typed, "/"+path) })
	s.Key("Return")
	s.until("the file", func(f frame) bool { return strings.Contains(f.Note, "Saved "+path) })
}

// TestExports saves a selection, a table and a picture from the window, and checks them with
// other readers.
func TestExports(t *testing.T) {
	t.Parallel()
	d := e2e.StartDisplay(t)
	s := startOn(t, d, "--theme", "dark", "ashlar:1?file=demo:&select=500ms..900ms&tab=functions")
	f := s.until("the view", func(f frame) bool { return f.Done && f.Selected == [2]int64{500e9, 900e9} && f.Tab == "functions" })
	dir := t.TempDir()

	part := filepath.Join(dir, "part.spaa")
	s.command("Save selection")
	s.saveAs(part)
	bin := e2e.Build(t, "./app/ashlar")
	out, err := d.Command(t, bin, "top", part, "--json", "-n", "1").Output()
	var top struct {
		Total json.Number `json:"total"`
	}
	if err == nil {
		err = json.Unmarshal(out, &top)
	}
	if err != nil || top.Total.String() != f.Total {
		t.Errorf("the exported selection has the total %s, the window says %s (%v)", top.Total, f.Total, err)
	}

	table := filepath.Join(dir, "table.csv")
	s.command("Save table")
	s.saveAs(table)
	file, err := os.Open(table)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	rows, err := csv.NewReader(file).ReadAll()
	if err != nil || len(rows) < 20 || rows[0][0] != "function" {
		t.Errorf("the table has %d rows, %v", len(rows), err)
	}
	asJSON := filepath.Join(dir, "table.json")
	s.command("Save table")
	s.saveAs(asJSON)
	var objects []map[string]any
	b, err := os.ReadFile(asJSON)
	if err == nil {
		err = json.Unmarshal(b, &objects)
	}
	if err != nil || len(objects) != len(rows)-1 || objects[0]["function"] != rows[1][0] {
		t.Errorf("as JSON it has %d rows, %v", len(objects), err)
	}

	// A picture of the window equals the screen, except for the note in the status line.
	s.Move(image.Pt(640, 790))
	shot := filepath.Join(dir, "view.png")
	s.command("Save picture")
	s.saveAs(shot)
	s.until("the note to go", func(f frame) bool { return f.Note == "" })
	screen := s.Screenshot()
	p, err := os.Open(shot)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	img, err := png.Decode(p)
	if err != nil || img.Bounds() != screen.Bounds() {
		t.Fatalf("the picture is %v, %v", img.Bounds(), err)
	}
	bad := 0
	for y := range 770 {
		for x := range img.Bounds().Dx() {
			r, g, bl, _ := img.At(x, y).RGBA()
			if c := screen.RGBAAt(x, y); !near(c.R, uint8(r>>8)) || !near(c.G, uint8(g>>8)) || !near(c.B, uint8(bl>>8)) {
				bad++
			}
		}
	}
	if bad > 1280*770/200 {
		t.Errorf("%d pixels of the picture are not as on the screen", bad)
	}
	svg := filepath.Join(dir, "view.svg")
	s.command("Save picture")
	s.saveAs(svg)
	if b, err := os.ReadFile(svg); err != nil || !strings.Contains(string(b), "<svg") || !strings.Contains(string(b), "<text") {
		t.Errorf("the SVG is %.80s, %v", b, err)
	}
}
