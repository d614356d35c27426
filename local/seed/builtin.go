package seed

import (
	_ "embed"
	"encoding/base64"
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/version"

	"github.com/muster-project/muster/kube/skew"
)

// Kubernetes versions of clusters that are made around pools which want nothing newer.
const (
	builtinVersion      = "v1.25.0"
	builtinEKSVersion   = "v1.33.0"
	builtinAzureVersion = "v1.22.0"
)

// The names of the built-in manifests, in messages and in a Record.
const (
	builtinClusterFile     = "built-in cluster"
	builtinPoolFile        = "built-in pool"
	builtinManagedPoolFile = "built-in managed pool"
	builtinAzurePoolFile   = "built-in pool of Azure"
	builtinFlexiblePool    = "built-in flexible pool"
)

var (
	//go:embed manifests/cluster.yaml
	clusterManifest string
	//go:embed manifests/eks-cluster.yaml
	eksClusterManifest string
	//go:embed manifests/machinepool.yaml
	poolManifest string
	//go:embed manifests/eks-managedmachinepool.yaml
	managedPoolManifest string
	//go:embed manifests/azure-cluster.yaml
	azureClusterManifest string
	//go:embed manifests/azure-machinepool.yaml
	azurePoolManifest string
	//go:embed manifests/azure-flexible.yaml
	flexiblePoolManifest string
)

// Clouds whose pools are built in.
const (
	AWS   = "aws"
	Azure = "azure"
)

// builtin are the built-in pools by name, with the cloud that they are on.
var builtin = []struct{ cloud, name, file, text string }{
	{AWS, "capa-mp-0", builtinPoolFile, poolManifest},
	{AWS, "eks-mmp-0", builtinManagedPoolFile, managedPoolManifest},
	{Azure, "capz-mp-0", builtinAzurePoolFile, azurePoolManifest},
	{Azure, "capz-flex-0", builtinFlexiblePool, flexiblePoolManifest},
}

// BuiltinPools are the names of the pools that a world with these clouds has which is given no manifests.
func BuiltinPools(clouds ...string) []string {
	var names []string
	for _, b := range builtin {
		if slices.Contains(clouds, b.cloud) {
			names = append(names, b.name)
		}
	}
	return names
}

// Account is what the simulated accounts hold, as far as manifests name it. A cloud without a region or subscription is not
// simulated.
type Account struct {
	// Of AWS.
	Region, Zone, VPCID, SubnetID, KeyName, InstanceType string
	// Azure is the subscription there.
	Azure Subscription
}

// Subscription is what a simulated subscription of Azure holds, and who may ask for it.
type Subscription struct {
	ID, TenantID, ClientID, ClientSecret, Location, VMSize string
}

// sshKey is a public key for machines that nobody signs in to: its private half was thrown away. It is always the same, so that a
// manifest which names it means the same whenever it is read.
const sshKey = "ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAABAQDAMXwTPMK4uzaHThKuondg8DkszDRkTzqi4vzbqBQfJc/H7lrishTUj0QE4DFNfdvznUPKst9lSufIPaXY3qy+zyQqdVthf1Skl5+fVm6jAGWxBEoFJnF1vqQ19GAdSG9I62/AQflcOx7QTfPY7bX3AXUOX36ifWfyY5V/V4B3I9inVqTnVUPGOMIxauU7MwJhFUeKv0x32M25FS0H2NuqR4Me/Gxwt1K5yt8KdaJy1kCu88yCnLy2lkCXR9BCCASli/Zrk87TyqKKeF5G5I07T17NE+4mjweN1XgjpCo1Kj6QtLyDox3QY37wuqq4cn3kRE5HSFDyZhMWZgqXEI+d muster-up"

