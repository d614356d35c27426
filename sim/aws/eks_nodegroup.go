package aws

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/muster-project/muster/sim/aws/shapes"
	"github.com/muster-project/muster/sim/aws/shapes/eks"
)

// How long EKS takes in life.
const (
	// lifeProvision is from a request to the resources behind a node group.
	lifeProvision = 20 * time.Second
	// lifeJoinLimit is how long nodes have to join before a creation or an update fails.
	lifeJoinLimit = 20 * time.Minute
	// lifeWatch is how often EKS looks at what it waits for.
	lifeWatch = 5 * time.Second
)

func (r *realm) findNodegroup(clusterName, name *string) (*nodegroup, error) {
	if _, err := r.findCluster(clusterName); err != nil {
		return nil, err
	}
	if n := r.nodegroups.Get(str(clusterName) + "/" + str(name)); n != nil {
		return n, nil
	}
	return nil, notFound("No node group found for name: %s.", str(name))
}

func (r *realm) createNodegroup(in *eks.CreateNodegroupInput) (*eks.CreateNodegroupOutput, error) {
	c, err := r.findCluster(in.ClusterName)
	if err != nil {
		return nil, err
	}
	n, facts, err := r.newNodegroup(c, in)
	if err != nil {
		return nil, err
	}
	// What was asked for with a token is made once, and shown again afterwards.
	_, err = r.once("CreateNodegroup", str(in.ClientRequestToken), in, func() (string, error) {
		if err := r.roomFor(c, n.name()); err != nil {
			return "", err
		}
		n.Shape.NodegroupArn = ptr(r.eksARN("nodegroup/" + n.key() + "/" + r.server.seed.UUID("nodegroup", n.key(), r.number())))
		n.Launched = map[string]nodeFacts{"1": facts}
		n.Next, n.Until = r.now.Add(r.life(lifeProvision)), r.now.Add(r.life(lifeProvision+lifeJoinLimit))
		r.nodegroups.Put(n.key(), n)
		return n.key(), nil
	})
	if err != nil {
		return nil, eksToken(err)
	}
	made := r.nodegroups.Get(n.key())
	if made == nil {
		return nil, notFound("No node group found for name: %s.", n.name())
	}
	return &eks.CreateNodegroupOutput{Nodegroup: r.showNodegroup(made)}, nil
}

// eksToken is EKS's word for a token that was given with other parameters.
func eksToken(err error) error {
	if e := toAPI(serviceEKS, err); e.Code == "IdempotentParameterMismatch" {
		return refuse("InvalidRequestException", "%s", e.Message)
	}
	return err
}

// maxNodegroups a cluster is EKS's quota.
const maxNodegroups = 30

func (r *realm) roomFor(c *cluster, name string) error {
	if r.nodegroups.Get(c.name()+"/"+name) != nil {
		return inUse("NodeGroup already exists with name %s and cluster name %s", name, c.name())
	}
	count := 0
	for range r.nodegroups.Under(c.name() + "/") {
		count++
	}
	if count >= maxNodegroups {
		return refuse("ResourceLimitExceededException", "Nodegroup count limit of %d exceeded for cluster %s", maxNodegroups, c.name())
	}
	return nil
}

