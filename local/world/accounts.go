package world

import (
	"os"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	awsnetwork "github.com/muster-project/muster/local/clouds/aws/network"
	azurenetwork "github.com/muster-project/muster/local/clouds/azure/network"
	"github.com/muster-project/muster/local/infracluster"
	simaws "github.com/muster-project/muster/sim/aws"
	simazure "github.com/muster-project/muster/sim/azure"
)

// awsNetworkOf is the network that an AWSCluster stands for: that of its region.
func awsNetworkOf(o *unstructured.Unstructured) infracluster.Network {
	region, _, err := unstructured.NestedString(o.Object, "spec", "region")
	if err != nil {
		region = "" // the API server will say what is wrong with it when it is filled in
	}
	return awsNetwork(region)
}

// awsNetwork is what the simulated account holds. Only its own region has a network that is known beforehand.
func awsNetwork(region string) awsnetwork.Network {
	a := simaws.DefaultAccount()
	if region != "" && region != a.Region {
		return awsnetwork.Network{Region: region}
	}
	n := awsnetwork.Network{Region: a.Region, VPC: a.Network.VPCID, NodeSecurityGroup: a.Network.NodeSecurityGroupID}
	for _, s := range a.Network.Subnets {
		n.Subnets = append(n.Subnets, awsnetwork.Subnet{ID: s.ID, Zone: s.Zone, CIDR: s.CIDR, Public: s.Public})
	}
	return n
}

// azureNetwork makes networks in the simulated subscription.
func azureNetwork(maker azurenetwork.Maker) azurenetwork.Network {
	return azurenetwork.Network{SubscriptionID: simazure.SubscriptionID, Location: simazure.Location, Zones: simazure.Zones, Azure: maker}
}

// cloudEnvironment are the settings with which SDKs and tools of the clouds reach the simulated ones.
func (p places) cloudEnvironment(clouds []string) []string {
	var all []string
	if slices.Contains(clouds, aws) {
		a := simaws.DefaultAccount()
		all = append(all, "AWS_ENDPOINT_URL=http://"+loopback(p.AWS), "AWS_REGION="+a.Region,
			"AWS_ACCESS_KEY_ID="+a.AccessKeyID, "AWS_SECRET_ACCESS_KEY="+a.SecretAccessKey)
	}
	if slices.Contains(clouds, azure) {
		all = append(all, "AZURE_RESOURCE_MANAGER_ENDPOINT=http://"+loopback(p.Azure), "AZURE_SUBSCRIPTION_ID="+simazure.SubscriptionID)
	}
	return all
}

// nowhereElse keeps SDKs from what they find by themselves.
func nowhereElse() []string {
	return []string{"AWS_CONFIG_FILE=" + os.DevNull, "AWS_SHARED_CREDENTIALS_FILE=" + os.DevNull, "AWS_EC2_METADATA_DISABLED=true"}
}

// OfCloud says whether an environment variable leads a cloud's SDK to an account.
func OfCloud(variable string) bool {
	for _, prefix := range []string{"AWS_", "AZURE_", "IDENTITY_", "MSI_", "IMDS_"} {
		if strings.HasPrefix(variable, prefix) {
			return true
		}
	}
	return false
}

// controllersEnvironment is that of this process with the simulated accounts in place of whatever accounts it names: a
// local world never reaches a real one.
func (p places) controllersEnvironment() []string {
	env := slices.DeleteFunc(os.Environ(), OfCloud)
	return append(append(env, p.cloudEnvironment(Clouds())...), nowhereElse()...)
}
