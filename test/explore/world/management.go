package world

import (
	"fmt"
	"slices"
	"strings"
	"time"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/utils/ptr"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	awsv1 "github.com/muster-project/muster/api/aws/v1beta2"
	aksv1 "github.com/muster-project/muster/api/azure/aks/v1beta1"
	azurev1 "github.com/muster-project/muster/api/azure/v1beta1"
	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/kube/infrapool"
	awspool "github.com/muster-project/muster/kube/infrapool/aws"
	"github.com/muster-project/muster/kube/infrapool/awsmanaged"
	azurepool "github.com/muster-project/muster/kube/infrapool/azure"
	"github.com/muster-project/muster/kube/infrapool/azuremanaged"
	"github.com/muster-project/muster/kube/infrapool/ownership"
	"github.com/muster-project/muster/kube/infrapool/watch"
	"github.com/muster-project/muster/kube/nodes"
	simaws "github.com/muster-project/muster/sim/aws"
	"github.com/muster-project/muster/test/explore/memapi"
)

const (
	namespace   = "default"
	clusterName = "c"
	secretName  = "pool-bootstrap"
	// kubernetesVersion is one that the simulated account has images for.
	kubernetesVersion = "v1.25.0"
)

var (
	poolKey    = client.ObjectKey{Namespace: namespace, Name: "mp"}
	infraKey   = client.ObjectKey{Namespace: namespace, Name: "pool"}
	clusterKey = client.ObjectKey{Namespace: namespace, Name: clusterName}
)

var schemes = []func(*runtime.Scheme) error{
	clientgoscheme.AddToScheme, clusterv1.AddToScheme, awsv1.AddToScheme, azurev1.AddToScheme, aksv1.AddToScheme, apiextensionsv1.AddToScheme,
}

func statusKinds() []client.Object {
	return []client.Object{
		&aksv1.AzureManagedMachinePool{}, &aksv1.AzureASOManagedMachinePool{}, &azurev1.AzureMachinePool{}, &azurev1.AzureMachinePoolMachine{}, &awsv1.AWSMachinePool{}, &awsv1.AWSManagedMachinePool{}, &awsv1.AWSMachine{}, &clusterv1.Machine{}, &clusterv1.MachinePool{}, &clusterv1.Cluster{},
	}
}

func managementIndexes() []memapi.Index {
	list := []memapi.Index{{Object: &clusterv1.MachinePool{}, Field: nodes.PoolField, Values: nodes.PoolKeys}}
	for _, i := range slices.Concat(watch.Indexes(), awspool.Adapter{}.Kind().Indexes(), awsmanaged.Adapter{}.Kind().Indexes(), azurepool.Adapter{}.Kind().Indexes(),
		azuremanaged.Managed{}.Kind().Indexes(), azuremanaged.ASO{}.Kind().Indexes()) {
		list = append(list, memapi.Index{Object: i.Object, Field: i.Field, Values: i.Values})
	}
	return list
}

// furnish makes what a user applies: a cluster that is up, and a pool.
func (w *World) furnish() {
	ctx := w.t.Context()
	kinds := []string{
		"awsclusters.infrastructure", "awsmachinepools.infrastructure", "awsmanagedmachinepools.infrastructure", "awsmanagedcontrolplanes.controlplane",
		"azureclusters.infrastructure", "azuremachinepools.infrastructure", "azuremachinepoolmachines.infrastructure",
	}
	if w.scenario.onAKS() {
		kinds = aksDefinitions
	}
	for _, kind := range kinds {
		version := "v1beta2"
		if strings.HasPrefix(kind, "azure") {
			version = "v1beta1"
		}
		w.must(w.user.Create(ctx, &apiextensionsv1.CustomResourceDefinition{ObjectMeta: metav1.ObjectMeta{
			Name: kind + ".cluster.x-k8s.io", Labels: map[string]string{"cluster.x-k8s.io/v1beta2": version},
		}}), "make the definition of %s", kind)
	}
	cluster := w.cluster()
	w.must(w.user.Create(ctx, cluster), "make the Cluster")
	cluster.Status = clusterv1.ClusterStatus{
		Initialization: clusterv1.ClusterInitializationStatus{InfrastructureProvisioned: ptr.To(true), ControlPlaneInitialized: ptr.To(true)},
		Conditions: []metav1.Condition{{
			Type: clusterv1.ClusterControlPlaneInitializedCondition, Status: metav1.ConditionTrue, Reason: "Initialized", LastTransitionTime: metav1.Now(),
		}},
	}
	w.must(w.user.Status().Update(ctx, cluster), "tell that the Cluster is up")
	if !w.scenario.Has(Bootstrap) {
		w.rotate()
	}
	if w.scenario.Brought {
		w.bring()
	}
	if w.scenario.Managed {
		w.account.putCluster()
	}
	if w.scenario.onAKS() {
		w.at(time.Now().Add(time.Second), w.provide) // after the object of a System pool is there
	}
	o := w.infra()
	if named, ok := o.(infrapool.Lists); ok && w.scenario.Named {
		w.foreign(0)
		named.SetProviderID(w.theirID())
	}
	if named, ok := o.(infrapool.Lists); ok && w.scenario.Adopted {
		named.SetProviderID(w.makeForAnother())
	}
	w.must(w.user.Create(ctx, o), "make the %s", w.scenario.kind())
	w.must(w.user.Create(ctx, w.pool()), "make the MachinePool")
}

