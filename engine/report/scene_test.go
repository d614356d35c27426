package report_test

import (
	"errors"
	"fmt"
	"time"

	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/engine"
	"github.com/muster-project/muster/engine/report"
	"github.com/muster-project/muster/pool"
	"github.com/muster-project/muster/pool/undrainable"
)

var epoch = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

var traits = pool.Traits{Group: "Auto Scaling group", Template: "launch template", RemoveBatch: 10, CanCancelRollout: true,
	ReplaceKeepsSize: true}

// scene is a pool of three machines that is as wanted, until a row changes it. The plan is decided as in a real pass.
type scene struct {
	d       pool.Desired
	o       pool.Observed
	unseen  bool
	err     error
	fresh   error
	refused map[pool.StepKind]error
	started bool
	// failed are the targets for which the step was not begun, where it was for the others.
	failed map[string]bool
	// repeated is true if the step was accepted before.
	repeated bool
	// rolls is true if the cloud replaces machines by itself, asides if it can set them aside.
	rolls, asides bool
	// changes is true if it replaces what is of another template alone, needs what its groups need beside it.
	changes bool
	needs   string
	// scaleSet is true if its groups hold their template and know no replacement, and that what failed stays.
	scaleSet bool
	// step stands for what the pass has begun, where no scene decides it.
	step *pool.Step
}

func (s *scene) traits() pool.Traits {
	tr := traits
	tr.ProviderRollout, tr.SupportsStandby, tr.RolloutOnTemplateChange, tr.CanCancelRollout, tr.Prerequisites = s.rolls, s.asides, s.changes,
		!s.changes, s.needs
	if s.scaleSet {
		tr.Group, tr.Template = "scale set", "model"
		tr.ReplaceKeepsSize, tr.KeepsFailedInstances, tr.InlineTemplate, tr.CanDeleteBusyGroup, tr.RecordsSurge = false, true, true, true, true
	}
	return tr
}

func (s *scene) outcome() engine.Outcome {
	if s.unseen || s.err != nil {
		return engine.Outcome{Err: s.err, NewError: s.fresh, RequeueAfter: time.Second, Refused: s.refused}
	}
	for kind, err := range s.refused {
		if s.d.StepsInBackoff == nil {
			s.d.StepsInBackoff = map[pool.StepKind]pool.Cause{}
		}
		s.d.StepsInBackoff[kind] = pool.Cause{Reason: string(cloud.KindOf(err)), Message: err.Error()}
		if errors.Is(err, ineffective) {
			s.d.StepsInBackoff[kind] = pool.Cause{Reason: pool.NoEffect, Message: err.Error()}
		}
	}
	plan := pool.Decide(s.d, s.o, s.traits(), epoch)
	if s.step != nil {
		plan.Step = s.step
	}
	return engine.Outcome{
		Plan: plan, Observed: s.o, Seen: true, Started: s.started, Repeated: s.repeated, Failed: s.failed, NewError: s.fresh, Refused: s.refused,
		RequeueAfter: time.Second,
	}
}

func (s *scene) report() report.Report {
	out := s.outcome()
	d := s.d
	d.StepsInBackoff = nil
	return report.Build(d, out, s.traits())
}

func aScene(change ...func(*scene)) *scene {
	v := pool.Template{Ref: "lt-1:1", Content: "v1:a", Data: "d"}
	s := &scene{
		d: pool.Desired{Replicas: 3, Max: 10, MinField: "spec.minSize", MaxField: "spec.maxSize"},
		o: pool.Observed{
			Wanted: pool.Template{Content: v.Content, Data: v.Data}, Versions: []pool.Template{v},
			Group: &pool.Group{ID: "arn:g", Size: 3, Max: 10, Template: v.Ref},
		},
	}
	for k := range 3 {
		id := fmt.Sprintf("i-%d", k+1)
		s.o.Instances = append(s.o.Instances, pool.Instance{
			ID: id, ProviderID: "aws:///a/" + id, Zone: "a", Template: v, State: pool.Running,
			Node: &pool.Node{Name: "node-" + id, Ready: true, Joined: epoch.Add(-time.Hour), ReadySince: epoch.Add(-time.Hour),
				KubeletVersion: "v1.34.1"},
		})
	}
	for _, c := range change {
		c(s)
	}
	return s
}

