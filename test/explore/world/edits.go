package world

import (
	"time"

	"k8s.io/utils/ptr"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// happen lets one event happen.
func (w *World) happen(e Event) {
	w.Trace("event", "%s", e)
	if e.What == Token {
		w.rotation.Rotate(func() bool { return len(w.account.inForce()) == 0 && w.readiness()[0].Status == "True" })
	} else {
		w.rotation.Disturb()
	}
	w.reshapes(e)
	if do, ok := edits()[e.What]; ok {
		do(w, e)
		return
	}
	if do, ok := troubles()[e.What]; ok {
		do(w, e)
		return
	}
	if err := w.byHand(e); err != nil {
		w.Trace("hand", "failed")
	}
}

// edits are what users and programs ask for.
func edits() map[What]func(*World, Event) {
	return map[What]func(*World, Event){
		Replicas:  func(w *World, e Event) { w.resize(e.N, e.M > 0) },
		Bounds:    (*World).editBounds,
		Template:  func(w *World, e Event) { w.EditObject(func(o client.Object) { w.pool.Template(o, e.N) }) },
		GroupEdit: func(w *World, e Event) { w.EditObject(func(o client.Object) { w.pool.Group(o, e.N, e.M) }) },
		Upgrade:   (*World).upgrade,
		Keep:      (*World).editKeep,
		Token:     func(w *World, _ Event) { w.rotate() },
		Bootstrap: func(w *World, _ Event) { w.rotate() },
		External: func(w *World, _ Event) {
			w.EditPool(func(mp *clusterv1.MachinePool) {
				toggle(mp, clusterv1.ReplicasManagedByAnnotation, "cluster-autoscaler")
			})
		},
		Strategy:    (*World).editStrategy,
		BadTemplate: func(w *World, _ Event) { w.EditObject(w.pool.Bad) },
		Back:        func(w *World, _ Event) { w.EditObject(w.pool.Back) },
		Hold:        func(w *World, e Event) { w.Annotate(e.N, rolloutAnnotation, "paused") },
		GoOn:        func(w *World, _ Event) { w.Annotate(0, rolloutAnnotation, ""); w.Annotate(1, rolloutAnnotation, "") },
		RestartNow:  (*World).restartNow,
		RestartOver: func(w *World, _ Event) { w.Annotate(0, restartAnnotation, ""); w.Annotate(1, restartAnnotation, "") },
		Pause:       func(w *World, _ Event) { w.pause(true) },
		Unpause:     func(w *World, _ Event) { w.pause(false) },
		Nudge: func(w *World, e Event) {
			w.EditObject(func(o client.Object) { annotate(o, "nudge", time.Now().String()) })
		},
		Cordon:           func(w *World, e Event) { w.Workload.Users.Cordon(e.N) },
		Uncordon:         func(w *World, _ Event) { w.Workload.Users.Uncordon() },
		Waver:            func(w *World, e Event) { w.waver(e.N) },
		LoseOwner:        func(w *World, e Event) { w.loseOwner(e.N) },
		Adopt:            (*World).adopt,
		Copied:           func(w *World, _ Event) { w.applyCopy() },
		Mark:             func(w *World, e Event) { w.Workload.Users.Mark(e.N) },
		DropMachine:      (*World).dropMachine,
		DropInfraMachine: (*World).dropMachine,
		Delete:           func(w *World, _ Event) { w.deletePool() },
	}
}

// troubles are what goes wrong.
func troubles() map[What]func(*World, Event) {
	return map[What]func(*World, Event){
		CloudFault:  func(w *World, e Event) { w.Must(w.pool.Cloud.Faults().Add(e.Fault), "put a fault into force") },
		ServerFault: func(w *World, e Event) { w.apiFaults = append(w.apiFaults, e.API) },
		Calm:        func(w *World, _ Event) { w.calm() },
		Restart: func(w *World, _ Event) {
			w.faults++
			w.bury(w.processes[0])
		},
		Restored: func(w *World, e Event) { w.restore(e.N%2 == 1) },
		Crash:    func(w *World, e Event) { w.processes[0].crash, w.processes[0].crashBefore = 1+e.N%4, e.M%2 == 0 },
		Lag: func(w *World, e Event) {
			w.faults++
			p := w.processes[e.M%len(w.processes)]
			p.lagging, p.lagUntil = 1+e.N, time.Now().Add(time.Duration(1+5*e.M)*time.Second)
			w.At(p.lagUntil, func() {})
		},
		Deaf: func(w *World, e Event) {
			w.faults++
			w.processes[0].deafUntil = time.Now().Add(time.Duration(10+60*e.N) * time.Second)
		},
		Rival: func(w *World, e Event) {
			w.faults++
			elder, p := w.processes[0], w.newProcess()
			w.processes = append(w.processes, p)
			w.At(time.Now().Add(time.Duration(5+10*e.N)*time.Second), func() { w.resign(elder) })
		},
		Meet:    func(w *World, e Event) { w.meeting = &e },
		Away:    func(w *World, e Event) { w.faults++; w.Workload.Outage.Begin(time.Duration(5+20*e.N) * time.Second) },
		Block:   func(w *World, e Event) { w.faults++; w.Workload.App.Block(time.Duration(10+30*e.N) * time.Second) },
		Unready: turnUnready,
	}
}

// resign ends the manager that has lost the lease.
func (w *World) resign(p *process) {
	for _, other := range w.processes {
		if other == p && len(w.processes) > 1 {
			w.Trace("event", "the elder manager ends")
			w.bury(p)
			return
		}
	}
}

// resize asks for a number of machines, as a rule within the bounds.
func (w *World) resize(n int, within bool) {
	w.EditPool(func(mp *clusterv1.MachinePool) { mp.Spec.Replicas = ptr.To(int32(n)) })
	if within {
		w.within()
	}
}

// within brings the replicas within the bounds.
func (w *World) within() {
	_, o := w.Objects()
	w.EditPool(func(mp *clusterv1.MachinePool) {
		if o != nil {
			least, most := w.pool.Bounds(o)
			mp.Spec.Replicas = ptr.To(min(max(ptr.Deref(mp.Spec.Replicas, 1), least), most))
		}
	})
}

// editBounds keeps the replicas within the bounds, as people do, unless that is forgotten.
func (w *World) editBounds(e Event) {
	w.EditObject(func(o client.Object) { w.pool.SetBounds(o, int32(e.N%4), int32(e.N%4+1+e.M%7)) })
	if (e.N+e.M)%3 > 0 {
		w.within()
	}
}

// editKeep asks for another number of versions, or for none in particular.
func (w *World) editKeep(e Event) {
	if w.pool.Keep == nil {
		return
	}
	n := []*int32{nil, ptr.To(int32(2)), ptr.To(int32(4)), ptr.To(int32(2)), ptr.To(int32(7))}[e.N%5]
	w.EditObject(func(o client.Object) { w.pool.Keep(o, n) })
}

// editStrategy sets the strategy to another one, or takes it away.
func (w *World) editStrategy(e Event) {
	if w.pool.Strategy == nil {
		return
	}
	some := []*Limits{{"1", "0", "Oldest"}, {"0", "1", "Newest"}, {"2", "2", "Random"}, {"50%", "0", "Oldest"}, {"0", "50%", "Oldest"}, nil}
	w.EditObject(func(o client.Object) { w.pool.Strategy(o, some[e.N%len(some)]) })
}

// upgrade brings the pool to another version of Kubernetes.
func (w *World) upgrade(e Event) {
	if w.pool.Upgrade != nil {
		w.pool.Upgrade(e)
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

// pause pauses both objects, or goes on with them.
func (w *World) pause(on bool) {
	w.EditPool(func(mp *clusterv1.MachinePool) { pausing(mp, on) })
	w.EditObject(func(o client.Object) { pausing(o, on) })
}

func pausing(o client.Object, on bool) {
	if on {
		annotate(o, clusterv1.PausedAnnotation, "")
		return
	}
	without(o, clusterv1.PausedAnnotation)
}

func (w *World) deletePool() {
	if mp, _ := w.Objects(); mp != nil {
		w.Must(w.User.Delete(w.t.Context(), mp), "delete the MachinePool")
	}
}

// turnUnready takes every other node's readiness away for a while. A group that the cloud would give up for good, whatever becomes of its
// machines, is spared: what is to be done about that is its owner's to say.
func turnUnready(w *World, e Event) {
	if w.pool.Fragile != nil && w.pool.Fragile() {
		return
	}
	w.faults++
	w.Workload.Unready(time.Duration(10+30*e.N) * time.Second)
}
