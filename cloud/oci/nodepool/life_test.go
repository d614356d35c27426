package nodepool_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	ociv1 "github.com/muster-project/muster/api/oci/v1beta2"
	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/oci/containerengine"
	"github.com/muster-project/muster/cloud/oci/session"
	domain "github.com/muster-project/muster/pool"
	"github.com/muster-project/muster/sim"
	"github.com/muster-project/muster/sim/oci"
	oke "github.com/muster-project/muster/sim/oci/containerengine"
)

// engine is a client of OKE beside the driver, as another tool is.
func (w *world) engine() containerengine.Client {
	w.Helper()
	sessions, err := session.New(session.Options{Endpoint: endpoint, Base: sim.Transport{Handler: w.cloud}})
	if err != nil {
		w.Fatal(err)
	}
	made, err := sessions.Of(w.target.Spec.Cluster.View)
	if err != nil {
		w.Fatal(err)
	}
	return made.Engine
}

// shown returns the node pool as OKE shows it.
func (w *world) shown() containerengine.NodePool {
	w.Helper()
	id := w.cloud.Snapshot().Groups[0].ID
	answer, err := w.engine().GetNodePool(w.Context(), containerengine.GetNodePoolRequest{NodePoolId: &id})
	if err != nil {
		w.Fatal(err)
	}
	return answer.Body
}

// update changes the node pool as another tool does.
func (w *world) update(change containerengine.UpdateNodePoolDetails) {
	w.Helper()
	is := w.shown()
	if _, err := w.engine().UpdateNodePool(w.Context(), containerengine.UpdateNodePoolRequest{NodePoolId: is.Id, Body: &change}); err != nil {
		w.Fatal(err)
	}
	settle()
}

// other asks for other nodes.
func other(s *spec) {
	s.NodeSourceViaImage = &ociv1.NodeSourceViaImage{BootVolumeSizeInGBs: new(int64(93))}
}

// cycled lets OKE replace nodes.
func cycled(modes ...ociv1.CycleMode) func(*spec) {
	return func(s *spec) {
		s.NodePoolCyclingDetails = &ociv1.NodePoolCyclingDetails{IsNodeCyclingEnabled: new(true), MaximumSurge: new(ociv1.NodeCount("2")),
			MaximumUnavailable: new(ociv1.NodeCount("1")), CycleModes: modes}
	}
}

// TestVersion: the version of the MachinePool counts, the object's own must agree, and none is newer than the control plane.
func TestVersion(t *testing.T) {
	inWorld(t, oci.Options{}, func(w *world) {
		w.change(func(s *spec) { s.Version = new(newer) })
		if _, err := w.driver.Observe(w.Context(), w.target); cloud.KindOf(err) != cloud.Invalid || !strings.Contains(err.Error(),
			"spec.version") {
			t.Errorf("want two versions that differ refused, got %v", err)
		}
		w.change(func(s *spec) { s.Version = new(version) })
		w.create(2)
		w.change(func(s *spec) { s.Version = nil })
		w.target.KubernetesVersion = newer
		if o := w.observe(); !has(o.Issues, domain.ControlPlaneUpgradePending) || stale(o) > 0 {
			t.Errorf("want the control plane waited for, got %v, %+v", o.Issues, o.Wanted)
		}
		w.upgradeCluster(newer)
		before := w.observe()
		if stale(before) != 2 || len(before.Issues) > 0 {
			t.Fatalf("want an upgrade due, got %+v", before)
		}
		w.launch()
		if o := w.observe(); stale(o) != 2 || o.Group.Template == before.Group.Template || len(o.Versions) != 1 {
			t.Errorf("want the node pool changed and no node replaced, got %+v", o)
		}
		w.roll()
		o := w.observe()
		if stale(o) > 0 || len(o.Instances) != 2 || o.Instances[0].ID == before.Instances[0].ID || text(w.shown().KubernetesVersion) != newer {
			t.Errorf("want other nodes of the wanted version, got %+v", o)
		}
		w.target.KubernetesVersion = version
		if o := w.observe(); !has(o.Issues, "NewerVersion") || stale(o) > 0 {
			t.Errorf("want the newer version kept, got %v", o.Issues)
		}
	})
}

