package world

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/utils/ptr"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	musterv1 "github.com/muster-project/muster/api/muster/v1alpha1"
	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/kube/infrapool"
	"github.com/muster-project/muster/kube/infrapool/ownership"
	"github.com/muster-project/muster/kube/infrapool/watch"
	"github.com/muster-project/muster/kube/nodes"
	"github.com/muster-project/muster/test/explore/oracle"
	"github.com/muster-project/muster/test/explore/script"
	"github.com/muster-project/muster/test/memapi"
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

// schemes registers the types that pools of every kind need.
var schemes = []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, clusterv1.AddToScheme, apiextensionsv1.AddToScheme,
	musterv1.AddToScheme}

// statusKinds returns the kinds with a status subresource.
func statusKinds(k *script.Kind) []client.Object {
	return append([]client.Object{&clusterv1.Machine{}, &clusterv1.MachinePool{}, &clusterv1.Cluster{}}, k.Objects...)
}

func managementIndexes(k *script.Kind) []memapi.Index {
	list := []memapi.Index{{Object: &clusterv1.MachinePool{}, Field: nodes.PoolField, Values: nodes.PoolKeys}}
	for _, i := range append(watch.Indexes(), k.Indexes()...) {
		list = append(list, memapi.Index{Object: i.Object, Field: i.Field, Values: i.Values})
	}
	return list
}

// setup applies the user's objects at the beginning.
type setup struct{ world *World }

// create creates the user's objects: a provisioned cluster and a pool.
func (f *setup) create() {
	w := f.world
	ctx := w.t.Context()
	for _, d := range w.Scenario.Kind.Definitions {
		w.Must(w.Objects.User.Create(ctx, &apiextensionsv1.CustomResourceDefinition{ObjectMeta: metav1.ObjectMeta{
			Name: d.Name + ".cluster.x-k8s.io", Labels: map[string]string{"cluster.x-k8s.io/v1beta2": d.Version},
		}}), "make the definition of %s", d.Name)
	}
	cluster := f.cluster()
	w.Must(w.Objects.User.Create(ctx, cluster), "make the Cluster")
	cluster.Status = clusterv1.ClusterStatus{
		Initialization: clusterv1.ClusterInitializationStatus{InfrastructureProvisioned: ptr.To(true), ControlPlaneInitialized: ptr.To(true)},
		Conditions: []metav1.Condition{{
			Type: clusterv1.ClusterControlPlaneInitializedCondition, Status: metav1.ConditionTrue, Reason: "Initialized",
			LastTransitionTime: metav1.Now(),
		}},
	}
	w.Must(w.Objects.User.Status().Update(ctx, cluster), "tell that the Cluster is up")
	if !w.Scenario.Has(script.Bootstrap) {
		w.Objects.rotate()
	}
	if w.pool.SetUp != nil {
		w.pool.SetUp()
	}
	if p := f.policy(); p != nil {
		w.Must(w.Objects.User.Create(ctx, p), "make the policy")
	}
	f.apply(nil)
}

// apply makes the objects of the pool that is looked at, the infrastructure object with a change. The later ones have their bootstrap data
// from the beginning.
func (f *setup) apply(change func(client.Object)) {
	w, ctx := f.world, f.world.t.Context()
	w.absent = false
	o := w.pool.Applied()
	if change != nil {
		w.Objects.rotate()
		change(o)
	}
	if named, ok := o.(infrapool.WrittenFields); ok && w.Scenario.Named {
		w.users.makeForeign(0)
		named.SetProviderID(w.Scenario.Kind.TheirID)
	}
	if named, ok := o.(infrapool.WrittenFields); ok && w.Scenario.Adopted {
		named.SetProviderID(w.adoption.begin())
	}
	if p := w.Scenario.Policy; p != nil {
		f.pace(o, p.Pace)
	}
	w.Must(w.Objects.User.Create(ctx, o), "make the %s", w.Objects.kind)
	w.Must(w.Objects.User.Create(ctx, f.machinePool()), "make the MachinePool")
	w.operator.begin()
	w.Objects.Owner() // it is known from now on, whatever becomes of the objects
}

