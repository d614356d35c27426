package standintest_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/muster-project/muster/local/clouds/aws/standin"
	"github.com/muster-project/muster/local/seed"
	simaws "github.com/muster-project/muster/sim/aws"
)

var account = seed.Accounts{Known: []seed.Cloud{standin.Seed()}, Simulated: []string{"aws"}}

func TestBuiltinIsThePublishedManifestInItsCluster(t *testing.T) {
	objects, err := seed.Builtin(account, []string{"capa-mp-0", "eks-mmp-0"})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, o := range objects {
		got = append(got, o.GetAPIVersion()+" "+o.GetKind()+" "+o.Namespaced()+"/"+o.GetName())
	}
	want := []string{
		"cluster.x-k8s.io/v1beta2 Cluster default/capa",
		"infrastructure.cluster.x-k8s.io/v1beta2 AWSCluster default/capa",
		"controlplane.cluster.x-k8s.io/v1beta1 LocalControlPlane default/capa",
		"cluster.x-k8s.io/v1beta2 Cluster default/eks",
		"infrastructure.cluster.x-k8s.io/v1beta2 AWSManagedCluster default/eks",
		"controlplane.cluster.x-k8s.io/v1beta2 AWSManagedControlPlane default/eks-control-plane",
		"cluster.x-k8s.io/v1beta1 MachinePool default/capa-mp-0",
		"infrastructure.cluster.x-k8s.io/v1beta1 AWSMachinePool default/capa-mp-0",
		"bootstrap.cluster.x-k8s.io/v1beta1 KubeadmConfig default/capa-mp-0",
		"cluster.x-k8s.io/v1beta2 MachinePool default/eks-mmp-0",
		"infrastructure.cluster.x-k8s.io/v1beta2 AWSManagedMachinePool default/eks-mmp-0",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Fatalf("objects (-want +got):\n%s", diff)
	}
	spec := objects[7].Object["spec"]
	wantSpec := map[string]any{
		"minSize": int64(1), "maxSize": int64(10), "availabilityZones": []any{"eu-west-1a"},
		"awsLaunchTemplate": map[string]any{"instanceType": "t3.large", "sshKeyName": "default"},
		"subnets":           []any{map[string]any{"id": simaws.SubnetID}},
	}
	if diff := cmp.Diff(any(wantSpec), spec); diff != "" {
		t.Fatalf("the pool has what the account holds (-want +got):\n%s", diff)
	}
}

func TestBuiltinPoolsCanBeLeftOut(t *testing.T) {
	objects, err := seed.Builtin(account, []string{"capa-mp-0"})
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range objects {
		if strings.Contains(o.GetName(), "eks") {
			t.Errorf("want nothing of the pool that was left out, got %s", o.Where())
		}
	}
}
