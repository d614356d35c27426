package azure_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/compute/armcompute/v8"

	azurev1 "github.com/muster-project/muster/api/azure/v1beta1"
	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/azure"
	"github.com/muster-project/muster/cloud/azure/model"
	"github.com/muster-project/muster/pool"
	"github.com/muster-project/muster/sim"
	simazure "github.com/muster-project/muster/sim/azure"
)

// Provider IDs equal those of the cloud provider, in whatever case Azure returns IDs: its lists have resource groups in capitals.
func TestProviderIDs(t *testing.T) {
	inModes(t, func(t *testing.T, w *world) {
		target := w.aTarget()
		changed := *target.Spec
		changed.Cluster.ResourceGroup = strings.ToUpper(simazure.ResourceGroup)
		target.Spec = &changed
		o := w.create(target, 2)
		var nodes []string
		for _, m := range w.cloud.State().Sets[0].Machines {
			nodes = append(nodes, m.ProviderID)
		}
		for _, i := range o.Instances {
			if !slices.Contains(nodes, i.ProviderID) {
				t.Errorf("want one of %v, got %s", nodes, i.ProviderID)
			}
			if group := "/resourceGroups/" + simazure.ResourceGroup + "/"; !strings.Contains(i.ProviderID, group) {
				t.Errorf("want %s in %s", group, i.ProviderID)
			}
		}
	})
}

// Failure domains are zones, and fault domains where there are none.
func TestFailureDomains(t *testing.T) {
	for _, c := range []struct {
		reason  string
		domains []string
		begins  string
	}{{"zonal", []string{"1", "2"}, ""}, {"regional", nil, "fd-"}} {
		t.Run(c.reason, func(t *testing.T) {
			inModes(t, func(t *testing.T, w *world) {
				target := w.aTarget()
				target.FailureDomains = c.domains
				for _, i := range w.create(target, 3).Instances {
					if known := slices.Contains(c.domains, i.Zone); i.Zone == "" || known != (c.domains != nil) || !strings.HasPrefix(i.Zone, c.begins) {
						t.Errorf("want a domain like %q, or one of %v, got %q", c.begins, c.domains, i.Zone)
					}
				}
			})
		})
	}
}

// A machine that has lost its tags is compared by what can be seen of it.
func TestMachineWithoutTags(t *testing.T) {
	inModes(t, func(t *testing.T, w *world) {
		target := w.aTarget()
		o := w.create(target, 2)
		id := o.Instances[0].ID
		if _, err := w.machines.BeginUpdate(t.Context(), simazure.ResourceGroup, setName, id, armcompute.VirtualMachineScaleSetVM{
			Location: new(simazure.Location), Tags: map[string]*string{"theirs": new("x")},
		}, nil); err != nil {
			t.Fatal(err)
		}
		settle()
		if o = w.observe(target); !o.Instances[0].Template.Same(o.Wanted) {
			t.Errorf("want it known for what it looks like, got %+v", o.Instances[0])
		}
		target = with(target, otherSize)
		w.observe(target)
		w.start(target, pool.Step{Kind: pool.PutTemplate})
		settle()
		if o = w.observe(target); o.Instances[0].Template.Same(o.Wanted) || o.Instances[0].Template.Content == "" {
			t.Errorf("want it stale once another is wanted, got %+v", o.Instances[0])
		}
	})
}

// A machine that a user has unprotected is seen, at once or within two hours.
func TestUnprotectedByHand(t *testing.T) {
	inModes(t, func(t *testing.T, w *world) {
		p := newPlay(w, w.aTarget(), desired(2, number(1), number(0)))
		p.run()
		if _, err := w.machines.BeginUpdate(t.Context(), simazure.ResourceGroup, setName, p.look().Instances[0].ID,
			armcompute.VirtualMachineScaleSetVM{
				Location: new(simazure.Location),
				Properties: &armcompute.VirtualMachineScaleSetVMProperties{
					ProtectionPolicy: &armcompute.VirtualMachineScaleSetVMProtectionPolicy{ProtectFromScaleIn: new(false)}},
			}, nil); err != nil {
			t.Fatal(err)
		}
		rest(2 * time.Hour)
		if o := w.observe(p.target); !o.Instances[0].ScaleInUnprotected || o.Instances[1].ScaleInUnprotected {
			t.Errorf("want the first alone exposed, got %+v", o.Instances)
		}
	})
}

