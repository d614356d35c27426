package page

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"

	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/muster-project/muster/view"
	"github.com/muster-project/muster/view/detail"
	"github.com/muster-project/muster/view/memory"
	"github.com/muster-project/muster/view/page/fleet"
	"github.com/muster-project/muster/view/page/stream"
)

func get(t *testing.T, url, accept string) (*http.Response, string) {
	t.Helper()
	return request(t, http.MethodGet, url, accept)
}

func request(t *testing.T, method, url, accept string) (*http.Response, string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	t.Cleanup(cancel)
	r, err := http.NewRequestWithContext(ctx, method, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Accept", accept)
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp, string(text)
}

// TestRoutes holds the status, the content type and the security policy of every route, and that no method but GET and HEAD is served.
func TestRoutes(t *testing.T) {
	t.Parallel()
	s := newSite(t, manyPools(10))
	for path, want := range map[string]int{
		"/": 200, "/?q=workers&page=2": 200, "/pools/team-000/workers": 200, "/pools/team-000/none": 404, "/assets/htmx.min.js": 200,
		"/assets/style.css": 200, "/assets/SHA256SUMS": 404, "/assets/assets.go": 404, "/assets/../page.go": 404, "/nothing": 404,
		"/pools/team-000/none/events": 404, "/accounts": 200, "/plan": 200, "/plan?pool=workers&set=spec.replicas%3D4": 200,
		"/plan?pool=none":              422,
		"/simulators/testcloud/faults": 405,
	} {
		resp, _ := get(t, s.URL+path, "text/html")
		if resp.StatusCode != want {
			t.Errorf("%s: want %d, got %d", path, want, resp.StatusCode)
		}
		if got := resp.Header.Get("Content-Security-Policy"); got != policy {
			t.Errorf("%s: want the policy, got %q", path, got)
		}
		if resp.Header.Get("X-Content-Type-Options") != "nosniff" {
			t.Errorf("%s: want nosniff", path)
		}
		for _, method := range []string{http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete, "PROPFIND"} {
			if method == http.MethodPost && (strings.HasPrefix(path, "/plan") || strings.HasPrefix(path, "/simulators")) {
				continue // a dry run, and the simulated clouds of a local world
			}
			if resp, _ := request(t, method, s.URL+path, "text/html"); resp.StatusCode != http.StatusMethodNotAllowed && resp.StatusCode != 404 {
				t.Errorf("%s %s: want 405, got %d", method, path, resp.StatusCode)
			}
		}
	}
	if strings.Contains(policy, "unsafe") {
		t.Errorf("want no unsafe part of the policy, got %s", policy)
	}
}

// TestHostileText holds that no page and no stream has a tag that users or clouds wrote.
func TestHostileText(t *testing.T) {
	t.Parallel()
	source := manyPools(2)
	for _, text := range []*string{&source.list[0].Message, &source.list[0].Cluster, &source.list[0].State, &source.list[0].Name,
		&source.list[0].Namespace, &source.list[0].Infrastructure.Kind} {
		*text += hostile
	}
	s := newSite(t, source)
	for _, path := range []string{"/", "/?q=" + "%22%3E%3Cscript%3E", "/?state=%3Cscript%3E", "/pools/team-000/workers",
		"/pools/%3Cscript%3E/x", "/accounts", "/plan?pool=workers", "/plan?pool=none&set=%3Cscript%3E"} {
		_, text := get(t, s.URL+path, "text/html")
		if strings.Contains(text, "<script>") || strings.Contains(text, "<img") {
			t.Errorf("%s: want hostile text escaped, got\n%s", path, text)
		}
	}
	all := fleet.NewIndex(source.list, testCloud, nil).Select(fleet.Query{})
	for _, text := range [][]byte{must(t)(Encoder{}.Row(all.Lines[0])), must(t)(Encoder{}.Lines(all))} {
		if strings.Contains(string(text), "<script>") {
			t.Errorf("want hostile text escaped in events, got %s", text)
		}
	}
}

func must(t *testing.T) func([]byte, error) []byte {
	return func(b []byte, err error) []byte {
		t.Helper()
		if err != nil || len(b) == 0 {
			t.Fatalf("want a message, got %q, %v", b, err)
		}
		return b
	}
}

// TestNothingInline holds that pages have no inline script or style, which the policy would forbid, and that every view has a title.
func TestNothingInline(t *testing.T) {
	t.Parallel()
	s := newSite(t, manyPools(3))
	for _, path := range []string{"/", "/pools/team-000/workers", "/pools/team-000/none", "/accounts", "/plan?pool=workers"} {
		_, text := get(t, s.URL+path, "text/html")
		for _, bad := range []string{" style=", "<style", " onclick=", "javascript:", "hx-on", "http://", "https://"} {
			if strings.Contains(strings.ReplaceAll(text, "http://www.w3.org", ""), bad) {
				t.Errorf("%s: want nothing inline and nothing of other hosts, found %q", path, bad)
			}
		}
		if !strings.Contains(text, "<title>") || !strings.Contains(text, `lang="en"`) {
			t.Errorf("%s: want a title and a language", path)
		}
	}
}

// TestPoolShowsTheRollout holds what a person looks for on the page of a pool during a rollout, and that its JSON has the same.
func TestPoolShowsTheRollout(t *testing.T) {
	t.Parallel()
	s := newSite(t, manyPools(1))
	_, text := get(t, s.URL+"/pools/team-000/workers", "text/html")
	for _, want := range []string{"Zone zone-a", "Zone zone-b", "Goes now", "Goes in wave 2", "Draining", "protected", "Failed",
		"PodDisruptionBudget web", "spec.type", "on 2 machines", "Wave 1", "at least 2 serve", "node-1 is draining", "DrainBlocked",
		"no capacity", "kubectl scale machinepool/workers",
		"muster plan machinepool/workers", `class="chart"`, "v1.34.1",
		"1 of 3 replaced", `aria-label="0 of 2 replaced"`, "Opens at 2126-11-30T21:00:00Z", "Rollout policies",
		"ClusterRolloutPolicy prod", "peak ", "<b>errors</b> Unknown", "Held by users: node-2", "kept until 2126-01-01T00:00:00Z"} {
		if !strings.Contains(text, want) {
			t.Errorf("want %q on the page", want)
		}
	}
	_, text = get(t, s.URL+"/pools/team-000/workers", "application/json")
	var d detail.Detail
	if err := json.Unmarshal([]byte(text), &d); err != nil {
		t.Fatal(err)
	}
	if d.Machines != 4 || len(d.Zones) != 2 || d.Rollout.Left != 2 || d.Budget.SurgeLeft() != 0 || len(d.Drains) != 1 || len(d.History) != 2 ||
		len(d.Events) != 1 || d.Zones[0].Machines[0].Goes == nil || !d.Zones[0].Machines[0].Selected || d.Zones[0].Machines[1].Wave != 2 ||
		len(d.Progress.Waves) != 2 || len(d.Progress.Gates) != 1 || len(d.Policies.Closed) != 1 || !d.Zones[0].Machines[1].Kept {
		t.Errorf("want the same as the page, got %s", text)
	}
}

// TestFleetAsJSON holds that the view model of the fleet has the content of the page.
func TestFleetAsJSON(t *testing.T) {
	t.Parallel()
	s := newSite(t, manyPools(250))
	_, text := get(t, s.URL+"/?state=Error", "application/json")
	var f fleet.Fleet
	if err := json.Unmarshal([]byte(text), &f); err != nil {
		t.Fatal(err)
	}
	if f.Total != 250 || f.Selected != 5 || len(f.Lines) != 5 || f.Lines[0].State != "Error" || f.APIVersion != fleet.APIVersion {
		t.Errorf("want the 5 pools in state Error of 250, got %d of %d: %s", f.Selected, f.Total, text)
	}
}

// until reads messages of a stream until one contains a text.
func until(t *testing.T, r *bufio.Reader, want string) string {
	t.Helper()
	var message strings.Builder
	for {
		line, err := r.ReadString('\n')
		if err != nil {
			t.Fatalf("want %q, got the end of the stream: %v", want, err)
		}
		message.WriteString(line)
		if line == "\n" {
			if strings.Contains(message.String(), want) {
				return message.String()
			}
			message.Reset()
		}
	}
}

// TestOneChangeSendsOneLine holds that a change of one pool sends its line alone to those who see it, and nothing to others.
func TestOneChangeSendsOneLine(t *testing.T) {
	t.Parallel()
	source := manyPools(250)
	s := newSite(t, source)
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	open := func(query string) *bufio.Reader {
		r, err := http.NewRequestWithContext(ctx, http.MethodGet, s.URL+"/events"+query, nil)
		if err != nil {
			t.Fatal(err)
		}
		resp, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { resp.Body.Close() })
		reader := bufio.NewReader(resp.Body)
		until(t, reader, "#lines")
		return reader
	}
	sees, other := open("?q=workers-00007"), open("?q=workers-00008")
	change := func(k int, message string) {
		list := append([]*view.Pool(nil), source.list...)
		p := *list[k]
		p.Message, p.Ready = message, ptr.To(int32(2))
		list[k] = &p
		source.list = list
		source.changed <- struct{}{}
	}
	change(7, "the first change")
	got := until(t, sees, "the first change")
	if strings.Contains(got, "#lines") || strings.Count(got, "<tr") != 1 {
		t.Errorf("want one line, got %s", got)
	}
	change(8, "the second change")
	if got := until(t, other, "the second change"); strings.Contains(got, "workers-00007") || !strings.Contains(got, "the second change") {
		t.Errorf("want nothing of the pool that is not shown, got %s", got)
	}
}

