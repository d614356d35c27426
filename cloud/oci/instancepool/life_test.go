package instancepool_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	ociv1 "github.com/muster-project/muster/api/oci/v1beta2"
	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/oci/core"
	"github.com/muster-project/muster/cloud/oci/launch"
	"github.com/muster-project/muster/cloud/oci/session"
	"github.com/muster-project/muster/pool"
	"github.com/muster-project/muster/sim"
	"github.com/muster-project/muster/sim/oci"
	"github.com/muster-project/muster/sim/oci/compute"
)

// client returns a client of another tool.
func (w *world) client() core.Client {
	w.Helper()
	sessions, err := session.New(session.Options{Endpoint: endpoint, Directory: "/nonexistent", Base: sim.Transport{Handler: w.cloud}})
	if err != nil {
		w.Fatal(err)
	}
	cluster := w.target.Spec.Cluster
	cluster.Identity = identity(otherTool)
	made, err := sessions.Of(cluster)
	if err != nil {
		w.Fatal(err)
	}
	return made.Core
}

// instancePool reads the pool as another tool does.
func (w *world) instancePool(o pool.Observed) core.InstancePool {
	w.Helper()
	answer, err := w.client().GetInstancePool(w.Context(), core.GetInstancePoolRequest{InstancePoolId: new(ocidOf(o))})
	if err != nil {
		w.Fatal(err)
	}
	return answer.Body
}

func ocidOf(o pool.Observed) string { return strings.TrimPrefix(o.Group.ID, "oci://") }

func (w *world) templates() (names []string) {
	for _, t := range w.cloud.GroupSnapshot().Templates {
		names = append(names, t.Name)
	}
	return names
}

// TestNamesDecideNothing holds that pools and configurations of names that begin alike never meet: the existing provider takes those of
// mp-gpu for former ones of mp.
func TestNamesDecideNothing(t *testing.T) {
	inWorld(t, oci.Options{}, func(w *world) {
		w.create(1)
		gpu := *w
		gpu.target.Owner.ID, gpu.target.Owner.Name, gpu.target.GroupID = "owner-of-gpu", poolName+"-gpu", ""
		other := gpu.create(1)
		w.start(pool.Step{Kind: pool.DeleteGroup})
		w.releaseAll()
		w.start(pool.Step{Kind: pool.DeleteTemplates})
		if o := w.observe(); o.Group != nil || len(o.Versions) > 0 {
			w.Errorf("want nothing left of the pool, got %+v", o)
		}
		if diff := cmp.Diff(other.Versions, gpu.observe().Versions); diff != "" {
			w.Errorf("the configurations of the other pool (-want +got):\n%s", diff)
		}
		if o := gpu.observe(); o.Group == nil || len(o.Instances) != 1 {
			w.Errorf("want the other pool as it was, got %+v", o)
		}
	})
}

// TestRollout replaces the instances of another configuration: the pool points to it first, and the former one goes last.
func TestRollout(t *testing.T) {
	inWorld(t, oci.Options{}, func(w *world) {
		before := w.create(2)
		w.change(func(s source) { s.Pool.InstanceConfiguration.Shape = "VM.Standard.E5.Flex" })
		o := w.start(pool.Step{Kind: pool.PutTemplate})
		for _, i := range o.Instances {
			if diff := cmp.Diff([]string{launch.FieldShape}, i.TemplateDiff); diff != "" || i.Template.Same(o.Wanted) {
				w.Errorf("want a stale instance that differs in its shape (-want +got):\n%s", diff)
			}
		}
		if err := w.try(pool.Step{Kind: pool.PruneTemplates, Refs: []string{before.Group.Template}}); cloud.KindOf(err) != cloud.Conflict {
			w.Errorf("want the configuration kept that the pool launches from, got %v", err)
		}
		o = w.start(pool.Step{Kind: pool.UpdateGroup, Template: o.Versions[0].Ref})
		if err := w.try(pool.Step{Kind: pool.PruneTemplates, Refs: []string{before.Group.Template}}); cloud.KindOf(err) != cloud.Conflict {
			w.Errorf("want the configuration kept that instances were launched from, got %v", err)
		}
		for range before.Instances {
			stale := slices.IndexFunc(o.Instances, func(i pool.Instance) bool { return !i.Template.Same(o.Wanted) })
			if err := w.try(pool.Step{Kind: pool.Replace, Targets: targets(o, stale)}); err != nil {
				w.Fatal(err)
			}
			w.releaseAll()
			o = w.observe()
		}
		if len(o.Instances) != 2 || o.Group.Size != 2 || slices.ContainsFunc(o.Instances, func(i pool.Instance) bool {
			return !i.Template.Same(o.Wanted) || i.State != pool.Running
		}) {
			w.Errorf("want two instances of the desired configuration, got %+v", o.Instances)
		}
		w.start(pool.Step{Kind: pool.PruneTemplates, Refs: []string{before.Group.Template}})
		if list := w.templates(); len(list) != 1 {
			w.Errorf("want one configuration left, got %v", list)
		}
	})
}

