package manager

import (
	"context"
	"encoding/json"
	"encoding/pem"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"k8s.io/utils/ptr"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/muster-project/muster/kube/kubeconfig"
)

// TestTokenFileOfATenant plays a tenant whose kubeconfig Secret names the manager's own token, through the manager's cache of clusters.
func TestTokenFileOfATenant(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	var sent []string
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		sent = append(sent, r.Header.Get("Authorization"))
		http.NotFound(w, r)
	}))
	t.Cleanup(server.Close)
	token := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(token, []byte("token-of-the-manager"), 0o600); err != nil {
		t.Fatal(err)
	}
	data, err := clientcmd.Write(clientcmdapi.Config{CurrentContext: "c",
		Clusters: map[string]*clientcmdapi.Cluster{"c": {Server: server.URL,
			CertificateAuthorityData: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})}},
		Contexts:  map[string]*clientcmdapi.Context{"c": {Cluster: "c", AuthInfo: "u"}},
		AuthInfos: map[string]*clientcmdapi.AuthInfo{"u": {TokenFile: token}}})
	if err != nil {
		t.Fatal(err)
	}
	m := managerOf(t, data)
	key := client.ObjectKey{Namespace: "team", Name: "c"}
	var refused *kubeconfig.RefusedError
	for deadline := time.Now().Add(20 * time.Second); time.Now().Before(deadline) && refused == nil; {
		if _, err := m.ClusterCache.GetClient(t.Context(), key); !errors.As(err, &refused) {
			<-time.After(20 * time.Millisecond)
			mu.Lock()
			reached := len(sent) > 0
			mu.Unlock()
			if reached {
				break
			}
		}
	}
	if refused == nil || refused.Field != "users[].user.tokenFile" {
		t.Errorf("want the field named in the error of the missing connection, got %v", refused)
	}
	mu.Lock()
	defer mu.Unlock()
	if len(sent) != 0 {
		t.Errorf("want nothing sent to the tenant's server, got %q", sent)
	}
}

// managerOf runs the manager's cache of clusters over a management cluster that has one Cluster with its kubeconfig Secret.
func managerOf(t *testing.T, kubeconfig []byte) *Manager {
	t.Helper()
	scheme, err := NewScheme()
	if err != nil {
		t.Fatal(err)
	}
	api := httptest.NewServer(managementOf(kubeconfig))
	t.Cleanup(api.Close)
	o, err := Options{}.complete()
	if err != nil {
		t.Fatal(err)
	}
	options := ctrlOptions(scheme, o)
	options.MapperProvider = func(*rest.Config, *http.Client) (meta.RESTMapper, error) {
		mapper := meta.NewDefaultRESTMapper(nil)
		for kind := range scheme.AllKnownTypes() {
			mapper.Add(kind, meta.RESTScopeNamespace)
		}
		return mapper, nil
	}
	inner, err := ctrl.NewManager(&rest.Config{Host: api.URL}, options)
	if err != nil {
		t.Fatal(err)
	}
	m := &Manager{Manager: inner}
	ctx, cancel := context.WithCancel(t.Context())
	if err := m.addClusterCache(ctx, o); err != nil {
		t.Fatal(err)
	}
	done := make(chan error)
	go func() { done <- inner.Start(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	return m
}

// managementOf answers lists of one Cluster and its Secret; watches see nothing.
func managementOf(kubeconfig []byte) http.HandlerFunc {
	labels := map[string]string{clusterv1.ClusterNameLabel: "c"}
	lists := map[string]client.ObjectList{
		"clusters": &clusterv1.ClusterList{TypeMeta: metav1.TypeMeta{APIVersion: clusterv1.GroupVersion.String(), Kind: "ClusterList"},
			Items: []clusterv1.Cluster{{ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: "c"},
				Status: clusterv1.ClusterStatus{Initialization: clusterv1.ClusterInitializationStatus{
					InfrastructureProvisioned: ptr.To(true), ControlPlaneInitialized: ptr.To(true)}}}}},
		"secrets": &corev1.SecretList{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "SecretList"},
			Items: []corev1.Secret{{ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: "c-kubeconfig", Labels: labels},
				Data: map[string][]byte{"value": kubeconfig}}}},
	}
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		switch query := r.URL.Query(); {
		case query.Get("sendInitialEvents") == "true":
			w.WriteHeader(http.StatusUnprocessableEntity)
			_ = json.NewEncoder(w).Encode(metav1.Status{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"},
				Status: metav1.StatusFailure, Reason: metav1.StatusReasonInvalid, Code: http.StatusUnprocessableEntity})
		case query.Get("watch") == "true":
			<-r.Context().Done()
		default:
			list := lists[r.URL.Path[strings.LastIndex(r.URL.Path, "/")+1:]]
			_ = json.NewEncoder(w).Encode(list)
		}
	}
}
