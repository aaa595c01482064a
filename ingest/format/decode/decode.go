// Package decode provides the parts that decoders share.
package decode

// Confidence is a format's certainty that it recognises a file.
type Confidence int

const (
	// No: the file certainly has another format.
	No Confidence = iota
	// Maybe: the file could be read in this format if no other fits better.
	Maybe
	// Likely: the structure is right.
	Likely
	// Certain: a magic number or an unmistakable key.
	Certain
)

// Options are settings that some decoders use.
type Options struct {
	// Workers is the maximum number of decoding goroutines; 0 means one per core.
	Workers int
	// Exe is an executable to take symbols from instead of the recorded path.
	Exe string
}

// Text returns the part of the beginning of a file by which text formats are recognised.
// Their regular expressions would take seconds for megabytes in one line.
func Text(head []byte) []byte { return head[:min(len(head), 64<<10)] }
