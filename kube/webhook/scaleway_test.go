package webhook_test

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	scalewayv1 "github.com/muster-project/muster/api/scaleway/v1alpha2"
	"github.com/muster-project/muster/kube/infrapool/settings"
	scalewayadmission "github.com/muster-project/muster/providers/scaleway/admission"
)

func scalewayScheme(t *testing.T) *runtime.Scheme {
	t.Helper()
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{scalewayv1.AddToScheme, clusterv1.AddToScheme} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	return scheme
}

// scalewayPool is the object ns/p with a specification.
func scalewayPool(t *testing.T, spec string) *scalewayv1.ScalewayManagedMachinePool {
	t.Helper()
	p := &scalewayv1.ScalewayManagedMachinePool{}
	p.Namespace, p.Name = "ns", "p"
	decode(t, spec, &p.Spec)
	return p
}

// TestWarningsOfScalewayPools holds which warnings users get, at creation and in a change, and that controllers get none.
func TestWarningsOfScalewayPools(t *testing.T) {
	t.Parallel()
	scheme := scalewayScheme(t)
	hook := scalewayadmission.Validator(scheme, fake.NewClientBuilder().WithScheme(scheme).Build())
	const surge = "spec.upgradePolicy: with maxSurge 0 Kapsule deletes a node before its replacement runs"
	for spec, want := range map[string][]string{
		"{}": nil,
		"{scaling: {autoscaling: true, minSize: 1, maxSize: 3}, upgradePolicy: {maxSurge: 1}}": nil,
		"{scaling: {minSize: 1, maxSize: 3}}": {"spec.scaling.minSize: has no effect without spec.scaling.autoscaling",
			"spec.scaling.maxSize: has no effect without spec.scaling.autoscaling"},
		"{nodeType: external, scaling: {autoscaling: true}, autohealing: true}": {
			"spec.scaling: has no effect with node type external: machines join by themselves",
			"spec.autohealing: has no effect with node type external: Scaleway does not run the machines"},
		"{upgradePolicy: {maxUnavailable: 1}}": {surge},
		"{upgradePolicy: {maxSurge: 0}}":       {surge},
	} {
		p, before := scalewayPool(t, spec), scalewayPool(t, "{labels: {other: ''}}")
		written := p.DeepCopy()
		written.Spec.ProviderID, written.Spec.ProviderIDList = "x", []string{"y"}
		wantWarnings(t, hook, spec, want, before, p, written)
	}
	p := scalewayPool(t, "{autohealing: true}")
	for after, warned := range map[string]bool{"10m": true, "45m": false, "2h": false, "nonsense": false} {
		p.Annotations = map[string]string{settings.RemediationAnnotation: after}
		got := answerTo(t, hook, scalewayPool(t, "{autohealing: true}"), p)
		if !got.Allowed || warned != strings.Contains(strings.Join(got.Warnings, "\n"), "Muster waits for 45m0s, because spec.autohealing") {
			t.Errorf("%s: want a warning: %t, got %+v", after, warned, got)
		}
	}
}

// TestScalewayReplicas holds that a largest size below the replicas of the MachinePool is refused in words, and that a size which follows
// the autoscaler is not.
func TestScalewayReplicas(t *testing.T) {
	t.Parallel()
	machinePool := func(name, kind string, replicas int32, follows bool) *clusterv1.MachinePool {
		mp := &clusterv1.MachinePool{}
		mp.Namespace, mp.Name, mp.Spec.Replicas = "ns", name, &replicas
		mp.Spec.Template.Spec.InfrastructureRef = clusterv1.ContractVersionedObjectReference{Kind: kind, Name: "p"}
		if follows {
			mp.Annotations = map[string]string{clusterv1.ReplicasManagedByAnnotation: "scaleway"}
		}
		return mp
	}
	const smmp, bounds = scalewayv1.ScalewayManagedMachinePoolKind, "{scaling: {autoscaling: true, maxSize: 3}}"
	for _, c := range []struct {
		why, spec string
		mp        *clusterv1.MachinePool
		refused   bool
	}{
		{"within", bounds, machinePool("mp", smmp, 3, false), false},
		{"above", bounds, machinePool("mp", smmp, 4, false), true},
		{"the autoscaler's own size", bounds, machinePool("mp", smmp, 4, true), false},
		{"another kind of the same name", bounds, machinePool("mp", "GCPMachinePool", 4, false), false},
		{"no autoscaler", "{scaling: {maxSize: 3}}", machinePool("mp", smmp, 4, false), false},
		{"no largest size", "{scaling: {autoscaling: true}}", machinePool("mp", smmp, 4, false), false},
	} {
		scheme := scalewayScheme(t)
		hook := scalewayadmission.Validator(scheme, fake.NewClientBuilder().WithScheme(scheme).WithObjects(c.mp).Build())
		p := scalewayPool(t, c.spec)
		labelled := p.DeepCopy()
		labelled.Spec.Labels = scalewayv1.NodeLabels{"a": "b"}
		created, changed := answerTo(t, hook, nil, p), answerTo(t, hook, scalewayPool(t, "{}"), p)
		if created.Allowed == c.refused || changed.Allowed == c.refused {
			t.Errorf("%s: want refused: %t, got %+v and %+v", c.why, c.refused, created, changed)
		}
		if c.refused && !strings.Contains(created.Result.Message,
			"spec.scaling.maxSize: Invalid value: 3: spec.replicas of MachinePool mp is 4: lower it to 3 or less, or raise maxSize") {
			t.Errorf("%s: want both numbers named, got %q", c.why, created.Result.Message)
		}
		if kept := answerTo(t, hook, p, labelled); !kept.Allowed {
			t.Errorf("%s: want another change let through, got %+v", c.why, kept)
		}
	}
}
