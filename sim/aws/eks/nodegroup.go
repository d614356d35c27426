package eks

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/muster-project/muster/sim/aws/catalogue"
	"github.com/muster-project/muster/sim/aws/ec2"
	"github.com/muster-project/muster/sim/aws/shapes"
	"github.com/muster-project/muster/sim/aws/shapes/eks"
	"github.com/muster-project/muster/sim/aws/wire"
	"github.com/muster-project/muster/sim/core"
	"github.com/muster-project/muster/sim/managed"
)

// How long EKS takes in life.
const (
	// lifeProvision is from a request to the resources behind a node group.
	lifeProvision = 20 * time.Second
	// lifeJoinLimit is the time after which a creation or an update fails whose nodes have not joined.
	lifeJoinLimit = 20 * time.Minute
)

// FindNodegroup returns the node group of that name in the cluster.
func (r *Nodegroups) FindNodegroup(clusterName, name *string) (*Nodegroup, error) {
	if _, err := r.clusters.findCluster(clusterName); err != nil {
		return nil, err
	}
	if n := r.Rows.Get(shapes.Str(clusterName) + "/" + shapes.Str(name)); n != nil {
		return n, nil
	}
	return nil, notFound("No node group found for name: %s.", shapes.Str(name))
}

func (r *Nodegroups) createNodegroup(in *eks.CreateNodegroupInput) (*eks.CreateNodegroupOutput, error) {
	c, err := r.clusters.findCluster(in.ClusterName)
	if err != nil {
		return nil, err
	}
	n, spec, err := r.newNodegroup(c, in)
	if err != nil {
		return nil, err
	}
	// What was asked for with a token is made once, and shown again afterwards.
	_, err = r.Once("CreateNodegroup", shapes.Str(in.ClientRequestToken), in, func() (string, error) {
		if err := r.roomFor(c, n.Name()); err != nil {
			return "", err
		}
		n.Shape.NodegroupArn = new(r.clusters.arn("nodegroup/" + n.key() + "/" + r.Seed.UUID("nodegroup", n.key(), r.Number())))
		n.Launched = map[string]machineSpec{"1": spec}
		n.Next, n.Until = r.Now.Add(r.Life(lifeProvision)), r.Now.Add(r.Life(lifeProvision+lifeJoinLimit))
		r.Rows.Put(n.key(), n)
		if r.Switches.On(GroupAtOnce) && r.sourceIssue(spec) == nil {
			_ = r.backing.createBacking(c, n) // what fails is tried again, and then told as an issue
		}
		return n.key(), nil
	})
	if err != nil {
		return nil, eksToken(err)
	}
	made := r.Rows.Get(n.key())
	if made == nil {
		return nil, notFound("No node group found for name: %s.", n.Name())
	}
	return &eks.CreateNodegroupOutput{Nodegroup: r.ShowNodegroup(made)}, nil
}

// eksToken is EKS's word for a token that was given with other parameters.
func eksToken(err error) error {
	if e := wire.ToAPI(wire.ServiceEKS, err); e.Code == "IdempotentParameterMismatch" {
		return wire.Refuse("InvalidRequestException", "%s", e.Message)
	}
	return err
}

// maxNodegroups a cluster is EKS's quota.
const maxNodegroups = 30

func (r *Nodegroups) roomFor(c *Cluster, name string) error {
	if r.Rows.Get(c.name()+"/"+name) != nil {
		return inUse("NodeGroup already exists with name %s and cluster name %s", name, c.name())
	}
	count := 0
	for range r.Rows.Under(c.name() + "/") {
		count++
	}
	if count >= maxNodegroups {
		return wire.Refuse("ResourceLimitExceededException", "Nodegroup count limit of %d exceeded for cluster %s", maxNodegroups, c.name())
	}
	return nil
}

