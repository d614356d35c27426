package eks

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	authorizationv1 "k8s.io/api/authorization/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/util/secret"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/muster-project/muster/local/clouds/aws/kinds"
	"github.com/muster-project/muster/local/objects"
	"github.com/muster-project/muster/local/standintest"
)

// TestControlPlane walks one through its life: EKS learns of it, nodes could join and EKS could drain them, its version
// goes up, it waits for its node groups, and leaves nothing.
func TestControlPlane(t *testing.T) {
	if testing.Short() {
		t.Skip("two API servers")
	}
	cluster, plane := create(t, "c", map[string]any{"version": "v1.31.0"})
	untilReady(t, plane, "v1.31")
	want := map[string]string{"eksClusterName": "default_c", "region": "eu-west-1"}
	for field, value := range want {
		if got, _, _ := unstructured.NestedString(plane.Object, "spec", field); got != value {
			t.Errorf("spec.%s: want %s, got %q", field, value, got)
		}
	}
	c, ok := known.get("default_c")
	if !ok || c.Version != "1.31" || c.SecurityGroup != "sg-1" || len(c.Subnets) != 1 {
		t.Fatalf("EKS: want the cluster, got %+v, %v", c, ok)
	}
	t.Run("EKS is let in", func(t *testing.T) { letInto(t, c) })
	t.Run("the secrets and the file for people", func(t *testing.T) {
		if _, err := secret.Get(t.Context(), management, client.ObjectKeyFromObject(cluster), secret.Kubeconfig); err != nil {
			t.Error(err)
		}
		if _, err := os.Stat(stand.KubeconfigFile(client.ObjectKeyFromObject(cluster))); err != nil {
			t.Error(err)
		}
	})
	t.Run("its AWSManagedCluster is ready with it", func(t *testing.T) { managedCluster(t, cluster, plane) })

	known.set(func() { known.broken = errors.New("EKS is away") })
	change(t, plane, func(o *unstructured.Unstructured) { setField(t, o, "v1.32.0", "spec", "version") })
	standintest.Eventually(t, "the object to say why it is not ready", func(ctx context.Context) error {
		return stand.Says(ctx, plane, len(conditions), "False", "EKS is away")
	})
	known.set(func() { known.broken = nil })
	untilReady(t, plane, "v1.32")
	if again, _ := known.get("default_c"); again.Version != "1.32" || again.Token != c.Token || again.Endpoint != c.Endpoint {
		t.Errorf("EKS: want another version of the same cluster, got %+v after %+v", again, c)
	}

	known.set(func() { known.busy["default_c"] = true })
	if err := management.Delete(t.Context(), plane); err != nil {
		t.Fatal(err)
	}
	standintest.Eventually(t, "the object to wait for the node groups", func(ctx context.Context) error {
		return stand.Says(ctx, plane, len(conditions), "False", "the cluster has node groups: one")
	})
	known.set(func() { known.busy["default_c"] = false })
	standintest.Eventually(t, "the object gone", func(ctx context.Context) error {
		if err := management.Get(ctx, client.ObjectKeyFromObject(plane), plane); !apierrors.IsNotFound(err) {
			return fmt.Errorf("still there, %w", err)
		}
		return nil
	})
	if c, ok := known.get("default_c"); ok {
		t.Errorf("EKS: want the cluster forgotten, got %+v", c)
	}
	for _, path := range []string{stand.KubeconfigFile(client.ObjectKeyFromObject(cluster)), planes.Servers.Place(kind.Key(plane))} {
		if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s: want it gone, got %v", path, err)
		}
	}
}

