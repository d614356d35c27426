package world

import (
	"time"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	ekstypes "github.com/aws/aws-sdk-go-v2/service/eks/types"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	awsv1 "github.com/muster-project/muster/api/aws/v1beta2"
	simaws "github.com/muster-project/muster/sim/aws"
)

// happen lets one event happen.
func (w *World) happen(e Event) {
	w.trace.add("event", "%s", e)
	w.rotation.note(w, e)
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
		w.trace.add("hand", "failed")
	}
}

// edits are what users and programs ask for.
func edits() map[What]func(*World, Event) {
	return map[What]func(*World, Event){
		Replicas:  func(w *World, e Event) { w.resize(e.N, e.M > 0) },
		Bounds:    (*World).editBounds,
		Template:  func(w *World, e Event) { w.editInfra(func(o *infra) { template(o, e.N) }) },
		GroupEdit: (*World).editGroup,
		Upgrade:   (*World).upgrade,
		Keep:      (*World).editKeep,
		Token:     func(w *World, _ Event) { w.rotate() },
		Bootstrap: func(w *World, _ Event) { w.rotate() },
		External: func(w *World, _ Event) {
			w.editPool(func(mp *clusterv1.MachinePool) {
				toggle(mp, clusterv1.ReplicasManagedByAnnotation, "cluster-autoscaler")
			})
		},
		Strategy: (*World).editStrategy,
		BadTemplate: func(w *World, _ Event) {
			w.editInfra(func(o *infra) {
				if t := o.template(); t != nil && t.Existing == nil {
					t.InstanceType = badType
				}
				if o.azure != nil {
					o.azure.Spec.Template.VMSize = badSize
				}
				if o.agents != nil {
					o.agents.edit(func(s *agentSpec) { s.SKU = badSize })
				}
			})
		},
		Back:        func(w *World, _ Event) { w.back() },
		Hold:        func(w *World, e Event) { w.annotate(e.N, rolloutAnnotation, "paused") },
		GoOn:        func(w *World, _ Event) { w.annotate(0, rolloutAnnotation, ""); w.annotate(1, rolloutAnnotation, "") },
		RestartNow:  (*World).restartNow,
		RestartOver: func(w *World, _ Event) { w.annotate(0, restartAnnotation, ""); w.annotate(1, restartAnnotation, "") },
		Pause:       func(w *World, _ Event) { w.pause(true) },
		Unpause:     func(w *World, _ Event) { w.pause(false) },
		Nudge: func(w *World, e Event) {
			w.editInfra(func(o *infra) { annotate(o, "nudge", time.Now().String()) })
		},
		Cordon:           func(w *World, e Event) { w.workload.cordon(e.N) },
		Uncordon:         func(w *World, _ Event) { w.workload.uncordon() },
		Waver:            func(w *World, e Event) { w.waver(e.N) },
		LoseOwner:        func(w *World, e Event) { w.loseOwner(e.N) },
		Adopt:            (*World).adopt,
		Copied:           func(w *World, _ Event) { w.applyCopy() },
		Mark:             func(w *World, e Event) { w.workload.mark(e.N) },
		DropMachine:      (*World).dropMachine,
		DropInfraMachine: (*World).dropMachine,
		Delete:           func(w *World, _ Event) { w.deletePool() },
	}
}

// troubles are what goes wrong.
func troubles() map[What]func(*World, Event) {
	return map[What]func(*World, Event){
		CloudFault:  func(w *World, e Event) { w.must(w.account.server.Faults().Add(e.Fault), "put a fault into force") },
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
			w.at(p.lagUntil, func() {})
		},
		Deaf: func(w *World, e Event) {
			w.faults++
			w.processes[0].deafUntil = time.Now().Add(time.Duration(10+60*e.N) * time.Second)
		},
		Rival: func(w *World, e Event) {
			w.faults++
			elder, p := w.processes[0], w.newProcess()
			w.processes = append(w.processes, p)
			w.at(time.Now().Add(time.Duration(5+10*e.N)*time.Second), func() { w.resign(elder) })
		},
		Meet:    func(w *World, e Event) { w.meeting = &e },
		Away:    func(w *World, e Event) { w.faults++; w.workload.goAway(time.Duration(5+20*e.N) * time.Second) },
		Block:   func(w *World, e Event) { w.faults++; w.workload.block(time.Duration(10+30*e.N) * time.Second) },
		Unready: turnUnready,
	}
}

// resign ends the manager that has lost the lease.
func (w *World) resign(p *process) {
	for _, other := range w.processes {
		if other == p && len(w.processes) > 1 {
			w.trace.add("event", "the elder manager ends")
			w.bury(p)
			return
		}
	}
}

// resize asks for a number of machines, as a rule within the bounds.
func (w *World) resize(n int, within bool) {
	w.editPool(func(mp *clusterv1.MachinePool) { mp.Spec.Replicas = ptr.To(int32(n)) })
	if within {
		w.within()
	}
}

// within brings the replicas within the bounds.
func (w *World) within() {
	_, o := w.objects(w.user)
	w.editPool(func(mp *clusterv1.MachinePool) {
		if o != nil {
			least, most := o.bounds()
			mp.Spec.Replicas = ptr.To(min(max(ptr.Deref(mp.Spec.Replicas, 1), least), most))
		}
	})
}

