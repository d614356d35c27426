// Package agentpool translates the objects of agent pools to what the Azure provider asks of AKS for them when it creates a managed
// cluster, without what follows from their MachinePools.
package agentpool

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/utils/ptr"

	aksv1 "github.com/muster-project/muster/api/azure/aks/v1beta1"
	"github.com/muster-project/muster/local/objects"
)

// renamed are the fields of an AzureManagedMachinePool that AKS calls otherwise; those with no name are none of AKS's, or are written in a
// form of their own.
var renamed = map[string]string{
	"sku": "vmSize", "additionalTags": "tags", "providerID": "", "providerIDList": "", "scaling": "", "subnetName": "", "taints": "",
	"asoManagedClustersAgentPoolPatches": "", "spotMaxPrice": "", "osDiskSizeGB": "",
}

// Managed returns the agent pool of an AzureManagedMachinePool, without its patches.
func Managed(o *unstructured.Unstructured, view aksv1.ManagedClusterView) (map[string]any, error) {
	var s aksv1.AzureManagedMachinePoolSpec
	if err := objects.DecodeSpec(o, &s); err != nil {
		return nil, err
	}
	out, err := sameFields(&s)
	if err != nil {
		return nil, fmt.Errorf("AzureManagedMachinePool %s: %w", o.GetName(), err)
	}
	out["type"], out["name"] = "VirtualMachineScaleSets", cmp.Or(ptr.Deref(s.Name, ""), o.GetName())
	out["vnetSubnetID"], out["nodeTaints"] = view.SubnetID, taints(s.Taints)
	if s.SubnetName != nil {
		out["vnetSubnetID"] = view.SubnetPrefix + *s.SubnetName
	}
	setInt(out, "osDiskSizeGB", s.OSDiskSizeGB)
	if out["osDiskSizeGB"] == 0.0 {
		delete(out, "osDiskSizeGB") // the default of the VM size
	}
	if s.SpotMaxPrice != nil {
		out["spotMaxPrice"] = s.SpotMaxPrice.AsApproximateFloat64()
	}
	if s.Scaling != nil {
		out["enableAutoScaling"] = true
		setInt(out, "minCount", s.Scaling.MinSize)
		setInt(out, "maxCount", s.Scaling.MaxSize)
	}
	return out, nil
}

// sameFields returns the fields of a specification that AKS takes in the form that they have, under its names.
func sameFields(s *aksv1.AzureManagedMachinePoolSpec) (map[string]any, error) {
	text, err := json.Marshal(s)
	if err != nil {
		return nil, fmt.Errorf("encode the specification: %w", err)
	}
	spec, out := map[string]any{}, map[string]any{}
	if err := json.Unmarshal(text, &spec); err != nil {
		return nil, fmt.Errorf("decode the specification: %w", err)
	}
	for field, value := range spec {
		property, special := renamed[field]
		switch {
		case !special:
			out[field] = value
		case property != "":
			out[property] = value
		}
	}
	if config, ok := out["linuxOSConfig"].(map[string]any); ok {
		out["linuxOSConfig"] = spelled(config)
	}
	return out, nil
}

// taints are taints as AKS writes them.
func taints(list []aksv1.Taint) []any {
	out := []any{}
	for _, t := range list {
		out = append(out, t.Key+"="+t.Value+":"+t.Effect)
	}
	return out
}

func setInt(d map[string]any, name string, n *int) {
	if n != nil {
		d[name] = float64(*n)
	}
}

// spelling are the parts of the names of sysctls that AKS writes otherwise.
var spelling = strings.NewReplacer("TCP", "Tcp", "IPLocal", "IpLocal")

func spelled(config map[string]any) map[string]any {
	sysctls, ok := config["sysctls"].(map[string]any)
	if !ok {
		return config
	}
	renamed := map[string]any{}
	for name, value := range sysctls {
		renamed[spelling.Replace(name)] = value
	}
	config["sysctls"] = renamed
	return config
}
