package standin

import (
	_ "embed"

	"github.com/muster-project/muster/local/seed"
	"github.com/muster-project/muster/sim/gcp/project"
)

// Region is where clusters are that name no other.
const Region = "us-central1"

// Kubernetes versions of clusters that are made around pools which want nothing newer.
const (
	clusterVersion = "v1.31.0"
	gkeVersion     = "v1.34.2"
)

// machineType is the machine type of the built-in manifests.
const machineType = "n2-standard-2"

var (
	//go:embed cluster.yaml
	cluster string
	//go:embed zonal.yaml
	zonalPool string
	//go:embed regional.yaml
	regionalPool string
	//go:embed gke-cluster.yaml
	gkeCluster string
	//go:embed gke.yaml
	nodePool string
)

// Seed returns what worlds are seeded with.
func Seed() seed.Cloud {
	return seed.Cloud{
		Name: "gcp",
		Variables: map[string]string{
			"GCP_PROJECT":                    project.DefaultID,
			"GCP_REGION":                     Region,
			"GCP_NETWORK_NAME":               "default",
			"GCP_CONTROL_PLANE_MACHINE_TYPE": machineType,
			"GCP_NODE_MACHINE_TYPE":          machineType,
		},
		Pools: []seed.Pool{
			{Name: "capg-mp-0", About: "a managed instance group of Google Cloud in one zone", Manifest: zonalPool,
				File: "zonal pool of Google Cloud"},
			{Name: "capg-mp-1", About: "one in all zones of its region", Manifest: regionalPool, File: "regional pool of Google Cloud"},
			{Name: "capg-gke-mp-0", About: "a node pool of GKE", Manifest: nodePool, File: "node pool of GKE"},
		},
		Clusters: []seed.Cluster{
			{Kinds: []string{"GCPManagedMachinePool"}, Manifest: gkeCluster, Oldest: gkeVersion},
			{Kinds: []string{"GCPMachinePool"}, Manifest: cluster, Oldest: clusterVersion},
		},
	}
}
