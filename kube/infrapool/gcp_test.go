package infrapool_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/intstr"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/yaml"

	"github.com/muster-project/muster/api/common"
	gcpv1 "github.com/muster-project/muster/api/gcp/v1beta1"
	"github.com/muster-project/muster/engine/report"
	"github.com/muster-project/muster/kube/infrapool"
	"github.com/muster-project/muster/pool"
	"github.com/muster-project/muster/providers/gcp/gcpmachinepool"
)

func gcpCluster(t *testing.T, spec string) *unstructured.Unstructured {
	t.Helper()
	u := &unstructured.Unstructured{}
	if err := yaml.Unmarshal([]byte("{kind: GCPCluster, metadata: {name: c, namespace: default}, spec: "+spec+"}"), &u.Object); err != nil {
		t.Fatal(err)
	}
	return u
}

// TestGCPTranslate holds where the driver looks for a group, and what is remembered of that.
func TestGCPTranslate(t *testing.T) {
	t.Parallel()
	kept := map[string]string{"project": "p", "region": "us-central1"}
	moved := map[string]string{"project": "p", "region": "us-central1", "compute-endpoint": "https://c", "container-endpoint": "https://k"}
	for _, c := range []struct {
		why       string
		in        infrapool.Inputs
		keep      map[string]string
		name, err string
	}{
		{why: "the cluster says where its pools are", in: infrapool.Inputs{InfraCluster: gcpCluster(t, "{project: p, region: us-central1}")},
			keep: kept, name: "c"},
		{why: "the MachinePool names the Cluster", in: infrapool.Inputs{Cluster: "owner",
			InfraCluster: gcpCluster(t, "{project: p, region: us-central1}")}, keep: kept, name: "owner"},
		{why: "other addresses are remembered",
			in: infrapool.Inputs{InfraCluster: gcpCluster(t,
				"{project: p, region: us-central1, serviceEndpoints: {compute: 'https://c', container: 'https://k'}}")},
			keep: moved, name: "c"},
		{why: "a pool is found for its deletion when its cluster is gone",
			in: infrapool.Inputs{Cluster: "c", Resolved: moved, ClusterDeleting: true}, keep: moved, name: "c"},
		{why: "looking in the wrong place would leave the group behind", in: infrapool.Inputs{Resolved: map[string]string{"project": "p"}},
			err: `metadata.annotations[muster.dev/resolved] does not say where the instance group is: set it to {"project": "<project ID>", "region": "<region>"}`},
		{why: "a cluster of another shape", in: infrapool.Inputs{InfraCluster: gcpCluster(t, "{project: 1}")}, err: "another type"},
	} {
		got, err := gcpmachinepool.Adapter{}.Translate(&gcpv1.GCPMachinePool{}, c.in)
		if c.err != "" {
			if err == nil || !strings.Contains(err.Error(), c.err) {
				t.Errorf("%s: want %q, got %v", c.why, c.err, err)
			}
			continue
		}
		if err != nil || got.Spec.Cluster.ClusterName != c.name || got.Spec.Cluster.Project != "p" || got.Spec.Cluster.Region != "us-central1" {
			t.Errorf("%s: got %+v, %v", c.why, got.Spec.Cluster, err)
		}
		if diff := cmp.Diff(c.keep, got.Keep); diff != "" {
			t.Errorf("%s: remembered (-want +got):\n%s", c.why, diff)
		}
	}
}

// TestSource holds what reaches the driver and the engine: no field that the controller writes, and the strategy of the specification.
func TestSource(t *testing.T) {
	t.Parallel()
	surge := intstr.FromString("50%")
	o := &gcpv1.GCPMachinePool{Spec: gcpv1.GCPMachinePoolSpec{InstanceType: "e2-medium", ProviderID: "x", ProviderIDList: []string{"y"},
		Strategy: common.Strategy{RollingUpdate: &common.RollingUpdate{MaxSurge: &surge, DeletePolicy: common.DeletePolicyNewest}}}}
	got, err := gcpmachinepool.Adapter{}.Translate(o, infrapool.Inputs{InfraCluster: gcpCluster(t, "{project: p, region: r}")})
	if err != nil || got.Spec.Pool.ProviderID != "" || got.Spec.Pool.ProviderIDList != nil || got.Spec.Pool.InstanceType != "e2-medium" ||
		o.Spec.ProviderID != "x" {
		t.Errorf("want the specification without the IDs, got %+v, %v", got.Spec.Pool, err)
	}
	if got.Strategy.MaxSurge != (pool.IntOrPercent{Value: 50, Percent: true}) || got.DeletePolicy != pool.Newest ||
		got.Strategy.SurgeField != "spec.strategy.rollingUpdate.maxSurge" {
		t.Errorf("want the strategy of the specification, got %+v, %s", got.Strategy, got.DeletePolicy)
	}
	if !got.NoPrerequisites || got.Autoscaler != "" || got.CreateBlocked != nil {
		t.Errorf("want nothing beside the template, and a size of Muster's, got %+v", got)
	}
}

// TestKind holds the names that the ecosystem knows.
func TestKind(t *testing.T) {
	t.Parallel()
	k := gcpmachinepool.Adapter{}.Kind()
	if k.Finalizer != "gcpmachinepool.infrastructure.cluster.x-k8s.io" || k.Aliases[report.GroupReady] != "ManagedInstanceGroupReady" ||
		k.Aliases[report.TemplateReady] != "InstanceTemplateReady" {
		t.Errorf("want the ecosystem's names, got %q and %v", k.Finalizer, k.Aliases)
	}
	ref := clusterv1.ContractVersionedObjectReference{Kind: "GCPCluster", Name: "c"}
	if got := (gcpmachinepool.Adapter{}).InfraCluster(&clusterv1.Cluster{Spec: clusterv1.ClusterSpec{InfrastructureRef: ref}}); got != ref {
		t.Errorf("want the infrastructure cluster, got %+v", got)
	}
}