// Variables are the accounts' things under the names that the manifests of the providers use for them.
func (a Account) Variables() map[string]string {
	key := base64.StdEncoding.EncodeToString([]byte(sshKey))
	return map[string]string{
		"AWS_REGION":                       a.Region,
		"AWS_AVAILABILITY_ZONE":            a.Zone,
		"AWS_CONTROL_PLANE_MACHINE_TYPE":   a.InstanceType,
		"AWS_NODE_MACHINE_TYPE":            a.InstanceType,
		"AWS_SSH_KEY_NAME":                 a.KeyName,
		"AWS_SUBNET":                       a.SubnetID,
		"AWS_SUBNET_ID":                    a.SubnetID,
		"AWS_VPC_ID":                       a.VPCID,
		"AZURE_SUBSCRIPTION_ID":            a.Azure.ID,
		"AZURE_TENANT_ID":                  a.Azure.TenantID,
		"AZURE_CLIENT_ID":                  a.Azure.ClientID,
		"AZURE_CLIENT_SECRET":              a.Azure.ClientSecret,
		"AZURE_LOCATION":                   a.Azure.Location,
		"AZURE_CONTROL_PLANE_MACHINE_TYPE": a.Azure.VMSize,
		"AZURE_NODE_MACHINE_TYPE":          a.Azure.VMSize,
		"AZURE_SSH_PUBLIC_KEY_B64":         key,
		"YOUR_SSH_PUB_KEY":                 key,
	}
}

// Builtin are the objects of a world that is given no manifests: pools of two machines each, by name, with their clusters.
func Builtin(a Account, pools []string) ([]Object, error) {
	var objects []Object
	for _, b := range builtin {
		if !slices.Contains(pools, b.name) {
			continue
		}
		found, err := Parse([]Source{{Name: b.file, Text: b.text}}, FromMap(a.Variables()))
		if err != nil {
			return nil, err
		}
		objects = append(objects, found...)
	}
	return AddClusters(a, objects, func(string, string) (bool, error) { return false, nil })
}

// objects are what makes the cluster in a world: the Cluster, its infrastructure and its control plane.
func (w *wantedCluster) objects(a Account) ([]Object, error) {
	text, oldest := clusterManifest, builtinVersion
	switch {
	case w.managed:
		text, oldest = eksClusterManifest, builtinEKSVersion
	case w.cloud() == Azure:
		text, oldest = azureClusterManifest, builtinAzureVersion
	}
	vars := maps.Clone(a.Variables())
	vars["CLUSTER_NAME"], vars["NAMESPACE"], vars["KUBERNETES_VERSION"] = w.name, w.namespace, planeVersion(oldest, w.newest, w.managed)
	return Parse([]Source{{Name: builtinClusterFile, Text: text}}, FromMap(vars))
}

// wantedCluster is a cluster that some object names.
type wantedCluster struct {
	namespace, name string
	// by is an object that names it, and newest the highest Kubernetes version of all such objects.
	by     Object
	newest string
	// managed says that one of them is a pool that EKS manages, so that the control plane is EKS's too.
	managed bool
}

// cloud is the one that the object is on which names the cluster; an object of no cloud's kind goes with AWS.
func (w *wantedCluster) cloud() string {
	switch kind := infrastructureKind(w.by); {
	case kind == "" || strings.HasPrefix(kind, "AWS"):
		return AWS
	case kind == "AzureMachinePool":
		return Azure
	default:
		return ""
	}
}

// has says whether a cloud is simulated.
func (a Account) has(cloud string) bool {
	return cloud == AWS && a.Region != "" || cloud == Azure && a.Azure.ID != ""
}

// AddClusters puts before objects the clusters that they name and that neither they nor the world bring: exists says
// whether the world has a Cluster of that name already. Only clusters of the clouds that are simulated can be made.
func AddClusters(a Account, objects []Object, exists func(namespace, name string) (bool, error)) ([]Object, error) {
	var made []Object
	for _, w := range wantedClusters(objects) {
		found, err := exists(w.namespace, w.name)
		if err != nil {
			return nil, fmt.Errorf("cluster %s/%s: %w", w.namespace, w.name, err)
		}
		if found {
			continue
		}
		if !a.has(w.cloud()) {
			return nil, fmt.Errorf("%s: no manifest brings the cluster %q, and for a %s none can be made", w.by.Where(), w.name, infrastructureKind(w.by))
		}
		added, err := w.objects(a)
		if err != nil {
			return nil, err
		}
		made = append(made, added...)
	}
	return append(made, objects...), nil
}