// Where the credentials do not allow to list which machines of a Flexible scale set are protected, the pool is observed as ever: none
// is taken for exposed, so that no pass protects them again, nor for protected, until the list is allowed.
func TestProtectionThatMayNotBeRead(t *testing.T) {
	inWorld(t, azurev1.FlexibleOrchestrationMode, func(t *testing.T, w *world) {
		p := newPlay(w, w.aTarget(), desired(2, number(1), number(0)))
		p.run()
		w.driver = w.newDriver()
		w.fault(sim.Fault{Kind: sim.ErrorBefore, Action: "VirtualMachineScaleSetVMs_List", Code: "AuthorizationFailed", Message: "no",
			Status: 403})
		before := w.cloud.Calls().Count("compute", "VirtualMachineScaleSetVMs_List")
		for range 2 {
			o := w.observe(p.target)
			if issueWith(o, string(cloud.Denied), "AuthorizationFailed") == nil || o.Group == nil || len(o.Instances) != 2 {
				t.Fatalf("want the pool observed, and the refusal reported, got %+v", o)
			}
			for _, i := range o.Instances {
				if i.ScaleInUnprotected || i.ScaleInProtected || i.State != pool.Running {
					t.Errorf("want a running machine whose protection is unknown, got %+v", i)
				}
			}
		}
		if n := w.cloud.Calls().Count("compute", "VirtualMachineScaleSetVMs_List") - before; n != 1 {
			t.Errorf("want passes that follow one another closely to ask once, got %d requests", n)
		}
		w.calm()
		rest(time.Minute)
		if o := w.observe(p.target); len(o.Issues) > 0 || !o.Instances[0].ScaleInProtected || !o.Instances[1].ScaleInProtected {
			t.Errorf("want the protection known again, got %+v", o)
		}
	})
}

// The least that another owner's lower capacity takes: machines that are not protected.
func TestProtection(t *testing.T) {
	inModes(t, func(t *testing.T, w *world) {
		p := newPlay(w, w.aTarget(), desired(3, number(1), number(0)))
		p.run()
		before := ids(p.look())
		w.patch(armcompute.VirtualMachineScaleSetUpdate{SKU: &armcompute.SKU{Name: new(simazure.VMSize), Tier: new("Standard"),
			Capacity: new(int64(1))}})
		settle()
		if got := ids(w.observe(p.target)); !slices.Equal(got, before) {
			t.Errorf("want no machine gone of %v, got %v", before, got)
		}
		p.run()
		if o := p.look(); o.Group.Size != 3 || len(o.Instances) != 3 {
			t.Errorf("want three again, got %+v with %v", o.Group, ids(o))
		}
	})
}

// An autoscaler that takes a scale set over can make it smaller, although its machines were protected before.
func TestProtectionEndsWithAnAutoscaler(t *testing.T) {
	inModes(t, func(t *testing.T, w *world) {
		p := newPlay(w, w.aTarget(), desired(3, number(1), number(0)))
		p.run()
		p.d.ReplicasManagedExternally = true
		p.run()
		w.patch(armcompute.VirtualMachineScaleSetUpdate{SKU: &armcompute.SKU{Name: new(simazure.VMSize), Tier: new("Standard"),
			Capacity: new(int64(1))}})
		settle()
		if o := w.observe(p.target); o.Group.Size != 1 || len(o.Instances) != 1 {
			t.Errorf("want one machine left, got %+v with %v", o.Group, ids(o))
		}
	})
}

