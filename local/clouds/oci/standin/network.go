package standin

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	"github.com/muster-project/muster/local/fields"
	"github.com/muster-project/muster/sim/oci"
	"github.com/muster-project/muster/sim/oci/catalogue"
)

// roles are those of the subnets and network security groups that pools use, by the names that the provider gives them.
var roles = []string{"worker", "pod"}

// uniquePart is the length of the last part of an OCID.
const uniquePart = 60

// Network fills in the network of clusters, whose parts exist in no simulated service: they are names in requests alone.
type Network struct{}

// FillSpec sets what the object leaves open, under the names that the provider would choose.
func (Network) FillSpec(o *unstructured.Unstructured, endpoint clusterv1.APIEndpoint) error {
	domains := map[string]any{}
	for _, name := range oci.Domains() {
		var faults []any
		for _, fault := range catalogue.FaultDomains() {
			faults = append(faults, fault)
		}
		domains[name] = map[string]any{"name": name, "faultDomains": faults}
	}
	known := []fields.Field{
		{Value: string(o.GetUID()), Path: []string{"spec", "ociResourceIdentifier"}},
		{Value: oci.Compartment, Path: []string{"spec", "compartmentId"}},
		{Value: oci.Region, Path: []string{"spec", "region"}},
		{Value: domains, Path: []string{"spec", "availabilityDomains"}},
	}
	if endpoint.IsValid() {
		known = append(known,
			fields.Field{Value: endpoint.Host, Path: []string{"spec", "controlPlaneEndpoint", "host"}},
			fields.Field{Value: int64(endpoint.Port), Path: []string{"spec", "controlPlaneEndpoint", "port"}})
	}
	if err := fields.Fill(o, known...); err != nil {
		return err
	}
	if err := fillParts(o, "subnet", "spec", "networkSpec", "vcn", "subnets"); err != nil {
		return err
	}
	return fillParts(o, "networksecuritygroup", "spec", "networkSpec", "vcn", "networkSecurityGroup", "list")
}

// fillParts gives the parts of the network at a path their OCIDs, and adds those that pools use by default.
func fillParts(o *unstructured.Unstructured, kind string, path ...string) error {
	parts, _, err := unstructured.NestedSlice(o.Object, path...)
	if err != nil {
		return err
	}
	known := map[string]bool{}
	for _, part := range parts {
		if is, ok := part.(map[string]any); ok {
			role, _ := is["role"].(string)
			name, _ := is["name"].(string)
			id, _ := is["id"].(string)
			known[role], is["id"] = true, cmp.Or(id, ocid(o, kind, name))
		}
	}
	for _, role := range roles {
		if !known[role] {
			parts = append(parts, map[string]any{"name": role, "role": role, "id": ocid(o, kind, role)})
		}
	}
	return unstructured.SetNestedSlice(o.Object, parts, path...)
}

// ocid returns the OCID of a part of the network of an object.
func ocid(o *unstructured.Unstructured, kind, name string) string {
	sum := sha256.Sum256([]byte(string(o.GetUID()) + "/" + kind + "/" + name))
	return "ocid1." + kind + ".oc1." + oci.RegionKey + "." + hex.EncodeToString(sum[:])[:uniquePart]
}

// Make makes nothing.
func (Network) Make(context.Context, *unstructured.Unstructured) error { return nil }

// FillStatus marks the network as ready, with the failure domains by which the provider numbers the availability domains.
func (Network) FillStatus(o *unstructured.Unstructured) error {
	domains := map[string]any{}
	for i, name := range oci.Domains() {
		domains[string(rune('1'+i))] = map[string]any{"controlPlane": true, "attributes": map[string]any{"AvailabilityDomain": name}}
	}
	return fields.Set(o, fields.Field{Value: true, Path: []string{"status", "ready"}},
		fields.Field{Value: domains, Path: []string{"status", "failureDomains"}})
}