func text(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// TestImage: an image that is not named is looked up for the version and the architecture, once.
func TestImage(t *testing.T) {
	for name, arch := range map[string]string{shape: "", "VM.Standard.A1.Flex": "aarch64"} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, oci.Options{}, func(w *world) {
				w.change(func(s *spec) { s.NodeShape = name })
				w.create(1)
				is, o := w.shown(), w.observe()
				if got := text(is.NodeImageName); strings.Contains(got, "aarch64") != (arch != "") || !strings.Contains(got, "Linux-8") ||
					!strings.Contains(got, "OKE-"+version[1:]) || o.Group.Image != got {
					t.Errorf("want the image of the architecture and version, got %s", got)
				}
				if len(o.ResolvedLookups) != 1 || len(o.Issues) > 0 || stale(o) > 0 {
					t.Errorf("want the image remembered, got %+v", o)
				}
				// A driver of which the object remembers nothing keeps the image that the node pool has.
				w.update(containerengine.UpdateNodePoolDetails{NodeSourceDetails: &containerengine.NodeSourceDetails{SourceType: new("IMAGE"),
					ImageId: new("ocid1.image.oc1.iad.own")}})
				if o := w.observe(); len(o.Group.Drift) > 0 || o.Group.Template != o.Latest().Ref {
					t.Errorf("want the present image kept, got %+v", o.Group)
				}
				w.target.Remembered = o.ResolvedLookups
				if o := w.observe(); o.Group.Template == o.Latest().Ref {
					t.Errorf("want the remembered image wanted, got %+v", o.Group)
				}
			})
		})
	}
	t.Run("none", func(t *testing.T) {
		inWorld(t, oci.Options{}, func(w *world) {
			w.change(func(s *spec) { s.NodeShape, s.NodeShapeConfig = "VM.GPU.A10.1", nil })
			if _, err := w.driver.Observe(w.Context(), w.target); cloud.KindOf(err) != cloud.Invalid || !strings.Contains(err.Error(), "imageId") {
				t.Errorf("want it told that there is no image, got %v", err)
			}
		})
	})
}

// TestReplacementByMuster: a change replaces no node, and Muster replaces them by the size and by name, whatever OKE makes of cycling.
func TestReplacementByMuster(t *testing.T) {
	for _, on := range []sim.Switches{nil, {oke.CyclesAll}, {oke.CyclesOnRequest}, {oke.TakesOldest}, {oke.BusyPools}} {
		t.Run(fmt.Sprint(on), func(t *testing.T) {
			inWorld(t, oci.Options{Switches: on}, func(w *world) {
				w.create(2)
				w.change(other)
				w.launch()
				if o := w.observe(); stale(o) != 2 || len(o.Instances) != 2 {
					t.Fatalf("want the nodes as they were, got %+v", o.Instances)
				}
				for range 2 {
					w.start(domain.Step{Kind: domain.Resize, Size: 3})
					o := w.observe()
					at := slices.IndexFunc(o.Instances, func(i domain.Instance) bool { return !i.Template.Same(o.Wanted) })
					if len(o.Instances) != 3 || at < 0 {
						t.Fatalf("want a third node, got %+v", o.Instances)
					}
					w.start(remove(o, at))
				}
				if o := w.observe(); stale(o) != 0 || len(o.Instances) != 2 || o.Group.Size != 2 || o.ProviderRollout != nil {
					t.Errorf("want both nodes replaced, got %+v", o)
				}
			})
		})
	}
}

