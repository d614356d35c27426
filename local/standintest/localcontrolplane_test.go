package standintest_test

import (
	"bytes"
	"context"
	"crypto/x509"
	"crypto/x509/pkix"
	"errors"
	"fmt"
	"net"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	certificatesv1 "k8s.io/api/certificates/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/util/cert"
	"k8s.io/client-go/util/certificate/csr"
	"k8s.io/client-go/util/keyutil"
	kubeadmapi "k8s.io/kubernetes/cmd/kubeadm/app/apis/kubeadm"
	discovery "k8s.io/kubernetes/cmd/kubeadm/app/discovery/token"
	"k8s.io/kubernetes/cmd/kubeadm/app/util/pubkeypin"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	capiconditions "sigs.k8s.io/cluster-api/util/conditions"
	"sigs.k8s.io/cluster-api/util/secret"
	"sigs.k8s.io/controller-runtime/pkg/client"

	localv1 "github.com/muster-project/muster/api/local/v1beta1"
	"github.com/muster-project/muster/local/standintest"
	"github.com/muster-project/muster/local/workload"
)

const token = "abcdef.0123456789abcdef"

// TestLocalControlPlane walks one control plane through its life: it comes up, a machine joins as kubeadm would, a
// restart finds it again, and its deletion leaves nothing.
func TestLocalControlPlane(t *testing.T) {
	if testing.Short() {
		t.Skip("two API servers")
	}
	t.Parallel()
	createNamespace(t, "local")
	w := newLocalWorld(t, t.TempDir())
	w.start(t)
	key := client.ObjectKey{Namespace: "local", Name: "c"}
	lcp := w.create(t, key)

	w.untilAvailable(t, lcp)
	if got := lcp.Spec.ControlPlaneEndpoint; got.Host != "127.0.0.1" || got.Port == 0 {
		t.Fatalf("endpoint: want a port of 127.0.0.1, got %+v", got)
	}
	if s := lcp.Status; s.Initialization.ControlPlaneInitialized == nil || !*s.Initialization.ControlPlaneInitialized ||
		s.Version != "v1.33.1" || *s.ReadyReplicas != 1 {
		t.Fatalf("status: want it initialized, at the version asked for, one replica ready; got %+v", s)
	}
	admin := w.workload(t, key)
	t.Run("MachineJoinsLikeKubeadm", func(t *testing.T) { join(t, w, lcp, admin) })
	t.Run("AnonymousReadsClusterInfoOnly", func(t *testing.T) { stranger(t, w, key) })

	before := w.secret(t, key, secret.Kubeconfig)
	port := lcp.Spec.ControlPlaneEndpoint.Port
	// A pause suspends changes; a running cluster continues to serve, also after a restart.
	w.pause(t, key, true)
	w.stop()
	w.start(t)
	standintest.Eventually(t, "the API server back where it was, with what it held", func(ctx context.Context) error {
		_, err := admin.CoreV1().Nodes().Get(ctx, "machine", metav1.GetOptions{})
		return err
	})
	w.pause(t, key, false)
	w.untilAvailable(t, lcp)
	if after := w.secret(t, key, secret.Kubeconfig); !bytes.Equal(before.Data["value"], after.Data["value"]) ||
		lcp.Spec.ControlPlaneEndpoint.Port != port {
		t.Fatalf("restart: want the kubeconfig and port %d as they were, got port %d", port, lcp.Spec.ControlPlaneEndpoint.Port)
	}

	t.Run("EndedAPIServerRestarted", func(t *testing.T) { w.ended(t, lcp, admin) })
	t.Run("DeletionLeavesNothing", func(t *testing.T) { w.deleted(t, lcp, int(port)) })
}

// create makes a Cluster and its control plane, owned as core would have it.
func (w *localWorld) create(t *testing.T, key client.ObjectKey) *localv1.LocalControlPlane {
	t.Helper()
	cluster := &clusterv1.Cluster{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name}, Spec: clusterv1.ClusterSpec{
		ControlPlaneRef: clusterv1.ContractVersionedObjectReference{APIGroup: localv1.GroupVersion.Group, Kind: "LocalControlPlane",
			Name: key.Name}}}
	if err := w.client.Create(t.Context(), cluster); err != nil {
		t.Fatal(err)
	}
	lcp := &localv1.LocalControlPlane{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name,
		OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(cluster, clusterv1.GroupVersion.WithKind("Cluster"))}},
		Spec: localv1.LocalControlPlaneSpec{Version: "v1.33.1"}}
	if err := w.client.Create(t.Context(), lcp); err != nil {
		t.Fatal(err)
	}
	return lcp
}

