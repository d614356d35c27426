package world

import (
	"fmt"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/utils/ptr"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/kube/infrapool"
	"github.com/muster-project/muster/kube/infrapool/ownership"
	"github.com/muster-project/muster/kube/infrapool/watch"
	"github.com/muster-project/muster/kube/nodes"
	"github.com/muster-project/muster/test/explore/memapi"
)

// Names of the cluster, and of the pool's objects.
const (
	Namespace   = "default"
	ClusterName = "c"
	secretName  = "pool-bootstrap"
)

// Keys of the cluster and of the pool's objects.
var (
	ClusterKey = client.ObjectKey{Namespace: Namespace, Name: ClusterName}
	InfraKey   = client.ObjectKey{Namespace: Namespace, Name: "pool"}
	poolKey    = client.ObjectKey{Namespace: Namespace, Name: "mp"}
)

// infraGroup is the API group of infrastructure objects of all kinds.
const infraGroup = "infrastructure.cluster.x-k8s.io"

// schemes are what the objects of every kind of pool stand beside.
var schemes = []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, clusterv1.AddToScheme, apiextensionsv1.AddToScheme}

// statusKinds are the kinds whose status is a subresource.
func (k *Kind) statusKinds() []client.Object {
	return append([]client.Object{&clusterv1.Machine{}, &clusterv1.MachinePool{}, &clusterv1.Cluster{}}, k.Objects...)
}

func (k *Kind) managementIndexes() []memapi.Index {
	list := []memapi.Index{{Object: &clusterv1.MachinePool{}, Field: nodes.PoolField, Values: nodes.PoolKeys}}
	for _, i := range append(watch.Indexes(), k.Indexes()...) {
		list = append(list, memapi.Index{Object: i.Object, Field: i.Field, Values: i.Values})
	}
	return list
}

// furnish makes what a user applies: a cluster that is up, and a pool.
func (w *World) furnish() {
	ctx := w.t.Context()
	for _, d := range w.Scenario.Kind.Definitions {
		w.Must(w.User.Create(ctx, &apiextensionsv1.CustomResourceDefinition{ObjectMeta: metav1.ObjectMeta{
			Name: d.Name + ".cluster.x-k8s.io", Labels: map[string]string{"cluster.x-k8s.io/v1beta2": d.Version},
		}}), "make the definition of %s", d.Name)
	}
	cluster := w.cluster()
	w.Must(w.User.Create(ctx, cluster), "make the Cluster")
	cluster.Status = clusterv1.ClusterStatus{
		Initialization: clusterv1.ClusterInitializationStatus{InfrastructureProvisioned: ptr.To(true), ControlPlaneInitialized: ptr.To(true)},
		Conditions: []metav1.Condition{{
			Type: clusterv1.ClusterControlPlaneInitializedCondition, Status: metav1.ConditionTrue, Reason: "Initialized",
			LastTransitionTime: metav1.Now(),
		}},
	}
	w.Must(w.User.Status().Update(ctx, cluster), "tell that the Cluster is up")
	if !w.Scenario.Has(Bootstrap) {
		w.rotate()
	}
	if w.pool.Furnish != nil {
		w.pool.Furnish()
	}
	o := w.pool.Applied()
	if named, ok := o.(infrapool.WrittenFields); ok && w.Scenario.Named {
		w.pool.Foreign(0)
		named.SetProviderID(w.Scenario.Kind.TheirID)
	}
	if named, ok := o.(infrapool.WrittenFields); ok && w.Scenario.Adopted {
		named.SetProviderID(w.makeForAnother())
	}
	w.Must(w.User.Create(ctx, o), "make the %s", w.kind)
	w.Must(w.User.Create(ctx, w.machinePool()), "make the MachinePool")
}

// cluster is one that is up, with what describes its place.
func (w *World) cluster() *clusterv1.Cluster {
	c, at := &clusterv1.Cluster{ObjectMeta: metav1.ObjectMeta{Namespace: Namespace, Name: ClusterName}}, w.pool.Place()
	if at.ControlPlane {
		c.Spec.ControlPlaneRef = clusterv1.ContractVersionedObjectReference{APIGroup: at.Object.GroupVersionKind().Group,
			Kind: at.Object.GetKind(), Name: ClusterName}
	}
	c.Spec.InfrastructureRef = clusterv1.ContractVersionedObjectReference{APIGroup: infraGroup, Kind: at.InfraCluster, Name: ClusterName}
	w.Must(w.User.Create(w.t.Context(), at.Object), "make the %s", at.Object.GetKind())
	if at.Beside != nil {
		w.Must(w.User.Create(w.t.Context(), at.Beside), "make the %s", at.Beside.GetKind())
	}
	return c
}