// TestCycling: OKE replaces nodes when it is asked to, and at no later update. Its progress is told.
func TestCycling(t *testing.T) {
	for _, on := range []sim.Switches{nil, {oke.CyclesAll}, {oke.CyclesOnRequest}, {oke.CyclesInUpdates}, {oke.SupersededSucceed}} {
		t.Run(fmt.Sprint(on), func(t *testing.T) {
			inWorld(t, oci.Options{Switches: on}, func(w *world) {
				w.change(cycled())
				w.create(3)
				w.change(other)
				w.launch()
				if err := w.try(domain.Step{Kind: domain.StartProviderRollout}); err != nil {
					t.Fatal(err)
				}
				o := w.observe()
				if r := o.ProviderRollout; !r.Runs() || !r.Template.Same(o.Wanted) || r.Percent != 0 || r.Started.IsZero() ||
					o.Group.ProviderRolloutSurge != 2 ||
					o.Group.Busy != nil {
					t.Fatalf("want a rollout that runs, got %+v of %+v", r, o.Group)
				}
				percent := 0
				for range 60 {
					<-time.After(20 * time.Second)
					if r := w.observe().ProviderRollout; r != nil {
						percent = max(percent, r.Percent)
					}
				}
				settle()
				if o = w.observe(); stale(o) > 0 || len(o.Instances) != 3 || o.ProviderRollout != nil || percent == 0 {
					t.Fatalf("want all nodes replaced after some progress, got %+v after %d %%", o, percent)
				}
				before := o.Instances[0].ID
				w.start(domain.Step{Kind: domain.StartProviderRollout})
				w.start(domain.Step{Kind: domain.Resize, Size: 4})
				w.change(func(s *spec) { s.InitialNodeLabels = ociv1.NodeLabels{{Key: "a", Value: "b"}} })
				w.start(domain.Step{Kind: domain.UpdateGroup, Fields: w.observe().Group.Drift})
				if o = w.observe(); len(o.Instances) != 4 || !slices.ContainsFunc(o.Instances, func(i domain.Instance) bool { return i.ID == before }) {
					t.Errorf("want no node replaced without need, got %+v", o.Instances)
				}
			})
		})
	}
}

// TestPlacementBesideCycling: a change of the placement and one that nodes are cycled for can be made together.
func TestPlacementBesideCycling(t *testing.T) {
	inWorld(t, oci.Options{}, func(w *world) {
		w.change(cycled())
		w.create(3)
		w.change(func(s *spec) {
			other(s)
			s.NodePoolNodeConfig = &ociv1.NodePoolNodeConfig{PlacementConfigs: []ociv1.PlacementConfig{
				{AvailabilityDomain: oci.Domains()[0]}, {AvailabilityDomain: oci.Domains()[1]}}}
		})
		o := w.observe()
		w.start(domain.Step{Kind: domain.UpdateGroup, Template: o.Latest().Ref, Fields: o.Group.Drift})
		w.roll()
		settle()
		o = w.observe()
		if stale(o) > 0 || len(o.Instances) != 3 || len(o.Group.Drift) > 0 || slices.ContainsFunc(o.Instances, func(i domain.Instance) bool {
			return i.Zone == oci.Domains()[2]
		}) {
			t.Errorf("want three nodes of both changes, got %+v", o)
		}
	})
}

// TestCyclingInPlace: nodes whose boot volumes are replaced keep their IDs, and may keep their tags. No second cycling is asked for.
func TestCyclingInPlace(t *testing.T) {
	for _, on := range []sim.Switches{nil, {oke.RetagsNodes}, {oke.CyclesInUpdates}} {
		t.Run(fmt.Sprint(on), func(t *testing.T) {
			inWorld(t, oci.Options{Switches: on}, func(w *world) {
				w.change(cycled(ociv1.CycleBootVolume))
				w.create(2)
				ids := []string{w.observe().Instances[0].ID, w.observe().Instances[1].ID}
				w.change(other)
				w.launch()
				w.roll()
				settle()
				o := w.observe()
				if stale(o) > 0 || len(o.Instances) != 2 || !slices.Contains(ids, o.Instances[0].ID) || o.ProviderRollout != nil {
					t.Errorf("want the same nodes brought to what is wanted, got %+v", o)
				}
				if sent := w.sent(func() { w.start(domain.Step{Kind: domain.StartProviderRollout}) }); slices.Contains(sent, "UpdateNodePool") {
					t.Errorf("want no second cycling, got %v", sent)
				}
				w.change(func(s *spec) { s.NodeMetadata = map[string]string{"a": "b"} })
				w.launch()
				if o := w.observe(); stale(o) != 2 {
					t.Errorf("want both nodes stale after another change, got %+v", o.Instances)
				}
			})
		})
	}
}

