package catalogue

import (
	"net/http"
	"slices"
	"strings"

	"github.com/muster-project/muster/sim/gcp/project"
)

// Routes returns all operations of the service.
func Routes() []project.Route[*Service] {
	return slices.Concat(readRoutes(), kept("healthChecks", "healthCheck", "/global"),
		kept("regionHealthChecks", "healthCheck", "/regions/{region}"),
		kept("autoscalers", "autoscaler", "/zones/{zone}"), kept("regionAutoscalers", "autoscaler", "/regions/{region}"))
}

// kept returns the operations on a kind of resources that clients create, at a place: insert, get, list and delete.
func kept(service, kind, place string) []project.Route[*Service] {
	all := project.ComputePath + place + "/" + kind + "s"
	one := all + "/{name}"
	r := func(method, path, action, permission, bucket string,
		f func(*Service, *project.Call) (*project.Answer, error)) project.Route[*Service] {
		return project.Route[*Service]{
			Method: method, Pattern: path, Service: "compute", Name: service + "." + action,
			Permissions: []string{"compute." + service + "." + permission},
			Mutating:    method != http.MethodGet, Bucket: bucket, Run: f,
		}
	}
	return []project.Route[*Service]{
		r(http.MethodGet, all, "list", "list", project.BucketList, listNamed(kind+"s", "compute#"+kind+"List")),
		r(http.MethodGet, one, "get", "get", project.BucketRead, getNamed(kind+"s")),
		r(http.MethodPost, all, "insert", "create", project.BucketWrite, insertNamed(kind)),
		r(http.MethodDelete, one, "delete", "delete", project.BucketWrite, deleteNamed(kind+"s")),
	}
}

func readRoutes() []project.Route[*Service] {
	get := func(path, name, permission string, f func(*Service, *project.Call) (*project.Answer, error)) project.Route[*Service] {
		bucket := project.BucketRead
		switch {
		case strings.HasSuffix(name, ".list"):
			bucket = project.BucketList
		case strings.HasSuffix(name, ".aggregatedList"):
			bucket = project.BucketWide
		}
		return project.Route[*Service]{
			Method: http.MethodGet, Pattern: project.ComputePath + path, Service: "compute", Name: name,
			Permissions: []string{"compute." + permission}, Bucket: bucket, Run: f,
		}
	}
	return []project.Route[*Service]{
		get("/zones/{zone}/machineTypes", "machineTypes.list", "machineTypes.list", (*Service).listMachineTypes),
		get("/zones/{zone}/machineTypes/{name}", "machineTypes.get", "machineTypes.get", (*Service).getMachineType),
		get("/aggregated/machineTypes", "machineTypes.aggregatedList", "machineTypes.list", (*Service).aggregateMachineTypes),
		get("/global/images/{name}", "images.get", "images.get", getNamed("images")),
		get("/global/images/family/{family}", "images.getFromFamily", "images.getFromFamily", (*Service).imageFromFamily),
		get("/global/images", "images.list", "images.list", listNamed("images", "compute#imageList")),
		get("/global/networks/{name}", "networks.get", "networks.get", getNamed("networks")),
		get("/regions/{region}/subnetworks/{name}", "subnetworks.get", "subnetworks.get", getNamed("subnetworks")),
		get("/regions/{region}/subnetworks", "subnetworks.list", "subnetworks.list", listNamed("subnetworks", "compute#subnetworkList")),
		get("/zones", "zones.list", "zones.list", (*Service).listZones),
		get("/regions/{region}", "regions.get", "regions.get", (*Service).getRegion),
	}
}