// newNodegroup is the node group that a call asks for, checked and with EKS's defaults, and what its first machines are.
func (r *Nodegroups) newNodegroup(c *Cluster, in *eks.CreateNodegroupInput) (*Nodegroup, machineSpec, error) {
	if err := r.checkNewNodegroup(c, in); err != nil {
		return nil, machineSpec{}, err
	}
	shape := eks.Nodegroup{
		NodegroupName: in.NodegroupName, ClusterName: in.ClusterName, NodeRole: in.NodeRole, Subnets: in.Subnets, Status: StatusCreating,
		CreatedAt: shapes.NewEpoch(r.Now), ModifiedAt: shapes.NewEpoch(r.Now), Health: &eks.NodegroupHealth{Issues: []eks.Issue{}},
		ScalingConfig: scalingOf(in.ScalingConfig), UpdateConfig: cmp.Or(in.UpdateConfig,
			&eks.NodegroupUpdateConfig{MaxUnavailable: new(int32(1))}),
		CapacityType: cmp.Or(in.CapacityType, "ON_DEMAND"), Labels: maps.Clone(in.Labels), Taints: slices.Clone(in.Taints),
		Tags:         maps.Clone(in.Tags),
		RemoteAccess: in.RemoteAccess, InstanceTypes: slices.Clone(in.InstanceTypes), DiskSize: in.DiskSize,
		NodeRepairConfig: in.NodeRepairConfig, Version: new(cmp.Or(shapes.Str(in.Version), shapes.Str(c.Shape.Version))),
	}
	spec := machineSpec{Version: *shape.Version}
	if in.LaunchTemplate != nil {
		v, err := r.sourceVersion(in.LaunchTemplate)
		if err != nil {
			return nil, spec, err
		}
		if err := r.checkSource(v, in); err != nil {
			return nil, spec, err
		}
		spec.Source, spec.SourceVersion, spec.Image, spec.Own = v.Template, shapes.Itoa(v.Number), shapes.Str(v.Data.ImageId),
			v.Data.ImageId != nil
		shape.LaunchTemplate = &eks.LaunchTemplateSpecification{Id: new(v.Template), Name: new(r.templates.Rows.Get(v.Template).Name),
			Version: new(spec.SourceVersion)}
		if v.Data.InstanceType == "" && len(shape.InstanceTypes) == 0 {
			shape.InstanceTypes = []string{defaultNodeType}
		}
	} else {
		shape.DiskSize = cmp.Or(shape.DiskSize, new(int32(20)))
		if len(shape.InstanceTypes) == 0 {
			shape.InstanceTypes = []string{defaultNodeType}
		}
	}
	err := r.chooseImage(&shape, &spec, in)
	return &Nodegroup{Shape: shape, Drains: managed.Departures{}}, spec, err
}

// defaultNodeType is the instance type of node groups that name none.
const defaultNodeType = "t3.medium"

// chooseImage completes the type and the release of the image, which EKS chooses unless the template names one.
func (r *Nodegroups) chooseImage(shape *eks.Nodegroup, spec *machineSpec, in *eks.CreateNodegroupInput) error {
	if spec.Own {
		shape.AmiType, shape.ReleaseVersion, shape.Version = amiCustom, new(spec.Image), nil
		spec.Version, spec.Release = "", spec.Image
		return nil
	}
	if in.AmiType == amiCustom {
		return badParameter("AMI type CUSTOM requires a launch template with a custom AMI")
	}
	releases := catalogue.ReleasesOf(MinorOf(spec.Version))
	shape.AmiType = cmp.Or(in.AmiType, defaultAMIType(spec.Version, r.architectures(shape, spec)))
	spec.Release = cmp.Or(shapes.Str(in.ReleaseVersion), releases[len(releases)-1])
	if err := checkRelease(shape.AmiType, spec.Version, spec.Release); err != nil {
		return err
	}
	for _, arch := range r.architectures(shape, spec) {
		if arch != catalogue.AmiTypes[shape.AmiType] {
			return badParameter("%s is not a valid instance type for requested amiType %s", strings.Join(r.typesOf(shape, spec), ","),
				shape.AmiType)
		}
	}
	shape.ReleaseVersion = new(spec.Release)
	spec.Image = r.eksImage(shape.AmiType, spec.Version, spec.Release)
	return nil
}

// defaultAMIType is the type that EKS chooses: Amazon Linux 2 as long as it was built for the version.
func defaultAMIType(version string, archs []string) string {
	arm := slices.Contains(archs, "arm64")
	switch {
	case MinorOf(version) <= 29 && arm:
		return "AL2_ARM_64"
	case MinorOf(version) <= 29:
		return "AL2_x86_64"
	case arm:
		return "AL2023_ARM_64_STANDARD"
	default:
		return "AL2023_x86_64_STANDARD"
	}
}

