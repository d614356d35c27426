package instancegroup_test

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/muster-project/muster/api/common"
	gcpv1 "github.com/muster-project/muster/api/gcp/v1beta1"
	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/gcp/instancegroup"
	"github.com/muster-project/muster/pool"
	"github.com/muster-project/muster/sim"
	"github.com/muster-project/muster/sim/gcp/compute"
)

// TestRevert holds that a specification that is wanted again finds the template that it had: the group is pointed back at it, and no
// machine of it is stale.
func TestRevert(t *testing.T) {
	inWorld(t, []string{zone}, func(w *world) {
		first := w.create(2)
		spec1 := w.target.Spec
		w.target.Spec = spec(func(s *gcpv1.GCPMachinePoolSpec) { s.InstanceType = "n2-standard-4" })(spec1)
		w.start(pool.Step{Kind: pool.PutTemplate})
		second := w.observe()
		w.start(pool.Step{Kind: pool.UpdateGroup, Template: second.Latest().Ref})
		w.target.Spec = spec1
		o := w.observe()
		if o.Latest().Ref != first.Latest().Ref || !o.Latest().Same(o.Wanted) || o.Group.Template != second.Latest().Ref {
			w.Fatalf("want the first template wanted again, got %+v", o)
		}
		w.start(pool.Step{Kind: pool.UpdateGroup, Template: o.Latest().Ref})
		w.start(pool.Step{Kind: pool.PruneTemplates, Refs: []string{second.Latest().Ref}})
		o = w.observe()
		if len(o.Versions) != 1 || o.Group.Template != first.Latest().Ref || !slices.Equal(idsOf(o), idsOf(first)) {
			w.Errorf("want one template and the machines kept, got %+v", o)
		}
	})
}

func idsOf(o pool.Observed) []string {
	var ids []string
	for _, i := range o.Instances {
		ids = append(ids, i.ID)
	}
	return ids
}

// TestPolicyOfOthers holds that an update policy by which Compute Engine would replace machines by itself is named and put back.
func TestPolicyOfOthers(t *testing.T) {
	inWorld(t, []string{"us-central1-a", "us-central1-b", "us-central1-c"}, func(w *world) {
		o := w.create(3)
		name := w.cloud.State().Groups[0].Name
		for _, policy := range []map[string]any{{"type": "PROACTIVE"}, {"instanceRedistributionType": "PROACTIVE"}} {
			if err := w.cloud.SetPolicy(compute.Policy{Group: name, Policy: policy}); err != nil {
				w.Fatal(err)
			}
			o = w.observe()
			if !slices.Equal(o.Group.Drift, []string{"updatePolicy"}) {
				w.Fatalf("want the policy named, got %v", o.Group.Drift)
			}
			w.start(pool.Step{Kind: pool.UpdateGroup, Fields: o.Group.Drift})
			if o = w.observe(); len(o.Group.Drift) > 0 {
				w.Errorf("want the policy put back, got %v", o.Group.Drift)
			}
		}
	})
}

// TestChangedSinceItWasRead holds that a group is changed only as it was read: what another client has changed meanwhile is read first.
func TestChangedSinceItWasRead(t *testing.T) {
	inWorld(t, []string{zone}, func(w *world) {
		w.create(1)
		path := "zones/" + zone + "/instanceGroupManagers/" + w.cloud.State().Groups[0].Name
		others := map[string]any{"instanceLifecyclePolicy": map[string]any{"forceUpdateOnRepair": "YES"}}
		w.send(http.MethodPatch, path, others)
		o := w.observe()
		others["autoHealingPolicies"] = []any{map[string]any{"healthCheck": "projects/" + project + "/global/healthChecks/" + healthCheck}}
		w.send(http.MethodPatch, path, others)
		repair := pool.Step{Kind: pool.UpdateGroup, Fields: o.Group.Drift}
		if err := w.driver.Start(w.Context(), w.target, repair); len(o.Group.Drift) != 1 || cloud.KindOf(err) != cloud.Conflict {
			w.Fatalf("want %v not repaired in a group that has changed since, got %v", o.Group.Drift, err)
		}
		repair.Fields = w.observe().Group.Drift
		w.start(repair)
		if o = w.observe(); len(repair.Fields) != 2 || len(o.Group.Drift) > 0 {
			w.Errorf("want both fields read and repaired, got %v, and %v left", repair.Fields, o.Group.Drift)
		}
	})
}

