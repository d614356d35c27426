package infrapool_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gcpv1 "github.com/muster-project/muster/api/gcp/v1beta1"
	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/kube/infrapool"
	"github.com/muster-project/muster/kube/infrapool/passtest"
	"github.com/muster-project/muster/pool"
	"github.com/muster-project/muster/providers/gcp/gcpmanaged"
)

type gcpManagedTarget = cloud.Target[*gcpv1.ManagedMachinePoolSource]

// gke is a GKE cluster in memory with at most one node pool.
type gke struct {
	passtest.Group
	// asked are the credentials and the place of each request.
	asked []string
}

var template = pool.Template{Ref: "gke:1.34.2", Content: "v1:a", UserManaged: true}

func newGKE(now func() time.Time) *gke {
	return &gke{Group: passtest.Group{Now: now, Template: template, ID: "gke-p-", ProviderID: "gce://p/us-central1-a/",
		Made: pool.Group{ID: "gke://p/us-central1/gke/p", State: "RUNNING"}}}
}

func (g *gke) Traits() pool.Traits {
	return pool.Traits{Group: "node pool", Template: "node configuration", RemoveBatch: 100, ProviderRollout: true,
		RolloutOnTemplateChange: true, KeepsFailedInstances: true}
}

func (g *gke) Observe(context.Context, gcpManagedTarget) (pool.Observed, error) {
	return g.Observed(pool.Template{Content: template.Content, UserManaged: true}), nil
}

func (g *gke) Start(_ context.Context, t gcpManagedTarget, step pool.Step) error {
	v := t.Spec.Cluster
	who := "controller"
	if v.View.Identity != nil {
		who = v.View.Identity.Name
	}
	g.asked = append(g.asked, fmt.Sprintf("%s at %s/%s/%s/%s", who, v.View.Project, v.Location, v.Name, t.Spec.Name))
	return g.Begin(step)
}

// gcpManagedWorld is the clusters and GKE.
type gcpManagedWorld struct {
	*passtest.World
	gke *gke
}

// described is one of the objects that describe the cluster, in the API server's shape.
func described(t *testing.T, text string) *unstructured.Unstructured {
	u := gcpManagedUntyped(t, text)
	u.SetAPIVersion("infrastructure.cluster.x-k8s.io/v1beta1")
	u.SetNamespace("default")
	return u
}

// gcpManagedSurroundings returns the objects that a node pool needs in addition to its own.
func gcpManagedSurroundings(t *testing.T) []client.Object {
	infra := described(t, strings.Replace(infraText, "spec: {", "spec: {credentialsRef: {name: keys, namespace: default}, ", 1))
	ref := func(kind, name string) clusterv1.ContractVersionedObjectReference {
		return clusterv1.ContractVersionedObjectReference{APIGroup: gcpv1.GroupVersion.Group, Kind: kind, Name: name}
	}
	return append(passtest.Around(ref(gcpv1.ManagedClusterKind, "c"), ref(gcpv1.ManagedControlPlaneKind, "cp"),
		ref(gcpv1.GCPManagedMachinePoolKind, "p")),
		infra, described(t, planeText), passtest.Definition("gcpmanagedclusters", "v1beta1"),
		passtest.Definition("gcpmanagedcontrolplanes", "v1beta1"),
		&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "keys"},
			Data: map[string][]byte{"credentials": []byte(`{"type": "authorized_user"}`)}})
}

func newGCPManagedWorld(t *testing.T) *gcpManagedWorld {
	t.Helper()
	w := &gcpManagedWorld{World: passtest.New(t, passtest.Setup{AddToScheme: gcpv1.AddToScheme, Indexes: gcpmanaged.Adapter{}.Kind().Indexes(),
		Pool: &gcpv1.GCPManagedMachinePool{ObjectMeta: passtest.Owned()}, Objects: gcpManagedSurroundings(t)})}
	w.gke = newGKE(w.Clock)
	w.Run(infrapool.New(gcpmanaged.Adapter{}, w.gke, w.Options()), func() []pool.Instance { return w.gke.Instances })
	return w
}

