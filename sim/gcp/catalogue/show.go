package catalogue

import (
	"maps"
	"net/http"
	"strings"

	"github.com/muster-project/muster/sim/document"
	"github.com/muster-project/muster/sim/gcp/project"
)

// ZoneScopes returns the scopes of all zones.
func ZoneScopes() []string {
	var out []string
	for _, z := range project.Zones() {
		out = append(out, "zones/"+z)
	}
	return out
}

// RegionScopes returns the scopes of all regions.
func RegionScopes() []string {
	var out []string
	for _, r := range project.Regions {
		out = append(out, "regions/"+r.Name)
	}
	return out
}

// Scoped answers an aggregated list of resources that have a zone or a region.
func Scoped(w *project.Core, x *project.Call, kind, member string, scopes []string, all []project.Named) (*project.Answer, error) {
	return w.Scoped(x, kind, member, scopes, all, func(d document.Object) string {
		if zone := document.Text(d, "zone"); zone != "" {
			return "zones/" + project.LastOf(zone)
		}
		if region := document.Text(d, "region"); region != "" {
			return "regions/" + project.LastOf(region)
		}
		return "global"
	})
}

// machineType returns a machine type of a zone as it goes over the wire.
func (w *Service) machineType(x *project.Call, zone string, t *MachineType) document.Object {
	d := document.Object{
		"kind": "compute#machineType", "id": "1", "name": t.Name, "zone": zone, "guestCpus": t.CPUs, "memoryMb": t.MemoryMB, "isSharedCpu": false,
		"architecture": t.Architecture(), "selfLink": x.Link(project.Zonal(x.Vars["project"], zone, "machineTypes", t.Name)),
		"maximumPersistentDisks": 128, "maximumPersistentDisksSizeGb": "263168", "imageSpaceGb": 0,
		"creationTimestamp": "1969-12-31T16:00:00.000-08:00",
	}
	if t.accelerators > 0 {
		d["accelerators"] = []any{document.Object{"guestAcceleratorType": t.accelerator, "guestAcceleratorCount": t.accelerators}}
	}
	return d
}

func (w *Service) shownTypes(x *project.Call, zones ...string) []project.Named {
	var all []project.Named
	for _, zone := range zones {
		for i := range machineTypes {
			all = append(all, project.Named{Key: zone + "/" + machineTypes[i].Name, Doc: w.machineType(x, zone, &machineTypes[i])})
		}
	}
	return all
}

func (w *Service) listMachineTypes(x *project.Call) (*project.Answer, error) {
	return w.core.List(x, "compute#machineTypeList", w.shownTypes(x, x.Vars["zone"]))
}

func (w *Service) aggregateMachineTypes(x *project.Call) (*project.Answer, error) {
	return Scoped(w.core, x, "compute#machineTypeAggregatedList", "machineTypes", ZoneScopes(), w.shownTypes(x, project.Zones()...))
}

func (w *Service) getMachineType(x *project.Call) (*project.Answer, error) {
	for i := range machineTypes {
		if machineTypes[i].Name == x.Vars["name"] {
			return project.OK(w.machineType(x, x.Vars["zone"], &machineTypes[i])), nil
		}
	}
	return nil, project.NotFound(project.Zonal(x.Vars["project"], x.Vars["zone"], "machineTypes", x.Vars["name"]))
}

// named returns a resource that others refer to as it goes over the wire.
func (w *Service) named(x *project.Call, r *Resource) document.Object {
	d := document.Copied(r.Doc)
	maps.Copy(d, document.Object{"id": project.Digits(r.ID), "name": project.LastOf(r.Path), "creationTimestamp": project.Stamp(r.Created),
		"selfLink": x.Link(r.Path)})
	for _, k := range []string{"network", "region", "zone", "target"} {
		if path := document.Text(d, k); path != "" {
			d[k] = x.Link(path)
		}
	}
	return d
}

// collection returns the path of the collection of a kind in the place of the request.
func collection(x *project.Call, kind string) string {
	return "projects/" + x.Vars["project"] + "/" + x.Scope() + "/" + kind + "/"
}

