package nodes_test

import (
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apiruntime "k8s.io/apimachinery/pkg/runtime"
	bootstrapv1 "sigs.k8s.io/cluster-api/api/bootstrap/kubeadm/v1beta2"
	upstream "sigs.k8s.io/cluster-api/bootstrap/kubeadm/pkg/cloudinit"

	"github.com/muster-project/muster/sim"
	"github.com/muster-project/muster/sim/nodes"
	"github.com/muster-project/muster/test/memapi/served"
)

// azureMachine is an instance of a scale set in both orchestration modes' shapes.
func azureMachine(computer, resource, size, zone, faultDomain string, data []byte) sim.Machine {
	return sim.Machine{
		Cloud: "azure", Region: "westus2", Zone: zone, FaultDomain: faultDomain, ID: "i-1", Hostname: computer, Address: "10.1.0.4",
		ProviderID: "azure:///subscriptions/s/resourceGroups/capz/providers/Microsoft.Compute/" + resource,
		Type:       size, CPUs: 2, MemoryMiB: 8192, KubeletVersion: "v1.22.0", UserData: data, Launched: time.Now(),
	}
}

// azureData returns the bootstrap data of the published manifest for Azure: its spelling of the name, and the cloud's settings in a file.
func azureData(t *testing.T, s *served.Server) []byte {
	t.Helper()
	j := joinConfig(s)
	j.NodeRegistration.Name = `{{ ds.meta_data["local_hostname"] }}`
	return userData(t, j, "1.22.0", func(in *upstream.NodeInput) {
		in.AdditionalFiles = []bootstrapv1.File{{Path: "/etc/kubernetes/azure.json", Owner: "root:root", Permissions: "0644",
			Content: "{\n  \"cloud\": \"AzurePublicCloud\",\n  \"aadClientSecret\": \"secret-of-azure\"\n}"}}
	})
}

func TestMachineOfAScaleSetJoins(t *testing.T) {
	t.Parallel()
	const uniform, flexible = "virtualMachineScaleSets/capz-mp-0/virtualMachines/0", "virtualMachines/capz-mp-0_1a2b3c4d"
	for _, tc := range []struct {
		reason, computer, resource, size, zone, domain string
		wantName, wantZone, wantArch                   string
	}{
		{reason: "in a zone", computer: "capz-mp-0000001", resource: uniform, size: "Standard_D2s_v3", zone: "2", domain: "0",
			wantName: "capz-mp-0000001", wantZone: "westus2-2", wantArch: "amd64"},
		{reason: "in no zone the fault domain counts", computer: "capz-mp-000000A", resource: uniform, size: "Standard_D2s_v3", domain: "1",
			wantName: "capz-mp-000000a", wantZone: "1", wantArch: "amd64"},
		{reason: "nothing is known of where it is", computer: "capz-mp-0ABCDEF", resource: flexible, size: "Standard_D2s_v3",
			wantName: "capz-mp-0abcdef", wantZone: "", wantArch: "amd64"},
		{reason: "an Arm processor", computer: "capz-mp-0000002", resource: flexible, size: "Standard_D2pds_v5", zone: "1",
			wantName: "capz-mp-0000002", wantZone: "westus2-1", wantArch: "arm64"},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			t.Parallel()
			s, f := server(t, served.Options{}), fleet(t, nodes.Options{})
			m := azureMachine(tc.computer, tc.resource, tc.size, tc.zone, tc.domain, azureData(t, s))
			f.PowerOn(m)
			var node *corev1.Node
			if !s.Await(deadline(t), "nodes", "", tc.wantName, func(o apiruntime.Object) bool {
				node, _ = o.(*corev1.Node)
				return ready(o)
			}) {
				t.Fatalf("want a Ready node %s, found none; console:\n%s", tc.wantName, f.Console(m.ID))
			}
			for _, c := range []struct{ what, want, got string }{
				{"provider ID", m.ProviderID, node.Spec.ProviderID},
				{"zone", tc.wantZone, node.Labels[corev1.LabelTopologyZone]},
				{"region", "westus2", node.Labels[corev1.LabelTopologyRegion]},
				{"type", tc.size, node.Labels[corev1.LabelInstanceTypeStable]},
				{"architecture", tc.wantArch, node.Labels[corev1.LabelArchStable]},
				{"version", "v1.22.0", node.Status.NodeInfo.KubeletVersion},
			} {
				if c.got != c.want {
					t.Errorf("%s: want %q, got %q", c.what, c.want, c.got)
				}
			}
			console := string(f.Console(m.ID))
			if !strings.Contains(console, "write_files: /etc/kubernetes/azure.json") {
				t.Errorf("want the cloud's settings written, got the console:\n%s", console)
			}
			if strings.Contains(console, "secret-of-azure") {
				t.Errorf("a secret is on the console:\n%s", console)
			}
		})
	}
}
