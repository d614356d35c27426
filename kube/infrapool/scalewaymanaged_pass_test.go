package infrapool_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	scalewayv1 "github.com/muster-project/muster/api/scaleway/v1alpha2"
	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/kube/infrapool"
	"github.com/muster-project/muster/kube/infrapool/passtest"
	"github.com/muster-project/muster/pool"
	"github.com/muster-project/muster/providers/scaleway/scalewaymanaged"
)

type scalewayTarget = cloud.Target[*scalewayv1.ManagedMachinePoolSource]

// kapsule is a Kapsule cluster in memory with at most one pool.
type kapsule struct {
	passtest.Group
	// asked are the credentials and the place of each request.
	asked []string
}

var kapsuleTemplate = pool.Template{Ref: "kapsule:1.34.2", Content: "v1:a", UserManaged: true, ByCloud: true}

func newKapsule(now func() time.Time) *kapsule {
	return &kapsule{Group: passtest.Group{Now: now, Template: kapsuleTemplate, ID: "node-", ProviderID: "scaleway://instance/fr-par-1/",
		Made: pool.Group{ID: "scaleway:///projects/p/regions/fr-par/clusters/ns-cp/pools/p", State: "ready"}}}
}

func (k *kapsule) Traits() pool.Traits {
	return pool.Traits{Group: "pool", Template: "Kubernetes version", RemoveBatch: 10, ProviderRollout: true, RolloutOnTemplateChange: true,
		KeepsFailedInstances: true}
}

func (k *kapsule) Observe(context.Context, scalewayTarget) (pool.Observed, error) {
	return k.Observed(kapsuleTemplate), nil
}

func (k *kapsule) Start(_ context.Context, t scalewayTarget, step pool.Step) error {
	v := t.Spec.Cluster
	k.asked = append(k.asked, fmt.Sprintf("%s at %s/%s/%s/%s", v.Identity.Name, v.ProjectID, v.Region, v.Name, t.Spec.Name))
	return k.Begin(step)
}

// scalewayWorld is the clusters and Kapsule.
type scalewayWorld struct {
	*passtest.World
	kapsule *kapsule
}

// scalewayDescribed is one of the objects that describe the cluster, in the API server's shape.
func scalewayDescribed(t *testing.T, text string) *unstructured.Unstructured {
	u := gcpManagedUntyped(t, text)
	u.SetAPIVersion(scalewayv1.GroupVersion.String())
	u.SetNamespace("default")
	return u
}

// newScalewayWorld makes a world whose MachinePool asks for two nodes.
func newScalewayWorld(t *testing.T, spec string) *scalewayWorld {
	t.Helper()
	ref := func(kind, name string) clusterv1.ContractVersionedObjectReference {
		return clusterv1.ContractVersionedObjectReference{APIGroup: scalewayv1.GroupVersion.Group, Kind: kind, Name: name}
	}
	objects := append(passtest.Around(ref(scalewayv1.ManagedClusterKind, "i"), ref(scalewayv1.ManagedControlPlaneKind, "cp"),
		ref(scalewayv1.ScalewayManagedMachinePoolKind, "p")),
		scalewayDescribed(t, scalewayInfraText), scalewayDescribed(t, scalewayPlaneText),
		passtest.Definition("scalewaymanagedclusters", "v1alpha2"), passtest.Definition("scalewaymanagedcontrolplanes", "v1alpha2"),
		&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "keys"},
			Data: map[string][]byte{"SCW_ACCESS_KEY": []byte("a"), "SCW_SECRET_KEY": []byte("s")}})
	o := &scalewayv1.ScalewayManagedMachinePool{ObjectMeta: passtest.Owned()}
	decode(t, spec, &o.Spec)
	w := &scalewayWorld{World: passtest.New(t, passtest.Setup{AddToScheme: scalewayv1.AddToScheme,
		Indexes: scalewaymanaged.Adapter{}.Kind().Indexes(), Pool: o, Objects: objects})}
	w.kapsule = newKapsule(w.Clock)
	w.Run(infrapool.New(scalewaymanaged.Adapter{}, w.kapsule, w.Options()), func() []pool.Instance { return w.kapsule.Instances })
	return w
}

func (w *scalewayWorld) object() *scalewayv1.ScalewayManagedMachinePool {
	w.Helper()
	o := &scalewayv1.ScalewayManagedMachinePool{}
	w.Get(passtest.Infra, o)
	return o
}

// scale changes who sizes the pool.
func (w *scalewayWorld) scale(to *scalewayv1.Scaling) {
	w.Helper()
	o := w.object()
	o.Spec.Scaling = to
	w.Edit(o)
}

