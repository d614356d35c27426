package gkenodepool

import (
	"cmp"
	"maps"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gcpv1 "github.com/muster-project/muster/api/gcp/v1beta1"
	"github.com/muster-project/muster/test/explore/kinds/gcp"
	"github.com/muster-project/muster/test/explore/oracle"
	"github.com/muster-project/muster/test/explore/world"
)

// The defaults of GKE: the type of the image and the size of the disk. otherImage is another type.
const (
	image, otherImage = "COS_CONTAINERD", "UBUNTU_CONTAINERD"
	diskSize          = 100
)

type spec = gcpv1.GCPManagedMachinePoolSpec

// object returns an infrastructure object as what it is.
func object(o client.Object) *gcpv1.GCPManagedMachinePool { return o.(*gcpv1.GCPManagedMachinePool) }

// applied returns a node pool as a user applies it.
func (p *pool) applied() client.Object {
	s := p.World.Scenario
	o := &gcpv1.GCPManagedMachinePool{}
	o.Namespace, o.Name = p.World.InfraKey().Namespace, p.World.InfraKey().Name
	o.Spec = spec{
		InstanceType: ptr.To(gcp.MachineType), NodeLocations: gcp.Zones[:own(s).Zones], AdditionalLabels: gcpv1.Labels{"team": "a"},
		KubernetesLabels: gcpv1.NodeLabels{"tier": "a"}, UpgradeSettings: upgrades[own(s).Upgrades].DeepCopy(),
	}
	if s.External {
		o.Spec.Scaling = &gcpv1.NodePoolAutoScaling{TotalMinCount: ptr.To(int32(s.Least)), TotalMaxCount: ptr.To(int32(s.Most))}
	}
	return o
}

// upgrades are settings by which GKE replaces nodes.
var upgrades = []*gcpv1.UpgradeSettings{
	nil, surge(1, 0), surge(0, 1), surge(2, 1),
	{Strategy: gcpv1.UpgradeBlueGreen, BlueGreenSettings: &gcpv1.BlueGreenSettings{
		StandardRolloutPolicy: &gcpv1.StandardRolloutPolicy{BatchNodeCount: ptr.To[int32](2)},
		NodePoolSoakDuration:  &metav1.Duration{Duration: 2 * time.Minute},
	}},
}

func surge(more, fewer int32) *gcpv1.UpgradeSettings {
	return &gcpv1.UpgradeSettings{Strategy: gcpv1.UpgradeSurge, MaxSurge: ptr.To(more), MaxUnavailable: ptr.To(fewer)}
}

// bounds returns the bounds of GKE's autoscaler.
func bounds(o client.Object) (least, most int32) {
	s := object(o).Spec
	if !s.Scaling.On() {
		return 0, world.Plenty
	}
	if s.Scaling.TotalMaxCount != nil {
		return ptr.Deref(s.Scaling.TotalMinCount, 0), *s.Scaling.TotalMaxCount
	}
	zones := int32(len(s.NodeLocations))
	return ptr.Deref(s.Scaling.MinCount, 0) * zones, ptr.Deref(s.Scaling.MaxCount, world.Plenty) * zones
}

// bound gives GKE's autoscaler other bounds, where it is on.
func bound(o client.Object, least, most int32) {
	if s := &object(o).Spec; s.Scaling.On() {
		s.Scaling = &gcpv1.NodePoolAutoScaling{TotalMinCount: ptr.To(least), TotalMaxCount: ptr.To(max(most, least+1))}
	}
}

// setRollout sets how machines are to be replaced: GKE replaces changed ones, and Muster those to restart. Machines in zones that the
// object no longer lists are to be removed.
func (p *pool) setRollout(mp *clusterv1.MachinePool, o client.Object, desired *oracle.Desired) {
	desired.Deleting = desired.Deleting || mp != nil && !mp.DeletionTimestamp.IsZero()
	desired.ReplacedByMuster = true
	if o == nil {
		return
	}
	s := object(o).Spec
	desired.External = desired.External || s.Scaling.On()
	desired.DeletionRequested = p.outside(s.NodeLocations)
	desired.Surge, desired.Unavailable = oracle.Share{N: 1}, oracle.Share{}
	if u := s.UpgradeSettings; u != nil && u.Strategy == gcpv1.UpgradeSurge {
		desired.Surge, desired.Unavailable = oracle.Share{N: int(*u.MaxSurge)}, oracle.Share{N: int(*u.MaxUnavailable)}
	}
}

// outside returns the machines of other zones.
func (p *pool) outside(zones []string) map[string]bool {
	out := map[string]bool{}
	if g := p.World.Group.Now(); p.World.Group.Ours(g) {
		for _, m := range g.Members {
			out[cmp.Or(m.ID, m.Name)] = !slices.Contains(zones, m.Zone)
		}
	}
	return out
}

// editTemplate changes the template of machines.
func editTemplate(s *spec, n int) {
	switch n % 4 {
	case 0:
		s.DiskSizeGb = ptr.To([]int32{40, 50, diskSize}[n/4%3])
	case 1:
		s.ImageType = ptr.To([]string{image, otherImage}[n/4%2])
	default:
		s.InstanceType = ptr.To([]string{"n2-standard-2", "n2-standard-4", "e2-standard-2"}[n%3])
	}
}

// edit changes one field of a node pool that nodes are not replaced for.
func edit(s *spec, n, m int) {
	switch n {
	case 0, 1:
		s.KubernetesLabels = maps.Clone([]gcpv1.NodeLabels{nil, {"tier": "b"}, {"tier": "a", "team": "x"}}[m%3])
	case 2:
		s.KubernetesTaints = [][]gcpv1.Taint{nil, {{Key: "dedicated", Value: "gpu", Effect: "NoSchedule"}}}[m%2]
	case 3:
		s.AdditionalLabels = maps.Clone([]gcpv1.Labels{nil, {"team": "b"}, {"team": "a", "stage": "test"}}[m%3])
	case 4, 5:
		s.Scaling = []*gcpv1.NodePoolAutoScaling{
			nil, {TotalMinCount: ptr.To(int32(n % 2)), TotalMaxCount: ptr.To(int32(3 + m))},
			{MinCount: ptr.To[int32](0), MaxCount: ptr.To(int32(1 + m))},
		}[m%3]
	case 6:
		s.Management = []*gcpv1.NodePoolManagement{{AutoRepair: true}, {AutoUpgrade: true}, {AutoRepair: true, AutoUpgrade: true}}[m%3]
	case 7:
		s.NodeLocations = [][]string{gcp.Zones[:1], gcp.Zones[:2], gcp.Zones[:3], gcp.Zones[1:2], gcp.Zones[1:]}[m%5]
	default:
		s.UpgradeSettings = upgrades[m%len(upgrades)].DeepCopy()
	}
}

// edits returns the changes that users make to the object. Its limits are a field of the node pool.
func (p *pool) edits() world.Edits {
	back := func(o client.Object) {
		s := &object(o).Spec
		s.InstanceType, s.ImageType, s.DiskSizeGb = ptr.To(gcp.MachineType), ptr.To(image), ptr.To[int32](diskSize)
	}
	return world.Edits{
		Template: func(o client.Object, n int) { editTemplate(&object(o).Spec, n) },
		Bad:      func(o client.Object) { object(o).Spec.InstanceType = ptr.To(gcp.BadType) },
		Back:     back,
		Type:     func(o client.Object) string { return *object(o).Spec.InstanceType },
		Group:    func(o client.Object, n, m int) { edit(&object(o).Spec, n, m) },
		Upgrade:  p.plane.Upgrade,
	}
}
