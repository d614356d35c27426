package gcp_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/muster-project/muster/sim/document"
	"github.com/muster-project/muster/sim/gcp"
)

// recordings is where recorded traffic of GKE is kept beside the project. It is not part of it.
const recordings = "../../../shared/recordings/gke"

// recorded is one exchange of a recording.
type recorded struct {
	Method, URL       string
	Request, Response doc
	Status            int
}

// replay plays a recording against the simulator.
type replay struct {
	*world
	// operation is the name of the last operation, named the groups of the simulator by the recorded ones.
	operation string
	named     map[string]string
	found     map[string]string
}

// TestRecordedTraffic plays what clients have asked GKE for against the simulator, and compares the answers: which members there are, of
// which type, and the values that no one chooses at random. Each difference is one of the table.
func TestRecordedTraffic(t *testing.T) {
	files, err := filepath.Glob(recordings + "/*.json")
	if err != nil || len(files) == 0 {
		t.Skipf("no recordings in %s", recordings)
	}
	found := map[string]string{}
	for _, file := range files {
		inBubble(t, gcp.Options{Speed: 1}, func(w *world) {
			r := &replay{world: w, named: map[string]string{}, found: found}
			for i, one := range r.read(file) {
				r.play(fmt.Sprintf("%s %d", filepath.Base(file), i), one)
			}
		})
	}
	for difference, example := range found {
		if differences[difference] == "" {
			t.Errorf("%s: %s", difference, example)
		}
	}
	for difference, reason := range differences {
		if found[difference] == "" {
			t.Errorf("%s (%s): does not differ any more", difference, reason)
		}
	}
}

// read reads a recording, in the simulator's project and region.
func (r *replay) read(file string) []recorded {
	raw, err := os.ReadFile(file)
	if err != nil {
		r.Fatal(err)
	}
	text := strings.NewReplacer("${projectId}", "simulated-project", "${projectNumber}", "123456789012", "${uniqueId}", "abcdefg",
		"us-west2", "us-central1", "googleapis.com/v1beta1/", "googleapis.com/v1/", "compute/beta/", "compute/v1/").Replace(string(raw))
	var out []recorded
	if err := json.Unmarshal([]byte(text), &out); err != nil {
		r.Fatal(err)
	}
	return out
}

var hostAndQuery = regexp.MustCompile(`^https://[^/]*|\?.*$`)

// play sends one request and compares the answer.
func (r *replay) play(at string, one recorded) {
	path := strings.ReplaceAll(hostAndQuery.ReplaceAllString(one.URL, ""), "${operationID}", r.operation)
	for theirs, ours := range r.named {
		path = strings.ReplaceAll(path, theirs, ours)
	}
	if strings.Contains(path, "/operations/") {
		r.rest(40 * minute) // longer than any operation takes that goes well
	}
	var body any
	if one.Request != nil {
		body = one.Request
	}
	status, got := r.ask(one.Method, path, body)
	if status != one.Status {
		r.found[fmt.Sprintf("%s %s: status %d", at, one.Method, status)] = short(document.Text(got, "error.message"))
		return
	}
	if document.Text(got, "operationType") != "" {
		r.operation = document.Text(got, "name")
	}
	kind := kindOf(path, got)
	if kind == "cluster" {
		for i, p := range document.Objects(one.Response, "nodePools") {
			r.name(p, document.Objects(got, "nodePools")[i])
		}
	}
	r.name(one.Response, got)
	r.compare(at, kind, "", one.Response, got)
}

// kindOf is what an answer is.
func kindOf(path string, d doc) string {
	switch {
	case d["error"] != nil:
		return "error"
	case d["operationType"] != nil:
		return "operation"
	case strings.Contains(path, "/instanceGroupManagers/"):
		return "group"
	case strings.Contains(path, "/nodePools/"):
		return "pool"
	}
	return "cluster"
}

// name notes which group of the simulator is which recorded one.
func (r *replay) name(theirs, ours doc) {
	for _, a := range document.Texts(theirs, "instanceGroupUrls") {
		for _, b := range document.Texts(ours, "instanceGroupUrls") {
			x, y := strings.Split(a, "/"), strings.Split(b, "/")
			sameZone, pool := x[len(x)-3] == y[len(y)-3], theirs["nodePools"] == nil
			if _, named := r.named[x[len(x)-1]]; !named && sameZone && pool && document.Text(theirs, "name") == document.Text(ours, "name") {
				r.named[x[len(x)-1]] = y[len(y)-1]
			}
		}
	}
}

