package infrapool_test

import (
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/yaml"

	gcpv1 "github.com/muster-project/muster/api/gcp/v1beta1"
	"github.com/muster-project/muster/engine"
	"github.com/muster-project/muster/engine/report"
	"github.com/muster-project/muster/kube/infrapool"
	"github.com/muster-project/muster/pool"
	"github.com/muster-project/muster/providers/gcp/gcpmanaged"
)

func decode(t *testing.T, text string, into any) {
	t.Helper()
	if err := yaml.Unmarshal([]byte(text), into); err != nil {
		t.Fatal(err)
	}
}

func gcpManagedUntyped(t *testing.T, text string) *unstructured.Unstructured {
	t.Helper()
	u := &unstructured.Unstructured{}
	decode(t, text, &u.Object)
	return u
}

const (
	infraText = `{kind: GCPManagedCluster, metadata: {name: c}, spec: {project: p, region: us-central1, network: {name: net}, additionalLabels: {team: a},
		serviceEndpoints: {container: 'https://container.googleapis.com'}}}`
	planeText = `{kind: GCPManagedControlPlane, metadata: {name: cp}, spec: {project: p, location: us-central1, clusterName: gke}, status: {ready: true, version: v1.34.2}}`
)

// sized holds the size fields of a translation.
type sized struct {
	Min, Max           int
	MinField, MaxField string
	Autoscaler         string
}

// TestGCPManagedSizes holds who sizes a pool by its specification, and the bounds of GKE's autoscaler.
func TestGCPManagedSizes(t *testing.T) {
	t.Parallel()
	const minCount, maxCount = "spec.scaling.minCount", "spec.scaling.maxCount"
	for _, c := range []struct {
		why, spec string
		want      sized
	}{
		{"spec.replicas is the size", "{}", sized{Max: math.MaxInt32}},
		{"spec.replicas is the size with the autoscaler off", "{scaling: {enableAutoscaling: false}}", sized{Max: math.MaxInt32}},
		{"the autoscaler is on unless it is off", "{scaling: {}}", sized{Max: math.MaxInt32, Autoscaler: "gke"}},
		{"the cluster's zones are not known here", "{scaling: {enableAutoscaling: true, minCount: 1, maxCount: 2}}",
			sized{Max: math.MaxInt32, Autoscaler: "gke"}},
		{"bounds of each zone", "{nodeLocations: [a, b, c], scaling: {minCount: 1, maxCount: 2}}", sized{3, 6, minCount, maxCount, "gke"}},
		{"no largest size", "{nodeLocations: [a, b], scaling: {minCount: 1}}", sized{2, math.MaxInt32, minCount, maxCount, "gke"}},
		{"bounds of all zones", "{nodeLocations: [a, b], scaling: {totalMinCount: 1, totalMaxCount: 9}}",
			sized{1, 9, "spec.scaling.totalMinCount", "spec.scaling.totalMaxCount", "gke"}},
		{"a largest size alone", "{scaling: {totalMaxCount: 9}}", sized{0, 9, "spec.scaling.totalMinCount", "spec.scaling.totalMaxCount", "gke"}},
	} {
		o := &gcpv1.GCPManagedMachinePool{}
		decode(t, c.spec, &o.Spec)
		got, err := gcpmanaged.Adapter{}.Translate(o, infrapool.Inputs{InfraCluster: gcpManagedUntyped(t, infraText),
			ControlPlane: gcpManagedUntyped(t, planeText)})
		if err != nil {
			t.Errorf("%s: %v", c.why, err)
		}
		if diff := cmp.Diff(c.want, sized{got.Min, got.Max, got.MinField, got.MaxField, got.Autoscaler}); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.why, diff)
		}
	}
}

