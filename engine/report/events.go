package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/muster-project/muster/pool"
)

// namesLimit bounds how many instances one event names.
const namesLimit = 10

// causesLimit bounds how many events one step makes.
const causesLimit = 4

// words are the reason and the verb of what a step did.
var words = map[pool.StepKind]struct{ reason, done string }{
	pool.PutTemplate:           {"TemplateCreated", "Created a version of the %s"},
	pool.CreateGroup:           {"GroupCreated", "Created the %s"},
	pool.Adopt:                 {"GroupAdopted", "Adopted the %s"},
	pool.UpdateGroup:           {"GroupUpdated", "Updated the %s"},
	pool.Resize:                {"Scaled", "Resized the %s"},
	pool.Drain:                 {"DrainStarted", "Started draining"},
	pool.Undrain:               {"DrainEnded", "Cancelled the drain of"},
	pool.Remove:                {"InstancesRemoved", "Removed"},
	pool.Replace:               {"InstancesReplaced", "Replaced"},
	pool.EnterStandby:          {"InstancesMovedToStandby", "Moved to standby:"},
	pool.Apply:                 {"InstancesChanged", "Changed in place:"},
	pool.Protect:               {"InstancesProtected", "Protected"},
	pool.Unprotect:             {"InstancesUnprotected", "Unprotected"},
	pool.Release:               {"InstancesReleased", "Released"},
	pool.StartProviderRollout:  {"ProviderRolloutStarted", "Started rollout of the %s"},
	pool.CancelProviderRollout: {"ProviderRolloutCancelled", "Cancelled rollout of the %s"},
	pool.DefaultTemplate:       {"TemplateDefaulted", "Changed the default version of the %s"},
	pool.PruneTemplates:        {"TemplatesPruned", "Deleted"},
	pool.DeleteGroup:           {"GroupDeleted", "Started deletion of the %s"},
	pool.DeleteTemplates:       {"TemplateDeleted", "Deleted the %s"},
	pool.EnsurePrerequisites:   {"PrerequisitesCreated", "Created"},
	pool.CleanUp:               {"LeftoversDeleted", "Deleted"},
}

// happened are the events of this pass: what was begun, and an error that is news.
func happened(f facts) []Event {
	events := slices.Concat(did(f), overran(f), quarantines(f))
	err := f.out.NewError
	if err == nil {
		return events
	}
	step := "Observe"
	if f.out.Plan.Step != nil {
		step = string(f.out.Plan.Step.Kind)
	}
	return append(events, Event{Warning: true, Reason: step + "Failed", Message: err.Error()})
}

// tellsStep reports whether the pass began a step that is news, for all of its targets or for some.
func tellsStep(f facts) bool {
	s := f.out.Plan.Step
	return s != nil && (f.out.Started || f.out.Failed != nil) && !f.out.Repeated && tells(f.o, *s)
}

// did are the events of the step that was begun, for all of its targets or for some.
func did(f facts) []Event {
	s := f.out.Plan.Step
	if !tellsStep(f) {
		return nil
	}
	targets := slices.DeleteFunc(slices.Clone(s.Targets), func(t pool.InstanceRef) bool { return f.out.Failed[t.ID] })
	if len(targets) == 0 && f.out.Failed != nil {
		return nil
	}
	if s.Kind == pool.Drain {
		if targets = begun(f.o, targets); len(targets) == 0 {
			return nil
		}
	}
	if len(targets) == 0 || s.Kind == pool.DeleteGroup || s.Kind == pool.StartProviderRollout {
		return []Event{{Reason: reasonOf(f.t, f.o, s.Kind), Message: done(f.t, *s, targets) + ": " + s.Cause.Message}}
	}
	var events []Event
	for _, g := range byCause(*s, targets) {
		events = append(events, Event{Reason: words[s.Kind].reason, Message: done(f.t, *s, g.targets) + ": " + g.message})
	}
	return events
}

