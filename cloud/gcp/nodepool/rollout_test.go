package nodepool_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	gcpv1 "github.com/muster-project/muster/api/gcp/v1beta1"
	"github.com/muster-project/muster/pool"
	"github.com/muster-project/muster/sim"
	"github.com/muster-project/muster/sim/document"
)

// latest is the version of the control plane, as a MachinePool names it.
const latest = "v1.34.7-gke.1734500"

// fresh counts the machines that were made from what is wanted.
func fresh(o pool.Observed) int {
	n := 0
	for _, i := range o.Instances {
		if i.Template.Same(o.Wanted) {
			n++
		}
	}
	return n
}

// roll begins the rollout that the specification asks for, and returns what is observed a while later.
func (w *world) roll(after time.Duration) pool.Observed {
	w.Helper()
	step := pool.Step{Kind: pool.StartProviderRollout, Template: w.observe().Latest().Ref}
	if err := w.driver.Start(w.Context(), w.target, step); err != nil {
		w.Fatalf("start the rollout: %v", err)
	}
	<-time.After(after)
	return w.observe()
}

// amid begins the rollout that the specification asks for, and returns what is observed when one machine has been replaced.
func (w *world) amid() pool.Observed {
	w.Helper()
	o := w.roll(0)
	for range 200 {
		if fresh(o) > 0 {
			break
		}
		<-time.After(3 * time.Second)
		o = w.observe()
	}
	<-time.After(time.Minute) // until the new node has joined: one that has not goes again when the upgrade is cancelled
	o = w.observe()
	if n := fresh(o); n == 0 || n == len(o.Instances) || !o.ProviderRollout.Runs() {
		w.Fatalf("want a rollout in its middle, got %d of %d, %+v", n, len(o.Instances), o.ProviderRollout)
	}
	return o
}

// cancel cancels the rollout that is observed.
func (w *world) cancel(o pool.Observed) {
	w.Helper()
	if o.ProviderRollout == nil {
		w.Fatal("want a rollout that can be cancelled, got none")
	}
	w.start(pool.Step{Kind: pool.CancelProviderRollout, Refs: []string{o.ProviderRollout.ID}})
}

// newcomer puts a driver that has seen nothing in the place of the world's.
func (w *world) newcomer() {
	w.Helper()
	d, err := newDriver(sim.Transport{Handler: w.cloud})
	if err != nil {
		w.Fatal(err)
	}
	w.driver = d
}

// blueGreen has GKE replace nodes with strategy BLUE_GREEN.
func (w *world) blueGreen() {
	w.change(func(s *gcpv1.GCPManagedMachinePoolSpec) {
		s.UpgradeSettings = &gcpv1.UpgradeSettings{Strategy: gcpv1.UpgradeBlueGreen, BlueGreenSettings: &gcpv1.BlueGreenSettings{
			NodePoolSoakDuration:  &metav1.Duration{Duration: 2 * time.Hour},
			StandardRolloutPolicy: &gcpv1.StandardRolloutPolicy{BatchNodeCount: new(int32(1)), BatchSoakDuration: &metav1.Duration{Duration: time.Minute}},
		}}
	})
}

// TestUpgrade holds that an upgrade is seen machine by machine, keeps the size, and ends with all machines of the wanted version.
func TestUpgrade(t *testing.T) {
	inWorld(t, func(w *world) {
		w.reach(3)
		w.target.KubernetesVersion = latest
		if o := w.observe(); fresh(o) != 0 || o.ProviderRollout != nil {
			t.Errorf("want no machine of the wanted version yet, got %d and %+v", fresh(o), o.ProviderRollout)
		}
		o := w.roll(10 * time.Second)
		if r := o.ProviderRollout; r == nil || r.State != pool.ProviderRolloutRunning || !r.Template.Same(o.Wanted) || o.Group.Size != 3 || o.Group.Busy == nil {
			t.Errorf("want a rollout that runs, got %+v of %+v", r, o.Group)
		}
		seen := map[int]bool{}
		for range 200 {
			seen[fresh(w.observe())] = true
			<-time.After(3 * time.Second)
		}
		settle()
		o = w.observe()
		if fresh(o) != 3 || o.ProviderRollout != nil || o.Group.Size != 3 || len(o.Operations) > 0 || !seen[1] || !seen[2] {
			t.Errorf("want three machines of the wanted version, one after another, got %d, seen %v, %+v", fresh(o), seen, o.ProviderRollout)
		}
	})
}

