package drain

import (
	"context"
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/pool"
)

// counted counts the lists of pods.
type counted struct {
	client.Client
	lists *int
}

func (c counted) List(ctx context.Context, list client.ObjectList, opts ...client.ListOption) error {
	if _, ok := list.(*corev1.PodList); ok {
		*c.lists++
	}
	return c.Client.List(ctx, list, opts...)
}

// crowd is a workload cluster of many nodes with a pod each, of which the first few are drained by a number of passes.
type crowd struct {
	*world
	keys    []string
	targets []pool.InstanceRef
	lists   int
}

func newCrowd(t testing.TB, nodes, drained int) *crowd {
	c := &crowd{}
	objects := []client.Object{&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "default"}}}
	for k := range nodes {
		name := fmt.Sprintf("n%d", k)
		id := "aws:///zone-a/i-" + name
		objects = append(objects, node(func(n *corev1.Node) { n.Name, n.UID, n.Spec.ProviderID = name, types.UID(name), id }),
			podOn("pod-"+name, func(p *corev1.Pod) { p.Spec.NodeName = name }))
		if k < drained {
			c.keys = append(c.keys, cloud.ProviderKey(id))
			c.targets = append(c.targets, pool.InstanceRef{Node: name, ProviderID: id})
		}
	}
	c.world = newWorld(t, objects, nil)
	c.Remote = counted{Client: c.Remote, lists: &c.lists}
	c.Live = c.Remote
	c.Memory = NewMemory()
	return c
}

// next begins another pass at a later time.
func (c *crowd) next(later time.Duration) {
	now := c.Now.Add(later)
	c.Workload = &Workload{Remote: c.Remote, Live: c.Live, Management: c.Management, Cluster: c.Cluster, Machine: c.Machine, Now: now,
		Memory: c.Memory}
}

// find returns how many of the nodes are drained.
func (c *crowd) find(t testing.TB) (drained int) {
	t.Helper()
	found, err := c.Find(t.Context(), c.keys)
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range found {
		if n.Drained() {
			drained++
		}
	}
	return drained
}

// TestPodsAreListedRarely holds that the pods of a draining node are not listed in each pass, and those of a drained node not again: a
// large scale-in has a pass for every few machines.
func TestPodsAreListedRarely(t *testing.T) {
	for _, row := range []struct {
		nodes, drained, want int
		why                  string
	}{
		{5, 5, 15, "each is listed when its drain begins, while its pods end, and once more when they have"},
		{50, 5, 15, "as many as drain, whatever the size of the cluster"},
		{25, 25, 3, "where many drain all pods are listed at once"},
		{50, 50, 3, "whatever their number"},
		{170, 21, 63, "unless most of the cluster's pods are elsewhere"},
	} {
		if testing.Short() && row.nodes >= 50 {
			continue
		}
		t.Run(fmt.Sprintf("%d of %d", row.drained, row.nodes), func(t *testing.T) {
			c := newCrowd(t, row.nodes, row.drained)
			if err := c.Start(t.Context(), pool.Step{Kind: pool.Drain, Targets: c.targets}); err != nil {
				t.Fatal(err)
			}
			for range 3 {
				c.next(100 * time.Millisecond)
				c.find(t)
			}
			c.next(time.Minute)
			for range 5 {
				c.next(100 * time.Millisecond)
				if got := c.find(t); got != row.drained {
					t.Fatalf("want %d nodes drained, got %d", row.drained, got)
				}
			}
			if c.lists > row.want {
				t.Errorf("%s: want at most %d lists of pods in 9 passes, got %d", row.why, row.want, c.lists)
			}
		})
	}
}

// TestWhatInvalidatesMemory holds that the progress of a drain is read again if the conditions under which it was read have changed.
func TestWhatInvalidatesMemory(t *testing.T) {
	for _, row := range []struct {
		name, why string
		change    func(c *crowd)
		again     bool
	}{
		{"nothing", "a drained node stays cordoned", func(*crowd) {}, false},
		{"time", "a pod may have been put there by name", func(c *crowd) { c.next(drainedFor) }, true},
		{"an end and another drain", "pods may have come in between", func(c *crowd) {
			for _, kind := range []pool.StepKind{pool.Undrain, pool.Drain} {
				c.next(time.Second)
				if err := c.Start(t.Context(), pool.Step{Kind: kind, Targets: c.targets}); err != nil {
					t.Fatal(err)
				}
			}
			c.next(0)
		}, true},
		{"opened and closed by a user", "pods may have come while it was open", func(c *crowd) {
			for _, closed := range []bool{false, true} {
				n := &corev1.Node{}
				if err := c.Remote.Get(t.Context(), client.ObjectKey{Name: c.targets[0].Node}, n); err != nil {
					t.Fatal(err)
				}
				n.Spec.Unschedulable = closed
				if err := c.Remote.Update(t.Context(), n); err != nil {
					t.Fatal(err)
				}
				if !closed {
					c.find(t)
				}
				c.next(time.Second)
			}
		}, true},
		{"the drain's time", "volumes are waited for from then on", func(c *crowd) {
			c.Machine.Spec.Deletion.NodeDrainTimeoutSeconds = new(int32(1))
		}, true},
	} {
		t.Run(row.name, func(t *testing.T) {
			c := newCrowd(t, 1, 1)
			if err := c.Start(t.Context(), pool.Step{Kind: pool.Drain, Targets: c.targets}); err != nil {
				t.Fatal(err)
			}
			c.next(3 * time.Second)
			if c.find(t) != 1 {
				t.Fatal("want the node drained")
			}
			c.next(0)
			row.change(c)
			before := c.lists
			c.find(t)
			if again := c.lists > before; again != row.again {
				t.Errorf("%s: want the pods listed again %t, got %t", row.why, row.again, again)
			}
		})
	}
}
