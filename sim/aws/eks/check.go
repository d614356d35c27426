package eks

import (
	"encoding/base64"
	"regexp"
	"slices"
	"strings"

	"github.com/muster-project/muster/sim/aws/account"
	"github.com/muster-project/muster/sim/aws/catalogue"
	"github.com/muster-project/muster/sim/aws/ec2"
	"github.com/muster-project/muster/sim/aws/shapes"
	"github.com/muster-project/muster/sim/aws/shapes/eks"
	"github.com/muster-project/muster/sim/aws/wire"
)

// Limits of node groups, as EKS documents them.
const (
	maxNodes, maxNodeTypes, maxNodeTaints, maxNodeLabels = 450, 20, 50, 50
	maxUnavailableNodes                                  = 100
)

var (
	nodegroupName = regexp.MustCompile(`^[0-9A-Za-z][A-Za-z0-9\-_]{0,62}$`)
	// labelKey and labelValue match the labels that Kubernetes accepts.
	labelKey   = regexp.MustCompile(`^([a-z0-9]([-a-z0-9.]*[a-z0-9])?/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$`)
	labelValue = regexp.MustCompile(`^([A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)?$`)
)

// checkNewNodegroup refuses what EKS refuses of a new node group before it looks at its template.
func (r *Nodegroups) checkNewNodegroup(c *Cluster, in *eks.CreateNodegroupInput) error {
	if c.Shape.Status != StatusActive {
		return wire.Refuse("InvalidRequestException", "Cluster '%s' is not in ACTIVE status", c.name())
	}
	if !nodegroupName.MatchString(shapes.Str(in.NodegroupName)) {
		return badParameter("The node group name '%s' is not valid: it begins with a letter or a digit and has at most 63 of these, - and _.",
			shapes.Str(in.NodegroupName))
	}
	if in.WarmPoolConfig != nil {
		return badParameter("Warm pools are not simulated.")
	}
	if v := shapes.Str(in.Version); v != "" && v != shapes.Str(c.Shape.Version) {
		return badParameter("Nodegroup Kubernetes version %s must be that of the cluster, %s", v, shapes.Str(c.Shape.Version))
	}
	for _, check := range []func() error{
		func() error { return checkSubnets(r.network, in.Subnets) },
		func() error { return r.checkNodeRole(shapes.Str(in.NodeRole)) },
		func() error { return checkScaling(scalingOf(in.ScalingConfig)) },
		func() error { return checkTypes(in.InstanceTypes) },
		func() error { return checkUpdateConfig(in.UpdateConfig) },
		func() error { return checkLabels(in.Labels) },
		func() error { return checkTaints(in.Taints) },
		func() error { return checkRepair(in.NodeRepairConfig) },
		func() error { return checkEKSTags(in.Tags) },
		func() error { return checkRemote(r.network, in.RemoteAccess) },
		func() error { return checkDisk(in.DiskSize) },
	} {
		if err := check(); err != nil {
			return err
		}
	}
	return checkWords(in)
}

// checkWords refuses words that EKS does not know.
func checkWords(in *eks.CreateNodegroupInput) error {
	if t := in.AmiType; t != "" && t != amiCustom && catalogue.AmiTypes[t] == "" {
		return badParameter("amiType %s is not known", t)
	}
	switch in.CapacityType {
	case "", "ON_DEMAND", "SPOT":
		return nil
	}
	return badParameter("capacityType %s is not known or not simulated", in.CapacityType)
}

func checkSubnets(network *ec2.Network, ids []string) error {
	if len(ids) == 0 {
		return badParameter("Subnets are not specified")
	}
	for _, id := range ids {
		if network.Subnets.Get(id) == nil {
			return badParameter("The subnet ID '%s' does not exist", id)
		}
	}
	return nil
}

func checkScaling(s *eks.NodegroupScalingConfig) error {
	low, want, high := *s.MinSize, *s.DesiredSize, *s.MaxSize
	switch {
	case low < 0 || want < 0:
		return badParameter("Minimum and desired capacity must not be negative: %d, %d", low, want)
	case high < 1 || high > maxNodes:
		return badParameter("Maximum capacity must be between 1 and %d: %d", maxNodes, high)
	case low > want:
		return badParameter("Minimum capacity %d can't be greater than desired size %d", low, want)
	case want > high:
		return badParameter("Desired capacity %d can't be greater than max size %d", want, high)
	}
	return nil
}

// maxDisk is the largest disk of a node, in GiB.
const maxDisk = 16384

func checkDisk(size *int32) error {
	if size != nil && (*size < 1 || *size > maxDisk) {
		return badParameter("Disk size must be between 1 and %d GiB: %d", maxDisk, *size)
	}
	return nil
}

func checkTypes(types []string) error {
	if len(types) > maxNodeTypes {
		return badParameter("instanceTypes has more than %d members", maxNodeTypes)
	}
	for _, t := range types {
		if _, ok := catalogue.InstanceTypes[t]; !ok {
			return badParameter("The following supplied instance types do not exist: [%s]", t)
		}
	}
	return nil
}

