package aws

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	awsv1 "github.com/muster-project/muster/api/aws/v1beta2"
	simaws "github.com/muster-project/muster/sim/aws"
	"github.com/muster-project/muster/test/explore/world"
)

// Cluster returns an AWSCluster whose status describes the network of the simulated account.
func Cluster() *unstructured.Unstructured {
	n := simaws.DefaultAccount().Network
	var subnets []any
	for _, s := range n.Subnets {
		subnets = append(subnets, map[string]any{"id": s.ID, "availabilityZone": s.Zone, "isPublic": s.Public})
	}
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": awsv1.GroupVersion.String(), "kind": "AWSCluster",
		"metadata": map[string]any{"name": world.ClusterName, "namespace": world.Namespace},
		"spec":     map[string]any{"region": simaws.Region, "network": map[string]any{"vpc": map[string]any{"id": n.VPCID}, "subnets": subnets}},
		"status": map[string]any{"networkStatus": map[string]any{"securityGroups": map[string]any{
			"node": map[string]any{"id": n.NodeSecurityGroupID},
		}}},
	}}
}
