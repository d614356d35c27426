package screen

import (
	"bufio"
	"context"
	"io"
	"os"

	"golang.org/x/term"
)

// Key is a key that moves through a table.
type Key int

// The keys that move by a line, by a window, and to the ends.
const (
	Up Key = iota + 1
	Down
	PageUp
	PageDown
	Home
	End
)

// sequences are the keys as terminals send them after ESC (ECMA-48 and xterm's control sequences), and the letters that less and vi have.
var sequences = map[string]Key{
	"[A": Up, "OA": Up, "k": Up,
	"[B": Down, "OB": Down, "j": Down,
	"[5~": PageUp, "b": PageUp,
	"[6~": PageDown, " ": PageDown,
	"[H": Home, "OH": Home, "[1~": Home, "g": Home,
	"[F": End, "OF": End, "[4~": End, "G": End,
}

const escape = 0x1b

// Keys lets the keyboard move through the screen's table, if in and the screen are a terminal in whose foreground this process runs.
// Keys arrive until ctx ends; the function that is returned gives the terminal back as it was. Signals of the keyboard stay signals.
func (s *Screen) Keys(ctx context.Context, in io.Reader) (<-chan Key, func() error) {
	f, ok := in.(*os.File)
	if !ok || !s.Live() || !term.IsTerminal(int(f.Fd())) {
		return nil, func() error { return nil }
	}
	restore, err := byKey(f)
	if err != nil {
		return nil, func() error { return nil } // a table that does not scroll is shown all the same
	}
	s.scrolls = true
	keys := make(chan Key)
	go read(ctx, f, keys) // ends with the process: a read of a terminal cannot be ended
	return keys, restore
}

// read sends the keys that arrive until ctx or the input ends.
func read(ctx context.Context, in io.Reader, keys chan<- Key) {
	from := bufio.NewReader(in)
	for {
		text, err := sequence(from)
		if err != nil {
			return
		}
		key, known := sequences[text]
		if !known {
			continue
		}
		select {
		case keys <- key:
		case <-ctx.Done():
			return
		}
	}
}

// sequence reads a character, or a control sequence without its ESC.
func sequence(from *bufio.Reader) (string, error) {
	b, err := from.ReadByte()
	if err != nil || b != escape {
		return string(rune(b)), err
	}
	var text []byte
	for {
		if b, err = from.ReadByte(); err != nil {
			return "", err
		}
		text = append(text, b)
		introducer := len(text) == 1 && (b == '[' || b == 'O')
		if !introducer && b >= 0x40 && b <= 0x7e || len(text) > longest {
			return string(text), nil
		}
	}
}

// longest bounds a control sequence of a terminal that sends nonsense.
const longest = 16
