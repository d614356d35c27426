package e2e

import (
	"fmt"
	"slices"
	"strings"

	"github.com/scaleway/scaleway-sdk-go/api/k8s/v1"
	"github.com/scaleway/scaleway-sdk-go/scw"

	simscaleway "github.com/muster-project/muster/sim/scaleway"
)

const (
	// theirKapsulePool is a pool that cluster-api-provider-scaleway has made, which names it after its object.
	theirKapsulePool = "theirs"
	// tenant is the namespace of users whose cluster names the Kapsule cluster of another namespace, with an API key for its project.
	tenant = "team-b"
)

// theirKapsuleManifest is the pool of their object.
const theirKapsuleManifest = `
apiVersion: cluster.x-k8s.io/v1beta2
kind: MachinePool
metadata: {name: NAME, namespace: NAMESPACE}
spec:
  clusterName: CLUSTER
  replicas: 2
  template:
    spec:
      bootstrap: {dataSecretName: ""}
      clusterName: CLUSTER
      infrastructureRef: {apiGroup: infrastructure.cluster.x-k8s.io, kind: ScalewayManagedMachinePool, name: NAME}
      version: v1.34.2
---
apiVersion: infrastructure.cluster.x-k8s.io/v1alpha2
kind: ScalewayManagedMachinePool
metadata: {name: NAME, namespace: NAMESPACE}
spec: {nodeType: PRO2-XXS, zone: fr-par-1, additionalTags: [team=a]}
`

// tenantManifest are the objects of the tenant's cluster, with a grant that reaches every pool without an owner. Its provider leaves them
// alone, because they are paused.
const tenantManifest = `
apiVersion: v1
kind: Namespace
metadata: {name: team-b}
---
apiVersion: v1
kind: Secret
metadata: {name: keys, namespace: team-b}
stringData: {SCW_ACCESS_KEY: ACCESSKEY, SCW_SECRET_KEY: SECRETKEY}
---
apiVersion: infrastructure.cluster.x-k8s.io/v1alpha2
kind: ScalewayManagedCluster
metadata: {name: stolen, namespace: team-b, annotations: {cluster.x-k8s.io/paused: ""}}
spec: {projectID: PROJECT, region: fr-par, scalewaySecretName: keys}
---
apiVersion: infrastructure.cluster.x-k8s.io/v1alpha2
kind: ScalewayManagedControlPlane
metadata: {name: stolen, namespace: team-b, annotations: {cluster.x-k8s.io/paused: ""}}
spec: {type: kapsule, clusterName: KAPSULE, version: v1.34.2}
---
apiVersion: cluster.x-k8s.io/v1beta2
kind: Cluster
metadata: {name: stolen, namespace: team-b}
spec:
  controlPlaneRef: {apiGroup: infrastructure.cluster.x-k8s.io, kind: ScalewayManagedControlPlane, name: stolen}
  infrastructureRef: {apiGroup: infrastructure.cluster.x-k8s.io, kind: ScalewayManagedCluster, name: stolen}
---
apiVersion: muster.dev/v1alpha1
kind: AdoptionGrant
metadata: {name: team-b}
spec: {namespaces: {list: [team-b]}, accounts: [PROJECT], groups: ["*/*"]}
`

// kapsuleAPI is Kapsule, by its own SDK.
type kapsuleAPI struct {
	*kapsuleLife
	api *k8s.API
}

func kapsuleOf(l *kapsuleLife) kapsuleAPI {
	l.T.Helper()
	client, err := scw.NewClient(scw.WithAPIURL(l.Endpoint), scw.WithAuth(simscaleway.AccessKey, simscaleway.SecretKey),
		scw.WithDefaultRegion(simscaleway.Region), scw.WithDefaultProjectID(simscaleway.ProjectID))
	if err != nil {
		l.T.Fatal(err)
	}
	return kapsuleAPI{l, k8s.NewAPI(client)}
}

// clusters returns the existing clusters.
func (k kapsuleAPI) clusters() []*k8s.Cluster {
	k.T.Helper()
	list, err := k.api.ListClusters(&k8s.ListClustersRequest{})
	if err != nil {
		k.T.Fatal(err)
	}
	return list.Clusters
}

// makesPool makes a pool as cluster-api-provider-scaleway does.
func (k kapsuleAPI) makesPool(cluster string) {
	k.T.Helper()
	_, err := k.api.CreatePool(&k8s.CreatePoolRequest{ClusterID: cluster, Name: theirKapsulePool, NodeType: "PRO2-XXS", Zone: "fr-par-1",
		Size: kapsuleReplicas, Tags: []string{"team=a", "caps-namespace=default", "caps-scalewaymanagedmachinepool=" + theirKapsulePool,
			"created-by=cluster-api-provider-scaleway"}})
	if err != nil {
		k.T.Fatal(err)
	}
}

