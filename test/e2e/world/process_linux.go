package world

import "syscall"

// apart keeps a Ctrl-C for the tests from their worlds, which Cleanup ends, and ends a world whose tests were killed or ran out of
// time: no Cleanup runs then.
func apart() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGTERM}
}
