package gcp

import (
	"errors"
	"net/http"
	"time"

	"github.com/muster-project/muster/sim"
	"github.com/muster-project/muster/sim/core"
	"github.com/muster-project/muster/sim/document"
	"github.com/muster-project/muster/sim/gcp/container"
	"github.com/muster-project/muster/sim/gcp/project"
)

// poolAction is the body of a request that acts on a node pool. Each action reads what it needs.
type poolAction struct {
	Version, MachineType, Node, Code, Message string
	Nodes                                     int
	Update                                    document.Object
}

// poolActions are what a user, or GKE itself, does to a node pool, by the last part of the path.
func (c *Cloud) poolActions() map[string]func(pool string, a poolAction) error {
	return map[string]func(string, poolAction) error{
		"create":    func(pool string, a poolAction) error { return c.GKE.CreatePool(pool, a.MachineType, a.Nodes) },
		"delete":    func(pool string, _ poolAction) error { return c.GKE.DeletePool(pool) },
		"resize":    func(pool string, a poolAction) error { return c.GKE.ResizePool(pool, a.Nodes) },
		"autoscale": func(pool string, a poolAction) error { return c.GKE.Autoscale(pool, a.Nodes) },
		"upgrade":   func(pool string, a poolAction) error { return c.GKE.UpgradePool(pool, a.Version) },
		"update":    func(pool string, a poolAction) error { return c.GKE.UpdatePool(pool, a.Update) },
		"repair":    func(pool string, a poolAction) error { return c.GKE.Repair(pool, a.Node) },
		"fail":      func(pool string, a poolAction) error { return c.GKE.FailPool(pool, a.Code, a.Message) },
	}
}

// serveGKE adds what is done to GKE by hand: PUT gke/clusters and DELETE gke/clusters/{project}/{location}/{name} are Console.PutCluster
// and DeleteCluster; POST gke/clusters/{name}/upgrade and gke/pools/{cluster}/{pool}/{action} act on what exists.
func (c *Cloud) serveGKE(mux *core.AdminMux) {
	core.Clusters(mux, "gke/clusters", c.GKE.PutCluster, c.GKE.DeleteCluster, refused)
	mux.HandleFunc("POST "+sim.AdminPath+"gke/clusters/{name}/upgrade", func(w http.ResponseWriter, r *http.Request) {
		var a poolAction
		if core.Decoded(w, r, &a) {
			core.Done(w, c.GKE.UpgradeMaster(r.PathValue("name"), a.Version), http.StatusConflict)
		}
	})
	core.PoolActions(mux, "gke/pools", c.poolActions())
}

// refused answers with the status of GKE's own error; that of a request at the wrong time is a conflict.
func refused(w http.ResponseWriter, err error) {
	status := http.StatusConflict
	if e, ok := errors.AsType[*project.Error](err); ok && e.State != "FAILED_PRECONDITION" {
		status = e.Status
	}
	http.Error(w, err.Error(), status)
}

// byContainer does something to what GKE holds by hand.
func (c *Cloud) byContainer(f func(*container.Service) error) error {
	return c.by(func(w *inventory) error { return f(w.container) })
}

// gkeDenied is GKE's refusal of a caller who lacks a permission.
func gkeDenied(permission, path string) *project.Error {
	return &project.Error{
		Status: http.StatusForbidden, Reason: "forbidden", State: "PERMISSION_DENIED",
		Message: "Required \"" + permission + "\" permission(s) for \"" + path + "\".",
	}
}

// gkeThrottled is GKE's refusal of too many requests.
func gkeThrottled(after time.Duration) *project.Error {
	return &project.Error{
		Status: http.StatusTooManyRequests, Reason: "rateLimitExceeded", State: "RESOURCE_EXHAUSTED", RetryAfter: after,
		Message: "Quota exceeded for quota metric 'Requests' and limit 'Requests per minute' of service 'container.googleapis.com' for " +
			"consumer 'project_number:" +
			project.DefaultNumber + "'.",
	}
}

// ignorableOfGKE are the rules of Ignorable for node pools.
func ignorableOfGKE() []sim.Fault {
	var out []sim.Fault
	for action, fields := range container.Settable() {
		out = append(out, core.Ignoring("container", action, fields...)...)
	}
	return out
}