// TestCyclingFails: a failed cycling is told in OKE's words, and the next one goes on with it.
func TestCyclingFails(t *testing.T) {
	for _, on := range []sim.Switches{nil, {oke.CyclesInUpdates}} {
		t.Run(fmt.Sprint(on), func(t *testing.T) {
			inWorld(t, oci.Options{Switches: on}, func(w *world) {
				w.change(cycled())
				w.create(2)
				w.change(other)
				w.launch()
				if err := w.try(domain.Step{Kind: domain.StartProviderRollout}); err != nil {
					t.Fatal(err)
				}
				<-time.After(time.Minute)
				w.byHand(sim.FailRollout, sim.Resource{Name: "pool"})
				o := w.observe()
				r := o.ProviderRollout
				if r == nil || r.State != domain.ProviderRolloutFailed || r.Failures != 1 || !strings.Contains(r.Reason, "failed by hand") ||
					r.Ended.IsZero() || !has(o.Issues, "NodePoolNeedsAttention") {
					t.Fatalf("want the failure told, got %+v, %+v", r, o.Issues)
				}
				w.roll()
				if o := w.observe(); stale(o) > 0 || o.ProviderRollout != nil || len(o.Issues) > 0 {
					t.Errorf("want the rest cycled, got %+v", o)
				}
			})
		})
	}
}

// TestUnknownRollout: a refused read of work requests makes the rollout unknown, and nothing else.
func TestUnknownRollout(t *testing.T) {
	inWorld(t, oci.Options{Keys: keyWith(slices.DeleteFunc(allowed(), func(p string) bool { return strings.Contains(p, "WORK") }))},
		func(w *world) {
			w.create(1)
			if o := w.observe(); o.ProviderRolloutUnknown != nil {
				t.Errorf("want nothing asked about at rest, got %v", o.ProviderRolloutUnknown)
			}
			w.change(other)
			w.launch()
			if err := w.try(domain.Step{Kind: domain.StartProviderRollout}); err != nil {
				t.Fatal(err)
			}
			if o := w.observe(); o.ProviderRolloutUnknown == nil || o.ProviderRolloutUnknown.Reason != string(cloud.Denied) ||
				len(o.Instances) != 1 {
				t.Errorf("want the rollout unknown, got %+v", o)
			}
		})
}

