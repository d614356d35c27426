package azure

import (
	"net/http"
	"slices"
	"strings"
)

// route is one operation: how it is asked for, what it is called, and who does it.
type route struct {
	method, pattern string
	// name is the operation's in the published specification, such as VirtualMachineScaleSets_Get; permission is what its caller
	// must be allowed to do.
	name, permission string
	service          string
	// bucket is the category by which it is throttled, "" for none.
	bucket   string
	mutating bool
	// exclusive is set for writes of a scale set's model or capacity, of which one is accepted at a time.
	exclusive bool
	versions  []string
	run       func(*inventory, *exchange) (*answer, error)
}

// The versions that are spoken, the oldest first.
var (
	computeVersions = []string{
		"2022-03-01", "2022-08-01", "2022-11-01", "2023-03-01", "2023-07-01", "2023-09-01", "2024-03-01", "2024-07-01", "2024-11-01",
		"2025-04-01", "2025-11-01", "2026-03-01", "2026-04-01",
	}
	skuVersions       = []string{"2019-04-01", "2021-07-01"}
	authVersions      = []string{"2020-10-01-preview", "2022-04-01"}
	resourcesVersions = []string{"2019-10-01", "2020-10-01", "2021-04-01", "2022-09-01", "2024-03-01", "2025-04-01"}
	msiVersions       = []string{"2018-11-30", "2023-01-31", "2024-11-30"}
	networkVersions   = []string{"2020-11-01", "2022-07-01", "2023-09-01", "2024-05-01", "2024-07-01", "2025-01-01", "2025-03-01"}
)

const (
	groupPath   = "/subscriptions/{sub}/resourcegroups/{rg}"
	computePath = groupPath + "/providers/microsoft.compute"
	setsPath    = computePath + "/virtualmachinescalesets"
	setPath     = setsPath + "/{set}"
	setVMsPath  = setPath + "/virtualmachines"
	setVMPath   = setVMsPath + "/{vm}"
	vmsPath     = computePath + "/virtualmachines"
	vmPath      = vmsPath + "/{vm}"
	allVMsPath  = "/subscriptions/{sub}/providers/microsoft.compute/virtualmachines"
	rolesPath   = "/providers/microsoft.authorization/roleassignments"
	defsPath    = "/providers/microsoft.authorization/roledefinitions"
	tagsPath    = "/providers/microsoft.resources/tags/default"

	setPermission   = "Microsoft.Compute/virtualMachineScaleSets/"
	setVMPermission = setPermission + "virtualMachines/"
	vmPermission    = "Microsoft.Compute/virtualMachines/"
)

// routes are all operations.
func routes() []route {
	return slices.Concat(setRoutes(), machineRoutes(), actionRoutes(), otherRoutes())
}

func setRoutes() []route {
	r := func(method, path, name, permission, bucket string, run func(*inventory, *exchange) (*answer, error)) route {
		return route{
			method: method, pattern: path, name: "VirtualMachineScaleSets_" + name, permission: setPermission + permission, bucket: bucket,
			service: "compute", mutating: method != http.MethodGet, versions: computeVersions, run: run,
			exclusive: name == "CreateOrUpdate" || name == "Update" || name == "DeleteInstances",
		}
	}
	return []route{
		r(http.MethodPut, setPath, "CreateOrUpdate", "write", "", viaScaleSets((*scaleSets).putSet)),
		r(http.MethodPatch, setPath, "Update", "write", updateSet, viaScaleSets((*scaleSets).patchSet)),
		r(http.MethodGet, setPath, "Get", "read", lowGetSet, viaScaleSets((*scaleSets).getSet)),
		r(http.MethodDelete, setPath, "Delete", "delete", deleteSet, viaScaleSets((*scaleSets).deleteSet)),
		r(http.MethodGet, setsPath, "List", "read", listSets, viaScaleSets((*scaleSets).listSets)),
		r(http.MethodGet, "/subscriptions/{sub}/providers/microsoft.compute/virtualmachinescalesets", "ListAll", "read", listSets, viaScaleSets((*scaleSets).listSets)),
		r(http.MethodGet, setPath+"/instanceview", "GetInstanceView", "instanceView/read", highGetSet, viaScaleSets((*scaleSets).setInstanceView)),
		r(http.MethodGet, setPath+"/skus", "ListSkus", "skus/read", highGetSet, viaScaleSets((*scaleSets).listSetSKUs)),
		r(http.MethodPost, setPath+"/delete", "DeleteInstances", "delete/action", updateSet, viaVirtualMachines((*virtualMachines).deleteInstances)),
		r(http.MethodPost, setPath+"/manualupgrade", "UpdateInstances", "manualUpgrade/action", updateSet, viaVirtualMachines((*virtualMachines).updateInstances)),
	}
}

