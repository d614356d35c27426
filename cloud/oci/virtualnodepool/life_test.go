package virtualnodepool_test

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	ociv1 "github.com/muster-project/muster/api/oci/v1beta2"
	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/oci/containerengine"
	domain "github.com/muster-project/muster/pool"
	"github.com/muster-project/muster/sim"
	"github.com/muster-project/muster/sim/oci"
	oke "github.com/muster-project/muster/sim/oci/containerengine"
)

// other asks for other virtual nodes.
func other(s *spec) {
	s.InitialVirtualNodeLabels = ociv1.NodeLabels{{Key: "tier", Value: "blue"}}
	s.Taints = []ociv1.Taint{{Key: "only", Value: "x", Effect: "NoSchedule"}, {Key: "also", Effect: "NoExecute"}}
	s.PodConfiguration = ociv1.PodConfig{Shape: new("Pod.Standard.E3.Flex"), SubnetName: new("other"),
		NSGNames: ociv1.SecurityGroupNames{"other"}}
	s.NSGNames = ociv1.SecurityGroupNames{"other"}
}

// TestSize: the size is set, and OKE selects the virtual nodes that go. The plan of a smaller pool is a size, without a drain.
func TestSize(t *testing.T) {
	for _, on := range []sim.Switches{nil, {oke.TakesOldest}, {oke.BusyPools}} {
		t.Run(fmt.Sprint(on), func(t *testing.T) {
			inWorld(t, oci.Options{Switches: on}, func(w *world) {
				w.start(domain.Step{Kind: domain.CreateGroup, Size: 2})
				w.start(domain.Step{Kind: domain.Resize, Size: 4})
				o := w.observe()
				if len(o.Instances) != 4 || o.Instances[0].Created.IsZero() || o.Group.Busy != nil {
					t.Fatalf("want four virtual nodes, got %+v", o)
				}
				s := domain.Decide(domain.Desired{Replicas: 1}, o, w.driver.Traits(), time.Now()).Step
				if s == nil || s.Kind != domain.Resize || s.Size != 1 {
					t.Fatalf("want a smaller size planned, got %+v", s)
				}
				w.start(*s)
				if o := w.observe(); len(o.Instances) != 1 || o.Group.Size != 1 {
					t.Errorf("want one virtual node left, got %+v", o.Instances)
				}
				if s := domain.Decide(domain.Desired{Replicas: 3, ReplicasManagedExternally: true}, w.observe(), w.driver.Traits(),
					time.Now()).Step; s != nil {
					t.Errorf("want the size of an autoscaler left alone, got %+v", s)
				}
				if err := w.try(domain.Step{Kind: domain.Remove, Targets: []domain.InstanceRef{{ID: o.Instances[0].ID}}}); err == nil {
					t.Error("want no virtual node removed by name")
				}
			})
		})
	}
}

