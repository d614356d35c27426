package infrapool_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	aksv1 "github.com/muster-project/muster/api/azure/aks/v1beta1"
	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/kube/infrapool"
	"github.com/muster-project/muster/kube/infrapool/passtest"
	"github.com/muster-project/muster/pool"
	"github.com/muster-project/muster/providers/azure/azuremanaged"
)

type azureManagedTarget = cloud.Target[*aksv1.AgentPoolSource]

// aks is a managed cluster in memory with at most one agent pool.
type aks struct {
	passtest.Group
	// owned is false while the agent pool lacks the owner tag.
	owned bool
	// looks counts the reads.
	looks int
}

var azureManagedTemplate = pool.Template{Ref: "aks:1.34.2/s", Content: "v1:a", UserManaged: true}

func newAKS(now func() time.Time) *aks {
	return &aks{Group: passtest.Group{Now: now, Template: azureManagedTemplate, ID: "aks-p-vmss00000", ProviderID: "azure:///",
		Made: pool.Group{ID: "azure:///agentPools/p", State: "Succeeded", Image: "AKSUbuntu-2204gen2containerd-202609.03.0"}}}
}

func (a *aks) Traits() pool.Traits {
	return pool.Traits{Group: "agent pool", Template: "node configuration", RemoveBatch: 100, ProviderRollout: true,
		RolloutOnTemplateChange: true, KeepsFailedInstances: true}
}

func (a *aks) Observe(context.Context, azureManagedTarget) (pool.Observed, error) {
	a.looks++
	if a.Shown != nil && !a.owned {
		return pool.Observed{OwnershipConflict: &pool.Cause{Reason: "OwnershipConflict", Message: "it is not this pool's"},
			Unowned: &pool.Unowned{Name: "p", Group: "agent pool p", CreatedWithCluster: true}}, nil
	}
	return a.Observed(pool.Template{Content: azureManagedTemplate.Content, UserManaged: true}), nil
}

func (a *aks) Start(_ context.Context, _ azureManagedTarget, step pool.Step) error {
	a.owned = a.owned || step.Kind == pool.Adopt || step.Kind == pool.CreateGroup
	if step.Kind == pool.Adopt {
		a.Steps = append(a.Steps, string(step.Kind))
		return nil
	}
	return a.Begin(step)
}

// azureManagedWorld is the clusters and AKS.
type azureManagedWorld struct {
	*passtest.World
	aks *aks
}

// azureManagedSurroundings returns the objects that an agent pool needs in addition to its own.
func azureManagedSurroundings(t *testing.T) []client.Object {
	control := plane(t, managedPlane)
	control.SetAPIVersion("infrastructure.cluster.x-k8s.io/v1beta1")
	control.SetNamespace("default")
	ref := func(kind, name string) clusterv1.ContractVersionedObjectReference {
		return clusterv1.ContractVersionedObjectReference{APIGroup: aksv1.GroupVersion.Group, Kind: kind, Name: name}
	}
	of := ref(aksv1.ManagedControlPlaneKind, "c")
	return append(passtest.Around(of, of, ref(aksv1.AzureManagedMachinePoolKind, "p")), control,
		passtest.Definition("azuremanagedcontrolplanes", "v1beta1"))
}

func newAzureManagedWorld(t *testing.T, objects ...client.Object) *azureManagedWorld {
	t.Helper()
	w := &azureManagedWorld{World: passtest.New(t, passtest.Setup{AddToScheme: aksv1.AddToScheme,
		Indexes: azuremanaged.Managed{}.Kind().Indexes(), Mapper: mapper(),
		Pool:    &aksv1.AzureManagedMachinePool{ObjectMeta: passtest.Owned(), Spec: aksv1.AzureManagedMachinePoolSpec{Mode: "User", SKU: "S"}},
		Objects: append(objects, azureManagedSurroundings(t)...)})}
	w.aks = newAKS(w.Clock)
	w.Run(infrapool.New(azuremanaged.Managed{}, w.aks, w.Options()), func() []pool.Instance { return w.aks.Instances })
	return w
}

// mapper knows the kinds of the tests, and the operator's.
func mapper() meta.RESTMapper {
	m := meta.NewDefaultRESTMapper([]schema.GroupVersion{manifestKind.GroupVersion()})
	for _, gvk := range []schema.GroupVersionKind{manifestKind, aksv1.GroupVersion.WithKind(aksv1.AzureManagedMachinePoolKind),
		clusterv1.GroupVersion.WithKind("MachinePool"),
		clusterv1.GroupVersion.WithKind("Cluster"), aksv1.GroupVersion.WithKind(aksv1.ManagedControlPlaneKind)} {
		m.Add(gvk, meta.RESTScopeNamespace)
	}
	m.Add(apiextensionsv1.SchemeGroupVersion.WithKind("CustomResourceDefinition"), meta.RESTScopeRoot)
	return m
}

