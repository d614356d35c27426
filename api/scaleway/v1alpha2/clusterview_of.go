package v1alpha2

import (
	"cmp"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/muster-project/muster/api/common"
)

const (
	// ManagedControlPlaneKind is the kind of control planes of Kapsule and Kosmos.
	ManagedControlPlaneKind = "ScalewayManagedControlPlane"
	// ManagedClusterKind is the kind of infrastructure clusters of Kapsule and Kosmos.
	ManagedClusterKind = "ScalewayManagedCluster"

	// clusterNameLabel is the label of everything that belongs to a Cluster.
	clusterNameLabel = "cluster.x-k8s.io/cluster-name"
)

// controlPlaneFields are the fields of ScalewayManagedControlPlane that are read.
type controlPlaneFields struct {
	Spec struct {
		ClusterName string `json:"clusterName,omitempty"`
		Type        string `json:"type,omitempty"`
		Version     string `json:"version,omitempty"`
	} `json:"spec,omitempty"`
	Status struct {
		// Initialized is the word of v1alpha1 for Initialization.
		Initialized    bool   `json:"initialized,omitempty"`
		Version        string `json:"version,omitempty"`
		Initialization struct {
			ControlPlaneInitialized bool `json:"controlPlaneInitialized,omitempty"`
		} `json:"initialization,omitempty"`
	} `json:"status,omitempty"`
}

// clusterFields are the fields of ScalewayManagedCluster that are read.
type clusterFields struct {
	Spec struct {
		Region             string `json:"region,omitempty"`
		ProjectID          string `json:"projectID,omitempty"`
		ScalewaySecretName string `json:"scalewaySecretName,omitempty"`
	} `json:"spec,omitempty"`
}

// ClusterViewOf reads a ScalewayManagedControlPlane. cluster is the name of the Cluster. What the ScalewayManagedCluster adds is set by
// ClusterView.Complete. It is an error only when a field that is read has another type than it should.
func ClusterViewOf(u *unstructured.Unstructured, cluster string) (ClusterView, error) {
	var fields controlPlaneFields
	if err := common.FieldsOf(u, &fields); err != nil {
		return ClusterView{}, err
	}
	spec, status := &fields.Spec, &fields.Status
	return ClusterView{
		Name: spec.ClusterName, ControlPlane: u.GetName(), ClusterName: cmp.Or(cluster, u.GetLabels()[clusterNameLabel], u.GetName()),
		Type: spec.Type, Version: cmp.Or(status.Version, spec.Version),
		Ready: status.Initialized || status.Initialization.ControlPlaneInitialized,
	}, nil
}

// Complete adds what a ScalewayManagedCluster has: the region, the project and the Secret. It is an error only when a field that is read
// has another type than it should.
func (v *ClusterView) Complete(u *unstructured.Unstructured) error {
	var fields clusterFields
	if err := common.FieldsOf(u, &fields); err != nil {
		return err
	}
	v.Region, v.ProjectID, v.SecretName = fields.Spec.Region, fields.Spec.ProjectID, fields.Spec.ScalewaySecretName
	return nil
}
