package scaleway

import (
	"fmt"

	"github.com/muster-project/muster/sim/document"
	"github.com/muster-project/muster/sim/managed"
)

// idOf returns the ID of a pool.
func idOf(p *managed.Pool) string { return document.Text(p.Doc, "id") }

// open refuses a change of a pool in a state that allows none. A resize waits for more.
func (w *region) open(c *managed.Cluster, p *managed.Pool, resize bool) error {
	cluster, status := w.clusterStatus(c), w.poolStatus(p)
	switch {
	case cluster == "locked":
		return locked("cluster", c.Key)
	case status == "locked":
		return locked("pool", idOf(p))
	case status == "deleting":
		return transient("pool", idOf(p), status)
	}
	if err := w.resizable(p, status); resize && err != nil {
		return err
	}
	if cluster == "deleting" || w.Switches.On(BusyClusters) && (cluster == "creating" || cluster == "updating") {
		return transient("cluster", c.Key, cluster)
	}
	return nil
}

// resizable refuses a resize of a pool whose nodes are being changed.
func (w *region) resizable(p *managed.Pool, status string) error {
	switch {
	case status == "upgrading" && w.Switches.On(RefusesOtherwise):
		return precondition("the pool is being upgraded")
	case status == "upgrading", w.Switches.On(BusyPools) && status == "scaling" && p.Op != "":
		return transient("pool", idOf(p), status)
	}
	return nil
}

func createPool(x *exchange, w *region, c *managed.Cluster) (any, error) {
	body := poolBody{}
	if err := x.decode(&body); err != nil {
		return nil, err
	}
	switch status := w.clusterStatus(c); {
	case status == "locked":
		return nil, locked("cluster", c.Key)
	case status == "deleting", w.Switches.On(BusyClusters) && status != "ready" && status != "pool_required":
		return nil, transient("cluster", c.Key, status)
	}
	if err := addPool(w, c, body); err != nil {
		return nil, err
	}
	return w.showPool(c, w.service.Pools.Get(c.Key+"/"+body.Name)), nil
}

func updatePool(x *exchange, w *region, c *managed.Cluster, p *managed.Pool) (any, error) {
	body := poolBody{}
	if err := x.decode(&body); err != nil {
		return nil, err
	}
	next := p.Spec
	next.Doc = document.Copied(p.Doc)
	if err := change(w, c, p, &next, body); err != nil {
		return nil, err
	}
	if err := w.open(c, p, next.Count != p.Count); err != nil {
		return nil, err
	}
	w.service.ChangePool(c, p, next)
	return w.showPool(c, p), nil
}

func upgradePool(x *exchange, w *region, c *managed.Cluster, p *managed.Pool) (any, error) {
	body := poolBody{}
	if err := x.decode(&body); err != nil {
		return nil, err
	}
	if body.Version != c.Goal {
		return nil, invalid("version", "constraint", fmt.Sprintf("version %q is not that of the cluster, %s", body.Version, c.Goal))
	}
	if err := w.open(c, p, false); err != nil {
		return nil, err
	}
	status := w.poolStatus(p)
	if status == "upgrading" || status == "scaling" && !w.Switches.On(UpgradesScaling) {
		return nil, transient("pool", idOf(p), status)
	}
	next := p.Spec
	next.Version = body.Version
	w.service.ChangePool(c, p, next)
	return w.showPool(c, p), nil
}

func deletePool(x *exchange, w *region, c *managed.Cluster, p *managed.Pool) (any, error) {
	if document.Truth(p.Doc, "locked") {
		return nil, locked("pool", idOf(p))
	}
	if p.State != managed.Deleting {
		w.service.DeletePool(c, p)
	}
	return w.showPool(c, p), nil
}

// edit changes labels and taints of a pool in place.
func edit(x *exchange, w *region, c *managed.Cluster, p *managed.Pool, only func(*poolBody) poolBody) (any, error) {
	body := poolBody{}
	if err := x.decode(&body); err != nil {
		return nil, err
	}
	if err := w.open(c, p, false); err != nil {
		return nil, err
	}
	next := p.Spec
	next.Doc = document.Copied(p.Doc)
	only(&body).mark(&next)
	w.service.EditPool(p, next)
	return w.showPool(c, p), nil
}

func setLabels(x *exchange, w *region, c *managed.Cluster, p *managed.Pool) (any, error) {
	return edit(x, w, c, p, func(b *poolBody) poolBody { return poolBody{Labels: orEmpty(b.Labels)} })
}

func setTaints(x *exchange, w *region, c *managed.Cluster, p *managed.Pool) (any, error) {
	return edit(x, w, c, p, func(b *poolBody) poolBody { return poolBody{Taints: orEmpty(b.Taints)} })
}

func setStartupTaints(x *exchange, w *region, c *managed.Cluster, p *managed.Pool) (any, error) {
	return edit(x, w, c, p, func(b *poolBody) poolBody { return poolBody{StartupTaints: orEmpty(b.StartupTaints)} })
}

// orEmpty returns an empty value for one that a request does not name.
func orEmpty[T any](v *T) *T {
	if v == nil {
		return new(T)
	}
	return v
}

func getPool(x *exchange, w *region, c *managed.Cluster, p *managed.Pool) (any, error) {
	return w.showPool(c, p), nil
}

func listPools(x *exchange, w *region, c *managed.Cluster) (any, error) {
	var all []document.Object
	for _, p := range w.service.PoolsOf(c) {
		all = append(all, w.showPool(c, p))
	}
	return x.listed(w, "pools", all)
}
