package plan

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/muster-project/muster/kube/infrapool/bootstrap"
	"github.com/muster-project/muster/kube/infrapool/preview"
	"github.com/muster-project/muster/pool"
)

// fill puts into the plan what would become of the pool.
func (p *Plan) fill(f preview.Look) {
	var c Forecast
	if f.Seen {
		c = p.follow(f)
	}
	if f.Paused != "" {
		p.blocked(pool.Cause{Reason: "Paused", Message: f.Paused})
	}
	if f.NotObserved != nil {
		p.blocked(*f.NotObserved)
	}
	p.Deleting = f.Desired.Deleting
	p.Headline = p.headline(f, c)
}

// follow asks what would be done, and how that ends.
func (p *Plan) follow(f preview.Look) Forecast {
	p.New = f.Observed.Group == nil && !f.Desired.Deleting
	p.Machines = kept(f.Observed)
	p.Adoption, p.MissingGrant = adoptionOf(f), p.missingGrant(f)
	if p.New && comesByItself(f) {
		p.Warnings = append(p.Warnings, "first: "+f.Desired.CreateBlocked.Message)
		f.Desired.CreateBlocked, f.Observed.Wanted = nil, pool.Template{Content: "new"}
	}
	var c Forecast
	if f.Paused != "" {
		c.First = pool.Decide(f.Desired, f.Observed, f.Traits, f.Now)
		c.Last, c.Converges, c.MinAvailable, c.MaxMachines = c.First, true, available(c.First, newIdealCloud(f)), p.Machines
	} else {
		c = Simulate(f)
		p.hindrances(f, c)
	}
	p.Ready, p.NodesUnknown = available(c.First, newIdealCloud(f)), f.Observed.NodesUnknown
	p.Desired = c.First.Budget.Desired
	if p.New {
		p.Desired = f.Desired.Replicas
	}
	p.Outdated = c.First.Rollout.Left
	p.LowestReady, p.MostMachines = c.MinAvailable, c.MaxMachines
	p.Rolled, p.Gone, p.Added = machinesOf(c.Rolled), machinesOf(c.Removed), c.Added
	p.InPlace = machinesOf(c.Changed)
	if len(c.Rolled) > 0 {
		p.RolledBegins = beginsOf(c.RolledBegin)
	}
	p.holds(f, c)
	p.Replaced, p.Removed = len(p.Rolled), len(p.Gone)
	for _, w := range c.Waves {
		p.Waves = append(p.Waves, Wave{LowestReady: w.LowestAvailable, Machines: machinesOf(w.Targets), Begins: beginsOf(w.Begin)})
		p.Replaced += len(w.Targets)
	}
	for _, s := range c.Steps {
		p.Steps = append(p.Steps, string(s))
	}
	p.Warnings = append(p.Warnings, warnings(f, c)...)
	return c
}

// comesByItself reports whether a new pool waits for nothing but what its machines boot with, which a bootstrap provider makes as soon
// as there is a pool.
func comesByItself(f preview.Look) bool {
	return f.Desired.CreateBlocked != nil && f.Desired.CreateBlocked.Reason == bootstrap.ReasonWaiting && f.Observed.Wanted.Content == "" &&
		len(f.Observed.Issues) == 0
}

// holds adds what holds back the rollout and passes by time or by a gate.
func (p *Plan) holds(f preview.Look, c Forecast) {
	if h := c.Held; h != nil && h.Cause != c.Last.Rollout.Cause {
		p.Holds = append(p.Holds, Hold{Cause: causeOf(h.Cause), Until: h.Until})
	}
	if c.Gate != nil {
		p.Holds = append(p.Holds, Hold{Cause: causeOf(*c.Gate)})
	}
	if unread(f.Desired.Limits) {
		p.Warnings = append(p.Warnings, "you may not read the rollout policies: what they hold back is not in this plan")
	}
}

