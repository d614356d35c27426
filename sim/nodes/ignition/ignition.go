// Package ignition reads Ignition configurations of versions 2 and 3 as far as they make a machine join a cluster: the files
// that they write, the services that they start, and the configurations elsewhere that they point to.
package ignition

import (
	"bytes"
	"compress/gzip"
	"crypto/sha512"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/url"
	"strings"
)

const (
	// maxFetched bounds one configuration or file that is fetched, maxFile one file after unpacking.
	maxFetched = 4 << 20
	maxFile    = 4 << 20
	// maxDepth bounds configurations that point to configurations.
	maxDepth = 4
)

// Fetch gets what a source names: s3://bucket/key, or a URL.
type Fetch func(source string) ([]byte, error)

// File is a file that is written.
type File struct {
	Path    string
	Content []byte
}

// Config holds the actions of a machine's first boot.
type Config struct {
	Files []File
	// Commands are the commands of the services, in their order.
	Commands []string
	// Hostname that the machine is given as a file; empty where none is.
	Hostname string
}

// Is reports whether user data is for Ignition.
func Is(userData []byte) bool {
	var d document
	return bytes.HasPrefix(bytes.TrimSpace(userData), []byte("{")) && json.Unmarshal(userData, &d) == nil && d.Ignition.Version != ""
}

// document holds the fields that are read, of both versions.
type document struct {
	Ignition struct {
		Version string `json:"version"`
		Config  struct {
			Append  []resource `json:"append"`
			Merge   []resource `json:"merge"`
			Replace *resource  `json:"replace"`
		} `json:"config"`
	} `json:"ignition"`
	Storage struct {
		Files []struct {
			Path     string   `json:"path"`
			Contents resource `json:"contents"`
			Append   any      `json:"append"`
		} `json:"files"`
	} `json:"storage"`
	Systemd struct {
		Units []struct {
			Name     string `json:"name"`
			Enabled  *bool  `json:"enabled"`
			Contents string `json:"contents"`
		} `json:"units"`
	} `json:"systemd"`
}

// resource is something that is elsewhere, or in the source itself.
type resource struct {
	Source       string `json:"source"`
	Compression  string `json:"compression"`
	Verification struct {
		Hash string `json:"hash"`
	} `json:"verification"`
}

// Parse reads user data and fetches what it points to. An error means that the machine does not come up; it never quotes a
// configuration.
func Parse(userData []byte, fetch Fetch) (*Config, error) {
	c := &Config{}
	if err := c.read(userData, fetch, 0); err != nil {
		return nil, err
	}
	return c, nil
}

func (c *Config) read(text []byte, fetch Fetch, depth int) error {
	var d document
	if err := json.Unmarshal(text, &d); err != nil || d.Ignition.Version == "" {
		return fmt.Errorf("failed to parse config: it is no Ignition configuration")
	}
	if v := d.Ignition.Version; !strings.HasPrefix(v, "2.") && !strings.HasPrefix(v, "3.") {
		return fmt.Errorf("failed to parse config: unknown version")
	}
	if r := d.Ignition.Config.Replace; r != nil && r.Source != "" {
		return c.follow(*r, fetch, depth)
	}
	for _, r := range d.Ignition.Config.Merge {
		if err := c.follow(r, fetch, depth); err != nil {
			return err
		}
	}
	if err := c.take(&d, fetch); err != nil {
		return err
	}
	for _, r := range d.Ignition.Config.Append {
		if err := c.follow(r, fetch, depth); err != nil {
			return err
		}
	}
	return nil
}

// follow reads a configuration that is elsewhere.
func (c *Config) follow(r resource, fetch Fetch, depth int) error {
	if depth == maxDepth {
		return fmt.Errorf("configurations point to configurations more than %d deep", maxDepth)
	}
	text, err := r.content(fetch)
	if err != nil {
		return fmt.Errorf("failed to fetch config: %w", err)
	}
	return c.read(text, fetch, depth+1)
}

// take takes over files and services.
func (c *Config) take(d *document, fetch Fetch) error {
	for _, f := range d.Storage.Files {
		content, err := f.Contents.content(fetch)
		if err != nil {
			return fmt.Errorf("failed to create file %q: %w", f.Path, err)
		}
		if f.Path == "/etc/hostname" {
			c.Hostname = strings.TrimSpace(string(content))
		}
		c.Files = append(c.Files, File{Path: f.Path, Content: content})
	}
	for _, u := range d.Systemd.Units {
		if u.Enabled != nil && !*u.Enabled {
			continue
		}
		for line := range strings.Lines(u.Contents) {
			if command, ok := strings.CutPrefix(strings.TrimSpace(line), "ExecStart="); ok {
				c.Commands = append(c.Commands, command)
			}
		}
	}
	return nil
}

// content returns the content of the source, unpacked and verified.
func (r resource) content(fetch Fetch) ([]byte, error) {
	b, err := r.raw(fetch)
	if err != nil {
		return nil, err
	}
	if r.Compression == "gzip" {
		z, err := gzip.NewReader(bytes.NewReader(b))
		if err != nil {
			return nil, fmt.Errorf("want gzip, found something else")
		}
		if b, err = io.ReadAll(io.LimitReader(z, maxFile+1)); err != nil || len(b) > maxFile {
			return nil, fmt.Errorf("damaged gzip, or more than %d bytes", maxFile)
		}
	}
	if want, ok := strings.CutPrefix(r.Verification.Hash, "sha512-"); ok {
		if sum := sha512.Sum512(b); !strings.EqualFold(hex.EncodeToString(sum[:]), want) {
			return nil, fmt.Errorf("hash verification failed")
		}
	}
	return b, nil
}

func (r resource) raw(fetch Fetch) ([]byte, error) {
	data, inline := strings.CutPrefix(r.Source, "data:")
	switch {
	case r.Source == "":
		return nil, nil
	case !inline && fetch == nil:
		return nil, fmt.Errorf("the machine has no way to %s", where(r.Source))
	case !inline:
		b, err := fetch(r.Source)
		if err == nil && len(b) > maxFetched {
			err = fmt.Errorf("%s holds more than %d bytes", where(r.Source), maxFetched)
		}
		return b, err
	}
	head, body, found := strings.Cut(data, ",")
	if !found {
		return nil, fmt.Errorf("invalid data URL")
	}
	text, err := url.PathUnescape(body)
	if err != nil {
		return nil, fmt.Errorf("invalid data URL")
	}
	if !strings.HasSuffix(head, ";base64") {
		return []byte(text), nil
	}
	b, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		return nil, fmt.Errorf("invalid data URL")
	}
	return b, nil
}

// where is a source without what signs it.
func where(source string) string {
	u, err := url.Parse(source)
	if err != nil {
		return "its source"
	}
	u.RawQuery, u.User = "", nil
	return u.String()
}
