package standintest_test

import (
	"context"
	"crypto/x509"
	"encoding/pem"
	"net"
	"path/filepath"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	authenticationv1 "k8s.io/api/authentication/v1"
	certificatesv1 "k8s.io/api/certificates/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/certificate/csr"
	"k8s.io/client-go/util/keyutil"

	"github.com/muster-project/muster/local/apiserver"
	"github.com/muster-project/muster/local/controllers"
	"github.com/muster-project/muster/test/testrun"
)

// TestLongServers starts two API servers on one store, uses one as a cluster that machines join, and starts them again.
func TestLongServers(t *testing.T) {
	testrun.LongOnly(t)
	ctx := t.Context()
	dir := t.TempDir()
	first := startWorld(t, dir, 0, 0)
	admin := clientOf(t, first.workload.Config)

	t.Run("ObjectsSeparate", func(t *testing.T) { separate(ctx, t, first) })
	t.Run("BootstrapTokenAuthenticates", func(t *testing.T) { bootstrapToken(ctx, t, first.workload, admin) })
	t.Run("AnonymousUserDenied", func(t *testing.T) { anonymous(ctx, t, first.workload) })
	t.Run("ApprovedRequestSigned", func(t *testing.T) { signing(ctx, t, first.workload, admin) })
	t.Run("DeploymentRunsAndBudgetHolds", func(t *testing.T) { workloads(ctx, t, admin) })
	t.Run("NamespaceDeleted", func(t *testing.T) { namespaceEnds(ctx, t, admin) })
	t.Run("VersionIsRelease", func(t *testing.T) {
		v, err := admin.Discovery().ServerVersion()
		if err != nil || v.GitVersion != apiserver.Version() || strings.Contains(v.GitVersion, "master") {
			t.Fatalf("version: want %s, got %v, %v", apiserver.Version(), v, err)
		}
	})

	ports := [2]int{first.management.Port, first.workload.Port}
	first.stop()
	again := startWorld(t, dir, ports[0], ports[1])
	t.Run("RestartKeepsObjectsAndCredentials", func(t *testing.T) {
		if _, err := admin.CoreV1().ConfigMaps("default").Get(ctx, "workload", metav1.GetOptions{}); err != nil {
			t.Fatalf("want the config map that the first server kept, got: %v", err)
		}
	})
	t.Run("RemovedPrefixLeavesNothing", func(t *testing.T) {
		again.workloadControllers.Stop()
		again.workload.Stop()
		if err := again.etcd.DeletePrefix(ctx, "/clusters/a/b"); err != nil {
			t.Fatal(err)
		}
		again.startWorkload(t, dir, ports[1])
		if _, err := admin.CoreV1().ConfigMaps("default").Get(ctx, "workload", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
			t.Fatalf("want not found, got: %v", err)
		}
		if _, err := clientOf(t, again.management.Config).CoreV1().ConfigMaps("default").Get(ctx, "management", metav1.GetOptions{}); err != nil {
			t.Fatalf("want the other server's config map, got: %v", err)
		}
	})
}

// servers are a store, two API servers on it and the controllers of one.
type serverPair struct {
	etcd                 *apiserver.Etcd
	management, workload *apiserver.Server
	workloadControllers  *controllers.Set
	stopped              bool
}

func startWorld(t *testing.T, dir string, managementPort, workloadPort int) *serverPair {
	t.Helper()
	etcd, err := apiserver.StartEtcd(filepath.Join(dir, "etcd"))
	if err != nil {
		t.Fatal(err)
	}
	s := &serverPair{etcd: etcd}
	t.Cleanup(s.stop)
	// One prefix begins with the other's, for the removal of one must leave the other alone.
	s.management, err = apiserver.Start(t.Context(), apiserver.Options{Name: "management", Dir: filepath.Join(dir, "management"),
		Port: managementPort, Etcd: etcd, Prefix: "/clusters/a/bc"})
	if err != nil {
		t.Fatal(err)
	}
	s.startWorkload(t, dir, workloadPort)
	return s
}

func (s *serverPair) startWorkload(t *testing.T, dir string, port int) {
	t.Helper()
	var err error
	s.workload, err = apiserver.Start(t.Context(), apiserver.Options{Name: "workload", Dir: filepath.Join(dir, "workload"), Port: port,
		Etcd: s.etcd, Prefix: "/clusters/a/b"})
	if err != nil {
		t.Fatal(err)
	}
	ca := s.workload.CA
	s.workloadControllers, err = controllers.Workload(t.Context(), s.workload.Config,
		controllers.Options{CACertFile: ca.CertFile, CAKeyFile: ca.KeyFile, RootCA: ca.CertPEM})
	if err != nil {
		t.Fatal(err)
	}
}

func (s *serverPair) stop() {
	if s.stopped {
		return
	}
	s.stopped = true
	if s.workloadControllers != nil {
		s.workloadControllers.Stop()
	}
	for _, a := range []*apiserver.Server{s.workload, s.management} {
		if a != nil {
			a.Stop()
		}
	}
	s.etcd.Close()
}