// TestSizeByAnOlderList holds that a group is not made smaller by a list of instances that is older than the group's own count: Compute
// Engine would choose which go.
func TestSizeByAnOlderList(t *testing.T) {
	inWorld(t, []string{zone}, func(w *world) {
		w.create(2)
		w.start(pool.Step{Kind: pool.Resize, Size: 3})
		settle()
		if err := w.cloud.Faults().Add(sim.Fault{Kind: sim.Stale, Action: "*.listManagedInstances",
			Delay: sim.Duration(2*within + time.Second)}); err != nil {
			w.Fatal(err)
		}
		if o := w.observe(); o.Group.Size != 3 || len(o.Instances) != 2 {
			w.Fatalf("want a list that is older than the group, got %+v", o)
		}
		if err := w.driver.Start(w.Context(), w.target, pool.Step{Kind: pool.Resize, Size: 2}); cloud.KindOf(err) != cloud.Conflict {
			w.Errorf("want no size below the instances that the group counts, got %v", err)
		}
	})
}

// TestVersionsOfOthers holds that a second template from which another client has the group make some of its instances is named and taken
// off: the instances would be stale, be replaced, and be made from it again.
func TestVersionsOfOthers(t *testing.T) {
	inWorld(t, []string{zone}, func(w *world) {
		o := w.create(2)
		own, name := o.Group.Template, w.cloud.State().Groups[0].Name
		w.otherTools("other", clusterName)
		w.send(http.MethodPatch, "zones/"+zone+"/instanceGroupManagers/"+name, map[string]any{"versions": []map[string]any{
			{"instanceTemplate": "global/instanceTemplates/" + own}, {"instanceTemplate": "global/instanceTemplates/mp-0-0123456789abcdef",
				"targetSize": map[string]any{"fixed": 1}},
		}})
		settle()
		if o = w.observe(); !slices.Equal(o.Group.Drift, []string{"versions"}) || o.Group.Template != own {
			w.Fatalf("want the versions named, got %v and %s", o.Group.Drift, o.Group.Template)
		}
		w.start(pool.Step{Kind: pool.UpdateGroup, Fields: o.Group.Drift})
		if o = w.observe(); len(o.Group.Drift) > 0 || o.Group.Template != own {
			w.Errorf("want one version, got %v and %s", o.Group.Drift, o.Group.Template)
		}
	})
}

// TestRecreatedInstance holds that a removal of an instance takes none that has been given its name since.
func TestRecreatedInstance(t *testing.T) {
	inWorld(t, []string{zone}, func(w *world) {
		before := w.create(2)
		gone := before.Instances[0]
		if err := w.cloud.Terminate(gone.ID); err != nil {
			w.Fatal(err)
		}
		settle()
		o := w.observe()
		if len(o.Instances) != 2 || slices.Contains(idsOf(o), gone.ID) ||
			!slices.ContainsFunc(o.Instances, func(i pool.Instance) bool { return i.ProviderID == gone.ProviderID }) {
			w.Fatalf("want another instance of the same name, got %+v", o.Instances)
		}
		w.start(pool.Step{Kind: pool.Remove, Targets: []pool.InstanceRef{{ID: gone.ID, UID: gone.UID}}})
		if after := w.observe(); after.Group.Size != 2 || !slices.Equal(idsOf(after), idsOf(o)) {
			w.Errorf("want both instances kept, got %+v", after.Instances)
		}
	})
}

