package containerservice

import (
	"net/http"
	"strings"
	"time"

	"github.com/muster-project/muster/sim/azure/arm"
	"github.com/muster-project/muster/sim/core"
	"github.com/muster-project/muster/sim/document"
)

// versions are those that are spoken, the oldest first.
var versions = []string{
	"2021-05-01", "2023-02-01", "2023-07-01", "2023-10-01", "2024-02-01", "2024-09-01", "2025-02-01", "2025-03-01", "2025-05-01", "2025-08-01",
	"2026-01-02-preview", "2026-03-01", "2026-05-01",
}

// OperationsVersion is the version in the addresses of operations, whatever version a request names.
const OperationsVersion = "2025-03-01"

const (
	groupPath   = "/subscriptions/{sub}/resourcegroups/{rg}/providers/microsoft.containerservice/managedclusters"
	clusterPath = groupPath + "/{cluster}"
	poolsPath   = clusterPath + "/agentpools"
	poolPath    = poolsPath + "/{pool}"
	allPath     = "/subscriptions/{sub}/providers/microsoft.containerservice"

	permission = "Microsoft.ContainerService/managedClusters/"
)

// The categories by which requests are throttled, as AKS names them in its refusals.
const (
	listAll    = "ListManagedClustersBySubscription"
	listGroup  = "ListManagedClustersByResourceGroup"
	putPool    = "PutAgentPoolHandler.PUT"
	putCluster = "PutManagedClusterHandler.PUT"
	getCluster = "GetManagedClusterHandler.GET"
	getStatus  = "GetOperationStatusHandler.GET"
	others     = "AllOtherHandlers"
)

// Limit is a documented bucket: Burst requests at once, PerMinute from then on, for each resource or for a subscription.
type Limit struct {
	Burst, PerMinute float64
	PerResource      bool
}

// Limits are the buckets that Microsoft documents for the resource provider of AKS.
var Limits = map[string]Limit{
	listAll: {500, 60, false}, listGroup: {60, 60, false}, putPool: {20, 1, true}, putCluster: {20, 1, true}, getCluster: {60, 60, true},
	getStatus: {200, 120, false}, others: {60, 60, false},
}

// Routes returns all operations of the service.
func Routes() []arm.Route[*Service] {
	return append(append(clusterRoutes(), poolRoutes()...), operationRoutes()...)
}

func of(method, path, name, may, bucket string, run func(*Service, *arm.Call) (*arm.Answer, error)) arm.Route[*Service] {
	reads := method == http.MethodGet || name == "ManagedClusters_ListClusterUserCredentials" ||
		name == "ManagedClusters_ListClusterAdminCredentials"
	return arm.Route[*Service]{
		Service: "containerservice", Method: method, Pattern: path, Name: name, Permissions: []string{may}, Bucket: bucket, Mutating: !reads,
		Versions: versions, Run: run,
	}
}

func clusterRoutes() []arm.Route[*Service] {
	r := func(method, path, name, may, bucket string, f func(*managedClusters, *arm.Call) (*arm.Answer, error)) arm.Route[*Service] {
		return of(method, path, "ManagedClusters_"+name, permission+may, bucket, core.Via(func(w *Service) *managedClusters { return w.managed },
			f))
	}
	return []arm.Route[*Service]{
		r(http.MethodGet, allPath+"/managedclusters", "List", "read", listAll, (*managedClusters).list),
		r(http.MethodGet, groupPath, "ListByResourceGroup", "read", listGroup, (*managedClusters).list),
		r(http.MethodGet, clusterPath, "Get", "read", getCluster, (*managedClusters).get),
		r(http.MethodPut, clusterPath, "CreateOrUpdate", "write", putCluster, (*managedClusters).put),
		r(http.MethodPatch, clusterPath, "UpdateTags", "write", others, (*managedClusters).patch),
		r(http.MethodDelete, clusterPath, "Delete", "delete", others, (*managedClusters).drop),
		r(http.MethodPost, clusterPath+"/start", "Start", "start/action", others, (*managedClusters).start),
		r(http.MethodPost, clusterPath+"/stop", "Stop", "stop/action", others, (*managedClusters).stop),
		r(http.MethodPost, clusterPath+"/abort", "AbortLatestOperation", "abort/action", others, (*managedClusters).abort),
		r(http.MethodPost, clusterPath+"/listclusterusercredential", "ListClusterUserCredentials", "listClusterUserCredential/action", others,
			(*managedClusters).userCredential),
		r(http.MethodPost, clusterPath+"/listclusteradmincredential", "ListClusterAdminCredentials", "listClusterAdminCredential/action", others,
			(*managedClusters).adminCredential),
		r(http.MethodGet, clusterPath+"/upgradeprofiles/default", "GetUpgradeProfile", "upgradeProfiles/read", others,
			(*managedClusters).upgradeProfile),
		r(http.MethodGet, allPath+"/locations/{location}/kubernetesversions", "ListKubernetesVersions", "read", others,
			(*managedClusters).kubernetesVersions),
	}
}

