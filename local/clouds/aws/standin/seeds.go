package standin

import (
	_ "embed"

	"github.com/muster-project/muster/local/seed"
	"github.com/muster-project/muster/sim/aws"
)

// Kubernetes versions of clusters that are made around pools which want nothing newer.
const (
	clusterVersion = "v1.25.0"
	eksVersion     = "v1.33.0"
)

var (
	//go:embed cluster.yaml
	cluster string
	//go:embed eks-cluster.yaml
	eksCluster string
	//go:embed machinepool.yaml
	pool string
	//go:embed eks-managedmachinepool.yaml
	managedPool string
)

// Seed returns what worlds are seeded with. An object that names no infrastructure gets a cluster of this cloud.
func Seed() seed.Cloud {
	return seed.Cloud{
		Name: "aws",
		Variables: map[string]string{
			"AWS_REGION":                     aws.Region,
			"AWS_AVAILABILITY_ZONE":          aws.Zone,
			"AWS_CONTROL_PLANE_MACHINE_TYPE": aws.InstanceType,
			"AWS_NODE_MACHINE_TYPE":          aws.InstanceType,
			"AWS_SSH_KEY_NAME":               aws.KeyName,
			"AWS_SUBNET":                     aws.SubnetID,
			"AWS_SUBNET_ID":                  aws.SubnetID,
			"AWS_VPC_ID":                     aws.VPCID,
		},
		Pools: []seed.Pool{
			{Name: "capa-mp-0", About: "an AWSMachinePool", Manifest: pool, File: "pool"},
			{Name: "eks-mmp-0", About: "a node group of EKS", Manifest: managedPool, File: "managed pool"},
		},
		Clusters: []seed.Cluster{
			{Kinds: []string{"AWSManagedMachinePool"}, Manifest: eksCluster, Oldest: eksVersion, OldestSupported: true},
			{Kinds: []string{"AWS*", ""}, Manifest: cluster, Oldest: clusterVersion},
		},
	}
}