// TestRollout: a change of what virtual nodes are made of has OKE cycle them, and no later update does.
func TestRollout(t *testing.T) {
	for _, on := range []sim.Switches{nil, {oke.CyclesAll}, {oke.CyclesOnRequest}, {oke.CyclesInUpdates}} {
		t.Run(fmt.Sprint(on), func(t *testing.T) {
			inWorld(t, oci.Options{Switches: on}, func(w *world) {
				w.start(domain.Step{Kind: domain.CreateGroup, Size: 2})
				before := w.observe()
				w.change(other)
				if o := w.observe(); stale(o) != 2 || len(o.Group.Drift) > 0 {
					t.Fatalf("want a rollout due and nothing to change in place, got %+v", o)
				}
				if err := w.try(domain.Step{Kind: domain.StartProviderRollout}); err != nil {
					t.Fatal(err)
				}
				o := w.observe()
				if r := o.ProviderRollout; !r.Runs() || !r.Template.Same(o.Wanted) || r.Percent != 0 || r.Started.IsZero() || o.Group.Busy != nil {
					t.Fatalf("want a rollout that runs, got %+v of %+v", r, o.Group)
				}
				settle()
				settle()
				o = w.observe()
				if stale(o) > 0 || len(o.Instances) != 2 || o.ProviderRollout != nil || slices.Contains(ids(before), o.Instances[0].ID) {
					t.Fatalf("want all virtual nodes replaced, got %+v", o)
				}
				is := w.shown()
				if got := is.PodConfiguration; *got.Shape != "Pod.Standard.E3.Flex" || *got.SubnetId != part("subnet", "other", "").ID ||
					!slices.Equal(got.NsgIds, []string{part("networksecuritygroup", "other", "").ID}) || len(is.Taints) != 2 ||
					*is.InitialVirtualNodeLabels[0].Key != "tier" || !slices.Equal(is.NsgIds, got.NsgIds) {
					t.Errorf("want all of it changed, got %+v of %+v", got, is)
				}
				w.start(domain.Step{Kind: domain.StartProviderRollout})
				w.start(domain.Step{Kind: domain.Resize, Size: 3})
				if now := w.observe(); len(now.Instances) != 3 || !slices.Contains(ids(now), o.Instances[0].ID) {
					t.Errorf("want no virtual node replaced without need, got %+v", now.Instances)
				}
				if how := w.shown().VirtualNodePoolCyclingDetails; how == nil || *how.IsVirtualNodeCyclingEnabled {
					t.Errorf("want no cycling by updates that do not ask for it, got %+v", how)
				}
				w.change(func(s *spec) { s.InitialVirtualNodeLabels, s.Taints = nil, nil })
				if o := w.observe(); stale(o) > 0 || len(o.Group.Drift) > 0 {
					t.Errorf("want what the specification does not name left as it is, got %+v", o.Group)
				}
			})
		})
	}
}

// TestRolloutFails: a failed cycling is told in OKE's words, and the next one goes on with it.
func TestRolloutFails(t *testing.T) {
	inWorld(t, oci.Options{}, func(w *world) {
		w.start(domain.Step{Kind: domain.CreateGroup, Size: 2})
		w.change(other)
		if err := w.try(domain.Step{Kind: domain.StartProviderRollout}); err != nil {
			t.Fatal(err)
		}
		<-time.After(time.Minute)
		if _, err := w.cloud.Capabilities().OutOfBand.Do(sim.FailRollout, sim.Resource{Cluster: clusterName, Name: "pool"}); err != nil {
			t.Fatal(err)
		}
		o := w.observe()
		if r := o.ProviderRollout; r == nil || r.State != domain.ProviderRolloutFailed || !strings.Contains(r.Reason, "failed by hand") ||
			len(o.Issues) == 0 {
			t.Fatalf("want the failure told, got %+v, %+v", r, o.Issues)
		}
		w.start(domain.Step{Kind: domain.StartProviderRollout})
		settle()
		if o := w.observe(); stale(o) > 0 || o.ProviderRollout != nil || len(o.Issues) > 0 {
			t.Errorf("want the rest cycled, got %+v", o)
		}
	})
}

// TestAdoption: a virtual node pool of another tool is adopted with its tags alone, and none of its nodes is replaced; a later change makes
// them stale.
func TestAdoption(t *testing.T) {
	inWorld(t, oci.Options{}, func(w *world) {
		if err := createForeign(w.cloud, "pool", 2); err != nil {
			t.Fatal(err)
		}
		settle()
		before := w.observe()
		if before.Unowned == nil || before.OwnershipConflict == nil {
			t.Fatalf("want a pool that is not Muster's, got %+v", before)
		}
		w.start(domain.Step{Kind: domain.Adopt})
		o := w.observe()
		if o.OwnershipConflict != nil || len(o.Instances) != 2 || stale(o) > 0 {
			t.Fatalf("want the pool adopted without a replaced node, got %+v", o)
		}
		w.start(domain.Step{Kind: domain.UpdateGroup, Fields: o.Group.Drift})
		if o = w.observe(); len(o.Group.Drift) > 0 || stale(o) > 0 || w.shown().FreeformTags["team"] != "a" {
			t.Errorf("want the rest brought to the specification, got %+v", o.Group)
		}
		w.change(other)
		if err := w.try(domain.Step{Kind: domain.StartProviderRollout}); err != nil {
			t.Fatal(err)
		}
		if o := w.observe(); stale(o) != 2 {
			t.Errorf("want the adopted nodes stale after a change, got %+v", o.Instances)
		}
		settle()
		settle()
		if o := w.observe(); stale(o) != 0 || len(o.Instances) != 2 {
			t.Errorf("want the adopted nodes replaced, got %+v", o.Instances)
		}
	})
}

