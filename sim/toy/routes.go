package toy

import (
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/muster-project/muster/sim/core"
	"github.com/muster-project/muster/sim/document"
	"github.com/muster-project/muster/sim/managed"
)

// Account is the account of all clusters.
const Account = "toy-account"

// pageMost is the size of the largest page.
const pageMost = 50

const (
	atCluster = "/v1/clusters/{cluster}"
	atPools   = atCluster + "/pools"
	atPool    = atPools + "/{pool}"
)

type route = core.Route[*region, *exchange, any]

// operations are all operations.
var operations = slices.Concat(routes, groupRoutes)

// routes are the operations on pools.
var routes = []route{
	reads("GetMachineType", "/v1/machine-types/{type}", (*exchange).getMachineType),
	reads("GetCluster", atCluster, (*exchange).getCluster),
	reads("ListPools", atPools, (*exchange).listPools),
	reads("ListNodes", atCluster+"/nodes", (*exchange).listNodes),
	writes("CreatePool", http.MethodPost, atPools, (*exchange).createPool),
	writes("UpdatePool", http.MethodPatch, atPool, onPool((*exchange).updatePool)),
	writes("DeletePool", http.MethodDelete, atPool, onPool((*exchange).deletePool)),
	writes("DeleteNodes", http.MethodPost, atPool+"/delete-nodes", onPool((*exchange).deleteNodes)),
	writes("CancelOperation", http.MethodPost, atPool+"/operations/{operation}/cancel", (*exchange).cancel),
}

func reads(name, pattern string, run func(*exchange, *region) (any, error)) route {
	return route{Method: http.MethodGet, Pattern: pattern, Service: "toy", Name: name, Bucket: BucketReads,
		Run: func(w *region, x *exchange) (any, error) { return run(x, w) }}
}

func writes(name, method, pattern string, run func(*exchange, *region) (any, error)) route {
	return route{Method: method, Pattern: pattern, Service: "toy", Name: name, Bucket: BucketWrites, Mutating: true,
		Run: func(w *region, x *exchange) (any, error) { return run(x, w) }}
}

func (x *exchange) getMachineType(*region) (any, error) {
	t, known := types[x.Vars["type"]]
	if !known {
		return nil, missing("machine type", x.Vars["type"])
	}
	return t, nil
}

// cluster returns the cluster of the request.
func (x *exchange) cluster(w *region) (*managed.Cluster, error) {
	c := w.service.Clusters.Get(x.Vars["cluster"])
	if c == nil {
		return nil, missing("cluster", x.Vars["cluster"])
	}
	return c, nil
}

func (x *exchange) getCluster(w *region) (any, error) {
	c, err := x.cluster(w)
	if err != nil {
		return nil, err
	}
	return showCluster(c), nil
}

func (x *exchange) listPools(w *region) (any, error) {
	c, err := x.cluster(w)
	if err != nil {
		return nil, err
	}
	var all []Pool
	for _, p := range w.service.PoolsOf(c) {
		all = append(all, showPool(w.service, c, p))
	}
	return page(x, w, "pools", all, func(p Pool) string { return p.Name })
}

func (x *exchange) listNodes(w *region) (any, error) {
	c, err := x.cluster(w)
	if err != nil {
		return nil, err
	}
	var all []Node
	for _, p := range w.service.PoolsOf(c) {
		for _, i := range w.service.Instances.Of(p.Key()) {
			all = append(all, showNode(c, p, i))
		}
	}
	return page(x, w, "nodes", all, func(n Node) string { return n.ID })
}

// page returns the page of a list that a request asks for.
func page[T any](x *exchange, w *region, name string, all []T, key func(T) string) (any, error) {
	slices.SortFunc(all, func(a, b T) int { return strings.Compare(key(a), key(b)) })
	size := pageMost
	if n, err := strconv.Atoi(x.Query.Get("pageSize")); err == nil && n > 0 {
		size = min(size, n)
	}
	if w.PageLimit > 0 {
		size = min(size, w.PageLimit)
	}
	items, next, err := core.Page(core.List[T]{Items: all, Key: key, Sorted: true,
		Reversed: w.Switches.On(core.ReversesLists)}, x.Query.Get("pageToken"), size)
	if err != nil {
		return nil, refuse(http.StatusBadRequest, "InvalidBody", "The page token is not valid.")
	}
	out := document.Object{name: items, "total": len(all)}
	if next != "" {
		out["nextPageToken"] = next
	}
	return out, nil
}

