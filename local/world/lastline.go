package world

import (
	"bytes"
	"os"
	"regexp"
)

// tailBytes of a log are looked at for the last words of a child.
const tailBytes = 16 << 10

// fatalLine is what klog writes before it ends the process: F, month, day, time, process, file and line, and the reason.
var fatalLine = regexp.MustCompile(`^F\d{4} [0-9:.]+ +\d+ [^\]]+\] (.*)$`)

// errorPrefix begins the line by which a child says why it ends.
const errorPrefix = "error: "

// lastLine is what a child said last about why it ends: its last line that begins with errorPrefix, or its last
// panic or fatal line of the log.
func lastLine(log string) string {
	f, err := os.Open(log)
	if err != nil {
		return ""
	}
	defer func() { _ = f.Close() }()
	i, err := f.Stat()
	if err != nil {
		return ""
	}
	b := make([]byte, min(i.Size(), tailBytes))
	if _, err := f.ReadAt(b, i.Size()-int64(len(b))); err != nil {
		return ""
	}
	lines := bytes.Split(bytes.TrimSpace(b), []byte("\n"))
	for n := len(lines) - 1; n >= 0; n-- {
		if fatal := fatalLine.FindSubmatch(lines[n]); fatal != nil {
			return string(fatal[1])
		}
		for _, prefix := range []string{errorPrefix, "panic: ", "fatal error: "} {
			if said, ok := bytes.CutPrefix(lines[n], []byte(prefix)); ok {
				return string(said)
			}
		}
	}
	return ""
}
