package azure_test

import (
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/compute/armcompute/v8"

	azurev1 "github.com/muster-project/muster/api/azure/v1beta1"
	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/azure"
	"github.com/muster-project/muster/pool"
	"github.com/muster-project/muster/sim"
	simazure "github.com/muster-project/muster/sim/azure"
)

// rotated is other bootstrap data.
func rotated() cloud.Bootstrap {
	return cloud.NewBootstrap([]byte(bootstrap+"# another token\n"), "cloud-config")
}

// fault puts a rule in force until it is calm again.
func (w *world) fault(f sim.Fault) {
	w.t.Helper()
	if err := w.cloud.Faults().Add(f); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) calm() { w.cloud.Faults().Clear() }

// issueWith is the issue with that reason that says the words; nil when there is none.
func issueWith(o pool.Observed, reason, words string) *pool.Cause {
	for _, i := range o.Issues {
		if i.Reason == reason && strings.Contains(i.Message, words) {
			return &i
		}
	}
	return nil
}

// TestNoCapacityInOneZone: the message names the zone, the size is the number of existing machines, scaling out pauses, and a change of
// tags does not make Azure retry.
func TestNoCapacityInOneZone(t *testing.T) {
	inModes(t, func(t *testing.T, w *world) {
		target := w.aTarget()
		target.FailureDomains = []string{"2"}
		w.create(target, 2)
		w.fault(sim.Fault{Kind: sim.NoCapacity, Zone: "2"})
		w.start(target, pool.Step{Kind: pool.Resize, Size: 4})
		settle()
		o := w.observe(target)
		if issueWith(o, "Capacity", "zone '2'") == nil || o.Group.Size != 2 || o.Group.ScaleUpFailedAt.IsZero() || o.Group.Busy != nil {
			t.Fatalf("want the zone named, a size of 2, and growth that failed, got %+v, issues %v", o.Group, o.Issues)
		}
		restarted := target
		restarted.Operations = o.Operations
		if again, err := w.newDriver().Observe(t.Context(), restarted); err != nil || !slices.Equal(again.Issues, o.Issues) {
			t.Errorf("want the same words after a restart, %v, got %v, %v", o.Issues, again.Issues, err)
		}
		w.calm()
		rest(time.Minute)
		tagged := with(target, func(s *azurev1.AzureMachinePoolSpec) { s.AdditionalTags["more"] = "b" })
		o = w.observe(tagged)
		w.start(tagged, pool.Step{Kind: pool.UpdateGroup, Fields: o.Group.Drift})
		settle()
		if o = w.observe(tagged); len(o.Instances) != 2 || o.Group.Size != 2 || len(o.Group.Drift) > 0 {
			t.Errorf("want the tags changed and no machine more, got %+v with %d", o.Group, len(o.Instances))
		}
		w.start(tagged, pool.Step{Kind: pool.Resize, Size: 4})
		settle()
		if o = w.observe(tagged); len(o.Instances) != 4 || !o.Group.ScaleUpFailedAt.IsZero() || len(o.Issues) > 0 {
			t.Errorf("want four machines and nothing to tell, got %+v, issues %v", o.Group, o.Issues)
		}
	})
}

// A quota is refused in Azure's words before anything happens, and is no conflict.
func TestQuota(t *testing.T) {
	inModes(t, func(t *testing.T, w *world) {
		target := w.aTarget()
		w.create(target, 2)
		if err := w.cloud.SetQuota(simazure.Location, "cores", 4); err != nil {
			t.Fatal(err)
		}
		err := w.driver.Start(t.Context(), target, pool.Step{Kind: pool.Resize, Size: 5})
		settle()
		o := w.observe(target)
		if cloud.KindOf(err) != cloud.Capacity && issueWith(o, "Capacity", "quota") == nil {
			t.Errorf("want a refusal of kind Capacity, or an issue with Azure's words on the quota, got %v, issues %v", err, o.Issues)
		}
		if o.Group.Size != 2 || len(o.Instances) != 2 {
			t.Errorf("want the group as it was, got %+v", o.Group)
		}
	})
}

