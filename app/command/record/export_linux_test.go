package record

import "testing"

// ReplaceSystem replaces the files that describe the system until the end of a test.
func ReplaceSystem(t *testing.T, root string) {
	was := system
	t.Cleanup(func() { system = was })
	system = root
}

var StacksOf = stacksOf