// pause pauses a cluster, or lets it go on, and returns when its control plane has seen it.
func (w *localWorld) pause(t *testing.T, key client.ObjectKey, pause bool) {
	t.Helper()
	cluster := &clusterv1.Cluster{}
	if err := w.client.Get(t.Context(), key, cluster); err != nil {
		t.Fatal(err)
	}
	changed := cluster.DeepCopy()
	changed.Spec.Paused = &pause
	if err := w.client.Patch(t.Context(), changed, client.MergeFrom(cluster)); err != nil {
		t.Fatal(err)
	}
	standintest.Eventually(t, "the control plane to see the pause, or its end", func(ctx context.Context) error {
		lcp := &localv1.LocalControlPlane{}
		if err := w.client.Get(ctx, key, lcp); err != nil {
			return err
		}
		if capiconditions.IsTrue(lcp, clusterv1.PausedCondition) != pause {
			return fmt.Errorf("%+v", lcp.Status.Conditions)
		}
		return nil
	})
}

func (w *localWorld) untilAvailable(t *testing.T, lcp *localv1.LocalControlPlane) {
	t.Helper()
	standintest.Eventually(t, "an available control plane", func(ctx context.Context) error {
		if err := w.client.Get(ctx, client.ObjectKeyFromObject(lcp), lcp); err != nil {
			return err
		}
		// The condition is written first, then the rest of the object, the status last.
		if !capiconditions.IsTrue(lcp, "Available") || lcp.Status.Version != lcp.Spec.Version {
			return fmt.Errorf("%+v", lcp.Status)
		}
		return nil
	})
}

func (w *localWorld) secret(t *testing.T, key client.ObjectKey, purpose secret.Purpose) *corev1.Secret {
	t.Helper()
	s, err := secret.Get(t.Context(), w.client, key, purpose)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// workload returns a client made from the secret that core and its providers read.
func (w *localWorld) workload(t *testing.T, key client.ObjectKey) *kubernetes.Clientset {
	t.Helper()
	config, err := clientcmd.RESTConfigFromKubeConfig(w.secret(t, key, secret.Kubeconfig).Data["value"])
	if err != nil {
		t.Fatal(err)
	}
	return kubernetes.NewForConfigOrDie(config)
}

// join does what "kubeadm join" does, with kubeadm's own discovery: it verifies cluster-info by the token's signature
// and by the CA's pin, then asks for a certificate and registers a node with it.
func join(t *testing.T, w *localWorld, lcp *localv1.LocalControlPlane, admin kubernetes.Interface) {
	ctx := t.Context()
	if _, err := admin.CoreV1().Secrets("kube-system").Create(ctx, &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Name: "bootstrap-token-abcdef"}, Type: corev1.SecretTypeBootstrapToken,
		StringData: map[string]string{"token-id": "abcdef", "token-secret": "0123456789abcdef", "usage-bootstrap-authentication": "true",
			"usage-bootstrap-signing": "true", "auth-extra-groups": "system:bootstrappers:kubeadm:default-node-token"},
	}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	ca, err := cert.ParseCertsPEM(w.secret(t, client.ObjectKeyFromObject(lcp), secret.ClusterCA).Data["tls.crt"])
	if err != nil {
		t.Fatal(err)
	}
	e := lcp.Spec.ControlPlaneEndpoint
	info, err := discovery.RetrieveValidatedConfigInfo(nil, &kubeadmapi.Discovery{BootstrapToken: &kubeadmapi.BootstrapTokenDiscovery{
		Token: token, APIServerEndpoint: net.JoinHostPort(e.Host, strconv.Itoa(int(e.Port))), CACertHashes: []string{pubkeypin.Hash(ca[0])}}},
		patience)
	if err != nil {
		t.Fatalf("discovery: %v", err)
	}
	config, err := clientcmd.NewDefaultClientConfig(*info, nil).ClientConfig()
	if err != nil {
		t.Fatal(err)
	}
	bootstrap := rest.AnonymousClientConfig(config)
	bootstrap.BearerToken = token
	node := rest.AnonymousClientConfig(config)
	node.CertData, node.KeyData = certificate(t, kubernetes.NewForConfigOrDie(bootstrap), "machine")
	if _, err := kubernetes.NewForConfigOrDie(node).CoreV1().Nodes().Create(ctx, &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "machine"}},
		metav1.CreateOptions{}); err != nil {
		t.Fatalf("register the node with its own certificate: %v", err)
	}
}

