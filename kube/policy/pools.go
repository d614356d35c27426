package policy

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Pool is a MachinePool as policies select it.
type Pool struct {
	Name string
	Subject
}

// Pools returns the pools of a namespace, or of all namespaces if it is empty, by namespace and name. The labels of namespaces are read
// only if namespaces is true.
func Pools(ctx context.Context, c client.Reader, namespace string, namespaces bool) ([]Pool, error) {
	list, clusters := &clusterv1.MachinePoolList{}, &clusterv1.ClusterList{}
	for _, l := range []client.ObjectList{list, clusters} {
		if err := c.List(ctx, l, client.InNamespace(namespace), client.UnsafeDisableDeepCopy); err != nil {
			return nil, fmt.Errorf("list the pools and Clusters: %w", err)
		}
	}
	labelled := map[string]map[string]string{}
	if namespaces {
		all := &corev1.NamespaceList{}
		if err := c.List(ctx, all, client.UnsafeDisableDeepCopy); err != nil {
			return nil, fmt.Errorf("list the namespaces: %w", err)
		}
		for k := range all.Items {
			labelled[all.Items[k].Name] = all.Items[k].Labels
		}
	}
	of := map[client.ObjectKey]*clusterv1.Cluster{}
	for k := range clusters.Items {
		of[client.ObjectKeyFromObject(&clusters.Items[k])] = &clusters.Items[k]
	}
	pools := make([]Pool, 0, len(list.Items))
	for k := range list.Items {
		pool := &list.Items[k]
		p := Pool{Name: pool.Name, Subject: Subject{Namespace: pool.Namespace, PoolLabels: pool.Labels,
			NamespaceLabels: labelled[pool.Namespace]}}
		if cluster := of[client.ObjectKey{Namespace: pool.Namespace, Name: pool.Spec.ClusterName}]; cluster != nil {
			p.ClusterLabels = cluster.Labels
		}
		pools = append(pools, p)
	}
	slices.SortFunc(pools, func(a, b Pool) int { return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name)) })
	return pools, nil
}

// Contradiction is a pool whose policies are never open at the same time, although each of them opens.
type Contradiction struct {
	Pool Pool
	Effective
}

// String names the pool and the policies.
func (c Contradiction) String() string {
	return fmt.Sprintf("MachinePool %s/%s: %s are never open at the same time", c.Pool.Namespace, c.Pool.Name, c.names())
}

// Contradict returns the first pool that p selects and whose policies, among p and others, contradict each other.
func Contradict(p *Policy, others []*Policy, pools []Pool, now time.Time) (found Contradiction, contradict bool) {
	known := map[string]bool{}
	for _, pool := range pools {
		if !p.Selects(pool.Subject) {
			continue
		}
		set, key := []*Policy{p}, ""
		for _, o := range others {
			// A policy that is invalid or never opens has a fault of its own.
			if o.Selects(pool.Subject) && o.invalid == nil && !o.Calendar().NeverOpens(now) {
				set, key = append(set, o), key+o.id+"\n"
			}
		}
		if known[key] || len(set) == 1 {
			continue
		}
		known[key] = true
		if e := Merge(set); e.Calendar.NeverOpens(now) {
			return Contradiction{pool, e}, true
		}
	}
	return Contradiction{}, false
}
