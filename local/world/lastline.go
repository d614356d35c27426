package world

import (
	"bytes"
	"os"
	"regexp"
)

// tailBytes of a log are looked at for the last words of a child.
const tailBytes = 16 << 10

// fatalLine matches the line that klog writes before it ends the process: F, month, day, time, process, file and line, and the reason.
var fatalLine = regexp.MustCompile(`^F\d{4} [0-9:.]+ +\d+ [^\]]+\] (.*)$`)

// errorPrefix is the prefix of the line with which a child reports why it ends.
const errorPrefix = "error: "

// lastLine returns the reason why a child ended: the last line of its log that begins with errorPrefix, or the last panic or fatal line.
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
			if reason, ok := bytes.CutPrefix(lines[n], []byte(prefix)); ok {
				return string(reason)
			}
		}
	}
	return ""
}