func clientOf(t *testing.T, c *rest.Config) *kubernetes.Clientset {
	t.Helper()
	client, err := kubernetes.NewForConfig(c)
	if err != nil {
		t.Fatal(err)
	}
	return client
}

// eventually fails the test if what does not succeed in time; the last error describes the state found.
func eventually(ctx context.Context, t *testing.T, want string, what func(ctx context.Context) error) {
	t.Helper()
	var last error
	err := wait.PollUntilContextTimeout(ctx, 20*time.Millisecond, patience, true, func(ctx context.Context) (bool, error) {
		last = what(ctx)
		return last == nil, nil
	})
	if err != nil {
		t.Fatalf("want %s, got: %v", want, last)
	}
}

func separate(ctx context.Context, t *testing.T, s *serverPair) {
	for name, c := range map[string]*rest.Config{"management": s.management.Config, "workload": s.workload.Config} {
		client := clientOf(t, c)
		if _, err := client.CoreV1().ConfigMaps("default").Create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name}},
			metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	_, err := clientOf(t, s.management.Config).CoreV1().ConfigMaps("default").Get(ctx, "workload", metav1.GetOptions{})
	if !apierrors.IsNotFound(err) {
		t.Fatalf("the other server's object: want not found, got %v", err)
	}
}

func bootstrapToken(ctx context.Context, t *testing.T, s *apiserver.Server, admin kubernetes.Interface) {
	_, err := admin.CoreV1().Secrets("kube-system").Create(ctx, &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Name: "bootstrap-token-abcdef"}, Type: corev1.SecretTypeBootstrapToken,
		StringData: map[string]string{"token-id": "abcdef", "token-secret": "0123456789abcdef", "usage-bootstrap-authentication": "true"},
	}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	c := rest.AnonymousClientConfig(s.Config)
	c.BearerToken = "abcdef.0123456789abcdef"
	client := clientOf(t, c)
	eventually(ctx, t, "the token's user", func(ctx context.Context) error {
		r, err := client.AuthenticationV1().SelfSubjectReviews().Create(ctx, &authenticationv1.SelfSubjectReview{}, metav1.CreateOptions{})
		if err != nil {
			return err
		}
		if got, want := r.Status.UserInfo.Username, "system:bootstrap:abcdef"; got != want {
			t.Fatalf("user: want %s, got %s", want, got)
		}
		return nil
	})
}

func anonymous(ctx context.Context, t *testing.T, s *apiserver.Server) {
	_, err := clientOf(t, rest.AnonymousClientConfig(s.Config)).CoreV1().Nodes().List(ctx, metav1.ListOptions{})
	if !apierrors.IsForbidden(err) {
		t.Fatalf("want forbidden, got %v", err)
	}
}

func signing(ctx context.Context, t *testing.T, s *apiserver.Server, admin kubernetes.Interface) {
	keyPEM, err := keyutil.MakeEllipticPrivateKeyPEM()
	if err != nil {
		t.Fatal(err)
	}
	key, err := keyutil.ParsePrivateKeyPEM(keyPEM)
	if err != nil {
		t.Fatal(err)
	}
	request, err := makeRequest(key)
	if err != nil {
		t.Fatal(err)
	}
	name, uid, err := csr.RequestCertificateWithContext(ctx, admin, request, "", certificatesv1.KubeAPIServerClientSignerName, nil,
		[]certificatesv1.KeyUsage{certificatesv1.UsageClientAuth, certificatesv1.UsageDigitalSignature}, key)
	if err != nil {
		t.Fatal(err)
	}
	r, err := admin.CertificatesV1().CertificateSigningRequests().Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	r.Status.Conditions = append(r.Status.Conditions,
		certificatesv1.CertificateSigningRequestCondition{Type: certificatesv1.CertificateApproved, Status: corev1.ConditionTrue, Reason: "Test",
			Message: "by the test"})
	if _, err := admin.CertificatesV1().CertificateSigningRequests().UpdateApproval(ctx, name, r, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	signed, err := csr.WaitForCertificate(ctx, admin, name, uid)
	if err != nil {
		t.Fatal(err)
	}
	block, _ := pem.Decode(signed)
	got, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(s.CA.CertPEM)
	if _, err := got.Verify(x509.VerifyOptions{Roots: roots, KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}}); err != nil {
		t.Fatalf("want a certificate of the server's CA, got: %v", err)
	}
}

