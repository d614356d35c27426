// Package cloudinit reads the user data of a machine as cloud-init does: it takes off gzip, splits MIME parts, renders
// the jinja header's templates from the machine's metadata, and gives back the files to write and the commands to run.
//
// Only what leads to a joined node is carried out by a simulated machine; every other module is named in the notes, so that a
// reader of the console sees that it was there. What a template asks for and the machine does not know is an error that names it.
package cloudinit

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
)

// maxUnpacked bounds what gzip may unpack to: clouds take some 16 KiB to 256 KiB of user data, and honest text shrinks no
// more than some twentyfold.
const maxUnpacked = 4 << 20

// File is one entry of write_files after its encoding was taken off.
type File struct {
	// Path is absolute in the machine.
	Path string
	// Content is the content of the file; for an Append entry, the text to append.
	Content []byte
	// Permissions are octal digits such as 0640, Owner is user:group; as written, with cloud-init's defaults.
	Permissions, Owner string
	// Append adds to a file that an earlier entry has written.
	Append bool
}

// Config holds the actions of a machine's first boot.
type Config struct {
	// Files in the order of writing.
	Files []File
	// BootCommands run before the files are written, Commands after everything else; each one a shell line.
	BootCommands, Commands []string
	// Scripts are the shell scripts among the parts, line by line and in order; they run after Commands.
	Scripts []string
	// Documents are the parts for other programs of the image, by MIME type and in order.
	Documents map[string][][]byte
	// Hostname replaces the one of the metadata service when the user data sets it.
	Hostname string
	// Notes list the unsupported requests, Warnings the errors that did not stop the boot.
	Notes, Warnings []string
}

// Fetch gets what a URL names.
type Fetch func(url string) ([]byte, error)

// Parse reads user data, and what it includes. An error means that nothing of it can be carried out; it is worded as a line for
// the console and never quotes the data. Without a way to fetch, included addresses are noted and no more.
func Parse(userData []byte, data Metadata, fetch Fetch) (*Config, error) {
	raw, err := gunzip(userData)
	if err != nil {
		return nil, err
	}
	if len(bytes.TrimSpace(raw)) == 0 {
		return nil, fmt.Errorf("user data is empty: want a cloud-config document")
	}
	r := &reading{data: data, fetch: fetch, config: &Config{}, doc: document{}}
	if err := r.read(raw, 0); err != nil {
		return nil, err
	}
	if err := r.config.apply(r.doc); err != nil {
		return nil, err
	}
	return r.config, nil
}

// reading is user data that is being read. Cloud-configs are collected in doc.
type reading struct {
	data   Metadata
	fetch  Fetch
	config *Config
	doc    document
}

func (r *reading) read(raw []byte, depth int) error {
	parts, err := split(raw)
	if err != nil {
		return err
	}
	for _, p := range parts {
		if err := r.take(p, depth); err != nil {
			return err
		}
	}
	return nil
}

// take handles one part by the kind that its first line names.
func (r *reading) take(p part, depth int) error {
	c := r.config
	body, err := c.render(p.body, r.data)
	if err != nil {
		return err
	}
	switch kind := kindOf(body, p.mediaType); kind {
	case "cloud-config":
		next, err := decode(body)
		if err != nil {
			return err
		}
		r.doc.merge(next)
	case "shellscript":
		c.Scripts = append(c.Scripts, scriptLines(body)...)
		c.Notes = append(c.Notes, "user data part of type shellscript: only what joins a cluster is carried out by a simulated machine")
	case foreign:
		if c.Documents == nil {
			c.Documents = map[string][][]byte{}
		}
		c.Documents[p.mediaType] = append(c.Documents[p.mediaType], body)
	case "include", "include-once":
		return r.include(body, kind, depth)
	case "":
		return fmt.Errorf("unhandled non-multipart (text/x-not-multipart) user data: first line %q is no header that cloud-init knows, such as "+
			"#cloud-config", firstLine(body))
	default:
		r.note(kind)
	}
	return nil
}

func (r *reading) note(kind string) {
	r.config.Notes = append(r.config.Notes, fmt.Sprintf("user data part of type %s is not carried out by a simulated machine", kind))
}