// TestForeignFieldsStay: what Muster does not know or the specification does not name stays through all updates.
func TestForeignFieldsStay(t *testing.T) {
	inWorld(t, oci.Options{}, func(w *world) {
		w.create(1)
		is := w.shown()
		pods := is.NodeConfigDetails.NodePoolPodNetworkOptionDetails
		pods.MaxPodsPerNode = new(20)
		w.update(containerengine.UpdateNodePoolDetails{
			FreeformTags: withTag(is.FreeformTags, "theirs", "stays"),
			SecondaryVnics: []containerengine.NodePoolSecondaryVnicDetails{{DisplayName: new("data"),
				CreateVnicDetails: &containerengine.CreateVnicDetails{SubnetId: new("ocid1.subnet.oc1.iad.data")}}},
			NodeConfigDetails: &containerengine.UpdateNodePoolNodeConfigDetails{NodePoolPodNetworkOptionDetails: pods},
		})
		if o := w.observe(); len(o.Group.Drift) > 0 || stale(o) > 0 {
			t.Errorf("want no difference in what is not Muster's, got %+v", o.Group)
		}
		w.change(func(s *spec) {
			other(s)
			s.NodePoolNodeConfig = &ociv1.NodePoolNodeConfig{
				PlacementConfigs: []ociv1.PlacementConfig{{AvailabilityDomain: oci.Domains()[0]}, {AvailabilityDomain: oci.Domains()[1]}},
				NodePoolPodNetworkOptionDetails: &ociv1.NodePoolPodNetworkOptionDetails{CNIType: ociv1.CNINative,
					VCNIPNativePodNetworkOptions: ociv1.VCNIPNativePodNetworkOptions{SubnetNames: []string{"worker"},
						NSGNames: ociv1.SecurityGroupNames{"other"}}}}
		})
		o := w.observe()
		w.start(domain.Step{Kind: domain.UpdateGroup, Template: o.Latest().Ref, Fields: o.Group.Drift})
		w.start(domain.Step{Kind: domain.Resize, Size: 2})
		is = w.shown()
		c := is.NodeConfigDetails
		if len(is.SecondaryVnics) != 1 || is.FreeformTags["theirs"] != "stays" || len(c.PlacementConfigs) != 2 ||
			*c.NodePoolPodNetworkOptionDetails.MaxPodsPerNode != 20 ||
			!slices.Equal(c.NodePoolPodNetworkOptionDetails.PodSubnetIds, []string{part("subnet", "worker", "").ID}) || *c.Size != 2 {
			t.Errorf("want all of it kept beside what changed, got %+v of %+v", c, is)
		}
		if o := w.observe(); len(o.Group.Drift) > 0 || o.Group.Template != o.Latest().Ref {
			t.Errorf("want nothing left to change, got %+v", o.Group)
		}
		w.change(func(s *spec) {
			s.NodePoolNodeConfig.NodePoolPodNetworkOptionDetails.VCNIPNativePodNetworkOptions.MaxPodsPerNode = new(25)
		})
		w.launch()
		if got := *w.shown().NodeConfigDetails.NodePoolPodNetworkOptionDetails.MaxPodsPerNode; got != 25 {
			t.Errorf("want the user's number of pods, got %d", got)
		}
	})
}

func withTag(tags map[string]string, key, value string) map[string]string {
	out := map[string]string{key: value}
	for k, v := range tags {
		out[k] = v
	}
	return out
}

// TestNodeWithoutMachine: a node that never got a machine is no instance and can't be deleted by name: a smaller size ends it.
func TestNodeWithoutMachine(t *testing.T) {
	for _, on := range []sim.Switches{nil, {oke.HidesNodeErrors}} {
		t.Run(fmt.Sprint(on), func(t *testing.T) {
			inWorld(t, oci.Options{Limits: map[string]int{shape: 2}, Switches: on}, func(w *world) {
				w.create(2)
				w.start(domain.Step{Kind: domain.Resize, Size: 4})
				o := w.observe()
				if len(w.shown().Nodes) != 4 || len(o.Instances) != 2 || o.Group.Size != 4 || !has(o.Issues, string(cloud.Capacity)) {
					t.Fatalf("want two nodes without machines told, got %+v, %+v", o.Instances, o.Issues)
				}
				sent := w.sent(func() { w.start(domain.Step{Kind: domain.Resize, Size: 2}) })
				if o := w.observe(); slices.Contains(sent, "DeleteNode") || len(o.Instances) != 2 || o.Group.Size != 2 || len(o.Issues) > 0 ||
					len(w.shown().Nodes) != 2 {
					t.Errorf("want the size lowered and both nodes kept, got %+v after %v", o, sent)
				}
				if err := w.try(domain.Step{Kind: domain.Resize, Size: 1}); cloud.KindOf(err) != cloud.Conflict {
					t.Errorf("want no size below the nodes, got %v", err)
				}
			})
		})
	}
}