func (w *World) machinePool() *clusterv1.MachinePool {
	s := w.Scenario
	mp := &clusterv1.MachinePool{
		ObjectMeta: metav1.ObjectMeta{Namespace: poolKey.Namespace, Name: poolKey.Name, Annotations: map[string]string{}},
		Spec: clusterv1.MachinePoolSpec{ClusterName: ClusterName, Replicas: ptr.To(int32(s.Replicas)), Template: clusterv1.MachineTemplateSpec{
			Spec: clusterv1.MachineSpec{
				ClusterName: ClusterName, Version: s.Kind.Version, Bootstrap: clusterv1.Bootstrap{DataSecretName: ptr.To(secretName)},
				InfrastructureRef: clusterv1.ContractVersionedObjectReference{APIGroup: infraGroup, Kind: w.kind, Name: InfraKey.Name},
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
	data := w.Scenario.Boots(w.Workload.Tokens.Rotate(w.tokens))
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{
		Namespace: Namespace, Name: secretName, Labels: map[string]string{clusterv1.ClusterNameLabel: ClusterName},
	}}
	made := w.User.Get(w.t.Context(), client.ObjectKeyFromObject(secret), secret) == nil
	secret.Data = map[string][]byte{"value": []byte(data)}
	if made {
		w.Must(w.User.Update(w.t.Context(), secret), "rotate the token")
		return
	}
	w.Must(w.User.Create(w.t.Context(), secret), "make the bootstrap data")
}

// Boots is bootstrap data with a token.
func (s Scenario) Boots(token string) string {
	if s.Kind.Bootstrap != nil {
		return s.Kind.Bootstrap(token)
	}
	return fmt.Sprintf("#cloud-config\nwrite_files: [{path: /run/kubeadm/config.yaml, content: \"discovery: {bootstrapToken: {token: "+
		"%s}}\"}]\n", token)
}

// Bootstrap is the hash-free bootstrap data as the secret has it now.
func (w *World) Bootstrap() []byte {
	secret := &corev1.Secret{}
	if err := w.User.Get(w.t.Context(), client.ObjectKey{Namespace: Namespace, Name: secretName}, secret); err != nil {
		return nil
	}
	return secret.Data["value"]
}

// EditPool changes the MachinePool as a user does, who reads it first. A pool that is gone can't be edited.
func (w *World) EditPool(change func(*clusterv1.MachinePool)) {
	mp := &clusterv1.MachinePool{}
	if w.User.Get(w.t.Context(), poolKey, mp) == nil {
		w.account.writes.Renew()
		change(mp)
		w.Must(w.User.Update(w.t.Context(), mp), "edit the MachinePool")
	}
}

// EditObject changes the infrastructure object in the same way.
func (w *World) EditObject(change func(client.Object)) {
	o := w.pool.New()
	if w.User.Get(w.t.Context(), InfraKey, o) == nil {
		w.account.writes.Renew()
		change(o)
		w.Must(w.User.Update(w.t.Context(), o), "edit the %s", w.kind)
	}
}

// Objects are the pool's two objects as they are; nil for one that is gone.
func (w *World) Objects() (*clusterv1.MachinePool, client.Object) { return w.objects(w.User) }

// infraThere reports whether the infrastructure object is there.
func (w *World) infraThere() bool {
	_, o := w.Objects()
	return o != nil
}

func (w *World) objects(r client.Reader) (*clusterv1.MachinePool, client.Object) {
	mp, o := &clusterv1.MachinePool{}, w.pool.New()
	if r.Get(w.t.Context(), poolKey, mp) != nil {
		mp = nil
	}
	if r.Get(w.t.Context(), InfraKey, o) != nil {
		o = nil
	}
	return mp, o
}

// deleted reports whether the pool is being deleted or gone.
func (w *World) deleted() bool {
	mp, o := w.Objects()
	return mp == nil || o == nil || !mp.DeletionTimestamp.IsZero() || !o.GetDeletionTimestamp().IsZero()
}

// Owner is who the pool's cloud objects belong to.
func (w *World) Owner() cloud.Owner {
	mp, o := w.Objects()
	if o == nil {
		return w.account.owner
	}
	id := o.GetAnnotations()[ownership.Annotation]
	if id == "" {
		id = string(o.GetUID())
	}
	w.account.owner = cloud.Owner{ID: id, Cluster: ClusterName, Namespace: InfraKey.Namespace, Name: InfraKey.Name,
		GroupName: w.groupNameOf(mp, o)}
	return w.account.owner
}

// The minor versions of Kubernetes of control planes that are a cloud's own.
const (
	// FirstMinor is the one that they begin with, LastMinor that which they are brought to at most.
	FirstMinor = 31
	LastMinor  = 34
)

// Minor is a minor version without its patch.
func Minor(n int) string { return "1." + strconv.Itoa(n) }
