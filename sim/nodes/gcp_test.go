package nodes_test

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apiruntime "k8s.io/apimachinery/pkg/runtime"

	"github.com/muster-project/muster/sim"
	"github.com/muster-project/muster/sim/nodes"
	"github.com/muster-project/muster/test/memapi/served"
)

// TestMachineOfAnInstanceGroupJoins: the name of the published manifest, and what the cloud provider of Google Cloud writes on a node.
func TestMachineOfAnInstanceGroupJoins(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ reason, name, kind, wantArch string }{
		{"the manifest's name", `{{ ds.meta_data.local_hostname.split(".")[0] }}`, "n2-standard-2", "amd64"},
		{"the host's own name", "", "n2-standard-2", "amd64"},
		{"an Arm processor", "", "t2a-standard-2", "arm64"},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			t.Parallel()
			s, f := server(t, served.Options{}), fleet(t, nodes.Options{})
			j := joinConfig(s)
			j.NodeRegistration.Name = tc.name
			m := sim.Machine{
				Cloud: "gcp", Region: "us-central1", Zone: "us-central1-b", ID: "6208517654275000028",
				Hostname:   "mp-0-x1y2.us-central1-b.c.simulated-project.internal",
				ProviderID: "gce://simulated-project/us-central1-b/mp-0-x1y2", Address: "10.128.0.4", Type: tc.kind, CPUs: 2, MemoryMiB: 8192,
				KubeletVersion: "v1.33.1", UserData: userData(t, j, "1.33.1", nil), Launched: time.Now(),
			}
			f.PowerOn(m)
			var node *corev1.Node
			if !s.Await(deadline(t), "nodes", "", "mp-0-x1y2", func(o apiruntime.Object) bool {
				node, _ = o.(*corev1.Node)
				return ready(o)
			}) {
				t.Fatalf("want a Ready node, found none; console:\n%s", f.Console(m.ID))
			}
			for _, c := range []struct{ what, want, got string }{
				{"provider ID", m.ProviderID, node.Spec.ProviderID},
				{"zone", "us-central1-b", node.Labels[corev1.LabelTopologyZone]},
				{"region", "us-central1", node.Labels[corev1.LabelTopologyRegion]},
				{"type", tc.kind, node.Labels[corev1.LabelInstanceTypeStable]},
				{"architecture", tc.wantArch, node.Labels[corev1.LabelArchStable]},
			} {
				if c.got != c.want {
					t.Errorf("%s: want %q, got %q", c.what, c.want, c.got)
				}
			}
		})
	}
}
