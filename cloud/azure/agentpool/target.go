package agentpool

import (
	"cmp"
	"fmt"
	"maps"
	"strings"

	aksv1 "github.com/muster-project/muster/api/azure/aks/v1beta1"
	azurev1 "github.com/muster-project/muster/api/azure/v1beta1"
	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/azure/agentpool/body"
	"github.com/muster-project/muster/cloud/azure/model"
	"github.com/muster-project/muster/cloud/azure/session"
	"github.com/muster-project/muster/cloud/driverkit"
)

// Target holds the driver's input for one pool.
type Target = cloud.Target[*aksv1.AgentPoolSource]

// target is Target with its parts at hand.
type target struct {
	Target
	cluster aksv1.ManagedClusterView
	// name is the agent pool's.
	name string
}

func targetOf(t Target) (target, error) {
	if t.Spec == nil || t.Spec.Managed == nil && t.Spec.Manifest == nil {
		return target{}, cloud.Invalidf("spec", "there is no specification to go by")
	}
	out := target{Target: t, cluster: t.Spec.Cluster, name: t.Spec.Name}
	if out.cluster.View.ResourceGroup == "" || out.cluster.Name == "" {
		return target{}, cloud.Invalidf("spec", "the control plane names no managed cluster and resource group yet")
	}
	object, field := "control plane", "metadata.name"
	if t.Spec.Manifest != nil {
		object, field = "manifest of the ManagedCluster", "spec.azureName"
	}
	return out, driverkit.CheckPlaces(t.GroupID, append(session.Places(object, out.cluster.View),
		driverkit.Place{Object: object, Kind: "managed cluster", Field: field, Name: out.cluster.Name})...)
}

// in is the target in the subscription of its session, where its cluster names none.
func (t target) in(subscription string) target {
	if t.cluster.View.SubscriptionID == "" {
		t.cluster.View.SubscriptionID = subscription
	}
	return t
}

// clusterID returns the resource ID of the managed cluster.
func (t target) clusterID() string {
	return fmt.Sprintf("/subscriptions/%s/resourceGroups/%s/providers/Microsoft.ContainerService/managedClusters/%s",
		t.cluster.View.SubscriptionID, t.cluster.View.ResourceGroup, t.cluster.Name)
}

// poolID returns the resource ID of the agent pool.
func (t target) poolID() string { return t.clusterID() + "/agentPools/" + t.name }

// groupID returns the ID of the agent pool in the form of spec.providerID.
func (t target) groupID() string {
	return fmt.Sprintf("azure:///subscriptions/%s/resourceGroups/%s/providers/Microsoft.ContainerService/managedClusters/%s/agentPools/%s",
		t.cluster.View.SubscriptionID, strings.ToLower(t.cluster.View.ResourceGroup), t.cluster.Name, t.name)
}

// splitGroupID returns the resource ID of the managed cluster of an agent pool, and its name; empty for the ID of anything else.
func splitGroupID(id string) (cluster, name string) {
	at, ok := strings.CutPrefix(id, "azure://")
	i := strings.LastIndex(at, "/agentPools/")
	if !ok || i < 0 || azurev1.SegmentOf(at, "managedClusters") == "" {
		return "", ""
	}
	return at[:i], azurev1.SegmentOf(at, "agentPools")
}

// providerID returns the provider ID of a machine's Node, from the resource ID of the machine: the cloud provider writes the resource group
// in lower case.
func providerID(id string) string {
	group := azurev1.SegmentOf(id, "resourceGroups")
	return "azure://" + strings.Replace(id, "/resourceGroups/"+group+"/", "/resourceGroups/"+strings.ToLower(group)+"/", 1)
}

// version returns the version of AKS's API in which a request that changes the agent pool is made. One that changes the size of machines is
// made in a version that knows it, and so is one about virtual machines by themselves, whose size can be changed in every such version.
func (t target) version(ofVMs, resizes bool) string {
	out := apiVersion
	if t.Spec.Manifest != nil {
		out = t.Spec.Manifest.APIVersion
	}
	switch {
	case ofVMs:
		out = max(out, vmsVersion)
	case resizes:
		out = max(out, resizeVersion)
	}
	return out
}

// tags returns the tags that the agent pool should have: those of the cluster, of the specification and of the owner.
func (t target) tags() azurev1.Tags {
	out := azurev1.Tags{}
	maps.Copy(out, t.cluster.View.AdditionalTags)
	if t.Spec.Managed != nil {
		maps.Copy(out, t.Spec.Managed.AdditionalTags)
	}
	maps.Copy(out, model.Spelling.Tags(t.Owner))
	return out
}

// properties returns the properties that the specification asks for, without those that follow from the MachinePool.
func (t target) properties() (body.Properties, error) {
	if t.Spec.Manifest != nil {
		return body.OfManifest(t.Spec.Manifest, t.tags())
	}
	return body.OfManaged(t.Spec.Managed, t.subnet(), t.tags())
}

// subnet returns the resource ID of the subnet that nodes are in; empty leaves it to AKS.
func (t target) subnet() string {
	if name := t.Spec.Managed.SubnetName; name != nil && t.cluster.SubnetPrefix != "" {
		return t.cluster.SubnetPrefix + *name
	}
	return t.cluster.SubnetID
}

// field returns the object's field that a property of the agent pool comes from, for messages.
func (t target) field(path string) string {
	property, rest, _ := strings.Cut(path, ".")
	if t.Spec.Manifest != nil {
		return fmt.Sprintf("spec.resources[%d].spec.%s", t.Spec.Manifest.Index, path)
	}
	spec := cmp.Or(body.Fields.Of(property).Spec, "spec."+property)
	if rest != "" {
		spec += "." + rest
	}
	return spec
}

// ownership returns what decides whether the agent pool with the pool's name may be changed.
func (t target) ownership(read clusterRead) driverkit.Ownership {
	o := driverkit.Ownership{
		Exists: read.pool != nil, Named: read.named, GroupID: t.GroupID, Kind: "agent pool", Rename: "in spec.name",
		Group:   fmt.Sprintf("agent pool %s of managed cluster %s", t.name, t.cluster.Name),
		Account: strings.ToLower(t.cluster.View.SubscriptionID), Path: t.cluster.View.ResourceGroup + "/" + t.cluster.Name + "/" + t.name,
	}
	if read.pool != nil {
		o.Claim = t.Claim(model.Spelling, read.pool.tag)
	}
	return o
}