// TestNotFoundIsNotGone: a refusal that may be a denial never makes the pool gone; a complete list does.
func TestNotFoundIsNotGone(t *testing.T) {
	for _, operation := range []string{"ListVirtualNodePools", "GetVirtualNodePool", "ListVirtualNodes"} {
		t.Run(operation, func(t *testing.T) {
			inWorld(t, oci.Options{}, func(w *world) {
				w.start(domain.Step{Kind: domain.CreateGroup, Size: 1})
				denied := w.cloud.Capabilities().Denied
				if err := w.cloud.Faults().Add(sim.Fault{Kind: sim.ErrorBefore, Service: oke.Name, Action: operation, Code: denied.Code,
					Message: denied.Message, Status: denied.Status}); err != nil {
					t.Fatal(err)
				}
				if o, err := w.driver.Observe(w.Context(), w.target); cloud.KindOf(err) != cloud.Denied {
					t.Errorf("want a denial, got %+v, %v", o.Group, err)
				}
			})
		})
	}
	t.Run("gone", func(t *testing.T) {
		inWorld(t, oci.Options{}, func(w *world) {
			w.start(domain.Step{Kind: domain.CreateGroup, Size: 1})
			w.observe()
			is := w.shown()
			engine, err := engineOf(w.cloud)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := engine.DeleteVirtualNodePool(w.Context(),
				containerengine.DeleteVirtualNodePoolRequest{VirtualNodePoolId: is.Id}); err != nil {
				t.Fatal(err)
			}
			settle()
			if err := w.try(domain.Step{Kind: domain.Resize, Size: 2}); cloud.KindOf(err) != cloud.Conflict {
				t.Errorf("want a change of what is gone told as a conflict, got %v", err)
			}
			if o := w.observe(); o.Group != nil {
				t.Errorf("want the pool gone, got %+v", o.Group)
			}
		})
	})
}

// TestIdle: a pool at rest costs one shared list, and is read by itself now and then.
func TestIdle(t *testing.T) {
	inWorld(t, oci.Options{}, func(w *world) {
		w.start(domain.Step{Kind: domain.CreateGroup, Size: 1})
		w.target.Cache.MaxAge = 20 * time.Second
		w.observe()
		const passes = 36
		sent := w.sent(func() {
			for range passes {
				<-time.After(100 * time.Second)
				if o := w.observe(); len(o.Group.Drift) > 0 || stale(o) > 0 {
					t.Fatalf("want a pool at rest, got %+v", o)
				}
			}
		})
		own := 0
		for _, op := range sent {
			if op != "ListVirtualNodePools" {
				own++
			}
		}
		if lists := len(sent) - own; lists != passes || own > 2*4 {
			t.Errorf("want one list a pass and the pool read a few times an hour, got %d and %d of %v", lists, own, sent)
		}
	})
}

// undated is a cloud that does not show when pools were changed.
type undated struct{ http.RoundTripper }

var changed = regexp.MustCompile(`"timeUpdated":"[^"]*"`)

// RoundTrip takes the time out of the answer.
func (u undated) RoundTrip(r *http.Request) (*http.Response, error) {
	answer, err := u.RoundTripper.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	body, err := io.ReadAll(answer.Body)
	body = changed.ReplaceAll(body, []byte(`"timeUpdated":null`))
	answer.Body, answer.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	return answer, err
}

