package standin

import (
	"context"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	"github.com/muster-project/muster/local/fields"
)

// Network is where clusters of a project are.
type Network struct {
	// Project and Region of what an object does not place.
	Project, Region string
	// Zones of a region.
	Zones func(region string) []string
	// Compute creates the resources.
	Compute Maker
}

// Maker makes networks in the simulated Google Cloud. What is there already is left.
type Maker interface {
	Make(ctx context.Context, project, name string) error
}

// FillSpec sets what the object leaves open, under the names that the provider would choose.
func (n Network) FillSpec(o *unstructured.Unstructured, endpoint clusterv1.APIEndpoint) error {
	known := []fields.Field{
		{Value: n.Project, Path: []string{"spec", "project"}},
		{Value: n.Region, Path: []string{"spec", "region"}},
		{Value: "default", Path: []string{"spec", "network", "name"}},
	}
	if endpoint.IsValid() {
		known = append(known,
			fields.Field{Value: endpoint.Host, Path: []string{"spec", "controlPlaneEndpoint", "host"}},
			fields.Field{Value: int64(endpoint.Port), Path: []string{"spec", "controlPlaneEndpoint", "port"}})
	}
	return fields.Fill(o, known...)
}

// Make has the simulated Google Cloud hold the network that the object names, in the project that hosts it.
func (n Network) Make(ctx context.Context, o *unstructured.Unstructured) error {
	name, _, err := unstructured.NestedString(o.Object, "spec", "network", "name")
	if err != nil {
		return err
	}
	project, _, err := unstructured.NestedString(o.Object, "spec", "network", "hostProject")
	if err != nil {
		return err
	}
	if project == "" {
		if project, _, err = unstructured.NestedString(o.Object, "spec", "project"); err != nil {
			return err
		}
	}
	return n.Compute.Make(ctx, project, name)
}

// FillStatus marks the network as ready, with the zones that the specification names, or else those of the region.
func (n Network) FillStatus(o *unstructured.Unstructured) error {
	region, _, err := unstructured.NestedString(o.Object, "spec", "region")
	if err != nil {
		return err
	}
	zones, _, err := unstructured.NestedStringSlice(o.Object, "spec", "failureDomains")
	if err != nil {
		return err
	}
	if len(zones) == 0 {
		zones = n.Zones(region)
	}
	domains := map[string]any{}
	for _, zone := range zones {
		domains[zone] = map[string]any{"controlPlane": true}
	}
	known := []fields.Field{{Value: true, Path: []string{"status", "ready"}}}
	if len(domains) > 0 {
		known = append(known, fields.Field{Value: domains, Path: []string{"status", "failureDomains"}})
	}
	return fields.Set(o, known...)
}