// A machine that fails to provision is told about in the words of its own view.
func TestMachineFails(t *testing.T) {
	inModes(t, func(t *testing.T, w *world) {
		target := w.aTarget()
		o := w.create(target, 2)
		name := o.Instances[0].ProviderID
		if err := w.cloud.Fail(name, "VMExtensionProvisioningError",
			"VM has reported a failure when processing extension 'monitor'"); err != nil {
			t.Fatal(err)
		}
		settle()
		o = w.observe(target)
		var failed []pool.Instance
		for _, i := range o.Instances {
			if i.State == pool.Failed {
				failed = append(failed, i)
			}
		}
		if len(failed) != 1 || failed[0].ProviderID != name || !slices.ContainsFunc(o.Issues, func(i pool.Cause) bool {
			return strings.Contains(i.Message, failed[0].ID) && strings.Contains(i.Message, "VMExtensionProvisioningError") &&
				strings.Contains(i.Message, "monitor")
		}) {
			t.Errorf("want %s failed, with the words, got %+v, issues %v", name, o.Instances, o.Issues)
		}
		if len(o.Issues) != 1 {
			t.Errorf("want it told once, got %v", o.Issues)
		}
	})
}

// A machine that is powered off is not serving.
func TestMachineStopped(t *testing.T) {
	inModes(t, func(t *testing.T, w *world) {
		target := w.aTarget()
		o := w.create(target, 2)
		if err := w.cloud.Stop(o.Instances[0].ProviderID); err != nil {
			t.Fatal(err)
		}
		settle()
		if o = w.observe(target); o.Instances[0].State != pool.Failed || issueWith(o, "NotRunning", "stopped") == nil {
			t.Errorf("want it failed, with its power state, got %+v, issues %v", o.Instances, o.Issues)
		}
	})
}

// Spot machines whose capacity is taken back: with the policy Delete they are gone, with Deallocate they stay and are told about.
func TestSpotEviction(t *testing.T) {
	for _, policy := range []azurev1.SpotEvictionPolicy{azurev1.SpotEvictionPolicyDelete, azurev1.SpotEvictionPolicyDeallocate} {
		t.Run(string(policy), func(t *testing.T) {
			inModes(t, func(t *testing.T, w *world) {
				p := newPlay(w, with(w.aTarget(), func(s *azurev1.AzureMachinePoolSpec) {
					s.Template.SpotVMOptions = &azurev1.SpotVMOptions{EvictionPolicy: &policy}
				}), desired(3, number(1), number(0)))
				p.run()
				before := p.look()
				if !before.ShortNotice {
					t.Errorf("want the pool looked at more often, got %+v", before)
				}
				evicted := before.Instances[1]
				if err := w.cloud.Evict(evicted.ProviderID); err != nil {
					t.Fatal(err)
				}
				// It can't be drained.
				p.left[evicted.ID] = true
				rest(time.Minute)
				o := w.observe(p.target)
				here := slices.ContainsFunc(o.Instances, func(i pool.Instance) bool { return i.ID == evicted.ID && i.State == pool.Failed })
				if stays := policy == azurev1.SpotEvictionPolicyDeallocate; here != stays || (issueWith(o, "SpotEvicted", evicted.ID) != nil) != stays {
					t.Errorf("want it gone, or failed with the reason, got %+v, issues %v", o.Instances, o.Issues)
				}
				p.run()
				if o = p.look(); len(o.Instances) != 3 || slices.Contains(ids(o), evicted.ID) || len(o.Issues) > 0 {
					t.Errorf("want three machines again, and %s none of them, got %+v, issues %v", evicted.ID, o.Instances, o.Issues)
				}
			})
		})
	}
}

// rest lets some time pass.
func rest(d time.Duration) { <-time.After(d) }

// What is refused because a user was quicker is to be looked at again.
func TestSomebodyWasQuicker(t *testing.T) {
	inModes(t, func(t *testing.T, w *world) {
		target := w.aTarget()
		w.create(target, 2)
		first := w.observe(target).Instances[0].ID
		larger := func(size int64) {
			w.patch(armcompute.VirtualMachineScaleSetUpdate{SKU: &armcompute.SKU{Name: new(simazure.VMSize), Tier: new("Standard"),
				Capacity: new(size)}})
		}
		for _, c := range []struct {
			reason string
			theirs func()
			step   pool.Step
		}{
			{"the ETag has moved on", func() {
				larger(3)
				settle()
			}, pool.Step{Kind: pool.Resize, Size: 4}},
			{"the ETag has moved on while Azure brings what they asked for", func() { larger(5) }, pool.Step{Kind: pool.Resize, Size: 6}},
			{"a write of theirs is being accepted", func() {
				w.fault(sim.Fault{Kind: sim.ErrorBefore, Action: "VirtualMachineScaleSets_DeleteInstances", Times: 1, Status: http.StatusConflict,
					Code:    "ConflictingConcurrentWriteNotAllowed",
					Message: "The operation was interrupted by a conflicting concurrent write on the same entity. Please retry later."})
			}, pool.Step{Kind: pool.Remove, Targets: []pool.InstanceRef{{ID: first}}}},
		} {
			w.observe(target)
			c.theirs()
			if err := w.driver.Start(t.Context(), target, c.step); cloud.KindOf(err) != cloud.Conflict || err == nil {
				t.Errorf("%s: want a conflict, got %v", c.reason, err)
			}
			settle()
		}
		if o := w.observe(target); o.Group.Size != 5 || len(o.Instances) != 5 {
			t.Errorf("want what they asked for and nothing of Muster's, got %+v with %d", o.Group, len(o.Instances))
		}
	})
}

