package aws

import (
	"cmp"
	"fmt"
	"strings"

	asgtypes "github.com/aws/aws-sdk-go-v2/service/autoscaling/types"
	"k8s.io/utils/ptr"

	awsv1 "github.com/muster-project/muster/api/aws/v1beta2"
	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/aws/asg"
	"github.com/muster-project/muster/cloud/aws/desired"
	"github.com/muster-project/muster/cloud/aws/launch"
	"github.com/muster-project/muster/cloud/aws/lifecycle"
	"github.com/muster-project/muster/cloud/aws/session"
	"github.com/muster-project/muster/cloud/driverkit"
)

// Target is one pool as the driver gets it.
type Target = cloud.Target[*awsv1.MachinePoolSource]

// target is Target with its parts at hand.
type target struct {
	Target
	pool    *awsv1.AWSMachinePoolSpec
	cluster awsv1.ClusterView
	// group and template are the names in the cloud.
	group, template string
}

func targetOf(t Target) (target, error) {
	if t.Spec == nil || t.Spec.Pool == nil {
		return target{}, cloud.Invalidf("spec", "there is no specification to go by")
	}
	out := target{Target: t, pool: t.Spec.Pool, cluster: t.Spec.Cluster, group: t.Owner.ResourceName()}
	out.template = cmp.Or(t.Remembered[cloud.AdoptedTemplate], out.pool.AWSLaunchTemplate.Name, out.group)
	return out, driverkit.CheckPlaces(t.GroupID, session.Region(out.cluster))
}

// groupNamed returns region and name of the group that the object names, by ARN or by name alone.
func (t target) groupNamed() (region, name string) {
	const before = ":autoScalingGroupName/"
	arn, name, ok := strings.Cut(t.GroupID, before)
	if !ok {
		return "", t.GroupID
	}
	if parts := strings.Split(arn, ":"); len(parts) > 3 {
		region = parts[3]
	}
	return region, name
}

// source returns the source of the launch template.
func (t target) source() launch.Source {
	s := launch.Source{
		Owner: t.Owner, Name: t.template, Spec: &t.pool.AWSLaunchTemplate, Cluster: t.cluster, Tags: t.tags(),
		TypesField: desired.FieldMixed, KubernetesVersion: t.KubernetesVersion, Bootstrap: t.Bootstrap,
		Ignition: t.pool.Ignition, AssumeOwned: t.AssumeOwned,
	}
	if t.pool.MixedInstancesPolicy != nil {
		for i, o := range t.pool.MixedInstancesPolicy.Overrides {
			s.Types = append(s.Types, launch.Type{Name: o.InstanceType, Field: fmt.Sprintf("%s.overrides[%d].instanceType", desired.FieldMixed, i)})
		}
	}
	return s
}

// places are where the group may launch.
func (t target) places() launch.Places {
	return launch.Places{
		Subnets: t.pool.Subnets, Field: desired.FieldSubnets, IDField: ".id",
		Zones: t.pool.AvailabilityZones, Kind: t.pool.AvailabilityZoneSubnetType, FailureDomains: t.FailureDomains,
	}
}

// tags returns the tags of every cloud object of the pool.
func (t target) tags() map[string]string {
	return session.OwnTags(t.Owner, t.cluster.AdditionalTags, t.pool.AdditionalTags)
}

// additionalTags returns the names of the tags that may be removed again.
func (t target) additionalTags() []string {
	return session.Names(t.cluster.AdditionalTags, t.pool.AdditionalTags)
}

// claim returns what the tags of a group say about the pool.
func (t target) claim(is *asgtypes.AutoScalingGroup) cloud.Claim {
	return t.Claim(session.Spelling, func(key string) string { return asg.Tag(is, key) })
}

// owns reports whether the group is the pool's by its tags.
func (t target) owns(is *asgtypes.AutoScalingGroup) bool { return t.claim(is).Owned }

// ownership returns what decides whether the group with the pool's name, or the one that the object names, may be changed.
func (t target) ownership(group groupRead) driverkit.Ownership {
	o := driverkit.Ownership{
		Exists: group.is != nil, Named: group.named, GroupID: t.GroupID, Former: group.former,
		Group: "Auto Scaling group " + t.group, Kind: "group", Rename: "by the annotation muster.dev/group-name",
		Path: t.group,
	}
	if group.is != nil {
		o.Claim, o.Account = t.claim(group.is), session.AccountOf(ptr.Deref(group.is.AutoScalingGroupARN, ""))
	}
	return o
}

// checkHooks rejects a lifecycle hook of the specification that has the name of the one by which nodes are drained.
func (t target) checkHooks() error {
	return lifecycle.CheckNames(t.pool.AWSLifecycleHooks, desired.FieldHooks)
}