// Clusters lists the namespace and name of every cluster that objects bring or name, in the order of their first mention.
func Clusters(objects []Object) [][2]string {
	var all [][2]string
	for _, o := range objects {
		name := o.GetName()
		if gk := o.GroupVersionKind().GroupKind(); gk.Group != coreGroup {
			continue
		} else if gk.Kind != "Cluster" {
			name = clusterName(o)
		}
		if id := [2]string{o.Namespaced(), name}; name != "" && !slices.Contains(all, id) {
			all = append(all, id)
		}
	}
	return all
}

// TopologyPools is how many machine pools a Cluster of a ClusterClass asks for; 0 for anything else.
func TopologyPools(o Object) int {
	if gk := o.GroupVersionKind().GroupKind(); gk.Group != coreGroup || gk.Kind != "Cluster" {
		return 0
	}
	pools, _, _ := unstructured.NestedSlice(o.Object, "spec", "topology", "workers", "machinePools")
	return len(pools)
}

// clusterName is the cluster that an object belongs to; empty for one that belongs to none.
func clusterName(o Object) string {
	name, _, _ := unstructured.NestedString(o.Object, "spec", "clusterName")
	return name
}

// wantedClusters lists the clusters that objects name and do not bring, in the order of their first mention.
func wantedClusters(objects []Object) []*wantedCluster {
	brought := map[string]bool{}
	for _, o := range objects {
		if gk := o.GroupVersionKind().GroupKind(); gk.Group == coreGroup && gk.Kind == "Cluster" {
			brought[o.Namespaced()+"/"+o.GetName()] = true
		}
	}
	var order []*wantedCluster
	wanted := map[string]*wantedCluster{}
	for _, o := range objects {
		name := clusterName(o)
		id := o.Namespaced() + "/" + name
		if o.GroupVersionKind().Group != coreGroup || name == "" || brought[id] {
			continue
		}
		w := wanted[id]
		if w == nil {
			w = &wantedCluster{namespace: o.Namespaced(), name: name, by: o}
			wanted[id] = w
			order = append(order, w)
		}
		w.newest = newer(w.newest, machineVersion(o))
		w.managed = w.managed || infrastructureKind(o) == managedPool
	}
	return order
}

// managedPool is the kind of pools whose clusters are Amazon's own.
const managedPool = "AWSManagedMachinePool"

// coreGroup is the API group of Cluster and of everything that names one.
const coreGroup = "cluster.x-k8s.io"

// machineVersion is the Kubernetes version of the machines that an object makes; empty for an object that makes none.
func machineVersion(o Object) string { return machineField(o, "version") }

// infrastructureKind is the kind of infrastructure that an object makes its machines from.
func infrastructureKind(o Object) string { return machineField(o, "infrastructureRef", "kind") }

// machineField reads a field of the machine that an object is, or has a template of.
func machineField(o Object, path ...string) string {
	for _, at := range [][]string{{"spec", "template", "spec"}, {"spec"}} {
		if v, ok, _ := unstructured.NestedString(o.Object, append(at, path...)...); ok {
			return v
		}
	}
	return ""
}

// planeVersion is what a control plane for pools asks for: the version of the newest pool, and not below the oldest that the world
// has by itself, unless that one could not serve the pool, which admission would refuse. EKS runs nothing older.
func planeVersion(oldest, newest string, managed bool) string {
	if !managed && skew.Of(newest, skew.ControlPlane{Version: oldest}) != nil {
		oldest = newest
	}
	return newer(oldest, newest)
}

// newer is the higher of two versions. A version that can't be read loses; the API server will say what is wrong with it.
func newer(a, b string) string {
	vb, err := version.ParseSemantic(b)
	if err != nil {
		return a
	}
	if va, err := version.ParseSemantic(a); err == nil && !va.LessThan(vb) {
		return a
	}
	return "v" + vb.String()
}