// create makes a Cluster with its control plane and infrastructure, owned as core would have it.
func create(t *testing.T, name string, spec map[string]any) (*clusterv1.Cluster, *unstructured.Unstructured) {
	t.Helper()
	cluster := &clusterv1.Cluster{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name}, Spec: clusterv1.ClusterSpec{
		ControlPlaneRef:   clusterv1.ContractVersionedObjectReference{APIGroup: kinds.AWSManagedControlPlane.Group, Kind: kinds.AWSManagedControlPlane.Kind, Name: name},
		InfrastructureRef: clusterv1.ContractVersionedObjectReference{APIGroup: kinds.AWSManagedCluster.Group, Kind: kinds.AWSManagedCluster.Kind, Name: name}}}
	if err := management.Create(t.Context(), cluster); err != nil {
		t.Fatal(err)
	}
	plane, infrastructure := objects.New(kinds.AWSManagedControlPlane), objects.New(kinds.AWSManagedCluster)
	for _, o := range []*unstructured.Unstructured{plane, infrastructure} {
		o.SetNamespace("default")
		o.SetName(name)
		o.SetOwnerReferences([]metav1.OwnerReference{{APIVersion: clusterv1.GroupVersion.String(), Kind: "Cluster", Name: name, UID: cluster.UID}})
	}
	plane.Object["spec"] = spec
	for _, o := range []client.Object{infrastructure, plane} {
		if err := management.Create(t.Context(), o); err != nil {
			t.Fatal(err)
		}
	}
	return cluster, plane
}

func change(t *testing.T, o *unstructured.Unstructured, do func(*unstructured.Unstructured)) {
	t.Helper()
	if err := management.Get(t.Context(), client.ObjectKeyFromObject(o), o); err != nil {
		t.Fatal(err)
	}
	before := o.DeepCopy()
	do(o)
	if err := management.Patch(t.Context(), o, client.MergeFrom(before)); err != nil {
		t.Fatal(err)
	}
}

func setField(t *testing.T, o *unstructured.Unstructured, value any, path ...string) {
	t.Helper()
	if err := unstructured.SetNestedField(o.Object, value, path...); err != nil {
		t.Fatal(err)
	}
}

// untilReady waits until core would take the control plane for initialized, at a version.
func untilReady(t *testing.T, plane *unstructured.Unstructured, version string) {
	t.Helper()
	standintest.Eventually(t, "a control plane that is ready", func(ctx context.Context) error {
		if err := stand.Says(ctx, plane, len(conditions), "True", ""); err != nil {
			return err
		}
		for field, want := range map[string]any{"ready": true, "initialized": true, "externalManagedControlPlane": true, "version": version} {
			if got, _, _ := unstructured.NestedFieldNoCopy(plane.Object, "status", field); got != want {
				return fmt.Errorf("status.%s is %v", field, got)
			}
		}
		return nil
	})
}

// letInto holds what EKS can do with its token, and what not.
func letInto(t *testing.T, c Cluster) {
	config := &rest.Config{Host: c.Endpoint, BearerToken: c.Token, TLSClientConfig: rest.TLSClientConfig{CAData: c.CA}}
	eks := kubernetes.NewForConfigOrDie(config)
	for _, tc := range []struct {
		reason         string
		verb, resource string
		group, sub     string
		allowed        bool
	}{
		{reason: "machines ask for a certificate", verb: "create", group: "certificates.k8s.io", resource: "certificatesigningrequests", allowed: true},
		{reason: "whose request is approved by itself", verb: "create", group: "certificates.k8s.io", resource: "certificatesigningrequests", sub: "nodeclient", allowed: true},
		{reason: "nodes are closed and labelled", verb: "patch", resource: "nodes", allowed: true},
		{reason: "pods are evicted", verb: "create", resource: "pods", sub: "eviction", allowed: true},
		{reason: "EKS reads no secrets", verb: "get", resource: "secrets"},
	} {
		review := &authorizationv1.SelfSubjectAccessReview{Spec: authorizationv1.SelfSubjectAccessReviewSpec{
			ResourceAttributes: &authorizationv1.ResourceAttributes{Verb: tc.verb, Group: tc.group, Resource: tc.resource, Subresource: tc.sub, Namespace: "kube-system"}}}
		if tc.group != "" || tc.resource == "nodes" {
			review.Spec.ResourceAttributes.Namespace = ""
		}
		got, err := eks.AuthorizationV1().SelfSubjectAccessReviews().Create(t.Context(), review, metav1.CreateOptions{})
		if err != nil {
			t.Fatalf("%s: %v", tc.reason, err)
		}
		if got.Status.Allowed != tc.allowed {
			t.Errorf("%s: want allowed %v, got %+v", tc.reason, tc.allowed, got.Status)
		}
	}
}

