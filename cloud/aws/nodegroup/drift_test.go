package nodegroup

import (
	"testing"
	"time"

	ekstypes "github.com/aws/aws-sdk-go-v2/service/eks/types"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	awsv1 "github.com/muster-project/muster/api/aws/v1beta2"
	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/aws/nodegroup/noderole"
	"github.com/muster-project/muster/cloud/fields"
)

// aTarget is a pool with a field of each kind.
func aTarget(t *testing.T, changes ...func(*awsv1.AWSManagedMachinePoolSpec)) target {
	t.Helper()
	spec := &awsv1.AWSManagedMachinePoolSpec{
		Labels:         awsv1.NodeLabels{"team": "a"},
		Taints:         awsv1.Taints{{Key: "gpu", Value: "yes", Effect: awsv1.TaintEffectNoSchedule}},
		AdditionalTags: awsv1.Tags{"cost": "1"},
		Scaling:        &awsv1.ManagedMachinePoolScaling{MinSize: new(int32(1)), MaxSize: new(int32(5))},
	}
	for _, change := range changes {
		change(spec)
	}
	made, err := targetOf(Target{
		Owner: cloud.Owner{ID: "owner", Cluster: "c", Namespace: "default", Name: "pool"},
		Spec:  &awsv1.ManagedMachinePoolSource{Pool: spec, Cluster: awsv1.ClusterView{EKSClusterName: "c", Region: "us-east-1"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return made
}

// made is the node group of a target, as EKS shows it.
func made(t target) *ekstypes.Nodegroup {
	g := groupSpecOf(t, written{}, time.Time{})
	return &ekstypes.Nodegroup{
		Labels: g.labels, Taints: g.taints, Tags: g.tags, UpdateConfig: &g.update, CapacityType: g.capacity,
		ScalingConfig: &ekstypes.NodegroupScalingConfig{MinSize: &g.min, MaxSize: g.max, DesiredSize: new(int32(2))},
	}
}

func TestDrift(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		why  string
		spec func(*awsv1.AWSManagedMachinePoolSpec)
		by   func(*ekstypes.Nodegroup)
		size int32
		want []string
	}{
		{"as it was made", nil, nil, 2, nil},
		{"a label of another client stays", nil, func(n *ekstypes.Nodegroup) { n.Labels["theirs"] = "x" }, 2, nil},
		{"a label of Muster's that was changed", nil, func(n *ekstypes.Nodegroup) { n.Labels["team"] = "x" }, 2, []string{driftLabels}},
		{"a label that is not wanted any more", func(s *awsv1.AWSManagedMachinePoolSpec) { s.Labels = nil }, nil, 2, []string{driftLabels}},
		{"a taint of another client stays", nil, func(n *ekstypes.Nodegroup) {
			n.Taints = append(n.Taints, ekstypes.Taint{Key: new("theirs"), Effect: ekstypes.TaintEffectNoExecute})
		}, 2, nil},
		{"a taint of Muster's with another value", nil, func(n *ekstypes.Nodegroup) { n.Taints[0].Value = new("no") }, 2, []string{driftTaints}},
		{"a taint that is not wanted any more", func(s *awsv1.AWSManagedMachinePoolSpec) { s.Taints = nil }, nil, 2, []string{driftTaints}},
		{"a taint without a value is one with an empty value", func(s *awsv1.AWSManagedMachinePoolSpec) { s.Taints[0].Value = "" },
			func(n *ekstypes.Nodegroup) { n.Taints[0].Value = nil }, 2, nil},
		{"a smallest size that was changed", nil, func(n *ekstypes.Nodegroup) { n.ScalingConfig.MinSize = new(int32(0)) }, 2, []string{fieldMin}},
		{"a smallest size above the size waits for it", func(s *awsv1.AWSManagedMachinePoolSpec) { s.Scaling.MinSize = new(int32(3)) }, nil,
			2, nil},
		{"a largest size below the size waits for it", func(s *awsv1.AWSManagedMachinePoolSpec) { s.Scaling.MaxSize = new(int32(1)) }, nil,
			2, nil},
		{"a largest size that fits", func(s *awsv1.AWSManagedMachinePoolSpec) { s.Scaling.MaxSize = new(int32(4)) }, nil, 2, []string{fieldMax}},
		{"a largest size that is not named is as it is", func(s *awsv1.AWSManagedMachinePoolSpec) { s.Scaling.MaxSize = nil },
			func(n *ekstypes.Nodegroup) { n.ScalingConfig.MaxSize = new(int32(9)) }, 2, nil},
		{"a strategy that is not shown is the default", nil, func(n *ekstypes.Nodegroup) { n.UpdateConfig.UpdateStrategy = "" }, 2, nil},
		{"another way of updating", func(s *awsv1.AWSManagedMachinePoolSpec) {
			s.UpdateConfig = &awsv1.UpdateConfig{MaxUnavailablePercentage: new(10)}
		}, nil, 2, []string{driftUpdate}},
		{"repair with thresholds that were set elsewhere", func(s *awsv1.AWSManagedMachinePoolSpec) {
			s.NodeRepairConfig = &awsv1.NodeRepairConfig{Enabled: new(true)}
		},
			func(n *ekstypes.Nodegroup) {
				n.NodeRepairConfig = &ekstypes.NodeRepairConfig{Enabled: new(true), MaxUnhealthyNodeThresholdCount: new(int32(3))}
			}, 2, nil},
		{"repair that another client has enabled", nil,
			func(n *ekstypes.Nodegroup) { n.NodeRepairConfig = &ekstypes.NodeRepairConfig{Enabled: new(true)} }, 2, []string{driftRepair}},
		{"a tag of another client stays", nil, func(n *ekstypes.Nodegroup) { n.Tags["theirs"] = "x" }, 2, nil},
		{"a tag that is not wanted any more", func(s *awsv1.AWSManagedMachinePoolSpec) { s.AdditionalTags = nil }, nil, 2, []string{driftTags}},
		{"a tag of Muster's that is gone", nil, func(n *ekstypes.Nodegroup) { delete(n.Tags, "cost") }, 2, []string{driftTags}},
	} {
		is := made(aTarget(t))
		wanted := aTarget(t)
		if c.spec != nil {
			wanted = aTarget(t, c.spec)
		}
		if c.by != nil {
			c.by(is)
		}
		want := document{groupSpec: groupSpecOf(wanted, written{}, time.Time{}), of: wanted}
		got := groupFields.Differing(want, document{is: is, size: c.size}, fields.InPlace).Specs()
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.why, diff)
		}
	}
}

func TestUnchangeable(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		why  string
		spec func(*awsv1.AWSManagedMachinePoolSpec)
		by   func(*ekstypes.Nodegroup)
		want []string
	}{
		{"as it was made", nil, nil, nil},
		{"what the specification leaves to EKS", nil, func(n *ekstypes.Nodegroup) {
			n.AmiType, n.InstanceTypes, n.DiskSize = ekstypes.AMITypesAl2023X8664Standard, []string{"t3.medium"}, new(int32(20))
		}, nil},
		{"another family of images", func(s *awsv1.AWSManagedMachinePoolSpec) { s.AMIType = new(awsv1.AMITypeBottlerocket) },
			func(n *ekstypes.Nodegroup) { n.AmiType = ekstypes.AMITypesAl2023X8664Standard }, []string{fieldImages}},
		{"other instance types", func(s *awsv1.AWSManagedMachinePoolSpec) { s.InstanceTypes = []string{"m5.large", "c5.large"} },
			func(n *ekstypes.Nodegroup) { n.InstanceTypes = []string{"m5.large"} }, []string{fieldTypes}},
		{"the same types in another order", func(s *awsv1.AWSManagedMachinePoolSpec) { s.InstanceTypes = []string{"m5.large", "c5.large"} },
			func(n *ekstypes.Nodegroup) { n.InstanceTypes = []string{"c5.large", "m5.large"} }, nil},
		{"another capacity", func(s *awsv1.AWSManagedMachinePoolSpec) {
			s.CapacityType = new(awsv1.ManagedMachinePoolCapacityTypeSpot)
		}, nil, []string{fieldCapacity}},
		{"another role", func(s *awsv1.AWSManagedMachinePoolSpec) { s.RoleName = "mine" },
			func(n *ekstypes.Nodegroup) { n.NodeRole = new("arn:aws:iam::1:role/path/theirs") }, []string{noderole.FieldName}},
		{"the role below a path", func(s *awsv1.AWSManagedMachinePoolSpec) { s.RoleName = "mine" },
			func(n *ekstypes.Nodegroup) { n.NodeRole = new("arn:aws:iam::1:role/path/mine") }, nil},
		{"a template that the group was not made with",
			func(s *awsv1.AWSManagedMachinePoolSpec) { s.AWSLaunchTemplate = &awsv1.AWSLaunchTemplate{} }, nil, []string{fieldTemplate}},
		{"remote access for others", func(s *awsv1.AWSManagedMachinePoolSpec) {
			s.RemoteAccess = &awsv1.ManagedRemoteAccess{SourceSecurityGroups: []string{"sg-1"}}
		}, func(n *ekstypes.Nodegroup) {
			n.RemoteAccess = &ekstypes.RemoteAccessConfig{SourceSecurityGroups: []string{"sg-2"}}
		}, []string{fieldRemote}},
	} {
		is := made(aTarget(t))
		wanted := aTarget(t)
		if c.spec != nil {
			wanted = aTarget(t, c.spec)
		}
		if c.by != nil {
			c.by(is)
		}
		want := document{groupSpec: groupSpecOf(wanted, written{}, time.Time{}), of: wanted}
		if diff := cmp.Diff(c.want, groupFields.Differing(want, document{is: is}, fields.Fixed).Specs()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.why, diff)
		}
	}
}

