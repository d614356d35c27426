package nodegroup

import (
	"context"
	"encoding/base64"
	"maps"
	"slices"
	"strconv"
	"strings"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	ekstypes "github.com/aws/aws-sdk-go-v2/service/eks/types"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	awsv1 "github.com/muster-project/muster/api/aws/v1beta2"
	"github.com/muster-project/muster/sim"
	"github.com/muster-project/muster/test/explore/kinds/aws"
	"github.com/muster-project/muster/test/explore/world"
)

// rest compares the pool with its objects at the end of a scenario.
type rest struct{ pool *pool }

// want returns the state that the objects of a managed pool ask for.
func (r *rest) want(mp *clusterv1.MachinePool, o client.Object) map[string]string {
	s := &object(o).Spec
	want := r.pool.World.Group.Want(mp, s.AdditionalTags)
	maps.Copy(want, map[string]string{
		"status": string(ekstypes.NodegroupStatusActive), "behind team": s.AdditionalTags["team"], "tier": string(s.Labels["tier"]),
		"label team": string(s.Labels["team"]), "repair": strconv.FormatBool(repairs(s)), "role lacks": "",
	})
	if !s.OwnImage() {
		want["version"] = strings.TrimSuffix(strings.TrimPrefix(mp.Spec.Template.Spec.Version, "v"), ".0")
	}
	var taints []string
	for _, t := range s.Taints {
		taints = append(taints, t.Key+"="+t.Value)
	}
	want["taints"] = strings.Join(taints, ",")
	switch c := s.UpdateConfig; {
	case c == nil:
	case c.MaxUnavailable != nil:
		want["unavailable"] = strconv.Itoa(*c.MaxUnavailable)
	case c.MaxUnavailablePercentage != nil:
		want["unavailable"] = strconv.Itoa(*c.MaxUnavailablePercentage) + "%"
	}
	if c := s.Scaling; c != nil && c.MinSize != nil {
		want["min"] = world.Itoa(c.MinSize)
	}
	if c := s.Scaling; c != nil && c.MaxSize != nil {
		want["max"] = world.Itoa(c.MaxSize)
	}
	r.wantTemplate(s.AWSLaunchTemplate, want)
	return want
}

func repairs(s *awsv1.AWSManagedMachinePoolSpec) bool {
	return s.NodeRepairConfig != nil && s.NodeRepairConfig.Enabled != nil && *s.NodeRepairConfig.Enabled
}

func (r *rest) wantTemplate(t *awsv1.AWSLaunchTemplate, want map[string]string) {
	switch {
	case t == nil:
		want["templates"] = "0"
	case t.Existing != nil:
		want["templates"], want["type"] = "0", aws.BroughtTypes[t.Existing.Version-1]
	default:
		want["templates"], want["type"], want["spare versions"], want["root"], want["token"], want["default"] = "1", t.InstanceType, "0", "0",
			"good", "in use"
		if t.RootVolume != nil {
			want["root"] = strconv.Itoa(int(t.RootVolume.Size))
		}
	}
}

// is returns the state of a managed pool.
func (r *rest) is() map[string]string {
	p := r.pool
	more := map[string]string{}
	if n := p.nodegroup(); n != nil {
		more["status"], more["version"], more["min"], more["max"] = n.Status, n.Version, strconv.Itoa(n.Min), strconv.Itoa(n.Max)
		more["tier"], more["label team"], more["label theirs"] = n.Labels["tier"], n.Labels["team"], n.Labels[world.Theirs]
		more["issues"], more["role lacks"] = strings.Join(n.Issues, ","), r.lacks()
		if g := p.behind(n); g != nil {
			more["behind team"] = g.Tags["team"]
		}
		r.isShown(n, more)
		r.isSource(n, more)
	}
	return p.World.Group.Is(func(m sim.Member) bool { return m.State == "InService" }, more)
}

