package acceptancetest

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1beta1 "sigs.k8s.io/cluster-api/api/core/v1beta1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// TestRow54_Defaults holds the defaults as the API server stores them.
func TestRow54_Defaults(t *testing.T) {
	w := newWorld(t)
	bounds := map[string]string{clusterv1.AutoscalerMinSizeAnnotation: "2", clusterv1.AutoscalerMaxSizeAnnotation: "5"}
	for _, tc := range []struct {
		name, reason string
		annotations  map[string]string
		replicas     *int32
		want         int32
	}{
		{"open", "one machine by default", nil, nil, 1},
		{"zero", "none is a number", nil, new(int32(0)), 0},
		{"bounds", "an autoscaler begins at its lower bound", bounds, nil, 2},
		{"beyond", "replicas within or beyond the bounds stay if they are set", bounds, new(int32(9)), 9},
	} {
		pool := w.aPool(0)
		pool.Name, pool.Annotations, pool.Spec.Replicas, pool.Spec.Template.Spec.Version = tc.name, tc.annotations, tc.replicas, "1.36.0"
		w.create(pool)
		got := fmt.Sprint(*pool.Spec.Replicas, " ", pool.Spec.Template.Spec.Version, " ",
			*pool.Spec.Template.Spec.Deletion.NodeDeletionTimeoutSeconds, " ", pool.Labels[clusterv1.ClusterNameLabel])
		want(t, tc.reason, got, fmt.Sprintf("%d v1.36.0 10 c1", tc.want))
	}
	// A client that applies a manifest without replicas after the pool has grown brings it into the bounds.
	pool := &clusterv1.MachinePool{}
	w.eventually("a pool that is written without a number", func(ctx context.Context) error {
		if err := admin.Get(ctx, w.key("beyond"), pool); err != nil {
			return err
		}
		pool.Spec.Replicas = nil
		return admin.Update(ctx, pool)
	})
	want(t, "replicas", *pool.Spec.Replicas, int32(5))
}

// refused holds that a write is rejected with the path of a field and a message.
func refused(t *testing.T, reason string, err error, words string) {
	t.Helper()
	if (!apierrors.IsInvalid(err) && !apierrors.IsForbidden(err)) || !strings.Contains(err.Error(), words) {
		t.Errorf("%s: want it refused with %q, got %v", reason, words, err)
	}
}

// TestRow55_InvalidPoolsAreRejected holds the rules of other controllers, with taints of the template accepted, because their Nodes get
// them.
func TestRow55_InvalidPoolsAreRejected(t *testing.T) {
	w := newWorld(t)
	for name, tc := range map[string]struct {
		change func(*clusterv1.MachinePool)
		words  string
	}{
		"no bootstrap": {func(p *clusterv1.MachinePool) { p.Spec.Template.Spec.Bootstrap = clusterv1.Bootstrap{} },
			"spec.template.spec.bootstrap"},
		"clusters of two":    {func(p *clusterv1.MachinePool) { p.Spec.Template.Spec.ClusterName = "c2" }, "spec.template.spec.clusterName"},
		"a word for version": {func(p *clusterv1.MachinePool) { p.Spec.Template.Spec.Version = "latest" }, "spec.template.spec.version"},
		"a label of none": {func(p *clusterv1.MachinePool) { p.Spec.Template.Labels = map[string]string{"a b": "c"} },
			"spec.template.metadata.labels"},
	} {
		pool := w.aPool(0)
		tc.change(pool)
		refused(t, name, admin.Create(t.Context(), pool), tc.words)
	}
	pool := w.aPool(0)
	pool.Spec.Template.Spec.Taints = []clusterv1.MachineTaint{{Key: "gpu", Value: "yes", Effect: "NoSchedule",
		Propagation: clusterv1.MachineTaintPropagationAlways}}
	w.create(pool)
	stored := w.pool()
	now := stored.DeepCopy()
	now.Spec.ClusterName, now.Spec.Template.Spec.ClusterName = "c2", "c2"
	refused(t, "another cluster", admin.Patch(t.Context(), now, client.MergeFrom(stored)), "spec.clusterName")
}

