package cloudinit

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"
)

// maxFile bounds one file after unpacking.
const maxFile = 1 << 20

// document is a cloud-config by its top-level keys, not looked into yet.
type document map[string]json.RawMessage

// decode reads a cloud-config. Its text is never quoted, for it holds secrets.
func decode(body []byte) (document, error) {
	var doc document
	if err := yaml.Unmarshal(body, &doc); err != nil {
		return nil, fmt.Errorf("failed loading yaml blob: invalid format of the cloud-config: %s", position(err))
	}
	return doc, nil
}

// position keeps of a YAML error the place only: the rest of its text may quote the document.
func position(err error) string {
	s := err.Error()
	if i := strings.Index(s, "line "); i >= 0 {
		place, _, _ := strings.Cut(s[i:], ":")
		return place
	}
	return "not a mapping of module names"
}

// merge adds the keys of a later cloud-config. As with cloud-init's default, what an earlier one has set stays.
func (d document) merge(next document) {
	for k, v := range next {
		if _, there := d[k]; !there {
			d[k] = v
		}
	}
}

// carriedOut are the modules that a simulated machine carries out, each with what it does.
var carriedOut = map[string]func(*Config, json.RawMessage) error{
	"write_files": (*Config).writeFiles,
	"bootcmd": func(c *Config, v json.RawMessage) (err error) {
		c.BootCommands, err = commands("bootcmd", v)
		return err
	},
	"runcmd": func(c *Config, v json.RawMessage) (err error) {
		c.Commands, err = commands("runcmd", v)
		return err
	},
	"hostname": (*Config).hostname,
	"fqdn":     (*Config).hostname,
}

// apply turns a document into files and commands, in the order of the keys' names so that notes never change their order.
func (c *Config) apply(doc document) error {
	for _, key := range slices.Sorted(maps.Keys(doc)) {
		do, ok := carriedOut[key]
		if !ok {
			c.Notes = append(c.Notes, fmt.Sprintf("module %s: noted, not carried out by a simulated machine", clip(key)))
			continue
		}
		if string(doc[key]) == "null" {
			continue
		}
		if err := do(c, doc[key]); err != nil {
			return err
		}
	}
	return nil
}

func (c *Config) hostname(v json.RawMessage) error {
	if err := json.Unmarshal(v, &c.Hostname); err != nil {
		return fmt.Errorf("cloud-config: hostname: want a string")
	}
	return nil
}

// commands gives shell lines; a command may be one string or a list of words.
func commands(module string, v json.RawMessage) ([]string, error) {
	var entries []any
	if err := json.Unmarshal(v, &entries); err != nil {
		return nil, fmt.Errorf("cloud-config: %s: want a list of commands", module)
	}
	var lines []string
	for i, e := range entries {
		switch e := e.(type) {
		case string:
			lines = append(lines, e)
		case []any:
			lines = append(lines, joinWords(e))
		case nil:
		default:
			return nil, fmt.Errorf("cloud-config: %s[%d]: want a string or a list of strings, found %s", module, i, jsonKind(e))
		}
	}
	return lines, nil
}

// joinWords quotes each word for a shell, as cloud-init's shellify does.
func joinWords(words []any) string {
	quoted := make([]string, len(words))
	for i, w := range words {
		s := fmt.Sprint(w)
		if s == "" || strings.ContainsAny(s, " \t\n'\"$&|;<>()*?`\\") {
			s = "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
		}
		quoted[i] = s
	}
	return strings.Join(quoted, " ")
}

// entry is one item of write_files as written. Permissions may be a number when the author forgot the quotes.
type entry struct {
	Path        string `json:"path"`
	Content     any    `json:"content"`
	Encoding    string `json:"encoding"`
	Owner       string `json:"owner"`
	Permissions any    `json:"permissions"`
	Append      bool   `json:"append"`
}

func (c *Config) writeFiles(v json.RawMessage) error {
	var entries []entry
	if err := json.Unmarshal(v, &entries); err != nil {
		return fmt.Errorf("cloud-config: write_files: want a list of files with path and content")
	}
	for i, e := range entries {
		if e.Path == "" {
			c.Warnings = append(c.Warnings, fmt.Sprintf("no path provided to write for entry %d in module write_files", i+1))
			continue
		}
		content, err := e.decoded()
		if err != nil {
			c.Warnings = append(c.Warnings, fmt.Sprintf("write_files: %s: %v", clip(e.Path), err))
			continue
		}
		owner := e.Owner
		if owner == "" {
			owner = "root:root"
		}
		c.Files = append(c.Files, File{Path: e.Path, Content: content, Permissions: e.mode(), Owner: owner, Append: e.Append})
	}
	return nil
}

// mode is the entry's permissions in octal; cloud-init's default is 0644.
func (e entry) mode() string {
	switch p := e.Permissions.(type) {
	case string:
		return p
	case float64:
		return fmt.Sprintf("%#o", int64(p))
	default:
		return "0644"
	}
}

// decoded takes the encoding off the content.
func (e entry) decoded() ([]byte, error) {
	var text string
	switch v := e.Content.(type) {
	case nil:
	case string:
		text = v
	default:
		return nil, fmt.Errorf("content: want a string, found %s", jsonKind(v))
	}
	switch strings.ToLower(strings.TrimSpace(e.Encoding)) {
	case "", "text/plain":
		return []byte(text), nil
	case "b64", "base64":
		return unbase64(text)
	case "gz", "gzip":
		return unzip([]byte(text))
	case "gz+base64", "gzip+base64", "gz+b64", "gzip+b64":
		b, err := unbase64(text)
		if err != nil {
			return nil, err
		}
		return unzip(b)
	default:
		return nil, fmt.Errorf("unknown encoding type %s, assuming nothing: the file is not written", clip(e.Encoding))
	}
}

func unbase64(s string) ([]byte, error) {
	b, err := base64.StdEncoding.DecodeString(strings.Join(strings.Fields(s), ""))
	if err != nil {
		return nil, fmt.Errorf("content is not base64")
	}
	return b, nil
}

func unzip(b []byte) ([]byte, error) {
	z, err := gzip.NewReader(bytes.NewReader(b))
	if err != nil {
		return nil, fmt.Errorf("content is not gzip")
	}
	out, err := io.ReadAll(io.LimitReader(z, maxFile+1))
	if err != nil {
		return nil, fmt.Errorf("content is damaged gzip")
	}
	if len(out) > maxFile {
		return nil, fmt.Errorf("content unpacks to more than %d bytes", maxFile)
	}
	return out, nil
}

func jsonKind(v any) string {
	switch v.(type) {
	case map[string]any:
		return "a mapping"
	case []any:
		return "a list"
	case bool:
		return "a boolean"
	case float64:
		return "a number"
	default:
		return "nothing"
	}
}