// cluster is one that is up, with what describes its place: for a managed pool its control plane.
func (w *World) cluster() *clusterv1.Cluster {
	c := &clusterv1.Cluster{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: clusterName}}
	infrastructure, at := "AWSCluster", place()
	if w.scenario.Managed {
		infrastructure, at = "AWSManagedCluster", w.controlPlane()
		c.Spec.ControlPlaneRef = clusterv1.ContractVersionedObjectReference{APIGroup: "controlplane.cluster.x-k8s.io", Kind: at.GetKind(), Name: clusterName}
	}
	if w.scenario.onAzure() {
		infrastructure, at = "AzureCluster", azurePlace()
	}
	if w.scenario.onAKS() {
		infrastructure, at = "AzureManagedCluster", w.aksPlane()
		c.Spec.ControlPlaneRef = clusterv1.ContractVersionedObjectReference{APIGroup: awsv1.GroupVersion.Group, Kind: at.GetKind(), Name: clusterName}
	}
	c.Spec.InfrastructureRef = clusterv1.ContractVersionedObjectReference{APIGroup: awsv1.GroupVersion.Group, Kind: infrastructure, Name: clusterName}
	w.must(w.user.Create(w.t.Context(), at), "make the %s", at.GetKind())
	return c
}

// place is what the simulated account holds, as a cluster shows it.
func place() *unstructured.Unstructured {
	n := simaws.DefaultAccount().Network
	var subnets []any
	for _, s := range n.Subnets {
		subnets = append(subnets, map[string]any{"id": s.ID, "availabilityZone": s.Zone, "isPublic": s.Public})
	}
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": awsv1.GroupVersion.String(), "kind": "AWSCluster", "metadata": map[string]any{"name": clusterName, "namespace": namespace},
		"spec": map[string]any{"region": simaws.Region, "network": map[string]any{"vpc": map[string]any{"id": n.VPCID}, "subnets": subnets}},
		"status": map[string]any{"networkStatus": map[string]any{"securityGroups": map[string]any{
			"node": map[string]any{"id": n.NodeSecurityGroupID},
		}}},
	}}
}

func (w *World) infra() client.Object {
	if w.scenario.onAKS() {
		return w.aksPool()
	}
	if w.scenario.Managed {
		return w.managedPool()
	}
	if w.scenario.onAzure() {
		return w.azurePool()
	}
	return &awsv1.AWSMachinePool{
		ObjectMeta: metav1.ObjectMeta{Namespace: infraKey.Namespace, Name: infraKey.Name},
		Spec: awsv1.AWSMachinePoolSpec{
			MinSize: int32(w.scenario.Least), MaxSize: int32(w.scenario.Most),
			AdditionalTags:    awsv1.Tags{"team": "a"},
			AWSLaunchTemplate: w.launchTemplate(),
			Strategy:          w.scenario.Strategy.spec(), RefreshPreferences: w.scenario.Refresh.spec(),
		},
	}
}

// launchTemplate is what the pool's machines are at first.
func (w *World) launchTemplate() awsv1.AWSLaunchTemplate {
	if w.scenario.Brought {
		return awsv1.AWSLaunchTemplate{Existing: &awsv1.ExistingLaunchTemplate{Name: ptr.To(broughtTemplate), Version: 1}}
	}
	t := awsv1.AWSLaunchTemplate{InstanceType: simaws.InstanceType, SSHKeyName: awssdk.String(simaws.KeyName)}
	if w.scenario.Spot && !w.scenario.Managed {
		t.SpotMarketOptions = &awsv1.SpotMarketOptions{}
	}
	return t
}

