package aws

import (
	"cmp"
	"context"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/autoscaling"
	asgtypes "github.com/aws/aws-sdk-go-v2/service/autoscaling/types"

	awsv1 "github.com/muster-project/muster/api/aws/v1beta2"
	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/aws/asg"
	"github.com/muster-project/muster/cloud/aws/session"
	"github.com/muster-project/muster/cloud/driverkit"
	"github.com/muster-project/muster/pool"
)

const (
	// rollsMost are the refreshes that are looked at, newest first: enough to count failures in a row.
	rollsMost = 20
	// codeNoRoll is the service's code when no refresh is under way.
	codeNoRoll = "ActiveInstanceRefreshNotFound"
)

// rollsRead are the group's instance refreshes, newest first.
type rollsRead struct {
	list []asgtypes.InstanceRefresh
	at   time.Time
	// refused is the service's refusal to list them; list is empty then.
	refused *pool.Cause
	// leaving are the instances that the group terminated then.
	leaving map[string]bool
}

// mixedPeriod is the time between two questions for refreshes while instances are of other content than the group launches: a
// pool that replaces them one by one looks at its group several times a second, and what others begin may show a little later.
const mixedPeriod = 10 * time.Second

// readRolls reads the refreshes when they may have changed: while one runs, while instances are of another version than the
// group launches, when the group terminates instances that Muster did not name, and once in a while.
func (p *pass) readRolls(ctx context.Context, is *asgtypes.AutoScalingGroup) error {
	if p.rollsCurrent(is) {
		return nil
	}
	known := &p.memory.rolls
	found, err := p.c.AutoScaling.DescribeInstanceRefreshes(ctx, &autoscaling.DescribeInstanceRefreshesInput{
		AutoScalingGroupName: &p.t.group, MaxRecords: new(int32(rollsMost)),
	})
	if err = session.Refusal(err, p.now); session.Absent(err) || beingDeleted(err) {
		return nil
	}
	if cloud.KindOf(err) == cloud.Denied && err != nil {
		*known = rollsRead{at: p.now, refused: new(driverkit.CauseOf(err)), leaving: leaving(is)}
		return nil
	}
	if err != nil {
		return err
	}
	*known = rollsRead{list: timed(found), at: p.now, leaving: leaving(is)}
	return nil
}

// leaving returns the IDs of the instances that a group terminates.
func leaving(is *asgtypes.AutoScalingGroup) map[string]bool {
	ids := map[string]bool{}
	for _, i := range is.Instances {
		if state, _ := asg.StateOf(i); state == pool.Terminating {
			ids[session.Deref(i.InstanceId)] = true
		}
	}
	return ids
}

// othersTerminate reports whether the group has begun to terminate instances that Muster did not name: a refresh that another client has
// begun does that.
func (p *pass) othersTerminate(is *asgtypes.AutoScalingGroup) bool {
	if strings.HasPrefix(session.Deref(is.Status), asg.StatusDeleting) {
		return false
	}
	for id := range leaving(is) {
		if _, ours := p.memory.takes[id]; !ours && !p.memory.rolls.leaving[id] {
			return true
		}
	}
	return false
}

// rollsCurrent reports whether the refreshes need not be read in this pass.
func (p *pass) rollsCurrent(is *asgtypes.AutoScalingGroup) bool {
	known := &p.memory.rolls
	age := p.now.Sub(known.at)
	switch {
	case known.refused != nil:
		return age < session.RefusedPeriod
	case known.at.IsZero():
		return false
	case known.running():
		// A pass that was held back goes on with what it has read: it would spend the next call on the same question, and never get further.
		return age <= p.t.MaxAge
	case age >= mixedPeriod && (p.mixedVersions(is) || p.othersTerminate(is)):
		return false
	}
	return age < session.TracedPeriod
}

// timed are the refreshes of a reply, with their moments by our clock.
func timed(found *autoscaling.DescribeInstanceRefreshesOutput) []asgtypes.InstanceRefresh {
	list := found.InstanceRefreshes
	for k := range list {
		list[k].StartTime, list[k].EndTime = session.OurTime(list[k].StartTime, found.ResultMetadata), session.OurTime(list[k].EndTime, found.ResultMetadata)
	}
	return list
}

// running reports whether the newest refresh had not ended.
func (r rollsRead) running() bool { return len(r.list) > 0 && r.list[0].EndTime == nil }

// fixed reports whether the newest refresh has not ended and decides what the group launches: the service refuses to have that changed.
func (r rollsRead) fixed() bool { return r.running() && r.list[0].DesiredConfiguration != nil }

