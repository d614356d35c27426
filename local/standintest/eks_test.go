package standintest_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	authorizationv1 "k8s.io/api/authorization/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/util/secret"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/muster-project/muster/local/clouds/aws/eks"
	"github.com/muster-project/muster/local/clouds/aws/standin"
	"github.com/muster-project/muster/local/standintest"
)

// eksKinds are the kinds of EKS.
var eksKinds = service{plane: standin.AWSManagedControlPlane, infra: standin.AWSManagedCluster,
	endpoint: []string{"spec", "controlPlaneEndpoint"}, folder: "eks"}

// TestEKS walks a control plane through its life: EKS learns of it, nodes could join and EKS could drain them, its version
// goes up, it waits for its node groups, and leaves nothing.
func TestEKS(t *testing.T) {
	if testing.Short() {
		t.Skip("two API servers")
	}
	t.Parallel()
	createNamespace(t, "eks")
	cluster, plane := eksKinds.create(t, client.ObjectKey{Namespace: "eks", Name: "c"}, map[string]any{"version": "v1.31.0"}, nil)
	eksKinds.untilReady(t, plane, map[string]any{"externalManagedControlPlane": true, "version": "v1.31"})
	want := map[string]string{"eksClusterName": "eks_c", "region": "eu-west-1"}
	for field, value := range want {
		if got, _, _ := unstructured.NestedString(plane.Object, "spec", field); got != value {
			t.Errorf("spec.%s: want %s, got %q", field, value, got)
		}
	}
	c, ok := knownToEKS.get("eks_c")
	if !ok || c.Version != "1.31" || c.SecurityGroup != "sg-1" || len(c.Subnets) != 1 {
		t.Fatalf("EKS: want the cluster, got %+v, %v", c, ok)
	}
	t.Run("EKSAuthenticates", func(t *testing.T) { letInto(t, c) })
	t.Run("SecretsAndKubeconfig", func(t *testing.T) {
		if _, err := secret.Get(t.Context(), management, client.ObjectKeyFromObject(cluster), secret.Kubeconfig); err != nil {
			t.Error(err)
		}
		if _, err := os.Stat(stand.KubeconfigFile(client.ObjectKeyFromObject(cluster))); err != nil {
			t.Error(err)
		}
	})
	t.Run("ManagedClusterReady", func(t *testing.T) { managedCluster(t, cluster, plane) })

	knownToEKS.set(func() { knownToEKS.broken = errors.New("EKS is away") })
	setVersion(t, plane, "v1.32.0")
	standintest.Eventually(t, "the object to say why it is not ready", func(ctx context.Context) error {
		return stand.HasConditions(ctx, plane, conditions, "False", "EKS is away")
	})
	knownToEKS.set(func() { knownToEKS.broken = nil })
	eksKinds.untilReady(t, plane, map[string]any{"externalManagedControlPlane": true, "version": "v1.32"})
	if again, _ := knownToEKS.get("eks_c"); again.Version != "1.32" || again.Token != c.Token || again.Endpoint != c.Endpoint {
		t.Errorf("EKS: want another version of the same cluster, got %+v after %+v", again, c)
	}

	knownToEKS.set(func() { knownToEKS.busy["eks_c"] = true })
	remove(t, plane)
	standintest.Eventually(t, "the object to wait for the node groups", func(ctx context.Context) error {
		return stand.HasConditions(ctx, plane, conditions, "False", "the cluster has node groups: one")
	})
	knownToEKS.set(func() { knownToEKS.busy["eks_c"] = false })
	eksKinds.removed(t, cluster, plane)
	if c, ok := knownToEKS.get("eks_c"); ok {
		t.Errorf("EKS: want the cluster forgotten, got %+v", c)
	}
}

