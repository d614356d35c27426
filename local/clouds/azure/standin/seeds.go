package standin

import (
	_ "embed"
	"encoding/base64"

	"github.com/muster-project/muster/local/seed"
	"github.com/muster-project/muster/sim/azure"
)

// Kubernetes versions of clusters that are made around pools which want nothing newer.
const (
	clusterVersion = "v1.22.0"
	aksVersion     = "v1.34.2"
)

var (
	//go:embed cluster.yaml
	cluster string
	//go:embed machinepool.yaml
	pool string
	//go:embed flexible.yaml
	flexiblePool string
	//go:embed aks-cluster.yaml
	aksCluster string
	//go:embed aks-system.yaml
	systemPool string
	//go:embed aks-user.yaml
	userPool string
	//go:embed aks-aso-cluster.yaml
	manifestCluster string
	//go:embed aks-aso.yaml
	manifestPool string
)

// sshKey is a public key for machines that no user signs in to: its private half was thrown away. It is always the same, so that a
// manifest which names it means the same whenever it is read.
const sshKey = "ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAABAQDAMXwTPMK4uzaHThKuondg8DkszDRkTzqi4vzbqBQfJc/" +
	"H7lrishTUj0QE4DFNfdvznUPKst9lSufIPaXY3qy+zyQqdVthf1Skl5+fVm6jAGWxBEoFJnF1vqQ19GAdSG9I62/AQflcOx7QTfPY7bX3AXUOX36ifWfyY5V/" +
	"V4B3I9inVqTnVUPGOMIxauU7MwJhFUeKv0x32M25FS0H2NuqR4Me/Gxwt1K5yt8KdaJy1kCu88yCnLy2lkCXR9BCCASli/" +
	"Zrk87TyqKKeF5G5I07T17NE+4mjweN1XgjpCo1Kj6QtLyDox3QY37wuqq4cn3kRE5HSFDyZhMWZgqXEI+d muster-up"

// Seed returns what worlds are seeded with.
func Seed() seed.Cloud {
	key := base64.StdEncoding.EncodeToString([]byte(sshKey))
	return seed.Cloud{
		Name: "azure",
		Variables: map[string]string{
			"AZURE_SUBSCRIPTION_ID":            azure.SubscriptionID,
			"AZURE_TENANT_ID":                  azure.TenantID,
			"AZURE_CLIENT_ID":                  azure.ClientID,
			"AZURE_CLIENT_SECRET":              azure.ClientSecret,
			"AZURE_LOCATION":                   azure.Location,
			"AZURE_CONTROL_PLANE_MACHINE_TYPE": azure.VMSize,
			"AZURE_NODE_MACHINE_TYPE":          azure.VMSize,
			"AZURE_SSH_PUBLIC_KEY_B64":         key,
			"YOUR_SSH_PUB_KEY":                 key,
		},
		Pools: []seed.Pool{
			{Name: "capz-mp-0", About: "a scale set of Azure in Uniform mode", Manifest: pool, File: "pool of Azure"},
			{Name: "capz-flex-0", About: "one in Flexible mode", Manifest: flexiblePool, File: "flexible pool"},
			{Name: "aks-pool0", About: "a System pool of AKS", Manifest: systemPool, File: "system pool of AKS"},
			{Name: "aks-pool1", About: "a User pool of the same cluster", Manifest: userPool, File: "user pool of AKS"},
			{Name: "aks-aso-pool0", About: "a pool of AKS as a manifest of Azure Service Operator", Manifest: manifestPool,
				File: "manifest pool of AKS"},
		},
		Clusters: []seed.Cluster{
			{Kinds: []string{"AzureManagedMachinePool"}, Manifest: aksCluster, Oldest: aksVersion},
			{Kinds: []string{"AzureASOManagedMachinePool"}, Manifest: manifestCluster, Oldest: aksVersion},
			{Kinds: []string{"AzureMachinePool"}, Manifest: cluster, Oldest: clusterVersion},
		},
	}
}
