package compute

import (
	"net/http"
	"slices"

	"github.com/muster-project/muster/sim/core"
	"github.com/muster-project/muster/sim/gcp/project"
)

const (
	globalPath = project.ComputePath + "/global"
	zonePath   = project.ComputePath + "/zones/{zone}"
	regionPath = project.ComputePath + "/regions/{region}"
	allPath    = project.ComputePath + "/aggregated"
)

type route = project.Route[*Service]

// run is an operation of the service.
type run = func(*Service, *project.Call) (*project.Answer, error)

// Routes returns all operations of the service.
func Routes() []route {
	return slices.Concat(templateRoutes("instanceTemplates", globalPath), templateRoutes("regionInstanceTemplates", regionPath),
		managerRoutes("instanceGroupManagers", zonePath), managerRoutes("regionInstanceGroupManagers", regionPath),
		groupRoutes("instanceGroups", zonePath), groupRoutes("regionInstanceGroups", regionPath),
		instanceRoutes(), operationRoutes())
}

// read and list return routes that change nothing; write returns one that does.
func read(path, name string, f run, permissions ...string) route {
	return route{Method: http.MethodGet, Pattern: path, Service: "compute", Name: name, Permissions: permissions,
		Bucket: project.BucketRead, Run: f}
}

func list(path, name string, f run, permissions ...string) route {
	r := read(path, name, f, permissions...)
	r.Bucket = project.BucketList
	return r
}

// wide returns a route that lists all scopes.
func wide(path, name string, f run, permissions ...string) route {
	r := read(allPath+path, name+".aggregatedList", f, permissions...)
	r.Bucket = project.BucketWide
	return r
}

func write(method, path, name string, f run, permissions ...string) route {
	return route{Method: method, Pattern: path, Service: "compute", Name: name, Permissions: permissions, Mutating: true,
		Bucket: project.BucketWrite, Run: once(f)}
}

// once answers a request whose ID was seen before with the operation that it began then.
func once(f run) run {
	return func(w *Service, x *project.Call) (*project.Answer, error) {
		if answer, err := w.Repeated(x); answer != nil || err != nil {
			return answer, err
		}
		return f(w, x)
	}
}

// templateRoutes are the operations on templates of one kind: global ones, or those of regions. Both need the same permissions.
func templateRoutes(kind, place string) []route {
	const may = "compute.instanceTemplates."
	all, one := place+"/instanceTemplates", place+"/instanceTemplates/{instanceTemplate}"
	return []route{
		list(all, kind+".list", via((*groups).listTemplates), may+"list"),
		read(one, kind+".get", via((*groups).getTemplate), may+"get"),
		write(http.MethodPost, all, kind+".insert", via((*groups).insertTemplate), may+"create"),
		write(http.MethodDelete, one, kind+".delete", via((*groups).deleteTemplate), may+"delete"),
	}
}

// useTemplate is what a caller must be allowed to do with a template that a group is pointed at.
const useTemplate = "compute.instanceTemplates.useReadOnly"

// managerRoutes are the operations on groups of one kind: of zones or of regions.
func managerRoutes(kind, place string) []route {
	const may = "compute.instanceGroupManagers."
	all, one := place+"/instanceGroupManagers", place+"/instanceGroupManagers/{manager}"
	post := func(action string, f run, permissions ...string) route {
		return write(http.MethodPost, one+"/"+action, kind+"."+action, f, permissions...)
	}
	managed := read(one+"/listManagedInstances", kind+".listManagedInstances", via((*scaling).listManaged), may+"list")
	managed.Method, managed.Bucket = http.MethodPost, project.BucketWrite
	failed := list(one+"/listErrors", kind+".listErrors", via((*scaling).listErrors), may+"get")
	failed.Bucket = project.BucketWrite
	// It takes no ID of a request.
	apply := post("applyUpdatesToInstances", nil, may+"update")
	apply.Run = via((*scaling).applyUpdates)
	return []route{
		list(all, kind+".list", via((*groups).listManagers), may+"list"),
		read(one, kind+".get", via((*groups).getManager), may+"get"),
		write(http.MethodPost, all, kind+".insert", via((*groups).insertManager), may+"create", useTemplate),
		write(http.MethodPatch, one, kind+".patch", via((*groups).patchManager), may+"update"),
		write(http.MethodDelete, one, kind+".delete", via((*groups).deleteManager), may+"delete"),
		managed, failed, apply,
		post("resize", via((*scaling).resizeManager), may+"update"),
		post("setInstanceTemplate", via((*scaling).setTemplate), may+"update", useTemplate),
		post("deleteInstances", via((*scaling).deleteInstances), may+"update"),
		post("recreateInstances", via((*scaling).recreateInstances), may+"update"),
		post("abandonInstances", via((*scaling).abandonInstances), may+"update"),
		post("createInstances", via((*scaling).createInstances), may+"update"),
	}
}

// groupRoutes are the operations on the instance groups of one kind that managers keep: of zones or of regions.
func groupRoutes(kind, place string) []route {
	const may = "compute.instanceGroups."
	all, one := place+"/instanceGroups", place+"/instanceGroups/{manager}"
	members := list(one+"/listInstances", kind+".listInstances", via((*groups).listMembers), may+"list")
	members.Method = http.MethodPost
	return []route{
		list(all, kind+".list", via((*groups).listGroups), may+"list"), read(one, kind+".get", via((*groups).getGroup), may+"get"),
		members,
	}
}

func instanceRoutes() []route {
	const all, one, may = zonePath + "/instances", zonePath + "/instances/{instance}", "compute.instances."
	return []route{
		wide("/instanceGroupManagers", "instanceGroupManagers", via((*groups).aggregateManagers), "compute.instanceGroupManagers.list"),
		wide("/instanceTemplates", "instanceTemplates", via((*groups).aggregateTemplates), "compute.instanceTemplates.list"),
		wide("/instances", "instances", via((*others).aggregateInstances), may+"list"),
		list(all, "instances.list", via((*others).listInstances), may+"list"),
		read(one, "instances.get", via((*others).getInstance), may+"get"),
		write(http.MethodPost, one+"/setLabels", "instances.setLabels", via((*others).setLabels), may+"setLabels"),
		write(http.MethodDelete, one, "instances.delete", via((*others).deleteInstance), may+"delete"),
	}
}

func operationRoutes() []route {
	var out []route
	for _, place := range []struct{ name, path string }{{"globalOperations", globalPath}, {"zoneOperations", zonePath},
		{"regionOperations", regionPath}} {
		one := place.path + "/operations/{operation}"
		may := "compute." + place.name + ".get"
		get := read(one, place.name+".get", viaCore((*project.Core).GetOperation), may)
		wait := read(one+"/wait", place.name+".wait", viaCore((*project.Core).WaitOperation), may)
		wait.Method, get.Bucket, wait.Bucket = http.MethodPost, project.BucketOperation, project.BucketOperation
		out = append(out, get, wait)
	}
	return out
}

// via returns an operation of a part as one of the service.
func via[P ~struct{ *Service }](f func(*P, *project.Call) (*project.Answer, error)) run {
	return func(w *Service, x *project.Call) (*project.Answer, error) { return f(&P{w}, x) }
}

func viaCore(f func(*project.Core, *project.Call) (*project.Answer, error)) run {
	return core.Via(func(w *Service) *project.Core { return w.Core }, f)
}