func getNamed(kind string) func(*Service, *project.Call) (*project.Answer, error) {
	return func(w *Service, x *project.Call) (*project.Answer, error) {
		path := collection(x, kind) + x.Vars["name"]
		r := w.Resources.Get(path)
		if r == nil {
			return nil, project.NotFound(path)
		}
		return project.OK(w.named(x, r)), nil
	}
}

func listNamed(kind, shown string) func(*Service, *project.Call) (*project.Answer, error) {
	return func(w *Service, x *project.Call) (*project.Answer, error) {
		var all []project.Named
		for key, r := range w.Resources.Under(collection(x, kind)) {
			all = append(all, project.Named{Key: key, Doc: w.named(x, r)})
		}
		return w.core.List(x, shown, all)
	}
}

// insertNamed answers insert of a kind of resources. What a field names by its URL is kept as a path.
func insertNamed(kind string) func(*Service, *project.Call) (*project.Answer, error) {
	return func(w *Service, x *project.Call) (*project.Answer, error) {
		if answer, err := w.core.Repeated(x); answer != nil || err != nil {
			return answer, err
		}
		d, err := Body(x, strings.ToUpper(kind[:1])+kind[1:])
		if err != nil {
			return nil, err
		}
		name := document.Text(d, "name")
		if err := project.CheckName("resource.name", name); err != nil {
			return nil, err
		}
		path := collection(x, kind+"s") + name
		if w.Has(path) {
			return nil, project.AlreadyExists(path)
		}
		if target := document.Text(d, "target"); target != "" {
			d["target"] = project.PathOf(target, x.Vars["project"])
		}
		d["kind"] = "compute#" + kind
		r := w.Put(path, d)
		return w.core.Begin(x, "insert", path, r.ID)
	}
}

// deleteNamed answers delete of a kind of resources.
func deleteNamed(kind string) func(*Service, *project.Call) (*project.Answer, error) {
	return func(w *Service, x *project.Call) (*project.Answer, error) {
		path := collection(x, kind) + x.Vars["name"]
		r := w.Resources.Get(path)
		if r == nil {
			return nil, project.NotFound(path)
		}
		if user := w.userOf(path); user != "" {
			return nil, project.Refuse(http.StatusBadRequest, "resourceInUseByAnotherResource", "The resource '%s' is already being used by '%s'",
				path, user)
		}
		w.Resources.Delete(path)
		return w.core.Begin(x, "delete", path, r.ID)
	}
}

func (w *Service) imageFromFamily(x *project.Call) (*project.Answer, error) {
	r := w.Newest("projects/"+x.Vars["project"], x.Vars["family"])
	if r == nil {
		return nil, project.NotFound("projects/" + x.Vars["project"] + "/global/images/family/" + x.Vars["family"])
	}
	return project.OK(w.named(x, r)), nil
}

func (w *Service) listZones(x *project.Call) (*project.Answer, error) {
	var all []project.Named
	for _, z := range project.Zones() {
		all = append(all, project.Named{Key: z, Doc: document.Object{
			"kind": "compute#zone", "id": "2", "name": z, "status": "UP",
			"region":   x.Link("projects/" + x.Vars["project"] + "/regions/" + project.RegionOf(z)),
			"selfLink": x.Link("projects/" + x.Vars["project"] + "/zones/" + z),
		}})
	}
	return w.core.List(x, "compute#zoneList", all)
}

func (w *Service) getRegion(x *project.Call) (*project.Answer, error) {
	r := project.FindRegion(x.Vars["region"])
	path := "projects/" + x.Vars["project"] + "/regions/" + r.Name
	zones := []any{}
	for _, z := range r.Zones {
		zones = append(zones, x.Link("projects/"+x.Vars["project"]+"/zones/"+z))
	}
	quotas := []any{}
	for key, q := range w.Quotas.Under(r.Name + "/") {
		_, metric, _ := strings.Cut(key, "/")
		quotas = append(quotas, document.Object{"metric": metric, "limit": q.Limit, "usage": w.used(r.Name, metric)})
	}
	return project.OK(document.Object{
		"kind": "compute#region", "id": "3", "name": r.Name, "status": "UP", "zones": zones, "quotas": quotas, "selfLink": x.Link(path),
	}), nil
}