// TestPlanForm holds that a form with a manifest is planned, and what is refused.
func TestPlanForm(t *testing.T) {
	t.Parallel()
	s := newSite(t, manyPools(1))
	for _, c := range []struct {
		why  string
		form url.Values
		code int
		want string
	}{
		{"manifests", url.Values{"manifest": {"kind: MachinePool\nmetadata: {name: a}\n---\nkind: X\nmetadata: {name: b}\n"}}, 200,
			"0 fields and 2 manifests"},
		{"two fields of a pool", url.Values{"pool": {"awsmachinepool/workers"}, "set": {"a=1\r\n\r\nb=2"}}, 200, "2 fields and 0 manifests"},
		{"no YAML", url.Values{"manifest": {"{"}}, 400, "want YAML documents"},
		{"no object", url.Values{"manifest": {"a: 1"}}, 400, "want YAML documents"},
		{"too many", url.Values{"manifest": {strings.Repeat("kind: X\nmetadata: {name: b}\n---\n", 60)}}, 400, "at most 50"},
		{"too large", url.Values{"manifest": {strings.Repeat("x", 2<<20)}}, 400, "1 MiB"},
		{"a pool that does not exist", url.Values{"pool": {"none"}}, 422, "no machine pool"},
		{"nothing", url.Values{}, 200, "Plan a change"},
	} {
		resp, err := http.PostForm(s.URL+"/plan", c.form)
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(resp.Body)
		resp.Body.Close()
		if err != nil || resp.StatusCode != c.code || !strings.Contains(string(text), c.want) {
			t.Errorf("%s: want %d with %q, got %d: %s, %v", c.why, c.code, c.want, resp.StatusCode, text, err)
		}
	}
}

