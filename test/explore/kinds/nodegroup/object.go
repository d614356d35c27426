package nodegroup

import (
	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	awsv1 "github.com/muster-project/muster/api/aws/v1beta2"
	simaws "github.com/muster-project/muster/sim/aws"
	"github.com/muster-project/muster/test/explore/kinds/aws"
	"github.com/muster-project/muster/test/explore/oracle"
	"github.com/muster-project/muster/test/explore/script"
	"github.com/muster-project/muster/test/explore/world"
)

// eksCluster is the cluster, whose control plane is Amazon's own.
const eksCluster = "eks-c"

// controlPlane returns the AWSManagedControlPlane of an EKS cluster.
func (p *pool) controlPlane() *unstructured.Unstructured {
	o := aws.Cluster()
	o.SetAPIVersion("controlplane.cluster.x-k8s.io/v1beta2")
	o.SetKind("AWSManagedControlPlane")
	version := "v" + world.Minor(p.minor)
	p.World.Must(unstructured.SetNestedField(o.Object, eksCluster, "spec", "eksClusterName"), "name the EKS cluster")
	p.World.Must(unstructured.SetNestedField(o.Object, version, "spec", "version"), "set the version")
	p.World.Must(unstructured.SetNestedMap(o.Object, map[string]any{"ready": true, "version": version}, "status"), "set the status")
	return o
}

// upgrade brings control plane and pool to the next minor version, or the pool alone to that of its control plane.
func (p *pool) upgrade(e script.Event) {
	if p.minor < world.LastMinor {
		p.minor++
		p.putCluster()
		is := p.controlPlane()
		p.World.Must(p.World.Objects.User.Get(p.World.Context(), world.ClusterKey, is), "read the control plane")
		next := p.controlPlane()
		next.SetResourceVersion(is.GetResourceVersion())
		next.SetUID(is.GetUID())
		p.World.Must(p.World.Objects.User.Update(p.World.Context(), next), "upgrade the control plane")
	}
	if e.M%3 > 0 {
		p.World.Objects.EditPool(func(mp *clusterv1.MachinePool) { mp.Spec.Template.Spec.Version = "v" + world.Minor(p.minor) + ".0" })
	}
}

// applied returns a pool of that kind as a user applies it.
func (p *pool) applied() client.Object {
	s := p.World.Scenario
	o := &awsv1.AWSManagedMachinePool{}
	o.Namespace, o.Name = p.World.InfraKey().Namespace, p.World.InfraKey().Name
	o.Spec = awsv1.AWSManagedMachinePoolSpec{
		Scaling:        &awsv1.ManagedMachinePoolScaling{MinSize: ptr.To(int32(s.Least)), MaxSize: ptr.To(int32(s.Most))},
		AdditionalTags: awsv1.Tags{"team": "a"}, Labels: awsv1.NodeLabels{"tier": "a"}, UpdateConfig: updates(s.Strategy),
		CapacityType: ptr.To(awsv1.ManagedMachinePoolCapacityTypeOnDemand),
	}
	if s.Adopted {
		o.Spec.EKSNodegroupName, o.Spec.RoleName = adoptedName, simaws.NodegroupRole
	}
	if s.Spot {
		o.Spec.CapacityType = ptr.To(awsv1.ManagedMachinePoolCapacityTypeSpot)
	}
	if own(s).Bare {
		o.Spec.InstanceType = ptr.To(string(simaws.InstanceType))
		return o
	}
	t := p.LaunchTemplate(true)
	o.Spec.AWSLaunchTemplate = &t
	return o
}

// updates returns the update configuration of a node group with the limits. The default of EKS is one unavailable machine.
func updates(l *script.Limits) *awsv1.UpdateConfig {
	if l == nil {
		return &awsv1.UpdateConfig{MaxUnavailable: ptr.To(1)}
	}
	n := world.Share(ptr.To(intstr.Parse(l.Unavailable)))
	n.N = max(1, n.N)
	if n.Percent {
		return &awsv1.UpdateConfig{MaxUnavailablePercentage: &n.N}
	}
	return &awsv1.UpdateConfig{MaxUnavailable: &n.N}
}

// edit changes one field of a managed pool.
func edit(s *awsv1.AWSManagedMachinePoolSpec, n, m int) {
	switch n {
	case 0, 1:
		s.Labels = []awsv1.NodeLabels{nil, {"tier": "b"}, {"tier": "a", "team": "x"}}[m%3]
	case 2:
		s.Taints = []awsv1.Taints{nil, {{Key: "dedicated", Value: "gpu", Effect: awsv1.TaintEffectNoSchedule}}}[m%2]
	case 3:
		s.UpdateConfig = updates(&script.Limits{Unavailable: []string{"1", "2", "50%"}[m%3]})
	case 4, 5:
		s.AdditionalTags = []awsv1.Tags{nil, {"team": "b"}, {"team": "a", "stage": "test"}}[m%3]
	case 6:
		s.NodeRepairConfig = []*awsv1.NodeRepairConfig{nil, {}, {Enabled: awssdk.Bool(true)}, {Enabled: awssdk.Bool(false)}}[m%4]
	case 7:
		s.UpdateConfig = updates(&script.Limits{Unavailable: "1"})
		s.UpdateConfig.Force = m%2 == 0
	default:
		s.Scaling = openEnded(s.Scaling, m)
	}
}

