package main

import (
	"os"

	"golang.org/x/sys/windows"
)

// unheard is set if nobody reads the standard error.
var unheard bool

// attachConsole lets commands print to the console in which they were typed. Windows
// gives a GUI program no console, only redirected output, so the program attaches to its
// parent's console.
func attachConsole() {
	has := func(id uint32) bool {
		h, err := windows.GetStdHandle(id)
		return err == nil && h != 0 && h != windows.InvalidHandle
	}
	out, complaints := has(windows.STD_OUTPUT_HANDLE), has(windows.STD_ERROR_HANDLE)
	if out && complaints {
		return
	}
	const parent = ^uintptr(0) // ATTACH_PARENT_PROCESS
	attach := windows.NewLazySystemDLL("kernel32.dll").NewProc("AttachConsole")
	if ok, _, _ := attach.Call(parent); ok == 0 {
		unheard = !complaints // it was started by a double click
		return
	}
	console, err := os.OpenFile("CONOUT$", os.O_RDWR, 0)
	if err != nil {
		return
	}
	if !out {
		os.Stdout = console
	}
	if !complaints {
		os.Stderr = console
	}
}

// showMessage shows why the program ends in a message box, if nobody reads the standard
// error.
func showMessage(text string) {
	if !unheard {
		return
	}
	message, err := windows.UTF16PtrFromString(text)
	if err != nil {
		return
	}
	title, _ := windows.UTF16PtrFromString("Ashlar") // it has no NUL
	_, _ = windows.MessageBox(0, message, title, windows.MB_OK|windows.MB_ICONERROR|windows.MB_SETFOREGROUND)
}
