package scaleway

import (
	"maps"
	"slices"
	"strings"

	"github.com/muster-project/muster/sim/document"
)

const (
	// ServiceInstance is the name of the service that describes types of Instances.
	ServiceInstance = "instance"
	// ReadInstances is the permission set that reads them.
	ReadInstances = "InstancesReadOnly"
)

// listServersTypes returns a page of the types of Instances by their names, with the number of all in a header.
func (x *exchange) listServersTypes(w *region) (any, error) {
	if zone := x.Vars["zone"]; !slices.Contains(Zones(), zone) {
		return nil, invalid("zone", "constraint", zone+" is no zone")
	}
	var all []document.Object
	for _, name := range slices.Sorted(maps.Keys(nodeTypes)) {
		if name != external {
			all = append(all, nodeTypes[name].show(name))
		}
	}
	x.Query.Set("page_size", x.Query.Get("per_page"))
	page, err := x.page(w, "list", all)
	if err != nil {
		return nil, err
	}
	is, _ := page.(document.Object)
	list, _ := is["list"].([]document.Object)
	servers := document.Object{}
	for _, t := range list {
		servers[document.Text(t, "name")] = t
		delete(t, "name")
	}
	x.total = len(all)
	return document.Object{"servers": servers}, nil
}

// show returns a type of Instances as the service shows it, with its name.
func (t nodeType) show(name string) document.Object {
	arch := "x86_64"
	if strings.HasPrefix(name, "coparm1") {
		arch = "arm64"
	}
	const mebi = 20
	return document.Object{"name": commercial(name), "ncpus": t.cpus, "ram": int64(t.memoryMiB) << mebi, "arch": arch, "gpu": 0,
		"gpu_info": nil, "alt_names": []any{}, "end_of_service": false}
}
