package specs

import (
	"net/http"
	"strings"

	"github.com/muster-project/muster/sim/azure/shapes"
)

// Azure returns the operations of Azure's services.
var Azure = once(func() (*Specification, error) {
	common := map[string]bool{"api-version": true, skipToken: true}
	all := types{common: common, since: azureSince}.operations(shapes.Authorization(), shapes.Compute(), shapes.ContainerService(),
		shapes.MSI(), shapes.Network(), shapes.Resources())
	return &Specification{operations: all, find: byAzurePath(all), unpublished: azureUnpublished}, nil
})

// skipToken is the parameter of the links to further pages, which services make and clients follow as they are.
const skipToken = "$skiptoken"

// byAzurePath finds operations by methods and paths, in which case does not matter.
func byAzurePath(all map[string]*Operation) func(*http.Request, string) *Operation {
	byShape, scoped := map[string][]*Operation{}, []*Operation{}
	for _, o := range all {
		path, open := strings.CutPrefix(o.Path, "*")
		o.parts = strings.Split(path, "/")
		if open {
			scoped = append(scoped, o)
			continue
		}
		byShape[shapeOf(o.Method, o.parts)] = append(byShape[shapeOf(o.Method, o.parts)], o)
	}
	return func(r *http.Request, _ string) *Operation {
		parts := strings.Split(r.URL.Path, "/")
		for _, o := range scoped {
			if skip := len(parts) - len(o.parts); skip > 0 && o.Method == r.Method {
				tail := append([]string{""}, parts[skip+1:]...)
				if _, fits := o.fits(tail, strings.EqualFold); fits {
					return o
				}
			}
		}
		return mostNamed(byShape[shapeOf(r.Method, parts)], parts, strings.EqualFold)
	}
}

// azureUnpublished reports whether a request polls an operation: its address is that of the header Azure-AsyncOperation or Location, which
// no client of the SDK spells. Tokens are requested of another service.
func azureUnpublished(r *http.Request) bool {
	path := strings.ToLower(r.URL.Path)
	return r.Method == http.MethodGet && strings.Contains(path, "/locations/") &&
		(strings.Contains(path, "/operations/") || strings.Contains(path, "/operationresults/")) ||
		strings.HasSuffix(path, "/oauth2/v2.0/token")
}

// azureSince are members that later versions have than the one of the SDK, or more values of them, with the first version that is known to
// have them: the specification of Microsoft.ContainerService 2025-08-01 has all, and so have recorded answers in that version but for those
// of virtual machines.
var azureSince = func() map[string]string {
	out := map[string]string{}
	for _, name := range []string{
		"ManagedCluster.kind", "AgentPoolSecurityProfile.sshAccess", "AgentPoolUpgradeSettings.maxUnavailable",
		"ManagedClusterAgentPoolProfile.virtualMachinesProfile", "ManagedClusterAgentPoolProfileProperties.virtualMachinesProfile",
		"ManagedClusterAgentPoolProfile.type", "ManagedClusterAgentPoolProfileProperties.type",
		"ManagedClusterAgentPoolProfile.virtualMachineNodesStatus", "ManagedClusterAgentPoolProfileProperties.virtualMachineNodesStatus",
	} {
		out[name] = "2025-08-01"
	}
	return out
}()
