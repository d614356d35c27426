package containerservice

import (
	"github.com/muster-project/muster/sim/document"
)

// DesiredCluster is a managed cluster that another provider requests.
type DesiredCluster struct {
	// SubscriptionID, Group and Name of the cluster. The resource group need not exist.
	SubscriptionID string `json:"subscriptionId"`
	Group          string `json:"resourceGroup"`
	Name           string `json:"name"`
	// Body is that of the request. Its pools matter when the cluster is created, and later those that it lists and that exist.
	Body document.Object `json:"body"`
	// Access describes the access to the cluster's API server.
	Access Access `json:"access"`
}

// PutCluster creates a managed cluster as a request would, or applies the differences from the desired one, and returns the result. A
// failed cluster is returned as it is, and the operation is repeated after some time. While another operation runs, a difference is
// rejected with AKS's error.
func (c Portal) PutCluster(want DesiredCluster) (out Inspected, err error) {
	err = c.by(func(w *Service) error {
		out, err = w.provision(want)
		return err
	})
	return out, err
}

// provision creates or changes a cluster to the desired state.
func (w *Service) provision(want DesiredCluster) (Inspected, error) {
	body := document.Object{}
	document.Merge(body, want.Body)
	document.Preset(body, "properties", document.Object{})
	profiles := document.Objects(body, "properties.agentPoolProfiles")
	delete(document.Under(body, "properties"), "agentPoolProfiles")
	k := w.rows.clusters.Get(clusterKey(want.SubscriptionID, want.Group, want.Name))
	if k == nil {
		made, err := w.managed.create(want.SubscriptionID, w.core.GroupName(want.SubscriptionID, want.Group), want.Name, body, profiles)
		if err != nil {
			return Inspected{}, err
		}
		w.give(made, want.Access)
		w.managed.begin(made)
		return w.inspectCluster(made), nil
	}
	w.give(k, want.Access)
	if k.differs(body) {
		if err := w.carryOut(k, body); err != nil {
			return Inspected{}, err
		}
		return w.inspectCluster(k), nil
	}
	seen := w.inspectCluster(k)
	if k.State == stateFailed && !k.Until.After(w.core.Now) {
		return seen, w.carryOut(k, body)
	}
	return seen, nil
}

// carryOut begins to change a cluster.
func (w *Service) carryOut(k *Cluster, body document.Object) error {
	if err := w.managed.open(k); err != nil {
		return err
	}
	_, err := w.managed.change(k, body, nil, versions[len(versions)-1])
	return err
}

// differs reports whether a request with the body would change a cluster.
func (c *Cluster) differs(body document.Object) bool {
	next := document.Copied(c.Doc)
	if _, found := body["tags"]; found {
		delete(next, "tags")
	}
	document.Merge(next, body)
	return !document.Same(next, c.Doc)
}

// DeleteCluster begins to delete a managed cluster with its pools. It reports whether the cluster is gone.
func (c Portal) DeleteCluster(subscription, group, name string) (gone bool, err error) {
	err = c.by(func(w *Service) error {
		k := w.rows.clusters.Get(clusterKey(subscription, group, name))
		gone = k == nil
		if k != nil && k.State != stateDeleting {
			w.life.deleteCluster(k)
		}
		return nil
	})
	return gone, err
}

// StopCluster stops a cluster with all its pools, and StartCluster starts it again.
func (c Portal) StopCluster(cluster string) error { return c.power(cluster, powerStopped) }

// StartCluster starts a cluster that was stopped.
func (c Portal) StartCluster(cluster string) error { return c.power(cluster, powerRunning) }

func (c Portal) power(cluster, want string) error {
	return c.onCluster(cluster, func(w *Service, k *Cluster) error {
		if err := w.managed.open(k); err != nil {
			return err
		}
		w.life.switchCluster(k, want)
		return nil
	})
}

// UpgradeNodeImage gives all nodes of a pool the newest node image.
func (c Portal) UpgradeNodeImage(pool string) error {
	return c.onPool(pool, func(w *Service, k *Cluster, p *Pool) error {
		if err := w.agentPools.open(k, p); err != nil {
			return err
		}
		w.agentPools.renewImage(k, p)
		return nil
	})
}
