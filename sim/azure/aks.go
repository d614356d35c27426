package azure

import (
	"errors"
	"net/http"

	"github.com/muster-project/muster/sim/azure/arm"
	"github.com/muster-project/muster/sim/core"
)

// poolAction is the body of a request that acts on an agent pool. Each action reads what it needs.
type poolAction struct {
	Version, Size, Machine, Key, Value, Code, Message string
	Count                                             int
}

// poolActions are what a user, or AKS itself, does to an agent pool, by the last part of the path.
func (c *Cloud) poolActions() map[string]func(pool string, a poolAction) error {
	plain := func(f func(string) error) func(string, poolAction) error {
		return func(pool string, _ poolAction) error { return f(pool) }
	}
	return map[string]func(string, poolAction) error{
		"stop": plain(c.AKS.StopPool), "start": plain(c.AKS.StartPool), "abort": plain(c.AKS.AbortPool), "delete": plain(c.AKS.DeletePool),
		"upgrade-node-image": plain(c.AKS.UpgradeNodeImage),
		"create":             func(pool string, a poolAction) error { return c.AKS.CreatePool(pool, a.Size, a.Count) },
		"scale":              func(pool string, a poolAction) error { return c.AKS.ScalePool(pool, a.Count) },
		"autoscale":          func(pool string, a poolAction) error { return c.AKS.Autoscale(pool, a.Count) },
		"upgrade":            func(pool string, a poolAction) error { return c.AKS.UpgradePool(pool, a.Version) },
		"tag":                func(pool string, a poolAction) error { return c.AKS.TagPool(pool, a.Key, a.Value) },
		"untag":              func(pool string, a poolAction) error { return c.AKS.UntagPool(pool, a.Key) },
		"delete-machine":     func(pool string, a poolAction) error { return c.AKS.DeleteMachine(pool, a.Machine) },
		"fail":               func(pool string, a poolAction) error { return c.AKS.FailPool(pool, a.Code, a.Message) },
	}
}

// serveAKS adds what is done to AKS by hand: PUT aks/clusters and DELETE aks/clusters/{subscription}/{group}/{name} are Portal.PutCluster
// and DeleteCluster; POST aks/clusters/{name}/stop and start, and POST aks/pools/{cluster}/{pool}/{action} act on what exists; PUT
// aks/image releases a node image, and PUT aks/feature registers a feature of previews.
func (c *Cloud) serveAKS(mux *core.AdminMux) {
	core.Clusters(mux, "aks/clusters", c.AKS.PutCluster, c.AKS.DeleteCluster, refused)
	core.Actions(mux, "aks/clusters", map[string]func(string) error{"stop": c.AKS.StopCluster, "start": c.AKS.StartCluster})
	core.PoolActions(mux, "aks/pools", c.poolActions())
	core.Put(mux, "aks/feature", http.StatusBadRequest,
		func(feature struct{ Name string }) error { return c.AKS.RegisterFeature(feature.Name) })
	core.Put(mux, "aks/image", http.StatusBadRequest,
		func(image struct{ Release string }) error { return c.AKS.ReleaseImage(image.Release) })
}

// refused answers with the status of AKS's own error.
func refused(w http.ResponseWriter, err error) {
	status := http.StatusConflict
	if e, ok := errors.AsType[*arm.Error](err); ok {
		status = e.Status
	}
	http.Error(w, err.Error(), status)
}
