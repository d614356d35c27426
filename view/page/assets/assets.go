// Package assets holds the files that browsers load: htmx with its extension for server-sent events, as their package has them, and the
// page's own stylesheet and script.
package assets

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"net/http"
	"path"
	"strings"
	"time"
)

// Files are served below Path. SHA256SUMS has the checksums of those that are not Muster's own.
//
//go:embed *.js *.css *.svg LICENSE.htmx SHA256SUMS
var Files embed.FS

// Path is the path of the files on the server. Their names are followed by a part of their checksum, so that browsers keep them.
const Path = "/assets/"

// types are the content types by the ending of the name. Browsers load nothing else.
var types = map[string]string{".js": "text/javascript; charset=utf-8", ".css": "text/css; charset=utf-8", ".svg": "image/svg+xml"}

// Address returns the address of a file, which changes with its content.
func Address(name string) (string, error) {
	content, err := Files.ReadFile(name)
	if err != nil {
		return "", fmt.Errorf("find the file %s of the page: %w", name, err)
	}
	return Path + name + "?v=" + sum(content)[:12], nil
}

func sum(content []byte) string {
	s := sha256.Sum256(content)
	return hex.EncodeToString(s[:])
}

// Handler serves the files.
func Handler() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name := strings.TrimPrefix(r.URL.Path, Path)
		content, err := Files.ReadFile(name)
		kind, known := types[path.Ext(name)]
		if err != nil || !known {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", kind)
		w.Header().Set("ETag", `"`+sum(content)+`"`)
		if r.URL.Query().Get("v") == sum(content)[:12] {
			w.Header().Set("Cache-Control", "private, max-age=31536000, immutable")
		}
		http.ServeContent(w, r, name, time.Time{}, strings.NewReader(string(content)))
	})
}
