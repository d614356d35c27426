package nodes

import (
	"fmt"
	"regexp"
	"strings"
	"sync"
	"time"
)

// maxConsole is the size of the console output that clouds keep: the last 64 KiB.
const maxConsole = 64 << 10

// maxLine bounds the length of a line, because commands of the user data can be long.
const maxLine = 400

// tokens finds bootstrap tokens: an id, which is public, and a secret.
var tokens = regexp.MustCompile(`\b([a-z0-9]{6})\.[a-z0-9]{16}\b`)

// console holds a machine's console output. Every line carries the machine's uptime, as on a serial console.
type console struct {
	disk *disk

	mu   sync.Mutex
	text []byte
}

// print adds lines of one program. Secrets of bootstrap tokens are cut out of whatever is printed.
func (c *console) print(uptime time.Duration, from, format string, args ...any) {
	s := strings.ToValidUTF8(fmt.Sprintf(format, args...), "?")
	s = tokens.ReplaceAllString(s, "$1.<secret>")
	var b strings.Builder
	for line := range strings.SplitSeq(strings.TrimRight(s, "\n"), "\n") {
		if len(line) > maxLine {
			line = strings.ToValidUTF8(line[:maxLine], "") + " ..."
		}
		fmt.Fprintf(&b, "[%12.6f] %s%s\n", uptime.Seconds(), from, line)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.text = append(c.text, b.String()...)
	if over := len(c.text) - maxConsole; over > 0 {
		// Half at once, so that a full console is not written anew for every line.
		c.text = append([]byte(nil), c.text[over+maxConsole/2:]...)
		c.disk.write(consoleFile, c.text)
		return
	}
	c.disk.add(consoleFile, []byte(b.String()))
}

func (c *console) read() []byte {
	c.mu.Lock()
	defer c.mu.Unlock()
	return append([]byte(nil), c.text...)
}