// chosen are the members whose values GKE, or the recording, chose at random, or that are another version's.
var chosen = regexp.MustCompile(`(?i)(^|\.)(id|uid|etag|fingerprint|labelFingerprint|[a-z]*time|creationTimestamp|[a-z]*endpoint|` +
	`clusterCaCertificate|resourceVersion|name|intValue|[a-z]*version|image|podIpv4CidrBlock|podRange|clusterSecondaryRangeName|` +
	`baseInstanceName|instanceGroup|instanceTemplate|secretUri|gcpSecretManagerSecretUri|defaultPodIpv4RangeUtilization|` +
	`podIpv4RangeUtilization)$|instanceGroupUrls|locations\[\]$|^selfLink$|^targetLink$`)

// compare compares what lies at a path of both answers.
func (r *replay) compare(at, kind, path string, want, got any) {
	differs := func(how string) {
		r.found[kind+": "+how+" "+path] = fmt.Sprintf("%s: recorded %v, simulated %v", at, short(want), short(got))
	}
	switch w := want.(type) {
	case doc:
		g, ok := got.(doc)
		if !ok {
			differs("lacks")
			return
		}
		for _, k := range slices.Sorted(slices.Values(append(keys(w), keys(g)...))) {
			below := strings.TrimPrefix(path+"."+k, ".")
			switch {
			case g[k] == nil:
				r.compare(at, kind, below, w[k], nil)
			case w[k] == nil:
				r.found[kind+": adds "+below] = fmt.Sprintf("%s: %v", at, short(g[k]))
			default:
				r.compare(at, kind, below, w[k], g[k])
			}
		}
	case []any:
		g, ok := got.([]any)
		if !ok || len(g) != len(w) && !chosen.MatchString(path) {
			differs("lacks")
			return
		}
		for i := range min(len(w), len(g)) {
			r.compare(at, kind, path+"[]", w[i], g[i])
		}
	default:
		switch {
		case got == nil:
			differs("lacks")
		case fmt.Sprintf("%T", got) != fmt.Sprintf("%T", want):
			differs("has another type at")
		case got != want && !chosen.MatchString(path):
			differs("has another value at")
		case formOf(want) != formOf(got) && !replaced.MatchString(fmt.Sprint(want)):
			differs("has another form at")
		}
	}
}

var (
	hashes  = regexp.MustCompile(`\b[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\b|\b[0-9a-f]{8}\b`)
	words   = regexp.MustCompile(`[a-z0-9]*[a-z][a-z0-9]*`)
	numbers = regexp.MustCompile(`\d+`)
)

// replaced are the values of recordings that were replaced when they were published.
var replaced = regexp.MustCompile(`\$\{|^\(removed\)|^abcdef0123A=|^0{21}|^2024-04-01T`)

// formOf returns the form of a value that is chosen at random: hashes are H, words w, and other numbers 0.
func formOf(v any) string {
	text, is := v.(string)
	if !is {
		return ""
	}
	return numbers.ReplaceAllString(words.ReplaceAllString(hashes.ReplaceAllString(text, "H"), "w"), "0")
}

func short(v any) string {
	text := fmt.Sprint(v)
	return text[:min(len(text), 300)]
}

// differences are those between the recorded answers and the simulated ones, with the reason why each stays.
var differences = map[string]string{
	"cluster: lacks clusterTelemetry":                                                      inBeta,
	"cluster: lacks master":                                                                inBeta,
	"cluster: lacks privateCluster":                                                        inBeta,
	"cluster: lacks protectConfig":                                                         inBeta,
	"cluster: lacks nodePools[].kubeletCertInfo":                                           inBeta,
	"pool: lacks kubeletCertInfo":                                                          inBeta,
	"cluster: lacks addonsConfig.nodeReadinessConfig":                                      ofMinor,
	"cluster: has another value at anonymousAuthenticationConfig.mode":                     ofMinor,
	"cluster: adds nodePools[].networkConfig.podIpv4RangeUtilization":                      late,
	"cluster: adds ipAllocationPolicy.defaultPodIpv4RangeUtilization":                      late,
	"cluster: lacks nodeCreationConfig":                                                    ofMinor,
	"cluster: has another value at currentNodeCount":                                       counted,
	"cluster: has another value at nodePools[].config.kubeletConfig.maxParallelImagePulls": byMachine,
	"pool: has another value at config.kubeletConfig.maxParallelImagePulls":                byMachine,
	"operation: has another value at status":                                               begins,
}

const (
	counted   = "GKE counts the nodes of a deleted node pool for a while"
	begins    = "operations on node pools begin PENDING or RUNNING, in the recordings and here"
	late      = "GKE computes it some time after nodes have come"
	ofMinor   = "of Kubernetes 1.35, which the recorded cluster gets by default and the simulated one does not"
	inBeta    = "the recorded clients speak v1beta1, which alone has it"
	byMachine = "GKE chooses it by the machine type, by a rule that no documentation names"
)