// mixedVersions reports whether some instance was launched from other content than the group launches now.
func (p *pass) mixedVersions(is *asgtypes.AutoScalingGroup) bool {
	content := p.memory.template.TemplateOf(p.refOf(launchedFrom(is))).Content
	for _, i := range is.Instances {
		from := p.memory.template.TemplateOf(p.refOf(i.LaunchTemplate)).Content
		if _, member := asg.StateOf(i); member && from != "" && from != content {
			return true
		}
	}
	return false
}

// rollStates are the service's states in pool's words.
var rollStates = map[asgtypes.InstanceRefreshStatus]pool.ProviderRolloutState{
	asgtypes.InstanceRefreshStatusPending:            pool.ProviderRolloutRunning,
	asgtypes.InstanceRefreshStatusInProgress:         pool.ProviderRolloutRunning,
	asgtypes.InstanceRefreshStatusBaking:             pool.ProviderRolloutBaking,
	asgtypes.InstanceRefreshStatusCancelling:         pool.ProviderRolloutCancelling,
	asgtypes.InstanceRefreshStatusRollbackInProgress: pool.ProviderRolloutReverting,
	asgtypes.InstanceRefreshStatusSuccessful:         pool.ProviderRolloutSucceeded,
	asgtypes.InstanceRefreshStatusFailed:             pool.ProviderRolloutFailed,
	asgtypes.InstanceRefreshStatusRollbackFailed:     pool.ProviderRolloutFailed,
	asgtypes.InstanceRefreshStatusCancelled:          pool.ProviderRolloutCancelled,
	asgtypes.InstanceRefreshStatusRollbackSuccessful: pool.ProviderRolloutReverted,
}

// roll is the newest refresh in pool's words. A state that is not known is taken for one that has not ended.
func (p *pass) roll() *pool.ProviderRollout {
	list := p.memory.rolls.list
	if len(list) == 0 {
		return nil
	}
	newest := list[0]
	return &pool.ProviderRollout{
		ID:       session.Deref(newest.InstanceRefreshId),
		State:    cmp.Or(rollStates[newest.Status], pool.ProviderRolloutRunning),
		Template: p.rolledTo(newest),
		Percent:  int(session.Deref(newest.PercentageComplete)),
		Reason:   session.Clean(session.InstanceID.ReplaceAllString(session.Deref(newest.StatusReason), "an instance")),
		Started:  session.Deref(newest.StartTime),
		Ended:    session.Deref(newest.EndTime),
		Failures: p.rollFailures(list),
	}
}

// rolledTo is the template that a refresh launches from; one without a configuration of its own is not ours.
func (p *pass) rolledTo(r asgtypes.InstanceRefresh) pool.Template {
	d := r.DesiredConfiguration
	if d == nil {
		return pool.Template{}
	}
	from := d.LaunchTemplate
	if m := d.MixedInstancesPolicy; m != nil && m.LaunchTemplate != nil {
		from = m.LaunchTemplate.LaunchTemplateSpecification
	}
	if from == nil {
		return pool.Template{}
	}
	return p.memory.template.TemplateOf(p.refOf(from))
}

// rollFailures counts the newest refreshes in a row that have failed and were to the same content. One that was cancelled has
// not failed, by whichever client, and does not end the row.
func (p *pass) rollFailures(list []asgtypes.InstanceRefresh) int {
	n := 0
	for _, r := range list {
		if r.EndTime == nil || r.Status == asgtypes.InstanceRefreshStatusCancelled {
			continue
		}
		if r.Status == asgtypes.InstanceRefreshStatusSuccessful || !p.rolledTo(r).Same(p.rolledTo(list[0])) {
			break
		}
		n++
	}
	return n
}