func machineRoutes() []route {
	r := func(method, path, name, permission, bucket string, run func(*inventory, *exchange) (*answer, error)) route {
		return route{
			method: method, pattern: path, name: name, permission: permission, bucket: bucket,
			service: "compute", mutating: method != http.MethodGet, versions: computeVersions, run: run,
			exclusive: name == "VirtualMachineScaleSetVMs_Delete",
		}
	}
	return []route{
		r(http.MethodGet, setVMsPath, "VirtualMachineScaleSetVMs_List", setVMPermission+"read", listSets, viaVirtualMachines((*virtualMachines).listSetVMs)),
		r(http.MethodGet, setVMPath, "VirtualMachineScaleSetVMs_Get", setVMPermission+"read", getSetVM, viaVirtualMachines((*virtualMachines).getSetVM)),
		r(http.MethodGet, setVMPath+"/instanceview", "VirtualMachineScaleSetVMs_GetInstanceView", setVMPermission+"instanceView/read", getSetVM, viaVirtualMachines((*virtualMachines).setVMInstanceView)),
		r(http.MethodPut, setVMPath, "VirtualMachineScaleSetVMs_Update", setVMPermission+"write", updateSetVM, viaVirtualMachines((*virtualMachines).putSetVM)),
		r(http.MethodDelete, setVMPath, "VirtualMachineScaleSetVMs_Delete", setVMPermission+"delete", updateSetVM, viaVirtualMachines((*virtualMachines).deleteSetVM)),
		r(http.MethodGet, vmsPath, "VirtualMachines_List", vmPermission+"read", highGetVM, viaVirtualMachines((*virtualMachines).listVMs)),
		r(http.MethodGet, allVMsPath, "VirtualMachines_ListAll", vmPermission+"read", highGetVM, viaVirtualMachines((*virtualMachines).listAllVMs)),
		r(http.MethodGet, vmPath, "VirtualMachines_Get", vmPermission+"read", lowGetVM, viaVirtualMachines((*virtualMachines).getVM)),
		r(http.MethodGet, vmPath+"/instanceview", "VirtualMachines_InstanceView", vmPermission+"instanceView/read", lowGetVM, viaVirtualMachines((*virtualMachines).vmInstanceView)),
		r(http.MethodPatch, vmPath, "VirtualMachines_Update", vmPermission+"write", updateVM, viaVirtualMachines((*virtualMachines).patchVM)),
		r(http.MethodDelete, vmPath, "VirtualMachines_Delete", vmPermission+"delete", updateVM, viaVirtualMachines((*virtualMachines).deleteVM)),
	}
}

