package nodegroup

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/eks"
	ekstypes "github.com/aws/aws-sdk-go-v2/service/eks/types"
	"k8s.io/utils/ptr"

	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/aws/asg"
	"github.com/muster-project/muster/cloud/aws/launch"
	"github.com/muster-project/muster/cloud/aws/session"
	"github.com/muster-project/muster/pool"
)

// updates reads the group's updates as far as they may have changed.
func (r *reader) updates(ctx context.Context, is *ekstypes.Nodegroup) error {
	reader := updateReader{session: r.c, now: r.now, cluster: r.t.eks, group: r.t.name, slow: &r.slow, history: &r.memory.updates}
	return reader.read(ctx, is)
}

// rollStates are the service's states in pool's words.
var rollStates = map[ekstypes.UpdateStatus]pool.ProviderRolloutState{
	ekstypes.UpdateStatusInProgress: pool.ProviderRolloutRunning,
	ekstypes.UpdateStatusSuccessful: pool.ProviderRolloutSucceeded,
	ekstypes.UpdateStatusFailed:     pool.ProviderRolloutFailed,
	ekstypes.UpdateStatusCancelled:  pool.ProviderRolloutCancelled,
}

// rollout returns the newest update of version, release or template; nil if there is none. A state that is not known is taken for one that
// has not ended.
func (m *memory) rollout(is *ekstypes.Nodegroup, want wanted, seen templates, brought map[string]string) *pool.ProviderRollout {
	list := m.updates.of(ekstypes.UpdateTypeVersionUpdate)
	if len(list) == 0 {
		return nil
	}
	newest := list[0]
	r := &pool.ProviderRollout{
		ID:       ptr.Deref(newest.Id, ""),
		State:    cmp.Or(rollStates[newest.Status], pool.ProviderRolloutRunning),
		Template: seen.goal(newest, is, want),
		Reason:   reasonOf(newest.Errors),
		Started:  ptr.Deref(newest.CreatedAt, time.Time{}),
		Ended:    newest.ended,
		Failures: seen.failures(list, is, want),
	}
	r.Percent = m.members.percentOf(r, brought)
	if r.State == pool.ProviderRolloutRunning && r.Template.Same(want.template) {
		r.Reason = want.course.path.String()
	}
	return r
}

// goalOf returns the version of the launch template that an update leads to, empty for the group's own, and what EKS runs on it: what the
// update does not name is as the group shows it.
func goalOf(u updateRead, is *ekstypes.Nodegroup) (version string, to runs) {
	to = runsOf(is)
	for _, param := range u.Params {
		text := ptr.Deref(param.Value, "")
		switch param.Type {
		case ekstypes.UpdateParamTypeVersion:
			if minor, err := minorOf(fieldVersion, text); err == nil {
				to.minor = minor
			}
		case ekstypes.UpdateParamTypeReleaseVersion:
			to.release = text
		case ekstypes.UpdateParamTypeLaunchTemplateVersion:
			version = text
		}
	}
	return version, to
}

// goal returns the template that an update leads to.
func (l templates) goal(u updateRead, is *ekstypes.Nodegroup, want wanted) pool.Template {
	version, to := goalOf(u, is)
	return l.composed(l.ref(is, version), to, want)
}

// showsUnfinished reports whether the group shows what an update leads to that ended without success. Instances that no open update
// launched were not replaced then, and what they were launched from is not shown any more.
func (l templates) showsUnfinished(open []updateRead, is *ekstypes.Nodegroup) bool {
	return slices.ContainsFunc(open, func(u updateRead) bool {
		version, to := goalOf(u, is)
		return u.over() && to == runsOf(is) && l.ref(is, version) == l.ref(is, "")
	})
}

// failures counts the newest updates in a row that have failed and were to the same content.
func (l templates) failures(list []updateRead, is *ekstypes.Nodegroup, want wanted) int {
	return asg.FailuresInARow(list, updateRead.outcome, func(u updateRead) pool.Template { return l.goal(u, is, want) })
}