func checkUpdateConfig(c *eks.NodegroupUpdateConfig) error {
	if c == nil {
		return nil
	}
	switch {
	case (c.MaxUnavailable == nil) == (c.MaxUnavailablePercentage == nil):
		return badParameter("Exactly one of maxUnavailable and maxUnavailablePercentage must be set")
	case c.MaxUnavailable != nil && (*c.MaxUnavailable < 1 || *c.MaxUnavailable > maxUnavailableNodes):
		return badParameter("maxUnavailable must be between 1 and %d: %d", maxUnavailableNodes, *c.MaxUnavailable)
	case c.MaxUnavailablePercentage != nil && (*c.MaxUnavailablePercentage < 1 || *c.MaxUnavailablePercentage > 100):
		return badParameter("maxUnavailablePercentage must be between 1 and 100: %d", *c.MaxUnavailablePercentage)
	case !slices.Contains([]string{"", "DEFAULT", "MINIMAL"}, c.UpdateStrategy):
		return badParameter("updateStrategy %s is not known", c.UpdateStrategy)
	}
	return nil
}

func checkLabels(labels map[string]string) error {
	if len(labels) > maxNodeLabels {
		return badParameter("A node group can have at most %d labels", maxNodeLabels)
	}
	for k, v := range labels {
		switch {
		case !labelKey.MatchString(k):
			return badParameter("Label key %s is not valid", k)
		case !labelValue.MatchString(v):
			return badParameter("Value %s of the label %s is not valid", v, k)
		case reservedLabel(k):
			return badParameter("Label cannot contain reserved prefixes [kubernetes.io/, k8s.io/, eks.amazonaws.com/]: %s", k)
		}
	}
	return nil
}

// reservedLabel reports a label that belongs to Kubernetes or EKS, and is not one that users may set.
func reservedLabel(key string) bool {
	prefix, _, ok := strings.Cut(key, "/")
	if !ok || strings.HasSuffix(prefix, "node.kubernetes.io") || prefix == "kubelet.kubernetes.io" {
		return false
	}
	for _, domain := range []string{"kubernetes.io", "k8s.io", "eks.amazonaws.com"} {
		if prefix == domain || strings.HasSuffix(prefix, "."+domain) {
			return true
		}
	}
	return false
}

// taintEffects are EKS's words for effects, and those of Kubernetes.
var taintEffects = map[string]string{"NO_SCHEDULE": "NoSchedule", "NO_EXECUTE": "NoExecute", "PREFER_NO_SCHEDULE": "PreferNoSchedule"}

func checkTaints(taints []eks.Taint) error {
	if len(taints) > maxNodeTaints {
		return badParameter("A node group can have at most %d taints", maxNodeTaints)
	}
	seen := map[string]bool{}
	for _, t := range taints {
		id := shapes.Str(t.Key) + ":" + t.Effect
		switch {
		case !labelKey.MatchString(shapes.Str(t.Key)):
			return badParameter("Taint key %s is not valid", shapes.Str(t.Key))
		case !labelValue.MatchString(shapes.Str(t.Value)):
			return badParameter("Taint value %s is not valid", shapes.Str(t.Value))
		case taintEffects[t.Effect] == "":
			return badParameter("Taint effect %s is not known", t.Effect)
		case seen[id]:
			return badParameter("Taint %s is given twice", id)
		}
		seen[id] = true
	}
	return nil
}

func checkRepair(c *eks.NodeRepairConfig) error {
	if c == nil {
		return nil
	}
	if c.MaxUnhealthyNodeThresholdCount != nil && c.MaxUnhealthyNodeThresholdPercentage != nil {
		return badParameter("maxUnhealthyNodeThresholdCount and maxUnhealthyNodeThresholdPercentage cannot be set at the same time")
	}
	if c.MaxParallelNodesRepairedCount != nil && c.MaxParallelNodesRepairedPercentage != nil {
		return badParameter("maxParallelNodesRepairedCount and maxParallelNodesRepairedPercentage cannot be set at the same time")
	}
	return nil
}

func checkEKSTags(tags map[string]string) error {
	if len(tags) > account.MaxTags {
		return wire.Refuse("BadRequestException", "A resource can have at most %d tags", account.MaxTags)
	}
	for k, v := range tags {
		switch {
		case k == "" || len(k) > 128 || len(v) > 256:
			return wire.Refuse("BadRequestException", "Tag keys have 1 to 128 characters and values at most 256: %s", k)
		case strings.HasPrefix(strings.ToLower(k), "aws:"):
			return wire.Refuse("BadRequestException", "aws: prefixed tag key names are not allowed for external use.")
		}
	}
	return nil
}

func checkRemote(network *ec2.Network, a *eks.RemoteAccessConfig) error {
	if a == nil {
		return nil
	}
	if key := shapes.Str(a.Ec2SshKey); key != "" && network.KeyPairs.Get(key) == nil {
		return badParameter("The key pair '%s' does not exist", key)
	}
	for _, id := range a.SourceSecurityGroups {
		if network.SecurityGroups.Get(id) == nil {
			return badParameter("The security group '%s' does not exist", id)
		}
	}
	return nil
}