// releaseAll releases what the hook holds until nothing is held, and waits for what that brings.
func (w *world) releaseAll() {
	w.Helper()
	<-time.After(time.Minute)
	for _, i := range w.observe().Instances {
		if i.LifecycleHook != nil {
			if err := w.try(pool.Step{Kind: pool.Release, Targets: []pool.InstanceRef{{ID: i.ID}}}); err != nil {
				w.Fatal(err)
			}
		}
	}
	settle()
}

// TestScaleInOfTheConsoleIsHeld holds that an instance which a size by hand takes is held for its drain, and goes once it is released.
func TestScaleInOfTheConsoleIsHeld(t *testing.T) {
	for _, on := range [][]sim.Switch{nil, {compute.HooksScaleInOnly}, {compute.ShowsAwaiting}} {
		t.Run("", func(t *testing.T) {
			inWorld(t, oci.Options{Switches: on}, func(w *world) {
				w.create(3)
				w.byHand(sim.SetSize, sim.Resource{Name: w.groupName(), Size: 2})
				<-time.After(10 * time.Second)
				held := func(o pool.Observed) (ids []string) {
					for _, i := range o.Instances {
						if i.LifecycleHook != nil && i.State == pool.Terminating {
							ids = append(ids, i.ID)
						}
					}
					return ids
				}
				o := w.observe()
				if len(held(o)) != 1 || o.Group.Size != 2 || o.Group.Busy != nil {
					w.Fatalf("want one instance held, and the pool not busy for it, got %+v with %+v", o.Group, o.Instances)
				}
				w.again()
				if diff := cmp.Diff(held(o), held(w.observe())); diff != "" {
					w.Errorf("what a new process observes (-want +got):\n%s", diff)
				}
				gone := held(o)[0]
				w.releaseAll()
				o = w.observe()
				if len(o.Instances) != 2 || slices.ContainsFunc(o.Instances, func(i pool.Instance) bool { return i.ID == gone }) {
					w.Errorf("want %s gone, got %+v", gone, o.Instances)
				}
			})
		})
	}
}

// TestHookIsKept holds that a hook of another tool stays as it is, and that one that does nothing is repaired.
func TestHookIsKept(t *testing.T) {
	inWorld(t, oci.Options{}, func(w *world) {
		o := w.create(1)
		action := &core.InstancePoolPreTerminationActionDetails{IsEnabled: new(true), Timeout: new(60),
			OnTimeout: &core.InstancePoolPreTerminationActionHandleTimeoutDetails{PreserveBootVolumeMode: new("PRESERVE_ALWAYS"),
				PreserveBlockVolumeMode: new("PRESERVE_ON_TIMEOUT")}}
		put := func() {
			if _, err := w.client().UpdateInstancePool(w.Context(), core.UpdateInstancePoolRequest{InstancePoolId: new(ocidOf(o)),
				Body: &core.UpdateInstancePoolDetails{LifecycleManagement: &core.InstancePoolLifecycleManagementDetails{
					LifecycleActions: &core.InstancePoolLifecycleActionsDetails{PreTermination: action}}}}); err != nil {
				w.Fatal(err)
			}
		}
		put()
		w.again()
		if is := w.observe(); len(is.Group.Drift) > 0 {
			w.Errorf("want the hook of another tool left as it is, got %v", is.Group.Drift)
		}
		w.start(pool.Step{Kind: pool.Resize, Size: 2})
		if diff := cmp.Diff(action, w.instancePool(o).LifecycleManagement.LifecycleActions.PreTermination); diff != "" {
			w.Errorf("the hook after a write of Muster (-want +got):\n%s", diff)
		}
		action.IsEnabled = new(false)
		put()
		w.again()
		is := w.observe()
		if diff := cmp.Diff([]string{"lifecycleManagement"}, is.Group.Drift); diff != "" {
			w.Errorf("the drift (-want +got):\n%s", diff)
		}
		if is = w.start(pool.Step{Kind: pool.UpdateGroup, Fields: is.Group.Drift}); len(is.Group.Drift) > 0 {
			w.Errorf("want the hook repaired, got %v", is.Group.Drift)
		}
	})
}

