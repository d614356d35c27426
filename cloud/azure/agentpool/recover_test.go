package agentpool_test

import (
	"testing"
	"time"

	aksv1 "github.com/muster-project/muster/api/azure/aks/v1beta1"
	azurev1 "github.com/muster-project/muster/api/azure/v1beta1"
	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/pool"
	"github.com/muster-project/muster/sim"
	"github.com/muster-project/muster/sim/azure/containerservice"
)

// TestUnfulfilledCapacity holds that machines that AKS could not bring are not counted in the size, so that they are requested again.
func TestUnfulfilledCapacity(t *testing.T) {
	inWorld(t, func(w *world) {
		if err := w.cloud.Faults().Add(sim.Fault{Kind: sim.NoCapacity, Limit: 2}); err != nil {
			w.Fatal(err)
		}
		w.start(pool.Step{Kind: pool.CreateGroup, Size: 4})
		o := w.observe()
		if o.Group.Size != len(o.Instances) || o.Group.UnfulfilledCapacity != 4-len(o.Instances) || o.Group.ScaleUpFailedAt.IsZero() {
			w.Errorf("want the size of what exists, and the rest as unfulfilled, got %+v with %d machines", o.Group, len(o.Instances))
		}
		w.cloud.Faults().Clear()
		w.start(pool.Step{Kind: pool.Resize, Size: 4})
		if o = w.observe(); len(o.Instances) != 4 || o.Group.Size != 4 || o.Group.UnfulfilledCapacity != 0 || !o.Group.ScaleUpFailedAt.IsZero() {
			w.Errorf("want all machines once there is room, got %+v with %d machines", o.Group, len(o.Instances))
		}
	})
}

// TestMachineDeletedBehindAKS holds that the same size, requested again, brings the machine that another client deleted with Azure's own
// API, and that AKS shows such an agent pool short of its count or lowers the count.
func TestMachineDeletedBehindAKS(t *testing.T) {
	for name, b := range map[string]sim.Switches{"the count stays": {}, "the count is lowered": {containerservice.LowersCount}} {
		t.Run(name, func(t *testing.T) {
			inWorldOf(t, b, func(w *world) {
				w.start(pool.Step{Kind: pool.CreateGroup, Size: 3})
				if err := w.cloud.Terminate(w.observe().Instances[0].UID); err != nil {
					w.Fatal(err)
				}
				settle()
				o := w.observe()
				lacks, lowered := o.Unfilled(), b.On(containerservice.LowersCount)
				if len(o.Instances) != 2 || (lacks == 1) == lowered || o.Group.Size != 2+lacks || o.Group.State != "Succeeded" {
					w.Errorf("want an agent pool at rest with two machines, got %+v with %d machines", o.Group, len(o.Instances))
				}
				w.start(pool.Step{Kind: pool.Resize, Size: 3})
				if o = w.observe(); len(o.Instances) != 3 || o.Unfilled() != 0 {
					w.Errorf("want three machines, got %+v with %d machines", o.Group, len(o.Instances))
				}
			})
		})
	}
}

// TestPoweredOffMachineIsAMember holds that an agent pool that keeps machines which are scaled in counts one that another client has
// powered off: AKS counts it, and starts no other in its place.
func TestPoweredOffMachineIsAMember(t *testing.T) {
	inWorld(t, func(w *world) {
		w.target.Spec = spec(func(s *aksv1.AzureManagedMachinePoolSpec) { s.ScaleDownMode = new("Deallocate") })(w.target.Spec)
		w.start(pool.Step{Kind: pool.CreateGroup, Size: 2})
		uid := w.observe().Instances[0].UID
		if err := w.cloud.Stop(uid); err != nil {
			w.Fatal(err)
		}
		settle()
		o := w.observe()
		if len(o.Instances) != 2 || o.Instances[0].State != pool.Failed || o.Instances[0].Stopped != "stopped" || len(o.ExternalStandby) > 0 {
			w.Errorf("want the machine among the instances, failed, got %+v, kept %v", o.Instances, o.ExternalStandby)
		}
	})
}

