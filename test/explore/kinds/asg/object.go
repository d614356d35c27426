package asg

import (
	"time"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	awsv1 "github.com/muster-project/muster/api/aws/v1beta2"
	"github.com/muster-project/muster/api/common"
	"github.com/muster-project/muster/test/explore/kinds/aws"
	"github.com/muster-project/muster/test/explore/oracle"
	"github.com/muster-project/muster/test/explore/script"
	"github.com/muster-project/muster/test/explore/world"
)

// object returns an infrastructure object as what it is.
func object(o client.Object) *awsv1.AWSMachinePool { return o.(*awsv1.AWSMachinePool) }

// applied returns the object as a user applies it.
func (p *pool) applied() client.Object {
	s := p.World.Scenario
	return &awsv1.AWSMachinePool{
		ObjectMeta: metav1.ObjectMeta{Namespace: p.World.InfraKey().Namespace, Name: p.World.InfraKey().Name},
		Spec: awsv1.AWSMachinePoolSpec{
			MinSize: int32(s.Least), MaxSize: int32(s.Most),
			AdditionalTags:    awsv1.Tags{"team": "a"},
			AWSLaunchTemplate: p.LaunchTemplate(false),
			Strategy:          strategy(s), RefreshPreferences: preferences(s.Refresh),
		},
	}
}

// preferences returns the refresh preferences of the object.
func preferences(r script.Refresh) *awsv1.RefreshPreferences {
	switch r {
	case script.Checkpoints:
		return &awsv1.RefreshPreferences{MinHealthyPercentage: ptr.To(int64(50)), InstanceWarmup: ptr.To(int64(30)),
			RefreshChecks: awsv1.RefreshChecks{
				CheckpointPercentages: []int32{50, 100}, CheckpointDelay: ptr.To(int64(60)),
			}}
	case script.Surplus:
		return &awsv1.RefreshPreferences{MinHealthyPercentage: ptr.To(int64(100)), MaxHealthyPercentage: ptr.To(int64(150)),
			InstanceWarmup: ptr.To(int64(30))}
	case script.Disabled:
		return &awsv1.RefreshPreferences{Disable: true}
	}
	return nil
}

// bounds returns the bounds of the group's size, setBounds sets them.
func bounds(o client.Object) (least, most int32) {
	return object(o).Spec.MinSize, object(o).Spec.MaxSize
}

func setBounds(o client.Object, least, most int32) {
	object(o).Spec.MinSize, object(o).Spec.MaxSize = least, most
}

// strategy returns the scenario's as the object has it.
func strategy(s script.Scenario) *awsv1.Strategy {
	switch {
	case s.Strategy != nil:
		return &awsv1.Strategy{Type: awsv1.StrategyRollingUpdate, RollingUpdate: s.Strategy.Spec().RollingUpdate}
	case s.ByGroup:
		return &awsv1.Strategy{Type: awsv1.StrategyInstanceRefresh, RollingUpdate: &common.RollingUpdate{}}
	}
	return nil
}

// rolls reports whether the object allows to replace machines with an outdated template.
func rolls(o client.Object) bool {
	s := &object(o).Spec
	return s.Strategy != nil || s.RefreshPreferences == nil || !s.RefreshPreferences.Disable
}

// setRollout sets how machines are to be replaced.
func setRollout(_ *clusterv1.MachinePool, o client.Object, desired *oracle.Desired) {
	s := &object(o).Spec
	desired.Keep = s.AWSLaunchTemplate.Keep()
	switch {
	case s.Strategy == nil:
		desired.ReplacedByMuster = true
		desired.Surge, desired.Unavailable = oracle.Share{N: 1}, oracle.Share{}
		if r := s.RefreshPreferences; r != nil && r.MinHealthyPercentage != nil {
			desired.Unavailable = oracle.Share{N: 100 - int(*r.MinHealthyPercentage), Percent: true}
		}
		if r := s.RefreshPreferences; r != nil && r.MaxHealthyPercentage != nil {
			desired.Surge = oracle.Share{N: int(*r.MaxHealthyPercentage) - 100, Percent: true}
		}
	case s.Strategy.Type == awsv1.StrategyRollingUpdate:
		world.SetReplacedByMuster(s.Strategy.RollingUpdate, desired)
	}
}

// setStrategy sets how machines are replaced.
func (p *pool) setStrategy(o client.Object, l *script.Limits) {
	s := &object(o).Spec
	of := p.World.Scenario
	of.Strategy = l
	if s.Strategy = strategy(of); s.Strategy != nil && of.Refresh == script.Disabled {
		s.RefreshPreferences = nil // both together are refused
	}
}

// edits returns the changes that users make to the object.
func (p *pool) edits() world.Edits {
	template := func(o client.Object) *awsv1.AWSLaunchTemplate { return &object(o).Spec.AWSLaunchTemplate }
	back := func(o client.Object) { aws.SetTemplate(template(o), p.LaunchTemplate(false)) }
	return world.Edits{
		Template: func(o client.Object, n int) { aws.EditTemplate(template(o), n) },
		Bad:      func(o client.Object) { aws.SpoilTemplate(template(o)) },
		Back:     back,
		Type:     func(o client.Object) string { return template(o).InstanceType },
		Group:    func(o client.Object, n, m int) { group(&object(o).Spec, n, m) },
		Strategy: p.setStrategy,
		Keep:     func(o client.Object, n *int32) { template(o).VersionsToKeep = n },
	}
}

// group changes one field of the group.
func group(s *awsv1.AWSMachinePoolSpec, n, m int) {
	switch n {
	case 0:
		s.DefaultCoolDown = &metav1.Duration{Duration: time.Duration(30*m) * time.Second}
	case 1:
		s.DefaultInstanceWarmup = &metav1.Duration{Duration: time.Duration(30*m) * time.Second}
	case 2:
		s.CapacityRebalance = !s.CapacityRebalance
	case 3:
		s.AvailabilityZones = [][]string{nil, {"eu-west-1a"}, {"eu-west-1b", "eu-west-1c"}}[m%3]
	case 4, 5:
		s.AdditionalTags = []awsv1.Tags{nil, {"team": "b"}, {"team": "a", "stage": "test"}}[m%3]
	case 6:
		s.SuspendProcesses = &awsv1.SuspendProcessesTypes{Processes: &awsv1.Processes{AZRebalance: awssdk.Bool(m%2 == 0)}}
	case 7:
		s.AWSLifecycleHooks = hooks(m)
	default:
		s.MixedInstancesPolicy = nil
		if m%2 == 0 && s.AWSLaunchTemplate.SpotMarketOptions == nil {
			types := []awsv1.Overrides{{InstanceType: "m5.large"}, {InstanceType: "c5.large"}}
			s.MixedInstancesPolicy = &awsv1.MixedInstancesPolicy{Overrides: types[m/2%2:]}
		}
	}
}

func hooks(n int) []awsv1.AWSLifecycleHook {
	hook := func(name string, at awsv1.LifecycleTransition) awsv1.AWSLifecycleHook {
		return awsv1.AWSLifecycleHook{
			Name: name, LifecycleTransition: at, HeartbeatTimeout: &metav1.Duration{Duration: time.Duration(30*(1+n%3)) * time.Second},
			DefaultResult: ptr.To(awsv1.LifecycleHookDefaultResultContinue),
		}
	}
	hello, bye := hook("hello", awsv1.LifecycleTransitionInstanceLaunching), hook("bye", awsv1.LifecycleTransitionInstanceTerminating)
	return [][]awsv1.AWSLifecycleHook{nil, {hello}, {bye}, {hello, bye}}[n%4]
}