func otherRoutes() []route {
	operations := "/subscriptions/{sub}/providers/microsoft.compute/locations/{location}/operations/{op}"
	r := func(service, method, path, name, permission string, versions []string, run func(*inventory, *exchange) (*answer, error)) route {
		return route{service: service, method: method, pattern: path, name: name, permission: permission, mutating: method != http.MethodGet, versions: versions, run: run}
	}
	status := r("compute", http.MethodGet, operations, "Operations_Get", "Microsoft.Compute/locations/operations/read", computeVersions, viaRunning((*running).getOperation))
	status.bucket = getOperation
	network := groupPath + "/providers/microsoft.network/"
	return []route{
		status,
		r("compute", http.MethodGet, "/subscriptions/{sub}/providers/microsoft.compute/skus", "ResourceSkus_List", "Microsoft.Compute/skus/read", skuVersions, viaCapacity((*capacity).listSKUs)),
		r("compute", http.MethodGet, "/subscriptions/{sub}/providers/microsoft.compute/locations/{location}/usages", "Usage_List", "Microsoft.Compute/locations/usages/read", computeVersions, viaCapacity((*capacity).listUsage)),
		r("authorization", http.MethodPut, "*"+rolesPath+"/{name}", "RoleAssignments_Create", "Microsoft.Authorization/roleAssignments/write", authVersions, viaRoles((*roles).putAssignment)),
		r("authorization", http.MethodGet, "*"+rolesPath+"/{name}", "RoleAssignments_Get", "Microsoft.Authorization/roleAssignments/read", authVersions, viaRoles((*roles).getAssignment)),
		r("authorization", http.MethodDelete, "*"+rolesPath+"/{name}", "RoleAssignments_Delete", "Microsoft.Authorization/roleAssignments/delete", authVersions, viaRoles((*roles).deleteAssignment)),
		r("authorization", http.MethodGet, "*"+rolesPath, "RoleAssignments_ListForScope", "Microsoft.Authorization/roleAssignments/read", authVersions, viaRoles((*roles).listAssignments)),
		r("authorization", http.MethodGet, "*"+defsPath+"/{name}", "RoleDefinitions_Get", "Microsoft.Authorization/roleDefinitions/read", authVersions, viaRoles((*roles).getDefinition)),
		r("authorization", http.MethodGet, "*"+defsPath, "RoleDefinitions_List", "Microsoft.Authorization/roleDefinitions/read", authVersions, viaRoles((*roles).listDefinitions)),
		r("resources", http.MethodGet, "*"+tagsPath, "Tags_GetAtScope", "Microsoft.Resources/tags/read", resourcesVersions, viaEnvironment((*environment).getTags)),
		r("resources", http.MethodPut, "*"+tagsPath, "Tags_CreateOrUpdateAtScope", "Microsoft.Resources/tags/write", resourcesVersions, viaEnvironment((*environment).putTags)),
		r("resources", http.MethodPatch, "*"+tagsPath, "Tags_UpdateAtScope", "Microsoft.Resources/tags/write", resourcesVersions, viaEnvironment((*environment).patchTags)),
		r("resources", http.MethodGet, groupPath, "ResourceGroups_Get", "Microsoft.Resources/subscriptions/resourceGroups/read", resourcesVersions, viaEnvironment((*environment).getResource)),
		r("msi", http.MethodGet, groupPath+"/providers/microsoft.managedidentity/userassignedidentities/{name}", "UserAssignedIdentities_Get", "Microsoft.ManagedIdentity/userAssignedIdentities/read", msiVersions, viaEnvironment((*environment).getResource)),
		r("network", http.MethodGet, network+"virtualnetworks/{name}", "VirtualNetworks_Get", "Microsoft.Network/virtualNetworks/read", networkVersions, viaEnvironment((*environment).getResource)),
		r("network", http.MethodGet, network+"virtualnetworks/{parent}/subnets/{name}", "Subnets_Get", "Microsoft.Network/virtualNetworks/subnets/read", networkVersions, viaEnvironment((*environment).getResource)),
		r("network", http.MethodGet, network+"loadbalancers/{name}", "LoadBalancers_Get", "Microsoft.Network/loadBalancers/read", networkVersions, viaEnvironment((*environment).getResource)),
		r("network", http.MethodGet, network+"loadbalancers/{parent}/backendaddresspools/{name}", "LoadBalancerBackendAddressPools_Get", "Microsoft.Network/loadBalancers/backendAddressPools/read", networkVersions, viaEnvironment((*environment).getResource)),
		r("network", http.MethodGet, network+"networksecuritygroups/{name}", "NetworkSecurityGroups_Get", "Microsoft.Network/networkSecurityGroups/read", networkVersions, viaEnvironment((*environment).getResource)),
	}
}

// matches compares a path with a route's pattern, whatever its case. What stands for the parts in braces is taken out, and "scope" is
// what a leading asterisk stands for.
func (r *route) matches(path string) (map[string]string, bool) {
	pattern, open := strings.CutPrefix(r.pattern, "*")
	want, have := strings.Split(strings.Trim(pattern, "/"), "/"), strings.Split(strings.Trim(path, "/"), "/")
	vars := map[string]string{}
	if open {
		if len(have) <= len(want) {
			return nil, false
		}
		split := len(have) - len(want)
		vars["scope"] = "/" + strings.Join(have[:split], "/")
		have = have[split:]
	}
	if len(want) != len(have) {
		return nil, false
	}
	for i, part := range want {
		name, isVar := strings.CutPrefix(part, "{")
		switch {
		case isVar && have[i] != "":
			vars[strings.TrimSuffix(name, "}")] = have[i]
		case !strings.EqualFold(part, have[i]):
			return nil, false
		}
	}
	return vars, true
}

// find is the route of a request. Where none is, the error says what of it is unknown.
func find(method, path, version string) (*route, map[string]string, error) {
	known := false
	for i := range allRoutes {
		r := &allRoutes[i]
		vars, ok := r.matches(path)
		if !ok {
			continue
		}
		known = true
		if r.method == method {
			return r, vars, nil
		}
	}
	if known {
		return nil, nil, refuse(http.StatusMethodNotAllowed, "HttpMethodNotAllowed", "The requested resource does not support http method '%s'.", method)
	}
	return nil, nil, unknownPath(method, path, version)
}

var allRoutes = routes()

