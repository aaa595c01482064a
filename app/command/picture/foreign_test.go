package picture_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ashlar/app/command"
	"ashlar/app/command/picture"
)

// TestForeignPictures: render replaces a picture, and no other file.
func TestForeignPictures(t *testing.T) {
	for _, name := range []string{"notes.png", "notes.svg"} {
		path := filepath.Join(t.TempDir(), name)
		render := func() (code int, said string) {
			var errs bytes.Buffer
			code = command.Main([]string{"render", "--demo", "--size", "400x300", "-o", path}, nil, &errs, &errs, command.Runner{Render: picture.Render})
			return code, errs.String()
		}
		if err := os.WriteFile(path, []byte("mine\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		code, said := render()
		if b, _ := os.ReadFile(path); code != command.Problem || !strings.Contains(said, name+" exists and is not a") || string(b) != "mine\n" {
			t.Errorf("exit code %d: %s; the file has %.20q", code, said, b)
		}
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
		for range 2 {
			if code, said := render(); code != command.Done {
				t.Errorf("%s: exit code %d: %s", name, code, said)
			}
		}
	}
}
