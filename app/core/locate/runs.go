package locate

import (
	"cmp"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"ashlar/ingest"
	"ashlar/ingest/format/parquet"
	"ashlar/ingest/model/order"
)

// Runs returns the recordings that arguments name: files, patterns (with * ? or [) and
// folders, in the order of the arguments and, within a pattern or folder, of names, with
// numbers in names ordered by value. Of a folder it takes the files directly in it whose
// format is known; skipped are the others, except hidden ones. A folder that is a data set
// stands for its recordings.
func Runs(args []string) (files, skipped []string, err error) {
	for _, arg := range args {
		info, serr := os.Stat(arg)
		switch {
		case serr == nil && info.IsDir() && parquet.Recordings(arg) != nil:
			files = append(files, parquet.Recordings(arg)...)
		case serr == nil && info.IsDir():
			entries, err := os.ReadDir(arg)
			if err != nil {
				return nil, nil, err
			}
			var found []string
			for _, e := range entries {
				path := filepath.Join(arg, e.Name())
				if strings.HasPrefix(e.Name(), ".") || isDir(path, e) {
					continue
				}
				if _, err := ingest.Recognise(path); err != nil {
					skipped = append(skipped, path)
					continue
				}
				found = append(found, path)
			}
			if found == nil {
				return nil, nil, fmt.Errorf("%s: the folder has no recordings", arg)
			}
			order.By(found, byName)
			files = append(files, found...)
		case serr != nil && strings.ContainsAny(arg, "*?["):
			found, err := filepath.Glob(arg)
			if err != nil {
				return nil, nil, fmt.Errorf("%q is not a pattern: %w", arg, err)
			}
			if len(found) == 0 {
				return nil, nil, fmt.Errorf("no file matches %q", arg)
			}
			order.By(found, byName)
			files = append(files, found...)
		default:
			files = append(files, arg) // reading it reports the error
		}
	}
	return files, skipped, nil
}

func isDir(path string, e fs.DirEntry) bool {
	if e.Type()&fs.ModeSymlink == 0 {
		return e.IsDir()
	}
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// byName compares names, with runs of digits by value: run-9 comes before run-10.
func byName(a, b string) int {
	x, y := a, b
	for x != "" && y != "" {
		i, j := digits(x), digits(y)
		if i == 0 || j == 0 {
			if x[0] != y[0] {
				return cmp.Compare(x[0], y[0])
			}
			x, y = x[1:], y[1:]
			continue
		}
		n, m := strings.TrimLeft(x[:i], "0"), strings.TrimLeft(y[:j], "0")
		if c := cmp.Or(cmp.Compare(len(n), len(m)), cmp.Compare(n, m)); c != 0 {
			return c
		}
		x, y = x[i:], y[j:]
	}
	return cmp.Or(cmp.Compare(len(x), len(y)), cmp.Compare(a, b))
}

// digits counts the digits at the start of a text.
func digits(s string) (n int) {
	for n < len(s) && s[n] >= '0' && s[n] <= '9' {
		n++
	}
	return n
}