// TestStates: a state that is not well is told, and the node pool can be changed and deleted in it.
func TestStates(t *testing.T) {
	for _, c := range []struct {
		on     sim.Switches
		reason string
	}{{nil, "NodePoolNeedsAttention"}, {sim.Switches{oke.FailsPools}, "NodePoolFailed"}} {
		t.Run(c.reason, func(t *testing.T) {
			inWorld(t, oci.Options{Switches: c.on}, func(w *world) {
				if err := w.cloud.Faults().Add(sim.Fault{Kind: sim.NeverBoots, Times: 1}); err != nil {
					t.Fatal(err)
				}
				w.create(2)
				o := w.observe()
				failed := slices.IndexFunc(o.Instances, func(i domain.Instance) bool { return i.State == domain.Failed })
				if failed < 0 || !strings.Contains(o.Issues[0].Message, "register timeout") || o.Group.Busy != nil {
					t.Fatalf("want the node that did not join told, got %+v, %+v", o.Instances, o.Issues)
				}
				gone := remove(o, failed)
				w.start(domain.Step{Kind: domain.Resize, Size: 3})
				w.start(gone)
				if o = w.observe(); len(o.Instances) != 2 || len(o.Issues) > 0 || slices.ContainsFunc(o.Instances, func(i domain.Instance) bool {
					return i.State != domain.Running
				}) {
					t.Errorf("want the node replaced, got %+v, %+v", o.Instances, o.Issues)
				}
				w.start(domain.Step{Kind: domain.DeleteGroup})
				if o := w.observe(); o.Group != nil {
					t.Errorf("want the node pool deleted, got %+v", o.Group)
				}
			})
		})
	}
	t.Run("a machine that was stopped", func(t *testing.T) {
		inWorld(t, oci.Options{}, func(w *world) {
			w.create(2)
			id := w.observe().Instances[0].ID
			w.byHand(sim.StopInstance, sim.Resource{Name: "pool", Instance: id})
			o := w.observe()
			if at := slices.IndexFunc(o.Instances, func(i domain.Instance) bool { return i.ID == id }); at < 0 ||
				o.Instances[at].State != domain.Failed || o.Instances[at].Stopped != "INACTIVE" {
				t.Errorf("want the node that was stopped told, got %+v", o.Instances)
			}
		})
	})
}

// TestNotFoundIsNotGone: a refusal that may be a denial never makes the node pool gone; a complete list does.
func TestNotFoundIsNotGone(t *testing.T) {
	for _, operation := range []string{"ListNodePools", "GetNodePool"} {
		for _, again := range []bool{false, true} {
			t.Run(fmt.Sprint(operation, again), func(t *testing.T) {
				inWorld(t, oci.Options{}, func(w *world) {
					w.create(1)
					if again {
						made, err := newDriver(sim.Transport{Handler: w.cloud})
						if err != nil {
							t.Fatal(err)
						}
						w.driver = made
					} else if operation == "ListNodePools" {
						w.target.Cache.MaxAge = time.Second // the list is not read where the node pool can be read by itself
						<-time.After(time.Minute)
					}
					denied := w.cloud.Capabilities().Denied
					if err := w.cloud.Faults().Add(sim.Fault{Kind: sim.ErrorBefore, Service: oke.Name, Action: operation, Code: denied.Code,
						Message: denied.Message, Status: denied.Status}); err != nil {
						t.Fatal(err)
					}
					if o, err := w.driver.Observe(w.Context(), w.target); cloud.KindOf(err) != cloud.Denied {
						t.Errorf("want a denial, got %+v, %v", o.Group, err)
					}
					if err := w.try(domain.Step{Kind: domain.CreateGroup, Size: 1}); err != nil && cloud.KindOf(err) != cloud.Denied {
						t.Errorf("want a denial or nothing to do, got %v", err)
					}
					if n := len(w.cloud.Snapshot().Groups); n != 1 {
						t.Errorf("want no second node pool, got %d", n)
					}
				})
			})
		}
	}
}

