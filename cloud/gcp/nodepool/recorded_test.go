package nodepool_test

import (
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	gcpv1 "github.com/muster-project/muster/api/gcp/v1beta1"
	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/gcp/nodepool"
	"github.com/muster-project/muster/pool"
	"github.com/muster-project/muster/sim/document"
)

// recordings is where recorded traffic of GKE is kept beside the project. It is not part of it.
const recordings = "../../../../shared/recordings/gke/"

// replies answers requests by the ends of their paths.
type replies map[string]string

func (r replies) RoundTrip(req *http.Request) (*http.Response, error) {
	status, body := http.StatusNotFound, `{"error":{"code":404,"status":"NOT_FOUND","message":"Not found."}}`
	for end, text := range r {
		if strings.HasSuffix(req.URL.Path, end) {
			status, body = http.StatusOK, text
		}
	}
	return &http.Response{StatusCode: status, Header: http.Header{"Content-Type": {"application/json"}},
		Body: io.NopCloser(strings.NewReader(body)), Request: req}, nil
}

// exchange is one request of a recording and its answer.
type exchange struct {
	Method, URL string
	Status      int
	Response    json.RawMessage
}

// recording returns the exchanges of a recording, in their order.
func recording(t *testing.T, file string) []exchange {
	t.Helper()
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	text := strings.NewReplacer("${projectId}", "simulated-project", "${projectNumber}", "123456789012", "${uniqueId}", "abcdefg",
		"${operationID}", "operation-1").Replace(string(raw))
	var out []exchange
	if err := json.Unmarshal([]byte(text), &out); err != nil {
		t.Fatal(err)
	}
	return out
}

// recordedPool holds the fields of a recorded node pool that tests use.
type recordedPool struct {
	Name, Version     string
	InstanceGroupUrls []string
	Config            struct {
		MachineType, ImageType, DiskType string
		DiskSizeGb                       int32
		NodeImageConfig                  struct{ Image string }
	}
}

// recordedGroup is the same of a managed instance group.
type recordedGroup struct{ Name, BaseInstanceName, InstanceTemplate, Zone string }

// recordedState is the state that a recording has shown so far.
type recordedState struct {
	*testing.T
	// path is that of the cluster, location where it is.
	path, location string
	cluster        struct{ NodePools []recordedPool }
	replies        replies
	groups         map[string]recordedGroup
	// operation is the last one, operations and pools how many operations that run and pools at rest were observed.
	operation         struct{ OperationType, Status, TargetLink string }
	operations, pools int
}

var (
	clusterPath = regexp.MustCompile(`/projects/[^/]+/locations/([^/]+)/clusters/[^/?]+$`)
	poolPath    = regexp.MustCompile(`/nodePools/[^/?]+$`)
	groupPath   = regexp.MustCompile(`/instanceGroupManagers/([^/?]+)$`)
)

// TestRecordedTraffic plays what GKE has answered to the driver's reader: every cluster with its node pools and their groups, whose
// templates are of the region, and every operation, at rest and while it runs. Machines and templates, which are not in the recordings, are
// made up.
func TestRecordedTraffic(t *testing.T) {
	files, err := filepath.Glob(recordings + "*.json")
	if err != nil || len(files) == 0 {
		t.Skipf("no recordings in %s", recordings)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			s := &recordedState{T: t, replies: replies{}, groups: map[string]recordedGroup{}}
			for _, e := range recording(t, file) {
				s.play(e)
			}
			if s.pools == 0 {
				t.Error("want node pools observed")
			}
			if strings.HasPrefix(filepath.Base(file), "containernodepool") && s.operations < 2 {
				t.Error("want an upgrade and a deletion observed")
			}
		})
	}
}

// play adds what an exchange shows, and observes what it shows whole.
func (s *recordedState) play(e exchange) {
	at, _, _ := strings.Cut(e.URL, "?")
	switch m := clusterPath.FindStringSubmatch(at); {
	case strings.Contains(at, "/operations/"):
		s.replies["/operations/operation-1"] = string(e.Response)
	case e.Method != http.MethodGet:
		s.decode(e.Response, &s.operation)
		s.replies["/operations/operation-1"] = string(e.Response)
		s.running()
	case groupPath.MatchString(at):
		var g recordedGroup
		s.decode(e.Response, &g)
		s.groups[g.Name], s.replies[groupPath.FindString(at)] = g, string(e.Response)
		s.atRest()
	case poolPath.MatchString(at) && e.Status == http.StatusOK:
		s.addPool(e.Response)
		s.atRest()
	case m != nil && e.Status == http.StatusNotFound:
		s.path, s.location = m[0][strings.Index(m[0], "/clusters/"):], m[1]
		s.missing()
	case m != nil:
		s.cluster.NodePools = nil
		s.decode(e.Response, &s.cluster)
		s.replies[s.path] = string(e.Response)
		s.atRest()
	}
}

// addPool puts a node pool that was read by itself into the cluster.
func (s *recordedState) addPool(raw json.RawMessage) {
	s.Helper()
	var read struct{ Name string }
	s.decode(raw, &read)
	var cluster map[string]any
	s.decode(json.RawMessage(s.replies[s.path]), &cluster)
	pools := []any{raw}
	for _, p := range document.Objects(cluster, "nodePools") {
		if document.Text(p, "name") != read.Name {
			pools = append(pools, p)
		}
	}
	cluster["nodePools"] = pools
	text, err := json.Marshal(cluster)
	if err != nil {
		s.Fatal(err)
	}
	s.cluster.NodePools, s.replies[s.path] = nil, string(text)
	s.decode(text, &s.cluster)
}

