//go:build linux || darwin

package screen

import (
	"errors"
	"os"
	"os/signal"

	"golang.org/x/sys/unix"
)

// byKey has a terminal hand over each key at once and without echo. Output and the keys of signals stay as they are. A process in
// the background gets an error: the terminal belongs to another one.
func byKey(f *os.File) (restore func() error, err error) {
	fd := int(f.Fd())
	group, err := unix.IoctlGetInt(fd, unix.TIOCGPGRP)
	if err != nil {
		return nil, err
	}
	if group != unix.Getpgrp() {
		return nil, errors.New("this process runs in the background")
	}
	before, err := unix.IoctlGetTermios(fd, getAttributes)
	if err != nil {
		return nil, err
	}
	changed := *before
	changed.Lflag &^= unix.ICANON | unix.ECHO
	changed.Cc[unix.VMIN], changed.Cc[unix.VTIME] = 1, 0
	signal.Ignore(unix.SIGTTIN) // a process that is put into the background later ends its reading, and goes on
	if err := unix.IoctlSetTermios(fd, setAttributes, &changed); err != nil {
		return nil, err
	}
	return func() error {
		if group, err := unix.IoctlGetInt(fd, unix.TIOCGPGRP); err != nil || group != unix.Getpgrp() {
			return nil // the terminal belongs to another process by now
		}
		return unix.IoctlSetTermios(fd, setAttributes, before)
	}, nil
}