// TestUpgradeOfMinors holds that an upgrade over several minor versions goes through each of them.
func TestUpgradeOfMinors(t *testing.T) {
	inWorld(t, func(w *world) {
		w.target.KubernetesVersion = "v1.32.7"
		w.change(func(s *gcpv1.GCPManagedMachinePoolSpec) { s.Management = &gcpv1.NodePoolManagement{AutoRepair: true} })
		w.reach(1)
		w.target.KubernetesVersion = "v1.34.6"
		var versions []string
		for range 4 {
			o := w.observe()
			versions = append(versions, strings.SplitN(w.held().Version, "-", 2)[0])
			if fresh(o) == 1 {
				break
			}
			w.roll(0)
			settle()
		}
		if want := []string{"1.32.7", "1.33.7", "1.34.6"}; !slices.Equal(versions, want) {
			w.Errorf("want the versions %v, got %v", want, versions)
		}
	})
}

// TestControlPlaneGoesFirst holds that a version above the control plane's is waited for, at creation and later, and that a version which an
// automatic upgrade brought is kept.
func TestControlPlaneGoesFirst(t *testing.T) {
	inWorld(t, func(w *world) {
		w.target.KubernetesVersion = "v1.35.1"
		err := w.driver.Start(w.Context(), w.target, pool.Step{Kind: pool.CreateGroup, Size: 1})
		if err == nil || !strings.Contains(err.Error(), "above the control plane") {
			w.Errorf("want the creation to wait for the control plane, got %v", err)
		}
		w.target.KubernetesVersion = version
		w.reach(1)
		w.target.KubernetesVersion = "v1.35.1"
		o := w.observe()
		if fresh(o) != 1 || len(o.Issues) != 1 || o.Issues[0].Reason != "WaitingForControlPlane" {
			w.Errorf("want nothing stale before the control plane has been upgraded, got %d of 1, issues %+v", fresh(o), o.Issues)
		}
		w.target.KubernetesVersion = version
		if err := w.cloud.GKE.UpgradePool(clusterName+"/"+poolName, ""); err != nil {
			w.Fatal(err)
		}
		settle()
		if o = w.observe(); fresh(o) != 1 || len(o.Issues) != 1 || o.Issues[0].Reason != "NewerVersion" {
			w.Errorf("want the newer version kept, got %d of 1, issues %+v", fresh(o), o.Issues)
		}
	})
}

// TestChangesRollOneAfterAnother holds that a version, a machine type with its disk, and kernel settings that change together are three
// rollouts, the version last.
func TestChangesRollOneAfterAnother(t *testing.T) {
	inWorld(t, func(w *world) {
		w.reach(1)
		w.target.KubernetesVersion = latest
		w.change(func(s *gcpv1.GCPManagedMachinePoolSpec) {
			s.InstanceType, s.DiskSizeGb = new("n2-standard-4"), new(int32(50))
			s.LinuxNodeConfig = &gcpv1.LinuxNodeConfig{Sysctls: []gcpv1.SysctlConfig{{Parameter: "net.core.somaxconn", Value: "1024"}}}
		})
		var steps []string
		for range 5 {
			o := w.observe()
			if fresh(o) == 1 && o.Group.Template == o.Latest().Ref && len(steps) > 2 {
				break
			}
			w.roll(0)
			settle()
			is := w.held()
			steps = append(steps, is.Version+" "+is.MachineType)
		}
		want := []string{version[1:] + " n2-standard-4", version[1:] + " n2-standard-4", latest[1:] + " n2-standard-4"}
		if !slices.Equal(steps, want) {
			w.Errorf("want %v, got %v", want, steps)
		}
		if o := w.observe(); fresh(o) != 1 || len(o.Group.Unchangeable) > 0 {
			w.Errorf("want the machine as wanted, got %+v", o.Instances)
		}
	})
}

