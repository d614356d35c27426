package machines

import (
	"fmt"
	"time"

	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/pool"
)

// Verb names an operation on one object.
type Verb string

// The closed set of verbs.
const (
	// Create makes the infrastructure machine of an instance.
	Create Verb = "Create"
	// Update writes what was seen of the instance, where it is new.
	Update Verb = "Update"
	// DeleteMachine deletes a Machine, whose controller deletes the infrastructure machine when hooks and drain have ended.
	DeleteMachine Verb = "DeleteMachine"
	// DeleteInfra deletes an infrastructure machine whose instance is gone.
	DeleteInfra Verb = "DeleteInfra"
	// Release takes our finalizer off an infrastructure machine that is being deleted.
	Release Verb = "Release"
	// ReleaseAbandoned does the same where the object was deleted without an owner while its instance serves.
	ReleaseAbandoned Verb = "ReleaseAbandoned"
	// Detach, Orphan and DetachInfra take a Machine away without its instance, in two steps, and an infrastructure machine.
	Detach      Verb = "Detach"
	Orphan      Verb = "Orphan"
	DetachInfra Verb = "DetachInfra"
	// ReportPaused changes nothing. It reports a paused infrastructure machine that has the name of the one to create for another instance.
	ReportPaused Verb = "ReportPaused"
)

// Action is one thing to do. Which fields are set depends on the verb.
type Action struct {
	Do       Verb
	Instance *pool.Instance
	Infra    *Infra
	Machine  *Machine
	Cause    pool.Cause
}

// Input holds the facts from which Decide derives the actions.
type Input struct {
	// On is true if the pool has Machines, Announced if its status announces them: the core controller creates Machines as long as it does.
	On, Announced bool
	// Failed is true if failed instances have machines, too.
	Failed bool
	// Deleting is true if the pool is being deleted: nothing more is created.
	Deleting bool
	// Trusted is true if Instances are complete: an instance that is not among them is gone.
	Trusted bool
	// Lost is true if the group does not exist: what is being deleted has no instance any more.
	Lost      bool
	Instances []pool.Instance
	// Serving are the provider keys of instances that have left the pool (Left) and may still serve: their Node is Ready, or not known.
	Serving map[string]bool
	// ExternalStandby are the provider IDs of instances that a third party has put into standby: their machines stay as they are.
	ExternalStandby []string
	Known           Index
	// NameOf returns the name of the infrastructure machine of an instance.
	NameOf func(i pool.Instance) string
	Now    time.Time
}

// shownWithin is the time after its first observation during which a read may still miss an instance: reads are eventually
// consistent, and one that is behind knows nothing of it. A Machine's deletion can't be taken back, and takes the instance along.
const shownWithin = 30 * time.Second

// NeedsFreshRead reports whether the instance of an infrastructure machine was not observed that is so young that the read may be behind.
func (f Input) NeedsFreshRead() bool {
	if !f.Trusted || f.Deleting {
		return false
	}
	var seen map[string]*pool.Instance
	for k := range f.Known.Infras {
		i := &f.Known.Infras[k]
		if !f.young(i) {
			continue
		}
		if seen == nil {
			seen = f.seen() // young ones are few, and none as a rule
		}
		if seen[i.Key] == nil {
			return true
		}
	}
	return false
}

// young reports whether an infrastructure machine was created a moment ago, when its instance was observed. It is false in a pool that is
// being deleted, where nothing comes any more, and for a creation in the far future, which is that of another clock.
func (f Input) young(i *Infra) bool {
	return !f.Deleting && f.Now.Sub(i.Object.GetCreationTimestamp().Time).Abs() < shownWithin
}

// seen are the instances by provider key.
func (f Input) seen() map[string]*pool.Instance {
	seen := map[string]*pool.Instance{}
	for k := range f.Instances {
		if key := cloud.ProviderKey(f.Instances[k].ProviderID); key != "" {
			seen[key] = &f.Instances[k]
		}
	}
	return seen
}

// Left returns the infrastructure machines with Machines whose instances the group does not have any more: such an instance may run on
// outside of the group. Of a group that is lost, and not deleted with its pool, they are those alone whose end has drained no Node, and
// which the group could be without: nothing waits for others.
func (f Input) Left() []*Infra {
	if !f.Trusted && (!f.Lost || f.Deleting) {
		return nil
	}
	seen, lent := f.seen(), f.lent()
	var left []*Infra
	for k := range f.Known.Infras {
		i := &f.Known.Infras[k]
		if i.Key != "" && i.Machine != nil && seen[i.Key] == nil && !lent[i.Key] && (f.Trusted || i.drainSkipped() && !i.ReusedID) {
			left = append(left, i)
		}
	}
	return left
}

