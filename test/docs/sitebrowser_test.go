package docs

import (
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/muster-project/muster/test/browser"
)

// TestSiteInABrowser holds what readers do on the site that make docs builds: they follow the navigation, search, copy commands, and read
// on a narrow screen.
func TestSiteInABrowser(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("builds the site: left out with -short")
	}
	if _, err := os.Stat("../../bin/hugo"); err != nil {
		t.Skip("no bin/hugo: run make docs")
	}
	b := browser.Open(t, 1280, 900)
	site := t.TempDir()
	make := exec.CommandContext(t.Context(), "make", "--old-file=bin/hugo", "docs", "SITE="+site)
	make.Dir = "../.."
	if out, err := make.CombinedOutput(); err != nil {
		t.Fatalf("make docs: %v\n%s", err, out)
	}
	server := httptest.NewServer(http.FileServer(http.Dir(site)))
	t.Cleanup(server.Close)

	b.Go(server.URL + "/")
	b.Wait("location.pathname === '/main/' && document.readyState === 'complete' && window.searchIndex")
	b.Click("nav a[href$='/rollouts.html']")
	b.Wait("location.pathname.endsWith('/rollouts.html') && document.querySelector(\"nav a[aria-current='page']\")")
	b.WaitText("Continue a halted rollout")
	b.Wait("document.querySelectorAll(\"aside a[href^='#']\").length > 3")

	b.AllowClipboard()
	b.Click("main .copy")
	b.WaitText("Copied")
	block := browser.Eval[string](b, "document.querySelector('main pre').textContent")
	copied := browser.Eval[string](b, "navigator.clipboard.readText()")
	if copied == "" || !strings.Contains(block, copied) || strings.HasPrefix(copied, "$ ") {
		t.Errorf("want the commands of the block copied, got %q of %q", copied, block)
	}

	b.Keys("/")
	b.Wait("document.activeElement.id === 'search'")
	b.Keys("no-such-word-anywhere")
	b.WaitText("Nothing found")
	browser.Eval[any](b, "document.getElementById('search').value = ''; null")
	b.Keys("halted rollout")
	b.Wait("document.querySelectorAll('#results a').length > 0")
	b.Keys("\r")
	b.Wait("location.hash === '#continue-a-halted-rollout'")

	if found, there := b.Violations(); !there {
		t.Log("no bin/axe.min.js: run make browser")
	} else if len(found) > 0 {
		t.Errorf("want no violation of accessibility, got\n%s", strings.Join(found, "\n"))
	}
	b.Resize(390, 800)
	b.Go(server.URL + "/main/conditions.html")
	b.Click("#menu")
	b.Wait("document.getElementById('menu').getAttribute('aria-expanded') === 'true' && document.querySelector('nav a').offsetHeight > 0")
	if browser.Eval[bool](b, "document.documentElement.scrollWidth > innerWidth + 1") {
		t.Error("want no scrolling to the side on a narrow screen")
	}
	if lines := b.Console(); len(lines) > 0 {
		t.Errorf("want nothing on the console, got %q", lines)
	}
}