func and(changes ...func(*scene)) func(*scene) {
	return func(s *scene) {
		for _, c := range changes {
			c(s)
		}
	}
}

func replicas(n int) func(*scene) { return func(s *scene) { s.d.Replicas = n } }

func size(n int) func(*scene) { return func(s *scene) { s.o.Group.Size = n } }

func external(s *scene) { s.d.ReplicasManagedExternally = true }

func deleting(s *scene) { s.d.Deleting = true }

func rollsUnseen(s *scene) {
	s.o.ProviderRolloutUnknown = &pool.Cause{Reason: "Denied", Message: "autoscaling:DescribeInstanceRefreshes: AccessDenied: not authorized"}
}

func timeout(d time.Duration) func(*scene) { return func(s *scene) { s.d.DrainTimeout = d } }

func held(s *scene) {
	s.d.CreateBlocked = &pool.Cause{Reason: "ClusterNotReady", Message: "waiting for the cluster's network"}
}

func unseen(s *scene) { s.unseen = true }

func failing(err error) func(*scene) { return func(s *scene) { s.err = err } }

func refused(kind pool.StepKind, err error) func(*scene) {
	return func(s *scene) { s.refused = map[pool.StepKind]error{kind: err} }
}

func foreign(s *scene) {
	s.o = pool.Observed{OwnershipConflict: &pool.Cause{Reason: "OwnershipConflict", Message: "Auto Scaling group x is not this pool's"}}
}

func adopting(s *scene) {
	foreign(s)
	s.o.Unowned, s.d.Adopt = &pool.Unowned{Name: "x", Group: "Auto Scaling group x", OfCluster: true}, pool.Adoption{Name: "x"}
}

func noGroup(s *scene) { s.o.Group, s.o.Instances = nil, nil }

func noTemplate(s *scene) { s.o.Versions = nil }

func groupGoes(s *scene) { s.o.Group.Deleting = true }

func away(s *scene) {
	s.o.NodesUnknown = true
	for k := range s.o.Instances {
		s.o.Instances[k].Node = nil
	}
}

func wanted(content, data string) func(*scene) {
	return func(s *scene) { s.o.Wanted = pool.Template{Content: content, Data: data} }
}

func issue(s *scene) {
	s.o.Issues = []pool.Cause{{Reason: "Capacity", Message: "no m5.large left in zone a"}}
}

// unresolved is a group of which a field was not compared.
func unresolved(reason, message string) func(*scene) {
	return func(s *scene) { s.o.Unresolved = []pool.Cause{{Reason: reason, Message: message}} }
}

func drift(fields ...string) func(*scene) { return func(s *scene) { s.o.Group.Drift = fields } }

func newest(v pool.Template) func(*scene) {
	return func(s *scene) { s.o.Versions = append([]pool.Template{v}, s.o.Versions...) }
}

// first changes the first machine, whose node is its own copy.
func first(change func(*pool.Instance)) func(*scene) {
	return func(s *scene) { change(&s.o.Instances[0]) }
}

func notJoined(i *pool.Instance) { i.Node = nil }

func unready(i *pool.Instance) { i.Node.Ready, i.Node.ReadySince = false, epoch }

func neverReady(i *pool.Instance) {
	i.Node.Ready, i.Node.Joined, i.Node.ReadySince = false, epoch, epoch.Add(time.Second)
}

func pending(i *pool.Instance) { i.State, i.Node = pool.Pending, nil }

func given(s *scene) {
	s.o.Wanted.UserManaged, s.o.Versions[0].UserManaged = true, true
}

func noMachines(s *scene) { s.o.Instances = nil }

