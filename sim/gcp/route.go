package gcp

import (
	"net/http"
	"slices"

	"github.com/muster-project/muster/sim"
	"github.com/muster-project/muster/sim/core"
	"github.com/muster-project/muster/sim/gcp/catalogue"
	"github.com/muster-project/muster/sim/gcp/compute"
	"github.com/muster-project/muster/sim/gcp/container"
	"github.com/muster-project/muster/sim/gcp/project"
)

// route is one operation.
type route = project.Route[*inventory]

// routes are all operations.
func routes() []route {
	return slices.Concat(
		core.RoutesOf(func(w *inventory) *compute.Service { return w.compute }, compute.Routes()),
		core.RoutesOf(func(w *inventory) *catalogue.Service { return w.compute.Catalogue }, catalogue.Routes()),
		core.RoutesOf(func(w *inventory) *container.Service { return w.container }, container.Routes()),
	)
}

var allRoutes = routes()

// unknownMethod is the error for a request that no service answers.
func unknownMethod() *project.Error {
	return &project.Error{Status: http.StatusNotFound, State: "NOT_FOUND", Reason: "notFound", Message: "Method not found."}
}

// known are the names that the rules of faults can match.
func known() sim.Known {
	out := core.Known(allRoutes, project.Zones())
	out.Actions["oauth2"] = []string{"token"}
	return out
}
