package scaleway

import (
	"k8s.io/utils/ptr"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	scalewayv1 "github.com/muster-project/muster/api/scaleway/v1alpha2"
	simscaleway "github.com/muster-project/muster/sim/scaleway"
	"github.com/muster-project/muster/test/explore/oracle"
	"github.com/muster-project/muster/test/explore/script"
	"github.com/muster-project/muster/test/explore/world"
)

// object returns an infrastructure object as what it is.
func object(o client.Object) *scalewayv1.ScalewayManagedMachinePool {
	return o.(*scalewayv1.ScalewayManagedMachinePool)
}

// applied returns a pool as a user applies it.
func (p *pool) applied() client.Object {
	o := &scalewayv1.ScalewayManagedMachinePool{}
	o.Namespace, o.Name = world.InfraKey.Namespace, world.InfraKey.Name
	o.Spec = scalewayv1.ScalewayManagedMachinePoolSpec{
		NodeType: "PRO2-XXS", Zone: simscaleway.Region + "-1", Labels: scalewayv1.NodeLabels{"tier": "a"},
		AdditionalTags: []string{"team=a"}, UpgradePolicy: policies()[own(p.world.Scenario)],
	}
	if s := p.world.Scenario; s.External {
		o.Spec.Scaling = scaling(s.Least, s.Most)
	}
	return o
}

// policies are settings by which Kapsule replaces nodes.
func policies() []*scalewayv1.UpgradePolicy {
	return []*scalewayv1.UpgradePolicy{nil, {MaxSurge: ptr.To[int32](2), MaxUnavailable: ptr.To[int32](1)},
		{MaxSurge: ptr.To[int32](0), MaxUnavailable: ptr.To[int32](1)}, {MaxSurge: ptr.To[int32](1)}}
}

func scaling(least, most int) *scalewayv1.Scaling {
	return &scalewayv1.Scaling{Autoscaling: ptr.To(true), MinSize: ptr.To(int32(least)), MaxSize: ptr.To(int32(max(most, 1)))}
}

// bounds returns the bounds of the autoscaler.
func bounds(o client.Object) (least, most int32) {
	if s := &object(o).Spec; s.Autoscaled() {
		return *s.Scaling.MinSize, *s.Scaling.MaxSize
	}
	return 0, world.Plenty
}

func setBounds(o client.Object, least, most int32) {
	if s := &object(o).Spec; s.Autoscaled() {
		s.Scaling = scaling(int(least), int(most))
	}
}

// setRollout sets how nodes are to be replaced: by Kapsule for another version, by Muster for a restart.
func setRollout(mp *clusterv1.MachinePool, o client.Object, desired *oracle.Desired) {
	desired.Deleting = desired.Deleting || mp != nil && !mp.DeletionTimestamp.IsZero()
	desired.ReplacedByMuster = true
	if o != nil {
		s := &object(o).Spec
		surge, unavailable := s.Upgrade()
		desired.External = desired.External || s.Autoscaled()
		desired.Surge, desired.Unavailable = oracle.Share{N: int(surge)}, oracle.Share{N: int(unavailable)}
	}
	if desired.External { // Muster adds no node to a size that an autoscaler owns: only Kapsule's own rollout does
		desired.Unavailable.N = max(desired.Unavailable.N, 1)
	}
}

// edits returns the changes that users make to the object. A pool keeps its node type.
func (p *pool) edits() world.Edits {
	same := func(client.Object) {}
	return world.Edits{
		Template: func(client.Object, int) {}, Bad: same, Back: same,
		Type:  func(o client.Object) string { return object(o).Spec.NodeType },
		Group: func(o client.Object, n, m int) { edit(&object(o).Spec, n, m) }, Upgrade: p.upgrade,
	}
}

// edit changes one field that no node is replaced for.
func edit(s *scalewayv1.ScalewayManagedMachinePoolSpec, n, m int) {
	switch n % 7 {
	case 0:
		s.Labels = []scalewayv1.NodeLabels{nil, {"tier": "b"}, {"tier": "a", "team": "x"}}[m%3]
	case 1:
		s.Taints = [][]scalewayv1.Taint{nil, {{Key: "dedicated", Value: "x", Effect: "NoSchedule"}, {Key: "also", Effect: "NoSchedule"}}}[m%2]
	case 2:
		s.AdditionalTags = [][]string{nil, {"team=b"}, {"team=a", "stage=test"}}[m%3]
	case 3:
		s.Scaling = []*scalewayv1.Scaling{nil, scaling(n%2, 3+m)}[m%2]
	case 4:
		s.KubeletArgs = []map[string]string{nil, {"maxPods": "50"}}[m%2]
	case 5:
		s.StartupTaints = [][]scalewayv1.Taint{nil, {{Key: "starts", Effect: "PreferNoSchedule"}}}[m%2]
	default:
		s.UpgradePolicy = policies()[m%len(policies())]
	}
}

// upgrade has the control plane brought to the next minor version, and the pool to that of its control plane.
func (p *pool) upgrade(e script.Event) {
	if p.minor < world.LastMinor && e.N%3 > 0 {
		p.minor++
		p.provide()
	}
	if e.M%3 > 0 {
		p.follow()
	}
}

// follow has a user give the MachinePool the version of the control plane.
func (p *pool) follow() {
	p.world.Objects.EditPool(func(mp *clusterv1.MachinePool) { mp.Spec.Template.Spec.Version = "v" + p.version() })
}