// TestGroupOfAllZones holds that a pool which names no zones has its instances in all zones of its cluster.
func TestGroupOfAllZones(t *testing.T) {
	inWorld(t, nil, func(w *world) {
		w.target.Spec.Pool.DistributionPolicy = nil
		w.target.Spec.Cluster.FailureDomains = []string{"us-central1-c", "us-central1-a", "us-central1-b"}
		o := w.create(3)
		zones := map[string]bool{}
		for _, i := range o.Instances {
			zones[i.Zone] = true
		}
		if len(zones) != 3 || !strings.Contains(o.Group.ID, "/regions/"+region+"/") ||
			len(o.Group.Unchangeable)+len(o.Group.Drift)+len(o.Issues) > 0 {
			w.Errorf("want an instance in each zone, got %v and %+v", zones, o.Group)
		}
	})
}

// TestZonesOfTheClusterChange holds that a group stays where it is, and that its place is found again without a memory.
func TestZonesOfTheClusterChange(t *testing.T) {
	inWorld(t, nil, func(w *world) {
		w.target.Spec.Cluster.FailureDomains = []string{zone}
		w.target.Spec.Pool.DistributionPolicy = nil
		o := w.create(1)
		w.target.Spec.Cluster.FailureDomains = []string{"us-central1-a", "us-central1-b"}
		for _, found := range []func(*instancegroup.Target){
			func(t *instancegroup.Target) { t.GroupID = o.Group.ID },
			func(t *instancegroup.Target) { t.Remembered = o.ResolvedLookups },
		} {
			other := *w
			found(&other.target)
			again := other.observe()
			if again.Group == nil || again.Group.ID != o.Group.ID ||
				!slices.Equal(again.Group.Unchangeable, []string{"spec.distributionPolicy.zones"}) {
				w.Errorf("want the group found where it is, and the zones named, got %+v", again.Group)
			}
		}
		if got := w.observe(); got.Group != nil {
			w.Errorf("want a group of the region for a pool that remembers nothing, got %+v", got.Group)
		}
	})
}

// TestSpotIsLookedAtOften holds that capacity which may be taken back is told.
func TestSpotIsLookedAtOften(t *testing.T) {
	inWorld(t, []string{zone}, func(w *world) {
		w.target.Spec = spec(func(s *gcpv1.GCPMachinePoolSpec) { s.ProvisioningModel = new(gcpv1.ProvisioningSpot) })(w.target.Spec)
		o := w.create(1)
		if !o.ShortNotice {
			w.Error("want the pool observed more often")
		}
		if err := w.cloud.Preempt(o.Instances[0].ID); err != nil {
			w.Fatal(err)
		}
		if i := w.observe().Instances[0]; i.TerminationNotice == nil && i.State == pool.Running {
			w.Errorf("want it told that the machine goes, got %+v", i)
		}
	})
}

// TestSharedLooks holds what looks cost: two reads for one pool, and next to none for one of many at rest.
func TestSharedLooks(t *testing.T) {
	const pools, looks = 40, 5
	inWorld(t, []string{zone}, func(w *world) {
		var all []*world
		for n := range pools {
			one := w.as(w.beside(fmt.Sprintf("mp-%d", n)))
			one.target.Remembered = one.create(2).ResolvedLookups
			all = append(all, one)
		}
		for _, one := range all {
			one.observe() // the pools were made over days, and templates are listed every few hours
		}
		if got := w.calls.during(func() { all[0].observe() }); !slices.Equal(got,
			[]string{"instanceGroupManagers.get", "instanceGroupManagers.listManagedInstances"}) {
			w.Errorf("want two reads for a new look, got %v", got)
		}
		round := func() []string {
			time.Sleep(100 * time.Second)
			return w.calls.during(func() {
				for _, one := range all {
					one.target.Cache.MaxAge = 20 * time.Second
					if o := one.observe(); len(o.Instances) != 2 || o.Instances[0].Created.IsZero() {
						w.Errorf("want both machines, got %+v", o.Instances)
					}
				}
			})
		}
		round() // afterwards it is known who asks
		var sent []string
		for range looks {
			sent = append(sent, round()...)
		}
		t.Logf("%d looks at pools at rest: %d calls, %.3f each", pools*looks, len(sent), float64(len(sent))/(pools*looks))
		if len(sent) > 2*looks {
			w.Errorf("want lists that all pools share, got %d calls: %v", len(sent), sent)
		}
	})
}