// TestPlaces holds where the driver looks for a node pool: neither a control plane nor a cluster object that is missing or not ready keeps
// it from that.
func TestPlaces(t *testing.T) {
	t.Parallel()
	kept := map[string]string{"project": "p", "location": "us-central1", "gke-cluster": "gke",
		"container-endpoint": "https://container.googleapis.com"}
	public := map[string]string{"project": "p", "location": "us-central1", "gke-cluster": "gke"}
	plane := func(change ...string) *unstructured.Unstructured {
		return gcpManagedUntyped(t, strings.NewReplacer(change...).Replace(planeText))
	}
	for _, c := range []struct {
		why  string
		in   infrapool.Inputs
		keep map[string]string
		// labels are those of the cluster's, held is why nothing is created, waits what is waited for, and err the error.
		labels, held, waits, err string
	}{
		{why: "both objects", in: infrapool.Inputs{InfraCluster: gcpManagedUntyped(t, infraText), ControlPlane: plane()}, keep: kept,
			labels: "a"},
		{why: "a control plane that is not ready", in: infrapool.Inputs{InfraCluster: gcpManagedUntyped(t, infraText),
			ControlPlane: plane("ready: true", "ready: false")}, keep: kept, labels: "a",
			held: "GCPManagedControlPlane cp is not ready yet"},
		{why: "Autopilot", in: infrapool.Inputs{InfraCluster: gcpManagedUntyped(t, infraText),
			ControlPlane: plane("clusterName", "enableAutopilot: true, clusterName")}, keep: kept, labels: "a",
			held: "GCPManagedControlPlane cp has spec.enableAutopilot: GKE keeps the nodes of Autopilot clusters itself; delete the MachinePool"},
		{why: "a control plane without a name", in: infrapool.Inputs{InfraCluster: gcpManagedUntyped(t, infraText),
			ControlPlane: plane("clusterName: gke", "")},
			waits: "GCPManagedControlPlane cp has no spec.project, spec.location or spec.clusterName yet"},
		{why: "a control plane whose name is remembered", in: infrapool.Inputs{InfraCluster: gcpManagedUntyped(t, infraText),
			ControlPlane: plane("clusterName: gke", ""), Resolved: kept}, keep: kept, labels: "a"},
		{why: "the control plane is gone", in: infrapool.Inputs{InfraCluster: gcpManagedUntyped(t, infraText), Resolved: public}, keep: kept,
			labels: "a"},
		{why: "the cluster object is gone", in: infrapool.Inputs{ControlPlane: plane(), Resolved: kept}, keep: kept},
		{why: "both are gone", in: infrapool.Inputs{Resolved: kept, ClusterDeleting: true}, keep: kept},
		{why: "nothing is known", in: infrapool.Inputs{InfraCluster: gcpManagedUntyped(t, infraText),
			Resolved: map[string]string{"project": "p"}},
			err: `does not say where the node pool is: set it to {"project": "<project ID>", "location": "<region or zone>", "gke-cluster": "<name of the GKE cluster>"}`},
		{why: "a control plane of another shape",
			in: infrapool.Inputs{ControlPlane: gcpManagedUntyped(t, "{kind: GCPManagedControlPlane, spec: {project: 1}}")}, err: "another type"},
		{why: "a cluster object of another shape",
			in:  infrapool.Inputs{InfraCluster: gcpManagedUntyped(t, "{kind: GCPManagedCluster, spec: {project: 1}}"), ControlPlane: plane()},
			err: "another type"},
	} {
		c.in.Cluster = "owner"
		got, err := gcpmanaged.Adapter{}.Translate(&gcpv1.GCPManagedMachinePool{}, c.in)
		var waits *infrapool.NotYet
		if c.err != "" || c.waits != "" {
			if err == nil || !strings.Contains(err.Error(), c.err+c.waits) || errors.As(err, &waits) != (c.waits != "") {
				t.Errorf("%s: want %q, got %v", c.why, c.err+c.waits, err)
			}
			continue
		}
		v, held := got.Spec.Cluster, ""
		if got.CreateBlocked != nil {
			held = got.CreateBlocked.Message
		}
		if err != nil || v.Name != "gke" || v.Location != "us-central1" || v.View.Project != "p" || v.View.Region != "us-central1" ||
			v.View.ClusterName != "owner" ||
			v.View.AdditionalLabels["team"] != c.labels || held != c.held || v.Deleting != c.in.ClusterDeleting {
			t.Errorf("%s: got %+v, held by %q, %v", c.why, v, held, err)
		}
		if diff := cmp.Diff(c.keep, got.Keep); diff != "" {
			t.Errorf("%s: remembered (-want +got):\n%s", c.why, diff)
		}
	}
}

