package aws_test

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/autoscaling"
	asgtypes "github.com/aws/aws-sdk-go-v2/service/autoscaling/types"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"

	awsv1 "github.com/muster-project/muster/api/aws/v1beta2"
	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/aws"
	"github.com/muster-project/muster/pool"
	"github.com/muster-project/muster/sim"
	simaws "github.com/muster-project/muster/sim/aws"
)

// theirs is a pool that the ecosystem's provider has created: group and launch template have the pool's name, the group launches from
// $Latest, tags of the group are not passed on, and the instances' name the bootstrap data.
type theirs struct {
	w       *world
	name    string
	cluster string
	// data is the user data before it is encoded.
	data []byte
	// change is made to the template before it is sent.
	change func(*ec2types.RequestLaunchTemplateData)
	mixed  *asgtypes.MixedInstancesPolicy
	hooks  []asgtypes.LifecycleHookSpecification
}

func (w *world) theirs(change ...func(*theirs)) theirs {
	m := theirs{w: w, name: "pool", cluster: "c", data: []byte(bootstrap)}
	for _, c := range change {
		c(&m)
	}
	return m
}

func (m theirs) tags() map[string]string {
	return map[string]string{
		"Name": m.name, "sigs.k8s.io/cluster-api-provider-aws/cluster/" + m.cluster: "owned", "sigs.k8s.io/cluster-api-provider-aws/role": "node",
		"kubernetes.io/cluster/" + m.cluster: "owned", "team": "a",
	}
}

func ec2Tags(tags map[string]string, more ...ec2types.Tag) []ec2types.Tag {
	for key, value := range tags {
		more = append(more, ec2types.Tag{Key: &key, Value: &value})
	}
	return more
}

// template makes the launch template and returns its ID.
func (m theirs) template() string {
	m.w.t.Helper()
	image := m.w.anImage()
	data := &ec2types.RequestLaunchTemplateData{
		InstanceType: ec2types.InstanceType(simaws.InstanceType), ImageId: &image, KeyName: ptr(simaws.KeyName),
		SecurityGroupIds: network().NodeSecurityGroups, UserData: ptr(base64.StdEncoding.EncodeToString(m.data)),
		TagSpecifications: []ec2types.LaunchTemplateTagSpecificationRequest{
			{ResourceType: ec2types.ResourceTypeInstance, Tags: ec2Tags(m.tags(),
				ec2types.Tag{Key: ptr("sigs.k8s.io/cluster-api-provider-aws/bootstrap-data-secret"), Value: ptr("default/pool-data")},
				ec2types.Tag{Key: ptr("sigs.k8s.io/cluster-api-provider-aws/bootstrap-data-hash"), Value: ptr("0123")})},
			{ResourceType: ec2types.ResourceTypeVolume, Tags: ec2Tags(m.tags())},
		},
	}
	if m.change != nil {
		m.change(data)
	}
	made, err := m.w.ec2.CreateLaunchTemplate(m.w.t.Context(), &ec2.CreateLaunchTemplateInput{
		LaunchTemplateName: &m.name, LaunchTemplateData: data,
		TagSpecifications: []ec2types.TagSpecification{{ResourceType: ec2types.ResourceTypeLaunchTemplate, Tags: ec2Tags(m.tags())}},
	})
	if err != nil {
		m.w.t.Fatal(err)
	}
	return *made.LaunchTemplate.LaunchTemplateId
}

// group makes the launch template and a group of two that launches from it, and returns the group's ARN.
func (m theirs) group() string {
	m.w.t.Helper()
	id := m.template()
	var tags []asgtypes.Tag
	for key, value := range m.tags() {
		tags = append(tags, asgtypes.Tag{Key: &key, Value: &value, PropagateAtLaunch: ptr(false), ResourceId: &m.name,
			ResourceType: ptr("auto-scaling-group")})
	}
	var subnets []string
	for _, s := range network().Subnets {
		if !s.IsPublic {
			subnets = append(subnets, s.ID)
		}
	}
	input := &autoscaling.CreateAutoScalingGroupInput{
		AutoScalingGroupName: &m.name, MinSize: ptr(int32(0)), MaxSize: ptr(int32(5)), DesiredCapacity: ptr(int32(2)),
		VPCZoneIdentifier: ptr(strings.Join(subnets, ", ")), DefaultCooldown: ptr(int32(300)), CapacityRebalance: ptr(false), Tags: tags,
		LifecycleHookSpecificationList: m.hooks,
	}
	if m.mixed != nil {
		policy := *m.mixed
		policy.LaunchTemplate = &asgtypes.LaunchTemplate{Overrides: m.mixed.LaunchTemplate.Overrides,
			LaunchTemplateSpecification: &asgtypes.LaunchTemplateSpecification{LaunchTemplateName: &m.name, Version: ptr("$Latest")}}
		input.MixedInstancesPolicy = &policy
	} else {
		input.LaunchTemplate = &asgtypes.LaunchTemplateSpecification{LaunchTemplateId: &id, Version: ptr("$Latest")}
	}
	if _, err := m.w.byHand.CreateAutoScalingGroup(m.w.t.Context(), input); err != nil {
		m.w.t.Fatal(err)
	}
	settle()
	return *m.w.groupByHand(m.name).AutoScalingGroupARN
}

