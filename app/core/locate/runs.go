package locate

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"ashlar/ingest"
	"ashlar/ingest/format/parquet"
	"ashlar/ingest/model/order"
	"ashlar/ingest/query/join"
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
		case serr != nil && join.IsName(arg):
			files = append(files, arg)
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
			order.By(found, join.Natural)
			files = append(files, found...)
		case serr != nil && strings.ContainsAny(arg, "*?["):
			found, err := filepath.Glob(arg)
			if err != nil {
				return nil, nil, fmt.Errorf("%q is not a pattern: %w", arg, err)
			}
			if len(found) == 0 {
				return nil, nil, fmt.Errorf("no file matches %q", arg)
			}
			order.By(found, join.Natural)
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