// An upgrade policy that a user has set lets Azure change machines that were not drained: it is taken back before the model changes, or
// together with it.
func TestUpgradePolicyByHand(t *testing.T) {
	inModes(t, func(t *testing.T, w *world) {
		target := w.aTarget()
		w.create(target, 2)
		automatic := func() {
			w.patch(armcompute.VirtualMachineScaleSetUpdate{Properties: &armcompute.VirtualMachineScaleSetUpdateProperties{
				UpgradePolicy: &armcompute.UpgradePolicy{Mode: new(armcompute.UpgradeModeAutomatic)},
			}})
			settle()
		}
		automatic()
		o := w.observe(target)
		if !slices.Equal(o.Group.Drift, []string{"upgradePolicy"}) {
			t.Errorf("want the policy seen, got %v", o.Group.Drift)
		}
		w.start(target, pool.Step{Kind: pool.UpdateGroup, Fields: o.Group.Drift})
		settle()
		if o = w.observe(target); len(o.Group.Drift) > 0 {
			t.Errorf("want the policy taken back, got %v", o.Group.Drift)
		}
		automatic()
		changed := with(target, otherSize)
		w.observe(changed)
		w.start(changed, pool.Step{Kind: pool.PutTemplate})
		settle()
		for _, m := range w.cloud.State().Sets[0].Machines {
			if m.Latest || m.Size != simazure.VMSize {
				t.Errorf("want machine %s left as it was, got %s of the model of now", m.ID, m.Size)
			}
		}
	})
}

// While Azure changes a scale set others of its machines are removed and it is made larger: nothing is waited for that Azure would take.
func TestStepsOverlap(t *testing.T) {
	inModes(t, func(t *testing.T, w *world) {
		target := w.aTarget()
		o := w.create(target, 4)
		begun := func(s pool.Step) pool.Observed {
			w.start(target, s)
			o := w.observe(target)
			if o.Group.State != "Updating" || o.Group.Busy != nil {
				t.Errorf("after %s: want Azure at work without keeping others from it, got %+v", s.Kind, o.Group)
			}
			return o
		}
		begun(pool.Step{Kind: pool.Remove, Targets: []pool.InstanceRef{{ID: o.Instances[0].ID}}})
		begun(pool.Step{Kind: pool.Remove, Targets: []pool.InstanceRef{{ID: o.Instances[1].ID}}})
		begun(pool.Step{Kind: pool.Protect, Targets: []pool.InstanceRef{{ID: o.Instances[2].ID}}})
		if grown := begun(pool.Step{Kind: pool.Resize, Size: 3}); grown.Group.Size != 3 {
			t.Errorf("want a size of 3, got %+v", grown.Group)
		}
		settle()
		after := w.observe(target)
		if left := ids(after); len(left) != 3 || slices.Contains(left, o.Instances[0].ID) || slices.Contains(left, o.Instances[1].ID) {
			t.Errorf("want three machines without the two that were removed, got %v", left)
		}
		if after.Group.State != "Succeeded" || len(after.Issues) > 0 {
			t.Errorf("want a scale set at rest, got %+v, %v", after.Group, after.Issues)
		}
	})
}

