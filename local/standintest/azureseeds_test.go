package standintest_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/muster-project/muster/local/clouds/azure/standin"
	"github.com/muster-project/muster/local/seed"
	simazure "github.com/muster-project/muster/sim/azure"
)

// TestBuiltinPoolsOfAzure holds that the published pool keeps its published form in its cluster, and that a second pool has the other mode.
func TestBuiltinPoolsOfAzure(t *testing.T) {
	objects, err := seed.Builtin(seed.Accounts{Known: []seed.Cloud{standin.Seed()}, Simulated: []string{"azure"}},
		[]string{"capz-mp-0", "capz-flex-0"})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	versions := map[string]string{}
	for _, o := range objects {
		got = append(got, o.GetAPIVersion()+" "+o.GetKind()+" "+o.Namespaced()+"/"+o.GetName())
		versions[o.GetKind()+"/"+o.GetName()], _, _ = unstructured.NestedString(o.Object, "spec", "version")
	}
	want := []string{
		"cluster.x-k8s.io/v1beta2 Cluster default/capz",
		"infrastructure.cluster.x-k8s.io/v1beta1 AzureCluster default/capz",
		"infrastructure.cluster.x-k8s.io/v1beta1 AzureClusterIdentity default/capz-identity",
		"v1 Secret default/capz-identity-secret",
		"controlplane.cluster.x-k8s.io/v1beta1 LocalControlPlane default/capz",
		"cluster.x-k8s.io/v1beta2 Cluster default/capz-flex",
		"infrastructure.cluster.x-k8s.io/v1beta1 AzureCluster default/capz-flex",
		"infrastructure.cluster.x-k8s.io/v1beta1 AzureClusterIdentity default/capz-flex-identity",
		"v1 Secret default/capz-flex-identity-secret",
		"controlplane.cluster.x-k8s.io/v1beta1 LocalControlPlane default/capz-flex",
		"cluster.x-k8s.io/v1beta1 MachinePool default/capz-mp-0",
		"infrastructure.cluster.x-k8s.io/v1beta1 AzureMachinePool default/capz-mp-0",
		"bootstrap.cluster.x-k8s.io/v1beta1 KubeadmConfig default/capz-mp-0",
		"cluster.x-k8s.io/v1beta2 MachinePool default/capz-flex-0",
		"infrastructure.cluster.x-k8s.io/v1beta1 AzureMachinePool default/capz-flex-0",
		"bootstrap.cluster.x-k8s.io/v1beta2 KubeadmConfig default/capz-flex-0",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Fatalf("objects (-want +got):\n%s", diff)
	}
	if got := versions["LocalControlPlane/capz"] + " " + versions["LocalControlPlane/capz-flex"]; got != "v1.22.0 v1.36.3" {
		t.Errorf("control planes: want them as old as their pools, v1.22.0 v1.36.3, got %s", got)
	}
	template, _, _ := unstructured.NestedMap(objects[11].Object, "spec", "template")
	if diff := cmp.Diff(map[string]any{
		"osDisk": map[string]any{"diskSizeGB": int64(30), "managedDisk": map[string]any{"storageAccountType": "Premium_LRS"},
			"osType": "Linux"},
		"sshPublicKey": standin.Seed().Variables["AZURE_SSH_PUBLIC_KEY_B64"], "vmSize": simazure.VMSize,
	}, template); diff != "" {
		t.Errorf("the published template (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(map[string]any{"clientSecret": simazure.ClientSecret}, objects[3].Object["stringData"]); diff != "" {
		t.Errorf("the identity's secret (-want +got):\n%s", diff)
	}
}