func (w *azureManagedWorld) object() *aksv1.AzureManagedMachinePool {
	w.Helper()
	o := &aksv1.AzureManagedMachinePool{}
	w.Get(passtest.Infra, o)
	return o
}

// edit changes the specification.
func (w *azureManagedWorld) edit(change func(*aksv1.AzureManagedMachinePoolSpec)) {
	w.Helper()
	o := w.object()
	change(&o.Spec)
	w.Edit(o)
}

// TestCreatedWithClusterIsAdopted holds that the agent pool that AKS made with the managed cluster becomes the pool's, and that nothing
// else is begun on it.
func TestCreatedWithClusterIsAdopted(t *testing.T) {
	t.Parallel()
	w := newAzureManagedWorld(t)
	w.aks.Resize(2)
	w.Rest()
	if o := w.object(); !slices.Equal(w.aks.Steps, []string{"Adopt"}) || o.Spec.ProviderID == "" || len(o.Spec.ProviderIDList) != 2 ||
		!o.Status.Ready ||
		o.Status.NodeImageVersion != "AKSUbuntu-2204gen2containerd-202609.03.0" {
		t.Errorf("want it adopted and nothing else, got %v, %+v", w.aks.Steps, o.Status)
	}
}

// TestAzureManagedAutoscalerIsFollowed holds that a pool which the specification gives to AKS's autoscaler is annotated so, that
// spec.replicas follows its size, and that the size is Muster's again, as it is, once the specification has no autoscaler.
func TestAzureManagedAutoscalerIsFollowed(t *testing.T) {
	t.Parallel()
	w := newAzureManagedWorld(t)
	w.Rest()
	w.edit(func(s *aksv1.AzureManagedMachinePoolSpec) {
		s.Scaling = &aksv1.ManagedMachinePoolScaling{MinSize: new(1), MaxSize: new(5)}
	})
	w.Rest()
	w.aks.Resize(4)
	w.Rest()
	mp := w.MachinePool()
	if mp.Annotations[clusterv1.ReplicasManagedByAnnotation] != "true" || *mp.Spec.Replicas != 4 ||
		!slices.Equal(w.aks.Steps, []string{"CreateGroup"}) {
		t.Errorf("want the autoscaler's size followed, got annotations %v, %d replicas, steps %v", mp.Annotations, *mp.Spec.Replicas, w.aks.Steps)
	}
	w.edit(func(s *aksv1.AzureManagedMachinePoolSpec) { s.Scaling = nil })
	w.Rest()
	mp = w.MachinePool()
	if _, annotated := mp.Annotations[clusterv1.ReplicasManagedByAnnotation]; annotated || *mp.Spec.Replicas != 4 ||
		strings.Contains(w.object().Annotations["muster.dev/resolved"], "replicas-managed-by") {
		t.Errorf("want the size as it is without the annotation, got annotations %v, %d replicas", mp.Annotations, *mp.Spec.Replicas)
	}
}

// TestOperatedPoolIsLeft holds that Muster neither reads nor writes an agent pool that Azure Service Operator runs, says so, and releases
// its object when it is deleted.
func TestOperatedPoolIsLeft(t *testing.T) {
	t.Parallel()
	manifest := &unstructured.Unstructured{}
	manifest.SetGroupVersionKind(manifestKind)
	manifest.SetNamespace("default")
	manifest.SetName("p")
	w := newAzureManagedWorld(t, manifest, &apiextensionsv1.CustomResourceDefinition{
		ObjectMeta: metav1.ObjectMeta{Name: "managedclustersagentpools.containerservice.azure.com"}})
	w.aks.Resize(2)
	w.edit(func(s *aksv1.AzureManagedMachinePoolSpec) {
		s.Scaling = &aksv1.ManagedMachinePoolScaling{MinSize: new(1), MaxSize: new(5)}
	})
	w.Rest()
	if mp := w.MachinePool(); mp.Annotations[clusterv1.ReplicasManagedByAnnotation] != "" {
		t.Errorf("want the MachinePool left to the other controller too, got annotations %v", mp.Annotations)
	}
	o := w.object()
	if ready := meta.FindStatusCondition(o.Status.Conditions, "Ready"); ready == nil || ready.Reason != "OwnedByServiceOperator" ||
		w.aks.looks > 0 || len(w.aks.Steps) > 0 {
		t.Errorf("want AKS left alone, and why, got %d reads, steps %v, %+v", w.aks.looks, w.aks.Steps, o.Status.Conditions)
	}
	o.Finalizers = []string{aksv1.ManagedMachinePoolFinalizer}
	if err := w.Management.Update(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	if err := w.Management.Delete(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	w.Pass()
	if err := w.Management.Get(t.Context(), passtest.Infra, o); err == nil || w.aks.looks > 0 || len(w.aks.Steps) > 0 || w.aks.Shown == nil {
		t.Errorf("want the object released and the agent pool left, got %v, %d reads, steps %v", err, w.aks.looks, w.aks.Steps)
	}
}