// TestCancelledRolloutIsResumed holds that a rollout that was cancelled says so, to a driver that has seen nothing too, and goes on with the
// same step.
func TestCancelledRolloutIsResumed(t *testing.T) {
	inWorld(t, func(w *world) {
		w.reach(3)
		w.target.KubernetesVersion = latest
		w.cancel(w.amid())
		for _, seen := range []bool{true, false} {
			if !seen {
				w.newcomer()
			}
			o := w.observe()
			if r := o.ProviderRollout; r == nil || r.State != pool.ProviderRolloutCancelled || r.Ended.IsZero() || fresh(o) == 0 || fresh(o) == len(o.Instances) {
				w.Errorf("seen before: %t: want a cancelled rollout, got %+v with %d of %d machines", seen, r, fresh(o), len(o.Instances))
			}
		}
		w.roll(0)
		settle()
		if o := w.observe(); fresh(o) != len(o.Instances) || o.ProviderRollout != nil {
			w.Errorf("want the rollout resumed, got %d of %d machines, %+v", fresh(o), len(o.Instances), o.ProviderRollout)
		}
	})
}

// TestFailedRolloutIsTold holds that a rollout that fails says why in GKE's words, and is resumed.
func TestFailedRolloutIsTold(t *testing.T) {
	inWorld(t, func(w *world) {
		w.reach(3)
		w.change(func(s *gcpv1.GCPManagedMachinePoolSpec) { s.InstanceType = new("n2-standard-4") })
		w.amid()
		if err := w.cloud.GKE.FailPool(clusterName+"/"+poolName, "GCE_QUOTA_EXCEEDED", "Insufficient regional quota N2_CPUS."); err != nil {
			w.Fatal(err)
		}
		settle()
		o := w.observe()
		if r := o.ProviderRollout; r == nil || r.State != pool.ProviderRolloutFailed || !strings.Contains(r.Reason, "Insufficient regional quota") {
			w.Errorf("want a failed rollout in GKE's words, got %+v", r)
		}
		w.roll(0)
		settle()
		if o = w.observe(); fresh(o) != len(o.Instances) || o.ProviderRollout != nil || len(o.Issues) > 0 {
			w.Errorf("want the rollout resumed, got %d of %d machines, %+v, %v", fresh(o), len(o.Instances), o.ProviderRollout, o.Issues)
		}
	})
}

// TestRevertedUpgradeIsRolledBack holds that an upgrade whose specification was taken back is rolled back and not run forward: with surge,
// and with blue-green, whose older nodes are all there.
func TestRevertedUpgradeIsRolledBack(t *testing.T) {
	for _, name := range []string{"surge", "blue-green"} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(w *world) {
				if name == "blue-green" {
					w.blueGreen()
				}
				w.reach(3)
				before := w.observe()
				w.target.KubernetesVersion = latest
				o := w.amid()
				if !o.ProviderRollout.Runs() || !o.ProviderRollout.Template.Same(o.Wanted) {
					w.Fatalf("want a rollout that runs, got %+v", o.ProviderRollout)
				}
				w.target.KubernetesVersion = version
				o = w.observe()
				if !o.ProviderRollout.Runs() || o.ProviderRollout.Template.Same(o.Wanted) {
					w.Fatalf("want a rollout that is not wanted any more, got %+v for %+v", o.ProviderRollout, o.Wanted)
				}
				w.cancel(o)
				if o = w.observe(); fresh(o) == len(o.Instances) || o.ProviderRollout.Runs() {
					w.Fatalf("want machines left that are not wanted, got %+v, %+v", o.Instances, o.ProviderRollout)
				}
				sent := w.sent(func() { w.roll(0) })
				if !slices.Equal(sent, []string{"container:projects.locations.clusters.nodePools.rollback"}) {
					w.Errorf("want a rollback, got %v", sent)
				}
				settle()
				settle()
				o = w.observe()
				if fresh(o) != 3 || len(o.Instances) != 3 || o.ProviderRollout != nil || w.held().Version != version[1:] {
					w.Errorf("want the version from before, got %d of %d machines, %+v, %s", fresh(o), len(o.Instances), o.ProviderRollout, w.held().Version)
				}
				if name == "blue-green" && o.Instances[0].ID != before.Instances[0].ID {
					w.Errorf("want the older machines kept, got %v", o.Instances)
				}
			})
		})
	}
}

