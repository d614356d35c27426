package pool

import (
	"fmt"
	"time"

	"pgregory.net/rapid"
)

// aTemplate is one of a few versions, or one that is unknown.
func aTemplate() *rapid.Generator[Template] {
	return rapid.Custom(func(t *rapid.T) Template {
		if rapid.IntRange(0, 9).Draw(t, "unknown") == 0 {
			return Template{}
		}
		n := rapid.IntRange(1, 6).Draw(t, "version")
		return Template{Ref: fmt.Sprintf("lt:%d", n), Content: fmt.Sprintf("v1:%d", n/2), Data: fmt.Sprintf("d%d", n)}
	})
}

func aNode(id string) *rapid.Generator[*Node] {
	return rapid.Custom(func(t *rapid.T) *Node {
		n := &Node{Name: "node-" + id, Ready: rapid.Bool().Draw(t, "ready"), Cordoned: rapid.Bool().Draw(t, "cordoned"),
			Joined: now.Add(-time.Duration(rapid.IntRange(0, 9).Draw(t, "age")) * time.Hour)}
		if !n.Ready && rapid.Bool().Draw(t, "was ready") {
			n.ReadySince = n.Joined.Add(time.Duration(rapid.IntRange(1, 60).Draw(t, "until")) * time.Minute)
		}
		n.SkipRemediation = rapid.IntRange(0, 9).Draw(t, "spared") == 0
		if rapid.Bool().Draw(t, "draining") {
			n.Cordoned, n.DrainStarted = true, now.Add(-time.Duration(rapid.IntRange(0, 120).Draw(t, "drains"))*time.Second)
			n.Remaining = rapid.IntRange(0, 2).Draw(t, "remaining")
			if n.Remaining > 0 && rapid.Bool().Draw(t, "blocked") {
				n.DrainStarted = now.Add(-time.Duration(rapid.IntRange(0, 20).Draw(t, "blocked for")) * time.Minute)
				n.Blocked = make([]string, n.Remaining)
			}
			n.Detaching = rapid.SampledFrom([]int{0, 0, 0, 1}).Draw(t, "detaching")
		}
		if n.DrainStarted.IsZero() && rapid.IntRange(0, 5).Draw(t, "abandoned") == 0 {
			n.DrainAbandoned = now.Add(-time.Duration(rapid.IntRange(0, 30).Draw(t, "ago")) * time.Hour)
		}
		n.Evictable = rapid.SampledFrom([]Evictable{"", "", EvictNothing, EvictAll, EvictSome}).Draw(t, "evictable")
		return n
	})
}

func anInstance(id string) *rapid.Generator[Instance] {
	return rapid.Custom(func(t *rapid.T) Instance {
		i := Instance{
			ID: id, ProviderID: "aws:///x/" + id, Zone: rapid.SampledFrom([]string{"a", "b", "c", ""}).Draw(t, "zone"),
			Template: aTemplate().Draw(t, "template"), Marked: rapid.IntRange(0, 5).Draw(t, "marked") == 0,
			State: rapid.SampledFrom([]InstanceState{Running, Running, Running, Running, Pending, Failed, Terminating}).Draw(t, "state"),
		}
		if rapid.Bool().Draw(t, "born") {
			i.Created = now.Add(-time.Duration(rapid.IntRange(0, 5).Draw(t, "age")) * time.Hour)
		}
		if rapid.IntRange(0, 3).Draw(t, "joined") > 0 {
			i.Node = aNode(id).Draw(t, "node")
		}
		i.ScaleInUnprotected = rapid.IntRange(0, 5).Draw(t, "exposed") == 0
		i.ScaleInProtected = !i.ScaleInUnprotected && rapid.IntRange(0, 5).Draw(t, "protected") == 0
		i.InPlaceDrift = rapid.SampledFrom([][]string{nil, nil, nil, {"tags"}}).Draw(t, "behind")
		i.Updating = rapid.IntRange(0, 5).Draw(t, "updating") == 0
		switch rapid.IntRange(0, 15).Draw(t, "special") {
		case 0:
			i.DeletionRequested = &Cause{"MachineDeleted", "x"}
		case 1:
			i.TerminationNotice = &Cause{"SpotInterruption", "x"}
		case 2:
			i.Standby = i.State != Terminating
		case 3:
			i.EnteringStandby = i.State != Terminating
		}
		i.RemovalAssumed = i.State == Terminating && rapid.Bool().Draw(t, "assumed")
		if i.State == Terminating && !i.RemovalAssumed && rapid.Bool().Draw(t, "held") {
			i.LifecycleHook = &LifecycleHook{Since: now.Add(-time.Minute),
				Until: now.Add(time.Duration(rapid.IntRange(1, 60).Draw(t, "until")) * time.Minute), Heartbeat: time.Hour}
		}
		return i
	})
}

