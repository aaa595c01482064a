package convert

import "errors"

// errNothing is the error for a recording of which a target holds nothing.
var errNothing = errors.New("there is nothing in the recording that it could hold")

// ChoiceError is about an event that was asked for and is not there.
type ChoiceError struct{ Err error }

func (e *ChoiceError) Error() string { return e.Err.Error() }

func (e *ChoiceError) Unwrap() error { return e.Err }