func (w *World) pool() *clusterv1.MachinePool {
	s := w.scenario
	mp := &clusterv1.MachinePool{
		ObjectMeta: metav1.ObjectMeta{Namespace: poolKey.Namespace, Name: poolKey.Name, Annotations: map[string]string{}},
		Spec: clusterv1.MachinePoolSpec{ClusterName: clusterName, Replicas: ptr.To(int32(s.Replicas)), Template: clusterv1.MachineTemplateSpec{
			Spec: clusterv1.MachineSpec{
				ClusterName: clusterName, Version: s.version(), Bootstrap: clusterv1.Bootstrap{DataSecretName: ptr.To(secretName)},
				InfrastructureRef: clusterv1.ContractVersionedObjectReference{APIGroup: awsv1.GroupVersion.Group, Kind: s.kind(), Name: infraKey.Name},
			},
		}},
	}
	if s.DrainTimeout > 0 {
		mp.Spec.Template.Spec.Deletion.NodeDrainTimeoutSeconds = ptr.To(int32(s.DrainTimeout / time.Second))
	}
	if s.Zones {
		mp.Spec.FailureDomains = []string{"1", "2", "3"}
	}
	if s.External {
		mp.Annotations[clusterv1.ReplicasManagedByAnnotation] = "cluster-autoscaler"
	}
	return mp
}

// rotate puts a new token into the bootstrap data.
func (w *World) rotate() {
	w.tokens++
	data := w.scenario.boots(w.workload.rotate(w.tokens))
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{
		Namespace: namespace, Name: secretName, Labels: map[string]string{clusterv1.ClusterNameLabel: clusterName},
	}}
	made := w.user.Get(w.t.Context(), client.ObjectKeyFromObject(secret), secret) == nil
	secret.Data = map[string][]byte{"value": []byte(data)}
	if made {
		w.must(w.user.Update(w.t.Context(), secret), "rotate the token")
		return
	}
	w.must(w.user.Create(w.t.Context(), secret), "make the bootstrap data")
}

// boots is bootstrap data with a token: what machines of EKS's images run is in parts, and such a machine needs no token.
func (s Scenario) boots(token string) string {
	if s.Managed {
		return "MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=\"//\"\n\n--//\nContent-Type: text/x-shellscript\n\n" +
			"#!/bin/bash\necho token: " + token + "\n\n--//--\n"
	}
	return fmt.Sprintf("#cloud-config\nwrite_files: [{path: /run/kubeadm/config.yaml, content: \"discovery: {bootstrapToken: {token: %s}}\"}]\n", token)
}

// bootstrap is the hash-free bootstrap data as the secret has it now.
func (w *World) bootstrap() []byte {
	secret := &corev1.Secret{}
	if err := w.user.Get(w.t.Context(), client.ObjectKey{Namespace: namespace, Name: secretName}, secret); err != nil {
		return nil
	}
	return secret.Data["value"]
}

// editPool and editInfra change an object as a user does, who reads it first. A pool that is gone can't be edited.
func (w *World) editPool(change func(*clusterv1.MachinePool)) {
	mp := &clusterv1.MachinePool{}
	if w.user.Get(w.t.Context(), poolKey, mp) == nil {
		change(mp)
		w.must(w.user.Update(w.t.Context(), mp), "edit the MachinePool")
	}
}

func (w *World) editInfra(change func(*infra)) {
	o := w.scenario.newInfra()
	if w.user.Get(w.t.Context(), infraKey, o.Object) == nil {
		change(o)
		w.must(w.user.Update(w.t.Context(), o.Object), "edit the %s", w.scenario.kind())
	}
}

// objects are the pool's two objects as they are; nil for one that is gone.
func (w *World) objects(r client.Reader) (*clusterv1.MachinePool, *infra) {
	mp, o := &clusterv1.MachinePool{}, w.scenario.newInfra()
	if r.Get(w.t.Context(), poolKey, mp) != nil {
		mp = nil
	}
	if r.Get(w.t.Context(), infraKey, o.Object) != nil {
		o = nil
	}
	return mp, o
}

// deleted reports whether the pool is being deleted or gone.
func (w *World) deleted() bool {
	mp, o := w.objects(w.user)
	return mp == nil || o == nil || !mp.DeletionTimestamp.IsZero() || !o.GetDeletionTimestamp().IsZero()
}

// owner is who the pool's cloud objects belong to.
func (w *World) owner() cloud.Owner {
	mp, o := w.objects(w.user)
	if o == nil {
		return w.account.owner
	}
	id := o.GetAnnotations()[ownership.Annotation]
	if id == "" {
		id = string(o.GetUID())
	}
	w.account.owner = cloud.Owner{ID: id, Cluster: clusterName, Namespace: infraKey.Namespace, Name: infraKey.Name, GroupName: w.groupNameOf(mp, o)}
	return w.account.owner
}