// TestOthersSettingsAreKept holds that no write of Muster changes what another tool has set on the pool.
func TestOthersSettingsAreKept(t *testing.T) {
	inWorld(t, oci.Options{Switches: []sim.Switch{compute.TagDefaults}}, func(w *world) {
		o := w.create(2)
		theirs := &core.UpdateInstancePoolDetails{
			OverridePolicy:               map[string]any{"type": "LAUNCH_OPTIONS", "order": []any{"a", "b"}},
			InstanceDisplayNameFormatter: new("n-${launchCount}"),
			FreeformTags:                 map[string]string{"theirs": "x"}, DefinedTags: map[string]map[string]any{"theirs": {"a": "b"}},
		}
		for key, value := range w.instancePool(o).FreeformTags {
			theirs.FreeformTags[key] = value
		}
		put := core.UpdateInstancePoolRequest{InstancePoolId: new(ocidOf(o)), Body: theirs}
		if _, err := w.client().UpdateInstancePool(w.Context(), put); err != nil {
			w.Fatal(err)
		}
		before := w.instancePool(o)
		w.change(func(s source) {
			s.Cluster.FreeformTags["stage"] = "test"
			s.Cluster.DefinedTags = map[string]map[string]string{"ours": {"c": "d"}}
		})
		is := w.observe()
		if diff := cmp.Diff([]string{"freeformTags", "definedTags"}, is.Group.Drift); diff != "" {
			w.Fatalf("the drift (-want +got):\n%s", diff)
		}
		w.start(pool.Step{Kind: pool.UpdateGroup, Fields: is.Group.Drift})
		w.start(pool.Step{Kind: pool.Resize, Size: 3, Surge: 1})
		after := w.instancePool(o)
		before.Size, before.CurrentSize = new(3), new(3)
		before.FreeformTags["stage"], before.FreeformTags[launch.TagSurge] = "test", "1/3"
		before.DefinedTags["ours"] = map[string]any{"c": "d"}
		if diff := cmp.Diff(before, after); diff != "" {
			w.Errorf("the pool after writes of Muster (-want +got):\n%s", diff)
		}
		if is := w.observe(); is.Group.Surge != 1 {
			w.Errorf("want the surge recorded, got %+v", is.Group)
		}
	})
}

// TestPlacementIsApplied takes a domain away: the pool is changed, and instances there are asked to go.
func TestPlacementIsApplied(t *testing.T) {
	inWorld(t, oci.Options{}, func(w *world) {
		w.create(3)
		w.change(func(s source) {
			s.Pool.PlacementDetails = []ociv1.PlacementDetails{{AvailabilityDomain: 1}, {AvailabilityDomain: 3}}
		})
		o := w.observe()
		if diff := cmp.Diff([]string{"spec.placementDetails"}, o.Group.Drift); diff != "" {
			w.Fatalf("the drift (-want +got):\n%s", diff)
		}
		if err := w.try(pool.Step{Kind: pool.UpdateGroup, Fields: o.Group.Drift}); err != nil {
			w.Fatal(err)
		}
		<-time.After(10 * time.Second)
		o = w.observe()
		for _, i := range o.Instances {
			outside := strings.HasSuffix(i.Zone, "-AD-2")
			if outside != (i.LifecycleHook != nil) {
				w.Errorf("want the instances outside held alone, got %+v", i)
			}
		}
		w.releaseAll()
		o = w.observe()
		if len(o.Instances) != 3 || slices.ContainsFunc(o.Instances, func(i pool.Instance) bool { return strings.HasSuffix(i.Zone, "-AD-2") }) {
			w.Errorf("want three instances in the other domains, got %+v", o.Instances)
		}
	})
}

// TestRenamedPoolIsKept holds that a pool that was renamed in the console stays the pool's, and gets its name back.
func TestRenamedPoolIsKept(t *testing.T) {
	inWorld(t, oci.Options{}, func(w *world) {
		o := w.create(1)
		if _, err := w.client().UpdateInstancePool(w.Context(), core.UpdateInstancePoolRequest{InstancePoolId: new(ocidOf(o)),
			Body: &core.UpdateInstancePoolDetails{DisplayName: new("theirs")}}); err != nil {
			w.Fatal(err)
		}
		w.again()
		is := w.observe()
		if is.Group == nil || !slices.Equal(is.Group.Drift, []string{"displayName"}) {
			w.Fatalf("want the pool with another name, got %+v", is.Group)
		}
		if is = w.start(pool.Step{Kind: pool.UpdateGroup, Fields: is.Group.Drift}); len(is.Group.Drift) > 0 || is.Group.ID != o.Group.ID {
			w.Errorf("want the name back, got %+v", is.Group)
		}
	})
}

