//go:build windows && !amd64 && !arm64

package native

// setWindowLongName is the function that sets a pointer of a window, which on 32
// bits is the one that sets a number.
const setWindowLongName = "SetWindowLongW"
