package world

import (
	"slices"
	"time"

	"k8s.io/utils/ptr"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/muster-project/muster/test/explore/script"
)

// users edits the objects, and changes the account out of band.
type users struct{ world *World }

// undisturbed reports whether what becomes of Ready now follows from what happens now: the pool is Ready, no fault is in force, and no
// manager has lost watch events. A lost one, of a deletion too, is noticed with any that comes later.
func (w *World) undisturbed() bool {
	deaf := slices.ContainsFunc(w.managers.list, func(p *process) bool { return !p.deafUntil.IsZero() })
	return !deaf && len(w.account.inForce()) == 0 && w.Objects.readiness()[0].Status == "True"
}

// happen lets one event happen.
func (w *World) happen(e script.Event) {
	w.Trace("event", "%s", e)
	if e.What == script.Token && !w.several() {
		w.servers.rotation.Rotate(w.undisturbed)
	} else {
		w.servers.rotation.Disturb()
	}
	w.adoption.reshapes(e)
	w.Notes.resizes(e)
	if do, ok := troubles()[e.What]; ok {
		do(w, e)
		return
	}
	if w.gone || w.absent && e.What != script.Apply {
		return
	}
	if do, ok := edits()[e.What]; ok {
		do(w, e)
		return
	}
	if err := w.users.changeAccount(e); err != nil {
		w.Trace("hand", "failed")
	}
}

// edits returns the changes that users and programs ask for.
func edits() map[script.What]func(*World, script.Event) {
	return map[script.What]func(*World, script.Event){
		script.Replicas: func(w *World, e script.Event) { w.users.resize(e.N, e.M > 0) },
		script.Bounds:   func(w *World, e script.Event) { w.users.editBounds(e) },
		script.Template: func(w *World, e script.Event) {
			w.Objects.EditObject(func(o client.Object) { w.pool.Template(o, e.N) })
		},
		script.GroupEdit: func(w *World, e script.Event) {
			w.Objects.EditObject(func(o client.Object) { w.pool.Group(o, e.N, e.M) })
		},
		script.Upgrade:   func(w *World, e script.Event) { w.users.upgrade(e) },
		script.Keep:      func(w *World, e script.Event) { w.users.editKeep(e) },
		script.Token:     func(w *World, _ script.Event) { w.Objects.rotate() },
		script.Bootstrap: func(w *World, _ script.Event) { w.Objects.rotate() },
		script.External: func(w *World, _ script.Event) {
			w.Objects.EditPool(func(mp *clusterv1.MachinePool) {
				toggle(mp, clusterv1.ReplicasManagedByAnnotation, "cluster-autoscaler")
			})
		},
		script.Strategy:    func(w *World, e script.Event) { w.users.editStrategy(e) },
		script.BadTemplate: func(w *World, _ script.Event) { w.Objects.EditObject(w.pool.Bad) },
		script.Back:        func(w *World, _ script.Event) { w.Objects.EditObject(w.pool.Back) },
		script.Hold:        func(w *World, e script.Event) { w.Objects.Annotate(e.N, rolloutAnnotation, "paused") },
		script.GoOn: func(w *World, _ script.Event) {
			w.Objects.Annotate(0, rolloutAnnotation, "")
			w.Objects.Annotate(1, rolloutAnnotation, "")
		},
		script.RestartNow: func(w *World, e script.Event) { w.Rollout.restartNow(e) },
		script.RestartOver: func(w *World, _ script.Event) {
			w.Objects.Annotate(0, restartAnnotation, "")
			w.Objects.Annotate(1, restartAnnotation, "")
		},
		script.Pause:       func(w *World, _ script.Event) { w.users.pause(true) },
		script.Unpause:     func(w *World, _ script.Event) { w.users.pause(false) },
		script.HoldCluster: func(w *World, _ script.Event) { w.users.holdCluster(true) },
		script.FreeCluster: func(w *World, _ script.Event) { w.users.holdCluster(false) },
		script.Unwell:      func(w *World, e script.Event) { w.Instances.unwell(e.N) },
		script.Nudge: func(w *World, e script.Event) {
			w.Objects.EditObject(func(o client.Object) { annotate(o, "nudge", time.Now().String()) })
		},
		script.Cordon:           func(w *World, e script.Event) { w.Workload.Users.Cordon(e.N) },
		script.Uncordon:         func(w *World, _ script.Event) { w.Workload.Users.Uncordon() },
		script.Waver:            func(w *World, e script.Event) { w.users.waver(e.N) },
		script.LoseOwner:        func(w *World, e script.Event) { w.Instances.loseOwner(e.N) },
		script.Adopt:            func(w *World, e script.Event) { w.adoption.request(e) },
		script.Copied:           func(w *World, _ script.Event) { w.backup.applyCopy() },
		script.Mark:             func(w *World, e script.Event) { w.Workload.Users.Mark(e.N) },
		script.DropMachine:      func(w *World, e script.Event) { w.Instances.dropMachine(e) },
		script.DropInfraMachine: func(w *World, e script.Event) { w.Instances.dropMachine(e) },
		script.Delete:           func(w *World, _ script.Event) { w.users.deletePool() },
		script.Apply:            func(w *World, e script.Event) { w.setup.applyClaiming(script.Claim(e.M)) },
	}
}