// Tags of machines are the machines' own in mode Flexible: they are written to them, and nothing that others put there is lost.
func TestTagsOfMachines(t *testing.T) {
	inModes(t, func(t *testing.T, w *world) {
		target := w.aTarget()
		w.create(target, 2)
		changed := with(target, func(s *azurev1.AzureMachinePoolSpec) { s.AdditionalTags = azurev1.Tags{"stage": "test"} })
		o := w.observe(changed)
		w.start(changed, pool.Step{Kind: pool.UpdateGroup, Fields: o.Group.Drift})
		settle()
		o = w.observe(changed)
		behind := chosen(o, func(i pool.Instance) bool { return len(i.InPlaceDrift) > 0 })
		writes := slices.DeleteFunc(w.wire.during(func() { w.start(changed, pool.Step{Kind: pool.Apply, Targets: behind}) }),
			func(c string) bool {
				return strings.HasSuffix(c, ".Get") || strings.HasSuffix(c, ".List")
			})
		settle()
		want := []string{"compute:VirtualMachineScaleSets.UpdateInstances"}
		if w.mode == azurev1.FlexibleOrchestrationMode {
			want = []string{"compute:VirtualMachines.Update", "compute:VirtualMachines.Update"}
		}
		if !slices.Equal(writes, want) {
			t.Errorf("want the writes %v, got %v", want, writes)
		}
		for _, m := range w.cloud.State().Sets[0].Machines {
			if _, old := m.Tags["team"]; m.Tags["stage"] != "test" || old || m.Tags["Name"] != setName {
				t.Errorf("want the tags of now on machine %s, got %v", m.ID, m.Tags)
			}
		}
		if o = w.observe(changed); len(chosen(o, func(i pool.Instance) bool {
			return len(i.InPlaceDrift) > 0 ||
				!i.Template.Same(o.Wanted)
		})) > 0 {
			t.Errorf("want all machines as they are wanted, got %+v", o.Instances)
		}
	})
}

// Machines are named that are there: one that a user deleted meanwhile does not keep the others from being removed.
func TestRemoveWhatIsGone(t *testing.T) {
	inModes(t, func(t *testing.T, w *world) {
		target := w.aTarget()
		o := w.create(target, 3)
		if err := w.cloud.Terminate(o.Instances[0].ProviderID); err != nil {
			t.Fatal(err)
		}
		settle()
		s := pool.Step{Kind: pool.Remove, Targets: []pool.InstanceRef{{ID: o.Instances[0].ID}, {ID: o.Instances[1].ID}}}
		if err := w.driver.Start(t.Context(), target, s); err != nil && cloud.KindOf(err) != cloud.Conflict {
			t.Fatalf("want it to work or to be told to look again, got %v", err)
		}
		settle()
		w.start(target, s)
		settle()
		if got := w.observe(target); len(got.Instances) != 1 || got.Instances[0].ID != o.Instances[2].ID || got.Group.Size != 1 {
			t.Errorf("want %s alone left, got %+v", o.Instances[2].ID, got.Instances)
		}
	})
}

// Never fewer than there are: the cloud would choose.
func TestResizeTakesNobody(t *testing.T) {
	inModes(t, func(t *testing.T, w *world) {
		target := w.aTarget()
		w.create(target, 3)
		writes := w.wire.during(func() {
			if err := w.driver.Start(t.Context(), target, pool.Step{Kind: pool.Resize, Size: 2}); cloud.KindOf(err) != cloud.Conflict || err == nil {
				t.Errorf("want a conflict, got %v", err)
			}
		})
		if len(writes) > 0 {
			t.Errorf("want nothing sent, got %v", writes)
		}
	})
}

// Throttled requests say for how long.
func TestThrottled(t *testing.T) {
	inModes(t, func(t *testing.T, w *world) {
		target := w.aTarget()
		w.create(target, 1)
		w.fault(sim.Fault{Kind: sim.Throttle, Service: "compute", Action: "VirtualMachineScaleSets_Update", Times: 1})
		err := w.driver.Start(t.Context(), target, pool.Step{Kind: pool.Resize, Size: 2})
		var refused *cloud.Error
		if !errors.As(err, &refused) || refused.Kind != cloud.Throttled {
			t.Fatalf("want an error of kind %s, got %v", cloud.Throttled, err)
		}
		rest(max(refused.After, time.Second) + time.Minute)
		w.start(target, pool.Step{Kind: pool.Resize, Size: 2})
	})
}

// A step that a scale set can't be asked for is refused.
func TestUnknownStep(t *testing.T) {
	inModes(t, func(t *testing.T, w *world) {
		for _, kind := range []pool.StepKind{pool.Replace, pool.EnterStandby, pool.StartProviderRollout, pool.DeleteTemplates} {
			if err := w.driver.Start(t.Context(), w.aTarget(), pool.Step{Kind: kind}); err == nil {
				t.Errorf("%s: want it refused, got no error", kind)
			}
		}
	})
}

