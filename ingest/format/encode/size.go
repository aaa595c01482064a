package encode

import (
	"fmt"
	"math/bits"
	"strconv"

	"ashlar/ingest/input/memory"
	"ashlar/ingest/input/safetext"
	"ashlar/ingest/model/recording"
)

// A Limit decides whether a file may become as large as expected. It matters for targets
// that write each stack in full: a few megabytes of deeply nested spans become gigabytes.
type Limit struct {
	// Input is the size of the recording's file.
	Input int64
	// Free is the space on the disk of the output, -1 if it is unknown or does not matter
	// because the output is compressed.
	Free int64
	// Large allows any size that the disk can hold. Flag tells the user how to set it, in
	// an error: "--large writes it anyway".
	Large bool
	Flag  string
	// Say, if not nil, prints a sentence about an unusually large output.
	Say func(string)
}

// An output is unusually large if it has many more bytes than the input.
const (
	muchMore   = 10
	worthTold  = 100e6
	mostOutput = 1e9
)

// expect checks an output of the given size, in bytes before compression.
func (l *Limit) expect(size, stacks, frames int64) error {
	if l == nil || size < worthTold {
		return nil
	}
	text := fmt.Sprintf("the output will have about %s, because %s are written in full, with %d million frames in total",
		memory.Text(size), safetext.Plural(stacks, "stack"), frames/1e6)
	const advice = "write a part (--range), or use a format with spans (.spall, .json)"
	switch {
	case l.Free >= 0 && size > l.Free:
		return fmt.Errorf("%s, but its disk has only %s free; %s", text, memory.Text(l.Free), advice)
	case size/muchMore <= l.Input:
		return nil
	case size > mostOutput && !l.Large:
		if l.Flag != "" {
			return fmt.Errorf("%s; %s, or add %s", text, advice, l.Flag)
		}
		return fmt.Errorf("%s; %s", text, advice)
	case l.Say != nil:
		l.Say(text)
	}
	return nil
}

// Expect notes that so many stacks, with so many frames in total, will be written with size
// bytes, and returns an error if the output would become too large.
func (j *Job) Expect(size, stacks, frames int64) error {
	j.expected += size
	j.rows += stacks
	j.deep += frames
	return j.Opt.Limit.expect(j.expected, j.rows, j.deep)
}

// TextID returns the length of a frame's number in text, with a comma.
func TextID(rec *recording.Recording) int64 {
	return int64(len(strconv.Itoa(rec.Frames.Len()))) + 1
}

// BinaryID returns the length of a frame's number in a protocol buffer.
func BinaryID(rec *recording.Recording) int64 {
	return int64(bits.Len(uint(rec.Frames.Len())|1)+6) / 7
}