// letInto holds what EKS can do with its token, and what not.
func letInto(t *testing.T, c eks.Cluster) {
	config := &rest.Config{Host: c.Endpoint, BearerToken: c.Token, TLSClientConfig: rest.TLSClientConfig{CAData: c.CA}}
	service := kubernetes.NewForConfigOrDie(config)
	for _, tc := range []struct {
		reason         string
		verb, resource string
		group, sub     string
		allowed        bool
	}{
		{reason: "machines ask for a certificate", verb: "create", group: "certificates.k8s.io", resource: "certificatesigningrequests",
			allowed: true},
		{reason: "whose request is approved by itself", verb: "create", group: "certificates.k8s.io", resource: "certificatesigningrequests",
			sub: "nodeclient", allowed: true},
		{reason: "nodes are closed and labelled", verb: "patch", resource: "nodes", allowed: true},
		{reason: "pods are evicted", verb: "create", resource: "pods", sub: "eviction", allowed: true},
		{reason: "EKS reads no secrets", verb: "get", resource: "secrets"},
	} {
		review := &authorizationv1.SelfSubjectAccessReview{Spec: authorizationv1.SelfSubjectAccessReviewSpec{
			ResourceAttributes: &authorizationv1.ResourceAttributes{Verb: tc.verb, Group: tc.group, Resource: tc.resource, Subresource: tc.sub,
				Namespace: "kube-system"}}}
		if tc.group != "" || tc.resource == "nodes" {
			review.Spec.ResourceAttributes.Namespace = ""
		}
		got, err := service.AuthorizationV1().SelfSubjectAccessReviews().Create(t.Context(), review, metav1.CreateOptions{})
		if err != nil {
			t.Fatalf("%s: %v", tc.reason, err)
		}
		if got.Status.Allowed != tc.allowed {
			t.Errorf("%s: want allowed %v, got %+v", tc.reason, tc.allowed, got.Status)
		}
	}
}

// managedCluster acts as core: it sets the Cluster's reference to its control plane, and checks the infrastructure.
func managedCluster(t *testing.T, cluster *clusterv1.Cluster, plane *unstructured.Unstructured) {
	host, _, _ := unstructured.NestedString(plane.Object, "spec", "controlPlaneEndpoint", "host")
	port, _, _ := unstructured.NestedInt64(plane.Object, "spec", "controlPlaneEndpoint", "port")
	before := cluster.DeepCopy()
	cluster.Spec.ControlPlaneEndpoint = clusterv1.APIEndpoint{Host: host, Port: int32(port)}
	if err := management.Patch(t.Context(), cluster, client.MergeFrom(before)); err != nil {
		t.Fatal(err)
	}
	o := eksKinds.infrastructure(t, cluster, plane)
	if zone, _, _ := unstructured.NestedBool(o.Object, "status", "failureDomains", "eu-west-1a", "controlPlane"); !zone {
		t.Errorf("want the zones, got %v", o.Object)
	}
}

// TestRegistryOfEKS holds that errors of the simulator reach the reconciler, and that no error has the token.
func TestRegistryOfEKS(t *testing.T) {
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
		{reason: "still in use", code: http.StatusConflict, remove: true, want: "has node groups: said", is: eks.ErrInUse},
		{reason: "refused", code: http.StatusBadRequest, want: "EKS refused: said"},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.WriteHeader(tc.code)
				if tc.code != http.StatusNoContent {
					_, _ = w.Write([]byte("said\n"))
				}
			}))
			defer s.Close()
			h := eks.HTTP{Endpoint: s.URL}
			err := h.Put(t.Context(), eks.Cluster{Name: "c", Token: "abcdef.0123456789abcdef"})
			if tc.remove {
				err = h.Delete(t.Context(), "eu-west-1", "c")
			}
			if (err == nil) != (tc.want == "") || err != nil && (!strings.Contains(err.Error(), tc.want) ||
				strings.Contains(err.Error(), "0123456789abcdef")) {
				t.Errorf("want %q, got %v", tc.want, err)
			}
			if tc.is != nil && !errors.Is(err, tc.is) {
				t.Errorf("want %v, got %v", tc.is, err)
			}
		})
	}
}
