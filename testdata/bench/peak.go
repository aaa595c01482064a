//go:build linux

package main

import (
	"encoding/json"
	"fmt"
	"path/filepath"
)

// mostBeside is the memory, in bytes, that decoding may take in addition to the recording
// itself.
const mostBeside = 256 * mega

// peak measures the memory that decoding takes in addition to the resulting recording:
// the peak that info reports, including mapped pages, minus the memory that the recording
// keeps. The worst run counts.
func (b *bench) peak() ([]result, error) {
	var out []result
	for _, r := range []recording{chrome, spaa} {
		f, kept, all, err := b.kept(r)
		if err != nil {
			return out, err
		}
		var most int64
		for _, r := range all {
			var info struct {
				Load struct {
					Peak int64 `json:"peak_rss_bytes"`
				}
			}
			if err := json.Unmarshal([]byte(r.Text), &info); err != nil {
				return out, err
			}
			most = max(most, info.Load.Peak)
		}
		beside := most - kept
		out = append(out, result{
			What:   fmt.Sprintf("memory while decoding, %s", filepath.Base(f.path)),
			Target: fmt.Sprintf("%.0f MB beside the recording", mostBeside/mega), Value: float64(beside) / mega, Pass: beside < mostBeside,
			Measured: fmt.Sprintf("%.0f MB", float64(beside)/mega),
			Note:     fmt.Sprintf("at most %.0f MB in %d runs, of which the recording has %.0f MB", float64(most)/mega, len(all), float64(kept)/mega),
		})
	}
	return out, nil
}

// kept returns the memory that a loaded recording keeps, and the runs that loaded its
// file.
func (b *bench) kept(r recording) (f *file, bytes int64, all []run, err error) {
	if f, err = b.get(r); err != nil {
		return nil, 0, nil, err
	}
	held, err := b.self("held", f.path)
	if err != nil {
		return nil, 0, nil, err
	}
	var h heldMemory
	if err = json.Unmarshal([]byte(held.Text), &h); err != nil {
		return nil, 0, nil, err
	}
	all, err = b.load(f)
	return f, h.Held, all, err
}