// editBounds keeps the replicas within the bounds, as people do, unless that is forgotten.
func (w *World) editBounds(e Event) {
	w.editInfra(func(o *infra) { o.bound(int32(e.N%4), int32(e.N%4+1+e.M%7)) })
	if (e.N+e.M)%3 > 0 {
		w.within()
	}
}

// editKeep asks for another number of versions, or for none in particular.
func (w *World) editKeep(e Event) {
	w.editInfra(func(o *infra) {
		if t := o.template(); t != nil {
			t.VersionsToKeep = []*int32{nil, ptr.To(int32(2)), ptr.To(int32(4)), ptr.To(int32(2)), ptr.To(int32(7))}[e.N%5]
		}
	})
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
	w.editPool(func(mp *clusterv1.MachinePool) { pausing(mp, on) })
	w.editInfra(func(o *infra) { pausing(o, on) })
}

func pausing(o client.Object, on bool) {
	if on {
		annotate(o, clusterv1.PausedAnnotation, "")
		return
	}
	without(o, clusterv1.PausedAnnotation)
}

func (w *World) deletePool() {
	if mp, _ := w.objects(w.user); mp != nil {
		w.must(w.user.Delete(w.t.Context(), mp), "delete the MachinePool")
	}
}

// template changes what machines are launched as.
func template(o *infra, n int) {
	if o.agents != nil {
		o.agents.edit(func(s *agentSpec) { s.SKU = sizes[n%len(sizes)] })
		return
	}
	if o.azure != nil {
		azureEdit(&o.azure.Spec.Template, n)
		return
	}
	t := o.template()
	if t == nil {
		return // the cloud says what machines are
	}
	if t.Existing != nil {
		t.Existing.Version = int64(1 + n%len(broughtTypes))
		return
	}
	switch n % 4 {
	case 0:
		t.RootVolume = &awsv1.Volume{Size: int64(40 + 10*n), Type: "gp3"}
	case 1:
		t.RootVolume = nil
		t.InstanceType = simaws.InstanceType
	default:
		t.InstanceType = []string{"m5.large", "c5.large", "m5.xlarge"}[n%3]
	}
}

// editGroup changes one field of the group.
func (w *World) editGroup(e Event) {
	w.editInfra(func(o *infra) {
		if o.agents != nil {
			o.agents.edit(func(s *agentSpec) { agentEdit(s, e.N, e.M) })
			return
		}
		if o.managed != nil {
			managedEdit(&o.managed.Spec, e.N, e.M)
			return
		}
		if o.azure != nil {
			setEdit(&o.azure.Spec, e.N, e.M)
			return
		}
		group(&o.group.Spec, e.N, e.M)
	})
}

func group(s *awsv1.AWSMachinePoolSpec, n, m int) {
	switch n {
	case 0:
		s.DefaultCoolDown = &metav1.Duration{Duration: time.Duration(30*m) * time.Second}
	case 1:
		s.DefaultInstanceWarmup = &metav1.Duration{Duration: time.Duration(30*m) * time.Second}
	case 2:
		s.CapacityRebalance = !s.CapacityRebalance
	case 3:
		s.AvailabilityZones = [][]string{nil, {"eu-west-1a"}, {"eu-west-1b", "eu-west-1c"}}[m%3]
	case 4, 5:
		s.AdditionalTags = []awsv1.Tags{nil, {"team": "b"}, {"team": "a", "stage": "test"}}[m%3]
	case 6:
		s.SuspendProcesses = &awsv1.SuspendProcessesTypes{Processes: &awsv1.Processes{AZRebalance: awssdk.Bool(m%2 == 0)}}
	case 7:
		s.AWSLifecycleHooks = hooks(m)
	default:
		s.MixedInstancesPolicy = nil
		if m%2 == 0 && s.AWSLaunchTemplate.SpotMarketOptions == nil {
			s.MixedInstancesPolicy = &awsv1.MixedInstancesPolicy{Overrides: []awsv1.Overrides{{InstanceType: "m5.large"}, {InstanceType: "c5.large"}}}
		}
	}
}

func hooks(n int) []awsv1.AWSLifecycleHook {
	hook := func(name string, at awsv1.LifecycleTransition) awsv1.AWSLifecycleHook {
		return awsv1.AWSLifecycleHook{
			Name: name, LifecycleTransition: at, HeartbeatTimeout: &metav1.Duration{Duration: time.Duration(30*(1+n%3)) * time.Second},
			DefaultResult: ptr.To(awsv1.LifecycleHookDefaultResultContinue),
		}
	}
	hello, bye := hook("hello", awsv1.LifecycleTransitionInstanceLaunching), hook("bye", awsv1.LifecycleTransitionInstanceTerminating)
	return [][]awsv1.AWSLifecycleHook{nil, {hello}, {bye}, {hello, bye}}[n%4]
}

// turnUnready takes every other node's readiness away for a while. EKS gives a node group up for good whose machines are not Ready
// while it is made, whatever becomes of them: what is to be done about that is its owner's to say.
func turnUnready(w *World, e Event) {
	if n := w.account.nodegroup(); w.scenario.Managed && n != nil && n.Status == string(ekstypes.NodegroupStatusCreating) {
		return
	}
	w.faults++
	w.workload.unready(time.Duration(10+30*e.N) * time.Second)
}