// namespaces are those of which something is simulated.
var namespaces = []string{"microsoft.compute", "microsoft.authorization", "microsoft.resources", "microsoft.managedidentity", "microsoft.network"}

// asked is what a path names: a type of a provider's resources, or, behind one of them, an action.
type asked struct{ namespace, kind, action string }

// typeAsked takes a path apart: behind the last provider stand types and names in turn. One type alone is a list, as is one that is
// known; another last word is an action of what stands before it.
func typeAsked(path string) asked {
	parts := strings.Split(strings.Trim(path, "/"), "/")
	at := len(parts) - 2
	for at >= 0 && !strings.EqualFold(parts[at], "providers") {
		at--
	}
	if at < 0 {
		return asked{}
	}
	out := asked{namespace: parts[at+1]}
	var kinds []string
	for i := at + 2; i < len(parts); i += 2 {
		kinds = append(kinds, parts[i])
	}
	out.kind = strings.Join(kinds, "/")
	if n := len(kinds); n > 1 && (len(parts)-at)%2 == 1 && !knownTypes[strings.ToLower(out.namespace+"/"+out.kind)] {
		out.kind, out.action = strings.Join(kinds[:n-1], "/"), kinds[n-1]
	}
	return out
}

// knownTypes are the types of which something is simulated, in small letters and with their namespaces.
var knownTypes = func() map[string]bool {
	out := map[string]bool{}
	for _, r := range allRoutes {
		_, rest, found := strings.Cut(r.pattern, "/providers/")
		parts := strings.Split(rest, "/")
		if !found {
			continue
		}
		kind := parts[0]
		for i := 1; i < len(parts); i += 2 {
			kind += "/" + parts[i]
			if i+1 < len(parts) || r.method == http.MethodGet {
				out[kind] = true
			}
		}
	}
	return out
}()

// unknownPath says what of a path is unknown: the namespace, the type, or the action on a resource of a type that is known.
func unknownPath(method, path, version string) *apiError {
	a := typeAsked(path)
	known := func(kind string) bool { return knownTypes[strings.ToLower(a.namespace+"/"+kind)] }
	switch {
	case a.namespace == "":
		return refuse(http.StatusNotFound, "NotFound", "No HTTP resource was found that matches the request URI '%s'.", path)
	case !slices.Contains(namespaces, strings.ToLower(a.namespace)):
		return refuse(http.StatusNotFound, "InvalidResourceNamespace", "The resource namespace '%s' is invalid.", a.namespace)
	case a.action != "" && known(a.kind) && method == http.MethodPost:
		return refuse(http.StatusNotFound, "NotFound", "No HTTP resource was found that matches the request URI '%s'. The resource type '%s/%s' has no action '%s'.",
			path, a.namespace, a.kind, a.action)
	case a.action != "":
		a.kind += "/" + a.action
	case known(a.kind):
		return refuse(http.StatusMethodNotAllowed, "HttpMethodNotAllowed", "The requested resource does not support http method '%s'.", method)
	}
	return refuse(http.StatusNotFound, "InvalidResourceType", "The resource type '%s' could not be found in the namespace '%s' for api version '%s'.", a.kind, a.namespace, version)
}

// These functions return an operation of a part as one of the inventory.
func viaScaleSets(f func(*scaleSets, *exchange) (*answer, error)) func(*inventory, *exchange) (*answer, error) {
	return func(w *inventory, x *exchange) (*answer, error) { return f(w.scaleSets, x) }
}

func viaVirtualMachines(f func(*virtualMachines, *exchange) (*answer, error)) func(*inventory, *exchange) (*answer, error) {
	return func(w *inventory, x *exchange) (*answer, error) { return f(w.virtualMachines, x) }
}

func viaRunning(f func(*running, *exchange) (*answer, error)) func(*inventory, *exchange) (*answer, error) {
	return func(w *inventory, x *exchange) (*answer, error) { return f(w.running, x) }
}

func viaCapacity(f func(*capacity, *exchange) (*answer, error)) func(*inventory, *exchange) (*answer, error) {
	return func(w *inventory, x *exchange) (*answer, error) { return f(w.capacity, x) }
}

func viaEnvironment(f func(*environment, *exchange) (*answer, error)) func(*inventory, *exchange) (*answer, error) {
	return func(w *inventory, x *exchange) (*answer, error) { return f(w.environment, x) }
}

func viaRoles(f func(*roles, *exchange) (*answer, error)) func(*inventory, *exchange) (*answer, error) {
	return func(w *inventory, x *exchange) (*answer, error) { return f(w.roles, x) }
}