// TestPoolOfAGPUMemoryClusterIsLeftAlone holds that a pool which another service manages is neither changed nor deleted.
func TestPoolOfAGPUMemoryClusterIsLeftAlone(t *testing.T) {
	inWorld(t, oci.Options{}, func(w *world) {
		w.create(1)
		w.changed(func(s *compute.Service) error { return s.SetType(w.groupName(), "GMC") })
		_, err := w.driver.Observe(w.Context(), w.target)
		if cloud.CodeOf(err) != "GPUMemoryCluster" {
			w.Errorf("want an error, got %v", err)
		}
		if err := w.try(pool.Step{Kind: pool.DeleteGroup}); cloud.CodeOf(err) != "GPUMemoryCluster" {
			w.Errorf("want the deletion refused, got %v", err)
		}
	})
}

// TestStoppedPoolIsNoFailure holds that a pool that was stopped is reported and goes on when it is started.
func TestStoppedPoolIsNoFailure(t *testing.T) {
	inWorld(t, oci.Options{}, func(w *world) {
		before := w.create(2)
		w.byHand(sim.StopGroup, sim.Resource{Name: w.groupName()})
		settle()
		o := w.observe()
		if o.Group == nil || o.Group.State != "STOPPED" || o.Instances[0].State != pool.Failed || o.Instances[0].Stopped != "STOPPED" ||
			!slices.ContainsFunc(o.Issues, func(i pool.Cause) bool { return i.Reason == "PoolStopped" }) {
			w.Errorf("want a stopped pool, and why it launches nothing, got %+v with %+v and %v", o.Group, o.Instances, o.Issues)
		}
		w.byHand(sim.StartGroup, sim.Resource{Name: w.groupName()})
		settle()
		if diff := cmp.Diff(before.Instances, w.observe().Instances); diff != "" {
			w.Errorf("the instances of a pool that was started again (-want +got):\n%s", diff)
		}
	})
}

// TestFailuresInOCIsWords holds that the observation tells why instances do not come, as work requests have it.
func TestFailuresInOCIsWords(t *testing.T) {
	for _, c := range []struct {
		name, reason, words string
		options             oci.Options
		change              func(source)
	}{
		{"limit", "Capacity", "The following service limits were exceeded: standard-e4-core-count",
			oci.Options{Limits: map[string]int{flexible: 0}}, func(source) {}},
		{"image", "Invalid", "Image \"ocid1.image.oc1.iad.nope\" was not found", oci.Options{}, func(s source) {
			s.Pool.InstanceConfiguration.InstanceSourceViaImageConfig.ImageID = new("ocid1.image.oc1.iad.nope")
		}},
		{"one work request", "Invalid", "Image \"ocid1.image.oc1.iad.nope\" was not found",
			oci.Options{Switches: []sim.Switch{compute.KeepsWorkRequests}}, func(s source) {
				s.Pool.InstanceConfiguration.InstanceSourceViaImageConfig.ImageID = new("ocid1.image.oc1.iad.nope")
			}},
	} {
		t.Run(c.name, func(t *testing.T) {
			inWorld(t, c.options, func(w *world) {
				w.change(c.change)
				o := w.start(pool.Step{Kind: pool.PutTemplate})
				o = w.start(pool.Step{Kind: pool.CreateGroup, Size: 1, Template: o.Latest().Ref})
				if !slices.ContainsFunc(o.Issues, func(i pool.Cause) bool { return i.Reason == c.reason && strings.Contains(i.Message, c.words) }) {
					w.Errorf("want %s with %q, got %v", c.reason, c.words, o.Issues)
				}
				if o.Group.Busy != nil {
					w.Errorf("want a pool whose launches fail not to count as busy, got %v", o.Group.Busy)
				}
			})
		})
	}
}

// TestDenialIsNotGone holds that a 404 of a read never reads as a pool that is gone.
func TestDenialIsNotGone(t *testing.T) {
	for _, action := range []string{"GetInstancePool", "ListInstancePools", "ListInstancePoolInstances", "ListInstanceConfigurations"} {
		t.Run(action, func(t *testing.T) {
			inWorld(t, oci.Options{}, func(w *world) {
				w.create(1)
				denied := w.cloud.GroupCapabilities().Denied
				denied.Kind, denied.Service, denied.Action = sim.ErrorBefore, compute.Name, action
				if err := w.cloud.Faults().Add(denied); err != nil {
					w.Fatal(err)
				}
				for _, again := range []bool{false, true} {
					if again {
						w.again()
					}
					target := w.target
					target.Cache.MaxAge = cloud.NoSharedCache
					o, err := w.driver.Observe(w.Context(), target)
					unmet := new(cloud.SpecUnsatisfiableError)
					if err == nil && o.Group == nil || errors.As(err, &unmet) {
						w.Errorf("want an error or the pool, got %+v, %v", o.Group, err)
					}
				}
			})
		})
	}
}