// groupByHand is a group as another client sees it.
func (w *world) groupByHand(name string) asgtypes.AutoScalingGroup {
	w.t.Helper()
	out, err := w.byHand.DescribeAutoScalingGroups(w.t.Context(),
		&autoscaling.DescribeAutoScalingGroupsInput{AutoScalingGroupNames: []string{name}})
	if err != nil || len(out.AutoScalingGroups) != 1 {
		w.t.Fatalf("group %s: %v, %d found", name, err, len(out.AutoScalingGroups))
	}
	return out.AutoScalingGroups[0]
}

// adopting is the pool's object with the annotation.
func adopting(arn string) aws.Target {
	target := aTarget()
	target.Owner.GroupName, target.GroupID, target.Adopt = "pool", arn, true
	return target
}

// passes lets the pool be reconciled until it rests, and returns the kinds of the steps, and the last plan.
func (w *world) passes(target aws.Target, d pool.Desired) (kinds []pool.StepKind, last pool.Plan, seen pool.Observed) {
	w.t.Helper()
	for range 12 {
		o := w.observe(target)
		target.Remembered = o.ResolvedLookups
		for k := range o.Instances {
			o.Instances[k].Node = &pool.Node{Name: o.Instances[k].ID, Ready: true, Joined: o.Instances[k].Created,
				ReadySince: o.Instances[k].Created}
		}
		d.Adopt.Done = d.Adopt.Done || o.Group != nil
		last, seen = pool.Decide(d, o, w.driver.Traits(), time.Now()), o
		if last.Step == nil {
			return kinds, last, seen
		}
		kinds = append(kinds, last.Step.Kind)
		w.start(target, *last.Step)
		settle()
	}
	w.t.Fatalf("want the pool at rest, got %v", kinds)
	return nil, pool.Plan{}, pool.Observed{}
}

func adoption(name string) pool.Desired {
	return pool.Desired{Replicas: 2, Min: 0, Max: 5, MinField: "spec.minSize", MaxField: "spec.maxSize", Adopt: pool.Adoption{Name: name},
		Strategy: &pool.Strategy{MaxSurge: pool.IntOrPercent{Value: 1}}}
}

func packed(text string) []byte {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, _ = w.Write([]byte(text))
	_ = w.Close()
	return b.Bytes()
}

