package kapsule_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/muster-project/muster/api/common"
	scalewayv1 "github.com/muster-project/muster/api/scaleway/v1alpha2"
	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/scaleway/kapsule"
	"github.com/muster-project/muster/pool"
)

const (
	// recordings is where recorded traffic of Kapsule is kept beside the project. It is not part of it.
	recordings = "../../../../shared/recordings/kapsule/"
	accessKey  = "SCWXXXXXXXXXXXXXXXXX"
	secretKey  = "11111111-1111-4111-8111-111111111111"
)

// document is a document of the API.
type document = map[string]any

// exchange is a request of a recording with its answer.
type exchange struct {
	Method, URL       string
	Request, Response json.RawMessage
	Status            int
}

// recorded is the state that a recording has shown so far.
type recorded struct {
	cluster document
	// pools by ID, nodes by the ID of their pool.
	pools map[string]document
	nodes map[string][]any
}

var resource = regexp.MustCompile(`/k8s/v1/regions/[a-z-]+/(clusters|pools)/([0-9a-f-]+)(/[a-z-]+)?$`)

// take takes over an answer, and reports whether it lists the nodes of a pool, of which the ID is returned.
func (r *recorded) take(t *testing.T, e exchange) (poolID string, nodes bool) {
	t.Helper()
	address, query, _ := strings.Cut(e.URL, "?")
	at := resource.FindStringSubmatch(address)
	var is document
	if err := json.Unmarshal(e.Response, &is); err != nil || at == nil && !strings.HasSuffix(address, "/clusters") {
		return "", false
	}
	switch {
	case e.Status == http.StatusNotFound:
		delete(r.pools, at[2])
	case is["nodes"] != nil:
		_, poolID, _ = strings.Cut(query, "pool_id=")
		poolID, _, _ = strings.Cut(poolID, "&")
		r.nodes[poolID], _ = is["nodes"].([]any)
		return poolID, true
	case is["node_type"] != nil:
		r.pools[fmt.Sprint(is["id"])] = is
	case is["cni"] != nil:
		r.cluster = is
	}
	return "", false
}

// RoundTrip answers a request by what was shown last.
func (r *recorded) RoundTrip(req *http.Request) (*http.Response, error) {
	reply := document{}
	switch path := req.URL.Path; {
	case strings.HasSuffix(path, "/clusters"):
		reply = document{"clusters": []any{r.cluster}, "total_count": 1}
	case strings.HasSuffix(path, "/pools"):
		list := []any{}
		for _, p := range r.pools {
			list = append(list, p)
		}
		reply = document{"pools": list, "total_count": len(list)}
	case strings.HasSuffix(path, "/nodes"):
		list := []any{}
		for id := range r.pools {
			list = append(list, r.nodes[id]...)
		}
		reply = document{"nodes": list, "total_count": len(list)}
	case strings.HasSuffix(path, "/products/servers"):
		reply = document{"servers": document{"PRO2-XXS": document{"ncpus": 2, "ram": 8 << 30, "arch": "x86_64"}}}
	}
	text, err := json.Marshal(reply)
	return &http.Response{StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"application/json"}}, Request: req,
		Body: io.NopCloser(strings.NewReader(string(text)))}, err
}

