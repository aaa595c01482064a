// Package decode provides the parts that decoders share.
package decode

// Confidence says how sure a format is that a file is its own.
type Confidence int

const (
	// No: certainly something else.
	No Confidence = iota
	// Maybe: it could be read as this, for want of anything better.
	Maybe
	// Likely: the structure is right.
	Likely
	// Certain: a magic number or an unmistakable key.
	Certain
)

// Options are wishes that some decoders honour.
type Options struct {
	// Workers is how many goroutines may decode; 0 means one a core.
	Workers int
	// Exe is an executable to take symbols from instead of the recorded path.
	Exe string
}
