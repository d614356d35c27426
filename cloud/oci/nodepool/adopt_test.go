package nodepool_test

import (
	"testing"

	ociv1 "github.com/muster-project/muster/api/oci/v1beta2"
	"github.com/muster-project/muster/cloud/oci/containerengine"
	domain "github.com/muster-project/muster/pool"
	"github.com/muster-project/muster/sim/oci"
)

// TestAdoption: a node pool of the ecosystem's provider is adopted with its tags alone, and none of its nodes is replaced. Its nodes have
// no tag with what they were created from: a later change makes them stale.
func TestAdoption(t *testing.T) {
	inWorld(t, oci.Options{}, func(w *world) {
		tags := map[string]string{ociv1.TagCreatedBy: ociv1.TagCreatedByValue, ociv1.TagCluster: "cluster-uid"}
		if err := w.cloud.CreatePool(clusterName, "pool", 2, tags); err != nil {
			t.Fatal(err)
		}
		settle()
		is := w.shown()
		w.update(containerengine.UpdateNodePoolDetails{NodeConfigDetails: &containerengine.UpdateNodePoolNodeConfigDetails{
			NsgIds: []string{part("networksecuritygroup", "worker", "").ID},
			NodePoolPodNetworkOptionDetails: &containerengine.NodePoolPodNetworkOptionDetails{CniType: new(string(ociv1.CNINative)),
				PodSubnetIds: []string{part("subnet", "pod", "").ID}, PodNsgIds: []string{part("networksecuritygroup", "pod", "").ID},
				MaxPodsPerNode: new(31)}}})
		w.change(func(s *spec) { s.NodeShapeConfig, s.SSHPublicKey = nil, "" })
		w.target.GroupID = "oci://" + *is.Id // as the ecosystem writes it
		o := w.observe()
		if o.Unowned == nil || !o.Unowned.OfCluster || o.OwnershipConflict == nil {
			t.Fatalf("want a node pool of the cluster to be adopted, got %+v", o)
		}
		w.target.AssumeOwned = true
		if o := w.observe(); stale(o) > 0 {
			t.Errorf("want a preview without a replaced node, got %+v, %+v", o.Wanted, o.Instances)
		}
		w.target.AssumeOwned = false
		w.start(domain.Step{Kind: domain.Adopt})
		if o = w.observe(); o.OwnershipConflict != nil || len(o.Instances) != 2 {
			t.Fatalf("want the node pool adopted, got %+v", o)
		}
		w.target.Remembered = o.ResolvedLookups
		w.start(domain.Step{Kind: domain.UpdateGroup, Template: o.Latest().Ref, Fields: o.Group.Drift})
		if o = w.observe(); len(o.Group.Drift) > 0 || len(o.Instances) != 2 {
			t.Errorf("want the rest brought to the specification, got %+v", o.Group)
		}
		w.change(other)
		w.launch()
		if o := w.observe(); stale(o) != 2 {
			t.Errorf("want the adopted nodes stale after a change, got %+v", o.Instances)
		}
		w.start(domain.Step{Kind: domain.Resize, Size: 3})
		if o := w.observe(); stale(o) != 2 || len(o.Instances) != 3 {
			t.Errorf("want the new node as wanted, got %+v", o.Instances)
		}
	})
}