// overran are the warnings of machines that go although pods were left on them, because the time for their drain had ended. A Machine's
// own controller drains those that have one.
func overran(f facts) []Event {
	s := f.out.Plan.Step
	if s == nil || !f.out.Started || f.d.NoDrain != nil {
		return nil
	}
	switch s.Kind {
	case pool.Remove, pool.Replace, pool.Release, pool.DeleteGroup:
	default:
		return nil
	}
	var events []Event
	for _, t := range s.Targets {
		i := instanceOf(f.o, t.ID)
		if i.Guard != nil || i.Node == nil || i.Node.DrainStarted.IsZero() || i.Node.Remaining == 0 || len(events) == namesLimit {
			continue
		}
		events = append(events, Event{Warning: true, Reason: "DrainTimedOut", Message: fmt.Sprintf("Stopped draining %s when %s had ended: %s",
			names([]pool.InstanceRef{t}), timeOf(f.d, t), leftOf(*i.Node))})
	}
	return events
}

// timeOf names the time that the drain of an instance has.
func timeOf(d pool.Desired, t pool.InstanceRef) string {
	if t.Voluntary && d.Strategy != nil {
		if after := d.Strategy.Undrainable.Timeout(d.DrainTimeout); after != d.DrainTimeout {
			return fmt.Sprintf("the %s that its rollout waits for", after)
		}
	}
	if d.DrainTimeout == 0 {
		return "the time for it"
	}
	return fmt.Sprintf("its drain timeout of %s", d.DrainTimeout)
}

// leftOf describes the pods that remain after a drain, and the reasons.
func leftOf(n pool.Node) string {
	text := fmt.Sprintf("%d pods were left", n.Remaining)
	if n.Remaining == 1 {
		text = "1 pod was left"
	}
	if len(n.Blocked) > 0 {
		text += ", kept by " + joined(n.Blocked)
	}
	return text
}

// instanceOf returns the instance with that ID, or the zero Instance.
func instanceOf(o pool.Observed, id string) pool.Instance {
	for _, i := range o.Instances {
		if i.ID == id {
			return i
		}
	}
	return pool.Instance{}
}

// tells reports whether a step is news: what Muster keeps up or writes down for itself is none, and neither is a rotated token.
func tells(o pool.Observed, s pool.Step) bool {
	return s.Kind != pool.Renew && s.Cause.Reason != pool.SurgeRecordStale && s.Cause.Reason != pool.SurgePlanned && !rotates(o, s)
}

// rotates reports whether a step makes a version with new bootstrap data alone, launches from it, or deletes the one before.
func rotates(o pool.Observed, s pool.Step) bool {
	switch s.Kind {
	case pool.PutTemplate:
		return s.Cause.Reason == "BootstrapDataChanged"
	case pool.UpdateGroup:
		return len(s.Fields) == 0 && o.Group != nil && sameMachines(o, o.Group.Template, s.Template)
	case pool.DefaultTemplate:
		return slices.ContainsFunc(o.Versions, func(v pool.Template) bool {
			return v.Undeletable && v.Ref != s.Template && v.Same(versionOf(o, s.Template))
		})
	case pool.PruneTemplates:
		return len(s.Refs) > 0 && !slices.ContainsFunc(s.Refs, func(ref string) bool { return !keptElsewhere(o, ref, s.Refs) })
	}
	return false
}

// keptElsewhere reports whether a version that is deleted has a content that one of the others has too.
func keptElsewhere(o pool.Observed, ref string, deleted []string) bool {
	return slices.ContainsFunc(o.Versions, func(v pool.Template) bool {
		return !slices.Contains(deleted, v.Ref) && v.Same(versionOf(o, ref))
	})
}

const (
	// VersionCreated is the reason of a version that is made of a template which has others already.
	VersionCreated = "TemplateVersionCreated"
	// TemplateUpdated is the reason of a template that is changed where it is: in its group.
	TemplateUpdated = "TemplateUpdated"
)