func TestOnlyOursIsRemoved(t *testing.T) {
	t.Parallel()
	is := made(aTarget(t))
	is.Labels["theirs"], is.Tags["theirs"], is.Tags["eks:cluster-name"] = "x", "x", "c"
	is.Taints = append(is.Taints, ekstypes.Taint{Key: new("theirs"), Effect: ekstypes.TaintEffectNoExecute})
	none := groupSpecOf(aTarget(t, func(s *awsv1.AWSManagedMachinePoolSpec) { s.Labels, s.Taints, s.AdditionalTags = nil, nil, nil }),
		written{}, time.Time{})
	putLabels, labels := none.labelChanges(is)
	putTaints, taints := none.taintChanges(is)
	putTags, tags := none.tagChanges(is)
	for _, c := range []struct {
		what      string
		want, got any
	}{
		{"labels to put", map[string]string{}, putLabels},
		{"labels to remove", []string{"team"}, labels},
		{"taints to put", []ekstypes.Taint(nil), putTaints},
		{"taints to remove", []string{"gpu:NO_SCHEDULE"}, taintNames(taints)},
		{"tags to put", map[string]string{}, putTags},
		{"tags to remove", []string{"cost", tagOurTags}, tags},
	} {
		if diff := cmp.Diff(c.want, c.got, cmpopts.IgnoreUnexported(ekstypes.Taint{})); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.what, diff)
		}
	}
}