// TestTagsNamedNoMoreAreRemoved holds that a tag goes with the specification that named it, and one of another client stays.
func TestTagsNamedNoMoreAreRemoved(t *testing.T) {
	inWorld(t, func(w *world) {
		tags := func(t azurev1.Tags) {
			w.target.Spec = spec(func(s *aksv1.AzureManagedMachinePoolSpec) { s.AdditionalTags = t })(w.target.Spec)
		}
		tags(azurev1.Tags{"team": "a", "stage": "test"})
		w.start(pool.Step{Kind: pool.CreateGroup, Size: 1})
		if err := w.cloud.AKS.TagPool(clusterName+"/"+poolName, "theirs", "hand"); err != nil {
			w.Fatal(err)
		}
		settle()
		tags(azurev1.Tags{"stage": "test"})
		if o := w.observe(); len(o.Group.Drift) != 1 || o.Group.Drift[0] != "spec.additionalTags" {
			w.Errorf("want the tags to differ, got %v", o.Group.Drift)
		}
		w.start(pool.Step{Kind: pool.UpdateGroup})
		if o := w.observe(); o.Group.Drift != nil {
			w.Errorf("want the tags to be as wanted, got a difference in %v", o.Group.Drift)
		}
		for _, p := range w.cloud.State().Clusters[0].Pools {
			if _, still := p.Tags["team"]; p.Name == poolName && (still || p.Tags["stage"] != "test" || p.Tags["theirs"] != "hand") {
				w.Errorf("want the tag team removed and the others kept, got %v", p.Tags)
			}
		}
	})
}

// TestAbortedRolloutIsResumed holds that a rollout that a user aborted goes on with the same request, also after another operation that
// ended well.
func TestAbortedRolloutIsResumed(t *testing.T) {
	for name, after := range map[string]func(*world) error{
		"at once":                 func(*world) error { return nil },
		"after another operation": func(w *world) error { return w.cloud.AKS.TagPool(clusterName+"/"+poolName, "theirs", "hand") },
	} {
		t.Run(name, func(t *testing.T) { abortedRolloutIsResumed(t, nil, 1, after) })
		t.Run(name+", where the same request resumes nothing", func(t *testing.T) {
			abortedRolloutIsResumed(t, sim.Switches{containerservice.ResumesNot}, 2, after)
		})
	}
}

// abortedRolloutIsResumed holds that a rollout that was aborted has ended well after some requests.
func abortedRolloutIsResumed(t *testing.T, on sim.Switches, requests int, after func(*world) error) {
	t.Helper()
	inWorldOf(t, on, func(w *world) {
		w.start(pool.Step{Kind: pool.CreateGroup, Size: 3})
		w.target.Spec = spec(func(s *aksv1.AzureManagedMachinePoolSpec) { s.SKU = "Standard_D4s_v3" })(w.target.Spec)
		roll := pool.Step{Kind: pool.StartProviderRollout, Template: w.observe().Latest().Ref}
		if err := w.driver.Start(w.Context(), w.target, roll); err != nil {
			w.Fatal(err)
		}
		time.Sleep(5 * time.Minute)
		if err := w.cloud.AKS.AbortPool(clusterName + "/" + poolName); err != nil {
			w.Fatal(err)
		}
		settle()
		if o := w.observe(); o.ProviderRollout == nil || o.ProviderRollout.State != pool.ProviderRolloutCancelled {
			w.Fatalf("want a rollout that was cancelled in its midst, got %+v", o.ProviderRollout)
		}
		if err := after(w); err != nil {
			w.Fatal(err)
		}
		settle()
		for range requests {
			w.observe()
			w.start(roll)
			settle()
			settle()
		}
		o := w.observe()
		if o.ProviderRollout != nil || len(o.Instances) != 3 {
			w.Errorf("want the rollout ended, got %+v with %d machines", o.ProviderRollout, len(o.Instances))
		}
		for _, i := range o.Instances {
			if i.Template.Ref != roll.Template {
				w.Errorf("want all machines of %s, got %+v", roll.Template, i)
			}
		}
	})
}

// TestExcessIsKept holds that AKS leaves the machines of an aborted removal, which its count does not include.
func TestExcessIsKept(t *testing.T) {
	inWorld(t, func(w *world) {
		w.start(pool.Step{Kind: pool.CreateGroup, Size: 3})
		if o := w.observe(); o.Group.KeepsExcess || o.Group.Least != 0 {
			w.Errorf("want a pool of its size that may be empty, got %+v", o.Group)
		}
		remove := pool.Step{Kind: pool.Remove, Targets: []pool.InstanceRef{{ID: w.observe().Instances[0].ID}}}
		if err := w.driver.Start(w.Context(), w.target, remove); err != nil {
			w.Fatal(err)
		}
		if err := w.cloud.AKS.AbortPool(clusterName + "/" + poolName); err != nil {
			w.Fatal(err)
		}
		settle()
		if o := w.observe(); o.Group.KeepsExcess {
			w.Errorf("want a list that may be older than the count not trusted, got %+v", o.Group)
		}
		settle()
		if o := w.observe(); len(o.Instances) != 3 || o.Group.Size != 2 || !o.Group.KeepsExcess {
			w.Errorf("want one machine more than the size, and that AKS keeps it, got %+v with %d machines", o.Group, len(o.Instances))
		}
	})
}

