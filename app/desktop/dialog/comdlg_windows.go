package dialog

import (
	"context"
	"fmt"
	"path/filepath"
	"runtime"
	"unsafe"

	"golang.org/x/sys/windows"
)

// OPENFILENAMEW and its flags, from commdlg.h:
// https://learn.microsoft.com/windows/win32/api/commdlg/ns-commdlg-openfilenamew
type openFileName struct {
	structSize      uint32
	owner           windows.HWND
	instance        windows.Handle
	filter          *uint16
	customFilter    *uint16
	maxCustomFilter uint32
	filterIndex     uint32
	file            *uint16
	maxFile         uint32
	fileTitle       *uint16
	maxFileTitle    uint32
	initialDir      *uint16
	title           *uint16
	flags           uint32
	fileOffset      uint16
	fileExtension   uint16
	defExt          *uint16
	custData        uintptr
	hook            uintptr
	templateName    *uint16
	reservedPtr     uintptr
	reserved        uint32
	flagsEx         uint32
}

const (
	ofnAllowMultiSelect = 0x00000200
	ofnExplorer         = 0x00080000
	ofnFileMustExist    = 0x00001000
	ofnPathMustExist    = 0x00000800
	ofnNoChangeDir      = 0x00000008
	ofnHideReadOnly     = 0x00000004
)

var (
	comdlg32         = windows.NewLazySystemDLL("comdlg32.dll")
	getOpenFileName  = comdlg32.NewProc("GetOpenFileNameW")
	extendedError    = comdlg32.NewProc("CommDlgExtendedError")
	roomForTheAnswer = 64 << 10 // UTF-16 units: enough for hundreds of files
)

// Open asks the user for files to open and waits for the answer. It returns no paths and
// no error if the user chose none. The system's dialog cannot be closed from here, so ctx
// is checked only before it opens.
func Open(ctx context.Context, r Request) ([]string, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if getOpenFileName.Find() != nil {
		return nil, ErrNone
	}
	runtime.LockOSThread() // the dialog runs a message loop on this thread
	defer runtime.UnlockOSThread()
	answer := make([]uint16, roomForTheAnswer)
	filter := []uint16(nil)
	for _, part := range []string{"All files", "*.*", ""} {
		filter = append(filter, windows.StringToUTF16(part)...)
	}
	o := openFileName{
		owner: owner(), filter: &filter[0],
		file: &answer[0], maxFile: uint32(len(answer)),
		flags: ofnExplorer | ofnFileMustExist | ofnPathMustExist | ofnNoChangeDir | ofnHideReadOnly,
	}
	o.structSize = uint32(unsafe.Sizeof(o))
	if r.Multiple {
		o.flags |= ofnAllowMultiSelect
	}
	var err error
	if o.title, err = windows.UTF16PtrFromString(r.Title); err != nil {
		return nil, err
	}
	if r.Folder != "" {
		if o.initialDir, err = windows.UTF16PtrFromString(r.Folder); err != nil {
			return nil, err
		}
	}
	if ok, _, _ := getOpenFileName.Call(uintptr(unsafe.Pointer(&o))); ok == 0 {
		if code, _, _ := extendedError.Call(); code != 0 {
			return nil, fmt.Errorf("the file dialog failed with error 0x%04x", code)
		}
		return nil, nil
	}
	return answered(answer), nil
}

// owner returns the program's window if it is the one in use, which is then disabled while
// the dialog is open; 0 otherwise.
func owner() windows.HWND {
	hwnd := windows.GetForegroundWindow()
	var pid uint32
	if _, err := windows.GetWindowThreadProcessId(hwnd, &pid); err != nil || pid != windows.GetCurrentProcessId() {
		return 0
	}
	return hwnd
}

// answered splits the dialog's output: either one path, or a folder followed by file
// names. Each ends with a NUL and the list with another.
func answered(units []uint16) []string {
	var parts []string
	for len(units) > 0 && units[0] != 0 {
		end := 0
		for end < len(units) && units[end] != 0 {
			end++
		}
		parts = append(parts, windows.UTF16ToString(units[:end]))
		units = units[min(end+1, len(units)):]
	}
	if len(parts) < 2 {
		return parts
	}
	var paths []string
	for _, name := range parts[1:] {
		paths = append(paths, filepath.Join(parts[0], name))
	}
	return paths
}
