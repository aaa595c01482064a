package parquet

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"ashlar/ingest/model/relation"
)

// rowsName is the name of the files of a data set: TABLE/recording=NAME/rows.parquet.
const rowsName = "rows.parquet"

// NoRecording is the partition with an empty file of each table, so that a query finds the
// table even if no recording has rows of it.
const NoRecording = "__HIVE_DEFAULT_PARTITION__"

// Place returns the file of a table of a recording in the data set in dir.
func Place(dir, table, name string) string {
	return filepath.Join(dir, table, relation.Partition+"="+name, rowsName)
}

// Partition returns the data set and the name of the recording for which a file stands: its
// rows of the table recordings. It opens nothing.
func Partition(file string) (dir, name string, ok bool) {
	folder := filepath.Dir(file)
	name, ok = strings.CutPrefix(filepath.Base(folder), relation.Partition+"=")
	table := filepath.Dir(folder)
	return filepath.Dir(table), name, ok && filepath.Base(file) == rowsName && filepath.Base(table) == "recordings"
}

// Recordings returns the files that stand for the recordings of a data set, in the order of
// their names, given its folder; given the folder of a partition of any table, the file of
// that recording. It returns none for other folders.
func Recordings(dir string) (files []string) {
	has := func(file string) bool {
		info, err := os.Stat(file)
		return err == nil && info.Mode().IsRegular()
	}
	if abs, err := filepath.Abs(dir); err == nil {
		if name, ok := strings.CutPrefix(filepath.Base(abs), relation.Partition+"="); ok && relation.Named(filepath.Base(filepath.Dir(abs))) != nil {
			if file := Place(filepath.Join(dir, "..", ".."), "recordings", name); has(file) {
				return []string{file}
			}
		}
	}
	entries, err := os.ReadDir(filepath.Join(dir, "recordings"))
	if err != nil {
		return nil
	}
	for _, e := range entries {
		name, ok := strings.CutPrefix(e.Name(), relation.Partition+"=")
		if file := Place(dir, "recordings", name); ok && name != NoRecording && has(file) {
			files = append(files, file)
		}
	}
	slices.Sort(files)
	return files
}