// aFleet is any observation that a cloud may give, sensible or not.
func aFleet() *rapid.Generator[Observed] {
	return rapid.Custom(func(t *rapid.T) Observed {
		o := Observed{Wanted: aTemplate().Draw(t, "wanted"), NodesUnknown: rapid.IntRange(0, 4).Draw(t, "away") == 0}
		o.Wanted.Ref, o.Wanted.UserManaged = "", rapid.IntRange(0, 9).Draw(t, "brought") == 0
		o.MissingPrerequisites = rapid.SampledFrom([][]string{nil, nil, nil, nil, {"role"}}).Draw(t, "needs")
		o.Leftovers = rapid.SampledFrom([][]string{nil, nil, nil, {"role"}}).Draw(t, "leftovers")
		for k := range rapid.IntRange(0, 5).Draw(t, "versions") {
			v := aTemplate().Draw(t, "version")
			v.Ref, v.Undeletable, v.UserManaged = fmt.Sprintf("lt:%d", 6-k), rapid.IntRange(0, 4).Draw(t, "fixed") == 0,
				rapid.IntRange(0, 9).Draw(t, "given") == 0
			v.Deleting = rapid.IntRange(0, 5).Draw(t, "pruned") == 0
			o.Versions = append(o.Versions, v)
		}
		if rapid.IntRange(0, 9).Draw(t, "group") == 0 {
			return o
		}
		for k := range rapid.IntRange(0, 12).Draw(t, "instances") {
			id := fmt.Sprintf("i-%d", k)
			o.Instances = append(o.Instances, anInstance(id).Draw(t, id))
			if o.NodesUnknown {
				o.Instances[k].Node = nil
			}
		}
		o.Group = &Group{
			ID: "arn", Size: max(0, len(o.Instances)+rapid.IntRange(-3, 3).Draw(t, "more")), Max: 10, Template: aTemplate().Draw(t, "launches").Ref,
			Drift:    rapid.SampledFrom([][]string{nil, nil, {"tags"}, {"spec.maxSize"}, {"spec.maxSize", "tags"}}).Draw(t, "drift"),
			Deleting: rapid.IntRange(0, 19).Draw(t, "deleting") == 0,
			Surge:    rapid.SampledFrom([]int{0, 0, 0, 1, 2}).Draw(t, "surge"),
			Content:  rapid.SampledFrom([]string{"", "", "", "v1:9", "v1:1"}).Draw(t, "launches content"),
		}
		if rapid.IntRange(0, 5).Draw(t, "growth failed") == 0 {
			o.Group.ScaleUpFailedAt = now.Add(-time.Duration(rapid.IntRange(0, 9).Draw(t, "failed to grow before")) * time.Minute)
		}
		troubled(t, o.Group)
		if rapid.IntRange(0, 4).Draw(t, "roll") == 0 {
			o.ProviderRollout = aRoll().Draw(t, "roll")
		}
		return o
	})
}

