package world

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"syscall"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/util/conditions"
	"sigs.k8s.io/controller-runtime/pkg/client"

	localv1 "github.com/muster-project/muster/api/local/v1beta1"
	"github.com/muster-project/muster/local/clouds/aws/standin"
	"github.com/muster-project/muster/test/binary"
	"github.com/muster-project/muster/test/testrun"
)

const (
	doomedChild  = "doomed"
	patientChild = "patient"
	// stubbornChild does not end with its standard input.
	stubbornChild = "stubborn"
	// patience bounds every wait; an idle machine needs some ten seconds for the longest.
	patience = 4 * time.Minute
)

// TestMain is also the binary of children that have one trait each.
func TestMain(m *testing.M) {
	children := map[string]func(ctx context.Context, args []string) error{
		doomedChild:   func(context.Context, []string) error { return errors.New("nothing works today") },
		stubbornChild: func(context.Context, []string) error { time.Sleep(time.Hour); return nil },
		patientChild: func(ctx context.Context, args []string) error {
			return RunChild(ctx, patientChild, Dir(args[0]), func(ctx context.Context) error {
				<-ctx.Done()
				return nil
			})
		},
	}
	if len(os.Args) > 1 {
		if run, ok := children[os.Args[1]]; ok {
			if err := run(context.Background(), os.Args[2:]); err != nil {
				_, _ = fmt.Fprintln(os.Stderr, errorPrefix+err.Error())
				os.Exit(1)
			}
			os.Exit(0)
		}
	}
	// A world's children would spend a third of their processor time on collecting garbage otherwise.
	if err := errors.Join(os.Setenv("GOGC", "400"), os.Setenv("GOMEMLIMIT", "1GiB")); err != nil {
		_, _ = fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// TestLongWorld walks a world through its life: it comes up, gets a cluster, survives the violent death of each child, keeps a second world
// out, ends clean, and is found again. That it is found again where its supervisor was killed is held by
// test/e2e.TestLongKilledWorldIsFoundAgain.
func TestLongWorld(t *testing.T) {
	testrun.LongOnly(t)
	muster, remove, err := binary.Build("cmd/muster")
	if err != nil {
		t.Fatal(err)
	}
	defer remove()
	dir := t.TempDir()
	w := start(t, dir, muster)
	c := clientOf(t, w)
	create(t, c)
	available(t, c)
	nodesListed(t, w)

	if _, err := Start(t.Context(), Options{Dir: dir}); !errors.Is(err, ErrInUse) {
		t.Fatalf("a second world in one directory: want %v, got %v", ErrInUse, err)
	}
	for _, child := range w.Children() {
		t.Run("Kill"+child.Name, func(t *testing.T) {
			if err := syscall.Kill(child.PID, syscall.SIGKILL); err != nil {
				t.Fatal(err)
			}
			eventually(t, "another process", func(context.Context) error {
				for _, now := range w.Children() {
					if now.Name == child.Name && now.PID != 0 && now.PID != child.PID {
						return nil
					}
				}
				return fmt.Errorf("%+v", w.Children())
			})
			touch(t, c)
			available(t, c)
			nodesListed(t, w)
		})
	}
	children := w.Children()
	if err := w.Stop(); err != nil {
		t.Fatal(err)
	}
	for _, child := range children {
		if err := syscall.Kill(child.PID, 0); !errors.Is(err, syscall.ESRCH) {
			t.Errorf("%s: want its process gone, got %v", child.Name, err)
		}
	}
	again := start(t, dir, muster)
	if again.Config().Host != w.Config().Host {
		t.Fatalf("want the API server found again at %s, got it at %s", w.Config().Host, again.Config().Host)
	}
	c = clientOf(t, again)
	touch(t, c)
	available(t, c)
	nodesListed(t, again)
	t.Run("DeletedClusterLeavesNothing", func(t *testing.T) { deleted(t, again, c) })
}

// start starts the world of a directory with children of a built muster.
func start(t *testing.T, dir, muster string) *World {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	began := time.Now()
	w, err := Start(ctx, Options{Dir: dir, Command: []string{muster}})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("up after %v: %+v", time.Since(began), w.Children())
	t.Cleanup(func() {
		if t.Failed() {
			for _, c := range w.Children() {
				b, _ := os.ReadFile(c.Log)
				t.Logf("%s: %s", c.Name, b[max(0, len(b)-8000):])
			}
		}
		if err := w.Stop(); err != nil {
			t.Error(err)
		}
	})
	return w
}

// eventually returns when what holds, and fails the test after patience.
func eventually(t *testing.T, what string, holds func(ctx context.Context) error) {
	t.Helper()
	var last error
	err := wait.PollUntilContextTimeout(t.Context(), 20*time.Millisecond, patience, true, func(ctx context.Context) (bool, error) {
		last = holds(ctx)
		return last == nil, nil
	})
	if err != nil {
		t.Fatalf("want %s: %v; last: %v", what, err, last)
	}
}

func clientOf(t *testing.T, w *World) client.Client {
	t.Helper()
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clusterv1.AddToScheme, localv1.AddToScheme} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	c, err := client.New(w.Config(), client.Options{Scheme: scheme})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// create makes a cluster as a person would.
func create(t *testing.T, c client.Client) {
	t.Helper()
	infrastructure := &unstructured.Unstructured{}
	infrastructure.SetGroupVersionKind(standin.AWSCluster)
	infrastructure.SetNamespace("default")
	infrastructure.SetName("c")
	infrastructure.SetAnnotations(map[string]string{clusterv1.ManagedByAnnotation: "another-tool"})
	meta := metav1.ObjectMeta{Namespace: "default", Name: "c"}
	for _, o := range []client.Object{
		infrastructure,
		&localv1.LocalControlPlane{ObjectMeta: meta, Spec: localv1.LocalControlPlaneSpec{Version: "v1.33.1"}},
		&clusterv1.Cluster{ObjectMeta: meta, Spec: clusterv1.ClusterSpec{
			ControlPlaneRef:   reference(localv1.GroupVersion.WithKind("LocalControlPlane")),
			InfrastructureRef: reference(standin.AWSCluster),
		}},
	} {
		if err := c.Create(t.Context(), o); err != nil {
			t.Fatal(err)
		}
	}
}

func reference(k schema.GroupVersionKind) clusterv1.ContractVersionedObjectReference {
	return clusterv1.ContractVersionedObjectReference{APIGroup: k.Group, Kind: k.Kind, Name: "c"}
}

// touch changes the cluster, which goes through the webhooks.
func touch(t *testing.T, c client.Client) {
	t.Helper()
	eventually(t, "a change of the cluster taken", func(ctx context.Context) error {
		cluster := &clusterv1.Cluster{}
		if err := c.Get(ctx, client.ObjectKey{Namespace: "default", Name: "c"}, cluster); err != nil {
			return err
		}
		changed := cluster.DeepCopy()
		changed.Labels = map[string]string{"touched": fmt.Sprint(time.Now().UnixNano())}
		return c.Patch(ctx, changed, client.MergeFrom(cluster))
	})
}

func available(t *testing.T, c client.Client) {
	t.Helper()
	eventually(t, "an available cluster", func(ctx context.Context) error {
		cluster := &clusterv1.Cluster{}
		if err := c.Get(ctx, client.ObjectKey{Namespace: "default", Name: "c"}, cluster); err != nil {
			return err
		}
		if !conditions.IsTrue(cluster, clusterv1.ClusterAvailableCondition) {
			return fmt.Errorf("%+v", conditions.Get(cluster, clusterv1.ClusterAvailableCondition))
		}
		return nil
	})
}

// nodesListed asks the workload cluster's own API server.
func nodesListed(t *testing.T, w *World) {
	t.Helper()
	eventually(t, "an answer from the workload cluster", func(ctx context.Context) error {
		config, err := clientcmd.BuildConfigFromFlags("", w.ClusterKubeconfig("default", "c"))
		if err != nil {
			return err
		}
		_, err = kubernetes.NewForConfigOrDie(config).CoreV1().Nodes().List(ctx, metav1.ListOptions{})
		return err
	})
}

func deleted(t *testing.T, w *World, c client.Client) {
	cluster := &clusterv1.Cluster{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "c"}}
	if err := c.Delete(t.Context(), cluster); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the cluster gone", func(ctx context.Context) error {
		if err := c.Get(ctx, client.ObjectKeyFromObject(cluster), cluster); client.IgnoreNotFound(err) != nil || err == nil {
			return fmt.Errorf("still there, %w, %+v", err, cluster.Status.Conditions)
		}
		return nil
	})
	if _, err := os.Stat(w.ClusterKubeconfig("default", "c")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("its kubeconfig: want it gone, got %v", err)
	}
}

// hold listens on a port until the test ends.
func hold(t *testing.T, port int) {
	t.Helper()
	l, err := net.Listen("tcp", Loopback(port))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
}