func poolRoutes() []arm.Route[*Service] {
	r := func(method, path, name, may, bucket string, f func(*agentPools, *arm.Call) (*arm.Answer, error)) arm.Route[*Service] {
		return of(method, path, name, permission+may, bucket, core.Via(func(w *Service) *agentPools { return w.agentPools }, f))
	}
	return []arm.Route[*Service]{
		r(http.MethodGet, poolsPath, "AgentPools_List", "agentPools/read", others, (*agentPools).list),
		r(http.MethodGet, poolPath, "AgentPools_Get", "agentPools/read", others, (*agentPools).get),
		r(http.MethodPut, poolPath, "AgentPools_CreateOrUpdate", "agentPools/write", putPool, (*agentPools).put),
		r(http.MethodDelete, poolPath, "AgentPools_Delete", "agentPools/delete", others, (*agentPools).drop),
		r(http.MethodGet, poolPath+"/upgradeprofiles/default", "AgentPools_GetUpgradeProfile", "agentPools/upgradeProfiles/read", others,
			(*agentPools).upgradeProfile),
		r(http.MethodGet, clusterPath+"/availableagentpoolversions", "AgentPools_GetAvailableAgentPoolVersions",
			"availableAgentPoolVersions/read", others, (*agentPools).availableVersions),
		r(http.MethodPost, poolPath+"/upgradenodeimageversion", "AgentPools_UpgradeNodeImageVersion", "agentPools/upgradeNodeImageVersion/action",
			others, (*agentPools).upgradeImage),
		r(http.MethodPost, poolPath+"/deletemachines", "AgentPools_DeleteMachines", "agentPools/deleteMachines/action", others,
			(*agentPools).deleteMachines),
		r(http.MethodPost, poolPath+"/abort", "AgentPools_AbortLatestOperation", "agentPools/abort/action", others, (*agentPools).abort),
		r(http.MethodGet, poolPath+"/machines", "Machines_List", "agentPools/machines/read", others, (*agentPools).machines),
		r(http.MethodGet, poolPath+"/machines/{name}", "Machines_Get", "agentPools/machines/read", others, (*agentPools).machine),
	}
}

func operationRoutes() []arm.Route[*Service] {
	return []arm.Route[*Service]{
		of(http.MethodGet, allPath+"/locations/{location}/operations/{op}", "Operations_Get",
			"Microsoft.ContainerService/locations/operations/read", getStatus,
			func(w *Service, x *arm.Call) (*arm.Answer, error) {
				if op := w.rows.operations.Get(x.Vars["op"]); op != nil {
					return w.shown(x, op)
				}
				return nil, arm.UnknownOperation()
			}),
		of(http.MethodGet, allPath+"/locations/{location}/operationresults/{op}", "OperationResults_Get",
			"Microsoft.ContainerService/locations/operationresults/read", getStatus,
			func(w *Service, x *arm.Call) (*arm.Answer, error) {
				if op := w.rows.operations.Get(x.Vars["op"]); op != nil {
					return op.Result()
				}
				return nil, arm.UnknownOperation()
			}),
	}
}

// Throttled is the refusal of too many requests of a category, in the words of AKS.
func Throttled(category, subscription, path string, after time.Duration) *arm.Error {
	of, perResource := "SubID='"+subscription+"'", strings.HasSuffix(category, "Resource")
	if perResource {
		of = path
	}
	handler := strings.TrimSuffix(strings.TrimSuffix(category, "Resource"), "Subscription")
	e := refuse(http.StatusTooManyRequests, "Throttled", "The %s request limit has been exceeded for %s, please retry again in %d seconds. "+
		"For more information, please visit aka.ms/aks/throttling", handler, of, int(after.Seconds()))
	e.RetryAfter = after
	return e
}

// shown returns the status of an operation. One that runs or has succeeded can show an error.
func (w *Service) shown(x *arm.Call, op *operation) (*arm.Answer, error) {
	a, err := op.Answer(x)
	if d, is := a.Body.(document.Object); is && op.Trouble == nil && w.core.Switches.On(OperationErrors) {
		d["error"] = document.Object{"code": "NotLatestOperation", "message": "Cannot proceed with the operation."}
	}
	return a, err
}
