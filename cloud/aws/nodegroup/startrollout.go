package nodegroup

import (
	"cmp"
	"context"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/eks"
	ekstypes "github.com/aws/aws-sdk-go-v2/service/eks/types"
	"k8s.io/utils/ptr"

	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/aws/session"
	"github.com/muster-project/muster/pool"
)

// startRollout begins an update to exactly the step's template, and to the version and release that the next step leads to. EKS
// replaces every machine that is not as that says.
func (w *writer) startRollout(ctx context.Context, s pool.Step) error {
	if err := w.there(); err != nil {
		return err
	}
	if err := w.desire(ctx); err != nil {
		return err
	}
	input, err := w.state.updateInput(s.Template)
	if err != nil {
		return err
	}
	if err := w.reader.updates(ctx, w.state.is); err != nil {
		return err
	}
	current, updates := w.state.current(), w.memory.updates
	if current.Ref == s.Template && current.Same(w.state.want.template) && len(updates.open()) == 0 {
		return nil
	}
	last := ""
	if list := updates.of(ekstypes.UpdateTypeVersionUpdate); len(list) > 0 {
		last = ptr.Deref(list[0].Id, "")
	}
	if input.ClientRequestToken, err = w.t.tokenOf(input, last); err != nil {
		return err
	}
	w.memory.touchedUpdates()
	_, err = w.c.EKS.UpdateNodegroupVersion(ctx, input)
	if err = session.Refusal(err, w.now); cloud.CodeOf(err) == codeInUse {
		return w.confirmRolloutStarted(ctx, s.Template, err)
	}
	return err
}

// updateInput returns the request for the update to a template, and to what the next step leads to as far as the group does not run it yet.
func (s *state) updateInput(template string) (*eks.UpdateNodegroupVersionInput, error) {
	input := &eks.UpdateNodegroupVersionInput{
		ClusterName: &s.t.eks, NodegroupName: &s.t.name, Force: s.t.pool.UpdateConfig != nil && s.t.pool.UpdateConfig.Force,
	}
	next := s.want.step.next
	var err error
	if strings.HasPrefix(template, givenPrefix) {
		next, err = parseGiven(template)
	} else {
		input.LaunchTemplate, err = specification(template)
	}
	if err != nil || s.ownImage() {
		return input, err
	}
	// Without a version EKS would take the control plane's, without a release the newest.
	if minor := cmp.Or(next.minor, s.running().minor); minor != 0 {
		input.Version = new(eksVersion(minor))
	}
	if next.release != "" {
		input.ReleaseVersion = &next.release
	}
	return input, nil
}

// confirmRolloutStarted reads whether the update that is under way is the requested one.
func (w *writer) confirmRolloutStarted(ctx context.Context, template string, refused error) error {
	if err := w.reader.group(ctx); err != nil || w.memory.group.is == nil {
		return cmp.Or(err, refused)
	}
	w.state = w.reader.state()
	if err := w.reader.updates(ctx, w.state.is); err != nil {
		return err
	}
	if err := w.desire(ctx); err != nil {
		return err
	}
	running := w.state.rollout(nil)
	if running != nil && running.State == pool.ProviderRolloutRunning &&
		running.Template.Ref == template && running.Template.Same(w.state.want.template) {
		return nil
	}
	return refused
}