// The surge beside an autoscaler's size is kept with it: it is used up by removals, also after the autoscaler has grown the group.
func TestSurgeBesideAnAutoscaler(t *testing.T) {
	inModes(t, func(t *testing.T, w *world) {
		target := w.aTarget()
		w.create(target, 3)
		w.start(target, pool.Step{Kind: pool.Resize, Size: 5, Surge: 2})
		settle()
		o := w.observe(target)
		w.surge(o, 5, 2)
		w.start(target, pool.Step{Kind: pool.Remove, Surge: 1, Targets: []pool.InstanceRef{{ID: o.Instances[0].ID}}})
		settle()
		o = w.observe(target)
		w.surge(o, 4, 1)
		// A process that begins anew knows of the removal by the size alone.
		w.driver = w.newDriver()
		o = w.observe(target)
		w.surge(o, 4, 1)
		if !o.Group.SurgeRecordStale || len(o.Group.Drift) > 0 {
			t.Errorf("want the surge to be written down, and no drift that would be reported to users, got %+v", o.Group)
		}
		w.start(target, pool.Step{Kind: pool.UpdateGroup})
		settle()
		if o = w.observe(target); o.Group.SurgeRecordStale {
			t.Errorf("want what is left of the surge written down, got %+v", o.Group)
		}
		w.resized(6)
		o = w.observe(target)
		w.surge(o, 6, 1)
		for range 2 {
			// The first writes down what the surge is counted from now; the second removes.
			w.start(target, pool.Step{Kind: pool.Remove, Targets: []pool.InstanceRef{{ID: o.Instances[0].ID}}})
			settle()
			w.observe(target)
		}
		w.surge(w.observe(target), 5, 0)
	})
}

// A surge is planned before the capacity is raised for it: until then what an autoscaler adds is no surge, and a removal that could not be
// written down is no longer counted once a capacity with the same surge as before has been written.
func TestSurgeIsPlanned(t *testing.T) {
	inModes(t, func(t *testing.T, w *world) {
		target := w.aTarget()
		w.create(target, 3)
		plan := pool.PlannedSurge{Surge: 2, Size: 5}
		w.start(target, pool.Step{Kind: pool.UpdateGroup, Planned: plan})
		settle()
		o := w.observe(target)
		w.surge(o, 3, 0)
		if o.Group.SurgePlanned != plan || o.Group.SurgeRecordStale {
			t.Errorf("want the surge planned and nothing spent, got %+v", o.Group)
		}
		w.resized(5)
		w.surge(w.observe(target), 5, 0)
		w.start(target, pool.Step{Kind: pool.Resize, Size: 7, Surge: 2})
		settle()
		o = w.observe(target)
		w.surge(o, 7, 2)
		w.start(target, pool.Step{Kind: pool.Remove, Surge: 1, Targets: []pool.InstanceRef{{ID: o.Instances[0].ID}}})
		settle()
		w.surge(w.observe(target), 6, 1)
		w.start(target, pool.Step{Kind: pool.Resize, Size: 7, Surge: 2})
		settle()
		w.surge(w.observe(target), 7, 2)
	})
}

// resized gives the scale set another capacity, as an autoscaler does.
func (w *world) resized(capacity int64) {
	w.t.Helper()
	w.patch(armcompute.VirtualMachineScaleSetUpdate{SKU: &armcompute.SKU{Name: new(simazure.VMSize), Tier: new("Standard"),
		Capacity: new(capacity)}})
	settle()
}

func (w *world) surge(o pool.Observed, size, surge int) {
	w.t.Helper()
	if o.Group.Size != size || o.Group.Surge != surge {
		w.t.Errorf("want a size of %d, %d of them surge, got %+v", size, surge, o.Group)
	}
}

// Extensions that are taken back after machines were given them, and before their tags tell of it, are taken from the machines too.
func TestExtensionsTakenBack(t *testing.T) {
	inModes(t, func(t *testing.T, w *world) {
		target := w.aTarget()
		w.create(target, 1)
		appliedExtensions := with(target, reshape)
		w.start(appliedExtensions, pool.Step{Kind: pool.UpdateGroup})
		settle()
		for had := w.cloud.State().Sets[0].Machines[0].Extensions; w.cloud.State().Sets[0].Machines[0].Extensions == had; {
			w.start(appliedExtensions, pool.Step{Kind: pool.Apply, Targets: chosen(w.observe(appliedExtensions),
				func(i pool.Instance) bool { return len(i.InPlaceDrift) > 0 })})
			settle()
		}
		w.start(target, pool.Step{Kind: pool.UpdateGroup})
		settle()
		w.driver = w.newDriver()
		for _, i := range w.observe(target).Instances {
			if !slices.Contains(i.InPlaceDrift, model.FieldExtensions) {
				t.Errorf("want the machine's extensions taken back, got behind in %v", i.InPlaceDrift)
			}
		}
	})
}

