package infrapool_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	awsv1 "github.com/muster-project/muster/api/aws/v1beta2"
	"github.com/muster-project/muster/kube/machines"
	"github.com/muster-project/muster/pool"
	"github.com/muster-project/muster/providers/aws/awsmachinepool"
)

// TestAWSMachine holds what is written of an instance: what is known and no more.
func TestAWSMachine(t *testing.T) {
	t.Parallel()
	now := time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)
	current := pool.Template{Ref: "lt:2", Content: "v1:b"}
	spot := &awsv1.AWSMachinePool{Spec: awsv1.AWSMachinePoolSpec{AWSLaunchTemplate: awsv1.AWSLaunchTemplate{InstanceType: "m5.large",
		SpotMarketOptions: &awsv1.SpotMarketOptions{}}}}
	mixed := spot.DeepCopy()
	mixed.Spec.MixedInstancesPolicy = &awsv1.MixedInstancesPolicy{}
	type facts struct {
		ProviderID, InstanceID, Type, Zone, State string
		Ready, Provisioned, Interruptible         bool
		Condition                                 string
	}
	for name, tc := range map[string]struct {
		reason string
		before awsv1.AWSMachine
		pool   *awsv1.AWSMachinePool
		seen   pool.Instance
		want   facts
	}{
		"pending": {"nothing can be said of an instance that does not run yet", awsv1.AWSMachine{}, &awsv1.AWSMachinePool{},
			pool.Instance{ID: "i-1", ProviderID: "aws:///a/i-1", Zone: "a", State: pool.Pending},
			facts{ProviderID: "aws:///a/i-1", InstanceID: "i-1", Zone: "a", State: "pending", Condition: "False InstancePending"}},
		"running": {"one that runs is provisioned, in the words of both contracts", awsv1.AWSMachine{}, &awsv1.AWSMachinePool{},
			pool.Instance{ID: "i-1", ProviderID: "aws:///a/i-1", Zone: "a", State: pool.Running},
			facts{ProviderID: "aws:///a/i-1", InstanceID: "i-1", Zone: "a", State: "running", Ready: true, Provisioned: true,
				Condition: "True InstanceRunning"}},
		"of the wanted template": {"it has what the specification says", awsv1.AWSMachine{}, spot,
			pool.Instance{ID: "i-1", ProviderID: "aws:///a/i-1", State: pool.Running, Template: current},
			facts{ProviderID: "aws:///a/i-1", InstanceID: "i-1", Type: "m5.large", State: "running", Ready: true, Provisioned: true,
				Interruptible: true, Condition: "True InstanceRunning"}},
		"of an older template": {"what that said is not known any more", awsv1.AWSMachine{}, spot,
			pool.Instance{ID: "i-1", ProviderID: "aws:///a/i-1", State: pool.Running, Template: pool.Template{Ref: "lt:1", Content: "v1:a"}},
			facts{ProviderID: "aws:///a/i-1", InstanceID: "i-1", State: "running", Ready: true, Provisioned: true,
				Condition: "True InstanceRunning"}},
		"of a mixed group": {"the cloud has chosen", awsv1.AWSMachine{}, mixed,
			pool.Instance{ID: "i-1", ProviderID: "aws:///a/i-1", State: pool.Running, Template: current},
			facts{ProviderID: "aws:///a/i-1", InstanceID: "i-1", State: "running", Ready: true, Provisioned: true,
				Condition: "True InstanceRunning"}},
		"going": {"what was provisioned stays so, and what is known is kept",
			awsv1.AWSMachine{Spec: awsv1.AWSMachineSpec{ProviderID: "aws:////i-1", InstanceID: "i-1", InstanceType: "t3.nano"},
				Status: awsv1.AWSMachineStatus{Ready: true, FailureDomain: "a"}}, spot,
			pool.Instance{ID: "i-1", ProviderID: "aws:///a/i-1", State: pool.Terminating, Template: current},
			facts{ProviderID: "aws:////i-1", InstanceID: "i-1", Type: "t3.nano", Zone: "a", State: "shutting-down", Ready: true, Interruptible: true,
				Condition: "False InstanceTerminating"}},
		"being deleted": {"it says what it waits for",
			awsv1.AWSMachine{ObjectMeta: metav1.ObjectMeta{DeletionTimestamp: &metav1.Time{Time: now}}}, &awsv1.AWSMachinePool{},
			pool.Instance{ID: "i-1", ProviderID: "aws:///a/i-1", State: pool.Failed},
			facts{ProviderID: "aws:///a/i-1", InstanceID: "i-1", State: "stopped", Condition: "False Deleting"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := tc.before.DeepCopy()
			k := awsmachinepool.Adapter{}.Kind().Machines
			seen := machines.Seen{Instance: tc.seen, Pool: tc.pool, Wanted: current, Now: now}
			k.FillSpec(o, seen)
			k.FillStatus(o, seen)
			got := facts{o.Spec.ProviderID, o.Spec.InstanceID, o.Spec.InstanceType, o.Status.FailureDomain, o.Status.InstanceState,
				o.Status.Ready, o.Status.Initialization.Provisioned != nil, o.Status.Interruptible, ""}
			for _, condition := range []string{"Ready", "InstanceReady"} {
				c := meta.FindStatusCondition(o.Status.Conditions, condition)
				if c == nil {
					t.Fatalf("%s: no condition %s", tc.reason, condition)
				}
				got.Condition = string(c.Status) + " " + c.Reason
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