// newNodegroup is the node group that a call asks for, checked and with EKS's defaults, and what its first machines are.
func (r *realm) newNodegroup(c *cluster, in *eks.CreateNodegroupInput) (*nodegroup, nodeFacts, error) {
	if err := r.checkNewNodegroup(c, in); err != nil {
		return nil, nodeFacts{}, err
	}
	shape := eks.Nodegroup{
		NodegroupName: in.NodegroupName, ClusterName: in.ClusterName, NodeRole: in.NodeRole, Subnets: in.Subnets, Status: eksCreating,
		CreatedAt: shapes.NewEpoch(r.now), ModifiedAt: shapes.NewEpoch(r.now), Health: &eks.NodegroupHealth{Issues: []eks.Issue{}},
		ScalingConfig: scalingOf(in.ScalingConfig), UpdateConfig: cmp.Or(in.UpdateConfig, &eks.NodegroupUpdateConfig{MaxUnavailable: ptr(int32(1))}),
		CapacityType: cmp.Or(in.CapacityType, "ON_DEMAND"), Labels: maps.Clone(in.Labels), Taints: slices.Clone(in.Taints), Tags: maps.Clone(in.Tags),
		RemoteAccess: in.RemoteAccess, InstanceTypes: slices.Clone(in.InstanceTypes), DiskSize: in.DiskSize,
		NodeRepairConfig: in.NodeRepairConfig, Version: ptr(cmp.Or(str(in.Version), str(c.Shape.Version))),
	}
	facts := nodeFacts{Version: *shape.Version}
	if in.LaunchTemplate != nil {
		v, err := r.sourceVersion(in.LaunchTemplate)
		if err != nil {
			return nil, facts, err
		}
		if err := r.checkSource(v, in); err != nil {
			return nil, facts, err
		}
		facts.Source, facts.SourceVersion, facts.Image, facts.Own = v.Template, itoa(v.Number), str(v.Data.ImageId), v.Data.ImageId != nil
		shape.LaunchTemplate = &eks.LaunchTemplateSpecification{Id: ptr(v.Template), Name: ptr(r.templates.Get(v.Template).Name), Version: ptr(facts.SourceVersion)}
		if v.Data.InstanceType == "" && len(shape.InstanceTypes) == 0 {
			shape.InstanceTypes = []string{defaultNodeType}
		}
	} else {
		shape.DiskSize = cmp.Or(shape.DiskSize, ptr(int32(20)))
		if len(shape.InstanceTypes) == 0 {
			shape.InstanceTypes = []string{defaultNodeType}
		}
	}
	err := r.chooseImage(&shape, &facts, in)
	return &nodegroup{Shape: shape, Drains: map[string]time.Time{}}, facts, err
}

// defaultNodeType is what EKS launches where nothing is asked for.
const defaultNodeType = "t3.medium"

// chooseImage completes the type and the release of the image, which EKS chooses unless the template names one.
func (r *realm) chooseImage(shape *eks.Nodegroup, facts *nodeFacts, in *eks.CreateNodegroupInput) error {
	if facts.Own {
		shape.AmiType, shape.ReleaseVersion, shape.Version = amiCustom, ptr(facts.Image), nil
		facts.Version, facts.Release = "", facts.Image
		return nil
	}
	if in.AmiType == amiCustom {
		return badParameter("AMI type CUSTOM requires a launch template with a custom AMI")
	}
	releases := releasesOf(minorOf(facts.Version))
	shape.AmiType = cmp.Or(in.AmiType, defaultAMIType(facts.Version, r.architectures(shape, facts)))
	facts.Release = cmp.Or(str(in.ReleaseVersion), releases[len(releases)-1])
	if err := checkRelease(shape.AmiType, facts.Version, facts.Release); err != nil {
		return err
	}
	for _, arch := range r.architectures(shape, facts) {
		if arch != amiTypes[shape.AmiType] {
			return badParameter("%s is not a valid instance type for requested amiType %s", strings.Join(r.typesOf(shape, facts), ","), shape.AmiType)
		}
	}
	shape.ReleaseVersion = ptr(facts.Release)
	facts.Image = r.eksImage(shape.AmiType, facts.Version, facts.Release)
	return nil
}

// defaultAMIType is the type that EKS chooses: Amazon Linux 2 as long as it was built for the version.
func defaultAMIType(version string, archs []string) string {
	arm := slices.Contains(archs, "arm64")
	switch {
	case minorOf(version) <= 29 && arm:
		return "AL2_ARM_64"
	case minorOf(version) <= 29:
		return "AL2_x86_64"
	case arm:
		return "AL2023_ARM_64_STANDARD"
	default:
		return "AL2023_x86_64_STANDARD"
	}
}