// TestBlueGreen holds that a blue-green upgrade keeps the size, is told with its phase, soaks, and is not completed early; and that one which
// is paused counts the machines that are to go, and names the others.
func TestBlueGreen(t *testing.T) {
	inWorld(t, func(w *world) {
		w.blueGreen()
		w.reach(3)
		w.target.KubernetesVersion = latest
		o := w.roll(6 * time.Minute)
		w.cancel(o)
		o = w.observe()
		if o.Group.Size != 3 || len(o.Instances) != 3 || fresh(o) != 0 || len(o.Beside) != 3 || o.ProviderRollout.State != pool.ProviderRolloutCancelled {
			w.Fatalf("want a paused upgrade of three machines, got %+v with %d machines, %d of them fresh, beside %v, %+v", o.Group, len(o.Instances), fresh(o),
				o.Beside, o.ProviderRollout)
		}
		w.roll(0)
		soaked := false
		for range 30 {
			o = w.observe()
			if o.ProviderRollout.Runs() && o.ProviderRollout.State == pool.ProviderRolloutBaking {
				soaked = true
				if !strings.Contains(o.ProviderRollout.Reason, "NODE_POOL_SOAKING") || o.Group.Size != 3 {
					w.Errorf("want the phase told and the size kept, got %+v of %+v", o.ProviderRollout, o.Group)
				}
			}
			<-time.After(5 * time.Minute)
		}
		settle()
		if o = w.observe(); !soaked || fresh(o) != 3 || len(o.Instances) != 3 || o.ProviderRollout != nil {
			w.Errorf("want the upgrade ended after its soak time (%t), got %d of %d machines, %+v", soaked, fresh(o), len(o.Instances), o.ProviderRollout)
		}
	})
}

// TestPausedBlueGreen holds how a blue-green upgrade that is paused ends, beside which GKE changes nothing else: it is rolled back unless all
// that it changes is wanted, and where another part is to be changed first; and resumed otherwise, also where more is wanted by now.
func TestPausedBlueGreen(t *testing.T) {
	const rollback, update = "container:projects.locations.clusters.nodePools.rollback", "container:projects.locations.clusters.nodePools.update"
	type spec = gcpv1.GCPManagedMachinePoolSpec
	larger := func(s *spec) { s.InstanceType = new("n2-standard-4") }
	another := func(s *spec) { s.ImageType = new("UBUNTU_CONTAINERD") }
	both := func(s *spec) { s.InstanceType, s.ImageType = new("n2-standard-4"), new("UBUNTU_CONTAINERD") }
	for _, c := range []struct {
		name          string
		change, after func(*spec)
		version, sent string
	}{
		{"taken back, with parts that were not named before", larger, func(s *spec) { s.InstanceType, s.DiskSizeGb = new("e2-standard-4"), new(int32(100)) }, version, rollback},
		{"another change than the one that was begun", larger, func(s *spec) { s.InstanceType = new("n2-standard-2") }, version, rollback},
		{"nothing else", larger, nil, version, update},
		{"the first of two changes", both, nil, version, update},
		{"an image, and a machine type since", another, both, version, rollback},
		{"a disk, and a machine type since", func(s *spec) { s.DiskSizeGb = new(int32(50)) }, larger, version, rollback},
		{"a machine type, and kernel settings since", larger, func(s *spec) { s.LinuxNodeConfig = sysctls("4096") }, version, update},
		{"a version beside it", larger, nil, latest, update},
		{"a version, and another part since", nil, larger, latest, rollback},
		{"taken back, and a version", larger, func(s *spec) { s.InstanceType = new("e2-standard-4") }, latest, rollback},
	} {
		t.Run(c.name, func(t *testing.T) {
			inWorld(t, func(w *world) {
				w.blueGreen()
				w.reach(3)
				if c.change != nil {
					w.change(c.change)
				} else {
					w.target.KubernetesVersion = c.version
				}
				o := w.roll(6 * time.Minute)
				w.cancel(o)
				if c.after != nil {
					w.change(c.after)
				}
				w.target.KubernetesVersion = c.version
				for _, seen := range []bool{true, false} {
					if !seen {
						w.newcomer()
					}
					if o = w.observe(); len(o.Instances) != 3 || fresh(o) == 3 || len(o.Beside) != 3 {
						w.Errorf("seen before: %t: want three machines that are to go and three beside them, got %d, %d of them fresh, beside %v", seen, len(o.Instances),
							fresh(o), o.Beside)
					}
				}
				if sent := w.sent(func() { w.roll(0) }); !slices.Equal(sent, []string{c.sent}) {
					w.Errorf("want %s, got %v", c.sent, sent)
				}
				for range 12 {
					if o = w.observe(); o.Group.Busy == nil && fresh(o) == 3 && o.Group.Template == o.Latest().Ref {
						break
					}
					if o.Group.Busy == nil {
						w.roll(0)
					}
					<-time.After(4 * time.Hour)
				}
				o = w.observe()
				if is := w.held(); fresh(o) != 3 || len(o.Instances) != 3 || is.MachineType != w.target.Spec.Pool.Machine() || is.Version != c.version[1:] || is.ImageType != *w.target.Spec.Pool.ImageType {
					w.Errorf("want three machines as wanted, got %d of %d, %s %s %s", fresh(o), len(o.Instances), is.Version, is.MachineType, is.ImageType)
				}
			})
		})
	}
}

