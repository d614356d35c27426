package standin

import (
	_ "embed"

	"github.com/muster-project/muster/local/seed"
	"github.com/muster-project/muster/sim/oci"
	"github.com/muster-project/muster/sim/oci/catalogue"
)

// Kubernetes versions of clusters that are made around pools which want nothing newer.
const (
	clusterVersion = "v1.31.0"
	okeVersion     = "v1.34.1"
)

// shape is the shape of the machines of the built-in manifests.
const shape = "VM.Standard.E4.Flex"

var (
	//go:embed cluster.yaml
	cluster string
	//go:embed instances.yaml
	instancePool string
	//go:embed oke-cluster.yaml
	okeCluster string
	//go:embed oke.yaml
	nodePool string
	//go:embed virtual.yaml
	virtualNodePool string
)

// Seed returns what worlds are seeded with.
func Seed() seed.Cloud {
	return seed.Cloud{
		Name: "oci",
		Variables: map[string]string{
			"OCI_COMPARTMENT_ID":             oci.Compartment,
			"OCI_REGION":                     oci.Region,
			"OCI_IMAGE_ID":                   catalogue.Image(oci.RegionKey, okeVersion, "amd64"),
			"OCI_SSH_KEY":                    "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA muster-up",
			"OCI_CONTROL_PLANE_MACHINE_TYPE": shape,
			"OCI_NODE_MACHINE_TYPE":          shape,
			"OCI_MANAGED_NODE_SHAPE":         shape,
		},
		Pools: []seed.Pool{
			{Name: "capoci-mp-0", About: "an instance pool of Oracle Cloud", Manifest: instancePool, File: "instance pool of Oracle Cloud"},
			{Name: "capoci-oke-mp-0", About: "a node pool of OKE", Manifest: nodePool, File: "node pool of OKE"},
			{Name: "capoci-oke-mp-1", About: "a virtual node pool of OKE", Manifest: virtualNodePool, File: "virtual node pool of OKE"},
		},
		Clusters: []seed.Cluster{
			{Kinds: []string{"OCIManagedMachinePool", "OCIVirtualMachinePool"}, Manifest: okeCluster, Oldest: okeVersion},
			{Kinds: []string{"OCIMachinePool"}, Manifest: cluster, Oldest: clusterVersion},
		},
	}
}