// cluster returns a provisioned Cluster that refers to its infrastructure.
func (f *setup) cluster() *clusterv1.Cluster {
	w := f.world
	c, at := &clusterv1.Cluster{ObjectMeta: metav1.ObjectMeta{Namespace: Namespace, Name: ClusterName}}, w.pool.Place()
	if at.ControlPlane {
		c.Spec.ControlPlaneRef = clusterv1.ContractVersionedObjectReference{APIGroup: at.Object.GroupVersionKind().Group,
			Kind: at.Object.GetKind(), Name: ClusterName}
	}
	c.Spec.InfrastructureRef = clusterv1.ContractVersionedObjectReference{APIGroup: infraGroup, Kind: at.InfraCluster, Name: ClusterName}
	w.Must(w.Objects.User.Create(w.t.Context(), at.Object), "make the %s", at.Object.GetKind())
	if at.Infrastructure != nil {
		w.Must(w.Objects.User.Create(w.t.Context(), at.Infrastructure), "make the %s", at.Infrastructure.GetKind())
	}
	return c
}

func (f *setup) machinePool() *clusterv1.MachinePool {
	w := f.world
	s := w.Scenario
	mp := &clusterv1.MachinePool{
		ObjectMeta: metav1.ObjectMeta{Namespace: w.poolKey.Namespace, Name: w.poolKey.Name, Annotations: map[string]string{}},
		Spec: clusterv1.MachinePoolSpec{ClusterName: ClusterName, Replicas: ptr.To(int32(s.Replicas)), Template: clusterv1.MachineTemplateSpec{
			Spec: clusterv1.MachineSpec{
				ClusterName: ClusterName, Version: s.Kind.Version, Bootstrap: clusterv1.Bootstrap{DataSecretName: ptr.To(w.secretName())},
				InfrastructureRef: clusterv1.ContractVersionedObjectReference{APIGroup: infraGroup, Kind: w.Objects.kind, Name: w.key.Name},
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

// Objects are the pool's two objects in the management cluster.
type Objects struct {
	world  *World
	server *memapi.Server
	// User is the client of users for the management cluster.
	User client.Client
	// kind is the name of the kind of the infrastructure object.
	kind string
	// tokens numbers the tokens of the bootstrap data.
	tokens int
	// owner is the last known owner of the objects.
	owner cloud.Owner
}

// secretName returns the name of the Secret with the bootstrap data of the current pool.
func (w *World) secretName() string { return secretName + script.Suffix(w.at) }

// rotate puts a new token into the bootstrap data.
func (b *Objects) rotate() {
	w := b.world
	b.tokens++
	data := w.Scenario.Boots(w.Workload.Tokens.Rotate(w.at, b.tokens))
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{
		Namespace: Namespace, Name: w.secretName(), Labels: map[string]string{clusterv1.ClusterNameLabel: ClusterName},
	}}
	made := b.User.Get(w.t.Context(), client.ObjectKeyFromObject(secret), secret) == nil
	secret.Data = map[string][]byte{"value": []byte(data)}
	if made {
		w.Must(b.User.Update(w.t.Context(), secret), "rotate the token")
		return
	}
	w.Must(b.User.Create(w.t.Context(), secret), "make the bootstrap data")
}

// Bootstrap returns the hash-free bootstrap data as the secret has it now.
func (b *Objects) Bootstrap() []byte {
	secret := &corev1.Secret{}
	if err := b.User.Get(b.world.t.Context(), client.ObjectKey{Namespace: Namespace, Name: b.world.secretName()}, secret); err != nil {
		return nil
	}
	return secret.Data["value"]
}

// EditPool changes the MachinePool as a user does, who reads it first. A pool that is gone can't be edited.
func (b *Objects) EditPool(change func(*clusterv1.MachinePool)) {
	w := b.world
	mp := &clusterv1.MachinePool{}
	if b.User.Get(w.t.Context(), w.poolKey, mp) == nil {
		w.writes.Renew()
		change(mp)
		w.Must(b.User.Update(w.t.Context(), mp), "edit the MachinePool")
	}
}

// EditObject changes the infrastructure object in the same way.
func (b *Objects) EditObject(change func(client.Object)) {
	w := b.world
	o := w.pool.New()
	if b.User.Get(w.t.Context(), w.key, o) == nil {
		w.writes.Renew()
		change(o)
		w.Must(b.User.Update(w.t.Context(), o), "edit the %s", b.kind)
	}
}

// Both returns the pool's objects as they are; nil for one that is gone.
func (b *Objects) Both() (*clusterv1.MachinePool, client.Object) { return b.read(b.User) }

// infraThere reports whether the infrastructure object is there.
func (b *Objects) infraThere() bool {
	_, o := b.Both()
	return o != nil
}

func (b *Objects) read(r client.Reader) (*clusterv1.MachinePool, client.Object) {
	w := b.world
	mp, o := &clusterv1.MachinePool{}, w.pool.New()
	if r.Get(w.t.Context(), w.poolKey, mp) != nil {
		mp = nil
	}
	if r.Get(w.t.Context(), w.key, o) != nil {
		o = nil
	}
	return mp, o
}

// deleted reports whether the pool is being deleted or gone.
func (b *Objects) deleted() bool {
	mp, o := b.Both()
	return mp == nil || o == nil || !mp.DeletionTimestamp.IsZero() || !o.GetDeletionTimestamp().IsZero()
}

// Owner returns the owner of the pool's cloud objects.
func (b *Objects) Owner() cloud.Owner {
	mp, o := b.Both()
	if o == nil {
		return b.owner
	}
	id := o.GetAnnotations()[ownership.Annotation]
	if id == "" {
		id = string(o.GetUID())
	}
	b.owner = cloud.Owner{ID: id, Cluster: ClusterName, Namespace: b.world.key.Namespace, Name: b.world.key.Name,
		GroupName: b.world.adoption.groupNameOf(mp, o)}
	return b.owner
}

// The minor versions of Kubernetes of control planes that are a cloud's own.
const (
	// FirstMinor is the one that they begin with, LastMinor that which they are brought to at most.
	FirstMinor = 31
	LastMinor  = 34
)

// Minor returns a minor version without its patch.
func Minor(n int) string { return "1." + strconv.Itoa(n) }

// External reports whether an autoscaler owns the group's size.
func (b *Objects) External() bool {
	mp, _ := b.Both()
	return mp != nil && sizedElsewhere(mp)
}

// Annotate gives one of both objects an annotation, or takes it off when the value is empty.
func (b *Objects) Annotate(which int, key, value string) {
	set := func(o client.Object) {
		if value == "" {
			without(o, key)
			return
		}
		annotate(o, key, value)
	}
	if which%2 == 0 {
		b.EditObject(func(o client.Object) { set(o) })
		return
	}
	b.EditPool(func(mp *clusterv1.MachinePool) { set(mp) })
}

// StatusText returns the status of both objects without times.
func (b *Objects) StatusText() string {
	mp, o := b.Both()
	var text []string
	if o != nil {
		text = append(text, b.kind+" "+b.world.pool.Status(o).State)
		for _, c := range b.world.pool.Status(o).Conditions {
			text = append(text, fmt.Sprintf("%s=%s %s: %s", c.Type, c.Status, c.Reason, c.Message))
		}
	}
	if mp != nil {
		text = append(text, "MachinePool "+mp.Status.Phase)
		for _, c := range mp.Status.Conditions {
			text = append(text, fmt.Sprintf("%s=%s %s: %s", c.Type, c.Status, c.Reason, c.Message))
		}
	}
	return strings.Join(text, "; ")
}

// readiness returns the condition Ready of the infrastructure object.
func (b *Objects) readiness() []oracle.Readiness {
	_, o := b.Both()
	if o == nil {
		return []oracle.Readiness{{}}
	}
	c := meta.FindStatusCondition(b.world.pool.Status(o).Conditions, clusterv1.ReadyCondition)
	if c == nil {
		return []oracle.Readiness{{}}
	}
	return []oracle.Readiness{{Object: b.kind, Status: string(c.Status), Reason: c.Reason, Message: c.Message}}
}

// observed returns the fields of the objects that the cloud determines: the group's ID, its instances, and the size that the autoscaler has
// set.
func (b *Objects) observed() string {
	mp, o := b.Both()
	if o == nil {
		return ""
	}
	text := ""
	if lists, ok := o.(infrapool.WrittenFields); ok {
		text = fmt.Sprint(lists.GetProviderID(), lists.GetProviderIDList())
	}
	if mp != nil && sizedElsewhere(mp) {
		text += fmt.Sprint(ptr.Deref(mp.Spec.Replicas, 1))
	}
	return text
}

// AddStatus adds the status of the objects to is.
func (b *Objects) AddStatus(is map[string]string) {
	mp, o := b.Both()
	if mp == nil || o == nil {
		return
	}
	is["ready nodes"] = Itoa(b.world.pool.Status(o).ReadyReplicas)
	is["pool ready nodes"], is["pool replicas"] = Itoa(mp.Status.ReadyReplicas), Itoa(mp.Status.Replicas)
	is["pool"] = mp.Status.Phase
	if c := meta.FindStatusCondition(b.world.pool.Status(o).Conditions, clusterv1.ReadyCondition); c != nil {
		is["ready"] = string(c.Status)
	}
}
