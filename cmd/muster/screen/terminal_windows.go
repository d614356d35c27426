package screen

import (
	"os"

	"golang.org/x/sys/windows"
)

// byKey has a console hand over each key at once, as control sequences and without echo. Ctrl-C stays a signal.
func byKey(f *os.File) (restore func() error, err error) {
	console := windows.Handle(f.Fd())
	var before uint32
	if err := windows.GetConsoleMode(console, &before); err != nil {
		return nil, err
	}
	changed := before&^(windows.ENABLE_LINE_INPUT|windows.ENABLE_ECHO_INPUT) | windows.ENABLE_VIRTUAL_TERMINAL_INPUT
	if err := windows.SetConsoleMode(console, changed); err != nil {
		return nil, err
	}
	return func() error { return windows.SetConsoleMode(console, before) }, nil
}
