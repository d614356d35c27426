package nodepool_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	gcpv1 "github.com/muster-project/muster/api/gcp/v1beta1"
	"github.com/muster-project/muster/pool"
	"github.com/muster-project/muster/sim"
	"github.com/muster-project/muster/sim/gcp/container"
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

// TestUpgrade holds that an upgrade is seen machine by machine, keeps the size, and ends with all machines of the wanted version: with the
// templates of a region that node pools have, and with the global ones of older clusters.
func TestUpgrade(t *testing.T) {
	for name, b := range map[string]sim.Switches{"regional templates": {}, "global templates": {container.GlobalTemplates}} {
		t.Run(name, func(t *testing.T) { inWorldAs(t, b, (*world).upgrade) })
	}
}

// upgrade upgrades a node pool and watches it.
func (w *world) upgrade() {
	w.Helper()
	w.reach(3)
	w.target.KubernetesVersion = latest
	if o := w.observe(); fresh(o) != 0 || o.ProviderRollout != nil {
		w.Errorf("want no machine of the wanted version yet, got %d and %+v", fresh(o), o.ProviderRollout)
	}
	o := w.roll(10 * time.Second)
	if r := o.ProviderRollout; r == nil || r.State != pool.ProviderRolloutRunning || !r.Template.Same(o.Wanted) || o.Group.Size != 3 ||
		o.Group.Busy == nil {
		w.Errorf("want a rollout that runs, got %+v of %+v", r, o.Group)
	}
	seen := map[int]bool{}
	for range 200 {
		seen[fresh(w.observe())] = true
		<-time.After(3 * time.Second)
	}
	settle()
	o = w.observe()
	if fresh(o) != 3 || o.ProviderRollout != nil || o.Group.Size != 3 || len(o.Operations) > 0 || !seen[1] || !seen[2] {
		w.Errorf("want three machines of the wanted version, one after another, got %d, seen %v, %+v", fresh(o), seen, o.ProviderRollout)
	}
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

// TestControlPlaneGoesFirst holds that a version above the control plane's is waited for, at creation and later, and that a version which
// an automatic upgrade brought is kept.
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
		if fresh(o) != 1 || len(o.Issues) != 1 || o.Issues[0].Reason != "ControlPlaneUpgradePending" {
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

// TestCancelledRolloutIsResumed holds that a rollout that was cancelled says so, to a driver that has seen nothing too, and goes on with
// the same step.
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
			if r := o.ProviderRollout; r == nil || r.State != pool.ProviderRolloutCancelled || r.Ended.IsZero() || fresh(o) == 0 ||
				fresh(o) == len(o.Instances) {
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

// TestFailedRolloutIsReported holds that a rollout that fails says why in GKE's words, and is resumed.
func TestFailedRolloutIsReported(t *testing.T) {
	inWorld(t, func(w *world) {
		w.reach(3)
		w.change(func(s *gcpv1.GCPManagedMachinePoolSpec) { s.InstanceType = new("n2-standard-4") })
		w.amid()
		if err := w.cloud.GKE.FailPool(clusterName+"/"+poolName, "GCE_QUOTA_EXCEEDED", "Insufficient regional quota N2_CPUS."); err != nil {
			w.Fatal(err)
		}
		settle()
		o := w.observe()
		if r := o.ProviderRollout; r == nil || r.State != pool.ProviderRolloutFailed ||
			!strings.Contains(r.Reason, "Insufficient regional quota") {
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
					w.Errorf("want the version from before, got %d of %d machines, %+v, %s", fresh(o), len(o.Instances), o.ProviderRollout,
						w.held().Version)
				}
				if name == "blue-green" && o.Instances[0].ID != before.Instances[0].ID {
					w.Errorf("want the older machines kept, got %v", o.Instances)
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

// TestRevertedSurgeUpgrade holds that a surge upgrade whose change was taken back is rolled back also where the specification names parts
// now that it left to GKE before.
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
		if o := w.observe(); !slices.Equal(sent, []string{"container:projects.locations.clusters.nodePools.rollback"}) || fresh(o) != 3 ||
			w.held().MachineType != "e2-standard-4" {
			w.Errorf("want the upgrade rolled back, got %v, %d fresh machines, %s", sent, fresh(o), w.held().MachineType)
		}
	})
}

// TestMendedPartsGoFirst holds that a machine type which is taken back together with a change of the version is changed first, when the
// node pool has the one that is not wanted and its machines do not: those of the new version would never join.
func TestMendedPartsGoFirst(t *testing.T) {
	inWorld(t, func(w *world) {
		w.reach(3)
		w.change(func(s *gcpv1.GCPManagedMachinePoolSpec) { s.InstanceType = new("n2-standard-4") })
		w.cancel(w.roll(0))
		w.change(func(s *gcpv1.GCPManagedMachinePoolSpec) { s.InstanceType = new("e2-standard-4") })
		w.target.KubernetesVersion = latest
		if o := w.roll(10 * time.Second); !o.ProviderRollout.Runs() || !o.ProviderRollout.Template.Same(o.Wanted) ||
			w.held().MachineType != "e2-standard-4" {
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

// TestCancelledRolloutOfKernelSettings holds that machines which a cancelled upgrade of kernel settings has not replaced count as older
// ones, to a driver that has seen nothing too, also when the upgrade went on and was cancelled again or the node pool was changed in place,
// and that they are replaced when it goes on.
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

// TestOperationsAreReadOnceForOlderMachines holds that machines which are older because the node pool was changed in place are as wanted,
// and that a driver which has seen nothing reads the operations once for them.
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

// TestRolloutAtRestByAnOldRead holds that GKE counts as at work on a node pool for which it began a rollout a moment ago, also when a read
// that is behind shows the node pool at rest: its new machines would count as too many, and be removed.
func TestRolloutAtRestByAnOldRead(t *testing.T) {
	inWorld(t, func(w *world) {
		w.reach(2)
		w.change(func(s *gcpv1.GCPManagedMachinePoolSpec) { s.InstanceType = new("n2-standard-4") })
		w.amid()
		if err := w.cloud.Faults().Add(sim.Fault{Kind: sim.Stale, Action: "projects.locations.clusters.get",
			Delay: sim.Duration(30 * time.Minute)}); err != nil {
			w.Fatal(err)
		}
		o := w.observe()
		if o.Group == nil || o.Group.State != "RUNNING" || o.Group.Busy == nil {
			t.Errorf("want a node pool that is shown at rest and busy, got %+v", o.Group)
		}
	})
}
