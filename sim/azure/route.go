package azure

import (
	"net/http"
	"slices"
	"strings"

	"github.com/muster-project/muster/sim"
	"github.com/muster-project/muster/sim/azure/arm"
	"github.com/muster-project/muster/sim/azure/compute"
	"github.com/muster-project/muster/sim/azure/containerservice"
	"github.com/muster-project/muster/sim/core"
)

// route is one operation.
type route = arm.Route[*inventory]

// The versions that are spoken, the oldest first.
var (
	authVersions      = []string{"2020-10-01-preview", "2022-04-01"}
	resourcesVersions = []string{"2019-10-01", "2020-06-01", "2020-10-01", "2021-04-01", "2022-09-01", "2024-03-01", "2025-04-01"}
	msiVersions       = []string{"2018-11-30", "2023-01-31", "2024-11-30"}
	networkVersions   = []string{"2020-11-01", "2022-07-01", "2023-09-01", "2024-05-01", "2024-07-01", "2025-01-01", "2025-03-01"}
)

const (
	groupPath = "/subscriptions/{sub}/resourcegroups/{rg}"
	rolesPath = "/providers/microsoft.authorization/roleassignments"
	defsPath  = "/providers/microsoft.authorization/roledefinitions"
	tagsPath  = "/providers/microsoft.resources/tags/default"
)

// routes are all operations.
func routes() []route {
	return slices.Concat(
		core.RoutesOf(func(w *inventory) *compute.Service { return w.compute }, compute.Routes()),
		core.RoutesOf(func(w *inventory) *containerservice.Service { return w.containers }, containerservice.Routes()),
		core.RoutesOf(func(w *inventory) *roles { return w.roles }, roleRoutes()),
		core.RoutesOf(func(w *inventory) *environment { return w.environment }, environmentRoutes()),
	)
}

// of returns an operation of a part.
func of[P any](service, method, path, name, permission string, versions []string,
	run func(P, *arm.Call) (*arm.Answer, error),
) arm.Route[P] {
	return arm.Route[P]{
		Service: service, Method: method, Pattern: path, Name: name, Versions: versions, Permissions: []string{permission},
		Mutating: method != http.MethodGet, Run: run,
	}
}

func roleRoutes() []arm.Route[*roles] {
	return []arm.Route[*roles]{
		of("authorization", http.MethodPut, "*"+rolesPath+"/{name}", "RoleAssignments_Create", "Microsoft.Authorization/roleAssignments/write",
			authVersions, (*roles).putAssignment),
		of("authorization", http.MethodGet, "*"+rolesPath+"/{name}", "RoleAssignments_Get", "Microsoft.Authorization/roleAssignments/read",
			authVersions, (*roles).getAssignment),
		of("authorization", http.MethodDelete, "*"+rolesPath+"/{name}", "RoleAssignments_Delete",
			"Microsoft.Authorization/roleAssignments/delete", authVersions, (*roles).deleteAssignment),
		of("authorization", http.MethodGet, "*"+rolesPath, "RoleAssignments_ListForScope", "Microsoft.Authorization/roleAssignments/read",
			authVersions, (*roles).listAssignments),
		of("authorization", http.MethodGet, "*"+defsPath+"/{name}", "RoleDefinitions_Get", "Microsoft.Authorization/roleDefinitions/read",
			authVersions, (*roles).getDefinition),
		of("authorization", http.MethodGet, "*"+defsPath, "RoleDefinitions_List", "Microsoft.Authorization/roleDefinitions/read", authVersions,
			(*roles).listDefinitions),
	}
}

