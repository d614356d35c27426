package nodegroup

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	asgtypes "github.com/aws/aws-sdk-go-v2/service/autoscaling/types"
	ekstypes "github.com/aws/aws-sdk-go-v2/service/eks/types"
	"k8s.io/utils/ptr"

	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/aws/asg"
	"github.com/muster-project/muster/cloud/aws/session"
	"github.com/muster-project/muster/cloud/driverkit"
	"github.com/muster-project/muster/cloud/fields"
	"github.com/muster-project/muster/pool"
)

const (
	// rollSurge is the number of machines that an update adds in each zone before it removes others, by EKS's documentation.
	rollSurge = 2
	// configReported is the time for which the failure of an accepted change of the configuration is reported. A change that is still due is
	// retried, and its failure reported anew.
	configReported = time.Hour
	// maxResources bounds the resources that a message names.
	maxResources = 5
)

// observed returns the observation. If the specification can't be followed and nothing exists yet, it is that of a pool that never came to
// be, beside the error.
func (s *state) observed() (pool.Observed, error) {
	if foreign := s.conflict(); foreign != nil {
		return pool.Observed{OwnershipConflict: foreign, Unowned: s.unowned(), Versions: s.deletable(),
			Leftovers: s.needs.Leftovers, Issues: s.needs.Issues, ResolvedLookups: s.t.Remembered,
			TaggedFor: cmp.Or(s.ownership().Claim.Named(), s.m.template.TaggedFor(), s.needs.TaggedFor)}, nil
	}
	s.complete()
	out := pool.Observed{Versions: s.versions(), ResolvedLookups: s.want.remembered, Cache: s.cache, Capacity: s.want.capacity(),
		TaggedFor: cmp.Or(s.m.template.TaggedFor(), s.needs.TaggedFor), FormerGroup: s.former.Deleting,
		Leftovers: s.needs.Leftovers, MissingPrerequisites: slices.Concat(s.needs.Missing, s.objects),
		Issues: slices.Concat(s.needs.Issues, s.objectIssues)}
	if template := s.untagged(); template != "" {
		out.MissingPrerequisites = append(out.MissingPrerequisites, template)
	} else if foreign := s.foreignTemplate(); foreign != nil {
		out.Issues = append(out.Issues, *foreign)
	}
	nothing := s.t.template == "" || len(s.m.template.Versions()) == 0
	switch failed := cmp.Or(s.needs.Unsatisfiable, s.failed); {
	case failed == nil:
		out.Wanted = s.want.template
	case s.is == nil && driverkit.KeepsFromCreation(failed, nothing):
		out.Versions = s.deletable()
		return out, &cloud.SpecUnsatisfiableError{Err: failed}
	default:
		driverkit.AddUnresolved(&out, failed)
	}
	if s.is != nil {
		s.addGroup(&out)
	}
	return out, nil
}

// addGroup adds the node group and its instances to an observation.
func (s *state) addGroup(out *pool.Observed) {
	brought := s.m.members.broughtBy(s.m.updates.open(), s.backing)
	out.Group = s.describe()
	out.TaggedFor = s.t.claim(s.is).TaggedFor
	out.Instances, out.ExternalStandby = s.instances(brought), asg.Standby(s.backing, func(string) bool { return true })
	out.ProviderRollout, out.ProviderRolloutUnknown = s.rollout(brought), s.rolloutUnknown()
	out.Issues = append(out.Issues, s.issues()...)
	for _, issue := range s.launchIssues {
		if !slices.Contains(out.Issues, issue) {
			out.Issues = append(out.Issues, issue)
		}
	}
}

// describe returns the node group as package pool describes groups.
func (s *state) describe() *pool.Group {
	is, current, scaling := s.is, s.current(), scalingOf(s.is)
	g := &pool.Group{
		ID:       ptr.Deref(is.NodegroupArn, ""),
		Size:     int(s.size()),
		Min:      int(ptr.Deref(scaling.MinSize, 0)),
		Max:      int(ptr.Deref(scaling.MaxSize, 0)),
		Template: current.Ref,
		Content:  current.Content,
		Deleting: is.Status == ekstypes.NodegroupStatusDeleting,
		Busy:     busy(is),
		Failed:   failed(is),
		Created:  ptr.Deref(is.CreatedAt, time.Time{}),

		ProviderRolloutSurge: surge(s.backing),
	}
	if is.Status == ekstypes.NodegroupStatusDeleteFailed {
		g.DeleteFailedAt = s.m.deleteFailed
	}
	if g.Deleting {
		return g
	}
	want, has := s.documents()
	g.Drift = groupFields.Differing(want, has, fields.InPlace).Specs()
	g.Unchangeable = groupFields.Differing(want, has, fields.Fixed).Specs()
	if s.orphaned() {
		g.Unchangeable = session.Unique(append(g.Unchangeable, fieldTemplate))
	}
	if g.Failed != nil {
		s.t.asMade(g, s.want.template)
	}
	if want.backingDrifted(s.backing, s.m.members) {
		g.Drift = append(g.Drift, driftPassed)
	}
	return g
}

