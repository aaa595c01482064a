//go:build linux

package main

var peerRows []row