// TestGone: a node pool that a complete list lacks is gone, and is created again.
func TestGone(t *testing.T) {
	for _, on := range []sim.Switches{nil, {oke.ShowsDeleted}} {
		t.Run(fmt.Sprint(on), func(t *testing.T) {
			inWorld(t, oci.Options{Switches: on}, func(w *world) {
				w.create(1)
				w.observe()
				w.byHand(sim.DeleteGroup, sim.Resource{Name: "pool"})
				if err := w.try(domain.Step{Kind: domain.Resize, Size: 2}); cloud.KindOf(err) != cloud.Conflict {
					t.Errorf("want a change of what is gone told as a conflict, got %v", err)
				}
				if o := w.observe(); o.Group != nil {
					t.Errorf("want the node pool gone, got %+v", o.Group)
				}
				w.create(1)
			})
		})
	}
}

// TestEtag: a change rests on the revision that was read.
func TestEtag(t *testing.T) {
	inWorld(t, oci.Options{}, func(w *world) {
		w.create(1)
		w.observe()
		w.update(containerengine.UpdateNodePoolDetails{FreeformTags: withTag(w.shown().FreeformTags, "a", "b")})
		w.target.Cache.MaxAge = time.Hour
		err := w.try(domain.Step{Kind: domain.Resize, Size: 2})
		if cloud.CodeOf(err) != session.CodeNoEtagMatch || cloud.KindOf(err) != cloud.Conflict {
			t.Errorf("want a change of an older revision refused, got %v", err)
		}
		w.start(domain.Step{Kind: domain.Resize, Size: 2})
	})
}

// TestRetryToken: a creation that is repeated at once has the token of the first. Once its node pool was deleted the token is refused, and
// another one is used later.
func TestRetryToken(t *testing.T) {
	for _, on := range []sim.Switches{nil, {oke.UniqueNames}} {
		t.Run(fmt.Sprint(on), func(t *testing.T) {
			inWorld(t, oci.Options{Switches: on}, func(w *world) {
				lost := sim.Fault{Kind: sim.ErrorAfter, Action: "CreateNodePool", Times: 1, Status: http.StatusInternalServerError}
				if err := w.cloud.Faults().Add(lost); err != nil {
					t.Fatal(err)
				}
				if err := w.try(domain.Step{Kind: domain.CreateGroup, Size: 1}); cloud.KindOf(err) != cloud.Unavailable {
					t.Fatalf("want the reply lost, got %v", err)
				}
				w.start(domain.Step{Kind: domain.CreateGroup, Size: 1})
				if n := len(w.cloud.Snapshot().Groups); n != 1 {
					t.Errorf("want one node pool, got %d", n)
				}
			})
		})
	}
}

// TestLostDeletion: a size that would be right after a deletion that never arrived is refused, now and later.
func TestLostDeletion(t *testing.T) {
	inWorld(t, oci.Options{}, func(w *world) {
		w.create(3)
		lost := sim.Fault{Kind: sim.ErrorBefore, Action: "DeleteNode", Times: 1, Status: http.StatusInternalServerError}
		if err := w.cloud.Faults().Add(lost); err != nil {
			t.Fatal(err)
		}
		if err := w.try(remove(w.observe(), 0)); cloud.KindOf(err) != cloud.Unavailable {
			t.Fatalf("want no reply, got %v", err)
		}
		for _, want := range []string{"SizeNotShown", "NodesWouldGo"} {
			if err := w.try(domain.Step{Kind: domain.Resize, Size: 2}); cloud.CodeOf(err) != want {
				t.Errorf("want the size refused with %s, got %v", want, err)
			}
			settle()
		}
		if n := len(w.observe().Instances); n != 3 {
			t.Errorf("want 3 nodes, got %d", n)
		}
	})
}

// tapped keeps the last request of each operation.
type tapped struct {
	sim.Transport
	last map[string]*http.Request
}

func (p tapped) RoundTrip(r *http.Request) (*http.Response, error) {
	p.last[r.Method] = r
	return p.Transport.RoundTrip(r)
}
