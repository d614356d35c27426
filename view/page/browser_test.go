package page

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"k8s.io/utils/ptr"

	"github.com/muster-project/muster/test/browser"
	"github.com/muster-project/muster/view"
)

// views are the pages that are looked at in a browser, with a text that each has.
var views = []struct{ name, path, text string }{
	{"fleet", "/", "Machine pools"},
	{"search", "/?q=quota", "the quota is used up"},
	{"none", "/?q=nothing-has-this", "No pool matches."},
	{"pool", "/pools/team-000/workers", "Goes in wave 2"},
	{"accounts", "/accounts", "Throttle 50 calls"},
	{"plan", "/plan?pool=workers&set=spec.x%3D2", "replaces machines"},
	{"missing", "/pools/team-000/none", "Not Found"},
}

// clean reports what no page may write to the console: violations of the policy, and errors of scripts.
func clean(t *testing.T, b *browser.Browser) {
	t.Helper()
	for _, line := range b.Console() {
		if !strings.Contains(line, "404") { // the page that does not exist
			t.Errorf("want nothing on the console, got %s", line)
		}
	}
}

// TestViewsInABrowser holds that each view is shown in light and dark, on wide and narrow screens, without a violation of the security
// policy or of accessibility, and without running what users or clouds wrote.
func TestViewsInABrowser(t *testing.T) {
	s := newSite(t, manyPools(250))
	b := browser.Open(t, 1400, 900)
	for _, v := range views {
		for _, look := range []struct {
			name          string
			width, height int
			dark          bool
		}{{"light", 1400, 900, false}, {"dark", 1400, 900, true}, {"narrow", 390, 800, false}} {
			b.Resize(look.width, look.height)
			b.Dark(look.dark)
			b.Go(s.URL + v.path)
			b.WaitText(v.text)
			if title := browser.Eval[string](b, "document.title"); title == "pwned" {
				t.Errorf("%s: hostile text was run", v.name)
			}
			if browser.Eval[bool](b, "document.documentElement.scrollWidth > innerWidth + 1") {
				t.Errorf("%s %s: want no scrolling to the side", v.name, look.name)
			}
			if found, there := b.Violations(); !there {
				t.Log("no bin/axe.min.js: run make browser")
			} else if len(found) > 0 {
				t.Errorf("%s %s: want no violation of accessibility, got\n%s", v.name, look.name, strings.Join(found, "\n"))
			}
			b.Screenshot(v.name + "-" + look.name)
		}
	}
	clean(t, b)
}

// TestLiveInABrowser holds that a change shows without a reload, that what a user has typed and the focus stay meanwhile, and that a page
// whose stream is lost says so.
func TestLiveInABrowser(t *testing.T) {
	source := manyPools(250)
	s := newSite(t, source)
	b := browser.Open(t, 1400, 900)
	b.Go(s.URL + "/")
	b.Wait("document.getElementById('live').textContent === 'Live'")
	b.Keys("/")
	b.Wait("document.activeElement.id === 'q'")
	list := append([]*view.Pool(nil), source.list...)
	changed := *list[0]
	changed.Message, changed.Ready = "the first pool has changed", ptr.To(int32(0))
	list[0] = &changed
	source.list = list
	source.changed <- struct{}{}
	b.WaitText("the first pool has changed")
	b.Wait("document.activeElement.id === 'q'")
	browser.Eval[any](b, "document.getElementById('q').value = ''; null") // the protocol types keys that the page has taken
	b.Keys("workers-00007")
	b.Wait("document.querySelectorAll('#lines tr').length === 1 && location.search.includes('q=workers-00007')")
	b.WaitText("1 pool of 250")
	b.Wait("document.activeElement.id === 'q'")
	one := *list[7]
	one.Message = "the seventh pool has changed"
	list = append([]*view.Pool(nil), list...)
	list[7] = &one
	source.list = list
	source.changed <- struct{}{}
	b.WaitText("the seventh pool has changed")
	clean(t, b)
	s.CloseClientConnections()
	s.Config.Handler = http.NotFoundHandler()
	b.Wait("document.getElementById('live').classList.contains('stale')")
}

// TestSlowScriptsInABrowser holds that a page becomes live however late the script comes that opens streams.
func TestSlowScriptsInABrowser(t *testing.T) {
	s := newSite(t, manyPools(3))
	b := browser.Open(t, 1400, 900)
	pages := s.Config.Handler
	slow := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/hx-sse.min.js") {
			time.Sleep(500 * time.Millisecond)
		}
		pages.ServeHTTP(w, r)
	}))
	t.Cleanup(func() {
		slow.CloseClientConnections() // streams do not end by themselves
		slow.Close()
	})
	b.Go(slow.URL + "/")
	b.Wait("document.getElementById('live').textContent === 'Live'")
	clean(t, b)
}
