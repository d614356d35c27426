package v1beta1

import (
	"cmp"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utiljson "k8s.io/apimachinery/pkg/util/json"

	azurev1 "github.com/muster-project/muster/api/azure/v1beta1"
	"github.com/muster-project/muster/api/common"
)

const (
	// ServiceGroup is the group of the manifests that describe AKS.
	ServiceGroup = "containerservice.azure.com"
	// AgentPoolManifestKind is the kind of the manifest that describes an agent pool.
	AgentPoolManifestKind = "ManagedClustersAgentPool"
)

// AgentPoolManifest is the manifest of an agent pool in an AzureASOManagedMachinePool.
// +kubebuilder:object:generate=false
type AgentPoolManifest struct {
	// Name is the agent pool's name in AKS, ManifestName that of the manifest, and Namespace that which the manifest names.
	Name, ManifestName, Namespace string
	// APIVersion is the version of AKS's API whose fields the manifest has, for example 2023-10-01.
	APIVersion string
	// Spec of the manifest, as the user wrote it.
	Spec map[string]any
	// Annotations of the manifest.
	Annotations map[string]string
	// Index is the place of the manifest in spec.resources.
	Index int
}

// AgentPoolManifest returns the one manifest that describes an agent pool. The error names the manifest that is missing, or that only Azure
// Service Operator could apply.
func (s *AzureASOManagedMachinePoolSpec) AgentPoolManifest() (*AgentPoolManifest, error) {
	var found *AgentPoolManifest
	for i := range s.Resources {
		u := &unstructured.Unstructured{}
		if err := json.Unmarshal(s.Resources[i].Raw, u); err != nil {
			at := fmt.Sprintf("spec.resources[%d]", i)
			for _, bad := range common.BadValues(at, s.Resources[i].Raw, func(b []byte) error { return utiljson.Unmarshal(b, &map[string]any{}) }) {
				return nil, bad
			}
			return nil, fmt.Errorf("%s: not a Kubernetes manifest: %w", at, err)
		}
		kind := u.GroupVersionKind()
		switch {
		case kind.Group != ServiceGroup || kind.Kind != AgentPoolManifestKind:
			return nil, fmt.Errorf("spec.resources[%d]: found %s %s (%s), must be a %s of the group %s: Muster applies agent pools alone; apply "+
				"other manifests yourself",
				i, kind.Kind, u.GetName(), kind.GroupVersion(), AgentPoolManifestKind, ServiceGroup)
		case found != nil:
			return nil, fmt.Errorf("spec.resources[%d]: found a second %s, %s: one pool has one agent pool", i, AgentPoolManifestKind, u.GetName())
		}
		version, err := serviceVersion(kind.Version)
		if err != nil {
			return nil, fmt.Errorf("spec.resources[%d].apiVersion: %w", i, err)
		}
		spec, _, err := unstructured.NestedMap(u.Object, "spec")
		if err != nil {
			return nil, fmt.Errorf("spec.resources[%d].spec: %w", i, err)
		}
		found = &AgentPoolManifest{Name: u.GetName(), ManifestName: u.GetName(), Namespace: u.GetNamespace(), APIVersion: version, Spec: spec,
			Annotations: u.GetAnnotations(), Index: i}
		if name, ok := spec["azureName"].(string); ok && name != "" {
			found.Name = name
		}
	}
	if found == nil {
		// The text is the ecosystem's.
		return nil, fmt.Errorf("no %s ManagedClustersAgentPools defined in AzureASOManagedMachinePool spec.resources", ServiceGroup)
	}
	return found, nil
}

// CheckNamespace returns an error if the manifest names another namespace than that of its object.
func (m *AgentPoolManifest) CheckNamespace(namespace string) error {
	if m.Namespace == "" || m.Namespace == namespace {
		return nil
	}
	return fmt.Errorf("spec.resources[%d].metadata.namespace: found %s, must be absent or %s, the namespace of the object",
		m.Index, m.Namespace, namespace)
}

// CheckOwner returns an error if the manifest names another managed cluster than that of the pool's control plane. A cluster that is known
// from what the object remembers has no manifest, and is compared by its resource ID alone.
func (m *AgentPoolManifest) CheckOwner(cluster ManagedClusterView) error {
	owner, ok := m.Spec["owner"].(map[string]any)
	if !ok && m.Spec["owner"] != nil {
		return fmt.Errorf("spec.resources[%d].spec.owner: found %T, must be an object with name or armId", m.Index, m.Spec["owner"])
	}
	at := fmt.Sprintf("spec.resources[%d].spec.owner", m.Index)
	if name, _ := owner["name"].(string); name != "" && cluster.ManifestName != "" && name != cluster.ManifestName {
		return fmt.Errorf("%s.name: found %s, must be %s, the ManagedCluster of the Cluster's control plane", at, name, cluster.ManifestName)
	}
	id, _ := owner["armId"].(string)
	if id == "" {
		return nil
	}
	want := fmt.Sprintf("/subscriptions/%s/resourceGroups/%s/providers/Microsoft.ContainerService/managedClusters/%s",
		cmp.Or(cluster.View.SubscriptionID, azurev1.SegmentOf(id, "subscriptions")), cluster.View.ResourceGroup, cluster.Name)
	if !strings.EqualFold(id, want) {
		return fmt.Errorf("%s.armId: found %s, must be %s, the managed cluster of the Cluster's control plane", at, id, want)
	}
	return nil
}

// servedVersion is a version of Azure Service Operator's manifests: v1api20231001, v1api20240402preview, v20250801.
var servedVersion = regexp.MustCompile(`^v(?:1api)?(\d{4})(\d{2})(\d{2})(preview)?$`)

// serviceVersion returns the version of AKS's API for the version of a manifest.
func serviceVersion(version string) (string, error) {
	m := servedVersion.FindStringSubmatch(version)
	if m == nil {
		return "", fmt.Errorf("found %s, must be a version of Azure Service Operator such as v1api20231001 or v1api20240402preview", version)
	}
	out := strings.Join(m[1:4], "-")
	if m[4] != "" {
		out += "-" + m[4]
	}
	return out, nil
}