// hindrances adds the causes that keep the pool from following its objects.
func (p *Plan) hindrances(f preview.Look, c Forecast) {
	if c.Last.Refused != nil {
		p.blocked(*c.Last.Refused)
	}
	if f.Observed.Wanted.Content == "" && !f.Desired.Deleting {
		for _, issue := range f.Observed.Issues {
			p.blocked(issue)
		}
		if f.Desired.CreateBlocked != nil {
			p.blocked(*f.Desired.CreateBlocked)
		}
	}
	if c := pool.FormerLeft(f.Desired, f.Observed); p.New && c != nil {
		p.blocked(*c)
	}
	p.wrong(f, c)
	if f.Unreachable != nil {
		p.blocked(pool.Cause{Reason: "ConnectionDown",
			Message: "nothing is known of nodes, so that no machine is replaced or removed: " + f.Unreachable.Error()})
	}
	switch c.Last.Rollout.State {
	case pool.RolloutHalted, pool.RolloutPaused, pool.RolloutWaiting, pool.RolloutNone:
		if f.Unreachable == nil {
			p.blocked(c.Last.Rollout.Cause)
		}
	}
	if !c.Converges {
		p.blocked(pool.Cause{Reason: "NoEnd", Message: "the pool comes to no rest even on a cloud that does all it is asked for; this " +
			"should not be"})
	}
}

// wrong adds what the cloud reports as wrong with the group or its template, and that stays until the user changes something.
func (p *Plan) wrong(f preview.Look, c Forecast) {
	for _, w := range c.Last.Waiting {
		if w.Reason == "TemplateNotFound" {
			p.blocked(w)
		}
	}
	g := f.Observed.Group
	if g == nil {
		return
	}
	if g.Failed != nil {
		p.blocked(*g.Failed)
	}
	if len(g.Unchangeable) > 0 {
		p.blocked(pool.Cause{Reason: "GroupUnchangeable", Message: fmt.Sprintf("the %s differs in %s, which can't be changed on one that exists",
			f.Traits.Group, strings.Join(g.Unchangeable, ", "))})
	}
}

// rolls describes the operations that the cloud runs by itself.
func rolls(f preview.Look, c Forecast) (out []string) {
	if g := f.Observed.Group; g != nil && g.Busy != nil && !f.Observed.ProviderRollout.Runs() {
		out = append(out, "first: "+g.Busy.Message)
	}
	if len(c.Rolled) == 0 {
		return out
	}
	if !f.Traits.CanCancelRollout {
		out = append(out, fmt.Sprintf("a roll of the %s can't be cancelled once it has begun", f.Traits.Group))
	}
	return append(out, fmt.Sprintf("the %s replaces these machines by itself: their order is its own, and the figures are the bounds that "+
		"it promises", f.Traits.Group))
}

// warnings returns the warnings for the reader of the plan.
func warnings(f preview.Look, c Forecast) []string {
	var out []string
	for _, caveat := range f.Observed.Caveats {
		out = append(out, caveat.Message)
	}
	if f.Desired.ReplicasManagedExternally && f.Observed.Group != nil {
		out = append(out, fmt.Sprintf("an external autoscaler owns the size of the %s (annotation cluster.x-k8s.io/replicas-managed-by): its "+
			"size of %d is kept, and spec.replicas follows it",
			f.Traits.Group, c.First.Budget.Desired))
	}
	if f.Desired.SkipModel {
		out = append(out, cmp.Or(f.Desired.SkipModelCause.Message,
			"feature gate SkipMachinePoolModelReconciliation is on: a changed template replaces no machine"))
	}
	out = append(out, rolls(f, c)...)
	if c.waitsForNow() {
		out = append(out, "for now: "+c.First.Rollout.Cause.Message)
	}
	if f.Observed.Wanted.Content != "" {
		for _, issue := range f.Observed.Issues {
			out = append(out, "the cloud says: "+issue.Message)
		}
	}
	return out
}

// waitsForNow reports whether the rollout waits for something that passes, and that is not listed as a hold.
func (out Forecast) waitsForNow() bool {
	now := out.First.Rollout
	waits := now.State == pool.RolloutWaiting || now.State == pool.RolloutHalted
	return waits && now.Cause != out.Last.Rollout.Cause && now.Cause.Reason != "TemplateOutOfDate" &&
		(out.Held == nil || out.Held.Cause != now.Cause)
}

