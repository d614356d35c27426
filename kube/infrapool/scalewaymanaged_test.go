package infrapool_test

import (
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	scalewayv1 "github.com/muster-project/muster/api/scaleway/v1alpha2"
	"github.com/muster-project/muster/engine/report"
	"github.com/muster-project/muster/kube/infrapool"
	"github.com/muster-project/muster/pool"
	"github.com/muster-project/muster/providers/scaleway/scalewaymanaged"
)

const (
	scalewayInfraText = `{kind: ScalewayManagedCluster, metadata: {name: i}, spec: {region: fr-par, projectID: p, scalewaySecretName: keys}}`
	scalewayPlaneText = `{kind: ScalewayManagedControlPlane, metadata: {name: cp}, spec: {clusterName: ns-cp, type: kapsule, version: v1.34.2}, status: {initialized: true}}`
)

// scalewayInputs are the objects of a cluster that takes pools.
func scalewayInputs(t *testing.T) infrapool.Inputs {
	t.Helper()
	return infrapool.Inputs{Cluster: "owner", InfraCluster: gcpManagedUntyped(t, scalewayInfraText),
		ControlPlane: gcpManagedUntyped(t, scalewayPlaneText)}
}

// TestScalewaySizes holds who sizes a pool by its specification, within which bounds, and how many nodes go at a time.
func TestScalewaySizes(t *testing.T) {
	t.Parallel()
	const minSize, maxSize, by = "spec.scaling.minSize", "spec.scaling.maxSize", "scaleway"
	for _, c := range []struct {
		why, spec          string
		want               sized
		surge, unavailable int
		delay              time.Duration
	}{
		{why: "spec.replicas is the size", spec: "{}", want: sized{Max: math.MaxInt32}, surge: 1},
		{why: "bounds are the autoscaler's", spec: "{scaling: {minSize: 1, maxSize: 2}}", want: sized{Max: math.MaxInt32}, surge: 1},
		{why: "the autoscaler sizes the pool", spec: "{scaling: {autoscaling: true, minSize: 1, maxSize: 5}}",
			want: sized{1, 5, minSize, maxSize, by}, surge: 1},
		{why: "no largest size", spec: "{scaling: {autoscaling: true}}", want: sized{0, math.MaxInt32, minSize, "", by}, surge: 1},
		{why: "machines join by themselves", spec: "{nodeType: external, scaling: {minSize: 1}}",
			want: sized{Max: math.MaxInt32, Autoscaler: by}, surge: 1},
		{why: "the policy of the specification", spec: "{upgradePolicy: {maxUnavailable: 2}}", want: sized{Max: math.MaxInt32}, unavailable: 2},
		{why: "Scaleway heals first", spec: "{autohealing: true}", want: sized{Max: math.MaxInt32}, surge: 1, delay: 45 * time.Minute},
	} {
		o := &scalewayv1.ScalewayManagedMachinePool{}
		decode(t, c.spec, &o.Spec)
		got, err := scalewaymanaged.Adapter{}.Translate(o, scalewayInputs(t))
		if err != nil {
			t.Errorf("%s: %v", c.why, err)
		}
		if diff := cmp.Diff(c.want, sized{got.Min, got.Max, got.MinField, got.MaxField, got.Autoscaler}); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.why, diff)
		}
		if got.Strategy.MaxSurge.Value != c.surge || got.Strategy.MaxUnavailable.Value != c.unavailable || got.RemediationDelay != c.delay {
			t.Errorf("%s: want %d more and %d missing after %s, got %+v after %s", c.why, c.surge, c.unavailable, c.delay, got.Strategy,
				got.RemediationDelay)
		}
	}
}

