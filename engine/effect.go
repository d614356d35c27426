package engine

import (
	"fmt"
	"slices"
	"strings"

	"github.com/muster-project/muster/pool"
)

// NoEffectError reports changes that the cloud accepted and that show no effect.
type NoEffectError struct {
	// Kind of the step that makes the changes.
	Kind pool.StepKind
	// Items are the fields of the object, the instances or the versions that were to change.
	Items []string
}

// itemsLimit is the maximum number of items in a message.
const itemsLimit = 5

// Error names what shows no effect, and what happens next.
func (e *NoEffectError) Error() string {
	named := strings.Join(e.Items[:min(len(e.Items), itemsLimit)], ", ")
	if more := len(e.Items) - itemsLimit; more > 0 {
		named += fmt.Sprintf(" and %d more", more)
	}
	return fmt.Sprintf("changed, shows no effect: %s: the cloud accepted the change (%s) and still reports the old value; retrying "+
		"with back-off", named, e.Kind)
}

// item is one change of a step: what tells it apart from others of the same kind, and its name for people.
type item struct{ key, name string }

// effect describes how the changes of one kind of step are distinguished, and how an observation shows that one has not happened.
type effect struct {
	items   func(s pool.Step, o pool.Observed, t pool.Traits) []item
	missing func(o pool.Observed, key string) bool
	// single is true if a step of the kind replaces the request of an earlier one.
	single bool
}

// effects are the steps whose repetition without effect backs off. Drain and Undrain change nodes, and a drain is begun again in
// each of its rounds; Renew is repeated as long as a drain lasts.
var effects = map[pool.StepKind]effect{
	pool.PutTemplate: {
		items: func(_ pool.Step, o pool.Observed, t pool.Traits) []item {
			name := t.Template
			if o.Wanted.Description != "" {
				name += " (" + o.Wanted.Description + ")"
			}
			return []item{{contentOf(o), name}}
		},
		missing: func(o pool.Observed, key string) bool {
			latest := o.Latest()
			return key == contentOf(o) && (!latest.Same(o.Wanted) || latest.Data != o.Wanted.Data)
		},
		single: true,
	},
	pool.CreateGroup: {items: groupItem, missing: func(o pool.Observed, _ string) bool { return o.Group == nil }, single: true},
	pool.Adopt: {
		items: func(_ pool.Step, o pool.Observed, _ pool.Traits) []item {
			return named("owner tags of ", []string{o.Unowned.Group})
		},
		missing: func(o pool.Observed, _ string) bool { return o.Unowned != nil },
		single:  true,
	},
	pool.UpdateGroup: {items: updateItems, missing: updateMissing},
	pool.Resize: {
		items: func(s pool.Step, _ pool.Observed, _ pool.Traits) []item {
			size := fmt.Sprintf("size %d", s.Size)
			if s.Cause.Reason == pool.Unfilled {
				return []item{{pool.Unfilled, size}}
			}
			return []item{{size, size}}
		},
		missing: func(o pool.Observed, key string) bool {
			if key == pool.Unfilled {
				return o.Unfilled() > 0
			}
			// A cloud that reports a failure to bring machines has done what it can.
			return o.Group != nil && o.Group.ScaleUpFailedAt.IsZero() && fmt.Sprintf("size %d", o.Group.Size) != key
		},
		single: true,
	},
	pool.Remove:  {items: instanceItems("instance %s"), missing: instance(present)},
	pool.Replace: {items: instanceItems("instance %s"), missing: instance(present)},
	pool.EnterStandby: {items: instanceItems("standby of instance %s"),
		missing: instance(func(i pool.Instance) bool { return present(i) && !i.Standby && !i.EnteringStandby })},
	pool.Protect: {items: instanceItems("scale-in protection of instance %s"),
		missing: instance(func(i pool.Instance) bool { return i.ScaleInUnprotected })},
	pool.Unprotect: {
		items:   instanceItems("removed scale-in protection of instance %s"),
		missing: instance(func(i pool.Instance) bool { return i.ScaleInProtected }),
	},
	pool.Release: {items: instanceItems("termination of instance %s"),
		missing: instance(func(i pool.Instance) bool { return i.LifecycleHook != nil })},
	pool.Apply: {
		items: func(s pool.Step, o pool.Observed, _ pool.Traits) []item {
			var list []item
			for _, t := range s.Targets {
				list = append(list, item{t.ID, strings.Join(behindOf(o, t.ID), ", ") + " of instance " + t.ID})
			}
			return list
		},
		missing: instance(func(i pool.Instance) bool { return len(i.InPlaceDrift) > 0 }),
	},
	pool.StartProviderRollout: {
		items: func(s pool.Step, o pool.Observed, _ pool.Traits) []item {
			return []item{{rollID(o), "rollout to " + s.Template}}
		},
		missing: func(o pool.Observed, key string) bool { return rollID(o) == key && !o.ProviderRollout.Runs() },
		single:  true,
	},
	pool.CancelProviderRollout: {
		items: func(s pool.Step, _ pool.Observed, _ pool.Traits) []item { return named("rollout ", s.Refs) },
		missing: func(o pool.Observed, key string) bool {
			return rollID(o) == key && o.ProviderRollout.Runs() && o.ProviderRollout.State != pool.ProviderRolloutCancelling
		},
	},
	pool.DefaultTemplate: {
		items: func(s pool.Step, _ pool.Observed, _ pool.Traits) []item {
			return named("default version ", []string{s.Template})
		},
		missing: func(o pool.Observed, key string) bool {
			return slices.ContainsFunc(o.Versions, func(v pool.Template) bool { return v.Ref == key && !v.Undeletable })
		},
		single: true,
	},
	pool.PruneTemplates: {
		items: func(s pool.Step, _ pool.Observed, _ pool.Traits) []item { return named("version ", s.Refs) },
		missing: func(o pool.Observed, key string) bool {
			return slices.ContainsFunc(o.Versions, func(v pool.Template) bool { return v.Ref == key })
		},
	},
	pool.DeleteGroup: {items: groupItem, missing: func(o pool.Observed, _ string) bool { return o.Group != nil && !o.Group.Deleting },
		single: true},
	pool.DeleteTemplates: {
		items:   func(_ pool.Step, _ pool.Observed, t pool.Traits) []item { return named("", []string{t.Template}) },
		missing: func(o pool.Observed, _ string) bool { return len(o.Versions) > 0 },
		single:  true,
	},
	pool.EnsurePrerequisites: {
		items:   func(s pool.Step, _ pool.Observed, _ pool.Traits) []item { return named("", s.Fields) },
		missing: func(o pool.Observed, key string) bool { return slices.Contains(o.MissingPrerequisites, key) },
	},
	pool.CleanUp: {
		items:   func(s pool.Step, _ pool.Observed, _ pool.Traits) []item { return named("", s.Fields) },
		missing: func(o pool.Observed, key string) bool { return slices.Contains(o.Leftovers, key) },
	},
}