// troubles maps the fault events to their actions.
func troubles() map[script.What]func(*World, script.Event) {
	return map[script.What]func(*World, script.Event){
		script.CloudFault: func(w *World, e script.Event) { w.Must(w.pool.Cloud.Faults().Add(e.Fault), "put a fault into force") },
		script.ServerFault: func(w *World, e script.Event) {
			if f := &e.API; f.On == "" {
				f.On = w.Objects.kind // its status is refused or pruned
			}
			w.servers.faults.Add(e.API)
		},
		script.ServersCalm: func(w *World, _ script.Event) { w.servers.faults.Clear() },
		script.Calm:        func(w *World, _ script.Event) { w.calm() },
		script.Restart: func(w *World, _ script.Event) {
			w.faults++
			w.managers.bury(w.managers.list[0])
		},
		script.Upgraded:  func(w *World, e script.Event) { w.managers.upgradeManager(e.N) },
		script.Reapplied: func(w *World, _ script.Event) { w.backup.applyAgain() },
		script.TakenBack: func(w *World, _ script.Event) { w.backup.takeBack() },
		script.Restored:  func(w *World, e script.Event) { w.backup.restore(e.N%2 == 1, true) },
		script.Crash: func(w *World, e script.Event) {
			w.managers.list[0].crash, w.managers.list[0].crashBefore = 1+e.N%4, e.M%2 == 0
		},
		script.Lag: func(w *World, e script.Event) {
			w.faults++
			p := w.managers.list[e.M%len(w.managers.list)]
			p.lagging, p.lagUntil = 1+e.N, time.Now().Add(time.Duration(1+5*e.M)*time.Second)
			w.At(p.lagUntil, func() {})
		},
		script.Deaf: func(w *World, e script.Event) {
			w.faults++
			w.managers.list[0].deafUntil = time.Now().Add(time.Duration(10+60*e.N) * time.Second)
		},
		script.Expire: func(w *World, e script.Event) {
			w.faults++
			p := w.managers.list[0]
			p.lagging, p.lagUntil, p.expired = Plenty, time.Now().Add(time.Duration(5+10*e.N)*time.Second), true
			w.At(p.lagUntil, func() {})
		},
		script.Rival: func(w *World, e script.Event) {
			w.faults++
			elder, p := w.managers.list[0], w.managers.start()
			w.managers.list = append(w.managers.list, p)
			w.At(time.Now().Add(time.Duration(5+10*e.N)*time.Second), func() { w.managers.resign(elder) })
		},
		script.Meet: func(w *World, e script.Event) { w.managers.meeting = &e },
		script.Amid: func(w *World, e script.Event) { w.managers.amid = append(w.managers.amid, e) },
		script.Away: func(w *World, e script.Event) {
			w.faults++
			w.Workload.Outage.Begin(time.Duration(5+20*e.N) * time.Second)
		},
		script.Block: func(w *World, e script.Event) {
			w.faults++
			w.Workload.App.Block(time.Duration(10+30*e.N) * time.Second)
		},
		script.Unready: turnUnready,
	}
}

// resize asks for a number of machines, as a rule within the bounds.
func (u *users) resize(n int, within bool) {
	u.world.Objects.EditPool(func(mp *clusterv1.MachinePool) { mp.Spec.Replicas = ptr.To(int32(n)) })
	if within {
		u.within()
	}
}

// within brings the replicas within the bounds.
func (u *users) within() {
	w := u.world
	_, o := w.Objects.Both()
	w.Objects.EditPool(func(mp *clusterv1.MachinePool) {
		if o != nil {
			least, most := w.pool.Bounds(o)
			mp.Spec.Replicas = ptr.To(min(max(ptr.Deref(mp.Spec.Replicas, 1), least), most))
		}
	})
}

// editBounds keeps the replicas within the bounds, as people do, unless that is forgotten.
func (u *users) editBounds(e script.Event) {
	u.world.Objects.EditObject(func(o client.Object) { u.world.pool.SetBounds(o, int32(e.N%4), int32(e.N%4+1+e.M%7)) })
	if (e.N+e.M)%3 > 0 {
		u.within()
	}
}

// editKeep asks for another number of versions, or for none in particular.
func (u *users) editKeep(e script.Event) {
	w := u.world
	if w.pool.Keep == nil {
		return
	}
	n := []*int32{nil, ptr.To(int32(2)), ptr.To(int32(4)), ptr.To(int32(2)), ptr.To(int32(7))}[e.N%5]
	w.Objects.EditObject(func(o client.Object) { w.pool.Keep(o, n) })
}

