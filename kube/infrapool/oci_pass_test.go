package infrapool_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	ociv1 "github.com/muster-project/muster/api/oci/v1beta2"
	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/kube/infrapool"
	"github.com/muster-project/muster/kube/infrapool/passtest"
	"github.com/muster-project/muster/pool"
	"github.com/muster-project/muster/providers/oci/ocimanaged"
)

type ociTarget = cloud.Target[*ociv1.ManagedMachinePoolSource]

// oke is an OKE cluster in memory with at most one node pool.
type oke struct {
	passtest.Group
	// asked are the credentials and the place of each request.
	asked []string
	// theirs is a node pool of another tool under the pool's name; nil for none.
	theirs *pool.Unowned
}

var okeTemplate = pool.Template{Ref: "v1.34.2", Content: "v1:a", UserManaged: true, ByCloud: true}

func (k *oke) Traits() pool.Traits {
	return pool.Traits{Group: "node pool", Template: "node configuration", RemoveBatch: 10, ProviderRollout: true, KeepsFailedInstances: true}
}

func (k *oke) Observe(_ context.Context, t ociTarget) (pool.Observed, error) {
	k.ask("look", t)
	o := k.Observed(okeTemplate)
	if o.Unowned = k.theirs; k.theirs != nil {
		o.OwnershipConflict = &pool.Cause{Reason: cloud.ReasonOwnershipConflict, Message: k.theirs.Group + " has no owner tag"}
	}
	return o, nil
}

func (k *oke) Start(_ context.Context, t ociTarget, step pool.Step) error {
	k.ask("write", t)
	if step.Kind == pool.Adopt {
		k.theirs = nil
		k.Resize(2)
		return nil
	}
	return k.Begin(step)
}

func (k *oke) ask(what string, t ociTarget) {
	who, v := "controller", t.Spec.Cluster
	if v.View.Identity != nil {
		who = v.View.Identity.Name
	}
	k.asked = append(k.asked, fmt.Sprintf("%s by %s at %s/%s/%s%s", what, who, v.View.CompartmentID, v.ID, t.Spec.Name,
		v.View.Endpoints.ContainerEngine))
}

// ociWorld is the clusters and OKE.
type ociWorld struct {
	*passtest.World
	oke *oke
}

// ociDescribed is one of the objects that describe the cluster, in the API server's shape.
func ociDescribed(t *testing.T, text string) *unstructured.Unstructured {
	t.Helper()
	u := gcpManagedUntyped(t, text)
	u.SetAPIVersion(ociv1.GroupVersion.String())
	u.SetNamespace("default")
	return u
}

// newOCIWorld makes a world whose MachinePool asks for two nodes of version v1.34.2, with further objects.
func newOCIWorld(t *testing.T, infra, spec string, more ...client.Object) *ociWorld {
	t.Helper()
	ref := func(kind, name string) clusterv1.ContractVersionedObjectReference {
		return clusterv1.ContractVersionedObjectReference{APIGroup: ociv1.GroupVersion.Group, Kind: kind, Name: name}
	}
	objects := append(passtest.Around(ref(ociv1.ManagedClusterKind, "i"), ref(ociv1.ManagedControlPlaneKind, "cp"),
		ref(ociv1.OCIManagedMachinePoolKind, "p")), ociDescribed(t, infra), ociDescribed(t, ociPlaneText),
		passtest.Definition("ocimanagedclusters", "v1beta2"), passtest.Definition("ocimanagedcontrolplanes", "v1beta2"),
		passtest.Definition("ociclusteridentities", "v1beta2"))
	o := &ociv1.OCIManagedMachinePool{ObjectMeta: passtest.Owned()}
	decode(t, spec, &o.Spec)
	w := &ociWorld{World: passtest.New(t, passtest.Setup{AddToScheme: ociv1.AddToScheme, Indexes: ocimanaged.Adapter{}.Kind().Indexes(),
		Pool: o, Objects: append(objects, more...)})}
	w.oke = &oke{Group: passtest.Group{Now: w.Clock, Template: okeTemplate, ID: "ocid1.instance.oc1.iad.", Made: pool.Group{
		ID: "ocid1.nodepool.oc1.iad.p", State: "ACTIVE"}}}
	w.Run(infrapool.New(ocimanaged.Adapter{}, w.oke, w.Options()), func() []pool.Instance { return w.oke.Instances })
	return w
}

func (w *ociWorld) object() *ociv1.OCIManagedMachinePool {
	w.Helper()
	o := &ociv1.OCIManagedMachinePool{}
	w.Get(passtest.Infra, o)
	return o
}

// held returns the reason and message of GroupReady after some passes.
func (w *ociWorld) held() string {
	w.Helper()
	for range 5 {
		w.Pass()
	}
	c := meta.FindStatusCondition(w.object().Status.Conditions, "NodePoolReady")
	if c == nil {
		return ""
	}
	return c.Reason + ": " + c.Message
}

