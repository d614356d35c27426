//go:build !linux

package world

import "syscall"

// apart keeps a Ctrl-C for the tests from their worlds, which Cleanup ends.
func apart() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true}
}
