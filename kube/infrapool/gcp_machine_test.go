package infrapool_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	gcpv1 "github.com/muster-project/muster/api/gcp/v1beta1"
	"github.com/muster-project/muster/kube/machines"
	"github.com/muster-project/muster/pool"
	"github.com/muster-project/muster/providers/gcp/gcpmachinepool"
)

// TestGCPMachine holds what is written of an instance: what is known and no more.
func TestGCPMachine(t *testing.T) {
	t.Parallel()
	now := time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)
	current := pool.Template{Ref: "mp-2", Content: "v1:b"}
	spot := &gcpv1.GCPMachinePool{Spec: gcpv1.GCPMachinePoolSpec{InstanceType: "n2-standard-2",
		ProvisioningModel: new(gcpv1.ProvisioningSpot)}}
	preemptible := &gcpv1.GCPMachinePool{Spec: gcpv1.GCPMachinePoolSpec{InstanceType: "n2-standard-2", Preemptible: true}}
	const id = "gce://p/us-central1-a/mp-x7k2"
	type facts struct {
		ProviderID, Type, Zone, State     string
		Ready, Provisioned, Interruptible bool
		Condition, Message                string
	}
	for name, tc := range map[string]struct {
		reason string
		before gcpv1.GCPMachine
		pool   *gcpv1.GCPMachinePool
		seen   pool.Instance
		want   facts
	}{
		"not there yet": {"what the group does with it is all that is known", gcpv1.GCPMachine{}, &gcpv1.GCPMachinePool{},
			pool.Instance{ID: "mp-x7k2", ProviderID: id, Zone: "us-central1-a", State: pool.Pending, CloudState: "CREATING"},
			facts{ProviderID: id, Zone: "us-central1-a", State: "CREATING", Condition: "False InstancePending",
				Message: "instance mp-x7k2 is CREATING"}},
		"of the wanted template": {"it has what the specification says, in the words of both contracts", gcpv1.GCPMachine{}, spot,
			pool.Instance{ID: "7", ProviderID: id, State: pool.Running, CloudState: "RUNNING", Template: current},
			facts{ProviderID: id, Type: "n2-standard-2", State: "RUNNING", Ready: true, Provisioned: true, Interruptible: true,
				Condition: "True InstanceRunning", Message: "instance 7 runs"}},
		"preemptible": {"it is taken back as well", gcpv1.GCPMachine{}, preemptible,
			pool.Instance{ID: "7", ProviderID: id, State: pool.Running, CloudState: "RUNNING (VERIFYING)", Template: current},
			facts{ProviderID: id, Type: "n2-standard-2", State: "RUNNING", Ready: true, Provisioned: true, Interruptible: true,
				Condition: "True InstanceRunning", Message: "instance 7 runs"}},
		"of an older template": {"what that said is not known any more", gcpv1.GCPMachine{}, spot,
			pool.Instance{ID: "7", ProviderID: id, State: pool.Running, CloudState: "RUNNING",
				Template: pool.Template{Ref: "mp-1", Content: "v1:a"}},
			facts{ProviderID: id, State: "RUNNING", Ready: true, Provisioned: true, Condition: "True InstanceRunning", Message: "instance 7 runs"}},
		"of a type that was not known": {"the provider of clusters refuses a type that comes later",
			gcpv1.GCPMachine{Spec: gcpv1.GCPMachineSpec{ProviderID: id}}, spot,
			pool.Instance{ID: "7", ProviderID: id, State: pool.Running, CloudState: "RUNNING", Template: current},
			facts{ProviderID: id, State: "RUNNING", Ready: true, Provisioned: true, Interruptible: true, Condition: "True InstanceRunning",
				Message: "instance 7 runs"}},
		"going": {"what was provisioned stays so, and what is known is kept",
			gcpv1.GCPMachine{Spec: gcpv1.GCPMachineSpec{ProviderID: id, InstanceType: "e2-small"},
				Status: gcpv1.GCPMachineStatus{Ready: true, FailureDomain: "us-central1-a"}}, &gcpv1.GCPMachinePool{},
			pool.Instance{ID: "7", ProviderID: id, State: pool.Terminating, CloudState: "STOPPING (DELETING)"},
			facts{ProviderID: id, Type: "e2-small", Zone: "us-central1-a", State: "STOPPING", Ready: true,
				Condition: "False InstanceTerminating", Message: "instance 7 is STOPPING (DELETING)"}},
		"being deleted": {"it says what it waits for",
			gcpv1.GCPMachine{ObjectMeta: metav1.ObjectMeta{DeletionTimestamp: &metav1.Time{Time: now}}}, &gcpv1.GCPMachinePool{},
			pool.Instance{ID: "7", ProviderID: id, State: pool.Failed, CloudState: "TERMINATED"},
			facts{ProviderID: id, State: "TERMINATED", Condition: "False Deleting", Message: "waiting for instance 7 to be gone"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := tc.before.DeepCopy()
			k := gcpmachinepool.Adapter{}.Kind().Machines
			seen := machines.Seen{Instance: tc.seen, Pool: tc.pool, Wanted: current, Now: now}
			k.FillSpec(o, seen)
			k.FillStatus(o, seen)
			got := facts{o.Spec.ProviderID, o.Spec.InstanceType, o.Status.FailureDomain, o.Status.InstanceStatus,
				o.Status.Ready, o.Status.Initialization.Provisioned != nil, o.Status.Interruptible, "", ""}
			if c := meta.FindStatusCondition(o.Status.Conditions, "Ready"); c != nil {
				got.Condition, got.Message = string(c.Status)+" "+c.Reason, c.Message
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
			again := o.DeepCopy()
			seen.Now = now.Add(time.Hour)
			k.FillSpec(again, seen)
			k.FillStatus(again, seen)
			if diff := cmp.Diff(o, again); diff != "" {
				t.Errorf("the same facts an hour later say something else:\n%s", diff)
			}
			if k.ProviderID(o) != got.ProviderID {
				t.Errorf("want the ID read back, got %q", k.ProviderID(o))
			}
		})
	}
}

// TestGCPMachineIsNoInstanceOfTheProviderOfClusters holds what keeps the controller of the provider of clusters from instances of pools: it
// finds an instance by the name of the object, which none has, before the instance exists and after; and a finalizer of Muster's own keeps
// the object when that controller has nothing to delete.
func TestGCPMachineIsNoInstanceOfTheProviderOfClusters(t *testing.T) {
	t.Parallel()
	k := gcpmachinepool.Adapter{}.Kind().Machines
	i := pool.Instance{ID: "mp-f423fb9b85-x7k2", ProviderID: "gce://p/us-central1-a/mp-f423fb9b85-x7k2"}
	before := k.NameOf("mp", i)
	i.ID, i.UID = "7", "7"
	if after := k.NameOf("mp", i); before != "mp-mp-f423fb9b85-x7k2" || after != before {
		t.Errorf("want the name of the pool and of the instance, got %s and %s", before, after)
	}
	o := &gcpv1.GCPMachine{ObjectMeta: metav1.ObjectMeta{Finalizers: []string{k.Finalizer, gcpv1.MachineFinalizer}}}
	if k.Finalizer == gcpv1.MachineFinalizer || !k.Holds(o) {
		t.Errorf("want a finalizer of Muster's own, got %s", k.Finalizer)
	}
	if k.Release(o); len(o.Finalizers) > 0 {
		t.Errorf("want the object free of both, got %v", o.Finalizers)
	}
}