// TestListBehindARemovalByOthers holds that machines which another client has just removed, and which a list still shows, are none that AKS
// keeps.
func TestListBehindARemovalByOthers(t *testing.T) {
	inWorld(t, func(w *world) {
		w.start(pool.Step{Kind: pool.CreateGroup, Size: 3})
		w.observe()
		if err := w.cloud.Faults().Add(sim.Fault{Kind: sim.Stale, Action: "*_List*", Delay: sim.Duration(9 * time.Second)}); err != nil {
			w.Fatal(err)
		}
		if err := w.cloud.AKS.ScalePool(clusterName+"/"+poolName, 1); err != nil {
			w.Fatal(err)
		}
		behind := false
		for range 60 {
			time.Sleep(4 * time.Second)
			o := w.observe()
			if behind = behind || o.Group.Busy == nil && len(o.Instances) > 1; o.Group.KeepsExcess {
				w.Fatalf("want nothing kept beyond the size of 1, got %+v with %+v", o.Group, o.Instances)
			}
		}
		if o := w.observe(); !behind || len(o.Instances) != 1 {
			w.Errorf("want a list that is behind, and 1 machine in the end, got %+v", o.Instances)
		}
	})
}

// TestRolloutsOfOthers holds which rollouts another client began: those that run when Muster's last operation has ended, and where nothing
// is known of that, those that the object does not ask for.
func TestRolloutsOfOthers(t *testing.T) {
	inWorld(t, func(w *world) {
		const at = clusterName + "/" + poolName
		w.target.KubernetesVersion = "v1.33.7"
		w.start(pool.Step{Kind: pool.CreateGroup, Size: 2})
		runs := func(why string, want bool) {
			w.Helper()
			o := w.observe()
			if o.ProviderRollout == nil || !o.ProviderRollout.Runs() || o.ProviderRollout.ByOthers != want {
				w.Errorf("%s: want a rollout of another client to be %t, got %+v", why, want, o.ProviderRollout)
			}
			w.target.Operations = o.Operations
		}
		forget := func() {
			w.Helper()
			d, err := newDriver(sim.Transport{Handler: w.cloud})
			if err != nil {
				w.Fatal(err)
			}
			w.driver = d
		}
		byHand := func(err error) {
			w.Helper()
			if err != nil {
				w.Fatal(err)
			}
		}
		byHand(w.cloud.AKS.ReleaseImage("202610.01.0"))
		byHand(w.cloud.AKS.UpgradeNodeImage(at))
		runs("a node image, after an operation of Muster", true)
		forget()
		runs("likewise, by what the object remembers", true)
		w.unknownOrigin()
		w.target.Operations = nil
		forget()
		runs("a node image that no client asks for, and nothing is remembered", true)
		settle()
		settle()
		w.observe()
		byHand(w.cloud.AKS.UpgradePool(at, "1.34.7"))
		runs("a version that is newer than the one asked for", true)
		settle()
		settle()
		w.target.KubernetesVersion, w.target.Spec = version,
			spec(func(s *aksv1.AzureManagedMachinePoolSpec) { s.SKU = "Standard_D4s_v3" })(w.target.Spec)
		w.observe()
		if err := w.driver.Start(w.Context(), w.target, pool.Step{Kind: pool.StartProviderRollout,
			Template: w.observe().Latest().Ref}); err != nil {
			w.Fatal(err)
		}
		runs("Muster's own", false)
		forget()
		runs("likewise, by what the object remembers", false)
		w.target.Operations = nil
		forget()
		runs("what the object asks for, and nothing is remembered", false)
	})
}

// unknownOrigin holds that a rollout is not cancelled while AKS does not answer who began it, and that a refusal for good leaves it to what
// the object asks for.
func (w *world) unknownOrigin() {
	w.Helper()
	for code, recognized := range map[string]bool{"InternalServerError": false, "AuthorizationFailed": true} {
		fault := sim.Fault{Kind: sim.ErrorBefore, Action: "Operations_Get", Code: code, Status: 500}
		if recognized {
			fault.Status = 403
		}
		if err := w.cloud.Faults().Add(fault); err != nil {
			w.Fatal(err)
		}
		o := w.observe()
		w.cloud.Faults().Clear()
		if roll := o.ProviderRollout; !roll.Runs() || (roll.Template.Content != "") != recognized {
			w.Errorf("%s: want a rollout that Muster recognizes to be %t, got %+v", code, recognized, roll)
		}
		p := pool.Decide(pool.Desired{Replicas: 2, RolloutPaused: &pool.Cause{Reason: "RolloutPaused", Message: "x"}}, o, w.driver.Traits(),
			time.Now())
		if s := p.Step; s != nil && s.Kind == pool.CancelProviderRollout {
			w.Errorf("%s: want a rollout left that another client began, got %+v", code, s)
		}
	}
}