// isShown adds the fields of a node group that only the EKS API shows to is.
func (r *rest) isShown(n *nodegroup, is map[string]string) {
	named := &eks.DescribeNodegroupInput{ClusterName: &n.Cluster, NodegroupName: &n.Name}
	found, err := r.pool.EKS.DescribeNodegroup(context.Background(), named)
	if err != nil {
		return
	}
	shown := found.Nodegroup
	var taints []string
	for _, t := range shown.Taints {
		taints = append(taints, awssdk.ToString(t.Key)+"="+awssdk.ToString(t.Value))
	}
	is["taints"] = strings.Join(taints, ",")
	is["repair"] = strconv.FormatBool(shown.NodeRepairConfig != nil && shown.NodeRepairConfig.Enabled != nil &&
		*shown.NodeRepairConfig.Enabled)
	if c := shown.UpdateConfig; c != nil && c.MaxUnavailable != nil {
		is["unavailable"] = world.Itoa(c.MaxUnavailable)
	} else if c != nil && c.MaxUnavailablePercentage != nil {
		is["unavailable"] = world.Itoa(c.MaxUnavailablePercentage) + "%"
	}
}

// isSource adds the content of the node group's launch template.
func (r *rest) isSource(n *nodegroup, is map[string]string) {
	p := r.pool
	is["root"] = "0"
	if _, o := p.World.Objects.Both(); o != nil {
		p.History(object(o).Spec.AWSLaunchTemplate.Keep(), is)
	}
	if n.Source == "" {
		return
	}
	found, err := p.EC2.DescribeLaunchTemplateVersions(context.Background(), &ec2.DescribeLaunchTemplateVersionsInput{
		LaunchTemplateId: &n.Source, Versions: []string{n.SourceVersion},
	})
	if err != nil || len(found.LaunchTemplateVersions) != 1 {
		return
	}
	data := found.LaunchTemplateVersions[0].LaunchTemplateData
	is["type"] = string(data.InstanceType)
	for _, v := range data.BlockDeviceMappings {
		is["root"] = world.Itoa(v.Ebs.VolumeSize)
	}
	is["token"] = "bad"
	if text, err := base64.StdEncoding.DecodeString(awssdk.ToString(data.UserData)); err == nil {
		is["token"] = p.World.Workload.Tokens.TokenIn(text)
	}
}

// forgive leaves out a minimum above the size, which EKS does not take: the autoscaler has to raise the size first. A label that another
// provider put there before the adoption stays while the object does not name it.
func (r *rest) forgive(want, is map[string]string) {
	if r.pool.theirLabel {
		delete(want, "tier")
	}
	if least, err := strconv.Atoi(want["min"]); err == nil && r.pool.World.Objects.External() && strconv.Itoa(least) > is["size"] {
		delete(want, "min")
	}
}

// busy reports whether EKS is at work on the node group by itself, or a role waits for the slow read that shows what it lacks.
func (r *rest) busy() bool { return r.lacks() != "" || r.pool.World.Group.Busy() }

// lacks names the policy that every node needs, where the role that Muster made lacks it since a user detached it.
func (r *rest) lacks() string {
	for _, role := range r.pool.World.Cloud.Snapshot().Roles {
		if role.Tags[aws.TagOwner] == r.pool.World.Objects.Owner().ID && !slices.Contains(role.Attached, workerPolicy) {
			return workerPolicy
		}
	}
	return ""
}

// settle has the pool follow its control plane where a node group is to be made: a new one is of no other version.
func (r *rest) settle() {
	p := r.pool
	if n := p.nodegroup(); n == nil || n.Status != "ACTIVE" {
		p.World.Objects.EditPool(func(mp *clusterv1.MachinePool) { mp.Spec.Template.Spec.Version = "v" + world.Minor(p.minor) + ".0" })
	}
}

// fragile reports whether the node group is being created. EKS abandons it for good if machines are not Ready meanwhile.
func (r *rest) fragile() bool {
	n := r.pool.nodegroup()
	return n != nil && n.Status == string(ekstypes.NodegroupStatusCreating)
}
