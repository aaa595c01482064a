//go:build windows && !amd64 && !arm64

package native

// setWindowLongName is the function that sets a window's pointer; on 32 bits it is the
// one that sets a number.
const setWindowLongName = "SetWindowLongW"