// TestListBehindARemoval holds that a list which still shows machines that were removed gives no reason to ask for them again.
func TestListBehindARemoval(t *testing.T) {
	inWorld(t, func(w *world) {
		w.start(pool.Step{Kind: pool.CreateGroup, Size: 3})
		o := w.observe()
		if err := w.cloud.Faults().Add(sim.Fault{Kind: sim.Stale, Action: "*_List*", Delay: sim.Duration(9 * time.Second)}); err != nil {
			w.Fatal(err)
		}
		if err := w.driver.Start(w.Context(), w.target, pool.Step{Kind: pool.Remove,
			Targets: []pool.InstanceRef{{ID: o.Instances[0].ID}, {ID: o.Instances[1].ID}}}); err != nil {
			w.Fatal(err)
		}
		behind := false
		for range 60 {
			<-time.After(4 * time.Second)
			o = w.observe()
			behind = behind || o.Group.Busy == nil && len(o.Instances) == 3
			if o.Group.KeepsExcess || o.Group.Size < 1 {
				w.Fatalf("want nothing beyond the size of 1, got %+v with %+v", o.Group, o.Instances)
			}
		}
		if !behind || len(o.Instances) != 1 {
			w.Errorf("want a list that is behind, and 1 machine in the end, got %+v", o.Instances)
		}
	})
}

// TestRemovalAfterAnother holds that a read which still shows the removal before is no proof of one that never arrived: the Nodes of
// machines that serve would be deleted.
func TestRemovalAfterAnother(t *testing.T) {
	inWorld(t, func(w *world) {
		w.start(pool.Step{Kind: pool.CreateGroup, Size: 4})
		o := w.observe()
		remove := func(i pool.Instance) pool.Step {
			return pool.Step{Kind: pool.Remove, Targets: []pool.InstanceRef{{ID: i.ID}}}
		}
		if err := w.driver.Start(w.Context(), w.target, remove(o.Instances[0])); err != nil {
			w.Fatal(err)
		}
		for k := 0; k == 0 || w.observe().Group.Busy != nil; k++ {
			<-time.After(time.Second)
		}
		for _, f := range []sim.Fault{
			{Kind: sim.Stale, Action: "ManagedClusters_*", Delay: sim.Duration(4 * time.Second)},
			{Kind: sim.DropBefore, Action: "AgentPools_DeleteMachines", Times: 1},
		} {
			if err := w.cloud.Faults().Add(f); err != nil {
				w.Fatal(err)
			}
		}
		second := o.Instances[1]
		_ = w.driver.Start(w.Context(), w.target, remove(second))
		behind := false
		for range 15 {
			o = w.observe()
			behind = behind || o.Group.Busy != nil
			for _, i := range o.Instances {
				if i.ID == second.ID && i.State == pool.Terminating {
					w.Errorf("want the second machine to stay, got it on its way out")
				}
			}
			<-time.After(time.Second)
		}
		if !behind || len(o.Instances) != 3 {
			w.Errorf("want a read that is behind, and 3 machines, got %+v", o)
		}
	})
}

// TestRemovalWithoutEffect holds that machines stay in the observation until AKS is seen to remove them: their Nodes would be deleted while
// they run. A request without an answer may not have arrived, and one with an answer may have been ignored.
func TestRemovalWithoutEffect(t *testing.T) {
	for _, c := range []struct {
		name    string
		fault   sim.FaultKind
		leaving int
	}{
		{"a request that was lost", sim.DropBefore, 0},
		{"a request that was ignored", sim.Ignore, 0},
		{"an answer that was lost", sim.DropAfter, 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			inWorld(t, func(w *world) {
				w.start(pool.Step{Kind: pool.CreateGroup, Size: 3})
				o := w.observe()
				if err := w.cloud.Faults().Add(sim.Fault{Kind: c.fault, Action: "AgentPools_DeleteMachines", Times: 1}); err != nil {
					w.Fatal(err)
				}
				remove := pool.Step{Kind: pool.Remove, Targets: []pool.InstanceRef{{ID: o.Instances[0].ID}, {ID: o.Instances[1].ID}}}
				if err := w.driver.Start(w.Context(), w.target, remove); err != nil && cloud.CodeOf(err) != "NoReply" {
					w.Fatalf("want a reply or none, got %v", err)
				}
				leaving := 0
				for _, i := range w.observe().Instances {
					if i.State == pool.Terminating {
						leaving++
					}
				}
				if leaving != c.leaving {
					w.Errorf("want %d machines on their way out, got %d", c.leaving, leaving)
				}
				settle()
				w.observe()
				w.start(remove)
				if o := w.observe(); len(o.Instances) != 1 || o.Group.Size != 1 {
					w.Errorf("want 1 machine in the end, got %+v with %+v", o.Group, o.Instances)
				}
			})
		})
	}
}
