package gcp_test

import (
	"maps"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/muster-project/muster/sim/gcp/catalogue"
	"github.com/muster-project/muster/sim/gcp/compute"
	"github.com/muster-project/muster/sim/gcp/container"
	"github.com/muster-project/muster/sim/gcp/project"
	"github.com/muster-project/muster/test/specs"
)

// published is a route as the service publishes it.
type published struct{ id, method, pattern, bucket string }

// differs are the routes that differ from what is published, with the reason.
var differs = map[string]string{}

// reads are the parameters that the simulator reads, and of which routes.
var reads = map[string]func(published) bool{
	"filter":               func(p published) bool { return p.lists() },
	"maxResults":           func(p published) bool { return p.lists() },
	"pageToken":            func(p published) bool { return p.lists() },
	"returnPartialSuccess": func(p published) bool { return p.bucket == project.BucketWide },
	"requestId":            func(p published) bool { return p.bucket == project.BucketWrite && !p.lists() && !p.applies() },
	"size":                 func(p published) bool { return strings.HasSuffix(p.id, ".resize") },
}

// lists reports whether the route answers with pages.
func (p published) lists() bool {
	action := p.id[strings.LastIndexByte(p.id, '.')+1:]
	return strings.HasPrefix(p.id, "compute.") && (strings.HasPrefix(action, "list") || action == "aggregatedList")
}

// applies reports whether the route has machines replaced that wait for it.
func (p published) applies() bool { return strings.HasSuffix(p.id, ".applyUpdatesToInstances") }

func publishedRoutes() []published {
	return slices.Concat(rows(compute.Routes()), rows(catalogue.Routes()), rows(container.Routes()))
}

func rows[S any](routes []project.Route[S]) []published {
	out := make([]published, len(routes))
	for i, r := range routes {
		out[i] = published{r.Service + "." + r.Name, r.Method, strings.ReplaceAll(r.Pattern, "{version}", "v1"), r.Bucket}
	}
	return out
}

// inPath are the parts of a path that a request chooses, whatever they are called.
var inPath = regexp.MustCompile(`\{[^}]*\}`)

func TestRoutesArePublished(t *testing.T) {
	d := specs.Google()
	stale := maps.Clone(differs)
	for _, p := range publishedRoutes() {
		why := ""
		switch o := d.Operation(p.id); {
		case o == nil:
			why = "is not published"
		case o.Method != p.method || inPath.ReplaceAllString(o.Path, "{}") != inPath.ReplaceAllString(p.pattern, "{}"):
			why = "is published as " + o.Method + " " + o.Path
		default:
			for _, name := range slices.Sorted(maps.Keys(reads)) {
				if _, known := o.Query[name]; !known && reads[name](p) {
					why = "has no parameter " + name
				}
			}
		}
		if _, listed := stale[p.id]; listed == (why == "") {
			t.Errorf("%s %s, %s %s: listed is %t", p.id, why, p.method, p.pattern, listed)
		}
		delete(stale, p.id)
	}
	for id := range stale {
		t.Errorf("no route has the name %s: take it off the list", id)
	}
}

// TestBetaIsPublished holds that what is answered in the beta of Compute Engine too is published there.
func TestBetaIsPublished(t *testing.T) {
	d, tried := specs.GoogleBeta(), 0
	for _, r := range slices.Concat(versioned(compute.Routes()), versioned(catalogue.Routes())) {
		o := d.Operation(r.id)
		if o == nil || o.Method != r.method || inPath.ReplaceAllString(o.Path, "{}") != inPath.ReplaceAllString(r.pattern, "{}") {
			t.Errorf("%s %s %s: want it published in the beta, got %+v", r.id, r.method, r.pattern, o)
		}
		tried++
	}
	if tried == 0 {
		t.Error("want routes of the beta")
	}
}

// versioned are the routes that are answered in several versions, as the beta's.
func versioned[S any](routes []project.Route[S]) []published {
	var out []published
	for _, r := range routes {
		if strings.Contains(r.Pattern, "{version}") {
			out = append(out, published{r.Service + "." + r.Name, r.Method, strings.ReplaceAll(r.Pattern, "{version}", "beta"), r.Bucket})
		}
	}
	return out
}

// TestParametersAreKnown holds the list of parameters against the simulator's code.
func TestParametersAreKnown(t *testing.T) {
	read := regexp.MustCompile(`\.Query\.Get\("(\w+)"\)`)
	found := map[string]bool{}
	for _, pattern := range []string{"*/*.go", "*.go"} {
		files, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			for _, m := range read.FindAllStringSubmatch(string(text), -1) {
				found[m[1]] = true
			}
		}
	}
	if want, got := slices.Sorted(maps.Keys(reads)), slices.Sorted(maps.Keys(found)); !slices.Equal(got, want) {
		t.Errorf("want the parameters %q read, got %q", want, got)
	}
}

// TestRequestsThatAreNotPublished shows that the check of requests notices what is wrong with one, and accepts what is right.
func TestRequestsThatAreNotPublished(t *testing.T) {
	const groups, pools = "/compute/v1/projects/p/zones/z/instanceGroupManagers", "/v1/projects/p/locations/l/clusters/c/nodePools"
	for _, row := range []struct{ method, path, body, want string }{
		{"POST", groups + "?requestId=x&alt=json", `{"name":"g","targetSize":0,"updatePolicy":{"type":"PROACTIVE"}}`, ""},
		{"POST", groups, `{"name":"g"}`, "the member targetSize is needed"},
		{"POST", groups, `{"name":"g","targetSize":"many"}`, "many at targetSize is not of kind int"},
		{"POST", groups, `{"name":"g","targetSize":1,"versions":[{"size":{}}]}`, "no member versions[0].size"},
		{"POST", groups, `{"name":"g","targetSize":1,"updatePolicy":{"type":"SOON"}}`, "SOON at updatePolicy.type"},
		{"POST", groups, `{"name":"g","targetSize":1,"status":{}}`, "the service alone sets status"},
		{"POST", groups, `{"name":"g","targetSize":1,"updatePolicy":null}`, "at updatePolicy is not of kind InstanceGroupManagerUpdatePolicy"},
		{"PATCH", groups + "/g", `{"updatePolicy":null}`, ""},
		{"PUT", groups + "/g", `{}`, "no operation is published for PUT"},
		{"POST", groups + "/g/resize?size=1", "", ""},
		{"POST", groups + "/g/resize", "", "needs the parameter size"},
		{"POST", groups + "/g/resize?size=1", "{}", "it has no body"},
		{"POST", groups + "/g/applyUpdatesToInstances?requestId=x", "{}", "has no parameter requestId"},
		{"GET", pools + "/a?force=1", "", "nodePools.get has no parameter force"},
		{"POST", pools + "/a:setSize", `{"nodeCount":1}`, ""},
		{"POST", pools + "/a:setSizes", `{"nodeCount":1}`, "no operation is published for POST"},
	} {
		err := specs.Google().Request(httptest.NewRequest(row.method, row.path, nil), row.body)
		if (err == nil) != (row.want == "") || err != nil && !strings.Contains(err.Error(), row.want) {
			t.Errorf("%s %s %s: want %q, got %v", row.method, row.path, row.body, row.want, err)
		}
	}
}