// TestLostGroup holds that a group is never taken for gone while its zone can't be read.
func TestLostGroup(t *testing.T) {
	inWorld(t, []string{zone}, func(w *world) {
		w.create(1)
		if err := w.cloud.SetReachable(compute.Scope{Scope: "zones/" + zone}); err != nil {
			w.Fatal(err)
		}
		for _, age := range []time.Duration{0, time.Second, cloud.NoSharedCache} {
			w.target.Cache.MaxAge = age
			time.Sleep(2 * time.Second)
			if o, err := w.driver.Observe(w.Context(), w.target); err == nil {
				w.Errorf("want a look that failed, got %+v", o)
			}
		}
	})
}

// TestRepairIsNoDeletion holds that a group which creates its only instance again is not taken for one that is being deleted.
func TestRepairIsNoDeletion(t *testing.T) {
	inWorld(t, []string{zone}, func(w *world) {
		o := w.create(1)
		if err := w.cloud.RecreateByHand(o.Instances[0].ID); err != nil {
			w.Fatal(err)
		}
		for range 20 {
			if o = w.observe(); o.Group.Deleting || o.Group.Size != 1 {
				w.Fatalf("want a group that repairs its instance, got %+v", o.Group)
			}
			time.Sleep(time.Second)
		}
	})
}

// TestRotatedCredentials holds that other credentials make no look-up again: the newest image of a family would replace every machine.
func TestRotatedCredentials(t *testing.T) {
	inWorld(t, []string{zone}, func(w *world) {
		w.target.Spec = spec(func(s *gcpv1.GCPMachinePoolSpec) { s.Image, s.ImageFamily = nil, new(family) })(w.target.Spec)
		o := w.create(1)
		if err := w.cloud.PutImage(compute.Image{Project: project, Name: "newer", Family: "capi-ubuntu-2404-k8s-v1-34"}); err != nil {
			w.Fatal(err)
		}
		rotated := w.as(w.target)
		rotated.target.Remembered = o.ResolvedLookups
		changed := *w.target.Spec
		changed.Cluster.Identity = &gcpv1.IdentityView{Name: controller, Credentials: common.NewSecret("{}")}
		rotated.target.Spec = &changed
		if got := rotated.observe(); !got.Instances[0].Template.Same(got.Wanted) || !maps.Equal(got.ResolvedLookups, o.ResolvedLookups) {
			w.Errorf("want nothing stale, got %+v for %+v", got.Instances[0], got.Wanted)
		}
	})
}

// TestGroupMovesAfterItIsGone holds that a group which was deleted by hand is made where the specification wants it now, whatever the
// object names still.
func TestGroupMovesAfterItIsGone(t *testing.T) {
	inWorld(t, []string{zone}, func(w *world) {
		o := w.create(1)
		w.target.GroupID, w.target.Remembered = o.Group.ID, o.ResolvedLookups
		w.start(pool.Step{Kind: pool.DeleteGroup})
		w.target.Spec = spec(func(s *gcpv1.GCPMachinePoolSpec) { s.DistributionPolicy.Zones = []string{"us-central1-b"} })(w.target.Spec)
		o = w.observe()
		w.start(pool.Step{Kind: pool.CreateGroup, Size: 1, Template: o.Latest().Ref})
		if o = w.observe(); o.Group == nil || o.Instances[0].Zone != "us-central1-b" || len(o.Group.Unchangeable) > 0 {
			w.Errorf("want the group in the other zone, got %+v", o.Group)
		}
	})
}