// TestPausedUpgradeByHand holds that a blue-green upgrade of another client that was cancelled is rolled back where it is not wanted.
func TestPausedUpgradeByHand(t *testing.T) {
	inWorld(t, func(w *world) {
		w.blueGreen()
		w.reach(3)
		if err := w.cloud.GKE.UpdatePool(clusterName+"/"+poolName, document.Object{"imageType": "UBUNTU_CONTAINERD", "nodeVersion": w.held().Version}); err != nil {
			w.Fatal(err)
		}
		<-time.After(6 * time.Minute)
		w.cancel(w.observe())
		sent := w.sent(func() { w.roll(0) })
		settle()
		if o := w.observe(); !slices.Equal(sent, []string{"container:projects.locations.clusters.nodePools.rollback"}) || fresh(o) != 3 || w.held().ImageType != "COS_CONTAINERD" {
			w.Errorf("want the upgrade rolled back, got %v, %d fresh machines, %s", sent, fresh(o), w.held().ImageType)
		}
	})
}

// TestStoppedBlueGreen holds that a blue-green upgrade which stops where it has no machine left that is to go has all its machines, is named as
// left half-done, and is ended, also by a driver that has not seen it begin: GKE changes nothing else of the node pool before.
func TestStoppedBlueGreen(t *testing.T) {
	const former, later = "e2-standard-4", "n2-standard-4"
	machine := func(w *world, name string) {
		w.change(func(s *gcpv1.GCPManagedMachinePoolSpec) { s.InstanceType = new(name) })
	}
	stop := func(w *world, when func() bool) {
		for range 4000 {
			if when() {
				break
			}
			<-time.After(time.Second)
		}
		if err := w.cloud.GKE.FailPool(clusterName+"/"+poolName, "GCE_QUOTA_EXCEEDED", "Insufficient regional quota N2_CPUS."); err != nil {
			w.Fatal(err)
		}
		settle()
	}
	for name, c := range map[string]struct {
		stop func(*world)
		want string
	}{
		"before it has new machines, and taken back": {func(w *world) {
			stop(w, func() bool { return true })
			machine(w, former)
		}, former},
		"once the new machines of one that is rolled back are gone": {func(w *world) {
			<-time.After(6 * time.Minute)
			w.cancel(w.observe())
			machine(w, former)
			w.roll(0)
			stop(w, func() bool { return len(w.held().Machines) == 3 })
		}, former},
		"once the older machines are gone": {func(w *world) {
			stop(w, func() bool { return w.held().Phase == "DELETING_BLUE_POOL" && len(w.held().Machines) == 3 })
		}, later},
	} {
		for _, seen := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s, seen: %t", name, seen), func(t *testing.T) {
				inWorld(t, func(w *world) {
					w.blueGreen()
					w.reach(3)
					machine(w, later)
					w.roll(0)
					c.stop(w)
					if !seen {
						w.newcomer()
					}
					if o := w.observe(); len(o.Instances) != 3 || o.Group.Size != 3 || o.Group.Unfinished == nil {
						w.Errorf("want three machines and an upgrade that is left half-done, got %d of %d, %v", len(o.Instances), o.Group.Size, o.Group.Unfinished)
					}
					steps := newPlay(w, 3).run(passesMost)
					o := w.observe()
					if len(o.Instances) != 3 || fresh(o) != 3 || o.Group.Unfinished != nil || w.held().MachineType != c.want || steps != string(pool.StartProviderRollout) {
						w.Errorf("want three machines as wanted after a rollout, got %d, %d of them as wanted, %v, after %q", len(o.Instances), fresh(o), o.Group.Unfinished, steps)
					}
				})
			})
		}
	}
}