// reasonOf is the reason of a step's event.
func reasonOf(t pool.Traits, o pool.Observed, kind pool.StepKind) string {
	switch {
	case kind == pool.PutTemplate && t.InlineTemplate:
		return TemplateUpdated
	case kind == pool.PutTemplate && len(o.Versions) > 0:
		return VersionCreated
	}
	return words[kind].reason
}

// group are targets that go for one reason.
type group struct {
	message string
	targets []pool.InstanceRef
}

// byCause puts targets together that have one cause, in the order of the first of each. A mark is a preference and no cause.
// Beyond the first few the rest stands together under the step's own cause.
func byCause(s pool.Step, targets []pool.InstanceRef) []group {
	var groups []group
	at := map[string]int{}
	for _, t := range targets {
		message := t.Cause.Message
		if t.Cause.Reason == "Marked" || message == "" || s.Kind == pool.EnterStandby || s.Kind == pool.Release || s.Kind == pool.Undrain {
			message = s.Cause.Message
		}
		k, ok := at[message]
		if !ok {
			k = min(len(groups), causesLimit)
			at[message] = k
		}
		if k == len(groups) {
			groups = append(groups, group{message: message})
		}
		groups[k].targets = append(groups[k].targets, t)
	}
	if len(groups) > causesLimit {
		groups[causesLimit].message = s.Cause.Message
	}
	return groups
}

// done says in the cloud's language what a step did.
func done(t pool.Traits, s pool.Step, targets []pool.InstanceRef) string {
	text := words[s.Kind].done
	switch s.Kind {
	case pool.Resize:
		return fmt.Sprintf(text, t.Group) + fmt.Sprintf(" to %d", s.Size)
	case pool.PutTemplate:
		if t.InlineTemplate {
			return fmt.Sprintf("Changed the %s of the %s", t.Template, t.Group)
		}
		return fmt.Sprintf(text, t.Template)
	case pool.DeleteTemplates:
		return fmt.Sprintf(text, t.Template)
	case pool.PruneTemplates:
		return text + " " + versions(t.Template, s.Refs)
	case pool.DefaultTemplate:
		return fmt.Sprintf(text, t.Template) + " to " + s.Template
	case pool.EnsurePrerequisites, pool.CleanUp:
		return text + " " + strings.Join(s.Fields, ", ")
	case pool.StartProviderRollout:
		return fmt.Sprintf(text, t.Group) + " to " + s.Template
	case pool.Drain, pool.Undrain, pool.Remove, pool.Replace, pool.EnterStandby, pool.Release, pool.Apply, pool.Protect, pool.Unprotect:
		return text + " " + names(targets)
	default:
		return fmt.Sprintf(text, t.Group)
	}
}

// begun are the targets whose drain starts with this step; further rounds of it are no news.
func begun(o pool.Observed, targets []pool.InstanceRef) []pool.InstanceRef {
	running := map[string]bool{}
	for _, i := range o.Instances {
		running[i.ID] = i.Node != nil && !i.Node.DrainStarted.IsZero() || i.Guard != nil && i.Guard.Requested
	}
	var out []pool.InstanceRef
	for _, t := range targets {
		if !running[t.ID] {
			out = append(out, t)
		}
	}
	return out
}

// names lists instances with their nodes.
func names(targets []pool.InstanceRef) string {
	var list []string
	for _, t := range targets {
		name := t.ID
		if t.Node != "" {
			name += " (" + t.Node + ")"
		}
		list = append(list, name)
	}
	return joined(list)
}

// joined are names, as many as one event has room for.
func joined(list []string) string {
	if len(list) > namesLimit {
		return fmt.Sprintf("%s and %d more", strings.Join(list[:namesLimit], ", "), len(list)-namesLimit)
	}
	return strings.Join(list, ", ")
}
