package main

import (
	"bytes"
	"fmt"
	"image"
	"image/png"
	"strconv"
	"strings"

	"github.com/tc-hib/winres"
	"github.com/tc-hib/winres/version"

	"ashlar/assets/desktop"
	"ashlar/assets/project"
)

// Ids of the icons in the program: Gio uses the first for its windows; the registry
// refers to the second for recordings.
const (
	appIcon      = winres.ID(1)
	documentIcon = winres.ID(2)
)

// withResources puts icons, version and manifest into a program for Windows.
func withResources(exe []byte, number string) ([]byte, error) {
	var rs winres.ResourceSet
	// Keep this order, because the pictures are numbered consecutively.
	for _, i := range []struct {
		id      winres.ID
		picture func(size int) []byte
	}{{appIcon, desktop.AppIcon}, {documentIcon, desktop.DocumentIcon}} {
		icon, err := ico(i.picture)
		if err != nil {
			return nil, err
		}
		if err := rs.SetIcon(i.id, icon); err != nil {
			return nil, err
		}
	}
	rs.SetManifest(winres.AppManifest{
		Identity:            winres.AssemblyIdentity{Name: desktop.ID, Version: fourParts(number)},
		Description:         "Ashlar",
		Compatibility:       winres.Win10AndAbove,
		ExecutionLevel:      winres.AsInvoker,
		DPIAwareness:        winres.DPIPerMonitorV2,
		LongPathAware:       true,
		UseCommonControlsV6: true,
	})
	var vi version.Info
	parts := fourParts(number)
	vi.FileVersion, vi.ProductVersion = parts, parts
	for key, value := range map[string]string{
		version.ProductName: "Ashlar", version.FileDescription: "Ashlar", version.OriginalFilename: "ashlar.exe",
		version.ProductVersion: number, version.FileVersion: number, version.CompanyName: project.Authors, version.LegalCopyright: project.Licence + " licence",
	} {
		if err := vi.Set(version.LangDefault, key, value); err != nil {
			return nil, fmt.Errorf("the version's %s: %w", key, err)
		}
	}
	rs.SetVersionInfo(vi)
	var out bytes.Buffer
	if err := rs.WriteToEXE(&out, bytes.NewReader(exe)); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

func ico(picture func(size int) []byte) (*winres.Icon, error) {
	var images []image.Image
	for _, n := range []int{16, 24, 32, 48, 64, 256} {
		img, err := png.Decode(bytes.NewReader(picture(n)))
		if err != nil {
			return nil, err
		}
		images = append(images, img)
	}
	return winres.NewIconFromImages(images)
}

// fourParts returns a version as Windows compares them: 1.2.3-5-gabc is 1.2.3.5.
func fourParts(s string) (parts [4]uint16) {
	s, rest, _ := strings.Cut(s, "-")
	for i, p := range append(strings.SplitN(s, ".", 3), strings.Split(rest, "-")[0]) {
		if n, err := strconv.ParseUint(p, 10, 16); err == nil && i < 4 {
			parts[i] = uint16(n)
		}
	}
	return parts
}
