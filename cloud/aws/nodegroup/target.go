package nodegroup

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	ekstypes "github.com/aws/aws-sdk-go-v2/service/eks/types"
	"k8s.io/utils/ptr"

	awsv1 "github.com/muster-project/muster/api/aws/v1beta2"
	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/aws/launch"
	"github.com/muster-project/muster/cloud/aws/session"
	"github.com/muster-project/muster/cloud/driverkit"
)

// Target is what the driver is handed about one pool.
type Target = cloud.Target[*awsv1.ManagedMachinePoolSource]

// Bookkeeping on the node group and its backing group: which tags, labels and taints we put there, so that what others put there
// is never taken away. It is not passed on to instances.
const (
	tagOurTags   = "muster.dev/managed-tags"
	tagOurLabels = "muster.dev/managed-labels"
	tagOurTaints = "muster.dev/managed-taints"
)

func bookkeeping(key string) bool {
	return key == tagOurTags || key == tagOurLabels || key == tagOurTaints
}

// withoutBooks are the tags that are meant for instances.
func withoutBooks(tags map[string]string) map[string]string {
	out := maps.Clone(tags)
	maps.DeleteFunc(out, func(key, _ string) bool { return bookkeeping(key) })
	return out
}

// target is Target with its parts at hand.
type target struct {
	Target
	pool    *awsv1.AWSManagedMachinePoolSpec
	cluster awsv1.ClusterView
	// eks is EKS's name of the cluster, name that of the node group.
	eks, name string
	// template is the name of the pool's own launch template; empty without one.
	template string
}

func targetOf(t Target) (target, error) {
	if t.Spec == nil || t.Spec.Pool == nil {
		return target{}, cloud.Invalidf("spec", "there is no specification to go by")
	}
	out := target{Target: t, pool: t.Spec.Pool, cluster: t.Spec.Cluster, eks: t.Spec.Cluster.EKSClusterName}
	if out.eks == "" {
		return target{}, cloud.Invalidf(fieldCluster, "EKS's name of the cluster is not known")
	}
	if out.name = out.pool.EKSNodegroupName; out.name == "" {
		out.name = shortName(t.Owner)
	}
	if own := out.pool.AWSLaunchTemplate; own != nil {
		out.template = cmp.Or(t.Remembered[cloud.AdoptedTemplate], own.Name, t.Owner.ResourceName())
	}
	return out, driverkit.CheckPlaces(t.GroupID, session.Region(out.cluster))
}

// claim returns what the tags of a node group say about the pool.
func (t target) claim(is *ekstypes.Nodegroup) cloud.Claim {
	return t.Claim(session.Spelling, session.In(is.Tags))
}

// owns reports whether the node group is the pool's by its tags.
func (t target) owns(is *ekstypes.Nodegroup) bool { return t.claim(is).Owned }

// ownership returns what decides whether the node group with the pool's name, or the one that the object names, may be changed.
func (t target) ownership(group groupRead) driverkit.Ownership {
	o := driverkit.Ownership{
		Exists: group.is != nil, Named: group.named, GroupID: t.GroupID, Former: group.former,
		Group: fmt.Sprintf("node group %s of EKS cluster %s", t.name, t.eks), Kind: "node group", Rename: "in " + fieldName,
		Path: t.eks + "/" + t.name,
	}
	if group.is != nil {
		o.Claim, o.Account = t.claim(group.is), session.AccountOf(ptr.Deref(group.is.NodegroupArn, ""))
	}
	return o
}

// digestLength is the length of a specification's digest in hex digits.
const digestLength = 16

// digest returns what tells specifications apart.
func (t target) digest() string {
	text, err := json.Marshal([]any{t.pool, t.KubernetesVersion, t.cluster.ControlPlaneVersion})
	if err != nil {
		return ""
	}
	return cloud.Digest(text, digestLength)
}

// groupNamed is where a node group is that the object names.
type groupNamed struct{ region, cluster, name string }

// groupNamed returns the node group that the object names, by ARN or by name alone.
func (t target) groupNamed() groupNamed {
	arn, path, ok := strings.Cut(t.GroupID, ":nodegroup/")
	if !ok {
		return groupNamed{cluster: t.eks, name: t.GroupID}
	}
	var on groupNamed
	if parts := strings.Split(arn, ":"); len(parts) > 3 {
		on.region = parts[3]
	}
	on.cluster, path, _ = strings.Cut(path, "/")
	on.name, _, _ = strings.Cut(path, "/")
	return on
}

// namesAnother reports whether the object names a node group that has another name than the pool's, or is in another EKS cluster.
func (t target) namesAnother(on groupNamed) bool {
	return on.name != "" && (on.cluster != t.eks || on.name != t.name)
}

const (
	// nameMost is how long EKS lets the name of a node group be.
	nameMost = 63
	// suffixLength of a name that had to be cut is the owner's hash with its hyphen, which tells pools apart.
	suffixLength = 11
)

// shortName is the owner's name for cloud objects as EKS takes it: letters, digits, hyphens and underscores, no more than 63. It is a
// function of the owner alone, like the name itself.
func shortName(o cloud.Owner) string {
	name := strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '-', r == '_':
			return r
		}
		return '-'
	}, o.ResourceName())
	if len(name) <= nameMost {
		return name
	}
	return name[:nameMost-suffixLength] + name[len(name)-suffixLength:]
}

// tags are what every cloud object of the pool carries.
func (t target) tags() map[string]string {
	return session.OwnTags(t.Owner, t.cluster.AdditionalTags, t.pool.AdditionalTags)
}

// additionalTags returns the names of the tags that may be removed again.
func (t target) additionalTags() []string {
	return session.Names(t.cluster.AdditionalTags, t.pool.AdditionalTags)
}

// types are the instance types that the node group itself names, and where.
func (t target) types() []launch.Type {
	var list []launch.Type
	if t.pool.InstanceType != nil {
		list = append(list, launch.Type{Name: *t.pool.InstanceType, Field: fieldType})
	}
	for k, name := range t.pool.InstanceTypes {
		list = append(list, launch.Type{Name: name, Field: item(fieldTypes, k)})
	}
	return list
}

// item is the path of a list's item.
func item(field string, k int) string { return fmt.Sprintf("%s[%d]", field, k) }

// places are where machines may be launched.
func (t target) places() launch.Places {
	at := launch.Places{
		Field: fieldSubnets, Zones: t.pool.AvailabilityZones, Kind: t.pool.AvailabilityZoneSubnetType, FailureDomains: t.FailureDomains,
	}
	for _, id := range slices.Sorted(slices.Values(t.pool.SubnetIDs)) {
		at.Subnets = append(at.Subnets, awsv1.AWSResourceReference{ID: &id})
	}
	return at
}

// source is what the launch template is made of.
func (t target) source() launch.Source {
	return launch.Source{
		Owner: t.Owner, Name: t.template, Spec: t.pool.AWSLaunchTemplate, Cluster: t.cluster, Tags: t.tags(),
		Types: t.types(), TypesField: fieldTypes, KubernetesVersion: t.KubernetesVersion, Bootstrap: t.Bootstrap, Managed: true,
		OwnImage: t.pool.OwnImage(), Images: string(ptr.Deref(t.pool.AMIType, "")), AssumeOwned: t.AssumeOwned,
	}
}
