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
	// Content is what the file holds; for an Append entry, what is added at its end.
	Content []byte
	// Permissions are octal digits such as 0640, Owner is user:group; as written, with cloud-init's defaults.
	Permissions, Owner string
	// Append adds to a file that an earlier entry has written.
	Append bool
}

// Config is what a machine does at its first boot.
type Config struct {
	// Files in the order of writing.
	Files []File
	// BootCommands run before the files are written, Commands after everything else; each one a shell line.
	BootCommands, Commands []string
	// Scripts are the shell scripts among the parts, line by line and in order; they run after Commands.
	Scripts []string
	// NodeConfigs are documents for EKS's nodeadm.
	NodeConfigs [][]byte
	// Hostname replaces the one of the metadata service when the user data sets it.
	Hostname string
	// Notes say what else was asked for and is not carried out, Warnings what was wrong but did not stop the boot.
	Notes, Warnings []string
}

// Parse reads user data. An error means that nothing of it can be carried out; it is worded as a line for the console and never
// quotes the data.
func Parse(userData []byte, data Metadata) (*Config, error) {
	raw, err := gunzip(userData)
	if err != nil {
		return nil, err
	}
	if len(bytes.TrimSpace(raw)) == 0 {
		return nil, fmt.Errorf("user data is empty: want a cloud-config document")
	}
	parts, err := split(raw)
	if err != nil {
		return nil, err
	}
	c := &Config{}
	doc := document{}
	for _, p := range parts {
		if err := c.take(p, data, doc); err != nil {
			return nil, err
		}
	}
	if err := c.apply(doc); err != nil {
		return nil, err
	}
	return c, nil
}

// take handles one part by what its first line says that it is. Cloud-configs are collected in doc.
func (c *Config) take(p part, data Metadata, doc document) error {
	body, err := c.render(p.body, data)
	if err != nil {
		return err
	}
	switch kind := kindOf(body, p.mediaType); kind {
	case "cloud-config":
		next, err := decode(body)
		if err != nil {
			return err
		}
		doc.merge(next)
	case "shellscript":
		c.Scripts = append(c.Scripts, scriptLines(body)...)
		c.Notes = append(c.Notes, "user data part of type shellscript: only what joins a cluster is carried out by a simulated machine")
	case nodeConfig:
		c.NodeConfigs = append(c.NodeConfigs, body)
	case "":
		return fmt.Errorf("unhandled non-multipart (text/x-not-multipart) user data: first line %q is no header that cloud-init knows, such as #cloud-config", firstLine(body))
	default:
		c.Notes = append(c.Notes, fmt.Sprintf("user data part of type %s is not carried out by a simulated machine", kind))
	}
	return nil
}

// nodeConfig is what a part for EKS's nodeadm is called.
const nodeConfig = "nodeadm"

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

// ownTypes are MIME types that say themselves what a part is; others are told by their first line.
var ownTypes = map[string]string{
	"text/cloud-config":   "cloud-config",
	"text/x-shellscript":  "shellscript",
	"text/cloud-boothook": "cloud-boothook",
	"text/part-handler":   "part-handler",
	"text/x-include-url":  "include",

	"application/node.eks.aws": nodeConfig,
}

// kindOf tells what a part is; empty when cloud-init would not know either.
func kindOf(body []byte, mediaType string) string {
	line := strings.ToLower(firstLine(body))
	i := slices.IndexFunc(headers, func(h struct{ prefix, kind string }) bool { return strings.HasPrefix(line, h.prefix) })
	if i >= 0 {
		return headers[i].kind
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
