package standin

import (
	_ "embed"

	"github.com/muster-project/muster/local/seed"
	"github.com/muster-project/muster/sim/scaleway"
)

// Zone is where machines are that name no other.
const Zone = scaleway.Region + "-1"

// clusterVersion is the Kubernetes version of clusters that are made around pools which want nothing newer.
const clusterVersion = "v1.34.2"

// machineType is the machine type of the built-in manifests.
const machineType = "PRO2-XXS"

var (
	//go:embed cluster.yaml
	cluster string
	//go:embed pool.yaml
	pool string
)

// Seed returns what worlds are seeded with.
func Seed() seed.Cloud {
	return seed.Cloud{
		Name: "scaleway",
		Variables: map[string]string{
			"SCW_PROJECT_ID":                 scaleway.ProjectID,
			"SCW_REGION":                     scaleway.Region,
			"SCW_ACCESS_KEY":                 scaleway.AccessKey,
			"SCW_SECRET_KEY":                 scaleway.SecretKey,
			"WORKER_MACHINE_COMMERCIAL_TYPE": machineType,
			"WORKER_FAILURE_DOMAIN":          Zone,
		},
		Pools: []seed.Pool{
			{Name: "caps-mp-0", About: "a pool of Kapsule", Manifest: pool, File: "pool of Kapsule"},
		},
		Clusters: []seed.Cluster{
			{Kinds: []string{"ScalewayManagedMachinePool"}, Manifest: cluster, Oldest: clusterVersion},
		},
	}
}
