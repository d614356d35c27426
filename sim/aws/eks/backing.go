package eks

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/muster-project/muster/sim/aws/autoscaling"
	"github.com/muster-project/muster/sim/aws/ec2"
	"github.com/muster-project/muster/sim/aws/iam"
	"github.com/muster-project/muster/sim/aws/shapes"
	autoscalingshapes "github.com/muster-project/muster/sim/aws/shapes/autoscaling"
	ec2shapes "github.com/muster-project/muster/sim/aws/shapes/ec2"
	"github.com/muster-project/muster/sim/aws/shapes/eks"
	"github.com/muster-project/muster/sim/aws/wire"
)

// The hooks by which EKS gets to know that a machine comes or goes.
const (
	launchHook, terminateHook = "Launch-LC-Hook", "Terminate-LC-Hook"
	eksHeartbeat              = int32(1800)
)

// createBacking makes what stands behind a node group: a launch template of EKS's own and the Auto Scaling group.
func (r *Backing) createBacking(c *Cluster, n *Nodegroup) error {
	id := r.Seed.UUID("behind", n.key(), r.Number())
	if a := n.Shape.RemoteAccess; a != nil && n.Shape.Resources == nil {
		group := r.NewID("sg")
		r.network.SecurityGroups.Put(group, &ec2.SecurityGroup{
			ID: group, Name: "eks-remoteAccess-" + id, Description: "Security group for all nodes in the nodeGroup to allow SSH access",
			VPC: shapes.Str(c.Shape.ResourcesVpcConfig.VpcId), Tags: map[string]string{"eks": n.Name(), eksNodegroupTag: n.Name()},
		})
		n.Shape.Resources = &eks.NodegroupResources{RemoteAccessSecurityGroup: new(group)}
	}
	spec := n.Launched["1"]
	t := &ec2.Template{ID: r.NewID("lt"), Name: "eks-" + id, Created: r.Now, Default: 1,
		Tags: map[string]string{eksClusterTag: n.Cluster(), eksNodegroupTag: n.Name()}}
	r.templates.Rows.Put(t.ID, t)
	n.Template = t.ID
	r.directory.Profiles.Put(iam.RoleKey(t.Name), &iam.Profile{
		Name: t.Name, Path: "/", ID: r.directory.NewID("AIPA"), Created: r.Now, Tags: map[string]string{},
		Role: r.directory.Named(shapes.Str(n.Shape.NodeRole)).NameOr(""),
	})
	r.templates.AddVersion(t, r.merged(c, n, spec), "")
	name := "eks-" + n.Name() + "-" + id
	s := n.Shape.ScalingConfig
	_, err := r.groups.CreateGroup(&autoscalingshapes.CreateAutoScalingGroupInput{
		AutoScalingGroupName: new(name), MinSize: new(*s.MinSize), MaxSize: new(*s.MaxSize), DesiredCapacity: new(*s.DesiredSize),
		VPCZoneIdentifier: new(strings.Join(n.Shape.Subnets, ",")), MixedInstancesPolicy: r.mixOf(n, spec, "1"),
		HealthCheckGracePeriod: new(int32(15)), CapacityRebalance: new(n.Shape.CapacityType == "SPOT"),
		TerminationPolicies: []string{"AllocationStrategy", "OldestLaunchTemplate", "OldestInstance"},
		LifecycleHookSpecificationList: []autoscalingshapes.LifecycleHookSpecification{
			{LifecycleHookName: new(launchHook), LifecycleTransition: new(autoscaling.TransitionLaunching), HeartbeatTimeout: new(eksHeartbeat),
				DefaultResult: new("CONTINUE")},
			{LifecycleHookName: new(terminateHook), LifecycleTransition: new(autoscaling.TransitionTerminating), HeartbeatTimeout: new(eksHeartbeat),
				DefaultResult: new("CONTINUE")},
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
func eksGroupTags(n *Nodegroup) []autoscalingshapes.Tag {
	tags := map[string]string{
		eksClusterTag: n.Cluster(), eksNodegroupTag: n.Name(), "kubernetes.io/cluster/" + n.Cluster(): "owned",
		"k8s.io/cluster-autoscaler/" + n.Cluster(): "owned", "k8s.io/cluster-autoscaler/enabled": "true",
	}
	var out []autoscalingshapes.Tag
	for _, k := range slices.Sorted(maps.Keys(tags)) {
		out = append(out, autoscalingshapes.Tag{Key: new(k), Value: new(tags[k]), PropagateAtLaunch: new(true)})
	}
	return out
}

// mixOf returns the mixed instances policy with which EKS's group launches: from its own template, in the types of the node
// group, on demand or spot.
func (r *Backing) mixOf(n *Nodegroup, spec machineSpec, version string) *autoscalingshapes.MixedInstancesPolicy {
	mix := &autoscalingshapes.MixedInstancesPolicy{
		InstancesDistribution: &autoscalingshapes.InstancesDistribution{
			OnDemandAllocationStrategy: new("prioritized"), OnDemandBaseCapacity: new(int32(0)),
			OnDemandPercentageAboveBaseCapacity: new(int32(100)),
			SpotAllocationStrategy:              new("price-capacity-optimized"),
		},
		LaunchTemplate: &autoscalingshapes.LaunchTemplate{
			LaunchTemplateSpecification: &autoscalingshapes.LaunchTemplateSpecification{LaunchTemplateId: new(n.Template), Version: new(version)},
		},
	}
	if n.Shape.CapacityType == "SPOT" {
		mix.InstancesDistribution.OnDemandPercentageAboveBaseCapacity = new(int32(0))
	}
	for _, t := range r.nodegroups.typesOf(&n.Shape, &spec) {
		mix.LaunchTemplate.Overrides = append(mix.LaunchTemplate.Overrides, autoscalingshapes.LaunchTemplateOverrides{InstanceType: new(t)})
	}
	return mix
}

// merged is EKS's own template: that of the user, with what EKS adds.
func (r *Backing) merged(c *Cluster, n *Nodegroup, spec machineSpec) ec2shapes.ResponseLaunchTemplateData {
	var d ec2shapes.ResponseLaunchTemplateData
	if v := r.templates.Versions.Get(ec2.VersionKey(spec.Source, int64(shapes.Atoi(spec.SourceVersion)))); v != nil {
		d = v.Data
		d.UserData = shapes.Opt(r.templates.UserData.Kept(v.Blob))
	} else {
		d.BlockDeviceMappings = []ec2shapes.LaunchTemplateBlockDeviceMapping{{
			DeviceName: new("/dev/xvda"), Ebs: &ec2shapes.LaunchTemplateEbsBlockDevice{VolumeSize: n.Shape.DiskSize, VolumeType: "gp3",
				DeleteOnTermination: new(true)},
		}}
		d.MetadataOptions = &ec2shapes.LaunchTemplateInstanceMetadataOptions{HttpPutResponseHopLimit: new(int32(2))}
	}
	d.ImageId = new(spec.Image)
	d.InstanceType = ""
	d.IamInstanceProfile = &ec2shapes.LaunchTemplateIamInstanceProfileSpecification{Name: r.templateName(n)}
	if len(d.SecurityGroupIds)+len(d.SecurityGroups)+len(d.NetworkInterfaces) == 0 {
		d.SecurityGroupIds = []string{shapes.Str(c.Shape.ResourcesVpcConfig.ClusterSecurityGroupId)}
	}
	if a := n.Shape.RemoteAccess; a != nil {
		d.KeyName = a.Ec2SshKey
		d.SecurityGroupIds = append(d.SecurityGroupIds, shapes.Str(n.Shape.Resources.RemoteAccessSecurityGroup))
	}
	return d
}

// templateName is the name of EKS's own template, which is that of the instance profile as well.
func (r *Backing) templateName(n *Nodegroup) *string {
	if t := r.templates.Rows.Get(n.Template); t != nil {
		return new(t.Name)
	}
	return nil
}

// launchFromVersion lets the group launch from a version of EKS's template.
func (r *Backing) launchFromVersion(n *Nodegroup, g *autoscaling.Group, version string) {
	g.Spec.LaunchTemplate, g.Spec.MixedInstancesPolicy = nil, r.mixOf(n, n.Launched[version], version)
	// The template is EKS's own and exists: naming it completes what is shown.
	if err := r.groups.NameTemplate(autoscaling.TemplateSpec(&g.Spec)); err != nil {
		n.find(append(slices.Clone(n.Shape.Health.Issues), eks.Issue{Code: "Ec2LaunchTemplateNotFound", Message: new(wire.ErrorMessage(err)),
			ResourceIds: []string{n.Template}}))
	}
	r.groups.Rows.Touch(g.Name())
}

// resizeGroup sets the bounds and the size of the group.
func (r *Backing) resizeGroup(g *autoscaling.Group, low, desired, high int32) {
	was := *g.Spec.DesiredCapacity
	if was == desired && *g.Spec.MinSize == low && *g.Spec.MaxSize == high {
		return
	}
	g.Spec.MinSize, g.Spec.MaxSize, g.Spec.DesiredCapacity = new(low), new(high), new(desired)
	r.groups.Rows.Touch(g.Name())
	if was != desired {
		r.groups.SetCause(g, "a user request update of AutoScalingGroup constraints to min: "+shapes.Itoa(low)+", max: "+
			shapes.Itoa(high)+", desired: "+shapes.Itoa(desired)+
			" changing the desired capacity from "+shapes.Itoa(was)+" to "+shapes.Itoa(desired))
		r.groups.CheckSoon(g)
	}
}

// backedBy is the node group that a group stands behind, nil for none.
func (r *Backing) backedBy(g *autoscaling.Group) *Nodegroup {
	if g == nil {
		return nil
	}
	for _, n := range r.nodegroups.Rows.All() {
		if n.Behind == g.Name() {
			return n
		}
	}
	return nil
}

// deleteBacking deletes what is left behind a node group once its machines have gone.
func (r *Backing) deleteBacking(n *Nodegroup) {
	for key := range r.templates.Versions.Under(n.Template + "/") {
		r.templates.Versions.Delete(key)
	}
	if t := r.templates.Rows.Get(n.Template); t != nil {
		r.directory.Profiles.Delete(iam.RoleKey(t.Name))
	}
	r.templates.Rows.Delete(n.Template)
	if n.Shape.Resources != nil {
		r.network.SecurityGroups.Delete(shapes.Str(n.Shape.Resources.RemoteAccessSecurityGroup))
	}
	for key := range r.updates.Rows.Under(n.key() + "/") {
		r.updates.Rows.Delete(key)
	}
	r.nodegroups.Rows.Delete(n.key())
	r.templates.ForgetUserData()
}

// specOf is the specification of a machine of a node group; that of the present version where it is of none that is known.
func (n *Nodegroup) specOf(m *autoscaling.Member) machineSpec {
	if f, ok := n.Launched[shapes.Str(m.Template.Version)]; ok && shapes.Str(m.Template.LaunchTemplateId) == n.Template {
		return f
	}
	return machineSpec{Version: shapes.Str(n.Shape.Version), Release: shapes.Str(n.Shape.ReleaseVersion)}
}

// present is the version of EKS's template that the node group stands on.
func (r *Backing) present(n *Nodegroup) string {
	if n.Roll != nil {
		return n.Roll.From
	}
	if t := r.templates.Rows.Get(n.Template); t != nil {
		return shapes.Itoa(t.Default)
	}
	return ""
}

// managedMachineOf returns what a machine of a node group reads of it, nil for other machines.
func (r *Backing) managedMachineOf(i *ec2.Instance) *managedMachine {
	g := r.groups.Rows.Get(i.Tags[ec2.GroupTagKey])
	n := r.backedBy(g)
	if n == nil {
		return nil
	}
	c, m := r.clusters.Rows.Get(n.Cluster()), r.members.Rows.Get(autoscaling.MemberKey(g.Name(), i.ID))
	if c == nil || m == nil {
		return nil
	}
	return &managedMachine{cluster: c, group: n, spec: n.specOf(m)}
}

// managedMachine is a machine's place in EKS.
type managedMachine struct {
	cluster *Cluster
	group   *Nodegroup
	spec    machineSpec
}

// labels are those that EKS gives to the node, and those that were asked for.
func (m *managedMachine) labels(spot bool) map[string]string {
	out := map[string]string{}
	maps.Copy(out, m.group.Shape.Labels)
	maps.Copy(out, map[string]string{
		"eks.amazonaws.com/nodegroup": m.group.Name(), "eks.amazonaws.com/nodegroup-image": cmp.Or(m.spec.Image, "unknown"),
		"eks.amazonaws.com/capacityType": "ON_DEMAND",
	})
	if spot {
		out["eks.amazonaws.com/capacityType"] = "SPOT"
	}
	if m.spec.Source != "" {
		out["eks.amazonaws.com/sourceLaunchTemplateId"] = m.spec.Source
		out["eks.amazonaws.com/sourceLaunchTemplateVersion"] = m.spec.SourceVersion
	}
	return out
}

// admits reports a role by which the machines of a node group are let into the cluster: one that exists and, where the simulator
// is strict, may do what nodes do.
func (r *Backing) admits(arn string) bool {
	found := r.directory.Named(arn)
	if found == nil || !r.Strict {
		return found != nil
	}
	registry := slices.ContainsFunc(found.Attached, func(p string) bool { return strings.Contains(p, "AmazonEC2ContainerRegistry") })
	return registry && slices.Contains(found.Attached, iam.AwsPolicyPrefix+"AmazonEKSWorkerNodePolicy")
}
