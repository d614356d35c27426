package nodegroup

import (
	"cmp"
	"context"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/eks"
	ekstypes "github.com/aws/aws-sdk-go-v2/service/eks/types"

	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/aws/launch"
	"github.com/muster-project/muster/cloud/aws/session"
	"github.com/muster-project/muster/pool"
)

// readUpdates reads the group's updates as far as they may have changed.
func (p *pass) readUpdates(ctx context.Context, is *ekstypes.Nodegroup) error {
	reader := updateReader{session: p.c, now: p.now, cluster: p.t.eks, group: p.t.name, slow: &p.slow, history: &p.memory.updates}
	return reader.read(ctx, is)
}

// rollStates are the service's states in pool's words.
var rollStates = map[ekstypes.UpdateStatus]pool.ProviderRolloutState{
	ekstypes.UpdateStatusInProgress: pool.ProviderRolloutRunning,
	ekstypes.UpdateStatusSuccessful: pool.ProviderRolloutSucceeded,
	ekstypes.UpdateStatusFailed:     pool.ProviderRolloutFailed,
	ekstypes.UpdateStatusCancelled:  pool.ProviderRolloutCancelled,
}

// roll is the newest update of version, release or template in pool's words. A state that is not known is taken for one that has
// not ended.
func (p *pass) roll(is *ekstypes.Nodegroup, want wanted) *pool.ProviderRollout {
	list := p.memory.updates.of(ekstypes.UpdateTypeVersionUpdate)
	if len(list) == 0 {
		return nil
	}
	newest := list[0]
	r := &pool.ProviderRollout{
		ID:       session.Deref(newest.Id),
		State:    cmp.Or(rollStates[newest.Status], pool.ProviderRolloutRunning),
		Template: p.rolledTo(newest, is, want),
		Reason:   reasonOf(newest.Errors),
		Started:  session.Deref(newest.CreatedAt),
		Ended:    newest.ended,
		Failures: p.rollFailures(list, is, want),
	}
	r.Percent = p.memory.members.percentOf(r, p.brought)
	if r.State == pool.ProviderRolloutRunning && r.Template.Same(want.template) {
		r.Reason = want.course.path.String()
	}
	return r
}

// rolledTo is the template that an update leads to: what it does not say is as the group has it.
func (p *pass) rolledTo(u updateRead, is *ekstypes.Nodegroup, want wanted) pool.Template {
	to := runsOf(is)
	version := ""
	for _, param := range u.Params {
		text := session.Deref(param.Value)
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
	return p.composed(p.launchRef(is, version), to, want)
}

// rollFailures counts the newest updates in a row that have failed and were to the same content. One that was cancelled has not
// failed, and does not end the row.
func (p *pass) rollFailures(list []updateRead, is *ekstypes.Nodegroup, want wanted) int {
	n := 0
	for _, u := range list {
		if !u.over() || u.Status == ekstypes.UpdateStatusCancelled {
			continue
		}
		if u.Status == ekstypes.UpdateStatusSuccessful || !p.rolledTo(u, is, want).Same(p.rolledTo(list[0], is, want)) {
			break
		}
		n++
	}
	return n
}

// startRoll begins an update to exactly the step's template, and to the version and release that the next step leads to. EKS
// replaces every machine that is not as that says.
func (p *pass) startRoll(ctx context.Context, s pool.Step) error {
	is, err := p.existing(ctx)
	if err != nil {
		return err
	}
	want, err := p.want(ctx)
	if err != nil {
		return err
	}
	input, err := p.rollInput(is, want, s.Template)
	if err != nil {
		return err
	}
	if err := p.readUpdates(ctx, is); err != nil {
		return err
	}
	if p.rolled(is, want, s.Template) {
		return nil
	}
	last := ""
	if list := p.memory.updates.of(ekstypes.UpdateTypeVersionUpdate); len(list) > 0 {
		last = session.Deref(list[0].Id)
	}
	if input.ClientRequestToken, err = p.t.tokenOf(input, last); err != nil {
		return err
	}
	p.memory.touchedUpdates()
	_, err = p.c.EKS.UpdateNodegroupVersion(ctx, input)
	if err = session.Refusal(err, p.now); cloud.CodeOf(err) == codeInUse {
		return p.confirmRolloutStarted(ctx, s, err)
	}
	return err
}

// rollInput is the request for an update to a template, and to what the next step leads to as far as the group does not run it yet.
func (p *pass) rollInput(is *ekstypes.Nodegroup, want wanted, template string) (*eks.UpdateNodegroupVersionInput, error) {
	input := &eks.UpdateNodegroupVersionInput{
		ClusterName: &p.t.eks, NodegroupName: &p.t.name, Force: p.t.pool.UpdateConfig != nil && p.t.pool.UpdateConfig.Force,
	}
	next := want.course.next
	var err error
	if strings.HasPrefix(template, givenPrefix) {
		next, err = parseGiven(template)
	} else {
		input.LaunchTemplate, err = specification(template)
	}
	if err != nil {
		return nil, err
	}
	if p.ownImage() {
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

// rolled reports whether the group is launched from the template and runs what the next step leads to already, and that no update has
// left anything else behind.
func (p *pass) rolled(is *ekstypes.Nodegroup, want wanted, template string) bool {
	now := p.templateNow(is, want)
	return now.Ref == template && now.Same(want.template) && len(p.memory.updates.open()) == 0
}

// confirmRolloutStarted finds out whether the update that is under way is the one that was asked for.
func (p *pass) confirmRolloutStarted(ctx context.Context, s pool.Step, refused error) error {
	if err := p.readGroup(ctx); err != nil || p.memory.group.is == nil {
		return cmp.Or(err, refused)
	}
	is := p.memory.group.is
	if err := p.readUpdates(ctx, is); err != nil {
		return err
	}
	want, err := p.want(ctx)
	if err != nil {
		return err
	}
	if roll := p.roll(is, want); roll != nil && roll.State == pool.ProviderRolloutRunning && roll.Template.Ref == s.Template && roll.Template.Same(want.template) {
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