// observe observes a pool with the specification by which it was created.
func (r *recorded) observe(t *testing.T, poolID string, spec *scalewayv1.ScalewayManagedMachinePoolSpec) pool.Observed {
	t.Helper()
	driver, err := kapsule.New(kapsule.Options{Base: r})
	if err != nil {
		t.Fatal(err)
	}
	name := fmt.Sprint(r.pools[poolID]["name"])
	o, err := driver.Observe(t.Context(), kapsule.Target{
		Owner:       cloud.Owner{ID: "owner-id", Cluster: "c", Namespace: "default", Name: name},
		AssumeOwned: true, KubernetesVersion: "v" + fmt.Sprint(r.pools[poolID]["version"]),
		Spec: &scalewayv1.ManagedMachinePoolSource{Name: name, Pool: spec, Cluster: scalewayv1.ClusterView{
			Name: fmt.Sprint(r.cluster["name"]), Region: fmt.Sprint(r.cluster["region"]), ProjectID: fmt.Sprint(r.cluster["project_id"]),
			Identity: &scalewayv1.IdentityView{Name: "Secret/default/scaleway", AccessKey: accessKey, SecretKey: common.NewSecret(secretKey)},
		}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// specOf returns the specification by which a recorded request creates a pool.
func specOf(t *testing.T, request json.RawMessage) *scalewayv1.ScalewayManagedMachinePoolSpec {
	t.Helper()
	var is struct {
		NodeType         string `json:"node_type"`
		Zone             scalewayv1.Zone
		Autoscaling      bool
		MinSize          int32 `json:"min_size"`
		MaxSize          int32 `json:"max_size"`
		Autohealing      bool
		Tags             []string
		KubeletArgs      map[string]string `json:"kubelet_args"`
		PublicIPDisabled bool              `json:"public_ip_disabled"`
		Labels           map[string]scalewayv1.NodeLabelValue
		Taints           []scalewayv1.Taint
		StartupTaints    []scalewayv1.Taint `json:"startup_taints"`
		UpgradePolicy    *struct {
			MaxSurge       *int32 `json:"max_surge"`
			MaxUnavailable *int32 `json:"max_unavailable"`
		} `json:"upgrade_policy"`
	}
	if err := json.Unmarshal(request, &is); err != nil {
		t.Fatal(err)
	}
	spec := &scalewayv1.ScalewayManagedMachinePoolSpec{
		NodeType: is.NodeType, Zone: is.Zone, Autohealing: &is.Autohealing, AdditionalTags: is.Tags, KubeletArgs: is.KubeletArgs,
		PublicIPDisabled: &is.PublicIPDisabled, Labels: is.Labels, Taints: is.Taints, StartupTaints: is.StartupTaints,
	}
	if is.Autoscaling {
		spec.Scaling = &scalewayv1.Scaling{Autoscaling: &is.Autoscaling, MinSize: &is.MinSize, MaxSize: &is.MaxSize}
	}
	if p := is.UpgradePolicy; p != nil {
		spec.UpgradePolicy = &scalewayv1.UpgradePolicy{MaxSurge: p.MaxSurge, MaxUnavailable: p.MaxUnavailable}
	}
	return spec
}

// timeline plays a recording, and returns what is observed with each list of nodes, without repetitions of a pool. observed is called with
// each observation and the requests that changed pools before it.
func timeline(t *testing.T, file string, observed func(o pool.Observed, changed bool)) (out []string) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Skipf("no recordings: %v", err)
	}
	var list []exchange
	if err := json.Unmarshal(text, &list); err != nil {
		t.Fatal(err)
	}
	r := &recorded{pools: map[string]document{}, nodes: map[string][]any{}}
	specs, changed, last := map[string]*scalewayv1.ScalewayManagedMachinePoolSpec{}, map[string]bool{}, map[string]string{}
	for _, e := range list {
		id, nodes := r.take(t, e)
		var is struct{ ID string }
		_ = json.Unmarshal(e.Response, &is)
		switch {
		case e.Method == http.MethodPost && strings.HasSuffix(e.URL, "/pools"):
			specs[is.ID] = specOf(t, e.Request)
		case e.Method == http.MethodPatch || e.Method == http.MethodPut:
			changed[is.ID] = true
		case nodes && r.pools[id] != nil:
			o := r.observe(t, id, specs[id])
			observed(o, changed[id])
			if line := lineOf(o); last[id] != line {
				last[id], out = line, append(out, line)
			}
		}
	}
	return out
}

// lineOf describes an observation: the state and the size of the pool, its nodes, and the rollout.
func lineOf(o pool.Observed) string {
	line := fmt.Sprintf("%s %d:", o.Group.State, o.Group.Size)
	for _, i := range o.Instances {
		line += " " + string(i.State)
		switch {
		case i.Template.Content == "":
			line += "?"
		case !i.Template.Same(o.Wanted):
			line += "!"
		}
	}
	if o.ProviderRollout != nil {
		line += fmt.Sprintf(", rollout to %s at %d %%", o.ProviderRollout.Template.Ref, o.ProviderRollout.Percent)
	}
	return line
}

// TestRecorded: nothing in the recordings is unknown to the driver. What Kapsule normalises is no drift, nothing seems unchangeable, and
// each node that runs has a provider ID.
func TestRecorded(t *testing.T) {
	files, err := filepath.Glob(recordings + "*.json")
	if err != nil || len(files) == 0 {
		t.Skip("no recordings")
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			t.Parallel()
			timeline(t, file, func(o pool.Observed, changed bool) {
				others := slices.DeleteFunc(o.Group.Drift, func(f string) bool {
					// The pool is another tool's: it has no tags of an owner, and Kapsule's default of the upgrade policy.
					return f == "spec.additionalTags" || f == "spec.upgradePolicy"
				})
				if !changed && len(others) > 0 || len(o.Group.Unchangeable) > 0 || len(o.Issues) > 0 {
					t.Errorf("want nothing that differs, got drift %v, unchangeable %v, issues %v", others, o.Group.Unchangeable, o.Issues)
				}
				for _, i := range o.Instances {
					if (i.State != pool.Pending) != strings.HasPrefix(i.ProviderID, "scaleway://instance/"+i.Zone+"/") || i.Created.IsZero() {
						t.Errorf("want a provider ID in the zone as soon as a node runs, and when it was created, got %+v", i)
					}
				}
			})
		})
	}
}

// TestRecordedTimelines holds what the driver observes while a pool changes: of an upgrade whose nodes have no version of their own, and of
// nodes that are being deleted while the pool is ready.
func TestRecordedTimelines(t *testing.T) {
	t.Parallel()
	for name, want := range map[string][]string{
		"pool-wait": {
			"ready 1: Running", "ready 1: Running", "ready 2: Running Running", "ready 1: Running Terminating",
		},
		"pool-version-explicit": {
			"ready 1: Running", "upgrading 1: Running?, rollout to kapsule:1.35.3 at 0 %",
			"upgrading 1: Terminating?, rollout to kapsule:1.35.3 at 0 %",
		},
		"cluster-upgrade-pools-with-cluster": {"ready 1: Running", "ready 1: Terminating Running"},
		"pool-taints-and-labels":             {"scaling 1:", "scaling 1: Pending"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := timeline(t, recordings+name+".json", func(pool.Observed, bool) {})
			if !slices.Equal(got, want) {
				t.Errorf("want\n%s\ngot\n%s", strings.Join(want, "\n"), strings.Join(got, "\n"))
			}
		})
	}
}