// managedCluster plays core, which tells the Cluster of its control plane, and looks at the infrastructure.
func managedCluster(t *testing.T, cluster *clusterv1.Cluster, plane *unstructured.Unstructured) {
	host, _, _ := unstructured.NestedString(plane.Object, "spec", "controlPlaneEndpoint", "host")
	port, _, _ := unstructured.NestedInt64(plane.Object, "spec", "controlPlaneEndpoint", "port")
	before := cluster.DeepCopy()
	cluster.Spec.ControlPlaneEndpoint = clusterv1.APIEndpoint{Host: host, Port: int32(port)}
	if err := management.Patch(t.Context(), cluster, client.MergeFrom(before)); err != nil {
		t.Fatal(err)
	}
	before = cluster.DeepCopy()
	cluster.Status.Initialization.ControlPlaneInitialized = new(true)
	if err := management.Status().Patch(t.Context(), cluster, client.MergeFrom(before)); err != nil {
		t.Fatal(err)
	}
	standintest.Eventually(t, "a ready AWSManagedCluster with the endpoint and the zones", func(ctx context.Context) error {
		o := objects.New(kinds.AWSManagedCluster)
		if err := management.Get(ctx, client.ObjectKeyFromObject(cluster), o); err != nil {
			return err
		}
		ready, _, _ := unstructured.NestedBool(o.Object, "status", "ready")
		zone, _, _ := unstructured.NestedBool(o.Object, "status", "failureDomains", "eu-west-1a", "controlPlane")
		got, _, _ := unstructured.NestedInt64(o.Object, "spec", "controlPlaneEndpoint", "port")
		if !ready || !zone || got != port {
			return fmt.Errorf("it is %v", o.Object)
		}
		return nil
	})
}

// TestVersion: the versions that people write are EKS's.
func TestVersion(t *testing.T) {
	for _, tc := range []struct{ reason, version, want string }{
		{"as templates have it", "v1.32.4", "1.32"},
		{"as EKS has it", "1.32", "1.32"},
		{"both mixed", "v1.32", "1.32"},
		{"nothing that could be read", "latest", ""},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			o := objects.New(kinds.AWSManagedControlPlane)
			o.Object["spec"] = map[string]any{"version": tc.version}
			got, err := versionOf(o)
			if got != tc.want || (err == nil) != (tc.want != "") {
				t.Errorf("want %q, got %q, %v", tc.want, got, err)
			}
		})
	}
}

// TestHTTP: what the simulator says reaches the reconciler, and the token reaches no error.
func TestHTTP(t *testing.T) {
	for _, tc := range []struct {
		reason string
		code   int
		remove bool
		want   string
		is     error
	}{
		{reason: "taken", code: http.StatusNoContent},
		{reason: "forgotten", code: http.StatusNoContent, remove: true},
		{reason: "forgotten before", code: http.StatusNotFound, remove: true},
		{reason: "still in use", code: http.StatusConflict, remove: true, want: "has node groups: said", is: ErrInUse},
		{reason: "refused", code: http.StatusBadRequest, want: "400 Bad Request: said"},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.WriteHeader(tc.code)
				if tc.code != http.StatusNoContent {
					_, _ = w.Write([]byte("said\n"))
				}
			}))
			defer s.Close()
			h := HTTP{Endpoint: s.URL}
			err := h.Put(t.Context(), Cluster{Name: "c", Token: "abcdef.0123456789abcdef"})
			if tc.remove {
				err = h.Delete(t.Context(), "eu-west-1", "c")
			}
			if (err == nil) != (tc.want == "") || err != nil && (!strings.Contains(err.Error(), tc.want) || strings.Contains(err.Error(), "0123456789abcdef")) {
				t.Errorf("want %q, got %v", tc.want, err)
			}
			if tc.is != nil && !errors.Is(err, tc.is) {
				t.Errorf("want %v, got %v", tc.is, err)
			}
		})
	}
}