func environmentRoutes() []arm.Route[*environment] {
	network := groupPath + "/providers/microsoft.network/"
	return []arm.Route[*environment]{
		of("resources", http.MethodGet, "*"+tagsPath, "Tags_GetAtScope", "Microsoft.Resources/tags/read", resourcesVersions,
			(*environment).getTags),
		of("resources", http.MethodPut, "*"+tagsPath, "Tags_CreateOrUpdateAtScope", "Microsoft.Resources/tags/write", resourcesVersions,
			(*environment).putTags),
		of("resources", http.MethodPatch, "*"+tagsPath, "Tags_UpdateAtScope", "Microsoft.Resources/tags/write", resourcesVersions,
			(*environment).patchTags),
		of("resources", http.MethodGet, groupPath, "ResourceGroups_Get", "Microsoft.Resources/subscriptions/resourceGroups/read",
			resourcesVersions, (*environment).getResource),
		of("msi", http.MethodGet, groupPath+"/providers/microsoft.managedidentity/userassignedidentities/{name}", "UserAssignedIdentities_Get",
			"Microsoft.ManagedIdentity/userAssignedIdentities/read", msiVersions, (*environment).getResource),
		of("network", http.MethodGet, network+"virtualnetworks/{name}", "VirtualNetworks_Get", "Microsoft.Network/virtualNetworks/read",
			networkVersions, (*environment).getResource),
		of("network", http.MethodGet, network+"virtualnetworks/{parent}/subnets/{name}", "Subnets_Get",
			"Microsoft.Network/virtualNetworks/subnets/read", networkVersions, (*environment).getResource),
		of("network", http.MethodGet, network+"loadbalancers/{name}", "LoadBalancers_Get", "Microsoft.Network/loadBalancers/read",
			networkVersions, (*environment).getResource),
		of("network", http.MethodGet, network+"loadbalancers/{parent}/backendaddresspools/{name}", "LoadBalancerBackendAddressPools_Get",
			"Microsoft.Network/loadBalancers/backendAddressPools/read", networkVersions, (*environment).getResource),
		of("network", http.MethodGet, network+"networksecuritygroups/{name}", "NetworkSecurityGroups_Get",
			"Microsoft.Network/networkSecurityGroups/read", networkVersions, (*environment).getResource),
	}
}

// find is the route of a request. Where none is, the error says what of it is unknown.
func find(method, path, version string) (*route, map[string]string, error) {
	r, vars, known := core.Find(allRoutes, method, path, arm.Matches)
	if r != nil {
		return r, vars, nil
	}
	if known {
		return nil, nil, arm.Refuse(http.StatusMethodNotAllowed, "HttpMethodNotAllowed",
			"The requested resource does not support http method '%s'.", method)
	}
	return nil, nil, unknownPath(method, path, version)
}

var allRoutes = routes()

// namespaces are those of which something is simulated.
var namespaces = []string{
	"microsoft.compute", "microsoft.authorization", "microsoft.resources", "microsoft.managedidentity", "microsoft.network",
	"microsoft.containerservice",
}

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
		_, rest, found := strings.Cut(r.Pattern, "/providers/")
		parts := strings.Split(rest, "/")
		if !found {
			continue
		}
		kind := parts[0]
		for i := 1; i < len(parts); i += 2 {
			kind += "/" + parts[i]
			if i+1 < len(parts) || r.Method == http.MethodGet {
				out[kind] = true
			}
		}
	}
	return out
}()

// unknownPath says what of a path is unknown: the namespace, the type, or the action on a resource of a type that is known.
func unknownPath(method, path, version string) *arm.Error {
	a := typeAsked(path)
	known := func(kind string) bool { return knownTypes[strings.ToLower(a.namespace+"/"+kind)] }
	switch {
	case a.namespace == "":
		return arm.Refuse(http.StatusNotFound, "NotFound", "No HTTP resource was found that matches the request URI '%s'.", path)
	case !slices.Contains(namespaces, strings.ToLower(a.namespace)):
		return arm.Refuse(http.StatusNotFound, "InvalidResourceNamespace", "The resource namespace '%s' is invalid.", a.namespace)
	case a.action != "" && known(a.kind) && method == http.MethodPost:
		return arm.Refuse(http.StatusNotFound, "NotFound",
			"No HTTP resource was found that matches the request URI '%s'. The resource type '%s/%s' has no action '%s'.",
			path, a.namespace, a.kind, a.action)
	case a.action != "":
		a.kind += "/" + a.action
	case known(a.kind):
		return arm.Refuse(http.StatusMethodNotAllowed, "HttpMethodNotAllowed",
			"The requested resource does not support http method '%s'.", method)
	}
	return arm.Refuse(http.StatusNotFound, "InvalidResourceType",
		"The resource type '%s' could not be found in the namespace '%s' for api version '%s'.", a.kind, a.namespace, version)
}

// known are the names that the rules of faults can match.
func known() sim.Known { return core.Known(allRoutes, arm.ZoneNames()) }