// TestOCIPoolIsCreated holds the way to a node pool: where OKE is asked, what the object and the objects of its nodes say, and that nothing
// is written at rest.
func TestOCIPoolIsCreated(t *testing.T) {
	t.Parallel()
	w := newOCIWorld(t, ociInfraText, "{nodeShape: s}")
	w.Rest()
	o := w.object()
	if o.GetProviderID() != "ocid1.nodepool.oc1.iad.p" || *o.Spec.ID != "ocid1.nodepool.oc1.iad.p" || len(o.Spec.ProviderIDList) != 2 ||
		!o.Status.Ready || o.Status.NodepoolLifecycleState != "ACTIVE" || !slices.Contains(o.Finalizers, ociv1.ManagedMachinePoolFinalizer) ||
		o.Status.InfrastructureMachineKind != ociv1.OCIMachinePoolMachineKind || !slices.Equal(w.oke.Steps, []string{"CreateGroup"}) {
		t.Errorf("want a pool of two, got steps %v, %+v", w.oke.Steps, o)
	}
	if want := "write by controller at ocid1.compartment.oc1..a/ocid1.cluster.oc1.iad.a/p"; !slices.Contains(w.oke.asked, want) {
		t.Errorf("want %q, got %v", want, w.oke.asked)
	}
	list := &ociv1.OCIMachinePoolMachineList{}
	if err := w.Management.List(t.Context(), list); err != nil || len(list.Items) != 2 {
		t.Fatalf("want an object for each node, got %d, %v", len(list.Items), err)
	}
	for _, m := range list.Items {
		if m.Spec.MachineType != ociv1.MachineManaged || *m.Spec.OCID == "" || !m.Status.Ready {
			t.Errorf("want a node that runs, got %+v", m)
		}
	}
}

// TestOCIVersionsInPasses holds that OKE is not asked for anything while the versions of both objects differ, and is once they agree.
func TestOCIVersionsInPasses(t *testing.T) {
	t.Parallel()
	w := newOCIWorld(t, ociInfraText, "{nodeShape: s, version: v1.33.1}")
	const want = "VersionMismatch: spec.version is v1.33.1, and spec.template.spec.version of MachinePool mp is v1.34.2"
	if got := w.held(); !strings.HasPrefix(got, want) || len(w.oke.asked) > 0 {
		t.Fatalf("want both versions named and nothing asked, got %q, %v", got, w.oke.asked)
	}
	o := w.object()
	o.Spec.Version = new("v1.34.2")
	w.Edit(o)
	w.Rest()
	if !slices.Equal(w.oke.Steps, []string{"CreateGroup"}) {
		t.Errorf("want the pool created, got %v", w.oke.Steps)
	}
}

// TestTenantOfOCI holds what a tenant can't have the manager do: send a request with the manager's own credentials, with those of its
// instance, or with a key of another namespace, to a server of the tenant's choice. No request of any kind is sent.
func TestTenantOfOCI(t *testing.T) {
	t.Parallel()
	infra := func(fields string) string {
		return strings.Replace(ociInfraText, "ociResourceIdentifier: uid", "ociResourceIdentifier: uid, "+fields, 1)
	}
	const server = "hostUrl: {containerEngineClientUrl: 'https://evil.example'}"
	identity := func(namespace, spec string) client.Object { return ociIdentityObject(t, namespace, spec+", "+everyone) }
	user := "type: UserPrincipal, principalSecret: {name: keys, namespace: platform}"
	for _, c := range []struct {
		why, infra, want string
		objects          []client.Object
	}{
		{why: "no identity", infra: infra(server), want: "IdentityNotAllowed: OCIManagedCluster default/i: " +
			`spec.hostUrl.containerEngineClientUrl is "https://evil.example"`},
		{why: "the manager's instance", infra: infra("identityRef: {name: i}, " + server), want: "IdentityNotAllowed: ",
			objects: []client.Object{identity("default", "type: InstancePrincipal")}},
		{why: "an identity of another namespace", infra: infra("identityRef: {name: i, namespace: platform}, " + server),
			want: "IdentityNotAllowed: ", objects: []client.Object{identity("platform", user), ociKeys("platform")}},
		{why: "a Secret of another namespace", infra: infra("identityRef: {name: i}"), objects: []client.Object{identity("default", user),
			ociKeys("platform")}, want: "IdentityNotAllowed: OCIClusterIdentity/default/i: spec.principalSecret: secret platform/keys does not " +
			"allow namespace default"},
		{why: "certificates of another namespace", infra: infra("hostUrl: {certOverride: {name: ca, namespace: platform}}"),
			want: "IdentityNotAllowed: ", objects: []client.Object{ociCertificates(t, "platform")}},
	} {
		t.Run(c.why, func(t *testing.T) {
			t.Parallel()
			w := newOCIWorld(t, c.infra, "{nodeShape: s}", c.objects...)
			if got := w.held(); !strings.HasPrefix(got, c.want) || len(w.oke.asked) > 0 {
				t.Errorf("want %q and no request, got %q and %v", c.want, got, w.oke.asked)
			}
		})
	}
	t.Run("a key of the tenant's own", func(t *testing.T) {
		t.Parallel()
		w := newOCIWorld(t, infra("identityRef: {name: i}, "+server), "{nodeShape: s}",
			identity("default", "type: UserPrincipal, principalSecret: {name: keys}"), ociKeys("default"))
		w.Rest()
		want := "write by OCIClusterIdentity/default/i at ocid1.compartment.oc1..a/ocid1.cluster.oc1.iad.a/phttps://evil.example"
		if !slices.Contains(w.oke.asked, want) {
			t.Errorf("want %q, got %v", want, w.oke.asked)
		}
	})
}