// onPool finds the pool of a change, and refuses the change of another revision or of a pool that an operation runs on.
func onPool(run func(*exchange, *region, *managed.Cluster, *managed.Pool) error) func(*exchange, *region) (any, error) {
	return func(x *exchange, w *region) (any, error) {
		c, err := x.cluster(w)
		if err != nil {
			return nil, err
		}
		p := w.service.Pools.Get(c.Key + "/" + x.Vars["pool"])
		if p == nil {
			return nil, missing("pool", x.Vars["pool"])
		}
		if want, is := x.Request.Header.Get("If-Match"), strconv.FormatInt(p.Revision, 10); want != "" && want != is {
			return nil, refuse(http.StatusPreconditionFailed, "PreconditionFailed", "Pool %s has revision %s and not %s.", p.Name, is, want)
		}
		if err := busy(w, c, p); err != nil {
			return nil, err
		}
		if err := run(x, w, c, p); err != nil {
			return nil, err
		}
		return showPool(w.service, c, p), nil
	}
}

func busy(w *region, c *managed.Cluster, p *managed.Pool) error {
	if op := w.service.Busy(c, p); op != nil {
		return refuse(http.StatusConflict, "Busy", "The operation %s runs, which is %s.", op.ID, op.Doing)
	}
	return nil
}

func (x *exchange) createPool(w *region) (any, error) {
	c, err := x.cluster(w)
	if err != nil {
		return nil, err
	}
	next, err := defaults(c).change(c, x.Body)
	switch {
	case err != nil:
		return nil, err
	case w.service.Pools.Get(c.Key+"/"+next.Name) != nil:
		return nil, refuse(http.StatusConflict, "AlreadyExists", "There is a pool %s already.", next.Name)
	case c.Op != "":
		return nil, busy(w, c, nil)
	}
	if err := next.check(c, nil); err != nil {
		return nil, err
	}
	p := &managed.Pool{Name: next.Name, Spec: next.spec()}
	w.service.CreatePool(c, p)
	return showPool(w.service, c, p), nil
}

func (x *exchange) updatePool(w *region, c *managed.Cluster, p *managed.Pool) error {
	is := settingsOf(p)
	next, err := is.change(c, x.Body)
	if err != nil {
		return err
	}
	if err = next.check(c, &is); err == nil {
		w.service.ChangePool(c, p, next.spec())
	}
	return err
}

func (x *exchange) deletePool(w *region, c *managed.Cluster, p *managed.Pool) error {
	w.service.DeletePool(c, p)
	return nil
}

// deleteNodes deletes exactly the nodes that a request names, with others in their place where it says so.
func (x *exchange) deleteNodes(w *region, c *managed.Cluster, p *managed.Pool) error {
	var body struct {
		Nodes   []string `json:"nodes"`
		Replace bool     `json:"replace"`
	}
	if err := read(x.Body, &body); err != nil {
		return err
	}
	var chosen []*managed.Instance
	for _, i := range w.service.Instances.Of(p.Key()) {
		if slices.Contains(body.Nodes, i.ID) && !i.Deleting {
			chosen = append(chosen, i)
		}
	}
	if len(chosen) != len(body.Nodes) || len(chosen) == 0 {
		return refuse(http.StatusNotFound, "NodeNotFound", "%d of %d nodes are in pool %s.", len(chosen), len(body.Nodes), p.Name)
	}
	w.service.DeleteMachines(c, p, body.Replace, chosen...)
	return nil
}

// cancel ends an upgrade: nodes that were replaced stay.
func (x *exchange) cancel(w *region) (any, error) {
	c, err := x.cluster(w)
	if err != nil {
		return nil, err
	}
	p := w.service.Pools.Get(c.Key + "/" + x.Vars["pool"])
	if p == nil || p.Op != x.Vars["operation"] {
		return nil, missing("running operation", x.Vars["operation"])
	}
	if p.State != managed.Upgrading {
		return nil, refuse(http.StatusConflict, "NotCancellable", "An operation that is %s can't be cancelled.", p.State)
	}
	w.service.Cancel(p)
	return showPool(w.service, c, p), nil
}
