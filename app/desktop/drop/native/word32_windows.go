//go:build windows && !amd64 && !arm64

package native

// setWindowLongName is the function that sets a pointer of a window. On 32 bits this is
// the function that sets a number.
const setWindowLongName = "SetWindowLongW"
