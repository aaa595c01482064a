//go:build !linux

package main

import "testing"

func container(t *testing.T, _, _ string) {
	t.Skip("NOT TRIED IN A CONTAINER: only Linux has them")
}