// troubled draws what a cloud says about a group that it is at work on or failed with.
func troubled(t *rapid.T, g *Group) {
	if rapid.IntRange(0, 5).Draw(t, "busy") == 0 {
		g.Busy = &Cause{"Updating", "x"}
	}
	if rapid.IntRange(0, 5).Draw(t, "broken") == 0 {
		g.Failed, g.Created = &Cause{"CreateFailed", "x"}, now.Add(-2*time.Hour)
		if rapid.Bool().Draw(t, "deletion failed") {
			g.DeleteFailedAt = now.Add(-time.Duration(rapid.IntRange(0, 9).Draw(t, "failed before")) * time.Minute)
		}
	}
	if rapid.IntRange(0, 5).Draw(t, "stiff") == 0 {
		g.Unchangeable = []string{"subnets"}
	}
	if rapid.IntRange(0, 5).Draw(t, "half-done") == 0 {
		g.Unfinished = &Cause{"UpgradeUnfinished", "x"}
	}
}

func aRoll() *rapid.Generator[*ProviderRollout] {
	return rapid.Custom(func(t *rapid.T) *ProviderRollout {
		r := &ProviderRollout{ID: "roll", Template: aTemplate().Draw(t, "template"), Started: now.Add(-time.Hour),
			Failures: rapid.IntRange(0, 3).Draw(t, "failures"),
			State: rapid.SampledFrom([]ProviderRolloutState{ProviderRolloutRunning, ProviderRolloutBaking, ProviderRolloutCancelling,
				ProviderRolloutReverting, ProviderRolloutSucceeded, ProviderRolloutFailed, ProviderRolloutCancelled, ProviderRolloutReverted}).Draw(t,
				"state")}
		if r.ended() {
			r.Ended = now.Add(-time.Duration(rapid.IntRange(0, 30).Draw(t, "ended")) * time.Minute)
		}
		return r
	})
}

func someTraits() *rapid.Generator[Traits] {
	return rapid.Custom(func(t *rapid.T) Traits {
		tr := traits
		if rapid.IntRange(0, 4).Draw(t, "scale set") == 0 {
			tr = onQuick(scaleSet)
			tr.RemoveBatch = 3
			return tr
		}
		tr.ProviderRollout, tr.SupportsStandby, tr.KeepsFailedInstances = rapid.Bool().Draw(t, "rolls"), rapid.Bool().Draw(t, "sets aside"),
			rapid.Bool().Draw(t, "keeps failed")
		tr.ReplaceKeepsSize = tr.SupportsStandby || rapid.IntRange(0, 3).Draw(t, "no replace") != 0
		tr.RolloutOnTemplateChange = tr.ProviderRollout && rapid.IntRange(0, 2).Draw(t, "rolls changes") == 0
		tr.CanCancelRollout = !tr.ProviderRollout || !rapid.Bool().Draw(t, "cancels not")
		tr.RecordsSurge, tr.CanDeleteBusyGroup = rapid.IntRange(0, 3).Draw(t, "keeps surge") > 0, rapid.Bool().Draw(t, "deletes busy")
		tr.InlineTemplate = !tr.ProviderRollout && rapid.Bool().Draw(t, "inline")
		return tr
	})
}

// seenBy leaves out of an observation what a cloud of these traits never says.
func seenBy(tr Traits, o Observed) Observed {
	o = copied(o)
	if !tr.ProviderRollout {
		o.ProviderRollout = nil
	}
	if o.Group != nil && !tr.RolloutOnTemplateChange {
		o.Group.Content = ""
	}
	for k := range o.Instances {
		i := &o.Instances[k]
		i.Standby, i.EnteringStandby = i.Standby && tr.SupportsStandby, i.EnteringStandby && tr.SupportsStandby
	}
	if (tr.SupportsStandby || !tr.RecordsSurge) && o.Group != nil {
		o.Group.Surge = 0
	}
	if tr.InlineTemplate {
		inline(&o)
	}
	return o
}

// inline leaves the one template that a group which holds its own has, and none where there is no group.
func inline(o *Observed) {
	o.Wanted.UserManaged = false
	own := o.Versions
	if o.Versions = nil; o.Group == nil || len(own) == 0 {
		if o.Group != nil {
			o.Group.Template = ""
		}
		return
	}
	own[0].UserManaged, own[0].Undeletable = false, false
	o.Versions, o.Group.Template, o.Group.Content = own[:1], own[0].Ref, ""
}