func workloads(ctx context.Context, t *testing.T, admin kubernetes.Interface) {
	if _, err := admin.CoreV1().Nodes().Create(ctx, &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n"}},
		metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	room := corev1.ResourceList{"cpu": resource.MustParse("4"), "memory": resource.MustParse("8Gi"), "pods": resource.MustParse("110")}
	// The node life cycle controller writes the new node as well.
	eventually(ctx, t, "a node that is Ready", func(ctx context.Context) error {
		node, err := admin.CoreV1().Nodes().Get(ctx, "n", metav1.GetOptions{})
		if err != nil {
			return err
		}
		node.Status = corev1.NodeStatus{Capacity: room, Allocatable: room,
			Conditions: []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue, LastHeartbeatTime: metav1.Now()}}}
		_, err = admin.CoreV1().Nodes().UpdateStatus(ctx, node, metav1.UpdateOptions{})
		return err
	})
	labels := map[string]string{"app": "web"}
	if _, err := admin.AppsV1().Deployments("default").Create(ctx,
		&appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Name: "web"}, Spec: appsv1.DeploymentSpec{
			Replicas: new(int32(2)), Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec: corev1.PodSpec{TerminationGracePeriodSeconds: new(int64(0)), Containers: []corev1.Container{{Name: "c", Image: "i"}}}}}},
		metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	one := intstr.FromInt32(1)
	if _, err := admin.PolicyV1().PodDisruptionBudgets("default").Create(ctx,
		&policyv1.PodDisruptionBudget{ObjectMeta: metav1.ObjectMeta{Name: "web"},
			Spec: policyv1.PodDisruptionBudgetSpec{MinAvailable: &one, Selector: &metav1.LabelSelector{MatchLabels: labels}}},
		metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	var pods []corev1.Pod
	eventually(ctx, t, "two pods on the node", func(ctx context.Context) error {
		list, err := admin.CoreV1().Pods("default").List(ctx, metav1.ListOptions{LabelSelector: "app=web", FieldSelector: "spec.nodeName=n"})
		if err != nil || len(list.Items) != 2 {
			return errorf("%d pods, %v", len(list.Items), err)
		}
		pods = list.Items
		return nil
	})
	for i := range pods {
		eventually(ctx, t, "a pod that is Ready", func(ctx context.Context) error {
			pod, err := admin.CoreV1().Pods("default").Get(ctx, pods[i].Name, metav1.GetOptions{})
			if err != nil {
				return err
			}
			pod.Status.Phase = corev1.PodRunning
			pod.Status.Conditions = append(pod.Status.Conditions, corev1.PodCondition{Type: corev1.PodReady, Status: corev1.ConditionTrue})
			_, err = admin.CoreV1().Pods("default").UpdateStatus(ctx, pod, metav1.UpdateOptions{})
			return err
		})
	}
	evict := func(p corev1.Pod) error {
		return admin.PolicyV1().Evictions("default").Evict(ctx,
			&policyv1.Eviction{ObjectMeta: metav1.ObjectMeta{Name: p.Name, Namespace: p.Namespace}})
	}
	eventually(ctx, t, "the first eviction to be allowed", func(context.Context) error { return evict(pods[0]) })
	if err := evict(pods[1]); !apierrors.IsTooManyRequests(err) {
		t.Fatalf("second eviction: want it refused by the budget, got %v", err)
	}
	if err := admin.AppsV1().Deployments("default").Delete(ctx, "web",
		metav1.DeleteOptions{PropagationPolicy: new(metav1.DeletePropagationBackground)}); err != nil {
		t.Fatal(err)
	}
	eventually(ctx, t, "the pods to be collected with their deployment", func(ctx context.Context) error {
		list, err := admin.CoreV1().Pods("default").List(ctx, metav1.ListOptions{LabelSelector: "app=web"})
		if err != nil || len(list.Items) != 0 {
			return errorf("%d pods, %v", len(list.Items), err)
		}
		return nil
	})
}

func namespaceEnds(ctx context.Context, t *testing.T, admin kubernetes.Interface) {
	if _, err := admin.CoreV1().Namespaces().Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "short"}},
		metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	eventually(ctx, t, "its default service account", func(ctx context.Context) error {
		_, err := admin.CoreV1().ServiceAccounts("short").Get(ctx, "default", metav1.GetOptions{})
		return err
	})
	if err := admin.CoreV1().Namespaces().Delete(ctx, "short", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	eventually(ctx, t, "the namespace to be gone", func(ctx context.Context) error {
		_, err := admin.CoreV1().Namespaces().Get(ctx, "short", metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			return nil
		}
		return errorf("still there, %v", err)
	})
}

// TestEtcdFallsBackToLoopback: a path that is too long for a socket must not keep a world from starting.
func TestEtcdFallsBackToLoopback(t *testing.T) {
	dir := filepath.Join(t.TempDir(), strings.Repeat("long/", 30))
	etcd, err := apiserver.StartEtcd(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer etcd.Close()
	host, ok := strings.CutPrefix(etcd.URL, "http://")
	if !ok {
		t.Fatalf("URL: want a loopback port, got %s", etcd.URL)
	}
	c, err := net.Dial("tcp", host)
	if err != nil {
		t.Fatal(err)
	}
	_ = c.Close()
}
