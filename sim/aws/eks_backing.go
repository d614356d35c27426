package aws

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/muster-project/muster/sim/aws/shapes/autoscaling"
	"github.com/muster-project/muster/sim/aws/shapes/ec2"
	"github.com/muster-project/muster/sim/aws/shapes/eks"
)

// The hooks by which EKS gets to know that a machine comes or goes.
const (
	launchHook, terminateHook = "Launch-LC-Hook", "Terminate-LC-Hook"
	eksHeartbeat              = int32(1800)
)

// provide makes what stands behind a node group: a launch template of EKS's own and the Auto Scaling group.
func (r *realm) provide(c *cluster, n *nodegroup) error {
	id := r.server.seed.UUID("behind", n.key(), r.number())
	if a := n.Shape.RemoteAccess; a != nil && n.Shape.Resources == nil {
		group := r.newID("sg")
		r.securityGroups.Put(group, &securityGroup{
			ID: group, Name: "eks-remoteAccess-" + id, Description: "Security group for all nodes in the nodeGroup to allow SSH access",
			VPC: str(c.Shape.ResourcesVpcConfig.VpcId), Tags: map[string]string{"eks": n.name(), eksNodegroupTag: n.name()},
		})
		n.Shape.Resources = &eks.NodegroupResources{RemoteAccessSecurityGroup: ptr(group)}
	}
	facts := n.Launched["1"]
	t := &template{ID: r.newID("lt"), Name: "eks-" + id, Created: r.now, Default: 1, Tags: map[string]string{eksClusterTag: n.cluster(), eksNodegroupTag: n.name()}}
	r.templates.Put(t.ID, t)
	n.Template = t.ID
	r.directory.profiles.Put(roleKey(t.Name), &profile{
		Name: t.Name, Path: "/", ID: r.directory.newID("AIPA"), Created: r.now, Tags: map[string]string{}, Role: r.directory.named(str(n.Shape.NodeRole)).nameOr(""),
	})
	r.addVersion(t, r.merged(c, n, facts), "")
	name := "eks-" + n.name() + "-" + id
	s := n.Shape.ScalingConfig
	_, err := r.createGroup(&autoscaling.CreateAutoScalingGroupInput{
		AutoScalingGroupName: ptr(name), MinSize: ptr(*s.MinSize), MaxSize: ptr(*s.MaxSize), DesiredCapacity: ptr(*s.DesiredSize),
		VPCZoneIdentifier: ptr(strings.Join(n.Shape.Subnets, ",")), MixedInstancesPolicy: r.mixOf(n, facts, "1"),
		HealthCheckGracePeriod: ptr(int32(15)), CapacityRebalance: ptr(n.Shape.CapacityType == "SPOT"),
		TerminationPolicies: []string{"AllocationStrategy", "OldestLaunchTemplate", "OldestInstance"},
		LifecycleHookSpecificationList: []autoscaling.LifecycleHookSpecification{
			{LifecycleHookName: ptr(launchHook), LifecycleTransition: ptr(transitionLaunching), HeartbeatTimeout: ptr(eksHeartbeat), DefaultResult: ptr("CONTINUE")},
			{LifecycleHookName: ptr(terminateHook), LifecycleTransition: ptr(transitionTerminating), HeartbeatTimeout: ptr(eksHeartbeat), DefaultResult: ptr("CONTINUE")},
		},
		Tags: eksGroupTags(n),
	})
	if err != nil {
		return err
	}
	n.Behind = name
	return nil
}

// eksGroupTags are the tags that EKS gives to the group and its machines.
func eksGroupTags(n *nodegroup) []autoscaling.Tag {
	tags := map[string]string{
		eksClusterTag: n.cluster(), eksNodegroupTag: n.name(), "kubernetes.io/cluster/" + n.cluster(): "owned",
		"k8s.io/cluster-autoscaler/" + n.cluster(): "owned", "k8s.io/cluster-autoscaler/enabled": "true",
	}
	var out []autoscaling.Tag
	for _, k := range slices.Sorted(maps.Keys(tags)) {
		out = append(out, autoscaling.Tag{Key: ptr(k), Value: ptr(tags[k]), PropagateAtLaunch: ptr(true)})
	}
	return out
}

