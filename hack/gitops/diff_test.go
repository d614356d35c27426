// Package gitops compares the published manifests with the objects of a running world as Argo CD does, with Argo CD's own engine.
package gitops

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/argoproj/argo-cd/gitops-engine/pkg/diff"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/restmapper"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/yaml"

	awsstandin "github.com/muster-project/muster/local/clouds/aws/standin"
	"github.com/muster-project/muster/local/seed"
)

const (
	published = "../../test/compat/testdata/seed-000.yaml"
	namespace = "default"
	// readyTimeout bounds the start of the world, and each change of its pool.
	readyTimeout = 5 * time.Minute
)

// world is a "muster up" with the published manifests, and clients of its management cluster.
type world struct {
	t          *testing.T
	binary     string
	kubeconfig string
	objects    dynamic.Interface
	kinds      meta.RESTMapper
}

// start runs the binary that MUSTER names until the test ends.
func start(t *testing.T) *world {
	t.Helper()
	binary := os.Getenv("MUSTER")
	if binary == "" {
		t.Fatal("set MUSTER to the path of a built muster: make gitops-test does")
	}
	dir := t.TempDir()
	var output bytes.Buffer
	command := exec.Command(binary, "up", "--dir", dir, "-f", published)
	command.Stdout, command.Stderr = &output, &output
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = command.Process.Signal(os.Interrupt)
		_ = command.Wait()
		if t.Failed() {
			t.Log(output.String())
		}
	})
	w := &world{t: t, binary: binary, kubeconfig: filepath.Join(dir, "kubeconfig")}
	w.eventually("the pool to have two Ready machines", func() error { return w.ready(2) })
	config, err := clientcmd.BuildConfigFromFlags("", w.kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	if w.objects, err = dynamic.NewForConfig(config); err != nil {
		t.Fatal(err)
	}
	clients, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	groups, err := restmapper.GetAPIGroupResources(clients.Discovery())
	if err != nil {
		t.Fatal(err)
	}
	w.kinds = restmapper.NewDiscoveryRESTMapper(groups)
	return w
}

// eventually tries until there is no error.
func (w *world) eventually(what string, try func() error) {
	w.t.Helper()
	var last error
	err := wait.PollUntilContextTimeout(w.t.Context(), time.Second, readyTimeout, true, func(context.Context) (bool, error) {
		last = try()
		return last == nil, nil
	})
	if err != nil {
		w.t.Fatalf("want %s: %v", what, errors.Join(err, last))
	}
}

// kubectl runs "muster kubectl" against the management cluster.
func (w *world) kubectl(args ...string) (string, error) {
	command := exec.CommandContext(w.t.Context(), w.binary, append([]string{"kubectl", "--kubeconfig", w.kubeconfig}, args...)...)
	out, err := command.CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("kubectl %v: %w\n%s", args, err, out)
	}
	return string(out), nil
}

// ready returns an error unless the pool has that many machines, all Ready and up to date.
func (w *world) ready(replicas int) error {
	const path = `jsonpath={.status.replicas} {.status.readyReplicas} {.status.upToDateReplicas} {.status.conditions[?(@.type=="Ready")].status}`
	got, err := w.kubectl("get", "awsmachinepool/capa-mp-0", "-o", path)
	if want := fmt.Sprintf("%[1]d %[1]d %[1]d True", replicas); err == nil && got != want {
		err = fmt.Errorf("want %s, got %s", want, got)
	}
	return err
}

// manifests are the published objects with the variables of the simulated account, in the namespace of the destination.
func manifests(t *testing.T) []*unstructured.Unstructured {
	t.Helper()
	sources, err := seed.Read([]string{published}, nil)
	if err != nil {
		t.Fatal(err)
	}
	account := seed.Accounts{Known: []seed.Cloud{awsstandin.Seed()}, Simulated: []string{"aws"}}.Variables()
	parsed, err := seed.Parse(sources, seed.FromMap(account))
	if err != nil {
		t.Fatal(err)
	}
	var all []*unstructured.Unstructured
	for _, o := range parsed {
		object := o.DeepCopy()
		object.SetNamespace(namespace)
		all = append(all, object)
	}
	return all
}