func certificate(t *testing.T, c kubernetes.Interface, node string) (certPEM, keyPEM []byte) {
	t.Helper()
	keyPEM, err := keyutil.MakeEllipticPrivateKeyPEM()
	if err != nil {
		t.Fatal(err)
	}
	key, err := keyutil.ParsePrivateKeyPEM(keyPEM)
	if err != nil {
		t.Fatal(err)
	}
	request, err := cert.MakeCSRFromTemplate(key,
		&x509.CertificateRequest{Subject: pkix.Name{CommonName: "system:node:" + node, Organization: []string{"system:nodes"}}})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	name, uid, err := csr.RequestCertificateWithContext(ctx, c, request, "", certificatesv1.KubeAPIServerClientKubeletSignerName, nil,
		[]certificatesv1.KeyUsage{certificatesv1.UsageClientAuth, certificatesv1.UsageDigitalSignature}, key)
	if err != nil {
		t.Fatal(err)
	}
	certPEM, err = csr.WaitForCertificate(ctx, c, name, uid)
	if err != nil {
		t.Fatalf("the node's certificate, approved and signed by itself: %v", err)
	}
	return certPEM, keyPEM
}

func stranger(t *testing.T, w *localWorld, key client.ObjectKey) {
	config, err := clientcmd.RESTConfigFromKubeConfig(w.secret(t, key, secret.Kubeconfig).Data["value"])
	if err != nil {
		t.Fatal(err)
	}
	anonymous := kubernetes.NewForConfigOrDie(rest.AnonymousClientConfig(config))
	if _, err := anonymous.CoreV1().ConfigMaps("kube-public").Get(t.Context(), "cluster-info", metav1.GetOptions{}); err != nil {
		t.Errorf("cluster-info: want it readable, got %v", err)
	}
	if _, err := anonymous.CoreV1().ConfigMaps("kube-system").Get(t.Context(), "kubeadm-config",
		metav1.GetOptions{}); !apierrors.IsForbidden(err) {
		t.Errorf("kubeadm-config: want it forbidden, got %v", err)
	}
}

// ended ends the API server and looks whether it comes back with what it held, where clients with the kubeconfig of before look for it.
func (w *localWorld) ended(t *testing.T, lcp *localv1.LocalControlPlane, admin kubernetes.Interface) {
	w.end()
	select {
	case why := <-w.restarted:
		if !strings.Contains(why.Error(), "without an error") {
			t.Errorf("want why it ended, got %v", why)
		}
	case <-time.After(patience):
		t.Fatal("want the API server started again, and it was not")
	}
	if _, err := admin.CoreV1().Nodes().Get(t.Context(), "machine", metav1.GetOptions{}); err != nil {
		t.Errorf("want it at its port, with its authority and its nodes, got %v", err)
	}
	w.untilAvailable(t, lcp)
}

// deleted deletes the control plane and looks for what it may have left.
func (w *localWorld) deleted(t *testing.T, lcp *localv1.LocalControlPlane, port int) {
	if err := w.client.Delete(t.Context(), lcp); err != nil {
		t.Fatal(err)
	}
	key := client.ObjectKeyFromObject(lcp)
	standintest.Eventually(t, "the object gone", func(ctx context.Context) error {
		if err := w.client.Get(ctx, key, lcp); !apierrors.IsNotFound(err) {
			return fmt.Errorf("still there, %w, %+v", err, lcp.Status.Conditions)
		}
		return nil
	})
	if c, err := net.Dial("tcp", net.JoinHostPort(workload.Host, strconv.Itoa(port))); err == nil {
		_ = c.Close()
		t.Errorf("port %d: want no listener, got a connection", port)
	}
	for _, path := range []string{w.kubeconfigFile(key), w.servers.Place(key)} {
		if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s: want it gone, got %v", path, err)
		}
	}
	standintest.Eventually(t, "the secrets collected", func(ctx context.Context) error {
		var all corev1.SecretList
		if err := w.client.List(ctx, &all, client.InNamespace(key.Namespace)); err != nil {
			return err
		}
		if len(all.Items) != 0 {
			return fmt.Errorf("%d secrets", len(all.Items))
		}
		return nil
	})
}