// TestFaultButtons holds that a button adds its fault to the simulated cloud, and that there is no such route for other clouds.
func TestFaultButtons(t *testing.T) {
	t.Parallel()
	s := newSite(t, manyPools(1))
	post := func(cloud, fault string) int {
		resp, err := http.PostForm(s.URL+"/simulators/"+cloud+"/faults", url.Values{"fault": {fault}})
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		return resp.StatusCode
	}
	if code := post("testcloud", "throttle"); code != 200 || len(s.played) != 1 {
		t.Errorf("want the fault played, got %d, %v", code, s.played)
	}
	_, text := get(t, s.URL+"/accounts", "text/html")
	if !strings.Contains(text, "Remove all faults") || !strings.Contains(text, "played 0 times") {
		t.Errorf("want the fault shown, got %s", text)
	}
	if code := post("other", "throttle"); code != 404 {
		t.Errorf("want no other cloud, got %d", code)
	}
	if code := post("testcloud", ""); code != 200 || len(s.played) != 0 {
		t.Errorf("want no faults, got %d, %v", code, s.played)
	}
}

// TestAccountsAreForThoseWhoSeeEverything holds that a tenant does not see the accounts of others.
func TestAccountsAreForThoseWhoSeeEverything(t *testing.T) {
	t.Parallel()
	s, err := New(Options{CloudOf: testCloud, Viewer: func(*http.Request) (*Viewer, error) { return &Viewer{Name: "tenant"}, nil }})
	if err != nil {
		t.Fatal(err)
	}
	w := httptest.NewRecorder()
	s.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/accounts", nil))
	if w.Code != http.StatusForbidden || strings.Contains(w.Body.String(), `href="/accounts"`) {
		t.Errorf("want 403 without a link to accounts, got %d: %s", w.Code, w.Body)
	}
	for path, want := range map[string]int{"/plan": 404, "/simulators/aws/faults": 404} {
		w := httptest.NewRecorder()
		s.ServeHTTP(w, httptest.NewRequest(http.MethodPost, path, nil))
		if w.Code != want {
			t.Errorf("%s: want no such route in a manager without plans and simulators, got %d", path, w.Code)
		}
	}
}

