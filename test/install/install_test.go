// Package install runs the commands of docs/install.md unchanged, each way of installing against a separate API server, and starts the
// installed manager with the arguments and the environment of its Deployment and the permissions of its service account. Helm's command
// needs a built helm: make helm-test.
package install

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"

	"github.com/muster-project/muster/test/alone"
	"github.com/muster-project/muster/test/binary"
	"github.com/muster-project/muster/test/testrun"
	"github.com/muster-project/muster/view/doctor"
)

const (
	page = "docs/install.md"
	// namespace is where the page installs Muster.
	namespace = "muster-system"
)

// The commands of the page's blocks, and one of its text.
const (
	applyDefault   = "kubectl apply -k config/default"
	initClusterctl = "clusterctl init --infrastructure muster"
	installHelm    = "helm install muster charts/muster --namespace muster-system --create-namespace"
	removeDefault  = "kubectl delete -k config/default"
)

// webhookService matches how a webhook or a conversion refers to the webhooks' service.
var webhookService = regexp.MustCompile(`service:\n +name: muster-webhook-service\n`)

var (
	// scratch is a folder for everything that outlives one test, muster the path of the binary whose kubectl runs the page's commands.
	scratch, muster string
	// manager builds the manager and returns its path; removeManager removes it.
	manager = sync.OnceValues(func() (path string, err error) {
		path, removeManager, err = binary.Build("cmd/manager")
		return path, err
	})
	removeManager func()
)

func TestMain(m *testing.M) {
	code, err := run(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

func run(m *testing.M) (code int, err error) {
	if err := os.Chdir("../.."); err != nil { // the page's commands are for the root of the repository
		return 0, err
	}
	if scratch, err = os.MkdirTemp("", "muster-install-"); err != nil {
		return 0, err
	}
	defer func() { _ = os.RemoveAll(scratch) }()
	if flag.Parse(); !testrun.LongRequested() && os.Getenv(helmVariable) == "" {
		return m.Run(), nil
	}
	path, remove, err := binary.Build("cmd/muster")
	if err != nil {
		return 0, err
	}
	defer remove()
	muster = path
	code = m.Run()
	if removeManager != nil {
		removeManager()
	}
	return code, nil
}

// cluster is a management cluster: an API server without nodes.
type cluster struct {
	*alone.Server
	clients *kubernetes.Clientset
}

// newCluster starts an API server for one test.
func newCluster(t *testing.T) *cluster {
	t.Helper()
	s, err := alone.StartServer("install", t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Stop(); err != nil {
			t.Error(err)
		}
	})
	c := &cluster{Server: s}
	if c.clients, err = kubernetes.NewForConfig(s.Config); err != nil {
		t.Fatal(err)
	}
	return c
}

// kubectl runs a command of kubectl and returns what it prints.
func (c *cluster) kubectl(t *testing.T, command string) string {
	t.Helper()
	return kubectl(t, command, "--kubeconfig="+c.File, "--cache-dir="+filepath.Join(filepath.Dir(c.File), "cache"))
}

// kubectl runs a command of kubectl with further arguments, and returns what it prints.
func kubectl(t *testing.T, command string, more ...string) string {
	t.Helper()
	var out, errors bytes.Buffer
	run := exec.CommandContext(t.Context(), muster, append(strings.Fields(command), more...)...)
	run.Stdout, run.Stderr = &out, &errors
	if err := run.Run(); err != nil {
		t.Fatalf("%s: %v\n%s", command, err, errors.String())
	}
	return out.String()
}

// build returns the manifests of a folder, as kubectl applies them.
func build(t *testing.T, folder string) string {
	t.Helper()
	return kubectl(t, "kubectl kustomize "+folder)
}

// clusterAPI returns the files of the definitions that Cluster API's core manager and kubeadm bootstrap provider bring.
func clusterAPI(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob("api/crd/*cluster.x-k8s.io_*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	files = slices.DeleteFunc(files, func(file string) bool {
		name := filepath.Base(file)
		return !strings.HasPrefix(name, "cluster.") && !strings.HasPrefix(name, "bootstrap.cluster.x-k8s.io_kubeadm")
	})
	if len(files) == 0 {
		t.Fatal("found no definition of Cluster API in api/crd")
	}
	return files
}

// createClusterAPI installs what clusterAPI returns.
func (c *cluster) createClusterAPI(t *testing.T) {
	t.Helper()
	c.kubectl(t, "kubectl create -f "+strings.Join(clusterAPI(t), " -f "))
}

// wantObjects fails the test unless every object of the folder exists.
func (c *cluster) wantObjects(t *testing.T, folder string) {
	t.Helper()
	built := strings.Count("\n"+build(t, folder), "\nkind: ")
	// kubectl ends with an error when one is missing.
	if found := strings.Fields(c.kubectl(t, "kubectl get -o name -k "+folder)); len(found) != built || len(found) < 20 {
		t.Errorf("want the %d objects of %s, found %v", built, folder, found)
	}
}