// startRoll begins an update to exactly the step's template, and to the version and release that the next step leads to. EKS
// replaces every machine that is not as that says.
func (w *writer) startRoll(ctx context.Context, s pool.Step) error {
	is, err := w.there()
	if err != nil {
		return err
	}
	want, err := w.reader.want(ctx)
	if err != nil {
		return err
	}
	update := roll{w.pass, w, s.Template}
	input, err := update.input(is, want)
	if err != nil {
		return err
	}
	if err := w.reader.updates(ctx, is); err != nil {
		return err
	}
	if update.done(is, want) {
		return nil
	}
	last := ""
	if list := w.memory.updates.of(ekstypes.UpdateTypeVersionUpdate); len(list) > 0 {
		last = ptr.Deref(list[0].Id, "")
	}
	if input.ClientRequestToken, err = w.t.tokenOf(input, last); err != nil {
		return err
	}
	w.memory.touchedUpdates()
	_, err = w.c.EKS.UpdateNodegroupVersion(ctx, input)
	if err = session.Refusal(err, w.now); cloud.CodeOf(err) == codeInUse {
		return update.confirmStarted(ctx, err)
	}
	return err
}

// roll is the start of an update to a template.
type roll struct {
	*pass
	writer   *writer
	template string
}

// input returns the request for the update to the template, and to what the next step leads to as far as the group does not run it yet.
func (r roll) input(is *ekstypes.Nodegroup, want wanted) (*eks.UpdateNodegroupVersionInput, error) {
	input := &eks.UpdateNodegroupVersionInput{
		ClusterName: &r.t.eks, NodegroupName: &r.t.name, Force: r.t.pool.UpdateConfig != nil && r.t.pool.UpdateConfig.Force,
	}
	next := want.course.next
	var err error
	if strings.HasPrefix(r.template, givenPrefix) {
		next, err = parseGiven(r.template)
	} else {
		input.LaunchTemplate, err = specification(r.template)
	}
	if err != nil {
		return nil, err
	}
	if r.writer.reader.templates().ownImage() {
		return input, nil
	}
	// Without a version EKS would take the control plane's, without a release the newest.
	if minor := cmp.Or(next.minor, runsOf(is).minor); minor != 0 {
		input.Version = new(eksVersion(minor))
	}
	if next.release != "" {
		input.ReleaseVersion = &next.release
	}
	return input, nil
}

// done reports whether the group is launched from the template and runs what the next step leads to already, and that no update has
// left anything else behind.
func (r roll) done(is *ekstypes.Nodegroup, want wanted) bool {
	now := r.writer.reader.templates().now(is, want)
	return now.Ref == r.template && now.Same(want.template) && len(r.memory.updates.open()) == 0
}

// confirmStarted reads whether the update that is under way is the requested one.
func (r roll) confirmStarted(ctx context.Context, refused error) error {
	if err := r.writer.reader.group(ctx); err != nil || r.memory.group.is == nil {
		return cmp.Or(err, refused)
	}
	is := r.memory.group.is
	if err := r.writer.reader.updates(ctx, is); err != nil {
		return err
	}
	want, err := r.writer.reader.want(ctx)
	if err != nil {
		return err
	}
	running := r.memory.rollout(is, want, r.writer.reader.templates(), nil)
	if running != nil && running.State == pool.ProviderRolloutRunning &&
		running.Template.Ref == r.template && running.Template.Same(want.template) {
		return nil
	}
	return refused
}

// specification names a template's version the way a node group does: by ID and number.
func specification(name string) (*ekstypes.LaunchTemplateSpecification, error) {
	id, number, err := launch.ParseRef(name)
	if err != nil {
		return nil, err
	}
	return &ekstypes.LaunchTemplateSpecification{Id: &id, Version: &number}, nil
}