// typesOf are the instance types of a node group, from its own list or its template.
func (r *Nodegroups) typesOf(shape *eks.Nodegroup, spec *machineSpec) []string {
	if len(shape.InstanceTypes) > 0 || spec.Source == "" {
		return shape.InstanceTypes
	}
	if v := r.templates.Versions.Get(ec2.VersionKey(spec.Source, int64(shapes.Atoi(spec.SourceVersion)))); v != nil &&
		v.Data.InstanceType != "" {
		return []string{v.Data.InstanceType}
	}
	return []string{defaultNodeType}
}

func (r *Nodegroups) architectures(shape *eks.Nodegroup, spec *machineSpec) []string {
	var out []string
	for _, t := range r.typesOf(shape, spec) {
		out = append(out, catalogue.InstanceTypes[t].Architecture)
	}
	return out
}

// scalingOf completes a size with EKS's defaults.
func scalingOf(s *eks.NodegroupScalingConfig) *eks.NodegroupScalingConfig {
	out := eks.NodegroupScalingConfig{MinSize: new(int32(1)), MaxSize: new(int32(2)), DesiredSize: new(int32(2))}
	if s != nil {
		shapes.Overlay(&out, s)
		if s.DesiredSize == nil {
			out.DesiredSize = new(max(*out.MinSize, min(*out.DesiredSize, *out.MaxSize)))
		}
	}
	return &out
}

func (r *Nodegroups) describeNodegroup(in *eks.DescribeNodegroupInput) (*eks.DescribeNodegroupOutput, error) {
	n, err := r.FindNodegroup(in.ClusterName, in.NodegroupName)
	if err != nil {
		return nil, err
	}
	return &eks.DescribeNodegroupOutput{Nodegroup: r.ShowNodegroup(n)}, nil
}

// ShowNodegroup is a node group as EKS shows it: with the size that its group has now.
func (r *Nodegroups) ShowNodegroup(n *Nodegroup) *eks.Nodegroup {
	shown := n.Shape
	if !r.Switches.On(core.OmitsEmpty) {
		shown.Labels, shown.Tags = orEmpty(shown.Labels), orEmpty(shown.Tags)
	}
	if n.Behind != "" {
		shown.Resources = &eks.NodegroupResources{AutoScalingGroups: []eks.AutoScalingGroup{{Name: new(n.Behind)}}}
		if n.Shape.Resources != nil {
			shown.Resources.RemoteAccessSecurityGroup = n.Shape.Resources.RemoteAccessSecurityGroup
		}
	}
	if g := r.groups.Rows.Get(n.Behind); g != nil && n.Roll == nil && n.Shape.Status != StatusDeleting {
		scaling := *n.Shape.ScalingConfig
		scaling.DesiredSize = new(*g.Spec.DesiredCapacity)
		shown.ScalingConfig = &scaling
	}
	return &shown
}

func (r *Nodegroups) listNodegroups(in *eks.ListNodegroupsInput) (*eks.ListNodegroupsOutput, error) {
	if _, err := r.clusters.findCluster(in.ClusterName); err != nil {
		return nil, err
	}
	var names []string
	for _, n := range r.Rows.Under(shapes.Str(in.ClusterName) + "/") {
		names = append(names, n.Name())
	}
	page, next, err := r.clusters.pageNames(names, in.NextToken, in.MaxResults)
	return &eks.ListNodegroupsOutput{Nodegroups: page, NextToken: next}, err
}

func (r *Nodegroups) deleteNodegroup(in *eks.DeleteNodegroupInput) (*eks.DeleteNodegroupOutput, error) {
	n, err := r.FindNodegroup(in.ClusterName, in.NodegroupName)
	if err != nil {
		return nil, err
	}
	switch n.Shape.Status {
	case StatusUpdating:
		return nil, inUse("Nodegroup cannot be deleted while it is being updated: %s", n.Name())
	case StatusDeleting:
		return &eks.DeleteNodegroupOutput{Nodegroup: r.ShowNodegroup(n)}, nil
	}
	n.Shape.Status, n.Shape.ModifiedAt = StatusDeleting, shapes.NewEpoch(r.Now)
	n.Next, n.Until = r.Now.Add(r.Life(managed.Watch)), time.Time{}
	r.TouchNodegroup(n)
	return &eks.DeleteNodegroupOutput{Nodegroup: r.ShowNodegroup(n)}, nil
}