// mixOf is how EKS lets its group launch: from its own template, in the types of the node group, on demand or spot.
func (r *realm) mixOf(n *nodegroup, facts nodeFacts, version string) *autoscaling.MixedInstancesPolicy {
	mix := &autoscaling.MixedInstancesPolicy{
		InstancesDistribution: &autoscaling.InstancesDistribution{
			OnDemandAllocationStrategy: ptr("prioritized"), OnDemandBaseCapacity: ptr(int32(0)), OnDemandPercentageAboveBaseCapacity: ptr(int32(100)),
			SpotAllocationStrategy: ptr("price-capacity-optimized"),
		},
		LaunchTemplate: &autoscaling.LaunchTemplate{
			LaunchTemplateSpecification: &autoscaling.LaunchTemplateSpecification{LaunchTemplateId: ptr(n.Template), Version: ptr(version)},
		},
	}
	if n.Shape.CapacityType == "SPOT" {
		mix.InstancesDistribution.OnDemandPercentageAboveBaseCapacity = ptr(int32(0))
	}
	for _, t := range r.typesOf(&n.Shape, &facts) {
		mix.LaunchTemplate.Overrides = append(mix.LaunchTemplate.Overrides, autoscaling.LaunchTemplateOverrides{InstanceType: ptr(t)})
	}
	return mix
}

// merged is EKS's own template: that of the user, with what EKS adds.
func (r *realm) merged(c *cluster, n *nodegroup, facts nodeFacts) ec2.ResponseLaunchTemplateData {
	var d ec2.ResponseLaunchTemplateData
	if v := r.versions.Get(versionKey(facts.Source, int64(atoi(facts.SourceVersion)))); v != nil {
		d = v.Data
		d.UserData = opt(r.kept(v.Blob))
	} else {
		d.BlockDeviceMappings = []ec2.LaunchTemplateBlockDeviceMapping{{
			DeviceName: ptr("/dev/xvda"), Ebs: &ec2.LaunchTemplateEbsBlockDevice{VolumeSize: n.Shape.DiskSize, VolumeType: "gp3", DeleteOnTermination: ptr(true)},
		}}
		d.MetadataOptions = &ec2.LaunchTemplateInstanceMetadataOptions{HttpPutResponseHopLimit: ptr(int32(2))}
	}
	d.ImageId = ptr(facts.Image)
	d.InstanceType = ""
	d.IamInstanceProfile = &ec2.LaunchTemplateIamInstanceProfileSpecification{Name: r.templateName(n)}
	if len(d.SecurityGroupIds)+len(d.SecurityGroups)+len(d.NetworkInterfaces) == 0 {
		d.SecurityGroupIds = []string{str(c.Shape.ResourcesVpcConfig.ClusterSecurityGroupId)}
	}
	if a := n.Shape.RemoteAccess; a != nil {
		d.KeyName = a.Ec2SshKey
		d.SecurityGroupIds = append(d.SecurityGroupIds, str(n.Shape.Resources.RemoteAccessSecurityGroup))
	}
	return d
}

// nameOr is the role's name, or another where there is no role any more.
func (r *role) nameOr(other string) string {
	if r == nil {
		return other
	}
	return r.Name
}

// templateName is the name of EKS's own template, which is that of the instance profile as well.
func (r *realm) templateName(n *nodegroup) *string {
	if t := r.templates.Get(n.Template); t != nil {
		return ptr(t.Name)
	}
	return nil
}

// launchFromVersion lets the group launch from a version of EKS's template.
func (r *realm) launchFromVersion(n *nodegroup, g *group, version string) {
	g.Spec.LaunchTemplate, g.Spec.MixedInstancesPolicy = nil, r.mixOf(n, n.Launched[version], version)
	// The template is EKS's own and exists: naming it completes what is shown.
	if err := r.nameTemplate(templateSpec(&g.Spec)); err != nil {
		n.find(append(slices.Clone(n.Shape.Health.Issues), eks.Issue{Code: "Ec2LaunchTemplateNotFound", Message: ptr(errorMessage(err)), ResourceIds: []string{n.Template}}))
	}
	r.groups.Touch(g.name())
}

