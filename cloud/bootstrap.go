package cloud

import "strings"

// Bootstrap is the data that a machine boots with. It holds a token that lets machines join, so it prints as its hash.
type Bootstrap struct {
	data   *sealed
	format string
	mark   string
}

// sealed, behind one more pointer, is bytes that fmt does not follow: where it can call no method (a private field, a verb
// for numbers) it prints what it finds, and through the first pointer of a bad verb too.
type sealed *[]byte

// NewBootstrap wraps bootstrap data of the given format: "cloud-config", "ignition", or another, of which nothing is known but that
// machines must get it as it is.
func NewBootstrap(data []byte, format string) Bootstrap {
	hidden := sealed(&data)
	return Bootstrap{data: &hidden, format: format}
}

// Data is the raw bootstrap data. It must reach nothing but the cloud's user-data field.
func (b Bootstrap) Data() []byte {
	if b.data == nil {
		return nil
	}
	return **b.data
}

// Format returns the format of the data, as it was given to NewBootstrap.
func (b Bootstrap) Format() string { return b.format }

// Empty reports whether there is no bootstrap data (yet).
func (b Bootstrap) Empty() bool { return len(b.Data()) == 0 }

// dataHashLength is enough to tell versions apart and too short to be used for anything else.
const dataHashLength = 12

// Hash tells bootstrap data apart without showing it.
func (b Bootstrap) Hash() string {
	if b.Empty() {
		return ""
	}
	return Digest(b.Data(), dataHashLength)
}

// String shows the hash, never the data.
func (b Bootstrap) String() string { return "bootstrap data " + b.Hash() }

// GoString shows the hash, never the data, for %#v.
func (b Bootstrap) GoString() string { return b.String() }

const (
	// contentStays is the number of hex digits that a marked content keeps of the original hash, contentMark the number of digits of the mark.
	// Together they are as long as any content.
	contentStays, contentMark = 10, 6
)

// Marked is the same data, of a configuration that replaces machines which were launched with another: templates that differ in the
// mark alone have contents that differ. The empty mark is that of the configuration which the pool had first, so that nothing is
// replaced by a Muster that begins to tell configurations apart.
func (b Bootstrap) Marked(mark string) Bootstrap {
	b.mark = mark
	return b
}

// Mark returns the mark that was given to Marked.
func (b Bootstrap) Mark() string { return b.mark }

// Content is the content hash ("v1:0123456789abcdef") of a template with this data, from that of all else that is in it.
func (b Bootstrap) Content(hash string) string {
	at := strings.IndexByte(hash, ':') + 1 + contentStays
	if b.mark == "" || at > len(hash) {
		return hash
	}
	return hash[:at] + Digest([]byte(b.mark), contentMark)
}

// OtherBootstrap reports whether two contents differ in their marks alone.
func OtherBootstrap(a, b string) bool {
	at := strings.IndexByte(a, ':') + 1 + contentStays
	return a != b && len(a) == len(b) && at <= len(a) && a[:at] == b[:at]
}