// TestAdoption takes over groups as the ecosystem's provider makes them. No machine is replaced.
func TestAdoption(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		why    string
		theirs func(*theirs)
		spec   func(*awsv1.AWSMachinePoolSpec)
		want   []pool.StepKind
	}{
		"as it is": {
			why: "the tags, and the group at a version instead of $Latest", theirs: func(*theirs) {},
			want: []pool.StepKind{pool.Adopt, pool.EnsurePrerequisites, pool.UpdateGroup},
		},
		"compressed user data": {
			why: "the data is the same", theirs: func(m *theirs) { m.data = packed(bootstrap) },
			want: []pool.StepKind{pool.Adopt, pool.EnsurePrerequisites, pool.UpdateGroup},
		},
		"other user data": {
			why: "a token that was rotated makes a version and replaces nothing", theirs: func(m *theirs) { m.data = []byte("#cloud-config\n") },
			want: []pool.StepKind{pool.Adopt, pool.EnsurePrerequisites, pool.PutTemplate, pool.UpdateGroup, pool.DefaultTemplate},
		},
		"what means nothing": {
			why: "values that are as good as none make no difference", theirs: func(m *theirs) {
				m.change = func(d *ec2types.RequestLaunchTemplateData) {
					d.EnclaveOptions = &ec2types.LaunchTemplateEnclaveOptionsRequest{Enabled: ptr(false)}
				}
			},
			want: []pool.StepKind{pool.Adopt, pool.EnsurePrerequisites, pool.UpdateGroup},
		},
		"mixed instances": {
			why: "the policy names the template by its name", theirs: func(m *theirs) {
				m.mixed = &asgtypes.MixedInstancesPolicy{LaunchTemplate: &asgtypes.LaunchTemplate{Overrides: []asgtypes.LaunchTemplateOverrides{
					{InstanceType: ptr(simaws.InstanceType)}, {InstanceType: ptr("m5.large")},
				}}}
			},
			spec: func(s *awsv1.AWSMachinePoolSpec) {
				s.MixedInstancesPolicy = &awsv1.MixedInstancesPolicy{Overrides: []awsv1.Overrides{{InstanceType: simaws.InstanceType},
					{InstanceType: "m5.large"}}}
			},
			want: []pool.StepKind{pool.Adopt, pool.EnsurePrerequisites, pool.UpdateGroup},
		},
		"lifecycle hooks": {
			why: "a hook of the specification is not made a second time", theirs: func(m *theirs) {
				m.hooks = []asgtypes.LifecycleHookSpecification{{LifecycleHookName: ptr("bye"),
					LifecycleTransition: ptr("autoscaling:EC2_INSTANCE_TERMINATING"), HeartbeatTimeout: ptr(int32(30))}}
			},
			spec: func(s *awsv1.AWSMachinePoolSpec) { s.AWSLifecycleHooks = reshapedHooks() },
			want: []pool.StepKind{pool.Adopt, pool.EnsurePrerequisites, pool.UpdateGroup},
		},
		"another name of the template in the specification": {
			why: "the provider ignores it, and the template in use counts", theirs: func(*theirs) {},
			spec: func(s *awsv1.AWSMachinePoolSpec) { s.AWSLaunchTemplate.Name = "named" },
			want: []pool.StepKind{pool.Adopt, pool.EnsurePrerequisites, pool.UpdateGroup},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inWorld(t, func(t *testing.T, w *world) {
				arn := w.theirs(tc.theirs).group()
				before := w.groupByHand("pool")
				target := adopting(arn)
				if tc.spec != nil {
					target = with(target, tc.spec)
				}
				kinds, last, seen := w.passes(target, adoption("pool"))
				if !slices.Equal(kinds, tc.want) || last.Refused != nil || last.Rollout.Left != 0 {
					t.Errorf("%s: want the steps %v and nothing to replace, got %v, %+v, %+v", tc.why, tc.want, kinds, last.Refused, last.Rollout)
				}
				for _, i := range seen.Instances {
					if !i.Template.Same(seen.Wanted) {
						t.Errorf("%s: want instance %s up to date, got %+v beside %+v: %v", tc.why, i.ID, i.Template, seen.Wanted, i.TemplateDiff)
					}
				}
				after := w.groupByHand("pool")
				if !slices.Equal(ids(before), ids(after)) {
					t.Errorf("%s: want no instance replaced, got %v in the place of %v", tc.why, ids(after), ids(before))
				}
				hooks, err := w.byHand.DescribeLifecycleHooks(t.Context(), &autoscaling.DescribeLifecycleHooksInput{AutoScalingGroupName: ptr("pool")})
				if want := 1 + len(target.Spec.Pool.AWSLifecycleHooks); err != nil || len(hooks.LifecycleHooks) != want {
					t.Errorf("%s: want %d hooks, got %+v, %v", tc.why, want, hooks, err)
				}
			})
		})
	}
}

func reshapedHooks() []awsv1.AWSLifecycleHook {
	var s awsv1.AWSMachinePoolSpec
	reshape(&s)
	return s.AWSLifecycleHooks
}

func ids(g asgtypes.AutoScalingGroup) []string {
	var list []string
	for _, i := range g.Instances {
		list = append(list, *i.InstanceId)
	}
	slices.Sort(list)
	return list
}