// editStrategy sets the strategy to another one, or takes it away.
func (u *users) editStrategy(e script.Event) {
	w := u.world
	if w.pool.Strategy == nil {
		return
	}
	some := []*script.Limits{
		{Surge: "1", Unavailable: "0", Policy: "Oldest"}, {Surge: "0", Unavailable: "1", Policy: "Newest"},
		{Surge: "2", Unavailable: "2", Policy: "Random"}, {Surge: "50%", Unavailable: "0", Policy: "Oldest"},
		{Surge: "0", Unavailable: "50%", Policy: "Oldest"}, nil,
	}
	w.Objects.EditObject(func(o client.Object) {
		w.pool.Strategy(o, some[e.N%len(some)])
		if p := w.Scenario.Policy; p != nil && e.M%3 > 0 {
			w.setup.pace(o, p.Pace)
		}
	})
}

// upgrade brings the pool to another version of Kubernetes.
func (u *users) upgrade(e script.Event) {
	if u.world.pool.Upgrade != nil {
		u.world.pool.Upgrade(e)
	}
}

func toggle(mp *clusterv1.MachinePool, key, value string) {
	if _, on := mp.Annotations[key]; on {
		without(mp, key)
		return
	}
	annotate(mp, key, value)
}

// annotate gives an object an annotation, without takes it off.
func annotate(o client.Object, key, value string) {
	annotations := map[string]string{key: value}
	for k, v := range o.GetAnnotations() {
		if k != key {
			annotations[k] = v
		}
	}
	o.SetAnnotations(annotations)
}

func without(o client.Object, key string) {
	annotations := map[string]string{}
	for k, v := range o.GetAnnotations() {
		if k != key {
			annotations[k] = v
		}
	}
	o.SetAnnotations(annotations)
}

// pause pauses or unpauses both objects.
func (u *users) pause(on bool) {
	u.world.Objects.EditPool(func(mp *clusterv1.MachinePool) { pausing(mp, on) })
	u.world.Objects.EditObject(func(o client.Object) { pausing(o, on) })
}

func pausing(o client.Object, on bool) {
	if on {
		annotate(o, clusterv1.PausedAnnotation, "")
		return
	}
	without(o, clusterv1.PausedAnnotation)
}

func (u *users) deletePool() {
	w := u.world
	mp, o := w.Objects.Both()
	if mp == nil {
		return
	}
	w.Must(w.Objects.User.Delete(w.t.Context(), mp), "delete the MachinePool")
	if left, _ := w.Objects.Both(); left == nil && o != nil { // no controller has seen it yet
		w.Must(w.Objects.User.Delete(w.t.Context(), o), "delete the %s", w.Objects.kind)
	}
}

// turnUnready makes every other node not Ready for a while. It skips a group that the cloud would abandon for good, whatever happens to its
// machines: only the owner of that can decide what to do.
func turnUnready(w *World, e script.Event) {
	if w.pool.Fragile != nil && w.pool.Fragile() {
		return
	}
	w.faults++
	w.Workload.Unready(time.Duration(10+30*e.N) * time.Second)
}

// changeAccount changes something in the cloud out of band. Resources of other owners are not changed.
func (u *users) changeAccount(e script.Event) error {
	switch e.What {
	case script.HandOwn:
		u.own()
		return nil
	case script.HandForeign:
		u.makeForeign(e.N)
		return nil
	case script.HandDropForeign:
		u.own()
		u.dropForeign()
		return nil
	}
	if change := u.world.pool.Change; change != nil {
		return change(e)
	}
	if g := u.world.Group.Owned(); g != nil {
		return u.world.Group.Change(g, e)
	}
	return nil
}

// makeForeign makes what belongs to another owner, unless that is there from the beginning.
func (u *users) makeForeign(n int) {
	if foreign := u.world.pool.Foreign; foreign != nil {
		foreign(n)
	}
}

// own restores the owner tag that was removed. If the object is gone, the group stays with its new owner, since Muster has released it.
func (u *users) own() {
	w := u.world
	switch w.Objects.Owner(); {
	case !w.Objects.infraThere():
	case w.pool.Own != nil:
		w.pool.Own()
	default:
		w.Group.TakeBack()
	}
}

// dropForeign deletes the group of another owner that has the pool's name.
func (u *users) dropForeign() {
	if u.world.Scenario.Adopted {
		return // what is not the pool's yet is the group that it adopts
	}
	if drop := u.world.pool.DropForeign; drop != nil {
		drop()
		return
	}
	u.world.Group.DropForeign()
}

// waver has a user cordon and mark the n-th node, scale the pool in by one, and take both back while budgets keep the node's pods.
func (u *users) waver(n int) {
	w := u.world
	node := w.Workload.Users.Cordon(n)
	mp, _ := w.Objects.Both()
	if node == nil || mp == nil || ptr.Deref(mp.Spec.Replicas, 0) < 2 {
		return
	}
	was := *mp.Spec.Replicas
	w.Workload.Users.MarkNode(node)
	w.Workload.App.Block(2 * waverFor)
	w.happen(script.Event{What: script.Replicas, N: int(was) - 1, M: 1})
	w.At(time.Now().Add(waverFor), func() {
		if mp, _ := w.Objects.Both(); mp != nil && mp.DeletionTimestamp.IsZero() {
			w.happen(script.Event{What: script.Replicas, N: int(was), M: 1})
		}
	})
}
