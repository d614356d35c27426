// Package aws is the local side of AWS.
package aws

import (
	"os"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/muster-project/muster/local/clouds"
	"github.com/muster-project/muster/local/clouds/aws/eks"
	"github.com/muster-project/muster/local/clouds/aws/standin"
	"github.com/muster-project/muster/local/infracluster"
	"github.com/muster-project/muster/sim/aws"
)

// Cloud returns the local side of AWS.
func Cloud() clouds.Cloud {
	return clouds.Cloud{
		Name: "aws", Title: "AWS",
		Simulate: simulate,
		Clients: clouds.Clients{
			Settings: settings, Account: settings,
			Isolation: []string{"AWS_CONFIG_FILE=" + os.DevNull, "AWS_SHARED_CREDENTIALS_FILE=" + os.DevNull, "AWS_EC2_METADATA_DISABLED=true"},
			Prefixes:  []string{"AWS_"},
			Hosts: []string{
				"*." + aws.Region + ".amazonaws.com", "*." + aws.Region + ".eks.amazonaws.com", "iam.amazonaws.com", "sts.amazonaws.com",
			},
			Authorities: []string{"AWS_CA_BUNDLE"},
		},
		Seed:        standin.Seed(),
		Kinds:       standin.Kinds(),
		Reconcilers: reconcilers,
		Resources:   []string{"awsmachinepool", "awsmanagedmachinepool"},
		Help: clouds.Help{
			Variable: "AWS_SUBNET_ID", Hosts: "*.REGION.amazonaws.com",
			Identities: "AWSClusterStaticIdentities",
			Plan:       "machinepool/workers --set spec.awsLaunchTemplate.instanceType=m5.xlarge -o json",
		},
	}
}

// groupQuota is the account's quota of Auto Scaling groups. Accounts with large fleets have AWS raise it above 500.
const groupQuota = 2000

func simulate(o clouds.Options) (clouds.Simulator, error) {
	account := aws.DefaultAccount()
	account.Groups = groupQuota
	server, err := aws.New(aws.Options{Accounts: []aws.Account{account}, Dir: o.Dir, Speed: o.Speed, MachineHost: o.MachineHost})
	if err != nil {
		return clouds.Simulator{}, err
	}
	return clouds.Simulator{Handler: server, Fetch: server.Fetch, Close: server.Close}, nil
}

// settings returns the same for every client: the SDK has its credentials from the environment.
func settings(base string) []string {
	a := aws.DefaultAccount()
	return []string{
		"AWS_ENDPOINT_URL=" + base, "AWS_REGION=" + a.Region,
		"AWS_ACCESS_KEY_ID=" + a.AccessKeyID, "AWS_SECRET_ACCESS_KEY=" + a.SecretAccessKey,
	}
}

func reconcilers(in clouds.Inputs) []clouds.Reconciler {
	return []clouds.Reconciler{
		&infracluster.Reconciler{Client: in.Client, Kind: standin.AWSCluster, Network: networkOf},
		&eks.ControlPlanes{Client: in.Client, Servers: in.Servers, Publisher: in.Publisher, Network: networkIn,
			Registry: eks.HTTP{Endpoint: in.Endpoint}},
		eks.Clusters(in.Client),
	}
}

// networkOf returns the network of an AWSCluster: that of its region.
func networkOf(o *unstructured.Unstructured) infracluster.Network {
	region, _, err := unstructured.NestedString(o.Object, "spec", "region")
	if err != nil {
		region = "" // the API server reports what is wrong with it when it is filled in
	}
	return networkIn(region)
}

// networkIn returns the account's network in a region. Only the account's own region has a network that is known in advance.
func networkIn(region string) standin.Network {
	a := aws.DefaultAccount()
	if region != "" && region != a.Region {
		return standin.Network{Region: region}
	}
	n := standin.Network{Region: a.Region, VPC: a.Network.VPCID, NodeSecurityGroup: a.Network.NodeSecurityGroupID}
	for _, s := range a.Network.Subnets {
		n.Subnets = append(n.Subnets, standin.Subnet{ID: s.ID, Zone: s.Zone, CIDR: s.CIDR, Public: s.Public})
	}
	return n
}
