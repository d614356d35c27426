package aws_test

import (
	"testing"

	"github.com/muster-project/muster/pool"
	"github.com/muster-project/muster/sim"
)

// EC2 may not show an instance yet that the group shows: the others are known all the same, and it is asked for again.
func TestInstancesThatEC2DoesNotShowYet(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		target, o := w.create(aTarget(), 3)
		late := o.Instances[0].ID
		w.driver = w.newDriver()
		if err := w.server.Faults().Add(sim.Fault{
			Kind: sim.ErrorBefore, Action: "DescribeInstances", Times: 1, Status: 400,
			Code: "InvalidInstanceID.NotFound", Message: "The instance ID '" + late + "' does not exist",
		}); err != nil {
			t.Fatal(err)
		}
		o = w.observe(target)
		if len(o.Instances) != 3 || o.Instances[2].ID != late || !o.Instances[2].Created.IsZero() || known(o) != 2 {
			t.Errorf("want %s last, without the moment at which it was made, and both others with theirs, got %+v", late, o.Instances)
		}
		if o = w.observe(target); known(o) != 3 {
			t.Errorf("want all known, got %+v", o.Instances)
		}
		if sent := w.operations(func() { w.observe(target) }); len(sent) != 1 {
			t.Errorf("want what is known not asked again, got %v", sent)
		}
	})
}

// known counts the instances of which it is known when they were made.
func known(o pool.Observed) int {
	n := 0
	for _, i := range o.Instances {
		if !i.Created.IsZero() {
			n++
		}
	}
	return n
}
