package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"ashlar/app/view"
)

// checkAddress reads an address from the command line and checks its files. It
// comes back with their paths made absolute, and with other parts to show where
// parts says which.
func checkAddress(s, parts string) (string, error) {
	v, err := view.Parse(s)
	if err != nil {
		return "", &usageError{err: err}
	}
	if parts != "" {
		v.Parts = parts
	}
	if len(v.Files) == 0 {
		return "", misuse("the address names no file: it should have file=PATH")
	}
	for i, f := range v.Files {
		if f == "-" || f == view.Demo || strings.Contains(f, "://") {
			continue
		}
		if v.Files[i], err = filepath.Abs(f); err != nil {
			return "", err
		}
		if _, err := os.Stat(f); err != nil {
			return "", fmt.Errorf("%s: there is no such file", f)
		}
	}
	return v.String(), nil
}

// alone refuses flags that say what the address says already.
func alone(fs *pflag.FlagSet, but ...string) (err error) {
	fs.Visit(func(f *pflag.Flag) {
		if err == nil && !slices.Contains(but, f.Name) {
			err = misuse("the address says what is shown; leave out --%s", f.Name)
		}
	})
	return err
}
