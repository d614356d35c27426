package machinepool

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/controllers/clustercache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/muster-project/muster/kube/machinepool/nodesync"
)

// reads counts requests to a client, and the objects that it returns.
type reads struct {
	requests, objects int
	// unselected are lists without a selector.
	unselected []string
}

func (r *reads) over(c client.WithWatch) client.WithWatch {
	return interceptor.NewClient(c, interceptor.Funcs{
		Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, o client.Object, opts ...client.GetOption) error {
			r.requests++
			r.objects++
			return c.Get(ctx, key, o, opts...)
		},
		List: func(ctx context.Context, c client.WithWatch, list client.ObjectList, opts ...client.ListOption) error {
			r.requests++
			o := client.ListOptions{}
			o.ApplyOptions(opts)
			if o.FieldSelector == nil && o.LabelSelector == nil {
				r.unselected = append(r.unselected, fmt.Sprintf("%T", list))
			}
			if err := c.List(ctx, list, opts...); err != nil {
				return err
			}
			r.objects += meta.LenList(list)
			return nil
		},
	})
}

// cost returns what a pass over a settled pool with Machines reads, with a number of Nodes and Machines of other owners.
func cost(t *testing.T, others int) (management, remote *reads) {
	t.Helper()
	w := populated(t)
	for n := range others {
		w.node(fmt.Sprintf("other%d", n), fmt.Sprintf("aws:///eu-west-1a/i-other%d", n), true)
		m := aMachine(fmt.Sprintf("other%d", n), controllerRef("MachinePool", "other", "other-uid"))
		m.Labels = map[string]string{clusterv1.ClusterNameLabel: "c1", clusterv1.MachinePoolNameLabel: "other"}
		w.create(m)
		infra := anInfraMachine(m.Name, fmt.Sprintf("aws:///eu-west-1a/i-other%d", n))
		infra.SetLabels(m.Labels)
		w.create(infra)
	}
	w.settled()
	management, remote = &reads{}, &reads{}
	w.r.Client = management.over(w.mgmt)
	w.r.ClusterCache = clustercache.NewFakeClusterCache(remote.over(w.wl), clusterKey, nodesync.WatchName)
	w.pass()
	wantAll(t, "writes", w.writes, []string{})
	return management, remote
}

// TestPassReadsOnlyItsPool holds that a pass reads as much in a large cluster as in a small one.
func TestPassReadsOnlyItsPool(t *testing.T) {
	t.Parallel()
	management, remote := cost(t, 0)
	manyManagement, manyRemote := cost(t, 60)
	for name, pair := range map[string][2]*reads{"management cluster": {management, manyManagement},
		"workload cluster": {remote, manyRemote}} {
		few, many := pair[0], pair[1]
		if few.requests != many.requests || few.objects != many.objects {
			t.Errorf("%s: want the same reads in both, got %d of %d objects alone and %d of %d with others", name, few.requests, few.objects,
				many.requests, many.objects)
		}
		if len(many.unselected) > 0 {
			t.Errorf("%s: want no list without a selector, got %s", name, strings.Join(many.unselected, ", "))
		}
		// Two nodes by instance and what the pool has claimed; the pool, its Cluster, what it refers to and their kinds.
		if limit := 12; many.requests > limit {
			t.Errorf("%s: want at most %d reads for a pool of two, got %d", name, limit, many.requests)
		}
	}
}