// callers counts the objects of a folder that call the webhooks' service: configurations of admission, and definitions that are converted.
func callers(t *testing.T, folder string) int {
	t.Helper()
	objects := build(t, folder)
	return strings.Count(objects, "WebhookConfiguration\n") + strings.Count(objects, "strategy: Webhook\n")
}

// wantTrust fails the test unless the manager has written the authority of its certificate into each webhook and conversion of the objects.
func (c *cluster) wantTrust(t *testing.T, folder string) {
	t.Helper()
	objects := c.kubectl(t, "kubectl get -o yaml -k "+folder)
	webhooks, trusted := len(webhookService.FindAllString(objects, -1)), strings.Count(objects, " caBundle: ")
	if webhooks == 0 || webhooks != trusted {
		t.Errorf("want a caBundle in each of the %d references to the webhooks' service, found %d", webhooks, trusted)
	}
}

// readEveryKind lists the objects of every kind that a definition brings. A kind that is read for the first time by the deletion of its
// definition is not ready yet. The API server retries at once, meets its own write of that failure as a conflict, and comes back to the
// definition at its next resync only, up to five minutes later.
func (c *cluster) readEveryKind(t *testing.T) {
	t.Helper()
	var kinds []string
	for _, definition := range strings.Fields(c.kubectl(t, "kubectl get -o name customresourcedefinitions")) {
		_, kind, _ := strings.Cut(definition, "/")
		kinds = append(kinds, kind)
	}
	c.kubectl(t, "kubectl get --all-namespaces "+strings.Join(kinds, ","))
}

// endNamespace removes the namespace once it is deleted, in the place of Kubernetes' namespace controller, for which kubectl waits.
func (c *cluster) endNamespace(ctx context.Context) {
	_ = wait.PollUntilContextCancel(ctx, 100*time.Millisecond, true, func(ctx context.Context) (bool, error) {
		found, err := c.clients.CoreV1().Namespaces().Get(ctx, namespace, metav1.GetOptions{})
		if err != nil || found.DeletionTimestamp == nil {
			return false, nil // asked again until the test ends
		}
		found.Spec.Finalizers = nil
		_, err = c.clients.CoreV1().Namespaces().Finalize(ctx, found, metav1.UpdateOptions{})
		return err == nil, nil
	})
}

// TestCommands fails for a command of the page that the tests do not know.
func TestCommands(t *testing.T) {
	content, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	for line := range strings.Lines(string(content)) {
		command, indented := strings.CutPrefix(strings.TrimRight(line, "\n"), "    ")
		if word, _, _ := strings.Cut(command, " "); indented && slices.Contains([]string{"kubectl", "clusterctl", "helm"}, word) {
			found = append(found, command)
		}
	}
	if want := []string{applyDefault, initClusterctl, installHelm}; !slices.Equal(found, want) {
		t.Errorf("the tests run the commands %q, %s has %q: run those", want, page, found)
	}
	if !strings.Contains(string(content), "`"+removeDefault+"`") {
		t.Errorf("want %q in the text of %s, which a test runs", removeDefault, page)
	}
}

// TestLongKubectl follows the page from its beginning to the removal, by way of a cluster that lacks Cluster API.
func TestLongKubectl(t *testing.T) {
	testrun.LongOnly(t)
	c := newCluster(t)
	c.kubectl(t, applyDefault)
	c.wantObjects(t, "config/default")
	if log, err := c.startManager(t, false); err == nil || !strings.Contains(log, "kind Cluster of cluster.x-k8s.io is not served") {
		t.Errorf("want the manager to end and to name the missing kind, got %v\n%s", err, log)
	}
	c.wantDoctor(t, map[string]int{doctor.CheckCore: 3, doctor.CheckDefinitions: 0, doctor.CheckManager: 2})
	c.createClusterAPI(t)
	c.wantManager(t)
	c.wantTrust(t, "config/default")
	c.wantDoctor(t, map[string]int{doctor.CheckCore: 0, doctor.CheckRights: 0, doctor.CheckWebhooks: callers(t, "config/default")})
	c.serveWebhooks(t)
	c.wantDoctor(t, map[string]int{doctor.CheckWebhooks: 0, doctor.CheckDefinitions: 0})
	c.withdraw(t)
	c.wantDoctor(t, map[string]int{doctor.CheckRights: 1})
	if out := c.kubectl(t, applyDefault); strings.Contains(out, "created") {
		t.Errorf("want nothing created when the same is applied again, got\n%s", out)
	}
	c.readEveryKind(t)
	go c.endNamespace(t.Context())
	c.kubectl(t, removeDefault)
	if left := c.kubectl(t, "kubectl get -o name --ignore-not-found -k config/default"); left != "" {
		t.Errorf("want nothing left, found %s", left)
	}
}

// TestLongFolders installs the other folders that the page's table names.
func TestLongFolders(t *testing.T) {
	testrun.LongOnly(t)
	for _, folder := range []string{"config/full", "config/namespaced"} {
		t.Run(filepath.Base(folder), func(t *testing.T) {
			c := newCluster(t)
			c.createClusterAPI(t)
			c.kubectl(t, "kubectl apply -k "+folder)
			c.wantObjects(t, folder)
			c.wantManager(t)
			c.wantTrust(t, folder)
		})
	}
}