// TestAdoptionOfOCI holds that the identifier of a cluster, which a tenant writes, allows no adoption while an infrastructure cluster of
// another namespace has it too.
func TestAdoptionOfOCI(t *testing.T) {
	t.Parallel()
	other := func(namespace, kind, id string) client.Object {
		u := ociDescribed(t, "{kind: "+kind+", metadata: {name: theirs}, spec: {ociResourceIdentifier: "+id+"}}")
		u.SetNamespace(namespace)
		return u
	}
	for name, c := range map[string]struct {
		objects []client.Object
		want    string
	}{
		"alone": {},
		"another of the namespace, another identifier, and one of another shape": {objects: []client.Object{
			other("default", ociv1.ManagedClusterKind, "uid"), other("b", ociv1.ClusterKind, "uid-2"), other("c", ociv1.ClusterKind, "[uid]")}},
		"a managed cluster":     {[]client.Object{other("b", ociv1.ManagedClusterKind, "uid")}, "OCIManagedCluster b/theirs. "},
		"a cluster of machines": {[]client.Object{other("b", ociv1.ClusterKind, "uid")}, "OCICluster b/theirs. "},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newOCIWorld(t, ociInfraText, "{nodeShape: s}", append(c.objects, passtest.Definition("ociclusters", "v1beta2"))...)
			w.oke.theirs = &pool.Unowned{Name: "p", Group: "node pool p", OfCluster: true, ConsentTag: "t"}
			o := w.object()
			o.Annotations = map[string]string{pool.AdoptAnnotation: "p"}
			w.Edit(o)
			got, adopted := w.held(), w.oke.Shown != nil
			if adopted != (c.want == "") || !adopted && (!strings.HasPrefix(got, pool.AdoptionNotAllowed+": ") || !strings.Contains(got,
				"which have the same name or identifier: "+c.want)) {
				t.Errorf("want held by %q, got adopted %t, %q", c.want, adopted, got)
			}
		})
	}
}

// TestOCIDeletedWithoutItsCluster holds that a node pool is deleted while the control plane or the cluster object is gone, with the
// credentials that it remembers.
func TestOCIDeletedWithoutItsCluster(t *testing.T) {
	t.Parallel()
	infra := strings.Replace(ociInfraText, "ociResourceIdentifier: uid", "ociResourceIdentifier: uid, identityRef: {name: i}", 1)
	for name, lost := range map[string][]string{
		"no control plane": {ociPlaneText}, "no cluster object": {infra}, "neither of the two": {ociPlaneText, infra},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newOCIWorld(t, infra, "{nodeShape: s}", ociIdentityObject(t, "default",
				"type: UserPrincipal, principalSecret: {name: keys}, "+everyone), ociKeys("default"))
			w.Rest()
			for _, text := range lost {
				if err := w.Management.Delete(t.Context(), ociDescribed(t, text)); err != nil {
					t.Fatal(err)
				}
			}
			if err := w.Management.Delete(t.Context(), w.object()); err != nil {
				t.Fatal(err)
			}
			gone := func() bool {
				return apierrors.IsNotFound(w.Management.Get(t.Context(), passtest.Infra, &ociv1.OCIManagedMachinePool{}))
			}
			for range 30 {
				if gone() {
					break
				}
				w.Pass()
			}
			other := func(asked string) bool { return !strings.Contains(asked, " by OCIClusterIdentity/default/i at ") }
			if !gone() || !slices.Equal(w.oke.Steps, []string{"CreateGroup", "DeleteGroup"}) || slices.ContainsFunc(w.oke.asked, other) {
				t.Errorf("want pool and object gone, got steps %v by %v", w.oke.Steps, w.oke.asked)
			}
		})
	}
}