// TestScalewayPlaces holds where the driver looks for a pool: neither a control plane nor a cluster object that is missing or not ready
// keeps it from that.
func TestScalewayPlaces(t *testing.T) {
	t.Parallel()
	kept := map[string]string{"region": "fr-par", "project": "p", "kapsule-cluster": "ns-cp"}
	both := scalewayInputs(t)
	change := func(by func(*infrapool.Inputs)) infrapool.Inputs {
		in := both
		by(&in)
		return in
	}
	for _, c := range []struct {
		why              string
		in               infrapool.Inputs
		held, waits, err string
	}{
		{why: "both objects", in: both},
		{why: "a control plane that is not initialized", held: "ScalewayManagedControlPlane cp is not ready yet",
			in: change(func(in *infrapool.Inputs) {
				in.ControlPlane = gcpManagedUntyped(t, strings.Replace(scalewayPlaneText, "initialized: true", "initialized: false", 1))
			})},
		{why: "a control plane without a name", waits: "ScalewayManagedControlPlane cp has no spec.clusterName yet",
			in: change(func(in *infrapool.Inputs) {
				in.ControlPlane = gcpManagedUntyped(t, strings.Replace(scalewayPlaneText, "clusterName: ns-cp, ", "", 1))
			})},
		{why: "a control plane whose name is remembered", in: change(func(in *infrapool.Inputs) {
			in.Resolved = kept
			in.ControlPlane = gcpManagedUntyped(t, strings.Replace(scalewayPlaneText, "clusterName: ns-cp, ", "", 1))
		})},
		{why: "the control plane is gone", in: change(func(in *infrapool.Inputs) { in.ControlPlane, in.Resolved = nil, kept })},
		{why: "the cluster object is gone", in: change(func(in *infrapool.Inputs) { in.InfraCluster, in.Resolved = nil, kept })},
		{why: "both are gone", in: infrapool.Inputs{Cluster: "owner", Resolved: kept, ClusterDeleting: true}},
		{why: "nothing is known", in: infrapool.Inputs{Cluster: "owner", Resolved: map[string]string{"region": "fr-par"}},
			err: `does not say where the pool is: set it to {"region": "<region>", "project": "<project ID>", "kapsule-cluster": "<name of the Kapsule cluster>"}`},
		{why: "a control plane of another shape", err: "another type", in: change(func(in *infrapool.Inputs) {
			in.ControlPlane = gcpManagedUntyped(t, "{kind: ScalewayManagedControlPlane, spec: {clusterName: 1}}")
		})},
		{why: "a cluster object of another shape", err: "another type", in: change(func(in *infrapool.Inputs) {
			in.InfraCluster = gcpManagedUntyped(t, "{kind: ScalewayManagedCluster, spec: {region: 1}}")
		})},
	} {
		got, err := scalewaymanaged.Adapter{}.Translate(&scalewayv1.ScalewayManagedMachinePool{}, c.in)
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
		if err != nil || v.Name != "ns-cp" || v.Region != "fr-par" || v.ProjectID != "p" || v.ClusterName != "owner" || held != c.held ||
			v.Deleting != c.in.ClusterDeleting || c.in.InfraCluster != nil && v.SecretName != "keys" {
			t.Errorf("%s: got %+v, held by %q, %v", c.why, v, held, err)
		}
		if diff := cmp.Diff(kept, got.Keep); diff != "" {
			t.Errorf("%s: remembered (-want +got):\n%s", c.why, diff)
		}
	}
}

