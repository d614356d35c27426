package assets

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// TestVendoredFiles holds that the files of other projects are served as their package has them.
func TestVendoredFiles(t *testing.T) {
	t.Parallel()
	sums, err := Files.ReadFile("SHA256SUMS")
	if err != nil {
		t.Fatal(err)
	}
	checked := map[string]bool{}
	for line := range strings.Lines(string(sums)) {
		want, name, _ := strings.Cut(strings.TrimSpace(line), "  ")
		content, err := Files.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		checked[name] = true
		if got := sum(content); got != want {
			t.Errorf("%s: want checksum %s, got %s: make assets fetches it again", name, want, got)
		}
		if strings.HasPrefix(name, "LICENSE") {
			continue
		}
		w := httptest.NewRecorder()
		Handler().ServeHTTP(w, httptest.NewRequest(http.MethodGet, Path+name, nil))
		if !bytes.Equal(w.Body.Bytes(), content) || w.Code != http.StatusOK {
			t.Errorf("%s: want it served as it is, got %d", name, w.Code)
		}
	}
	for _, name := range []string{"htmx.min.js", "hx-sse.min.js", "LICENSE.htmx"} {
		if !checked[name] {
			t.Errorf("want a checksum of %s", name)
		}
	}
}

// TestAddressChangesWithContent holds that a browser keeps a file for as long as its address.
func TestAddressChangesWithContent(t *testing.T) {
	t.Parallel()
	address, err := Address("page.js")
	if err != nil {
		t.Fatal(err)
	}
	w := httptest.NewRecorder()
	Handler().ServeHTTP(w, httptest.NewRequest(http.MethodGet, address, nil))
	if !strings.Contains(w.Header().Get("Cache-Control"), "immutable") || w.Header().Get("Content-Type") != "text/javascript; charset=utf-8" {
		t.Errorf("want it kept, got %v", w.Header())
	}
	w = httptest.NewRecorder()
	Handler().ServeHTTP(w, httptest.NewRequest(http.MethodGet, Path+"page.js?v=old", nil))
	if strings.Contains(w.Header().Get("Cache-Control"), "immutable") {
		t.Errorf("want an old address not kept, got %v", w.Header())
	}
	if _, err := Address("missing.js"); err == nil {
		t.Error("want an error for a file that does not exist")
	}
}