func aStrategy() *rapid.Generator[*Strategy] {
	return rapid.Custom(func(t *rapid.T) *Strategy {
		amount := rapid.Custom(func(t *rapid.T) IntOrPercent {
			return rapid.SampledFrom([]IntOrPercent{{}, {Value: 1}, {Value: 2}, {Value: 20}, percent(0), percent(1), percent(25),
				percent(100)}).Draw(t, "amount")
		})
		return &Strategy{MaxSurge: amount.Draw(t, "surge"), MaxUnavailable: amount.Draw(t, "unavailable"), SurgeField: "maxSurge",
			UnavailableField: "maxUnavailable"}
	})
}

func aDesired() *rapid.Generator[Desired] {
	return rapid.Custom(func(t *rapid.T) Desired {
		d := wants(rapid.IntRange(0, 12).Draw(t, "replicas"))
		d.Min, d.Max = rapid.IntRange(0, 2).Draw(t, "min"), rapid.IntRange(2, 12).Draw(t, "max")
		if rapid.IntRange(0, 4).Draw(t, "no limits") == 0 {
			unlimited(&d)
		}
		d.ReplicasManagedExternally = rapid.IntRange(0, 5).Draw(t, "external") == 0
		d.Deleting = rapid.IntRange(0, 3).Draw(t, "deleting") == 0
		d.DeletePolicy = rapid.SampledFrom([]DeletePolicy{Oldest, Newest, Random, ""}).Draw(t, "policy")
		d.DrainTimeout = rapid.SampledFrom([]time.Duration{0, time.Minute}).Draw(t, "timeout")
		if rapid.IntRange(0, 5).Draw(t, "no drain") == 0 {
			d.NoDrain = &Cause{"ClusterDeleted", "x"}
		}
		if rapid.IntRange(0, 5).Draw(t, "held") == 0 {
			held(&d)
		}
		if rapid.IntRange(0, 2).Draw(t, "strategy") > 0 {
			d.Strategy = aStrategy().Draw(t, "strategy")
		}
		d.SkipModel, d.Rollback = rapid.IntRange(0, 5).Draw(t, "skip") == 0, rapid.IntRange(0, 5).Draw(t, "rollback") == 0
		if rapid.IntRange(0, 5).Draw(t, "paused") == 0 {
			d.RolloutPaused = &Cause{"RolloutPaused", "x"}
		}
		if rapid.IntRange(0, 5).Draw(t, "restart") == 0 {
			d.Restart = &Restart{Before: now.Add(-time.Hour), Cause: Cause{"Restart", "x"}}
		}
		if rapid.IntRange(0, 2).Draw(t, "heal") == 0 {
			d.Remediation = &Remediation{After: 5 * time.Minute,
				MaxUnhealthy: rapid.SampledFrom([]IntOrPercent{{}, {Value: 1}, {Value: 3}, percent(40)}).Draw(t, "max unhealthy")}
		}
		d.TemplateHistoryLimit = rapid.IntRange(0, 4).Draw(t, "keep")
		d.MinReady = rapid.SampledFrom([]time.Duration{0, 0, 30 * time.Second}).Draw(t, "min ready")
		kinds := []StepKind{PutTemplate, CreateGroup, UpdateGroup, Resize, Drain, Undrain, Remove, PruneTemplates, DeleteGroup, DeleteTemplates,
			Replace, EnterStandby, Release, Renew, StartProviderRollout, CancelProviderRollout, DefaultTemplate, EnsurePrerequisites, CleanUp, Apply,
			Protect, Unprotect}
		if rapid.Bool().Draw(t, "refusals") {
			refused(rapid.SliceOfNDistinct(rapid.SampledFrom(kinds), 1, 4, rapid.ID).Draw(t, "refused")...)(&d)
		}
		return d
	})
}