func (w *gcpManagedWorld) object() *gcpv1.GCPManagedMachinePool {
	w.Helper()
	o := &gcpv1.GCPManagedMachinePool{}
	w.Get(passtest.Infra, o)
	return o
}

// edit changes the object.
func (w *gcpManagedWorld) edit(change func(*gcpv1.GCPManagedMachinePool)) {
	w.Helper()
	o := w.object()
	change(o)
	w.Edit(o)
}

// replace changes one of the objects that describe the cluster; an empty text deletes it.
func (w *gcpManagedWorld) replace(text, by string) {
	w.Helper()
	u := described(w.T, text)
	if by == "" {
		if err := w.Management.Delete(w.Context(), u); err != nil {
			w.Fatal(err)
		}
		return
	}
	w.Get(client.ObjectKeyFromObject(u), u)
	u.Object["status"] = described(w.T, by).Object["status"]
	if err := w.Management.Update(w.Context(), u); err != nil {
		w.Fatal(err)
	}
}

// TestCreatedWithTheClustersCredentials holds the way to a node pool: where GKE is asked, with whose credentials, and what the object says.
func TestCreatedWithTheClustersCredentials(t *testing.T) {
	t.Parallel()
	w := newGCPManagedWorld(t)
	w.Rest()
	o := w.object()
	if !slices.Equal(w.gke.asked, []string{"Secret/default/keys at p/us-central1/gke/p"}) || len(o.Spec.ProviderIDList) != 2 ||
		!o.Status.Ready || o.Status.InfrastructureMachineKind != "" {
		t.Errorf("want a node pool of two, got %v, %+v", w.gke.asked, o.Status)
	}
	for name, want := range map[string]metav1.ConditionStatus{"Ready": "True", "GKEMachinePoolReady": "True",
		"GKEMachinePoolCreating": "False", "GKEMachinePoolUpdating": "False", "GKEMachinePoolDeleting": "False"} {
		if c := meta.FindStatusCondition(o.Status.Conditions, name); c == nil || c.Status != want {
			t.Errorf("%s: want %s, got %+v", name, want, c)
		}
	}
	if !slices.Contains(o.Finalizers, gcpv1.ManagedMachinePoolFinalizer) {
		t.Errorf("want the ecosystem's finalizer, got %v", o.Finalizers)
	}
}

// TestGCPManagedAutoscalerIsFollowed holds that a pool which the specification gives to GKE's autoscaler is annotated so, that
// spec.replicas follows its size, and that the size is Muster's again, as it is, once the specification has no autoscaler.
func TestGCPManagedAutoscalerIsFollowed(t *testing.T) {
	t.Parallel()
	w := newGCPManagedWorld(t)
	w.Rest()
	w.edit(func(o *gcpv1.GCPManagedMachinePool) {
		o.Spec.Scaling = &gcpv1.NodePoolAutoScaling{MaxCount: new(int32(5))}
	})
	w.Rest()
	w.gke.Resize(4)
	w.Rest()
	mp := w.MachinePool()
	if mp.Annotations[clusterv1.ReplicasManagedByAnnotation] != "gke" || *mp.Spec.Replicas != 4 ||
		!slices.Equal(w.gke.Steps, []string{"CreateGroup"}) {
		t.Errorf("want the autoscaler's size followed, got annotations %v, %d replicas, steps %v", mp.Annotations, *mp.Spec.Replicas, w.gke.Steps)
	}
	w.edit(func(o *gcpv1.GCPManagedMachinePool) {
		o.Spec.Scaling.EnableAutoscaling, o.Spec.Scaling.MaxCount = new(false), nil
	})
	w.Rest()
	mp = w.MachinePool()
	if _, annotated := mp.Annotations[clusterv1.ReplicasManagedByAnnotation]; annotated || *mp.Spec.Replicas != 4 {
		t.Errorf("want the size as it is without the annotation, got annotations %v, %d replicas", mp.Annotations, *mp.Spec.Replicas)
	}
}

