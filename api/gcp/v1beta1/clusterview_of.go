package v1beta1

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/muster-project/muster/api/common"
)

const (
	// ManagedControlPlaneKind is the kind of control planes of GKE.
	ManagedControlPlaneKind = "GCPManagedControlPlane"
	// ManagedClusterKind is the kind of infrastructure clusters of GKE.
	ManagedClusterKind = "GCPManagedCluster"

	// defaultNetwork is the network of clusters that name none.
	defaultNetwork = "default"

	// clusterNameLabel is the label of everything that belongs to a Cluster.
	clusterNameLabel = "cluster.x-k8s.io/cluster-name"
)

// clusterFields are the fields of GCPCluster and GCPManagedCluster that are read.
type clusterFields struct {
	Spec struct {
		Project string `json:"project,omitempty"`
		Region  string `json:"region,omitempty"`
		Network struct {
			Name        string `json:"name,omitempty"`
			HostProject string `json:"hostProject,omitempty"`
			Subnets     []struct {
				Name   string `json:"name,omitempty"`
				Region string `json:"region,omitempty"`
			} `json:"subnets,omitempty"`
		} `json:"network,omitempty"`
		FailureDomains      []string             `json:"failureDomains,omitempty"`
		AdditionalLabels    map[string]string    `json:"additionalLabels,omitempty"`
		ResourceManagerTags []ResourceManagerTag `json:"resourceManagerTags,omitempty"`
		ServiceEndpoints    struct {
			Compute   string `json:"compute,omitempty"`
			Container string `json:"container,omitempty"`
			IAM       string `json:"iam,omitempty"`
		} `json:"serviceEndpoints,omitempty"`
	} `json:"spec,omitempty"`
	Status struct {
		Ready          bool                `json:"ready,omitempty"`
		FailureDomains map[string]struct{} `json:"failureDomains,omitempty"`
	} `json:"status,omitempty"`
}

// ClusterViewOf reads a GCPCluster or a GCPManagedCluster. Names that it does not say are those that the ecosystem's provider gives;
// everything else that is not there yet stays empty. It is an error only when a field that is read has another type than it should.
func ClusterViewOf(u *unstructured.Unstructured) (ClusterView, error) {
	var fields clusterFields
	if err := common.FieldsOf(u, &fields); err != nil {
		return ClusterView{}, err
	}
	spec := &fields.Spec
	view := ClusterView{
		Name:                u.GetName(),
		ClusterName:         cmp.Or(u.GetLabels()[clusterNameLabel], u.GetName()),
		Project:             spec.Project,
		Region:              spec.Region,
		Network:             cmp.Or(spec.Network.Name, defaultNetwork),
		NetworkProject:      cmp.Or(spec.Network.HostProject, spec.Project),
		AdditionalLabels:    spec.AdditionalLabels,
		ResourceManagerTags: spec.ResourceManagerTags,
		FailureDomains:      slices.Sorted(maps.Keys(fields.Status.FailureDomains)),
		Endpoints: Endpoints{Compute: spec.ServiceEndpoints.Compute, Container: spec.ServiceEndpoints.Container,
			IAM: spec.ServiceEndpoints.IAM},
		Ready: fields.Status.Ready,
	}
	if len(view.FailureDomains) == 0 {
		view.FailureDomains = slices.Sorted(slices.Values(spec.FailureDomains))
	}
	for _, subnet := range spec.Network.Subnets {
		view.Subnets = append(view.Subnets, SubnetView{Name: subnet.Name, Region: subnet.Region})
	}
	return view, nil
}

// controlPlaneFields are the fields of GCPManagedControlPlane that are read.
type controlPlaneFields struct {
	Spec struct {
		Project             string `json:"project,omitempty"`
		Location            string `json:"location,omitempty"`
		ClusterName         string `json:"clusterName,omitempty"`
		EnableAutopilot     bool   `json:"enableAutopilot,omitempty"`
		Version             string `json:"version,omitempty"`
		ControlPlaneVersion string `json:"controlPlaneVersion,omitempty"`
	} `json:"spec,omitempty"`
	Status struct {
		Ready          bool   `json:"ready,omitempty"`
		Version        string `json:"version,omitempty"`
		CurrentVersion string `json:"currentVersion,omitempty"`
	} `json:"status,omitempty"`
}

// ManagedClusterViewOf reads a GCPManagedControlPlane. cluster is the name of the Cluster. What the GCPManagedCluster adds is set by
// ManagedClusterView.Complete. It is an error only when a field that is read has another type than it should.
func ManagedClusterViewOf(u *unstructured.Unstructured, cluster string) (ManagedClusterView, error) {
	var fields controlPlaneFields
	if err := common.FieldsOf(u, &fields); err != nil {
		return ManagedClusterView{}, err
	}
	spec, status := &fields.Spec, &fields.Status
	return ManagedClusterView{
		Name: spec.ClusterName, Location: spec.Location, Autopilot: spec.EnableAutopilot,
		Version: cmp.Or(status.Version, status.CurrentVersion, spec.Version, spec.ControlPlaneVersion),
		View: ClusterView{
			Name: u.GetName(), ClusterName: cmp.Or(cluster, u.GetLabels()[clusterNameLabel], u.GetName()), Project: spec.Project,
			NetworkProject: spec.Project,
			Region:         RegionOf(spec.Location), Ready: status.Ready,
		},
	}, nil
}

// Complete adds what the GCPManagedCluster has: addresses, labels, tags and the network.
func (v *ManagedClusterView) Complete(from ClusterView) {
	v.View.Project = cmp.Or(v.View.Project, from.Project)
	v.View.Network, v.View.NetworkProject, v.View.Subnets = from.Network, from.NetworkProject, from.Subnets
	v.View.AdditionalLabels, v.View.ResourceManagerTags = from.AdditionalLabels, from.ResourceManagerTags
	v.View.FailureDomains, v.View.Endpoints = from.FailureDomains, from.Endpoints
}

// RegionOf returns the region of a location, which is a region or a zone: us-central1 of us-central1-a.
func RegionOf(location string) string {
	if parts := strings.Split(location, "-"); len(parts) > 2 {
		return parts[0] + "-" + parts[1]
	}
	return location
}
