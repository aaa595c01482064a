package icon

import (
	"fmt"
	"image/png"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/exp/shiny/materialdesign/icons"
)

// TestPathsAreTheMasks compares the mask of every icon with its path as drawn by
// rsvg-convert. It adds icons from the rest of the library, so that every path command is
// tested.
func TestPathsAreTheMasks(t *testing.T) {
	program, err := exec.LookPath("rsvg-convert")
	if err != nil {
		t.Fatal("rsvg-convert is missing: install the package librsvg2-bin (make test does it on Debian and Ubuntu)")
	}
	all := used()
	for _, data := range [][]byte{icons.ActionAccessibility, icons.ActionSettings, icons.AVRadio, icons.CommunicationRSSFeed, icons.DeviceBluetooth,
		icons.EditorModeEdit, icons.HardwareToys, icons.ImageLooks, icons.MapsLocalPizza, icons.PlacesPool, icons.SocialPublic, icons.NotificationWiFi} {
		all = append(all, &Icon{data: data})
	}
	// Draw all icons in one picture, because starting the program takes longest.
	const px = 64
	var page strings.Builder
	fmt.Fprintf(&page, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d">`, px*len(all), px)
	for i, icon := range all {
		fmt.Fprintf(&page, `<path transform="translate(%d %d) scale(%v)" d="%s"/>`, px*i+px/2, px/2, float64(px)/Box, icon.Path())
	}
	page.WriteString("</svg>")
	in, out := filepath.Join(t.TempDir(), "in.svg"), filepath.Join(t.TempDir(), "out.png")
	if err := os.WriteFile(in, []byte(page.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	if msg, err := exec.Command(program, in, "-o", out).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, msg)
	}
	f, err := os.Open(out)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	drawn, err := png.Decode(f)
	if err != nil {
		t.Fatal(err)
	}
	steps := map[rune]bool{}
	for i, icon := range all {
		mask, off, covered := icon.Mask(px), 0, 0
		for y := range px {
			for x := range px {
				_, _, _, a := drawn.At(px*i+x, y).RGBA()
				want := int(mask.AlphaAt(x, y).A)
				if covered += want; max(want-int(a>>8), int(a>>8)-want) > 96 {
					off++
				}
			}
		}
		if covered == 0 || off > 0 {
			t.Errorf("icon %d: %d of %d pixels are covered otherwise than by the mask: %s", i, off, px*px, icon.Path())
		}
		for _, letter := range icon.Path() {
			steps[letter] = true
		}
	}
	for _, letter := range "MmzHhVvLlCcSs" {
		if !steps[letter] {
			t.Errorf("no icon has the step %c", letter)
		}
	}
}

// used returns the icons that the window uses.
func used() []*Icon {
	all := []*Icon{Demo, Colour, Theme}
	for _, verb := range slices.Sorted(maps.Keys(verbs)) {
		all = append(all, verbs[verb])
	}
	return all
}

func TestOf(t *testing.T) {
	for title, want := range map[string]*Icon{"Copy name": Copy, "Copy table as CSV": Copy, "Search": Search, "function": nil, "": nil} {
		if got := Of(title); got != want {
			t.Errorf("%q has the icon %p, want %p", title, got, want)
		}
	}
}

func TestMasksAreMadeOnce(t *testing.T) {
	if first, again := Open.Mask(16), Open.Mask(16); first != again {
		t.Error("a mask is made twice")
	}
	if m := Open.Mask(24); m.Rect.Dx() != 24 {
		t.Errorf("a mask of 24 pixels has %v", m.Rect)
	}
	for i, a := range used() {
		for _, b := range used()[:i] {
			if a.Path() == b.Path() {
				t.Errorf("two icons are the same: %s", a.Path())
			}
		}
	}
}
