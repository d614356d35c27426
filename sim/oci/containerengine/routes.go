package containerengine

import (
	"net/http"

	"github.com/muster-project/muster/sim/oci/rest"
)

// Name is the name of the service in calls and faults.
const Name = "containerengine"

const (
	at        = "/20180222"
	atPools   = at + "/nodePools"
	atPool    = atPools + "/{nodePoolId}"
	atWorks   = at + "/workRequests"
	atWork    = atWorks + "/{workRequestId}"
	atCluster = at + "/clusters/{clusterId}"
	atVirtual = at + "/virtualNodePools"
	atOne     = atVirtual + "/{virtualNodePoolId}"
)

// Routes are the operations that are served.
var Routes = []rest.Route[*Service]{
	rest.Reads(Name, "ListClusters", at+"/clusters", listClusters, "CLUSTER_INSPECT"),
	rest.Reads(Name, "GetCluster", atCluster, getCluster, "CLUSTER_READ"),
	rest.Reads(Name, "GetNodePoolOptions", at+"/nodePoolOptions/{nodePoolOptionId}", getNodePoolOptions, "CLUSTER_NODE_POOL_READ"),
	rest.Reads(Name, "ListNodePools", atPools, listNodePools, "CLUSTER_NODE_POOL_INSPECT"),
	rest.Reads(Name, "GetNodePool", atPool, onPool("nodePoolId", getNodePool), "CLUSTER_NODE_POOL_READ"),
	rest.Reads(Name, "ListWorkRequests", atWorks, listWorkRequests, "CLUSTER_WORK_REQUEST_INSPECT"),
	rest.Reads(Name, "GetWorkRequest", atWork, onWork(getWorkRequest), "CLUSTER_WORK_REQUEST_READ"),
	rest.Reads(Name, "ListWorkRequestErrors", atWork+"/errors", onWork(listWorkRequestErrors), "CLUSTER_WORK_REQUEST_READ"),
	rest.Reads(Name, "ListWorkRequestLogs", atWork+"/logs", onWork(listWorkRequestLogs), "CLUSTER_WORK_REQUEST_READ"),
	rest.Reads(Name, "ListPodShapes", at+"/podShapes", listPodShapes, "CLUSTER_POD_SHAPE_INSPECT"),

	rest.Reads(Name, "ListVirtualNodePools", atVirtual, listVirtualNodePools, "CLUSTER_VIRTUAL_NODE_POOL_INSPECT"),
	rest.Reads(Name, "GetVirtualNodePool", atOne, onPool("virtualNodePoolId", getVirtualNodePool), "CLUSTER_VIRTUAL_NODE_POOL_READ"),
	rest.Reads(Name, "ListVirtualNodes", atOne+"/virtualNodes", onPool("virtualNodePoolId", listVirtualNodes),
		"CLUSTER_VIRTUAL_NODE_POOL_READ"),
	rest.Reads(Name, "GetVirtualNode", atOne+"/virtualNodes/{virtualNodeId}", onPool("virtualNodePoolId", getVirtualNode),
		"CLUSTER_VIRTUAL_NODE_POOL_READ"),

	rest.Writes(Name, "CreateVirtualNodePool", http.MethodPost, atVirtual, createVirtualNodePool, "CLUSTER_VIRTUAL_NODE_POOL_CREATE"),
	rest.Writes(Name, "UpdateVirtualNodePool", http.MethodPut, atOne, onPool("virtualNodePoolId", updateVirtualNodePool),
		"CLUSTER_VIRTUAL_NODE_POOL_UPDATE"),
	rest.Writes(Name, "DeleteVirtualNodePool", http.MethodDelete, atOne, onPool("virtualNodePoolId", deleteVirtualNodePool),
		"CLUSTER_VIRTUAL_NODE_POOL_DELETE"),
	rest.Writes(Name, "CreateNodePool", http.MethodPost, atPools, createNodePool, "CLUSTER_NODE_POOL_CREATE"),
	rest.Writes(Name, "UpdateNodePool", http.MethodPut, atPool, onPool("nodePoolId", updateNodePool), "CLUSTER_NODE_POOL_UPDATE"),
	rest.Writes(Name, "DeleteNodePool", http.MethodDelete, atPool, onPool("nodePoolId", deleteNodePool), "CLUSTER_NODE_POOL_DELETE"),
	rest.Writes(Name, "DeleteNode", http.MethodDelete, atPool+"/node/{nodeId}", onPool("nodePoolId", deleteNode), "CLUSTER_NODE_POOL_UPDATE"),
	rest.Writes(Name, "DeleteWorkRequest", http.MethodDelete, atWork, onWork(deleteWorkRequest), "CLUSTER_WORK_REQUEST_DELETE"),
}
