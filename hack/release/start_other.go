//go:build !linux

package main

import "errors"

// startImage needs Linux: the image is for Linux alone.
func startImage(_, _ string) error {
	return errors.New("the image's manager can be started on Linux only")
}
