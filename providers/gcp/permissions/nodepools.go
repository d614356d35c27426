package permissions

const atClusters = "the GKE clusters"

// nodePools is about node pools of GKE. Their machines are those of managed instance groups, which are read and named as those of package
// groups are.
func nodePools() []Grant {
	const clusters, operations = "container.clusters.", "container.operations."
	return []Grant{{At: atClusters, Permissions: []Permission{
		{Name: clusters + "get", Why: "each pass looks at the cluster with its node pools"},
		{Name: clusters + "list", Why: "one list reads the node pools of all clusters of the project"},
		{Name: clusters + "update", Why: "a node pool is made, changed, grows, gets another version and is deleted; an upgrade is cancelled " +
			"and taken back"},
		{Name: operations + "list", Why: "what GKE does to a node pool"},
		{Name: operations + "get", Why: "how an operation ended, in GKE's words"},
		{Name: "iam.serviceAccounts.actAs", Why: "nodes act as the service account of spec.nodeSecurity; grant it on that account alone",
			ByService: true},
	}}}
}