// TestNodesAreReadWhileTheyCome: the list does not show virtual nodes. While some come, each look reads them, though the pool is ACTIVE and
// the list shows nothing new.
func TestNodesAreReadWhileTheyCome(t *testing.T) {
	inWorld(t, oci.Options{Switches: sim.Switches{oke.ActiveEarly}}, func(w *world) {
		var err error
		if w.driver, err = newDriver(undated{sim.Transport{Handler: w.cloud}}); err != nil {
			t.Fatal(err)
		}
		if err := w.try(domain.Step{Kind: domain.CreateGroup, Size: 2}); err != nil {
			t.Fatal(err)
		}
		w.target.Cache.MaxAge = 20 * time.Second
		early := false
		for range 40 {
			<-time.After(21 * time.Second)
			coming := func(i domain.Instance) bool { return i.State != domain.Running }
			o, ready := w.observe(), w.ready()
			early = early || ready < 2 && *w.shown().LifecycleState == "ACTIVE"
			if running := len(slices.DeleteFunc(o.Instances, coming)); running != ready {
				t.Fatalf("want %d virtual nodes that run, as OKE shows them, got %d", ready, running)
			}
		}
		if !early {
			t.Error("want a pool that is ACTIVE while its virtual nodes are created")
		}
	})
}

// ready counts the virtual nodes that OKE shows as ACTIVE.
func (w *world) ready() (n int) {
	w.Helper()
	engine, err := engineOf(w.cloud)
	if err != nil {
		w.Fatal(err)
	}
	id := w.cloud.Snapshot().Groups[0].ID
	answer, err := engine.ListVirtualNodes(w.Context(), containerengine.ListVirtualNodesRequest{VirtualNodePoolId: &id})
	if err != nil {
		w.Fatal(err)
	}
	for _, node := range answer.Body {
		if *node.LifecycleState == "ACTIVE" {
			n++
		}
	}
	return n
}

// TestUpdateKeepsTheSize: a change of the pool sends no size, which may be an autoscaler's.
func TestUpdateKeepsTheSize(t *testing.T) {
	inWorld(t, oci.Options{}, func(w *world) {
		w.start(domain.Step{Kind: domain.CreateGroup, Size: 2})
		engine, err := engineOf(w.cloud)
		if err != nil {
			t.Fatal(err)
		}
		grown := containerengine.UpdateVirtualNodePoolRequest{VirtualNodePoolId: w.shown().Id,
			Body: &containerengine.UpdateVirtualNodePoolDetails{Size: new(4)}}
		w.observe()
		s := *w.target.Spec
		s.Cluster.View.FreeformTags = map[string]string{"team": "b"}
		w.target.Spec = &s
		if _, err := engine.UpdateVirtualNodePool(w.Context(), grown); err != nil {
			t.Fatal(err)
		}
		settle()
		w.start(domain.Step{Kind: domain.UpdateGroup, Fields: w.observe().Group.Drift})
		if is := w.shown(); *is.Size != 4 || is.FreeformTags["team"] != "b" {
			t.Errorf("want the tags changed and the size kept, got %d and %v", *is.Size, is.FreeformTags)
		}
	})
}

// TestPermissions: a whole life is denied something without any one of the documented permissions.
func TestPermissions(t *testing.T) {
	for _, without := range append([]string{""}, allowed()...) {
		if strings.HasPrefix(without, "CLUSTER_WORK_REQUEST_READ") {
			continue // only errors of failed work requests need it
		}
		t.Run("without "+without, func(t *testing.T) {
			names := slices.DeleteFunc(allowed(), func(name string) bool { return name == without })
			inWorld(t, oci.Options{Keys: keyWith(names)}, func(w *world) {
				denied := false
				for _, s := range []domain.Step{{Kind: domain.CreateGroup, Size: 1}, {Kind: domain.Resize, Size: 2},
					{Kind: domain.StartProviderRollout},
					{Kind: domain.DeleteGroup}} {
					if s.Kind == domain.StartProviderRollout {
						w.change(other)
					}
					err := w.try(s)
					o, looked := w.driver.Observe(w.Context(), w.target)
					denied = denied || err != nil && cloud.KindOf(err) == cloud.Denied || looked != nil && cloud.KindOf(looked) == cloud.Denied ||
						o.ProviderRolloutUnknown != nil
					settle()
				}
				if denied != (without != "") {
					t.Errorf("want a life that is denied something only without a permission, got %t without %q", denied, without)
				}
			})
		})
	}
}