// startRoll begins a refresh to exactly the step's template, by its number. The service tells instances apart by version, and
// would replace those of another version with the same content too: they are protected meanwhile (see keep.go). An older version
// with that content is never pinned in place of the newest to spare them: its bootstrap token may have run out.
func (p *pass) startRoll(ctx context.Context, s pool.Step) error {
	if p.now.Sub(p.memory.group.at) > session.SameMoment {
		p.memory.group = groupRead{}
	}
	if err := p.known(ctx); err != nil {
		return err
	}
	from, err := specification(s.Template)
	if err != nil {
		return err
	}
	kept, err := p.keepOthers(ctx, s)
	if err != nil {
		return err
	}
	desired := &asgtypes.DesiredConfiguration{LaunchTemplate: from}
	if mixed := mixedPolicy(p.t.pool.MixedInstancesPolicy); mixed != nil {
		mixed.LaunchTemplate.LaunchTemplateSpecification = from
		desired = &asgtypes.DesiredConfiguration{MixedInstancesPolicy: mixed}
	}
	preferences := refreshPreferences(p.t.pool.RefreshPreferences)
	preferences.SkipMatching = new(!s.ReplaceMatching)
	if kept {
		preferences.ScaleInProtectedInstances = asgtypes.ScaleInProtectedInstancesIgnore
	}
	p.memory.touchedRolls()
	_, err = p.c.AutoScaling.StartInstanceRefresh(ctx, &autoscaling.StartInstanceRefreshInput{
		AutoScalingGroupName: &p.t.group, DesiredConfiguration: desired, Preferences: preferences, Strategy: asgtypes.RefreshStrategyRolling,
	})
	if err = session.Refusal(err, p.now); cloud.CodeOf(err) == "InstanceRefreshInProgress" {
		return p.confirmRolloutStarted(ctx, s, err)
	}
	return err
}

// refreshPreferences are the pool's preferences as they are sent; what the pool does not say is left to the service. Instances
// in standby are left alone unless it says otherwise: they belong to another client, or are about to go.
func refreshPreferences(asked *awsv1.RefreshPreferences) *asgtypes.RefreshPreferences {
	sent := &asgtypes.RefreshPreferences{StandbyInstances: asgtypes.StandbyInstancesIgnore}
	if asked == nil {
		return sent
	}
	sent.InstanceWarmup = narrow(asked.InstanceWarmup)
	sent.MinHealthyPercentage = narrow(asked.MinHealthyPercentage)
	sent.MaxHealthyPercentage = narrow(asked.MaxHealthyPercentage)
	sent.CheckpointPercentages = asked.CheckpointPercentages
	if len(asked.CheckpointPercentages) > 0 {
		// The service refuses a delay without checkpoints.
		sent.CheckpointDelay = narrow(asked.CheckpointDelay)
	}
	sent.BakeTime = narrow(asked.BakeTime)
	if asked.AutoRollback {
		sent.AutoRollback = &asked.AutoRollback
	}
	if alarms := asked.AlarmSpecification; alarms != nil && len(alarms.Alarms) > 0 {
		sent.AlarmSpecification = &asgtypes.AlarmSpecification{Alarms: alarms.Alarms}
	}
	sent.ScaleInProtectedInstances = asgtypes.ScaleInProtectedInstances(asked.ScaleInProtectedInstances)
	if asked.StandbyInstances != "" {
		sent.StandbyInstances = asgtypes.StandbyInstances(asked.StandbyInstances)
	}
	return sent
}

// narrow is a number of the specification as the service has it.
func narrow(n *int64) *int32 {
	if n == nil {
		return nil
	}
	return new(int32(*n))
}

// confirmRolloutStarted finds out whether the refresh that is under way is the one that was asked for.
func (p *pass) confirmRolloutStarted(ctx context.Context, s pool.Step, refused error) error {
	if err := p.readGroup(ctx); err != nil || p.memory.group.is == nil {
		return cmp.Or(err, refused)
	}
	if err := p.readRolls(ctx, p.memory.group.is); err != nil {
		return err
	}
	if roll := p.roll(); roll != nil && roll.Template.Ref == s.Template {
		return nil
	}
	return refused
}

// cancelRoll ends the refresh that the step names. The call can't name it: whether it is still the one that runs is asked first.
func (p *pass) cancelRoll(ctx context.Context, s pool.Step) error {
	if err := p.known(ctx); err != nil || p.memory.group.is == nil {
		return err
	}
	p.memory.rolls = rollsRead{}
	if err := p.readRolls(ctx, p.memory.group.is); err != nil {
		return err
	}
	roll := p.roll()
	if roll == nil || len(s.Refs) != 1 || roll.ID != s.Refs[0] || !p.memory.rolls.running() || roll.State == pool.ProviderRolloutCancelling {
		return nil
	}
	p.memory.touchedRolls()
	_, err := p.c.AutoScaling.CancelInstanceRefresh(ctx, &autoscaling.CancelInstanceRefreshInput{AutoScalingGroupName: &p.t.group})
	if err = session.Refusal(err, p.now); cloud.CodeOf(err) == codeNoRoll || session.Absent(err) {
		return nil
	}
	return err
}

// touchedRolls is called before a write that concerns the refreshes.
func (m *memory) touchedRolls() {
	m.touchedMembers()
	m.rolls = rollsRead{}
}