// TestRolledBackUnseen holds that the machines which a rollback leaves are as the node pool, also where nothing tells how it ended: a driver
// that has not seen the upgrade begin, and that may not read operations.
func TestRolledBackUnseen(t *testing.T) {
	inWorld(t, func(w *world) {
		w.blueGreen()
		w.reach(3)
		w.change(func(s *gcpv1.GCPManagedMachinePoolSpec) { s.InstanceType = new("n2-standard-4") })
		w.cancel(w.roll(6 * time.Minute))
		w.newcomer()
		if err := w.cloud.Faults().Add(sim.Fault{Kind: sim.ErrorBefore, Action: "projects.locations.operations.*", Code: "PERMISSION_DENIED", Status: http.StatusForbidden}); err != nil {
			w.Fatal(err)
		}
		w.change(func(s *gcpv1.GCPManagedMachinePoolSpec) { s.InstanceType = new("e2-standard-4") })
		sent := w.sent(func() { w.roll(0) })
		settle()
		if o := w.observe(); !slices.Equal(sent, []string{"container:projects.locations.clusters.nodePools.rollback"}) || fresh(o) != 3 || len(o.Instances) != 3 {
			w.Errorf("want the upgrade rolled back and three machines as wanted, got %v, %d of %d", sent, fresh(o), len(o.Instances))
		}
	})
}

// TestPausedWithoutTemplates holds that a blue-green upgrade which is not wanted any more is rolled back, also where the credentials do not allow to
// read templates: the older machines do not count as what the node pool is by then. So does a driver that has not seen the upgrade begin.
func TestPausedWithoutTemplates(t *testing.T) {
	for name, seen := range map[string]bool{"seen": true, "not seen": false} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(w *world) {
				denied := sim.Fault{Kind: sim.ErrorBefore, Action: "instanceTemplates.*", Code: "forbidden", Message: "no permission", Status: http.StatusForbidden}
				if err := w.cloud.Faults().Add(denied); err != nil {
					w.Fatal(err)
				}
				w.blueGreen()
				w.reach(3)
				w.change(func(s *gcpv1.GCPManagedMachinePoolSpec) { s.InstanceType = new("n2-standard-4") })
				w.cancel(w.roll(6 * time.Minute))
				if !seen {
					w.newcomer()
				}
				w.change(func(s *gcpv1.GCPManagedMachinePoolSpec) { s.InstanceType = new("e2-standard-4") })
				if o := w.observe(); len(o.Instances) != 3 || fresh(o) > 0 || len(o.Beside) != 3 {
					w.Errorf("want three machines that are to go and three beside them, got %d, %d of them fresh, beside %v", len(o.Instances), fresh(o), o.Beside)
				}
				sent := w.sent(func() { w.roll(0) })
				settle()
				if o := w.observe(); !slices.Equal(sent, []string{"container:projects.locations.clusters.nodePools.rollback"}) || fresh(o) != 3 || len(o.Instances) != 3 {
					w.Errorf("want the upgrade rolled back and three machines as wanted, got %v, %d of %d", sent, fresh(o), len(o.Instances))
				}
			})
		})
	}
}