// apply applies objects as a client-side sync does.
func (w *world) apply(objects []*unstructured.Unstructured) {
	w.t.Helper()
	for _, o := range objects {
		text, err := yaml.Marshal(o)
		if err != nil {
			w.t.Fatal(err)
		}
		file := filepath.Join(w.t.TempDir(), o.GetKind()+".yaml")
		if err := os.WriteFile(file, text, 0o600); err != nil {
			w.t.Fatal(err)
		}
		if _, err := w.kubectl("apply", "-f", file); err != nil {
			w.t.Fatal(err)
		}
	}
}

// live reads an object in the version of its manifest.
func (w *world) live(of *unstructured.Unstructured) *unstructured.Unstructured {
	w.t.Helper()
	kind := of.GroupVersionKind()
	mapping, err := w.kinds.RESTMapping(kind.GroupKind(), kind.Version)
	if err != nil {
		w.t.Fatal(err)
	}
	found, err := w.objects.Resource(mapping.Resource).Namespace(namespace).Get(w.t.Context(), of.GetName(), metav1.GetOptions{})
	if err != nil {
		w.t.Fatal(err)
	}
	return found
}

// ignoring removes the fields of the seeds' own ignoreDifferences, as Argo CD does on both sides before it compares.
type ignoring struct{}

func (ignoring) Normalize(o *unstructured.Unstructured) error {
	if o.GetKind() == "MachinePool" {
		unstructured.RemoveNestedField(o.Object, "spec", "replicas")
	}
	return nil
}

// differences returns the specifications, as they are and as a sync would make them, of the objects that the engine calls out of sync.
func (w *world) differences(objects []*unstructured.Unstructured, options ...diff.Option) map[string]string {
	w.t.Helper()
	kinds := map[string]string{}
	for _, o := range objects {
		found := w.live(o)
		result, err := diff.Diff(o.DeepCopy(), found, options...)
		if err != nil {
			w.t.Fatal(err)
		}
		if result.Modified {
			kinds[o.GetKind()] = fmt.Sprintf("%s, a sync makes it %s", specification(w.t, result.NormalizedLive),
				specification(w.t, result.PredictedLive))
		}
	}
	return kinds
}

func specification(t *testing.T, object []byte) string {
	t.Helper()
	var o struct{ Spec json.RawMessage }
	if err := json.Unmarshal(object, &o); err != nil {
		t.Fatal(err)
	}
	return string(o.Spec)
}

// TestInSync follows the seed's advice for GitOps: with its ignoreDifferences nothing is out of sync, before the first client-side apply,
// after it, and after the size was changed by another. Without them the changed size is seen, and nothing else.
func TestInSync(t *testing.T) {
	w := start(t)
	objects := manifests(t)
	if len(objects) != 3 {
		t.Fatalf("want the three published objects, got %d", len(objects))
	}
	inSync := func(when string) {
		t.Helper()
		if kinds := w.differences(objects, diff.WithNormalizer(ignoring{})); len(kinds) > 0 {
			t.Errorf("%s: want nothing out of sync, got %v", when, kinds)
		}
	}
	inSync("objects that a server-side apply made")
	w.apply(objects)
	inSync("after a client-side apply")
	if _, err := w.kubectl("scale", "machinepool/capa-mp-0", "--replicas=3"); err != nil {
		t.Fatal(err)
	}
	w.eventually("three Ready machines", func() error { return w.ready(3) })
	inSync("after another client changed the size")
	if kinds := w.differences(objects); len(kinds) != 1 || kinds["MachinePool"] == "" {
		t.Errorf("without ignoreDifferences: want the changed size of the MachinePool out of sync and nothing else, got %v", kinds)
	}
}