func TestRepairKeepsThresholds(t *testing.T) {
	t.Parallel()
	is := &ekstypes.NodeRepairConfig{Enabled: new(false), MaxUnhealthyNodeThresholdPercentage: new(int32(20))}
	got := withRepair(is, true)
	if !*got.Enabled || got.MaxUnhealthyNodeThresholdPercentage == nil || *got.MaxUnhealthyNodeThresholdPercentage != 20 || *is.Enabled {
		t.Errorf("want repair switched on with its threshold, and what was read left alone, got %+v from %+v", got, is)
	}
}

func TestImagesByDefault(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		why   string
		minor int
		arm   bool
		want  ekstypes.AMITypes
	}{
		{"the last version of Amazon Linux 2", 29, false, ekstypes.AMITypesAl2X8664},
		{"Amazon Linux 2 on ARM", 28, true, ekstypes.AMITypesAl2Arm64},
		{"the first version of Amazon Linux 2023", 30, false, ekstypes.AMITypesAl2023X8664Standard},
		{"Amazon Linux 2023 on ARM", 34, true, ekstypes.AMITypesAl2023Arm64Standard},
		{"no version is known", 0, false, ekstypes.AMITypesAl2023X8664Standard},
	} {
		if got := defaultImages(c.minor, c.arm); got != c.want {
			t.Errorf("%s: want %s, got %s", c.why, c.want, got)
		}
	}
}

func TestNames(t *testing.T) {
	t.Parallel()
	long := cloud.Owner{ID: "owner", Name: "a-very-long-name-of-a-pool-that-does-not-fit-into-the-name-of-a-node-group"}
	name := shortName(long)
	if len(name) != nameMost || name[nameMost-suffixLength:] != long.ResourceName()[len(long.ResourceName())-suffixLength:] {
		t.Errorf("want a long name cut to %d characters with its suffix, got %q of %q", nameMost, name, long.ResourceName())
	}
	for _, c := range []struct {
		why, asked, want string
	}{
		{"a name as it is", "workers", "workers"},
		{"what EKS does not take", "team.a/workers", "team-a-workers"},
	} {
		if got := shortName(cloud.Owner{ID: "owner", GroupName: c.asked}); got != c.want {
			t.Errorf("%s: want %q, got %q", c.why, c.want, got)
		}
	}
}