// include reads what each line of an include part names, as if it stood there. As with cloud-init, one that can't be had ends it.
func (r *reading) include(body []byte, kind string, depth int) error {
	if r.fetch == nil {
		r.note(kind)
		return nil
	}
	if depth == maxDepth {
		return fmt.Errorf("user data: includes are nested more than %d deep", maxDepth)
	}
	for line := range strings.Lines(string(body)) {
		address := strings.TrimSpace(line)
		if address == "" || strings.HasPrefix(address, "#") {
			continue
		}
		got, err := r.fetch(address)
		if err != nil {
			return fmt.Errorf("included URL failed: %w", err)
		}
		if got, err = gunzip(got); err != nil {
			return err
		}
		if err := r.read(got, depth+1); err != nil {
			return err
		}
	}
	return nil
}

// foreign is the kind of a part for another program of the image.
const foreign = "foreign"

// programType finds the MIME types of such parts, which are named by a domain.
var programType = regexp.MustCompile(`^application/[a-z0-9-]+(\.[a-z0-9-]+)+$`)

// scriptLines are the lines of a shell script that do something; a line that a backslash ends goes on.
func scriptLines(body []byte) []string {
	var all []string
	joined := strings.ReplaceAll(strings.ReplaceAll(string(body), "\r\n", "\n"), "\\\n", " ")
	for line := range strings.SplitSeq(joined, "\n") {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
			all = append(all, line)
		}
	}
	return all
}

// gunzip takes off gzip where its magic number is there.
func gunzip(b []byte) ([]byte, error) {
	if !bytes.HasPrefix(b, []byte{0x1f, 0x8b}) {
		return b, nil
	}
	z, err := gzip.NewReader(bytes.NewReader(b))
	if err != nil {
		return nil, fmt.Errorf("user data looks like gzip but is not: %w", err)
	}
	out, err := io.ReadAll(io.LimitReader(z, maxUnpacked+1))
	if err != nil {
		return nil, fmt.Errorf("user data is damaged gzip: %w", err)
	}
	if len(out) > maxUnpacked {
		return nil, fmt.Errorf("user data unpacks to more than %d bytes", maxUnpacked)
	}
	return out, nil
}

// headers maps the first line of a part to its kind, as cloud-init's handlers register them.
var headers = []struct{ prefix, kind string }{
	{"#cloud-config-archive", "cloud-config-archive"},
	{"#cloud-config-jsonp", "cloud-config-jsonp"},
	{"#cloud-config", "cloud-config"},
	{"#cloud-boothook", "cloud-boothook"},
	{"#include-once", "include-once"},
	{"#include", "include"},
	{"#part-handler", "part-handler"},
	{"#upstart-job", "upstart-job"},
	{"#!", "shellscript"},
}

// ownTypes are MIME types that determine the kind of a part; for others the first line does.
var ownTypes = map[string]string{
	"text/cloud-config":   "cloud-config",
	"text/x-shellscript":  "shellscript",
	"text/cloud-boothook": "cloud-boothook",
	"text/part-handler":   "part-handler",
	"text/x-include-url":  "include",
}

// kindOf returns the kind of a part; empty if cloud-init would not know it either.
func kindOf(body []byte, mediaType string) string {
	line := strings.ToLower(firstLine(body))
	i := slices.IndexFunc(headers, func(h struct{ prefix, kind string }) bool { return strings.HasPrefix(line, h.prefix) })
	if i >= 0 {
		return headers[i].kind
	}
	if programType.MatchString(mediaType) {
		return foreign
	}
	return ownTypes[mediaType]
}

// firstLineLimit keeps what an error quotes of user data to a header's length, so that it cannot show a secret further in.
const firstLineLimit = 24

// firstLine is the beginning of the first line that is not empty.
func firstLine(b []byte) string {
	line, _, _ := bytes.Cut(bytes.TrimLeft(b, " \t\r\n"), []byte("\n"))
	line = bytes.TrimSpace(line)
	if len(line) > firstLineLimit {
		line = line[:firstLineLimit]
	}
	return strings.ToValidUTF8(string(line), "?")
}
