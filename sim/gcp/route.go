package gcp

import (
	"fmt"
	"html"
	"slices"

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
		project.RoutesOf(func(w *inventory) *compute.Service { return w.compute }, compute.Routes()),
		project.RoutesOf(func(w *inventory) *catalogue.Service { return w.compute.Catalogue }, catalogue.Routes()),
		project.RoutesOf(func(w *inventory) *container.Service { return w.container }, container.Routes()),
	)
}

var allRoutes = routes()

// find returns the route of a request and the variables of its path, nil for a request that no service answers.
func find(method, path string) (*route, map[string]string) {
	for i := range allRoutes {
		r := &allRoutes[i]
		if r.Method != method {
			continue
		}
		if vars, ok := r.Matches(path); ok {
			return r, vars
		}
	}
	return nil, nil
}

// unknownPage is what Google's frontend answers to a request that no service answers: a page, not JSON.
func unknownPage(path string) string {
	return fmt.Sprintf("<!DOCTYPE html>\n<html lang=en>\n<title>Error 404 (Not Found)!!1</title>\n"+
		"<p><b>404.</b> <ins>That's an error.</ins>\n<p>The requested URL <code>%s</code> was not found on this server.\n</html>\n",
		html.EscapeString(path))
}