// A scale set of our name without our tag is left alone, whatever is asked.
func TestForeign(t *testing.T) {
	inModes(t, func(t *testing.T, w *world) {
		theirs := w.aTarget()
		theirs.Owner.ID = "theirs"
		w.create(theirs, 1)
		target := w.aTarget()
		o := w.observe(target)
		if o.OwnershipConflict == nil || o.OwnershipConflict.Reason != "OwnershipConflict" || o.Group != nil || len(o.Instances) > 0 {
			t.Fatalf("want it called foreign, got %+v", o)
		}
		for _, kind := range []pool.StepKind{pool.CreateGroup, pool.PutTemplate, pool.UpdateGroup, pool.Resize, pool.Remove, pool.Apply,
			pool.Protect, pool.DeleteGroup} {
			calls := w.wire.during(func() {
				if err := w.driver.Start(t.Context(), target, pool.Step{Kind: kind, Targets: []pool.InstanceRef{{ID: "0"}}}); err == nil ||
					cloud.KindOf(err) != cloud.Conflict {
					t.Errorf("%s: want a conflict, got %v", kind, err)
				}
			})
			if writes := slices.DeleteFunc(calls, func(c string) bool {
				return strings.HasSuffix(c, ".Get") ||
					strings.HasSuffix(c, ".List")
			}); len(writes) > 0 {
				t.Errorf("%s: want no write, got %v", kind, writes)
			}
		}
	})
}

// What Azure finds missing is told with the field that names it.
func TestBlame(t *testing.T) {
	for _, c := range []struct {
		reason, field string
		change        func(*azurev1.AzureMachinePoolSpec)
	}{
		{"a subnet", "spec.template.networkInterfaces[0].subnetName", func(s *azurev1.AzureMachinePoolSpec) {
			s.Template.NetworkInterfaces = []azurev1.NetworkInterface{{SubnetName: "capz-node", PrivateIPConfigs: 1}}
		}},
		{"a subnet in its old place", "spec.template.subnetName", func(s *azurev1.AzureMachinePoolSpec) { s.Template.SubnetName = "nope" }},
		{"an image", "spec.template.image", func(s *azurev1.AzureMachinePoolSpec) {
			otherImage(s)
			s.Template.Image.ComputeGallery.Version = "0.0.1"
		}},
		{"a size", "spec.template.vmSize", func(s *azurev1.AzureMachinePoolSpec) { s.Template.VMSize = "Standard_Nope" }},
		{"an identity", "spec.userAssignedIdentities[0].providerID", func(s *azurev1.AzureMachinePoolSpec) {
			s.Identity = azurev1.VMIdentityUserAssigned
			s.UserAssignedIdentities = []azurev1.UserAssignedIdentity{{ProviderID: "azure:///subscriptions/" + simazure.SubscriptionID +
				"/resourceGroups/capz/providers/Microsoft.ManagedIdentity/userAssignedIdentities/nope"}}
		}},
	} {
		t.Run(c.reason, func(t *testing.T) {
			inModes(t, func(t *testing.T, w *world) {
				target := with(w.aTarget(), c.change)
				_, err := w.driver.Observe(t.Context(), target)
				if err == nil {
					err = w.driver.Start(t.Context(), target, pool.Step{Kind: pool.CreateGroup, Size: 1})
				}
				if got := fieldIn(err); got != c.field {
					t.Errorf("want an error about %s, got %q: %v", c.field, got, err)
				}
			})
		})
	}
}

// fieldIn is the field that an error is about.
func fieldIn(err error) string {
	var refused *cloud.Error
	if errors.As(err, &refused) {
		return refused.Field
	}
	return ""
}

// A machine that was deallocated has not failed: Azure's word for it is passed on.
func TestStopped(t *testing.T) {
	inModes(t, func(t *testing.T, w *world) {
		target := w.aTarget()
		o := w.create(target, 1)
		if o.Instances[0].Stopped != "" {
			t.Errorf("want nothing of a machine that runs, got %+v", o.Instances[0])
		}
		if err := w.cloud.Deallocate(o.Instances[0].ProviderID); err != nil {
			t.Fatal(err)
		}
		settle()
		if i := w.observe(target).Instances[0]; i.Stopped != "deallocated" || i.CloudState != "Succeeded" || i.State != pool.Failed {
			t.Errorf("want a machine that is deallocated, got %+v", i)
		}
	})
}