// TestGCPManagedSource holds what reaches the driver: the name in GKE, when the object was created, and no field that the controller
// writes.
func TestGCPManagedSource(t *testing.T) {
	t.Parallel()
	created := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	o := &gcpv1.GCPManagedMachinePool{ObjectMeta: metav1.ObjectMeta{Name: "pool-0", CreationTimestamp: metav1.NewTime(created)}}
	in := infrapool.Inputs{InfraCluster: gcpManagedUntyped(t, infraText), ControlPlane: gcpManagedUntyped(t, planeText)}
	for _, c := range []struct {
		spec, name         string
		surge, unavailable int
	}{
		{"{providerID: x, providerIDList: [z]}", "pool-0", 1, 0},
		{"{providerID: x, nodePoolName: np, upgradeSettings: {maxSurge: 3}}", "np", 3, 0},
		{"{providerID: x, upgradeSettings: {maxSurge: 0, maxUnavailable: 2}}", "pool-0", 0, 2},
		{"{providerID: x, upgradeSettings: {maxSurge: 0}}", "pool-0", 1, 0},
		{"{providerID: x, upgradeSettings: {strategy: BlueGreen}}", "pool-0", 1, 0},
	} {
		o.Spec = gcpv1.GCPManagedMachinePoolSpec{}
		decode(t, c.spec, &o.Spec)
		got, err := gcpmanaged.Adapter{}.Translate(o, in)
		if err != nil || got.Spec.Name != c.name || !got.Spec.Created.Equal(created) || got.Spec.Pool.ProviderID != "" ||
			got.Spec.Pool.ProviderIDList != nil || o.Spec.ProviderID != "x" {
			t.Errorf("%s: want the specification without the IDs, got %+v, %v", c.spec, got.Spec, err)
		}
		if got.Strategy.MaxSurge.Value != c.surge || got.Strategy.MaxUnavailable.Value != c.unavailable || got.DeletePolicy != pool.Oldest ||
			!got.NoPrerequisites {
			t.Errorf("%s: want as many replaced at once as GKE replaces, got %+v", c.spec, got.Strategy)
		}
	}
}

// TestReferences holds that a Cluster of another kind has no node pools.
func TestReferences(t *testing.T) {
	t.Parallel()
	ref := func(kind string) clusterv1.ContractVersionedObjectReference {
		return clusterv1.ContractVersionedObjectReference{Kind: kind, Name: "c"}
	}
	k := gcpmanaged.Adapter{}.Kind()
	for _, c := range []struct {
		infra, plane string
		want         bool
	}{{"GCPManagedCluster", "GCPManagedControlPlane", true}, {"GCPCluster", "KubeadmControlPlane", false}} {
		cluster := &clusterv1.Cluster{Spec: clusterv1.ClusterSpec{InfrastructureRef: ref(c.infra), ControlPlaneRef: ref(c.plane)}}
		infra, plane := gcpmanaged.Adapter{}.InfraCluster(cluster), k.ControlPlane(cluster)
		if infra.IsDefined() != c.want || plane.IsDefined() != c.want {
			t.Errorf("%s and %s: got %+v, %+v", c.infra, c.plane, infra, plane)
		}
	}
	if k.Finalizer != "gcpmanagedmachinepool.infrastructure.cluster.x-k8s.io" || k.Aliases[report.GroupReady] != "GKEMachinePoolReady" {
		t.Errorf("want the ecosystem's names, got %q and %v", k.Finalizer, k.Aliases)
	}
}

// TestConditions holds what the ecosystem knows of what GKE does.
func TestConditions(t *testing.T) {
	t.Parallel()
	for state, want := range map[report.State]string{
		report.StateCreating: "GKEMachinePoolCreating GKEMachinePoolUpdated GKEMachinePoolDeleted",
		report.StateUpdating: "GKEMachinePoolCreated GKEMachinePoolUpdating GKEMachinePoolDeleted",
		report.StateScaling:  "GKEMachinePoolCreated GKEMachinePoolUpdating GKEMachinePoolDeleted",
		report.StateDeleting: "GKEMachinePoolCreated GKEMachinePoolUpdated GKEMachinePoolDeleting",
		report.StateRunning:  "GKEMachinePoolCreated GKEMachinePoolUpdated GKEMachinePoolDeleted",
	} {
		var reasons []string
		for _, c := range (gcpmanaged.Adapter{}).Kind().Conditions(nil, report.Report{State: state}, engine.Outcome{}) {
			if (c.Status == report.True) != (c.Reason == c.Type) {
				t.Errorf("%s: want the condition's own reason if it is true alone, got %+v", state, c)
			}
			reasons = append(reasons, c.Reason)
		}
		if got := strings.Join(reasons, " "); got != want {
			t.Errorf("%s: want %s, got %s", state, want, got)
		}
	}
}