// typesOf are the instance types of a node group, from its own list or its template.
func (r *realm) typesOf(shape *eks.Nodegroup, facts *nodeFacts) []string {
	if len(shape.InstanceTypes) > 0 || facts.Source == "" {
		return shape.InstanceTypes
	}
	if v := r.versions.Get(versionKey(facts.Source, int64(atoi(facts.SourceVersion)))); v != nil && v.Data.InstanceType != "" {
		return []string{v.Data.InstanceType}
	}
	return []string{defaultNodeType}
}

func (r *realm) architectures(shape *eks.Nodegroup, facts *nodeFacts) []string {
	var out []string
	for _, t := range r.typesOf(shape, facts) {
		out = append(out, instanceTypes[t].architecture)
	}
	return out
}

// scalingOf completes a size with EKS's defaults.
func scalingOf(s *eks.NodegroupScalingConfig) *eks.NodegroupScalingConfig {
	out := eks.NodegroupScalingConfig{MinSize: ptr(int32(1)), MaxSize: ptr(int32(2)), DesiredSize: ptr(int32(2))}
	if s != nil {
		overlay(&out, s)
		if s.DesiredSize == nil {
			out.DesiredSize = ptr(max(*out.MinSize, min(*out.DesiredSize, *out.MaxSize)))
		}
	}
	return &out
}

func (r *realm) describeNodegroup(in *eks.DescribeNodegroupInput) (*eks.DescribeNodegroupOutput, error) {
	n, err := r.findNodegroup(in.ClusterName, in.NodegroupName)
	if err != nil {
		return nil, err
	}
	return &eks.DescribeNodegroupOutput{Nodegroup: r.showNodegroup(n)}, nil
}

// showNodegroup is a node group as EKS shows it: with the size that its group has now, whoever has changed it.
func (r *realm) showNodegroup(n *nodegroup) *eks.Nodegroup {
	shown := n.Shape
	shown.Labels, shown.Tags = orEmpty(shown.Labels), orEmpty(shown.Tags)
	if n.Behind != "" {
		shown.Resources = &eks.NodegroupResources{AutoScalingGroups: []eks.AutoScalingGroup{{Name: ptr(n.Behind)}}}
		if n.Shape.Resources != nil {
			shown.Resources.RemoteAccessSecurityGroup = n.Shape.Resources.RemoteAccessSecurityGroup
		}
	}
	if g := r.groups.Get(n.Behind); g != nil && n.Roll == nil && n.Shape.Status != eksDeleting {
		scaling := *n.Shape.ScalingConfig
		scaling.DesiredSize = ptr(*g.Spec.DesiredCapacity)
		shown.ScalingConfig = &scaling
	}
	return &shown
}

func (r *realm) listNodegroups(in *eks.ListNodegroupsInput) (*eks.ListNodegroupsOutput, error) {
	if _, err := r.findCluster(in.ClusterName); err != nil {
		return nil, err
	}
	var names []string
	for _, n := range r.nodegroups.Under(str(in.ClusterName) + "/") {
		names = append(names, n.name())
	}
	page, next, err := r.pageNames(names, in.NextToken, in.MaxResults)
	return &eks.ListNodegroupsOutput{Nodegroups: page, NextToken: next}, err
}

func (r *realm) deleteNodegroup(in *eks.DeleteNodegroupInput) (*eks.DeleteNodegroupOutput, error) {
	n, err := r.findNodegroup(in.ClusterName, in.NodegroupName)
	if err != nil {
		return nil, err
	}
	switch n.Shape.Status {
	case eksUpdating:
		return nil, inUse("Nodegroup cannot be deleted while it is being updated: %s", n.name())
	case eksDeleting:
		return &eks.DeleteNodegroupOutput{Nodegroup: r.showNodegroup(n)}, nil
	}
	n.Shape.Status, n.Shape.ModifiedAt = eksDeleting, shapes.NewEpoch(r.now)
	n.Next, n.Until = r.now.Add(r.life(lifeWatch)), time.Time{}
	r.touchNodegroup(n)
	return &eks.DeleteNodegroupOutput{Nodegroup: r.showNodegroup(n)}, nil
}