// asMade names what differs from what a failed group was created from as unchangeable: EKS changes only the tags of such a group.
func (t target) asMade(g *pool.Group, want pool.Template) {
	var tags []string
	for _, field := range g.Drift {
		if field == driftTags {
			tags = append(tags, field)
		} else {
			g.Unchangeable = append(g.Unchangeable, field)
		}
	}
	if want.Content != "" && g.Content != want.Content {
		field := fieldTemplate
		if t.template == "" {
			field = fieldVersion
		}
		g.Unchangeable = append(g.Unchangeable, field)
	}
	g.Drift, g.Unchangeable = tags, session.Unique(g.Unchangeable)
}

// surge returns how many machines an update of the node group adds.
func surge(backing *asgtypes.AutoScalingGroup) int {
	if backing == nil {
		return 0
	}
	return rollSurge * len(backing.AvailabilityZones)
}

// busy returns the operation that EKS performs on the node group; nil if there is none.
func busy(is *ekstypes.Nodegroup) *pool.Cause {
	switch is.Status {
	case ekstypes.NodegroupStatusCreating:
		return &pool.Cause{Reason: "Creating", Message: "EKS is creating the node group"}
	case ekstypes.NodegroupStatusUpdating:
		return &pool.Cause{Reason: "Updating", Message: "EKS is updating the node group"}
	case ekstypes.NodegroupStatusDeleting:
		return &pool.Cause{Reason: "Deleting", Message: "EKS is deleting the node group"}
	}
	return nil
}

// failed returns why the node group's creation or deletion failed, in EKS's words.
func failed(is *ekstypes.Nodegroup) *pool.Cause {
	var what string
	switch is.Status {
	case ekstypes.NodegroupStatusCreateFailed:
		what = "EKS could not make the node group"
	case ekstypes.NodegroupStatusDeleteFailed:
		what = "EKS could not delete the node group"
	default:
		return nil
	}
	cause := &pool.Cause{Reason: string(is.Status), Message: what}
	for k, issue := range healthIssues(is) {
		if k == 0 {
			cause.Reason = issue.Reason
		}
		cause.Message += fmt.Sprintf("; %s: %s", issue.Reason, issue.Message)
	}
	return cause
}

// issues returns why instances could not be described, what is wrong with the node group according to EKS, and what waits for something.
func (s *state) issues() []pool.Cause {
	var issues []pool.Cause
	if refused := s.m.members.refused.Cause(); refused != nil {
		issues = append(issues, *refused)
	}
	issues = append(issues, healthIssues(s.is)...)
	if issue := s.m.updates.configIssue(s.now); issue != nil {
		issues = append(issues, *issue)
	}
	want, size := s.want.group.min, s.size()
	if s.is.Status != ekstypes.NodegroupStatusDeleting && want > size && ptr.Deref(scalingOf(s.is).MinSize, 0) != want {
		issues = append(issues, pool.Cause{Reason: "MinimumWaits", Message: fmt.Sprintf(
			"%s is raised to %d once the node group, which has a size of %d, is as large", fieldMin, want, size)})
	}
	if path := s.want.step.path; path.WaitsForControlPlane {
		issues = append(issues, pool.Cause{Reason: pool.ControlPlaneUpgradePending, Message: "nodes run " + path.String()})
	}
	return issues
}

// healthIssues are EKS's own words on what is wrong with the node group, in EKS's codes, most telling first as EKS has them.
func healthIssues(is *ekstypes.Nodegroup) []pool.Cause {
	if is.Health == nil {
		return nil
	}
	var issues []pool.Cause
	for _, i := range is.Health.Issues {
		issues = append(issues, pool.Cause{Reason: cmp.Or(string(i.Code), "Unknown"),
			Message: errorLine("", cmp.Or(ptr.Deref(i.Message, ""), strings.ToLower(string(is.Status))), i.ResourceIds)})
	}
	return issues
}

// configIssue returns why the last change of the configuration failed, nil if it did not.
func (h updateHistory) configIssue(now time.Time) *pool.Cause {
	list := h.of(ekstypes.UpdateTypeConfigUpdate)
	if len(list) == 0 || list[0].Status != ekstypes.UpdateStatusFailed || now.Sub(list[0].ended) > configReported {
		return nil
	}
	reason := "UpdateFailed"
	if len(list[0].Errors) > 0 && list[0].Errors[0].ErrorCode != "" {
		reason = string(list[0].Errors[0].ErrorCode)
	}
	return &pool.Cause{Reason: reason, Message: "the last change of the node group's configuration failed: " + reasonOf(list[0].Errors)}
}

// reasonOf returns the errors of an update in EKS's own codes and words, with the resources that they name.
func reasonOf(errors []ekstypes.ErrorDetail) string {
	parts := make([]string, 0, len(errors))
	for _, e := range errors {
		parts = append(parts, errorLine(string(e.ErrorCode), ptr.Deref(e.ErrorMessage, ""), e.ResourceIds))
	}
	return strings.Join(parts, "; ")
}

// errorLine returns a code, a message and the resources that it is about in one line.
func errorLine(code, message string, resources []string) string {
	text := session.Clean(message)
	if code != "" {
		text = strings.TrimSuffix(code+": "+text, ": ")
	}
	list := session.Unique(resources)
	if len(list) == 0 {
		return text
	}
	if more := len(list) - maxResources; more > 0 {
		list = append(list[:maxResources:maxResources], fmt.Sprintf("%d more", more))
	}
	return text + " (" + strings.Join(list, ", ") + ")"
}