// TestStreamsAreLimited holds that no more than the limits are open, of one user and of all, and that a closed one frees its place.
func TestStreamsAreLimited(t *testing.T) {
	t.Parallel()
	s := newSite(t, manyPools(1))
	var ends []context.CancelFunc
	open := func(user, path string) int {
		ctx, cancel := context.WithCancel(t.Context())
		ends = append(ends, cancel)
		r, err := http.NewRequestWithContext(ctx, http.MethodGet, s.URL+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set(userHeader, user)
		resp, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { resp.Body.Close() })
		if limited := resp.StatusCode == http.StatusTooManyRequests; limited != (resp.Header.Get("Retry-After") != "") {
			t.Errorf("want the time to wait with 429 alone, got %d with %q", resp.StatusCode, resp.Header.Get("Retry-After"))
		}
		return resp.StatusCode
	}
	for k := range stream.Limit {
		user := strconv.Itoa(k / stream.UserLimit)
		if code := open(user, "/events"); code != http.StatusOK {
			t.Fatalf("want stream %d of user %s opened, got %d", k, user, code)
		}
		if (k+1)%stream.UserLimit != 0 {
			continue
		}
		if code := open(user, "/events"); code != http.StatusTooManyRequests {
			t.Errorf("want 429 beyond the limit of user %s, got %d", user, code)
		}
	}
	if code := open("another", "/pools/team-000/workers/events"); code != http.StatusTooManyRequests {
		t.Errorf("want 429 beyond the limit of all, got %d", code)
	}
	for _, end := range ends {
		end()
	}
	for k := range stream.Limit {
		user := strconv.Itoa(k / stream.UserLimit)
		for deadline := time.Now().Add(10 * time.Second); open(user, "/events") != http.StatusOK; time.Sleep(10 * time.Millisecond) {
			if time.Now().After(deadline) {
				t.Fatal("want a stream in the place of one that was closed")
			}
		}
	}
}

// TestPoolsAreReadAfterChanges holds that a pool which is shown is read again after each pass, and not all the time, also for a user who
// may not read its infrastructure object.
func TestPoolsAreReadAfterChanges(t *testing.T) {
	t.Parallel()
	scheme, err := view.Scheme()
	if err != nil {
		t.Fatal(err)
	}
	mp, _, _ := objects()
	m := memory.New()
	of := memory.Key{Kind: testKind, Namespace: mp.Namespace, Name: mp.Spec.Template.Spec.InfrastructureRef.Name}
	begun := time.Now()
	m.Observe(of, outcome(), begun)
	f := follower{server: &Server{o: Options{Memory: m, CloudOf: testCloud}}, key: client.ObjectKeyFromObject(mp), viewer: &Viewer{
		Client: fake.NewClientBuilder().WithScheme(scheme).WithObjects(mp).Build(), Fleet: stream.NewHub(manyPools(0), Encoder{}, testCloud)}}
	for pass := range 3 {
		for reads := 0; reads == 0 || f.due(); reads++ {
			if reads == 3 {
				t.Fatalf("pass %d: want the pool not read again without a change", pass)
			}
			if _, err := f.read(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		m.Observe(of, outcome(), begun.Add(time.Duration(pass+1)*time.Minute))
		if !f.due() {
			t.Errorf("pass %d: want the pool read after the next one", pass)
		}
	}
}

// BenchmarkFleet measures a page of 10,000 pools: the budget is 0.2 s.
func BenchmarkFleet(b *testing.B) {
	source := manyPools(10000)
	for name, query := range map[string]string{"all": "", "search": "?q=quota+zone", "last": "?page=100"} {
		b.Run(name, func(b *testing.B) {
			s := newSite(b, source)
			size := 0
			for b.Loop() {
				resp, err := http.Get(s.URL + "/" + query)
				if err != nil {
					b.Fatal(err)
				}
				text, err := io.ReadAll(resp.Body)
				if err != nil {
					b.Fatal(err)
				}
				resp.Body.Close()
				size = len(text)
			}
			b.ReportMetric(float64(size), "bytes/page")
		})
	}
}

// TestPageOfManyPoolsIsFast holds a page of 10,000 pools far below a time that users would notice. The bound is wide for busy machines:
// BenchmarkFleet has the figure.
func TestPageOfManyPoolsIsFast(t *testing.T) {
	t.Parallel()
	s := newSite(t, manyPools(10000))
	best := time.Hour
	for range 5 {
		begin := time.Now()
		if _, text := get(t, s.URL+"/", "text/html"); strings.Count(text, "<tr id=") != fleet.PageSize {
			t.Fatalf("want %d lines", fleet.PageSize)
		}
		best = min(best, time.Since(begin))
	}
	if best > time.Second {
		t.Errorf("want a page of 10,000 pools in less than a second, got %v", best)
	}
}

// TestHistoryOfTheFirstMinute holds that a chart has its last value as a line, however short the history is.
func TestHistoryOfTheFirstMinute(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 1, 2, 3, 4, 50, 0, time.UTC)
	one := detail.Detail{History: []memory.Sample{{At: at, Desired: 2, Ready: 1}}}
	if got := string(history(one, at.Add(5*time.Second))); !strings.Contains(got, "H632.0") {
		t.Errorf("want a line to the right end, got %s", got)
	}
	two := one
	two.History = append(two.History, memory.Sample{At: at.Add(9 * time.Second), Desired: 2, Ready: 2})
	if got := string(history(two, at.Add(9*time.Second))); !strings.Contains(got, "10 s ago") {
		t.Errorf("want the samples of the present minute shown, got %s", got)
	}
}