// TestScalewayPoolIsCreated holds the way to a pool: where Kapsule is asked, with whose credentials, and what the object says.
func TestScalewayPoolIsCreated(t *testing.T) {
	t.Parallel()
	w := newScalewayWorld(t, "{}")
	w.Rest()
	o := w.object()
	if !slices.Equal(w.kapsule.asked, []string{"Secret/default/keys at p/fr-par/ns-cp/p"}) || len(o.Spec.ProviderIDList) != 2 ||
		!o.Status.Ready || !slices.Contains(o.Finalizers, scalewayv1.ManagedMachinePoolFinalizer) {
		t.Errorf("want a pool of two, got %v, %+v", w.kapsule.asked, o)
	}
	for _, name := range []string{"Ready", "GroupReady", "PoolReady"} {
		if c := meta.FindStatusCondition(o.Status.Conditions, name); c == nil || c.Status != metav1.ConditionTrue {
			t.Errorf("%s: want True, got %+v", name, c)
		}
	}
}

// TestScalewayAutoscalerIsFollowed holds that a pool which the specification gives to Kapsule's autoscaler is annotated so, also after a
// user has removed the annotation, that spec.replicas follows its size, and that the size is Muster's again, as it is, without it.
func TestScalewayAutoscalerIsFollowed(t *testing.T) {
	t.Parallel()
	w := newScalewayWorld(t, "{}")
	w.Rest()
	w.scale(&scalewayv1.Scaling{Autoscaling: new(true), MaxSize: new(int32(5))})
	w.Rest()
	for _, size := range []int{4, 3} {
		w.kapsule.Resize(size)
		w.Rest()
		mp := w.MachinePool()
		if mp.Annotations[clusterv1.ReplicasManagedByAnnotation] != "scaleway" || int(*mp.Spec.Replicas) != size ||
			!slices.Equal(w.kapsule.Steps, []string{"CreateGroup"}) {
			t.Errorf("want the autoscaler's size followed, got annotations %v, %d replicas, steps %v", mp.Annotations, *mp.Spec.Replicas,
				w.kapsule.Steps)
		}
		delete(mp.Annotations, clusterv1.ReplicasManagedByAnnotation)
		if err := w.Management.Update(t.Context(), mp); err != nil {
			t.Fatal(err)
		}
	}
	w.scale(nil)
	w.Rest()
	mp := w.MachinePool()
	if _, annotated := mp.Annotations[clusterv1.ReplicasManagedByAnnotation]; annotated || *mp.Spec.Replicas != 3 {
		t.Errorf("want the size as it is without the annotation, got annotations %v, %d replicas", mp.Annotations, *mp.Spec.Replicas)
	}
}

// TestScalewayBoundsAreNotBent holds that a pool is not created with another size than its MachinePool asks for, that the condition names
// both numbers, and that the pool is created once they fit.
func TestScalewayBoundsAreNotBent(t *testing.T) {
	t.Parallel()
	w := newScalewayWorld(t, "{scaling: {autoscaling: true, maxSize: 1}}")
	for range 5 {
		w.Pass()
	}
	ready := meta.FindStatusCondition(w.object().Status.Conditions, "PoolReady")
	if len(w.kapsule.Steps) > 0 || ready == nil || ready.Reason != "ReplicasOutOfBounds" ||
		!strings.Contains(ready.Message, "is 2, and spec.scaling.maxSize is 1") || *w.MachinePool().Spec.Replicas != 2 {
		t.Fatalf("want the size refused, got steps %v, %+v", w.kapsule.Steps, ready)
	}
	w.scale(&scalewayv1.Scaling{Autoscaling: new(true), MaxSize: new(int32(2))})
	w.Rest()
	if !slices.Equal(w.kapsule.Steps, []string{"CreateGroup"}) || len(w.kapsule.Instances) != 2 {
		t.Errorf("want a pool of two, got steps %v, %d nodes", w.kapsule.Steps, len(w.kapsule.Instances))
	}
}

// TestScalewayDeletedWithoutItsCluster holds that a pool is deleted while the control plane or the cluster object is gone, with the
// credentials that it remembers.
func TestScalewayDeletedWithoutItsCluster(t *testing.T) {
	t.Parallel()
	for name, lost := range map[string][]string{
		"no control plane": {scalewayPlaneText}, "no cluster object": {scalewayInfraText},
		"neither of the two": {scalewayPlaneText, scalewayInfraText},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newScalewayWorld(t, "{}")
			w.Rest()
			for _, text := range lost {
				if err := w.Management.Delete(t.Context(), scalewayDescribed(t, text)); err != nil {
					t.Fatal(err)
				}
			}
			if err := w.Management.Delete(t.Context(), w.object()); err != nil {
				t.Fatal(err)
			}
			gone := func() bool {
				return apierrors.IsNotFound(w.Management.Get(t.Context(), passtest.Infra, &scalewayv1.ScalewayManagedMachinePool{}))
			}
			for range 30 {
				if gone() {
					break
				}
				w.Pass()
			}
			if want := slices.Repeat([]string{"Secret/default/keys at p/fr-par/ns-cp/p"}, 2); !gone() || !slices.Equal(w.kapsule.asked, want) ||
				!slices.Equal(w.kapsule.Steps, []string{"CreateGroup", "DeleteGroup"}) {
				t.Errorf("want pool and object gone, got steps %v by %v", w.kapsule.Steps, w.kapsule.asked)
			}
		})
	}
}
