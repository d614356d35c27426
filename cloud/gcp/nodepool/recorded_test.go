package nodepool_test

import (
	"encoding/json"
	"io"
	"net/http"
	"os"
	"strings"
	"testing"

	gcpv1 "github.com/muster-project/muster/api/gcp/v1beta1"
	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/gcp/nodepool"
	"github.com/muster-project/muster/pool"
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

// recording returns the answers of a recording, in their order.
func recording(t *testing.T, name string) []string {
	t.Helper()
	raw, err := os.ReadFile(recordings + name + ".json")
	if err != nil {
		t.Skipf("no recordings: %v", err)
	}
	text := strings.NewReplacer("${projectId}", "simulated-project", "${projectNumber}", "123456789012", "${uniqueId}", "abcdefg").
		Replace(string(raw))
	var list []struct{ Response json.RawMessage }
	if err := json.Unmarshal([]byte(text), &list); err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, one := range list {
		out = append(out, string(one.Response))
	}
	return out
}

// TestRecordedNodePool holds what the driver observes of a node pool that GKE has upgraded, as it was recorded: of the cluster, the group,
// whose template is one of the region, and the operation. The machine and its template, which are not in the recording, are made up.
func TestRecordedNodePool(t *testing.T) {
	const path = "/clusters/cluster-sample-abcdefg"
	for name, at := range map[string]struct{ cluster, group, operation int }{
		"containernodepool-swap": {19, 21, 18}, "containernodepool-kubeletconfig": {19, 21, 18},
		"containernodepool-swap-ephemeral-ssd-gib": {19, 21, 18}, "containernodepool-containerdconfig": {19, 21, 18},
	} {
		t.Run(name, func(t *testing.T) {
			all := recording(t, name)
			var group struct{ Name, BaseInstanceName, InstanceTemplate string }
			if err := json.Unmarshal([]byte(all[at.group]), &group); err != nil {
				t.Fatal(err)
			}
			var cluster struct {
				NodePools []struct {
					Name, Version string
					Config        struct {
						MachineType, ImageType string
						NodeImageConfig        struct{ Image string }
					}
				}
			}
			if err := json.Unmarshal([]byte(all[at.cluster]), &cluster); err != nil {
				t.Fatal(err)
			}
			is := cluster.NodePools[1]
			_, template, _ := strings.Cut(group.InstanceTemplate, "/projects/simulated-project/")
			if !strings.HasPrefix(template, "regions/us-central1/instanceTemplates/") {
				t.Fatalf("want the template of a region, got %s", template)
			}
			machine := `{"name":"` + group.BaseInstanceName + `-x1y2","id":"7",`
			driver, err := newDriver(replies{
				path: all[at.cluster], "/instanceGroupManagers/" + group.Name: all[at.group], "/operations/operation-1": all[at.operation],
				group.Name + "/listManagedInstances": `{"managedInstances":[` + machine + `"instanceStatus":"RUNNING","currentAction":"NONE",` +
					`"version":{"instanceTemplate":"` + group.InstanceTemplate + `"}}]}`,
				"/us-central1-a/instances": `{"items":[` + machine + `"creationTimestamp":"2026-07-22T00:00:00Z"}]}`,
				template: `{"name":"t","properties":{"machineType":"` + is.Config.MachineType + `","disks":[{"boot":true,"initializeParams":` +
					`{"diskSizeGb":"100","diskType":"pd-balanced","sourceImage":"projects/gke-node-images/global/images/` +
					is.Config.NodeImageConfig.Image + `"}}]}}`,
				"/machineTypes/" + is.Config.MachineType: `{"name":"m","guestCpus":2,"memoryMb":4096}`,
			})
			if err != nil {
				t.Fatal(err)
			}
			target := nodepool.Target{
				Owner: cloud.Owner{ID: "owner", Cluster: "c", Namespace: "default", Name: "p"}, AssumeOwned: true, KubernetesVersion: "v" + is.Version,
				Spec:       zonal(),
				Operations: []pool.Operation{{Type: "UPGRADE_NODES", Resource: is.Name, Token: "operation-1"}},
			}
			target.Spec.Name, target.Spec.Cluster.Name, target.Spec.Cluster.Location = is.Name, "cluster-sample-abcdefg", "us-central1-a"
			target.Spec.Pool = &gcpv1.GCPManagedMachinePoolSpec{
				InstanceType: &is.Config.MachineType, ImageType: &is.Config.ImageType, NodeLocations: []string{"us-central1-a"},
				DiskSizeGb: new(int32(100)),
			}
			o, err := driver.Observe(t.Context(), target)
			if err != nil {
				t.Fatal(err)
			}
			if g := o.Group; g == nil || g.State != "RUNNING" || g.Size != 1 || g.Busy != nil || g.Failed != nil || len(g.Unchangeable) > 0 ||
				len(o.Issues) > 0 || o.ProviderRollout != nil || len(o.Operations) > 0 {
				t.Errorf("want a node pool at rest, got %+v, issues %v, %+v, %v", o.Group, o.Issues, o.ProviderRollout, o.Operations)
			}
			if len(o.Instances) != 1 || o.Instances[0].State != pool.Running || !o.Instances[0].Template.Same(o.Wanted) {
				t.Errorf("want a machine as wanted, got %+v of %+v", o.Instances, o.Wanted)
			}
		})
	}
}