// A target that nothing can be made of is refused with the field.
func TestTargets(t *testing.T) {
	inModes(t, func(t *testing.T, w *world) {
		for _, c := range []struct {
			reason, field string
			change        func(*azure.Target)
		}{
			{"no specification", "spec", func(t *azure.Target) { t.Spec = nil }},
			{"no owner", "metadata.annotations[muster.dev/owner-id]", func(t *azure.Target) { t.Owner.ID = "" }},
			{"no resource group", "spec.resourceGroup", func(t *azure.Target) {
				changed := *t.Spec
				changed.Cluster.ResourceGroup = ""
				t.Spec = &changed
			}},
		} {
			target := w.aTarget()
			c.change(&target)
			_, err := w.driver.Observe(t.Context(), target)
			var refused *cloud.Error
			if !errors.As(err, &refused) || refused.Kind != cloud.Invalid || refused.Field != c.field {
				t.Errorf("%s: want an error about %s, got %v", c.reason, c.field, err)
			}
		}
	})
}

// What a size can't do is found out before anything is written, and disturbs nothing that exists.
func TestSizeThatDoesNotFit(t *testing.T) {
	inModes(t, func(t *testing.T, w *world) {
		target := w.aTarget()
		ultra := with(target, func(s *azurev1.AzureMachinePoolSpec) {
			s.Template.SecurityProfile = &azurev1.SecurityProfile{SecurityType: azurev1.SecurityTypesConfidentialVM}
		})
		var unmet *cloud.SpecUnsatisfiableError
		calls := w.wire.during(func() {
			if _, err := w.driver.Observe(t.Context(), ultra); !errors.As(err, &unmet) || cloud.KindOf(err) != cloud.Invalid || fieldIn(err) == "" {
				t.Errorf("want it unmet, with a field, got %v", err)
			}
			if err := w.driver.Start(t.Context(), ultra, pool.Step{Kind: pool.CreateGroup, Size: 1}); cloud.KindOf(err) != cloud.Invalid {
				t.Errorf("want it refused, got %v", err)
			}
		})
		if n := count(calls, "VirtualMachineScaleSets.CreateOrUpdate"); n > 0 {
			t.Errorf("want nothing written, got %v", calls)
		}
		before := w.create(target, 1)
		o := w.observe(ultra)
		if len(o.Issues) != 1 || o.Issues[0].Reason != string(cloud.Invalid) || o.Wanted != (pool.Template{}) ||
			!slices.Equal(ids(o), ids(before)) {
			t.Errorf("want an issue beside the group, and nothing wanted, got %+v", o)
		}
	})
}

// A machine that never answers fails its scale set too, which is told once, with the machine.
func TestImpairedMachineIsReportedOnce(t *testing.T) {
	inModes(t, func(t *testing.T, w *world) {
		target := w.aTarget()
		w.fault(sim.Fault{Kind: sim.Impaired, Code: "OSProvisioningTimedOut", Times: 1})
		w.observe(target)
		w.start(target, pool.Step{Kind: pool.CreateGroup, Size: 2})
		settle()
		o := w.observe(target)
		if len(o.Issues) != 1 || !strings.Contains(o.Issues[0].Message, "OSProvisioningTimedOut") ||
			!strings.HasPrefix(o.Issues[0].Message, "machine ") {
			t.Errorf("want the failure told once, with the machine, got %v at %+v", o.Issues, o.Group)
		}
		if o.Group.Size != 2 || !o.Group.ScaleUpFailedAt.IsZero() {
			t.Errorf("want a size of 2 that is no failed growth, got %+v", o.Group)
		}
	})
}

// Machines that Azure could not bring and that are no longer wanted are not brought by the next change of anything either.
func TestUnreachedIsForgone(t *testing.T) {
	inModes(t, func(t *testing.T, w *world) {
		target := w.aTarget()
		target.FailureDomains = []string{"2"}
		p := newPlay(w, target, desired(2, number(1), number(0)))
		p.run()
		w.fault(sim.Fault{Kind: sim.NoCapacity, Zone: "2"})
		p.d.Replicas = 5
		for range 20 {
			p.pass()
		}
		if o := p.look(); o.Group.UnfulfilledCapacity != 3 || o.Group.Size != 2 {
			t.Fatalf("want three that Azure could not bring beside two, got %+v", o.Group)
		}
		p.d.Replicas = 2
		p.run()
		w.calm()
		tags := map[string]*string{"theirs": new("x")}
		for name, value := range w.cloud.State().Sets[0].Tags {
			tags[name] = &value
		}
		w.patch(armcompute.VirtualMachineScaleSetUpdate{Tags: tags})
		settle()
		if o := w.observe(p.target); o.Group.Size != 2 || len(o.Instances) != 2 || o.Group.UnfulfilledCapacity != 0 {
			t.Errorf("want two machines whatever a user changes, got %+v with %v", o.Group, ids(o))
		}
	})
}
