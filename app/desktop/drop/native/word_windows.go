//go:build windows && (amd64 || arm64)

package native

// setWindowLongName is the function that sets a pointer of a window.
const setWindowLongName = "SetWindowLongPtrW"
