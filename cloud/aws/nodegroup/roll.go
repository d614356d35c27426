package nodegroup

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/eks"
	ekstypes "github.com/aws/aws-sdk-go-v2/service/eks/types"

	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/aws/launch"
	"github.com/muster-project/muster/cloud/aws/session"
	"github.com/muster-project/muster/cloud/driverkit"
	"github.com/muster-project/muster/pool"
)

const (
	// updatesMost are the updates that are looked at: enough to count failures in a row.
	updatesMost = 40
	// updatesAtOnce bounds how many one pass asks about, each in a call of its own.
	updatesAtOnce = 12
)

// updatesRead are the updates of a node group.
type updatesRead struct {
	// known are the updates by ID, as they were last read; those that have ended do not change any more.
	known map[string]updateRead
	// unread are IDs that were listed and not asked about yet.
	unread []string
	at     time.Time
	// busy is true if the group was being updated when they were read, creating if it was being created.
	busy, creating bool
	// refused is EKS's refusal to list or describe them; known is empty then.
	refused *pool.Cause
}

// updateRead is one update. EKS tells of no end: it is when it was first seen to have ended.
type updateRead struct {
	ekstypes.Update
	ended time.Time
}

// over reports whether an update has ended, one way or the other.
func (u updateRead) over() bool { return u.Status != ekstypes.UpdateStatusInProgress }

// readUpdates reads the group's updates when they may have changed: while one runs, when one has ended, when EKS shows that the group was
// changed, and once in a while.
func (p *pass) readUpdates(ctx context.Context, is *ekstypes.Nodegroup) error {
	known := &p.memory.updates
	busy := is.Status == ekstypes.NodegroupStatusUpdating
	if known.refused != nil && p.now.Sub(known.at) < session.RefusedPeriod || !busy && known.quiet() && !p.updatesChanged(is) {
		return nil
	}
	err := p.readAllUpdates(ctx, is, busy)
	if err != nil && cloud.KindOf(err) == cloud.Denied {
		*known = updatesRead{at: p.now, busy: busy, refused: new(driverkit.CauseOf(err))}
		return nil
	}
	return err
}

// readAllUpdates lists the updates, and reads those that are not known to have ended, a few at a time.
func (p *pass) readAllUpdates(ctx context.Context, is *ekstypes.Nodegroup, busy bool) error {
	known := &p.memory.updates
	if len(known.unread) == 0 {
		if err := p.listUpdates(ctx); err != nil {
			return err
		}
	}
	known.at, known.busy, known.creating, known.refused = p.now, busy, is.Status == ekstypes.NodegroupStatusCreating, nil
	for n := 0; len(known.unread) > 0 && n < updatesAtOnce; n++ {
		if err := p.readUpdate(ctx, known.unread[0], is); err != nil {
			return err
		}
		known.unread = known.unread[1:]
	}
	return nil
}

func (p *pass) readUpdate(ctx context.Context, id string, is *ekstypes.Nodegroup) error {
	found, err := p.c.EKS.DescribeUpdate(ctx, &eks.DescribeUpdateInput{Name: &p.t.eks, NodegroupName: &p.t.name, UpdateId: &id})
	if err = session.Refusal(err, p.now); err != nil {
		if session.Absent(err) {
			return nil
		}
		return err
	}
	if found.Update != nil {
		p.learnUpdate(id, *found.Update, session.OurTime(found.Update.CreatedAt, found.ResultMetadata), is)
	}
	return nil
}

// quiet reports whether nothing was going on when the updates were read, and all were.
func (r updatesRead) quiet() bool {
	return r.refused == nil && !r.at.IsZero() && !r.busy && !r.running() && len(r.unread) == 0
}

// listUpdates lists the group's updates, and notes those that are not known to have ended.
func (p *pass) listUpdates(ctx context.Context) error {
	pages := eks.NewListUpdatesPaginator(p.c.EKS, &eks.ListUpdatesInput{Name: &p.t.eks, NodegroupName: &p.t.name})
	ids, err := session.Listed(ctx, pages, func(page *eks.ListUpdatesOutput) []string { return page.UpdateIds }, updatesMost, p.now)
	if err != nil {
		if session.Absent(err) {
			return nil
		}
		return err
	}
	known := &p.memory.updates
	kept := map[string]updateRead{}
	for _, id := range ids {
		read, ok := known.known[id]
		if ok {
			kept[id] = read
		}
		if !ok || !read.over() {
			known.unread = append(known.unread, id)
		}
	}
	known.known = kept
	return nil
}

