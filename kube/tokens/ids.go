package tokens

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"io"
	"net/url"
	"regexp"
	"slices"
	"strings"
)

// sizeLimit is the limit for the decompressed size of one file in bootstrap data: no cloud accepts as much.
const sizeLimit = 1 << 20

// token matches a kubeadm bootstrap token where a configuration names one: its ID, which is public, and its secret, which is not captured.
var token = regexp.MustCompile(`(?i:token)["']?:[ \t]*["']?([a-z0-9]{6})\.[a-z0-9]{16}\b`)

// named matches the same with the whole token, after what names it.
var named = regexp.MustCompile(`((?i:token)["']?:[ \t]*["']?)[a-z0-9]{6}\.[a-z0-9]{16}\b`)

// IDs returns the IDs of the bootstrap tokens in bootstrap data (cloud-init or Ignition), each once, in order. An ID is public: it names
// the token's Secret in the workload cluster.
func IDs(data []byte) []string {
	var ids []string
	data = decompressed(data)
	for _, text := range append([][]byte{data}, files(data)...) {
		for _, match := range token.FindAllSubmatch(text, -1) {
			ids = append(ids, string(match[1]))
		}
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}

// files returns the files of an Ignition configuration; none for anything else.
func files(data []byte) [][]byte {
	var config struct {
		Storage struct {
			Files []struct {
				Contents struct {
					Compression string `json:"compression"`
					Source      string `json:"source"`
				} `json:"contents"`
			} `json:"files"`
		} `json:"storage"`
	}
	if json.Unmarshal(data, &config) != nil {
		return nil
	}
	var list [][]byte
	for _, f := range config.Storage.Files {
		if text, ok := unpacked(f.Contents.Source, f.Contents.Compression); ok {
			list = append(list, text)
		}
	}
	return list
}

// unpacked returns the content of a data URL (RFC 2397).
func unpacked(source, compression string) ([]byte, bool) {
	rest, ok := strings.CutPrefix(source, "data:")
	kind, payload, found := strings.Cut(rest, ",")
	if !ok || !found {
		return nil, false
	}
	text, err := url.PathUnescape(payload)
	if err != nil {
		return nil, false
	}
	raw := []byte(text)
	if strings.HasSuffix(kind, ";base64") {
		if raw, err = base64.StdEncoding.DecodeString(text); err != nil {
			return nil, false
		}
	}
	if compression != "gzip" {
		return raw, true
	}
	return unzipped(raw)
}

// unzipped returns the content of gzip data.
func unzipped(raw []byte) ([]byte, bool) {
	packed, err := gzip.NewReader(bytes.NewReader(raw))
	if err != nil {
		return nil, false
	}
	raw, err = io.ReadAll(io.LimitReader(packed, sizeLimit))
	return raw, err == nil
}

// decompressed returns bootstrap data as its consumer reads it: cloud-init accepts compressed data, too.
func decompressed(data []byte) []byte {
	if text, ok := unzipped(data); ok {
		return text
	}
	return data
}
