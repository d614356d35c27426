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

// blueGreen has GKE replace nodes with strategy BLUE_GREEN.
func (w *world) blueGreen() {
	w.change(func(s *gcpv1.GCPManagedMachinePoolSpec) {
		s.UpgradeSettings = &gcpv1.UpgradeSettings{Strategy: gcpv1.UpgradeBlueGreen, BlueGreenSettings: &gcpv1.BlueGreenSettings{
			NodePoolSoakDuration: &metav1.Duration{Duration: 2 * time.Hour},
			StandardRolloutPolicy: &gcpv1.StandardRolloutPolicy{BatchNodeCount: new(int32(1)),
				BatchSoakDuration: &metav1.Duration{Duration: time.Minute}},
		}}
	})
}

// TestBlueGreen holds that a blue-green upgrade keeps the size, is told with its phase, soaks, and is not completed early; and that one
// which is paused counts the machines that are to go, and names the others.
func TestBlueGreen(t *testing.T) {
	inWorld(t, func(w *world) {
		w.blueGreen()
		w.reach(3)
		w.target.KubernetesVersion = latest
		o := w.roll(6 * time.Minute)
		w.cancel(o)
		o = w.observe()
		if o.Group.Size != 3 || len(o.Instances) != 3 || fresh(o) != 0 || len(o.Beside) != 3 ||
			o.ProviderRollout.State != pool.ProviderRolloutCancelled {
			w.Fatalf("want a paused upgrade of three machines, got %+v with %d machines, %d of them fresh, beside %v, %+v", o.Group,
				len(o.Instances), fresh(o),
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
			w.Errorf("want the upgrade ended after its soak time (%t), got %d of %d machines, %+v", soaked, fresh(o), len(o.Instances),
				o.ProviderRollout)
		}
	})
}

// TestPausedBlueGreen holds how a blue-green upgrade that is paused ends, beside which GKE changes nothing else: it is rolled back unless
// all that it changes is wanted, and where another part is to be changed first; and resumed otherwise, also where more is wanted by now.
func TestPausedBlueGreen(t *testing.T) {
	const rollback, update = "container:projects.locations.clusters.nodePools.rollback",
		"container:projects.locations.clusters.nodePools.update"
	type spec = gcpv1.GCPManagedMachinePoolSpec
	larger := func(s *spec) { s.InstanceType = new("n2-standard-4") }
	another := func(s *spec) { s.ImageType = new("UBUNTU_CONTAINERD") }
	both := func(s *spec) { s.InstanceType, s.ImageType = new("n2-standard-4"), new("UBUNTU_CONTAINERD") }
	for _, c := range []struct {
		name          string
		change, after func(*spec)
		version, sent string
	}{
		{"taken back, with parts that were not named before", larger,
			func(s *spec) { s.InstanceType, s.DiskSizeGb = new("e2-standard-4"), new(int32(100)) }, version, rollback},
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
						w.Errorf("seen before: %t: want three machines that are to go and three beside them, got %d, %d of them fresh, beside %v", seen,
							len(o.Instances),
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
				if is := w.held(); fresh(o) != 3 || len(o.Instances) != 3 || is.MachineType != w.target.Spec.Pool.Machine() ||
					is.Version != c.version[1:] || is.ImageType != *w.target.Spec.Pool.ImageType {
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
		if err := w.cloud.GKE.UpdatePool(clusterName+"/"+poolName,
			document.Object{"imageType": "UBUNTU_CONTAINERD", "nodeVersion": w.held().Version}); err != nil {
			w.Fatal(err)
		}
		<-time.After(6 * time.Minute)
		w.cancel(w.observe())
		sent := w.sent(func() { w.roll(0) })
		settle()
		if o := w.observe(); !slices.Equal(sent, []string{"container:projects.locations.clusters.nodePools.rollback"}) || fresh(o) != 3 ||
			w.held().ImageType != "COS_CONTAINERD" {
			w.Errorf("want the upgrade rolled back, got %v, %d fresh machines, %s", sent, fresh(o), w.held().ImageType)
		}
	})
}

// TestStoppedBlueGreen holds that a blue-green upgrade which stops where it has no machine left that is to go has all its machines, is
// named as left half-done, and is ended, also by a driver that has not seen it begin: GKE changes nothing else of the node pool before.
func TestStoppedBlueGreen(t *testing.T) {
	const former, later = "e2-standard-4", "n2-standard-4"
	machine := func(w *world, name string) {
		w.change(func(s *gcpv1.GCPManagedMachinePoolSpec) { s.InstanceType = new(name) })
	}
	stop := func(w *world, when func() bool) {
		for range 1000 {
			if when() {
				break
			}
			<-time.After(4 * time.Second)
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
			if testing.Short() && seen {
				continue
			}
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
						w.Errorf("want three machines and an upgrade that is left half-done, got %d of %d, %v", len(o.Instances), o.Group.Size,
							o.Group.Unfinished)
					}
					steps := newPlay(w, 3).run(maxPasses)
					o := w.observe()
					if len(o.Instances) != 3 || fresh(o) != 3 || o.Group.Unfinished != nil || w.held().MachineType != c.want ||
						steps != string(pool.StartProviderRollout) {
						w.Errorf("want three machines as wanted after a rollout, got %d, %d of them as wanted, %v, after %q", len(o.Instances), fresh(o),
							o.Group.Unfinished, steps)
					}
				})
			})
		}
	}
}