// TestRow56_FurtherValidation holds the rules beyond those of other controllers.
func TestRow56_FurtherValidation(t *testing.T) {
	w := newWorld(t)
	for name, tc := range map[string]struct {
		change func(*clusterv1.MachinePool)
		words  string
	}{
		"less than none": {func(p *clusterv1.MachinePool) { *p.Spec.Replicas = -1 }, "spec.replicas"},
		"one instance twice": {func(p *clusterv1.MachinePool) { p.Spec.ProviderIDList = []string{"aws:///a/i-1", "aws:////i-1"} },
			"spec.providerIDList[1]"},
		"bounds that cross": {func(p *clusterv1.MachinePool) {
			p.Annotations = map[string]string{clusterv1.AutoscalerMinSizeAnnotation: "5", clusterv1.AutoscalerMaxSizeAnnotation: "2"}
		}, "metadata.annotations"},
		"newer than the control plane": {func(p *clusterv1.MachinePool) { p.Spec.Template.Spec.Version = "v1.37.0" },
			"spec.template.spec.version"},
		"too old for the control plane": {func(p *clusterv1.MachinePool) { p.Spec.Template.Spec.Version = "v1.32.0" },
			"spec.template.spec.version"},
		"a template in place of a thing": {func(p *clusterv1.MachinePool) { p.Spec.Template.Spec.InfrastructureRef.Kind += "Template" },
			"spec.template.spec.infrastructureRef"},
	} {
		pool := w.aPool(0)
		tc.change(pool)
		refused(t, name, admin.Create(t.Context(), pool), tc.words)
	}
	w.running(1, nil)
	other := w.aPool(0)
	other.Name, other.Spec.ProviderIDList = "other", []string{w.id(1)}
	refused(t, "an instance of another pool", admin.Create(t.Context(), other), "spec.providerIDList[0]")
	pool := w.pool()
	pool.Spec.Template.Spec.InfrastructureRef.Kind = "OldMachinePool"
	refused(t, "another kind of infrastructure", admin.Update(t.Context(), pool), "spec.template.spec.infrastructureRef")
}

// TestRow57_RoundTripBetweenVersions holds that a pool that is written in one version of the API reads the same in the other, including
// minReadySeconds, which has two places.
func TestRow57_RoundTripBetweenVersions(t *testing.T) {
	w := newWorld(t)
	none := ""
	old := &clusterv1beta1.MachinePool{ObjectMeta: metav1.ObjectMeta{Namespace: w.ns, Name: "pool"}, Spec: clusterv1beta1.MachinePoolSpec{
		ClusterName: "c1", Replicas: new(int32(1)), MinReadySeconds: new(int32(1)), FailureDomains: []string{"a"},
		Template: clusterv1beta1.MachineTemplateSpec{Spec: clusterv1beta1.MachineSpec{ClusterName: "c1", Version: new("v1.36.0"),
			NodeDrainTimeout: &metav1.Duration{Duration: 5 * time.Minute}, Bootstrap: clusterv1beta1.Bootstrap{DataSecretName: &none}}}}}
	old.Spec.Template.Spec.InfrastructureRef.APIVersion = poolGVK.GroupVersion().String()
	old.Spec.Template.Spec.InfrastructureRef.Kind, old.Spec.Template.Spec.InfrastructureRef.Name = "TestMachinePool", "infra"
	w.create(old)
	w.create(w.anInfra(1))
	w.node(1)
	w.runs(1)
	pool := w.pool()
	want(t, "in the newer version", fmt.Sprintln(*pool.Spec.Template.Spec.MinReadySeconds,
		*pool.Spec.Template.Spec.Deletion.NodeDrainTimeoutSeconds,
		pool.Spec.Template.Spec.InfrastructureRef, pool.Spec.FailureDomains), fmt.Sprintln(1, 300, refTo(poolGVK, "infra"), []string{"a"}))
	w.changePool(func(p *clusterv1.MachinePool) { p.Spec.Template.Spec.MinReadySeconds = new(int32(2)) })
	w.runs(1)
	if err := admin.Get(t.Context(), w.key("pool"), old); err != nil {
		t.Fatal(err)
	}
	ref := old.Spec.Template.Spec.InfrastructureRef
	want(t, "in the older version", fmt.Sprintln(*old.Spec.MinReadySeconds, old.Spec.Template.Spec.NodeDrainTimeout.Duration, ref.APIVersion,
		ref.Kind, old.Spec.FailureDomains),
		fmt.Sprintln(2, "5m0s", poolGVK.GroupVersion(), "TestMachinePool", []string{"a"}))
	want(t, "status in the older version", fmt.Sprintln(old.Status.Phase, old.Status.ReadyReplicas, old.Status.AvailableReplicas,
		old.Status.BootstrapReady, old.Status.InfrastructureReady,
		len(old.Status.NodeRefs)), fmt.Sprintln("Running", 1, 1, true, true, 1))
}