// tags returns the tags of the other provider's pool.
func (k kapsuleAPI) tags(cluster string) []string {
	k.T.Helper()
	list, err := k.api.ListPools(&k8s.ListPoolsRequest{ClusterID: cluster})
	if err != nil {
		k.T.Fatal(err)
	}
	for _, p := range list.Pools {
		if p.Name == theirKapsulePool {
			return p.Tags
		}
	}
	k.T.Fatalf("want the pool %s, got %v", theirKapsulePool, list.Pools)
	return nil
}

// groupReady waits until GroupReady of a pool has a reason and some words.
func (l *kapsuleLife) groupReady(namespace, pool, reason string, words ...string) {
	l.T.Helper()
	const path = `{.status.conditions[?(@.type=="GroupReady")].reason}: {.status.conditions[?(@.type=="GroupReady")].message}`
	l.Eventually(reason+" of "+pool, func() error {
		got, err := l.Try("", "--kubeconfig", l.Kubeconfig, "get", "scalewaymanagedmachinepool", pool, "-n", namespace, "-o", "jsonpath="+path)
		if err != nil {
			return err
		}
		for _, w := range append(words, reason+": ") {
			if !strings.Contains(got, w) {
				return fmt.Errorf("want %q, got %s", w, got)
			}
		}
		return nil
	})
}

// adoptsKapsulePool follows docs/migrating.md for a ScalewayManagedMachinePool. Objects of other names and namespaces can't adopt the pool,
// neither before it has an owner nor afterwards.
func adoptsKapsulePool(l *kapsuleLife) {
	cloud := kapsuleOf(l)
	cluster := cloud.clusters()[0]
	cloud.makesPool(cluster.ID)
	nodes := func() string {
		return l.ReadFrom(kapsuleCluster, `{range .items[*]}{.metadata.name} {.spec.providerID} {.metadata.uid}{"\n"}{end}`, "nodes")
	}
	var before string
	l.Eventually("the nodes of the pool", func() error {
		if before = nodes(); strings.Count(before, "\n") != 2*kapsuleReplicas || strings.Contains(before, "  ") {
			return fmt.Errorf("they are %s", before)
		}
		return nil
	})
	l.Begin()
	tagsBefore := cloud.tags(cluster.ID)
	triesToAdopt(l, cluster.Name, "AdoptionNotAllowed")
	if tags := cloud.tags(cluster.ID); !slices.Equal(tags, tagsBefore) {
		l.T.Errorf("want the pool left alone, got %v", tags)
	}
	l.Apply(strings.NewReplacer("NAMESPACE", "default", "NAME", theirKapsulePool, "CLUSTER", kapsuleCluster).Replace(theirKapsuleManifest))
	l.groupReady("default", theirKapsulePool, "OwnershipConflict", "muster.dev/adopt: "+theirKapsulePool)
	l.Adopt(theirKapsulePool, theirKapsulePool)
	l.atRest(theirKapsulePool, kapsuleReplicas)
	owned := cloud.tags(cluster.ID)
	if !slices.Contains(owned, "muster.dev_namespace=default") {
		l.T.Errorf("want the tags of the owner, got %v", owned)
	}
	l.Kubectl("annotate", "scalewaymanagedmachinepool/"+theirKapsulePool, "-n", tenant, "example.com/look=again")
	l.groupReady(tenant, theirKapsulePool, "OwnershipConflict")
	l.Kubectl("delete", "machinepool,scalewaymanagedmachinepool", theirKapsulePool, "-n", tenant, "--timeout", "1m")
	if tags := cloud.tags(cluster.ID); !slices.Equal(tags, owned) {
		l.T.Errorf("want the pool left with its owner %v, got %v", owned, tags)
	}
	if after := nodes(); after != before {
		l.T.Errorf("want the nodes as they were:\n%s\ngot\n%s", before, after)
	}
	l.went(0, 0)
}

// triesToAdopt has a tenant ask for their pool, which its tags do not give to the tenant's object.
func triesToAdopt(l *kapsuleLife, kapsule, reason string) {
	l.T.Helper()
	l.Apply(strings.NewReplacer("ACCESSKEY", simscaleway.AccessKey, "SECRETKEY", simscaleway.SecretKey, "PROJECT", simscaleway.ProjectID,
		"KAPSULE", kapsule).Replace(tenantManifest))
	for _, object := range []string{"scalewaymanagedcluster/stolen", "scalewaymanagedcontrolplane/stolen"} {
		l.Kubectl("patch", object, "-n", tenant, "--subresource=status", "--type=merge", "-p",
			`{"status":{"initialized":true,"ready":true,"initialization":{"provisioned":true,"controlPlaneInitialized":true}}}`)
	}
	l.Apply(strings.NewReplacer("NAMESPACE", tenant, "NAME", theirKapsulePool, "CLUSTER", "stolen").Replace(theirKapsuleManifest))
	l.Kubectl("annotate", "machinepool/"+theirKapsulePool, "-n", tenant, "muster.dev/adopt="+theirKapsulePool)
	l.groupReady(tenant, theirKapsulePool, reason, "caps-namespace=default", "muster.dev_adopt-by="+tenant+"/"+theirKapsulePool)
}