// lent are the provider keys of the instances that a third party keeps out of the group's count.
func (f Input) lent() map[string]bool {
	lent := map[string]bool{}
	for _, id := range f.ExternalStandby {
		lent[cloud.ProviderKey(id)] = true
	}
	return lent
}

// Decide returns the actions on the machines of a pool. It is pure, and repeated actions do no harm.
func Decide(f Input) []Action {
	seen, lent := f.seen(), f.lent()
	var out []Action
	have := map[string]bool{}
	for k := range f.Known.Infras {
		i := &f.Known.Infras[k]
		have[i.Key] = true
		if lent[i.Key] && !i.leaves(f.On) {
			continue
		}
		instance := seen[i.Key]
		if instance != nil && !i.of(instance) {
			instance = nil // the one that it stands for is gone
		}
		if a := f.decide(i, instance); a != nil {
			out = append(out, *a)
		}
	}
	for _, m := range f.Known.Alone {
		if a := f.detachMachine(m); a != nil {
			out = append(out, *a)
		}
	}
	if f.On && !f.Deleting && f.Trusted {
		out = append(out, f.creations(have)...)
	}
	return out
}

// creations are for the instances that nothing stands for yet. Who goes needs nothing any more; who failed does where it stays until
// another controller takes it away. A name is not used again while a Machine that is being deleted refers to it: its controller would take
// the new object for the one below that Machine, and delete it. A Machine that is held waits for exactly that, to drain the instance first.
// Nor is it used while something of the pool has it that stands for another instance, which goes first: a group names an instance anew in
// another zone as it did before.
func (f Input) creations(have map[string]bool) []Action {
	var out []Action
	taken, paused := f.names()
	for k := range f.Instances {
		i := &f.Instances[k]
		key := cloud.ProviderKey(i.ProviderID)
		stays := i.State == pool.Pending || i.State == pool.Running || f.Failed && i.State == pool.Failed
		if !stays || key == "" || have[key] {
			continue
		}
		switch name := f.NameOf(*i); {
		case !taken[name]:
			out = append(out, Action{Do: Create, Instance: i})
		case paused[name] != nil:
			out = append(out, Action{Do: ReportPaused, Infra: paused[name], Instance: i})
		}
	}
	return out
}

// names returns the names that are not free for what is created, and the paused objects that have one of them.
func (f Input) names() (taken map[string]bool, paused map[string]*Infra) {
	taken, paused = map[string]bool{}, map[string]*Infra{}
	for _, m := range f.Known.Alone {
		taken[m.Infra] = m.Deleting && !m.Held
	}
	for k := range f.Known.Infras {
		i := &f.Known.Infras[k]
		taken[i.Object.GetName()] = i.Key != ""
		if i.paused() {
			paused[i.Object.GetName()] = i
		}
	}
	return taken, paused
}

// decide returns the action for one infrastructure machine; nil if there is none. seen is nil if the instance was not observed.
func (f Input) decide(i *Infra, seen *pool.Instance) *Action {
	switch {
	case i.paused():
		return nil
	case i.leaves(f.On):
		return f.detach(i)
	case !f.known(i, seen):
		return nil
	case seen == nil:
		return f.gone(i)
	case i.abandoned() && !taken(seen):
		return abandon(i)
	case taken(seen) && !sameInstance(i.UID, seen.UID):
		return nil // a list that is behind shows the end of an earlier instance, which had the ID before
	case taken(seen) && !i.Deleting && !i.Place:
		return leaving(i, seen)
	}
	return &Action{Do: Update, Infra: i, Instance: seen}
}

// known reports whether the state of an infrastructure machine's instance is certain. seen is nil if the instance was not observed.
func (f Input) known(i *Infra, seen *pool.Instance) bool {
	return (f.Trusted || f.Lost && i.goes()) && (seen != nil || !f.young(i))
}

// runsOn reports whether the instance of an infrastructure machine may serve outside of the group, as users detach or abandon instances.
// The Node of such a one stays, and its Machine with it: without an infrastructure machine the controller of Machines takes the machine for
// destroyed, and deletes the Node without a drain. The deletion of the Machine, or of the pool, has the Node drained first. An instance
// that was terminated serves until its Node turns unready.
func (f Input) runsOn(i *Infra) bool {
	switch m := i.Machine; {
	case m == nil || !f.Serving[i.Key]:
		return false
	case m.Deleting:
		return !i.Deleting || !m.pastDrain() && !i.drainEnded()
	}
	return !i.Deleting && !f.Deleting
}