// headline summarizes the plan in one sentence.
func (p *Plan) headline(f preview.Look, c Forecast) string {
	switch {
	case !f.Seen:
		return "Nothing can be told: " + reason(p.Blocked) + "."
	case f.Paused != "":
		return fmt.Sprintf("Nothing is done: %s. %d of %s wait to be replaced.", reason(p.Blocked), p.Outdated, machines(p.Machines))
	case p.Deleting:
		return fmt.Sprintf("The pool is being deleted: %s drained, then removed.", are(p.Machines))
	case p.New && p.Added > 0:
		return fmt.Sprintf("The pool is new: %s launched.", are(p.Added))
	case p.New:
		return "The pool is new, and nothing is made: " + reason(p.Blocked) + "."
	}
	return strings.Join(p.sentences(c), " ")
}

// does lists the changes to machines.
func (p *Plan) does() []string {
	var does []string
	if p.Replaced > 0 {
		does = append(does, fmt.Sprintf("%d of %s %s replaced%s", p.Replaced, machines(p.Machines), be(p.Replaced), p.how()))
	}
	if p.Removed > 0 {
		does = append(does, are(p.Removed)+" removed")
	}
	if p.Added > 0 {
		does = append(does, are(p.Added)+" added")
	}
	if n := len(p.InPlace); n > 0 && len(does) > 0 {
		does = append(does, are(n)+" changed in place")
	}
	return does
}

// sentences describes the changes to a pool that exists.
func (p *Plan) sentences(c Forecast) []string {
	does := p.does()
	var out []string
	switch {
	case len(does) > 0 && p.NodesUnknown:
		out = append(out, strings.Join(does, ", ")+".")
	case len(does) > 0:
		out = append(out, fmt.Sprintf("%s; at least %s Ready at any time, at most %d exist.", strings.Join(does, ", "), are(p.LowestReady),
			p.MostMachines))
	case len(p.InPlace) > 0:
		out = append(out, fmt.Sprintf("No machine is replaced; %s changed in place. %s", are(len(p.InPlace)), p.readiness()))
	case len(c.Steps) > 0:
		out = append(out, "No machine is replaced; only the group or its template changes. "+p.readiness())
	case len(p.Blocked) > 0:
		out = append(out, fmt.Sprintf("Nothing is done: %s. %s", reason(p.Blocked), p.readiness()))
	default:
		out = append(out, "Nothing changes. "+p.readiness())
	}
	if left := p.Outdated - p.Replaced; left > 0 && len(p.Blocked) > 0 {
		out = append(out, fmt.Sprintf("%s not what the objects ask for and %s: %s.", are(left), stay(left), reason(p.Blocked)))
	}
	return out
}

// readiness describes how many machines are Ready, as far as that is known.
func (p *Plan) readiness() string {
	if p.NodesUnknown {
		return fmt.Sprintf("How many of %d are Ready is not known.", p.Desired)
	}
	return fmt.Sprintf("%d of %d are Ready.", p.Ready, p.Desired)
}

func stay(n int) string {
	if n == 1 {
		return "stays"
	}
	return "stay"
}

// how describes the way in which machines are replaced.
func (p *Plan) how() string {
	switch {
	case len(p.Rolled) > 0:
		return " by the cloud"
	case len(p.Waves) == 1:
		return " in 1 wave"
	default:
		return fmt.Sprintf(" in %d waves", len(p.Waves))
	}
}

// reason returns the most important blocking reason. The sentences follow separately.
func reason(list []Cause) string {
	if len(list) == 0 {
		return "the reason is unknown"
	}
	return list[0].Reason
}

func machines(n int) string {
	if n == 1 {
		return "1 machine"
	}
	return fmt.Sprintf("%d machines", n)
}

func are(n int) string { return machines(n) + " " + be(n) }

func be(n int) string {
	if n == 1 {
		return "is"
	}
	return "are"
}