// resizeBehind sets the bounds and the size of the group.
func (r *realm) resizeBehind(g *group, low, desired, high int32) {
	was := *g.Spec.DesiredCapacity
	if was == desired && *g.Spec.MinSize == low && *g.Spec.MaxSize == high {
		return
	}
	g.Spec.MinSize, g.Spec.MaxSize, g.Spec.DesiredCapacity = ptr(low), ptr(high), ptr(desired)
	r.groups.Touch(g.name())
	if was != desired {
		r.because(g, "a user request update of AutoScalingGroup constraints to min: "+itoa(low)+", max: "+itoa(high)+", desired: "+itoa(desired)+
			" changing the desired capacity from "+itoa(was)+" to "+itoa(desired))
		r.lookSoon(g)
	}
}

// behindOf is the node group that a group stands behind, nil for none.
func (r *realm) behindOf(g *group) *nodegroup {
	if g == nil {
		return nil
	}
	for _, n := range r.nodegroups.All() {
		if n.Behind == g.name() {
			return n
		}
	}
	return nil
}

// forgetBehind deletes what is left behind a node group once its machines have gone.
func (r *realm) forgetBehind(n *nodegroup) {
	for key := range r.versions.Under(n.Template + "/") {
		r.versions.Delete(key)
	}
	if t := r.templates.Get(n.Template); t != nil {
		r.directory.profiles.Delete(roleKey(t.Name))
	}
	r.templates.Delete(n.Template)
	if n.Shape.Resources != nil {
		r.securityGroups.Delete(str(n.Shape.Resources.RemoteAccessSecurityGroup))
	}
	for key := range r.updates.Under(n.key() + "/") {
		r.updates.Delete(key)
	}
	r.nodegroups.Delete(n.key())
	r.forgetBlobs()
}

// factsOf are the facts of a machine of a node group; those of the present version where it is of none that is known.
func (n *nodegroup) factsOf(m *member) nodeFacts {
	if f, ok := n.Launched[str(m.Template.Version)]; ok && str(m.Template.LaunchTemplateId) == n.Template {
		return f
	}
	return nodeFacts{Version: str(n.Shape.Version), Release: str(n.Shape.ReleaseVersion)}
}

// present is the version of EKS's template that the node group stands on.
func (r *realm) present(n *nodegroup) string {
	if n.Roll != nil {
		return n.Roll.From
	}
	if t := r.templates.Get(n.Template); t != nil {
		return itoa(t.Default)
	}
	return ""
}

// managedFacts are what a machine of a node group learns of it, nil for other machines.
func (r *realm) managedFacts(i *instance) *managedMachine {
	g := r.groups.Get(i.Tags[groupTagKey])
	n := r.behindOf(g)
	if n == nil {
		return nil
	}
	c, m := r.clusters.Get(n.cluster()), r.members.Get(memberKey(g.name(), i.ID))
	if c == nil || m == nil {
		return nil
	}
	return &managedMachine{cluster: c, group: n, facts: n.factsOf(m)}
}

// managedMachine is a machine's place in EKS.
type managedMachine struct {
	cluster *cluster
	group   *nodegroup
	facts   nodeFacts
}

// labels are those that EKS gives to the node, and those that were asked for.
func (m *managedMachine) labels(spot bool) map[string]string {
	out := map[string]string{}
	maps.Copy(out, m.group.Shape.Labels)
	maps.Copy(out, map[string]string{
		"eks.amazonaws.com/nodegroup": m.group.name(), "eks.amazonaws.com/nodegroup-image": cmp.Or(m.facts.Image, "unknown"),
		"eks.amazonaws.com/capacityType": "ON_DEMAND",
	})
	if spot {
		out["eks.amazonaws.com/capacityType"] = "SPOT"
	}
	if m.facts.Source != "" {
		out["eks.amazonaws.com/sourceLaunchTemplateId"] = m.facts.Source
		out["eks.amazonaws.com/sourceLaunchTemplateVersion"] = m.facts.SourceVersion
	}
	return out
}