// releasedOutside reports whether the infrastructure machine of an instance that serves outside of the group is deleted while its
// controller has drained no Node: a user has deleted it, or the Node joined after the controller had looked for it. The Machine goes
// without its Node.
func (f Input) releasedOutside(i *Infra) bool {
	if !f.Serving[i.Key] || i.Machine == nil || !i.Deleting {
		return false
	}
	return i.drainSkipped() || !i.Machine.Deleting && !f.Deleting
}

// abandon returns the action for an infrastructure machine that is being deleted without an owner while its instance serves.
func abandon(i *Infra) *Action {
	if !i.Finalized {
		return nil
	}
	return &Action{Do: ReleaseAbandoned, Infra: i}
}

// leaving returns the action for an infrastructure machine whose instance the cloud terminates: its Machine is deleted. No other Machine
// is created for it, because it would be deleted at once.
func leaving(i *Infra, seen *pool.Instance) *Action {
	switch {
	case i.Machine == nil:
		return &Action{Do: DeleteInfra, Infra: i}
	case !i.Machine.Deleting:
		return &Action{Do: DeleteMachine, Machine: i.Machine, Infra: i, Cause: terminating(seen)}
	}
	return &Action{Do: Update, Infra: i, Instance: seen}
}

// paused reports whether it, or its Machine, is paused.
func (i *Infra) paused() bool { return i.Paused || i.Machine != nil && i.Machine.Paused }

// leaves reports whether it is deleted without its instance: that has begun, or the pool has no Machines any more and the removal of its
// instance was not requested.
func (i *Infra) leaves(on bool) bool {
	m := i.Machine
	if i.Detached || m != nil && m.Detached {
		return true
	}
	return !on && !i.Deleting && (m == nil || !m.Deleting)
}

// taken reports whether the cloud terminates the instance and no lifecycle hook keeps it.
func taken(i *pool.Instance) bool { return i.State == pool.Terminating && i.LifecycleHook == nil }

// terminating returns why the cloud terminates an instance, as far as it is known.
func terminating(i *pool.Instance) pool.Cause {
	if i.TerminationNotice != nil {
		return *i.TerminationNotice
	}
	return pool.Cause{Reason: "InstanceTerminating", Message: fmt.Sprintf("the cloud is terminating instance %s", i.ID)}
}

// gone returns the action for an infrastructure machine whose instance is gone: the Machine is deleted first. There is nothing left to
// drain, and so its controller is not waited for, unless the instance runs on elsewhere. A Machine without a Node goes last, and without
// its controller: where the instance does run on, its Node would join just before the controller deletes it, with its pods.
func (f Input) gone(i *Infra) *Action {
	switch m := i.Machine; {
	case f.runsOn(i):
		return nil
	case f.releasedOutside(i):
		return &Action{Do: Detach, Machine: m}
	case f.nodeless(m) && !m.Deleting && i.Deleting:
		return &Action{Do: Detach, Machine: m, Cause: instanceGone}
	case m != nil && !m.Deleting && !f.nodeless(m):
		return &Action{Do: DeleteMachine, Machine: m, Infra: i, Cause: instanceGone}
	case !i.Deleting:
		return &Action{Do: DeleteInfra, Infra: i}
	case i.Finalized:
		return &Action{Do: Release, Infra: i}
	}
	return nil
}

// instanceGone is why a Machine without an instance goes.
var instanceGone = pool.Cause{Reason: "InstanceGone", Message: "the instance does not exist any more"}

// nodeless reports whether a Machine has never had a Node, in a pool that stays. One whose deletion another client's hook waits for has its
// controller see to that.
func (f Input) nodeless(m *Machine) bool {
	return m != nil && !f.Deleting && !m.Object.Status.NodeRef.IsDefined() && !m.hooked()
}

// detach returns the action that deletes a Machine and then its infrastructure machine, and leaves the instance as it is. It does not begin
// as long as the status has the core controller create Machines.
func (f Input) detach(i *Infra) *Action {
	switch m := i.Machine; {
	case m != nil:
		return f.detachMachine(m)
	case !f.On && f.Announced:
		return nil
	case !i.Deleting:
		return &Action{Do: DetachInfra, Infra: i}
	case i.Finalized:
		return &Action{Do: Release, Infra: i}
	}
	return nil
}

// detachMachine returns the action for a Machine that is to be deleted without an instance, or has none.
func (f Input) detachMachine(m *Machine) *Action {
	switch {
	case m.Paused:
		return nil
	case m.Detached && m.Deleting:
		return &Action{Do: Orphan, Machine: m}
	case m.Detached || !f.On && !f.Announced && (!m.Deleting || m.Held):
		return &Action{Do: Detach, Machine: m}
	}
	return nil
}
