package container

import (
	"net/http"

	"github.com/muster-project/muster/sim/core"
	"github.com/muster-project/muster/sim/gcp/project"
)

const (
	locationPath  = "/v1/projects/{project}/locations/{location}"
	clustersPath  = locationPath + "/clusters"
	clusterPath   = clustersPath + "/{cluster}"
	poolsPath     = clusterPath + "/nodePools"
	poolPath      = poolsPath + "/{nodePool}"
	operationPath = locationPath + "/operations/{operation}"

	clusterNames = "projects.locations.clusters."
	poolNames    = clusterNames + "nodePools."
)

// The permissions on clusters. Node pools have none of their own: reading one takes that of its cluster, changing one that to change it.
const (
	mayGet    = "container.clusters.get"
	mayList   = "container.clusters.list"
	mayCreate = "container.clusters.create"
	mayUpdate = "container.clusters.update"
	mayDelete = "container.clusters.delete"
)

// Routes returns all operations of the service.
func Routes() []project.Route[*Service] {
	return append(append(clusterRoutes(), poolRoutes()...), operationRoutes()...)
}

func route(method, path, name, may string, run func(*Service, *project.Call) (*project.Answer, error)) project.Route[*Service] {
	return project.Route[*Service]{
		Service: "container", Method: method, Pattern: path, Name: name, Permissions: []string{may}, Mutating: method != http.MethodGet, Run: run,
	}
}

func clusterRoutes() []project.Route[*Service] {
	r := func(method, path, name, may string, f func(*clusters, *project.Call) (*project.Answer, error)) project.Route[*Service] {
		return route(method, path, clusterNames+name, may, core.Via(func(w *Service) *clusters { return w.clusters }, f))
	}
	return []project.Route[*Service]{
		r(http.MethodGet, clustersPath, "list", mayList, (*clusters).list),
		r(http.MethodPost, clustersPath, "create", mayCreate, (*clusters).create),
		r(http.MethodGet, clusterPath, "get", mayGet, (*clusters).get),
		r(http.MethodPut, clusterPath, "update", mayUpdate, (*clusters).update),
		r(http.MethodDelete, clusterPath, "delete", mayDelete, (*clusters).drop),
		r(http.MethodPost, clusterPath+":updateMaster", "updateMaster", mayUpdate, (*clusters).updateMaster),
		r(http.MethodPost, clusterPath+":setResourceLabels", "setResourceLabels", mayUpdate, (*clusters).setResourceLabels),
		route(http.MethodGet, locationPath+"/serverConfig", "projects.locations.getServerConfig", mayList, (*Service).serverConfig),
	}
}

func poolRoutes() []project.Route[*Service] {
	r := func(method, path, name, may string, f func(*nodePools, *project.Call) (*project.Answer, error)) project.Route[*Service] {
		return route(method, path, poolNames+name, may, core.Via(func(w *Service) *nodePools { return w.nodePools }, f))
	}
	return []project.Route[*Service]{
		r(http.MethodGet, poolsPath, "list", mayGet, (*nodePools).list),
		r(http.MethodPost, poolsPath, "create", mayUpdate, (*nodePools).create),
		r(http.MethodGet, poolPath, "get", mayGet, (*nodePools).get),
		r(http.MethodGet, poolPath+":fetchNodePoolUpgradeInfo", "fetchNodePoolUpgradeInfo", mayGet, (*nodePools).upgrades),
		r(http.MethodPut, poolPath, "update", mayUpdate, (*nodePools).update),
		r(http.MethodDelete, poolPath, "delete", mayUpdate, (*nodePools).drop),
		r(http.MethodPost, poolPath+":setSize", "setSize", mayUpdate, (*nodePools).setSize),
		r(http.MethodPost, poolPath+":setAutoscaling", "setAutoscaling", mayUpdate, (*nodePools).setAutoscaling),
		r(http.MethodPost, poolPath+":setManagement", "setManagement", mayUpdate, (*nodePools).setManagement),
		r(http.MethodPost, poolPath+":rollback", "rollback", mayUpdate, (*nodePools).rollback),
		r(http.MethodPost, poolPath+":completeUpgrade", "completeUpgrade", mayUpdate, (*nodePools).completeUpgrade),
	}
}

func operationRoutes() []project.Route[*Service] {
	return []project.Route[*Service]{
		route(http.MethodGet, locationPath+"/operations", "projects.locations.operations.list", "container.operations.list",
			(*Service).listOperations),
		route(http.MethodGet, operationPath, "projects.locations.operations.get", "container.operations.get", (*Service).getOperation),
		route(http.MethodPost, operationPath+":cancel", "projects.locations.operations.cancel", mayUpdate, (*Service).cancelOperation),
	}
}