// TestScalewayReplicasAboveMaximum holds that a pool is not created with another size than its MachinePool asks for, and that the replicas
// of one that was created follow the autoscaler.
func TestScalewayReplicasAboveMaximum(t *testing.T) {
	t.Parallel()
	const bounds = "scaling: {autoscaling: true, maxSize: 3}"
	for _, c := range []struct {
		why, spec string
		replicas  *int32
		refused   bool
	}{
		{"within", bounds, new(int32(3)), false},
		{"above", bounds, new(int32(4)), true},
		{"the default of 1", "scaling: {autoscaling: true, maxSize: 0}", nil, true},
		{"created before", "providerID: x, " + bounds, new(int32(4)), false},
		{"no autoscaler", "scaling: {maxSize: 3}", new(int32(4)), false},
		{"no maximum", "scaling: {autoscaling: true}", new(int32(4)), false},
	} {
		o, in := &scalewayv1.ScalewayManagedMachinePool{}, scalewayInputs(t)
		decode(t, "{"+c.spec+"}", &o.Spec)
		in.MachinePool = &clusterv1.MachinePool{ObjectMeta: metav1.ObjectMeta{Name: "mp"}}
		in.MachinePool.Spec.Replicas = c.replicas
		got, err := scalewaymanaged.Adapter{}.Translate(o, in)
		if err != nil || c.refused != (got.CreateBlocked != nil) {
			t.Errorf("%s: want refused %t, got %+v, %v", c.why, c.refused, got.CreateBlocked, err)
		}
		if c.why == "above" && got.CreateBlocked != nil && (got.CreateBlocked.Reason != "ReplicasOutOfBounds" ||
			got.CreateBlocked.Message != "spec.replicas of MachinePool mp is 4, and spec.scaling.maxSize is 3: lower spec.replicas, or raise "+
				"spec.scaling.maxSize") {
			t.Errorf("%s: want both numbers and fields named, got %+v", c.why, got.CreateBlocked)
		}
	}
}

// TestScalewaySource holds what reaches the driver: the object's name, when it was created, and no field that the controller writes.
func TestScalewaySource(t *testing.T) {
	t.Parallel()
	created := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	o := &scalewayv1.ScalewayManagedMachinePool{ObjectMeta: metav1.ObjectMeta{Name: "pool-0", CreationTimestamp: metav1.NewTime(created)}}
	decode(t, "{nodeType: PRO2-XXS, providerID: x, providerIDList: [z]}", &o.Spec)
	got, err := scalewaymanaged.Adapter{}.Translate(o, scalewayInputs(t))
	if err != nil || got.Spec.Name != "pool-0" || !got.Spec.Created.Equal(created) || got.Spec.Pool.ProviderID != "" ||
		got.Spec.Pool.ProviderIDList != nil || got.Spec.Pool.NodeType != "PRO2-XXS" || o.Spec.ProviderID != "x" {
		t.Errorf("want the specification without the IDs, got %+v, %v", got.Spec, err)
	}
	if got.DeletePolicy != pool.Oldest || !got.NoPrerequisites {
		t.Errorf("want the oldest to go first and no prerequisites, got %s and %t", got.DeletePolicy, got.NoPrerequisites)
	}
}

// TestScalewayReferences holds that a Cluster of another kind has no pools, and the names that the ecosystem knows.
func TestScalewayReferences(t *testing.T) {
	t.Parallel()
	ref := func(kind string) clusterv1.ContractVersionedObjectReference {
		return clusterv1.ContractVersionedObjectReference{Kind: kind, Name: "c"}
	}
	k := scalewaymanaged.Adapter{}.Kind()
	for _, c := range []struct {
		infra, plane string
		want         bool
	}{{"ScalewayManagedCluster", "ScalewayManagedControlPlane", true}, {"ScalewayCluster", "KubeadmControlPlane", false}} {
		cluster := &clusterv1.Cluster{Spec: clusterv1.ClusterSpec{InfrastructureRef: ref(c.infra), ControlPlaneRef: ref(c.plane)}}
		infra, plane := scalewaymanaged.Adapter{}.InfraCluster(cluster), k.ControlPlane(cluster)
		if infra.IsDefined() != c.want || plane.IsDefined() != c.want {
			t.Errorf("%s and %s: got %+v, %+v", c.infra, c.plane, infra, plane)
		}
	}
	if k.Finalizer != "scalewaymanagedmachinepool.infrastructure.cluster.x-k8s.io/smmp-protection" ||
		k.Aliases[report.GroupReady] != "PoolReady" {
		t.Errorf("want the ecosystem's names, got %q and %v", k.Finalizer, k.Aliases)
	}
}