// TestRolledBackUnseen holds that the machines which a rollback leaves are as the node pool, also where nothing tells how it ended: a
// driver that has not seen the upgrade begin, and that may not read operations.
func TestRolledBackUnseen(t *testing.T) {
	inWorld(t, func(w *world) {
		w.blueGreen()
		w.reach(3)
		w.change(func(s *gcpv1.GCPManagedMachinePoolSpec) { s.InstanceType = new("n2-standard-4") })
		w.cancel(w.roll(6 * time.Minute))
		w.newcomer()
		if err := w.cloud.Faults().Add(sim.Fault{Kind: sim.ErrorBefore, Action: "projects.locations.operations.*", Code: "PERMISSION_DENIED",
			Status: http.StatusForbidden}); err != nil {
			w.Fatal(err)
		}
		w.change(func(s *gcpv1.GCPManagedMachinePoolSpec) { s.InstanceType = new("e2-standard-4") })
		sent := w.sent(func() { w.roll(0) })
		settle()
		if o := w.observe(); !slices.Equal(sent, []string{"container:projects.locations.clusters.nodePools.rollback"}) || fresh(o) != 3 ||
			len(o.Instances) != 3 {
			w.Errorf("want the upgrade rolled back and three machines as wanted, got %v, %d of %d", sent, fresh(o), len(o.Instances))
		}
	})
}

// TestPausedWithoutTemplates holds that a blue-green upgrade which is not wanted any more is rolled back, also where the credentials do not
// allow to read templates: the older machines do not count as what the node pool is by then. So does a driver that has not seen the upgrade
// begin.
func TestPausedWithoutTemplates(t *testing.T) {
	for name, seen := range map[string]bool{"seen": true, "not seen": false} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(w *world) {
				denied := sim.Fault{Kind: sim.ErrorBefore, Action: "*nstanceTemplates.*", Code: "forbidden", Message: "no permission",
					Status: http.StatusForbidden}
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
					w.Errorf("want three machines that are to go and three beside them, got %d, %d of them fresh, beside %v", len(o.Instances), fresh(o),
						o.Beside)
				}
				sent := w.sent(func() { w.roll(0) })
				settle()
				if o := w.observe(); !slices.Equal(sent, []string{"container:projects.locations.clusters.nodePools.rollback"}) || fresh(o) != 3 ||
					len(o.Instances) != 3 {
					w.Errorf("want the upgrade rolled back and three machines as wanted, got %v, %d of %d", sent, fresh(o), len(o.Instances))
				}
			})
		})
	}
}
