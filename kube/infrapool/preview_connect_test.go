package infrapool_test

import (
	"encoding/pem"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"sigs.k8s.io/cluster-api/controllers/clustercache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/muster-project/muster/engine/report"
	"github.com/muster-project/muster/kube/infrapool/preview"
	"github.com/muster-project/muster/kube/kubeconfig"
)

// TestConnectBySecretRunsNothing plays a tenant whose kubeconfig Secret names a program and a file of the administrator's machine.
func TestConnectBySecretRunsNothing(t *testing.T) {
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
	authority := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	dir := t.TempDir()
	created, token := filepath.Join(dir, "created"), filepath.Join(dir, "token")
	if err := os.WriteFile(token, []byte("token-of-the-administrator"), 0o600); err != nil {
		t.Fatal(err)
	}
	for field, user := range map[string]*clientcmdapi.AuthInfo{
		"users[].user.exec": {Exec: &clientcmdapi.ExecConfig{APIVersion: "client.authentication.k8s.io/v1", Command: "touch",
			Args: []string{created}, InteractiveMode: clientcmdapi.NeverExecInteractiveMode}},
		"users[].user.tokenFile": {TokenFile: token},
	} {
		data, err := clientcmd.Write(clientcmdapi.Config{CurrentContext: "c",
			Clusters:  map[string]*clientcmdapi.Cluster{"c": {Server: server.URL, CertificateAuthorityData: authority}},
			Contexts:  map[string]*clientcmdapi.Context{"c": {Cluster: "c", AuthInfo: "u"}},
			AuthInfos: map[string]*clientcmdapi.AuthInfo{"u": user}})
		if err != nil {
			t.Fatal(err)
		}
		management := fake.NewClientBuilder().WithObjects(&corev1.Secret{
			ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: "c-kubeconfig"}, Data: map[string][]byte{"value": data}}).Build()
		clusters := preview.NewClusters(preview.ConnectBySecret(management))
		_, err = clusters.GetClient(t.Context(), client.ObjectKey{Namespace: "team", Name: "c"})
		if err == nil || !strings.Contains(err.Error(), field) {
			t.Errorf("want %s refused, got %v", field, err)
		}
	}
	if _, err := os.Stat(created); err == nil {
		t.Error("the tenant's program ran")
	}
	mu.Lock()
	defer mu.Unlock()
	if len(sent) != 0 {
		t.Errorf("want nothing sent to the tenant's server, got %q", sent)
	}
}

// TestRefusedKubeconfigIsNamed holds that the pool shows the message for a rejected kubeconfig.
func TestRefusedKubeconfigIsNamed(t *testing.T) {
	t.Parallel()
	w := running(t, everything()...)
	guard := kubeconfig.NewGuard()
	w.cache = guard.Clusters(clustercache.NewFakeEmptyClusterCache())
	secrets := fake.NewClientBuilder().WithObjects(&corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "c-kubeconfig"}, Data: map[string][]byte{"value": []byte("{")}}).Build()
	_ = guard.Secrets(secrets).Get(t.Context(), client.ObjectKey{Namespace: "default", Name: "c-kubeconfig"}, &corev1.Secret{})
	w.restart()
	w.passes(40)
	got := w.condition(report.InstancesReady)
	if got.Status != metav1.ConditionUnknown || !strings.Contains(got.Message, "kubeconfig Secret default/c-kubeconfig: can't be read") {
		t.Errorf("want the Secret named in InstancesReady, got %+v", got)
	}
}