// learnUpdate notes an update. The moment of its end is the group's last change when that was after its beginning, and stays what it
// was first seen to be.
func (p *pass) learnUpdate(id string, u ekstypes.Update, created *time.Time, is *ekstypes.Nodegroup) {
	u.CreatedAt = created
	read := updateRead{Update: u}
	if read.over() {
		read.ended = session.Deref(created)
		if changed := session.Deref(is.ModifiedAt); changed.After(read.ended) {
			read.ended = changed
		}
		if read.ended.After(p.now) {
			read.ended = p.now
		}
	}
	if p.memory.updates.known == nil {
		p.memory.updates.known = map[string]updateRead{}
	}
	p.memory.updates.known[id] = read
}

// running reports whether an update had not ended.
func (r updatesRead) running() bool {
	for _, u := range r.known {
		if !u.over() {
			return true
		}
	}
	return false
}

// of are the updates of a type, newest first.
func (r updatesRead) of(kind ekstypes.UpdateType) []updateRead {
	var list []updateRead
	for _, u := range r.known {
		if u.Type == kind {
			list = append(list, u)
		}
	}
	slices.SortFunc(list, func(a, b updateRead) int {
		return cmp.Or(session.Deref(b.CreatedAt).Compare(session.Deref(a.CreatedAt)), strings.Compare(session.Deref(a.Id), session.Deref(b.Id)))
	})
	return list
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
	r.Percent = p.percent(r)
	if r.State == pool.ProviderRolloutRunning && r.Template.Same(want.template) {
		r.Reason = want.course.path.String()
	}
	return r
}

// percent is the share of instances that are as the roll makes them; EKS does not tell.
func (p *pass) percent(r *pool.ProviderRollout) int {
	if r.State == pool.ProviderRolloutSucceeded {
		return 100
	}
	fresh, all := 0, 0
	for id := range p.memory.members {
		all++
		if p.brought[id] == r.ID {
			fresh++
		}
	}
	if all == 0 {
		return 0
	}
	return 100 * fresh / all
}

// rolledTo is the template that an update leads to: what it does not say is as the group has it.
func (p *pass) rolledTo(u updateRead, is *ekstypes.Nodegroup, want wanted) pool.Template {
	to := p.runsNow(is)
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

// reasonOf are the errors of an update in EKS's own codes and words, with what they are about.
func reasonOf(errors []ekstypes.ErrorDetail) string {
	parts := make([]string, 0, len(errors))
	for _, e := range errors {
		parts = append(parts, told(string(e.ErrorCode), session.Deref(e.ErrorMessage), e.ResourceIds))
	}
	return strings.Join(parts, "; ")
}

// resourcesMost keeps a message readable.
const resourcesMost = 5

// told puts a code, a message and what they are about into one line.
func told(code, message string, resources []string) string {
	text := session.Clean(message)
	if code != "" {
		text = strings.TrimSuffix(code+": "+text, ": ")
	}
	list := session.Unique(resources)
	if len(list) == 0 {
		return text
	}
	if more := len(list) - resourcesMost; more > 0 {
		list = append(list[:resourcesMost:resourcesMost], fmt.Sprintf("%d more", more))
	}
	return text + " (" + strings.Join(list, ", ") + ")"
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

// configIssue is why the last change of the configuration failed, nil when it did not.
func (p *pass) configIssue() *pool.Cause {
	list := p.memory.updates.of(ekstypes.UpdateTypeConfigUpdate)
	if len(list) == 0 || list[0].Status != ekstypes.UpdateStatusFailed || p.now.Sub(list[0].ended) > configTold {
		return nil
	}
	reason := "UpdateFailed"
	if len(list[0].Errors) > 0 && list[0].Errors[0].ErrorCode != "" {
		reason = string(list[0].Errors[0].ErrorCode)
	}
	return &pool.Cause{Reason: reason, Message: "the last change of the node group's configuration failed: " + reasonOf(list[0].Errors)}
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
	if input.ClientRequestToken, err = p.tokenOf(input, last); err != nil {
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
	if minor := cmp.Or(next.minor, p.runsNow(is).minor); minor != 0 {
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
	return now.Ref == template && now.Same(want.template) && len(p.openUpdates()) == 0
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