func (s *recordedState) decode(raw json.RawMessage, into any) {
	s.Helper()
	if err := json.Unmarshal(raw, into); err != nil {
		s.Fatal(err)
	}
}

// missing observes a pool of a cluster that does not exist.
func (s *recordedState) missing() {
	s.Helper()
	if _, err := s.observe(recordedPool{Name: "default-pool"}, nil); err == nil || cloud.KindOf(err) != cloud.Invalid {
		s.Errorf("want a refusal that names the cluster, got %v", err)
	}
}

// atRest observes all node pools of which all groups are known, with their last operation, which has ended.
func (s *recordedState) atRest() {
	s.Helper()
	for _, p := range s.cluster.NodePools {
		if !s.known(p) {
			continue
		}
		s.pools++
		o, err := s.observe(p, s.last(p))
		if err != nil {
			s.Errorf("%s: %v", p.Name, err)
			continue
		}
		if g := o.Group; g == nil || g.State != "RUNNING" || g.Size != len(p.InstanceGroupUrls) || g.Busy != nil || g.Failed != nil ||
			len(g.Unchangeable)+len(o.Issues)+len(o.Operations) > 0 || o.ProviderRollout != nil {
			s.Errorf("%s: want a node pool at rest, got %+v, issues %v, %+v, %v", p.Name, o.Group, o.Issues, o.ProviderRollout, o.Operations)
		}
		if len(o.Instances) != len(p.InstanceGroupUrls) {
			s.Errorf("%s: want a machine in each zone, got %+v", p.Name, o.Instances)
		}
		for _, i := range o.Instances {
			if i.State != pool.Running || !i.Template.Same(o.Wanted) {
				s.Errorf("%s: want a machine as wanted, got %+v of %+v", p.Name, i, o.Wanted)
			}
		}
	}
}

// known reports whether all groups of a pool were shown.
func (s *recordedState) known(p recordedPool) bool {
	for _, at := range p.InstanceGroupUrls {
		if _, shown := s.groups[path.Base(at)]; !shown {
			return false
		}
	}
	return true
}

// last returns the last operation if it is one on a node pool.
func (s *recordedState) last(p recordedPool) []pool.Operation {
	if !strings.HasSuffix(s.operation.TargetLink, "/nodePools/"+p.Name) {
		return nil
	}
	return []pool.Operation{{Type: s.operation.OperationType, Resource: p.Name, Token: "operation-1"}}
}

// running observes a node pool while an operation on it runs: the operation is kept, for the text of a failure.
func (s *recordedState) running() {
	s.Helper()
	for _, p := range s.cluster.NodePools {
		if s.last(p) == nil || !s.known(p) {
			continue
		}
		s.operations++
		o, err := s.observe(p, s.last(p))
		if err != nil || o.Group == nil || len(o.Operations) != 1 || len(o.Issues) > 0 {
			s.Errorf("%s: want %s kept, got %+v, %v, %v, %v", p.Name, s.operation.OperationType, o.Group, o.Operations, o.Issues, err)
		}
	}
}

// observe observes a node pool that is wanted as it is.
func (s *recordedState) observe(is recordedPool, operations []pool.Operation) (pool.Observed, error) {
	s.Helper()
	answers := maps.Clone(s.replies)
	var zones []string
	for _, at := range is.InstanceGroupUrls {
		g := s.groups[path.Base(at)]
		zone, machine := path.Base(g.Zone), `{"name":"`+g.BaseInstanceName+`-x1y2","id":"7",`
		zones = append(zones, zone)
		_, template, _ := strings.Cut(g.InstanceTemplate, "/projects/simulated-project/")
		if !strings.HasPrefix(template, "regions/"+s.location[:strings.LastIndexByte(zone, '-')]+"/instanceTemplates/") {
			s.Errorf("want the template of the region, got %s", template)
		}
		answers[g.Name+"/listManagedInstances"] = `{"managedInstances":[` + machine + `"instanceStatus":"RUNNING","currentAction":"NONE",` +
			`"version":{"instanceTemplate":"` + g.InstanceTemplate + `"}}]}`
		answers["/"+zone+"/instances"] = `{"items":[` + machine + `"creationTimestamp":"2026-07-22T00:00:00Z"}]}`
		answers[template] = `{"name":"t","properties":{"machineType":"` + is.Config.MachineType + `","disks":[{"boot":true,"initializeParams":` +
			`{"diskSizeGb":"100","diskType":"pd-balanced","sourceImage":"projects/gke-node-images/global/images/` +
			is.Config.NodeImageConfig.Image + `"}}]}}`
	}
	answers["/machineTypes/"+is.Config.MachineType] = `{"name":"m","guestCpus":2,"memoryMb":4096}`
	driver, err := newDriver(answers)
	if err != nil {
		s.Fatal(err)
	}
	target := nodepool.Target{
		Owner: cloud.Owner{ID: "owner", Cluster: "c", Namespace: "default", Name: "p"}, AssumeOwned: true, KubernetesVersion: "v" + is.Version,
		Spec: zonal(), Operations: operations,
	}
	target.Spec.Name, target.Spec.Cluster.Name, target.Spec.Cluster.Location = is.Name, path.Base(s.path), s.location
	target.Spec.Pool = &gcpv1.GCPManagedMachinePoolSpec{
		InstanceType: &is.Config.MachineType, ImageType: &is.Config.ImageType, NodeLocations: zones, DiskSizeGb: &is.Config.DiskSizeGb,
	}
	return driver.Observe(s.Context(), target)
}