// TestCancellationIsKnownAtOnce holds that a rollout that is cancelled right after it began counts as such from then on, so that it is not
// started again before its pause.
func TestCancellationIsKnownAtOnce(t *testing.T) {
	inWorld(t, func(w *world) {
		w.blueGreen()
		w.reach(3)
		w.target.KubernetesVersion = latest
		w.cancel(w.roll(0))
		for range 20 {
			r := w.observe().ProviderRollout
			if r == nil || r.State != pool.ProviderRolloutCancelling && r.State != pool.ProviderRolloutCancelled {
				w.Fatalf("want a rollout that is cancelled, got %+v", r)
			}
			<-time.After(time.Second)
		}
	})
}

// TestRevertedSurgeUpgrade holds that a surge upgrade whose change was taken back is rolled back also where the specification names parts now
// that it left to GKE before.
func TestRevertedSurgeUpgrade(t *testing.T) {
	inWorld(t, func(w *world) {
		w.reach(3)
		w.change(func(s *gcpv1.GCPManagedMachinePoolSpec) { s.InstanceType = new("n2-standard-4") })
		w.cancel(w.amid())
		w.change(func(s *gcpv1.GCPManagedMachinePoolSpec) {
			s.InstanceType, s.DiskSizeGb = new("e2-standard-4"), new(int32(100))
		})
		sent := w.sent(func() { w.roll(0) })
		settle()
		if o := w.observe(); !slices.Equal(sent, []string{"container:projects.locations.clusters.nodePools.rollback"}) || fresh(o) != 3 || w.held().MachineType != "e2-standard-4" {
			w.Errorf("want the upgrade rolled back, got %v, %d fresh machines, %s", sent, fresh(o), w.held().MachineType)
		}
	})
}

// TestMendedPartsGoFirst holds that a machine type which is taken back together with a change of the version is changed first, when the node
// pool has the one that is not wanted and its machines do not: those of the new version would never join.
func TestMendedPartsGoFirst(t *testing.T) {
	inWorld(t, func(w *world) {
		w.reach(3)
		w.change(func(s *gcpv1.GCPManagedMachinePoolSpec) { s.InstanceType = new("n2-standard-4") })
		w.cancel(w.roll(0))
		w.change(func(s *gcpv1.GCPManagedMachinePoolSpec) { s.InstanceType = new("e2-standard-4") })
		w.target.KubernetesVersion = latest
		if o := w.roll(10 * time.Second); !o.ProviderRollout.Runs() || !o.ProviderRollout.Template.Same(o.Wanted) || w.held().MachineType != "e2-standard-4" {
			w.Errorf("want a rollout of the machine type that goes on, got %+v for %+v, %s", o.ProviderRollout, o.Wanted, w.held().MachineType)
		}
		settle()
		if is := w.held(); is.Version != version[1:] {
			w.Errorf("want the version not changed yet, got %s", is.Version)
		}
		w.roll(0)
		settle()
		if o, is := w.observe(), w.held(); fresh(o) != 3 || is.Version != latest[1:] || is.MachineType != "e2-standard-4" {
			w.Errorf("want three machines as wanted, got %d, %s %s", fresh(o), is.Version, is.MachineType)
		}
	})
}