// TestCreatedWithoutItsMachineType holds that a pool is created although the credentials do not allow to look its machine type up: only
// what its machines offer is unknown, which is told.
func TestCreatedWithoutItsMachineType(t *testing.T) {
	inWorld(t, []string{zone}, func(w *world) {
		denied := sim.Fault{Kind: sim.ErrorBefore, Action: "machineTypes.get", Code: "forbidden", Message: "no permission",
			Status: http.StatusForbidden}
		if err := w.cloud.Faults().Add(denied); err != nil {
			w.Fatal(err)
		}
		o := w.create(2)
		if o.Group == nil || len(o.Instances) != 2 || o.Capacity != nil {
			w.Errorf("want a group of two machines of unknown capacity, got %+v", o)
		}
		if len(o.Issues) != 1 || !strings.Contains(o.Issues[0].Message, "machineTypes.get") {
			w.Errorf("want the refused call told, got %+v", o.Issues)
		}
	})
}

// TestDeletedAndNotRepaired holds that an instance which another client has deleted, and which a group that repairs nothing does not create
// again, has failed: it is removed, and another one launched.
func TestDeletedAndNotRepaired(t *testing.T) {
	inWorld(t, []string{zone}, func(w *world) {
		w.target.Spec = spec(func(s *gcpv1.GCPMachinePoolSpec) {
			s.InstanceLifecyclePolicy = &gcpv1.InstanceLifecyclePolicy{DefaultActionOnFailure: gcpv1.ActionDoNothing}
		})(w.target.Spec)
		o := w.create(2)
		if err := w.cloud.Terminate(o.Instances[0].ID); err != nil {
			w.Fatal(err)
		}
		settle()
		o = w.observe()
		at := slices.IndexFunc(o.Instances, func(i pool.Instance) bool { return i.State == pool.Failed })
		if at < 0 || len(o.Instances) != 2 {
			w.Fatalf("want the deleted instance among those that failed, got %+v", o.Instances)
		}
		if why := o.Instances[at].DeletionRequested; why == nil || why.Reason != "InstanceDeleted" {
			w.Errorf("want its place to go, got %+v", why)
		}
		w.start(pool.Step{Kind: pool.Remove, Targets: []pool.InstanceRef{{ID: o.Instances[at].ID, UID: o.Instances[at].UID}}})
		if o = w.observe(); o.Group.Size != 1 || len(o.Instances) != 1 || o.Instances[0].State != pool.Running {
			w.Errorf("want its place gone with it, got %+v of %+v", o.Instances, o.Group)
		}
	})
}

// TestReadDetailsAreKept holds that a look which ends at a throttled read keeps what it has read of instances, and the next one goes on
// from there.
func TestReadDetailsAreKept(t *testing.T) {
	zones := []string{"us-central1-a", "us-central1-b"}
	inWorld(t, zones, func(w *world) {
		w.create(2)
		fresh, err := instancegroup.New(instancegroup.Options{Endpoint: endpoint, Base: sim.Transport{Handler: w.cloud}, Hook: w.calls})
		if err != nil {
			t.Fatal(err)
		}
		w.driver = fresh
		if err := w.cloud.Faults().Add(sim.Fault{Kind: sim.Throttle, Action: "instances.get", Skip: 1, Times: 1}); err != nil {
			t.Fatal(err)
		}
		if _, err := w.driver.Observe(w.Context(), w.target); err == nil {
			t.Fatal("want the look to end at the second instance")
		}
		settle()
		sent := w.calls.during(func() { w.observe() })
		if n := len(slices.DeleteFunc(sent, func(c string) bool { return !strings.Contains(c, "nstances.get") })); n != 1 {
			t.Errorf("want the instance read that was not, got %d reads", n)
		}
	})
}
