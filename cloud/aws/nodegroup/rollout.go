package nodegroup

import (
	"cmp"
	"slices"
	"strings"
	"time"

	asgtypes "github.com/aws/aws-sdk-go-v2/service/autoscaling/types"
	ekstypes "github.com/aws/aws-sdk-go-v2/service/eks/types"
	"k8s.io/utils/ptr"

	"github.com/muster-project/muster/cloud/aws/asg"
	"github.com/muster-project/muster/pool"
)

// rollStates are the service's states in pool's words.
var rollStates = map[ekstypes.UpdateStatus]pool.ProviderRolloutState{
	ekstypes.UpdateStatusInProgress: pool.ProviderRolloutRunning,
	ekstypes.UpdateStatusSuccessful: pool.ProviderRolloutSucceeded,
	ekstypes.UpdateStatusFailed:     pool.ProviderRolloutFailed,
	ekstypes.UpdateStatusCancelled:  pool.ProviderRolloutCancelled,
}

// rollout returns the newest update of version, release or template; nil if there is none. A state that is not known is taken for one that
// has not ended. brought are the instances that an update has brought.
func (s *state) rollout(brought map[string]string) *pool.ProviderRollout {
	list := s.m.updates.of(ekstypes.UpdateTypeVersionUpdate)
	if len(list) == 0 {
		return nil
	}
	newest := list[0]
	r := &pool.ProviderRollout{
		ID:       ptr.Deref(newest.Id, ""),
		State:    cmp.Or(rollStates[newest.Status], pool.ProviderRolloutRunning),
		Template: s.goal(newest),
		Reason:   reasonOf(newest.Errors),
		Started:  ptr.Deref(newest.CreatedAt, time.Time{}),
		Ended:    newest.ended,
		Failures: asg.FailuresInARow(list, updateRead.outcome, s.goal),
	}
	r.Percent = s.m.members.percentOf(r, brought)
	if r.State == pool.ProviderRolloutRunning && r.Template.Same(s.want.template) {
		r.Reason = s.want.step.path.String()
	}
	return r
}

// rolloutUnknown returns why it is unknown what the updates did: EKS did not report them, or EC2 did not report the launch times that tell
// which instances an open update launched. The templates of those are unknown then, and no update is begun on a guess.
func (s *state) rolloutUnknown() *pool.Cause {
	if refused := s.m.updates.refused.Cause(); refused != nil {
		return refused
	}
	open := s.m.updates.open()
	unknown := func(i asgtypes.Instance) bool { return s.m.members.templateUnknown(i, open) }
	if s.backing != nil && slices.ContainsFunc(s.backing.Instances, unknown) {
		return s.m.members.refused.Cause()
	}
	return nil
}

// showsUnfinished reports whether the group shows what an update leads to that ended without success. Instances that no open update
// launched were not replaced then, and what they were launched from is not shown any more.
func (s *state) showsUnfinished(open []updateRead) bool {
	return slices.ContainsFunc(open, func(u updateRead) bool {
		version, to := goalOf(u, s.running())
		return u.over() && to == s.running() && s.ref(version) == s.ref("")
	})
}

// rolls reports whether an update of version or template runs.
func (h updateHistory) rolls() bool {
	list := h.of(ekstypes.UpdateTypeVersionUpdate)
	return len(list) > 0 && !list[0].over()
}

// of returns the updates of a type, newest first.
func (h updateHistory) of(kind ekstypes.UpdateType) []updateRead {
	var list []updateRead
	for _, u := range h.known {
		if u.Type == kind {
			list = append(list, u)
		}
	}
	slices.SortFunc(list, func(a, b updateRead) int {
		return cmp.Or(ptr.Deref(b.CreatedAt, time.Time{}).Compare(ptr.Deref(a.CreatedAt, time.Time{})),
			strings.Compare(ptr.Deref(a.Id, ""), ptr.Deref(b.Id, "")))
	})
	return list
}

// open returns the updates of version or template since the last successful one, oldest first.
func (h updateHistory) open() []updateRead {
	var open []updateRead
	for _, u := range h.of(ekstypes.UpdateTypeVersionUpdate) {
		if u.Status == ekstypes.UpdateStatusSuccessful {
			break
		}
		open = append(open, u)
	}
	slices.Reverse(open)
	return open
}

// outcome returns how an update ended.
func (u updateRead) outcome() asg.Outcome {
	switch {
	case !u.over(), u.Status == ekstypes.UpdateStatusCancelled:
		return asg.Undecided
	case u.Status == ekstypes.UpdateStatusSuccessful:
		return asg.Succeeded
	}
	return asg.Failed
}
