package world

import (
	"bytes"
	"os"
)

// tailBytes of a log are looked at for the last words of a child.
const tailBytes = 16 << 10

// errorPrefix begins the line by which a child says why it ends.
const errorPrefix = "error: "

// lastLine is what a child said last about why it ends: its last line that begins with errorPrefix, or else its last
// panic.
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
		for _, prefix := range []string{errorPrefix, "panic: ", "fatal error: "} {
			if said, ok := bytes.CutPrefix(lines[n], []byte(prefix)); ok {
				return string(said)
			}
		}
	}
	return ""
}