// TestGCPManagedExternalAutoscaler holds that the size of an autoscaler outside GKE stands.
func TestGCPManagedExternalAutoscaler(t *testing.T) {
	t.Parallel()
	w := newGCPManagedWorld(t)
	w.Rest()
	mp := w.MachinePool()
	mp.Annotations = map[string]string{clusterv1.ReplicasManagedByAnnotation: "cluster-autoscaler"}
	if err := w.Management.Update(t.Context(), mp); err != nil {
		t.Fatal(err)
	}
	w.gke.Resize(5)
	w.Rest()
	if mp := w.MachinePool(); *mp.Spec.Replicas != 5 || !slices.Equal(w.gke.Steps, []string{"CreateGroup"}) {
		t.Errorf("want the size left alone, got %d replicas, steps %v", *mp.Spec.Replicas, w.gke.Steps)
	}
}

// TestNoNodePoolBeforeItsControlPlane holds that GKE is asked for no node pool while the control plane takes none.
func TestNoNodePoolBeforeItsControlPlane(t *testing.T) {
	t.Parallel()
	w := newGCPManagedWorld(t)
	w.replace(planeText, strings.Replace(planeText, "ready: true", "ready: false", 1))
	w.Pass()
	w.Pass()
	o := w.object()
	ready := meta.FindStatusCondition(o.Status.Conditions, "GKEMachinePoolReady")
	if len(w.gke.Steps) > 0 || ready == nil || ready.Reason != "WaitingForGKEControlPlane" ||
		!strings.Contains(ready.Message, "GCPManagedControlPlane cp is not ready yet") {
		t.Errorf("want the control plane waited for, got steps %v, %+v", w.gke.Steps, ready)
	}
}

// TestDeletedWithoutItsCluster holds that a pool is deleted while the control plane is not ready, or gone, and when the cluster object is
// gone too.
func TestDeletedWithoutItsCluster(t *testing.T) {
	t.Parallel()
	for name, lose := range map[string]func(*gcpManagedWorld){
		"not ready": func(w *gcpManagedWorld) {
			w.replace(planeText, strings.Replace(planeText, "ready: true", "ready: false", 1))
		},
		"no control plane":   func(w *gcpManagedWorld) { w.replace(planeText, "") },
		"no cluster object":  func(w *gcpManagedWorld) { w.replace(infraText, "") },
		"neither of the two": func(w *gcpManagedWorld) { w.replace(planeText, ""); w.replace(infraText, "") },
		"no MachinePool either": func(w *gcpManagedWorld) {
			w.replace(planeText, "")
			w.replace(infraText, "")
			if err := w.Management.Delete(w.Context(), w.MachinePool()); err != nil {
				w.Fatal(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newGCPManagedWorld(t)
			w.Rest()
			lose(w)
			if err := w.Management.Delete(t.Context(), w.object()); err != nil {
				t.Fatal(err)
			}
			for range 30 {
				if w.Management.Get(t.Context(), passtest.Infra, &gcpv1.GCPManagedMachinePool{}) != nil {
					break
				}
				w.Pass()
			}
			if err := w.Management.Get(t.Context(), passtest.Infra, &gcpv1.GCPManagedMachinePool{}); err == nil || w.gke.Shown != nil {
				t.Fatalf("want node pool and object gone, got %v, steps %v", err, w.gke.Steps)
			}
			if last := w.gke.asked[len(w.gke.asked)-1]; last != "Secret/default/keys at p/us-central1/gke/p" {
				t.Errorf("want GKE asked for the deletion as before, got %q", last)
			}
		})
	}
}