// contentOf returns the key of the wanted template. Its Ref is not part of it, because each attempt creates another version.
func contentOf(o pool.Observed) string { return o.Wanted.Content + " " + o.Wanted.Data }

func groupItem(_ pool.Step, _ pool.Observed, t pool.Traits) []item {
	return named("", []string{t.Group})
}

// templateMark is before the ref of a template in the keys of UpdateGroup, surgeKey stands for what is kept beside the size, and
// plannedMark is before a planned surge.
const templateMark, surgeKey, plannedMark = "template ", "surge", "surge "

// plannedKey is the key of a planned surge.
func plannedKey(p pool.PlannedSurge) string {
	return fmt.Sprintf("%s%d of %d", plannedMark, p.Surge, p.Size)
}

// updateItems are the fields that an update repairs, and what it has the group launch from.
func updateItems(s pool.Step, o pool.Observed, _ pool.Traits) []item {
	list := named("", s.Fields)
	if s.Template != "" && o.Group != nil && s.Template != o.Group.Template {
		list = append(list, item{templateMark + s.Template, templateMark + s.Template})
	}
	if o.Group != nil && s.Planned != (pool.PlannedSurge{}) && s.Planned != o.Group.SurgePlanned {
		list = append(list, item{plannedKey(s.Planned), plannedKey(s.Planned)})
	}
	if len(list) == 0 {
		return named("", []string{surgeKey})
	}
	return list
}

func updateMissing(o pool.Observed, key string) bool {
	if o.Group == nil {
		return false
	}
	if key == surgeKey {
		return o.Group.SurgeRecordStale
	}
	if strings.HasPrefix(key, plannedMark) {
		return key != plannedKey(o.Group.SurgePlanned)
	}
	if ref, ok := strings.CutPrefix(key, templateMark); ok {
		return o.Group.Template != ref && o.Latest().Ref == ref
	}
	return slices.Contains(o.Group.Drift, key)
}

// instanceItems are the targets of a step.
func instanceItems(format string) func(pool.Step, pool.Observed, pool.Traits) []item {
	return func(s pool.Step, _ pool.Observed, _ pool.Traits) []item {
		var list []item
		for _, t := range s.Targets {
			list = append(list, item{t.ID, fmt.Sprintf(format, t.ID)})
		}
		return list
	}
}

// instance reports that an instance is there and not as it should be.
func instance(wrong func(pool.Instance) bool) func(pool.Observed, string) bool {
	return func(o pool.Observed, id string) bool {
		return slices.ContainsFunc(o.Instances, func(i pool.Instance) bool { return i.ID == id && wrong(i) })
	}
}

func present(i pool.Instance) bool { return i.State != pool.Terminating }

func behindOf(o pool.Observed, id string) []string {
	for _, i := range o.Instances {
		if i.ID == id {
			return i.InPlaceDrift
		}
	}
	return nil
}

func rollID(o pool.Observed) string {
	if o.ProviderRollout == nil {
		return ""
	}
	return o.ProviderRollout.ID
}

// named are items whose names are their keys behind a prefix.
func named(prefix string, keys []string) []item {
	list := make([]item, 0, len(keys))
	for _, key := range keys {
		list = append(list, item{key, prefix + key})
	}
	return list
}