// TestAdoptionRefused: what is not to be adopted is left alone, without a write.
func TestAdoptionRefused(t *testing.T) {
	t.Parallel()
	owner := func(w *world, value string) {
		_, err := w.byHand.CreateOrUpdateTags(w.t.Context(), &autoscaling.CreateOrUpdateTagsInput{Tags: []asgtypes.Tag{
			{Key: ptr("muster.dev/owner"), Value: &value, ResourceId: ptr("pool"), ResourceType: ptr("auto-scaling-group"),
				PropagateAtLaunch: ptr(true)},
		}})
		if err != nil {
			w.t.Fatal(err)
		}
	}
	for name, tc := range map[string]struct {
		why    string
		theirs func(*theirs)
		target func(*aws.Target)
		asked  string
		done   bool
		then   func(w *world)
		want   string
	}{
		"without the annotation": {why: "the message names the way", target: func(t *aws.Target) { t.Adopt = false },
			want: "set the annotation muster.dev/adopt: pool (docs/migrating.md)"},
		"another name": {why: "a slip takes nothing", asked: "workers",
			want: `names "workers", and the group found is Auto Scaling group pool`},
		"another cluster": {why: "it is in use elsewhere", asked: "pool", theirs: func(m *theirs) { m.cluster = "other" },
			want: `belongs to cluster "other"`},
		"another owner": {why: "a pool of Muster's has it", asked: "pool", then: func(w *world) { owner(w, "another") },
			want: `its tag muster.dev/owner is "another"`},
		"adopted before": {why: "a client that takes the tag off means it", asked: "pool", done: true, want: "has lost its owner tag"},
		"the object names another": {
			why: "one of the two is wrong", asked: "pool",
			want: `spec.providerID names "arn:aws:autoscaling:eu-west-1:1:autoScalingGroup:x:autoScalingGroupName/other"`,
			target: func(t *aws.Target) {
				t.GroupID = "arn:aws:autoscaling:eu-west-1:1:autoScalingGroup:x:autoScalingGroupName/other"
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inWorld(t, func(t *testing.T, w *world) {
				m := w.theirs()
				if tc.theirs != nil {
					tc.theirs(&m)
				}
				target := adopting(m.group())
				if tc.target != nil {
					tc.target(&target)
				}
				if tc.then != nil {
					tc.then(w)
				}
				d := adoption(tc.asked)
				d.Adopt.Done = tc.done
				writes, _ := w.wire.count()
				kinds, last, _ := w.passes(target, d)
				if len(kinds) > 0 || last.Refused == nil || last.Refused.Reason != cloud.ReasonOwnershipConflict ||
					!strings.Contains(last.Refused.Message, tc.want) {
					t.Errorf("%s: want it refused with %q, got steps %v and %+v", tc.why, tc.want, kinds, last.Refused)
				}
				if now, _ := w.wire.count(); now != writes {
					t.Errorf("%s: want no write, got %d", tc.why, now-writes)
				}
			})
		})
	}
}

// TestAdoptionWithoutAGroup: no group is created in the place of one that is misspelt.
func TestAdoptionWithoutAGroup(t *testing.T) {
	t.Parallel()
	inWorld(t, func(t *testing.T, w *world) {
		kinds, last, _ := w.passes(adopting(""), adoption("pool"))
		if len(kinds) > 0 || last.Refused == nil || last.Refused.Reason != "AdoptionTargetMissing" {
			t.Errorf("want it refused, got %v and %+v", kinds, last.Refused)
		}
	})
}

// TestAdoptionMeetsFaults: a lost reply is found to have had its effect, a refusal leaves the group as it is, in the cloud's words.
func TestAdoptionMeetsFaults(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		why   string
		fault sim.Fault
		kind  cloud.ErrorKind
		ours  bool
	}{
		"lost reply": {"the tags are there", sim.Fault{Action: "CreateOrUpdateTags", Kind: sim.DropAfter, Times: 1},
			cloud.Unavailable, true},
		"denied": {"nothing is the pool's", sim.Fault{Action: "CreateOrUpdateTags", Kind: sim.ErrorBefore, Code: "AccessDenied",
			Message: "no", Status: 403, Times: 1}, cloud.Denied, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inWorld(t, func(t *testing.T, w *world) {
				target := adopting(w.theirs().group())
				d := adoption("pool")
				plan := pool.Decide(d, w.observe(target), w.driver.Traits(), time.Now())
				if err := w.server.Faults().Add(tc.fault); err != nil {
					t.Fatal(err)
				}
				if err := w.driver.Start(t.Context(), target, *plan.Step); cloud.KindOf(err) != tc.kind {
					t.Errorf("%s: want an error of kind %s, got %v", tc.why, tc.kind, err)
				}
				settle()
				if o := w.observe(target); (o.Group != nil) != tc.ours {
					t.Errorf("%s: want the group the pool's: %t, got %+v", tc.why, tc.ours, o.OwnershipConflict)
				}
				if kinds, last, _ := w.passes(target, d); last.Rollout.Left != 0 || (slices.Contains(kinds, pool.Adopt)) == tc.ours {
					t.Errorf("%s: want the adoption finished, got %v", tc.why, kinds)
				}
			})
		})
	}
}