// Azure's own word on a machine is passed on. One that it is changing takes no other change.
func TestWords(t *testing.T) {
	inModes(t, func(t *testing.T, w *world) {
		target := w.aTarget()
		o := w.create(target, 1)
		w.start(target, pool.Step{Kind: pool.Protect, Targets: []pool.InstanceRef{{ID: o.Instances[0].ID}}})
		if i := w.observe(target).Instances[0]; i.CloudState != "Updating" || !i.Updating || i.State != pool.Running {
			t.Errorf("want a machine that runs and is being changed, got %+v", i)
		}
		settle()
		if i := w.observe(target).Instances[0]; i.CloudState != "Succeeded" || i.Updating || i.State != pool.Running {
			t.Errorf("want a machine that runs, got %+v", i)
		}
	})
}

// Azure may accept a request to give machines the extensions of their scale set and ignore it. Only the extensions that a machine shows
// count: the request is repeated until they match, and for half an hour if a machine shows foreign extensions, which prove nothing.
func TestExtensionsThatAreIgnored(t *testing.T) {
	inWorld(t, azurev1.FlexibleOrchestrationMode, func(t *testing.T, w *world) {
		extended := func(list ...azurev1.VMExtension) azure.Target {
			return with(w.aTarget(), func(s *azurev1.AzureMachinePoolSpec) { s.Template.VMExtensions = list })
		}
		monitor := azurev1.VMExtension{Name: "monitor", Publisher: "Microsoft.Azure.Monitor", Version: "1.0"}
		w.create(extended(), 1)
		for _, step := range []struct {
			reason string
			target azure.Target
		}{
			{"an extension is added", extended(monitor)},
			{"it is removed", extended()},
		} {
			w.start(step.target, pool.Step{Kind: pool.UpdateGroup, Fields: w.observe(step.target).Group.Drift})
			settle()
			behind := func() bool {
				t.Helper()
				o := w.observe(step.target)
				return len(chosen(o, func(i pool.Instance) bool { return len(i.InPlaceDrift) > 0 })) > 0
			}
			apply := func() (writes []string) {
				t.Helper()
				o := w.observe(step.target)
				defer time.Sleep(5 * time.Minute)
				return slices.DeleteFunc(w.wire.during(func() {
					w.start(step.target, pool.Step{Kind: pool.Apply, Targets: chosen(o, func(pool.Instance) bool { return true })})
				}), func(c string) bool { return strings.HasSuffix(c, ".Get") || strings.HasSuffix(c, ".List") })
			}
			tag, give := []string{"compute:VirtualMachines.Update"}, []string{"compute:VirtualMachineScaleSets.UpdateInstances"}
			w.fault(sim.Fault{Kind: sim.Ignore, Service: "compute", Action: "VirtualMachineScaleSets_UpdateInstances"})
			for k, want := range [][]string{tag, give, give, give} {
				if got := apply(); !slices.Equal(got, want) || !behind() {
					t.Errorf("%s, ignored, request %d: want %v of a machine that is behind, got %v, behind: %t", step.reason, k, want, got, behind())
				}
			}
			w.calm()
			for k, want := range [][]string{give, tag} {
				if got := apply(); !slices.Equal(got, want) {
					t.Errorf("%s, heeded, request %d: want %v, got %v", step.reason, k, want, got)
				}
			}
			if behind() {
				t.Errorf("%s: want the machine as it is wanted, got it behind", step.reason)
			}
		}
	})
}

// TestImageIsNamed holds that a changed image is told from other changes.
func TestImageIsNamed(t *testing.T) {
	inModes(t, func(t *testing.T, w *world) {
		w.create(w.aTarget(), 1)
		got := w.observe(with(w.aTarget(), otherImage)).Instances[0].TemplateDiff
		if want := w.driver.Traits().ImageFields; !slices.Equal(got, want) {
			t.Errorf("want %v, got %v", want, got)
		}
	})
}