func needless(s *scene) { s.d.NoPrerequisites = true }

func needing(s *scene) { s.needs = "node role" }

func lacking(s *scene) {
	s.needs, s.o.MissingPrerequisites = "node role", []string{"role nodes-1", "policy P"}
}

func changes(s *scene) { s.rolls, s.changes = true, true }

func inline(s *scene) { s.scaleSet = true }

func busy(s *scene) {
	s.o.Group.Busy = &pool.Cause{Reason: "Updating", Message: "EKS is updating the node group"}
}

func failedGroup(s *scene) {
	s.o.Group.Failed = &pool.Cause{Reason: "CreateFailed", Message: "Ec2SubnetInvalidConfiguration: no public address"}
}

func stiff(s *scene) { s.o.Group.Unchangeable = []string{"spec.subnetIDs"} }

func broken(i *pool.Instance) { i.State = pool.Failed }

func requested(i *pool.Instance) {
	i.DeletionRequested = &pool.Cause{Reason: "MachineDeleted", Message: "its Machine was deleted"}
}

func leavesFailed(s *scene) { s.o.Group.LeavesFailed = "spec.policy" }

func leaving(i *pool.Instance) { i.State = pool.Terminating }

func draining(i *pool.Instance) {
	i.Node.Cordoned, i.Node.DrainStarted, i.Node.Remaining, i.Node.Blocked = true, epoch.Add(-time.Minute), 2,
		[]string{"default/web (budget web)"}
}

func quarantined(i *pool.Instance) { i.Node.Quarantined = true }

func emptied(i *pool.Instance) { i.Node.Remaining, i.Node.Blocked = 0, nil }

// stuckFor has machines quarantined whose drain is blocked for 30 seconds.
func stuckFor(s *scene) {
	s.d.Strategy = &pool.Strategy{MaxUnavailable: pool.IntOrPercent{Value: 1},
		Undrainable: undrainable.Rule{Action: undrainable.Quarantine, After: 30 * time.Second, Max: 1}}
}

func forced(s *scene) { s.d.Strategy.Undrainable.Action = undrainable.Force }

// rolling is a strategy, native leaves it to the cloud.
func rolling(s *scene) {
	s.d.Strategy = &pool.Strategy{MaxSurge: pool.IntOrPercent{Value: 1}}
}

func native(s *scene) { s.rolls = true }

func asides(s *scene) { s.asides = true }

func heldDrained(i *pool.Instance) {
	i.State, i.LifecycleHook = pool.Terminating, &pool.LifecycleHook{Since: epoch.Add(-time.Hour), Until: epoch.Add(time.Hour),
		Heartbeat: time.Hour}
	i.Node.Cordoned, i.Node.DrainStarted = true, epoch.Add(-time.Minute)
}

func paused(s *scene) {
	s.d.RolloutPaused = &pool.Cause{Reason: "RolloutPaused", Message: "paused by muster.dev/rollout"}
}

func restart(s *scene) {
	s.d.Restart = &pool.Restart{Before: epoch, Cause: pool.Cause{Reason: "Restart", Message: "asked for"}}
}

func stale(i *pool.Instance) {
	i.Template, i.TemplateDiff = pool.Template{Ref: "lt-1:0", Content: "v1:old", Data: "d"}, []string{"spec.ami"}
}

func late(i *pool.Instance) { i.Node, i.Created = nil, epoch.Add(-time.Hour) }

func second(change func(*pool.Instance)) func(*scene) {
	return func(s *scene) { change(&s.o.Instances[1]) }
}

func cloudRolls(state pool.ProviderRolloutState, percent int, reason string) func(*scene) {
	return func(s *scene) {
		s.o.ProviderRollout = &pool.ProviderRollout{ID: "r", State: state, Template: s.o.Versions[0], Percent: percent, Reason: reason,
			Failures: 1}
		if state == pool.ProviderRolloutFailed {
			s.o.ProviderRollout.Ended = epoch.Add(-time.Minute)
		}
	}
}