// noteLabels notes whose the label is that another provider put onto a node group before the pool adopted it: it stays until the object
// names it.
func (p *pool) noteLabels(labels awsv1.NodeLabels) {
	if labels["tier"] != "" {
		p.theirLabel = false
		return
	}
	n := p.nodegroup()
	p.theirLabel = p.theirLabel || p.World.Scenario.Adopted && n != nil && n.Tags[aws.TagOwner] != p.World.Objects.Owner().ID
}

// openEnded leaves out one of the bounds, or both.
func openEnded(s *awsv1.ManagedMachinePoolScaling, m int) *awsv1.ManagedMachinePoolScaling {
	is := ptr.Deref(s, awsv1.ManagedMachinePoolScaling{MinSize: ptr.To[int32](1), MaxSize: ptr.To[int32](8)})
	switch m % 3 {
	case 0:
		is.MinSize = nil
	case 1:
		is.MaxSize = nil
	default:
		return nil
	}
	return &is
}

// object returns an infrastructure object as what it is.
func object(o client.Object) *awsv1.AWSManagedMachinePool { return o.(*awsv1.AWSManagedMachinePool) }

// bounds returns the bounds of the number of machines. A missing bound equals the replicas.
func bounds(o client.Object) (least, most int32) {
	s := ptr.Deref(object(o).Spec.Scaling, awsv1.ManagedMachinePoolScaling{})
	return ptr.Deref(s.MinSize, 0), ptr.Deref(s.MaxSize, world.Plenty)
}

func setBounds(o client.Object, least, most int32) {
	object(o).Spec.Scaling = &awsv1.ManagedMachinePoolScaling{MinSize: &least, MaxSize: &most}
}

// setRollout sets how machines are to be replaced: EKS replaces changed ones, and Muster those to restart, of which at least one may always
// be missing.
func setRollout(_ *clusterv1.MachinePool, o client.Object, desired *oracle.Desired) {
	s := &object(o).Spec
	desired.Keep = s.AWSLaunchTemplate.Keep()
	desired.Force = s.UpdateConfig != nil && s.UpdateConfig.Force
	desired.ReplacedByMuster, desired.Surge, desired.Unavailable = true, oracle.Share{}, unavailable(s)
}

// unavailable returns how many machines of a pool may be missing during an update.
func unavailable(s *awsv1.AWSManagedMachinePoolSpec) oracle.Share {
	switch c := s.UpdateConfig; {
	case c == nil:
	case c.MaxUnavailable != nil:
		return oracle.Share{N: *c.MaxUnavailable}
	case c.MaxUnavailablePercentage != nil:
		return oracle.Share{N: *c.MaxUnavailablePercentage, Percent: true}
	}
	return oracle.Share{N: 1}
}

// onTemplate applies a change to the launch template if the object has one.
func onTemplate(change func(*awsv1.AWSLaunchTemplate)) func(client.Object) {
	return func(o client.Object) {
		if t := object(o).Spec.AWSLaunchTemplate; t != nil {
			change(t)
		}
	}
}

// edits returns the changes that users make to the object.
func (p *pool) edits() world.Edits {
	back := func(t *awsv1.AWSLaunchTemplate) { aws.SetTemplate(t, p.LaunchTemplate(true)) }
	return world.Edits{
		Template: func(o client.Object, n int) {
			onTemplate(func(t *awsv1.AWSLaunchTemplate) { aws.EditTemplate(t, n) })(o)
		},
		Bad:  onTemplate(aws.SpoilTemplate),
		Back: onTemplate(back),
		Type: func(o client.Object) string {
			if t := object(o).Spec.AWSLaunchTemplate; t != nil {
				return t.InstanceType
			}
			return ""
		},
		Group: func(o client.Object, n, m int) {
			edit(&object(o).Spec, n, m)
			p.noteLabels(object(o).Spec.Labels)
		},
		Strategy: func(o client.Object, l *script.Limits) { object(o).Spec.UpdateConfig = updates(l) },
		Keep: func(o client.Object, n *int32) {
			onTemplate(func(t *awsv1.AWSLaunchTemplate) { t.VersionsToKeep = n })(o)
		},
		Upgrade: p.upgrade,
	}
}
