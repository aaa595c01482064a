package outfile

import "golang.org/x/sys/windows"

// free returns the bytes that the user may still write to the disk with the given folder,
// -1 if that is unknown.
func free(dir string) int64 {
	name, err := windows.UTF16PtrFromString(dir)
	if err != nil {
		return -1
	}
	var n uint64
	if windows.GetDiskFreeSpaceEx(name, &n, nil, nil) != nil {
		return -1
	}
	return int64(n)
}