// TestCancelledRolloutOfKernelSettings holds that machines which a cancelled upgrade of kernel settings has not replaced count as older ones,
// to a driver that has seen nothing too, also when the upgrade went on and was cancelled again or the node pool was changed in place, and that
// they are replaced when it goes on.
func TestCancelledRolloutOfKernelSettings(t *testing.T) {
	inWorld(t, func(w *world) {
		w.change(func(s *gcpv1.GCPManagedMachinePoolSpec) { s.LinuxNodeConfig = sysctls("4096") })
		w.reach(4)
		w.change(func(s *gcpv1.GCPManagedMachinePoolSpec) { s.LinuxNodeConfig = sysctls("8192") })
		w.cancel(w.amid())
		for n := range 4 {
			if n == 1 {
				w.newcomer()
			}
			o := w.observe()
			if fresh(o) == 0 || fresh(o) == len(o.Instances) {
				w.Errorf("%d: want older machines, got %d of %d fresh", n, fresh(o), len(o.Instances))
			}
			if r := o.ProviderRollout; n != 2 && (r == nil || r.State != pool.ProviderRolloutCancelled) {
				w.Errorf("%d: want a cancelled rollout, got %+v", n, r)
			}
			switch n {
			case 1:
				w.change(func(s *gcpv1.GCPManagedMachinePoolSpec) { s.KubernetesLabels = gcpv1.NodeLabels{"tier": "blue"} })
				w.start(pool.Step{Kind: pool.UpdateGroup, Fields: w.observe().Group.Drift})
			case 2:
				w.cancel(w.roll(0))
			}
		}
		w.roll(0)
		settle()
		if o := w.observe(); fresh(o) != len(o.Instances) || o.ProviderRollout != nil {
			w.Errorf("want the rollout resumed, got %d of %d machines, %+v", fresh(o), len(o.Instances), o.ProviderRollout)
		}
	})
}

// TestOperationsAreReadOnceForOlderMachines holds that machines which are older because the node pool was changed in place are as wanted, and
// that a driver which has seen nothing reads the operations once for them.
func TestOperationsAreReadOnceForOlderMachines(t *testing.T) {
	inWorld(t, func(w *world) {
		w.change(func(s *gcpv1.GCPManagedMachinePoolSpec) { s.LinuxNodeConfig = sysctls("4096") })
		w.reach(2)
		w.change(func(s *gcpv1.GCPManagedMachinePoolSpec) { s.KubernetesLabels = gcpv1.NodeLabels{"tier": "blue"} })
		w.start(pool.Step{Kind: pool.UpdateGroup, Fields: w.observe().Group.Drift})
		w.newcomer()
		after := w.cloud.Calls().Next()
		for range 3 {
			if o := w.observe(); fresh(o) != 2 || o.ProviderRollout != nil {
				w.Errorf("want two machines as wanted, got %d, %+v", fresh(o), o.ProviderRollout)
			}
			settle()
		}
		lists := 0
		for _, call := range w.cloud.Calls().Summary(after).Calls {
			if call.Action == "projects.locations.operations.list" {
				lists++
			}
		}
		if lists != 1 {
			w.Errorf("want the operations read once, got %d times", lists)
		}
	})
}

// sysctls are kernel settings.
func sysctls(connections string) *gcpv1.LinuxNodeConfig {
	return &gcpv1.LinuxNodeConfig{Sysctls: []gcpv1.SysctlConfig{{Parameter: "net.core.somaxconn", Value: connections}}}
}

// TestRolloutAtRestByAnOldRead holds that GKE counts as at work on a node pool for which it began a rollout a moment ago, also when a read that is
// behind shows the node pool at rest: its new machines would count as too many, and be removed.
func TestRolloutAtRestByAnOldRead(t *testing.T) {
	inWorld(t, func(w *world) {
		w.reach(2)
		w.change(func(s *gcpv1.GCPManagedMachinePoolSpec) { s.InstanceType = new("n2-standard-4") })
		w.amid()
		if err := w.cloud.Faults().Add(sim.Fault{Kind: sim.Stale, Action: "projects.locations.clusters.get", Delay: sim.Duration(30 * time.Minute)}); err != nil {
			w.Fatal(err)
		}
		o := w.observe()
		if o.Group == nil || o.Group.State != "RUNNING" || o.Group.Busy == nil {
			t.Errorf("want a node pool that is shown at rest and busy, got %+v", o.Group)
		}
	})
}
