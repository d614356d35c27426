package desired

import (
	"slices"
	"strings"

	asgtypes "github.com/aws/aws-sdk-go-v2/service/autoscaling/types"
	"k8s.io/utils/ptr"

	awsv1 "github.com/muster-project/muster/api/aws/v1beta2"
	"github.com/muster-project/muster/cloud/aws/asg"
	"github.com/muster-project/muster/cloud/aws/lifecycle"
	"github.com/muster-project/muster/cloud/aws/session"
	"github.com/muster-project/muster/cloud/fields"
)

// defaultPause is the cooldown and the warm-up, in seconds, of a pool that names none: the ecosystem's default.
const defaultPause = 300

// Group holds the desired fields of the group, without its size and its template.
type Group struct {
	// Subnets is nil while they can't be resolved.
	Subnets []string
	// Hooks are all lifecycle hooks that the group shall have, the drain hook included.
	Hooks []asgtypes.LifecycleHookSpecification

	min, max         int32
	cooldown, warmup int32
	rebalance        bool
	// mixed is nil unless the pool has a policy; the template is added when it is sent.
	mixed *asgtypes.MixedInstancesPolicy
	// tags are all tags that the group shall have, bookkeeping included.
	tags      map[string]string
	suspended []string
}

// Of returns what a specification asks for, without the subnets, which need a look-up. tags are those of every cloud object of the pool, of
// which additional are the names of those that a user may remove again.
func Of(spec *awsv1.AWSMachinePoolSpec, tags map[string]string, additional []string) Group {
	g := Group{
		Hooks:     lifecycle.Specifications(spec.AWSLifecycleHooks),
		min:       spec.MinSize,
		max:       spec.MaxSize,
		cooldown:  defaultPause,
		warmup:    defaultPause,
		rebalance: spec.CapacityRebalance,
		mixed:     mixedPolicy(spec.MixedInstancesPolicy),
		tags:      tags,
		suspended: spec.SuspendProcesses.Suspended(),
	}
	if d := spec.DefaultCoolDown; d != nil {
		g.cooldown = int32(d.Seconds())
	}
	if d := spec.DefaultInstanceWarmup; d != nil {
		g.warmup = int32(d.Seconds())
	}
	for key, text := range map[string]string{
		tagOurTags:   session.Marks(additional),
		tagOurHooks:  session.Marks(lifecycle.Names(g.Hooks)),
		tagSuspended: strings.Join(g.suspended, ","),
	} {
		if text != "" {
			g.tags[key] = text
		}
	}
	return g
}

// CheckTags returns an error if the group would have more tags than it takes.
func (g Group) CheckTags() error { return session.CheckTags(g.tags, 0, FieldTags) }

// HookMarks returns the value of the group's bookkeeping tag of lifecycle hooks.
func HookMarks(is *asgtypes.AutoScalingGroup) string { return asg.Tag(is, tagOurHooks) }

// Drift returns the fields in which the group differs from what is wanted, as far as that is known.
func (g Group) Drift(is *asgtypes.AutoScalingGroup, hooks lifecycle.Hooks) []string {
	return g.rows(hooks).Differing(nil, is, fields.InPlace).Specs()
}

func subnetsOf(is *asgtypes.AutoScalingGroup) []string {
	return session.Unique(strings.FieldsFunc(ptr.Deref(is.VPCZoneIdentifier, ""), func(r rune) bool { return r == ',' || r == ' ' }))
}

// MissingTags returns the wanted tags that the group lacks, or has with another value. The bookkeeping of hooks and processes is written
// with those.
func (g Group) MissingTags(is *asgtypes.AutoScalingGroup) map[string]string {
	missing := map[string]string{}
	for key, want := range g.tags {
		if key == tagOurHooks || key == tagSuspended {
			continue
		}
		found := slices.ContainsFunc(is.Tags, func(t asgtypes.TagDescription) bool {
			return ptr.Deref(t.Key, "") == key && ptr.Deref(t.Value, "") == want && ptr.Deref(t.PropagateAtLaunch, false) == !Bookkeeping(key)
		})
		if !found {
			missing[key] = want
		}
	}
	return missing
}

// SurplusTags returns the tags that Muster once put on the group and that are no longer wanted.
func (g Group) SurplusTags(is *asgtypes.AutoScalingGroup) []string {
	ours := asg.Tag(is, tagOurTags)
	var surplus []string
	for _, t := range is.Tags {
		key := ptr.Deref(t.Key, "")
		if _, wanted := g.tags[key]; !wanted && session.Marked(ours, key) {
			surplus = append(surplus, key)
		}
	}
	if _, wanted := g.tags[tagOurTags]; !wanted && ours != "" {
		surplus = append(surplus, tagOurTags)
	}
	slices.Sort(surplus)
	return surplus
}

func (g Group) tagsDrift(is *asgtypes.AutoScalingGroup) bool {
	return len(g.MissingTags(is)) > 0 || len(g.SurplusTags(is)) > 0
}

func (g Group) hooksDrift(is *asgtypes.AutoScalingGroup, hooks lifecycle.Hooks) bool {
	return hooks.Changes(g.Hooks, HookMarks(is)).Needed() || HookMarks(is) != g.tags[tagOurHooks]
}

// Processes returns the processes to suspend, and those that Muster once suspended and that are to be resumed. What others suspended stays
// suspended.
func (g Group) Processes(is *asgtypes.AutoScalingGroup) (suspend, resume []string) {
	actual := asg.Suspended(is)
	for _, name := range g.suspended {
		if !slices.Contains(actual, name) {
			suspend = append(suspend, name)
		}
	}
	for _, name := range splitList(asg.Tag(is, tagSuspended)) {
		if slices.Contains(actual, name) && !slices.Contains(g.suspended, name) {
			resume = append(resume, name)
		}
	}
	return suspend, resume
}

// Recorded reports whether the bookkeeping of the group as it was read names processes.
func Recorded(is *asgtypes.AutoScalingGroup, processes []string) bool {
	marks := splitList(asg.Tag(is, tagSuspended))
	return !slices.ContainsFunc(processes, func(name string) bool { return !slices.Contains(marks, name) })
}

func (g Group) processesDrift(is *asgtypes.AutoScalingGroup) bool {
	suspend, resume := g.Processes(is)
	return len(suspend) > 0 || len(resume) > 0 || asg.Tag(is, tagSuspended) != g.tags[tagSuspended]
}

func splitList(text string) []string {
	return strings.FieldsFunc(text, func(r rune) bool { return r == ',' })
}