// sourceVersion is the version of the user's launch template that a node group is to use.
func (r *Nodegroups) sourceVersion(s *eks.LaunchTemplateSpecification) (*ec2.Version, error) {
	if (shapes.Str(s.Id) == "") == (shapes.Str(s.Name) == "") {
		return nil, badParameter("Either provide launch template ID or launch template name in the request.")
	}
	t, err := r.templates.FindTemplate(s.Id, s.Name)
	if err != nil {
		return nil, wire.Refuse("InvalidRequestException", "%s", wire.ErrorMessage(err))
	}
	v, err := r.templates.VersionOf(t, shapes.Str(s.Version))
	if err != nil {
		return nil, wire.Refuse("InvalidRequestException", "%s", wire.ErrorMessage(err))
	}
	return v, nil
}

// checkSource refuses what must not be in a template of a node group, and what must not be beside one.
func (r *Nodegroups) checkSource(v *ec2.Version, in *eks.CreateNodegroupInput) error {
	switch {
	case in.RemoteAccess != nil:
		return badParameter("Remote access configuration cannot be specified with a launch template.")
	case in.DiskSize != nil:
		return badParameter("Disk size must be specified within the launch template.")
	case v.Data.InstanceType != "" && len(in.InstanceTypes) > 0:
		return badParameter("Instance types in the launch template and the request cannot both be specified.")
	case v.Data.ImageId != nil && in.AmiType != "" && in.AmiType != amiCustom:
		return badParameter("You cannot specify an AMI Type other than CUSTOM, when specifying an image id in your launch template.")
	case v.Data.ImageId != nil && shapes.Str(in.Version) != "":
		return badParameter("You cannot specify the field version when using custom AMIs.")
	case v.Data.ImageId != nil && shapes.Str(in.ReleaseVersion) != "":
		return badParameter("You cannot specify the field releaseVersion when using custom AMIs.")
	}
	return checkSourceData(v)
}

// checkSourceData refuses what the template of a node group must leave to EKS.
func checkSourceData(v *ec2.Version) error {
	d := v.Data
	switch {
	case d.IamInstanceProfile != nil:
		return badParameter("Launch template should not specify an instance profile. The noderole in your request will be used to construct an " +
			"instance profile.")
	case d.InstanceMarketOptions != nil:
		return badParameter("Launch template should not specify instance market options. Use the capacityType of the node group.")
	case d.InstanceInitiatedShutdownBehavior != "":
		return badParameter("Launch template should not specify the instance initiated shutdown behavior.")
	case d.HibernationOptions != nil:
		return badParameter("Launch template should not specify hibernation options.")
	}
	for _, n := range d.NetworkInterfaces {
		if shapes.Str(n.SubnetId) != "" {
			return badParameter("Launch template should not specify subnets in its network interfaces.")
		}
	}
	return nil
}

// sourceIssue is what EKS finds only when it puts its own user data beside that of the template; nil for nothing.
func (r *Nodegroups) sourceIssue(f machineSpec) *eks.Issue {
	if f.Source == "" || f.Own {
		return nil
	}
	v := r.templates.Versions.Get(ec2.VersionKey(f.Source, int64(shapes.Atoi(f.SourceVersion))))
	if v == nil {
		return &eks.Issue{Code: "SourceEc2LaunchTemplateNotFound",
			Message:     new("Launch template " + f.Source + " with version " + f.SourceVersion + " could not be found."),
			ResourceIds: []string{f.Source}}
	}
	text := userData(r.templates.UserData.Kept(v.Blob))
	if text == "" || strings.Contains(text, "multipart/") || strings.Contains(text, "[settings") || strings.Contains(text, "<powershell>") {
		return nil
	}
	return &eks.Issue{Code: "Ec2LaunchTemplateInvalidConfiguration", Message: new("User data was not in the MIME multipart format."),
		ResourceIds: []string{f.Source}}
}

// userData is user data without its encoding; what cannot be decoded was refused when it was given.
func userData(encoded string) string {
	raw, err := base64.StdEncoding.DecodeString(encoded)
	if err != nil {
		return ""
	}
	return string(raw)
}

// checkNodeRole refuses a role that does not exist, as far as EKS knows already, or that instances may not take.
func (r *Nodegroups) checkNodeRole(arn string) error {
	if !strings.HasPrefix(arn, "arn:") {
		return badParameter("Nodegroup role %s is not an ARN", arn)
	}
	found := r.directory.Named(arn)
	if found == nil || r.Now.Before(found.Known) {
		return badParameter("The role with name %s cannot be found.", arn[strings.LastIndex(arn, "/")+1:])
	}
	if !found.Trusts("Service", "ec2.amazonaws.com", nil) {
		return badParameter("Following required service principals [ec2.amazonaws.com] were not found in the trust relationships of nodeRole %s",
			arn)
	}
	return nil
}
