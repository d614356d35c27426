package agentpool_test

import (
	"testing"

	"github.com/muster-project/muster/pool"
)

// TestExcessIsKept holds that AKS leaves the machines of an aborted removal, which its count does not include.
func TestExcessIsKept(t *testing.T) {
	inWorld(t, func(w *world) {
		w.start(pool.Step{Kind: pool.CreateGroup, Size: 3})
		if o := w.observe(); o.Group.KeepsExcess || o.Group.Least != 0 {
			w.Errorf("want a pool of its size that may be empty, got %+v", o.Group)
		}
		remove := pool.Step{Kind: pool.Remove, Targets: []pool.InstanceRef{{ID: w.observe().Instances[0].ID}}}
		if err := w.driver.Start(w.Context(), w.target, remove); err != nil {
			w.Fatal(err)
		}
		if err := w.cloud.AKS.AbortPool(clusterName + "/" + poolName); err != nil {
			w.Fatal(err)
		}
		settle()
		if o := w.observe(); len(o.Instances) != 3 || o.Group.Size != 2 || !o.Group.KeepsExcess {
			w.Errorf("want one machine more than the size, and that AKS keeps it, got %+v with %d machines", o.Group, len(o.Instances))
		}
	})
}
