package infrapool_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	awsv1 "github.com/muster-project/muster/api/aws/v1beta2"
	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/kube/infrapool"
	"github.com/muster-project/muster/kube/infrapool/preview"
	"github.com/muster-project/muster/kube/infrapool/stored"
	awspool "github.com/muster-project/muster/providers/aws/awsmachinepool"
)

// planner looks at the world's pool.
func (w *world) planner(connect preview.Connect) preview.Planner {
	if connect == nil {
		connect = func(context.Context, client.ObjectKey) (client.Client, error) { return w.workload, nil }
	}
	return infrapool.NewPlanner(awspool.Adapter{}, w.account, infrapool.Options{
		Client: preview.ReadOnce(w.management), ClusterCache: preview.NewClusters(connect), Now: func() time.Time { return w.now },
	})
}

// A look sees what a pass would see, and leaves everything as it is.
func TestLook(t *testing.T) {
	t.Parallel()
	broken := func(context.Context, client.ObjectKey) (client.Client, error) {
		return nil, errors.New("no route to host")
	}
	for _, c := range []struct {
		why     string
		world   func(*world)
		edited  []client.Object
		connect preview.Connect
		want    func(preview.Look) bool
	}{
		{why: "a pool as it is: its machines with their nodes", want: func(l preview.Look) bool {
			return l.Seen && l.NotObserved == nil && l.Desired.Replicas == 2 && len(l.Observed.Instances) == 2 &&
				l.Observed.Instances[0].Node.Ready &&
				l.Observed.Instances[0].Template.Same(l.Observed.Wanted)
		}},
		{why: "edited objects stand in the place of the stored ones, both at once", edited: []client.Object{
			machinePool(func(mp *clusterv1.MachinePool) { mp.Spec.Replicas = new(int32(5)) }),
			awsMachinePool(func(o *awsv1.AWSMachinePool) { o.Spec.AWSLaunchTemplate.InstanceType = "m5.xlarge" }),
		}, want: func(l preview.Look) bool {
			return l.Seen && l.Desired.Replicas == 5 && strings.Contains(l.Observed.Wanted.Content, "m5.xlarge") &&
				!l.Observed.Instances[0].Template.Same(l.Observed.Wanted)
		}},
		{why: "an edited secret is what machines would boot with", edited: []client.Object{
			&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "data"},
				Data: map[string][]byte{"value": []byte("#cloud-config\ntoken: other")}},
		}, want: func(l preview.Look) bool {
			return l.Observed.Wanted.Data != l.Observed.Instances[0].Template.Data && l.Observed.Wanted.Same(l.Observed.Instances[0].Template)
		}},
		{why: "the place is edited too, untyped as it is", edited: []client.Object{inRegion("us-east-1")}, want: func(l preview.Look) bool {
			return l.Seen && l.Observed.Group == nil
		}},
		{why: "a pause is told, and what would be done without it is seen", world: func(w *world) {
			change(w, &clusterv1.Cluster{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "c"}},
				func(c *clusterv1.Cluster) { c.Spec.Paused = new(true) })
		}, want: func(l preview.Look) bool { return strings.Contains(l.Paused, "spec.paused") && l.Seen }},
		{why: "who can't be asked for nodes is told, and no node is known", connect: broken, want: func(l preview.Look) bool {
			return l.Seen && l.Observed.NodesUnknown && strings.Contains(l.Unreachable.Error(), "no route to host")
		}},
		{why: "without its cluster nothing says where to ask", world: func(w *world) {
			w.remove(&clusterv1.Cluster{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "c"}})
		}, want: func(l preview.Look) bool { return !l.Seen && l.NotObserved.Reason == "ClusterDoesNotExist" }},
		{why: "a cloud that refuses is quoted", world: func(w *world) {
			w.account.observe = &cloud.Error{Kind: cloud.Denied, Code: "AccessDenied", Message: "you shall not look"}
		}, want: func(l preview.Look) bool {
			return !l.Seen && l.NotObserved.Reason == string(cloud.Denied) && strings.Contains(l.NotObserved.Message, "you shall not look")
		}},
		{why: "what the cloud would be asked for in vain is not asked", edited: []client.Object{
			awsMachinePool(func(o *awsv1.AWSMachinePool) { o.Annotations = map[string]string{stored.Annotation: "{"} }),
		}, want: func(l preview.Look) bool { return !l.Seen && l.NotObserved.Reason == "InvalidConfiguration" }},
	} {
		t.Run(c.why, func(t *testing.T) {
			t.Parallel()
			w := running(t, everything()...)
			// What a reconciler has written stays on edited objects.
			stored := w.get()
			for _, o := range c.edited {
				if infra, ok := o.(*awsv1.AWSMachinePool); ok && infra.Annotations == nil {
					infra.Annotations = stored.Annotations
				}
			}
			if c.world != nil {
				c.world(w)
			}
			w.writes = nil
			got, err := w.planner(c.connect).Look(t.Context(), c.edited, key, 0)
			if err != nil || !c.want(got) {
				t.Errorf("got %+v, %v", got, err)
			}
			if calls := w.account.take(); len(calls) > 0 || len(w.writes) > 0 {
				t.Errorf("want nothing begun and nothing written, got %v and %v", calls, w.writes)
			}
		})
	}
}

func inRegion(region string) *unstructured.Unstructured {
	u := place()
	if err := unstructured.SetNestedField(u.Object, region, "spec", "region"); err != nil {
		return nil
	}
	return u
}

// A pool that is in the edit alone is found like one that is stored: by the reference to its infrastructure.
func TestLookAtNew(t *testing.T) {
	t.Parallel()
	w := newWorld(t, cluster(), place(), data(), definition())
	infra := awsMachinePool(func(o *awsv1.AWSMachinePool) { o.OwnerReferences = nil })
	got, err := w.planner(nil).Look(t.Context(), []client.Object{machinePool(), infra}, key, 0)
	if err != nil || !got.Seen || got.Observed.Group != nil || got.Pool == nil || got.Desired.Replicas != 2 ||
		got.Observed.Wanted.Content == "" {
		t.Errorf("want a pool of two that is to be made, got %+v, %v", got, err)
	}
	if _, err := w.planner(nil).Look(t.Context(), nil, key, 0); client.IgnoreNotFound(err) != nil || err == nil {
		t.Errorf("want it not found without the edit, got %v", err)
	}
}

// The client of a plan rejects every write, and asks for each thing once.
func TestReadOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t, everything()...)
	reads := 0
	c := preview.ReadOnce(interceptor.NewClient(w.management, interceptor.Funcs{
		Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, o client.Object, opts ...client.GetOption) error {
			reads++
			return c.Get(ctx, key, o, opts...)
		},
		List: func(ctx context.Context, c client.WithWatch, l client.ObjectList, opts ...client.ListOption) error {
			reads++
			return c.List(ctx, l, opts...)
		},
	}))
	for range 3 {
		mp, list, none := &clusterv1.MachinePool{}, &clusterv1.MachinePoolList{}, &clusterv1.MachinePool{}
		if err := c.Get(t.Context(), client.ObjectKey{Namespace: "default", Name: "mp"}, mp); err != nil || mp.Spec.ClusterName != "c" {
			t.Fatalf("want the MachinePool, got %+v, %v", mp, err)
		}
		mp.Spec.ClusterName = "changed by the reader"
		if err := c.List(t.Context(), list, client.InNamespace("default")); err != nil || len(list.Items) != 1 {
			t.Fatalf("want one MachinePool, got %d, %v", len(list.Items), err)
		}
		if err := c.Get(t.Context(), client.ObjectKey{Namespace: "default", Name: "none"}, none); client.IgnoreNotFound(err) != nil ||
			err == nil {
			t.Fatalf("want none, got %v", err)
		}
	}
	if reads != 3 {
		t.Errorf("want each thing asked for once, got %d reads", reads)
	}
	o := machinePool()
	for verb, err := range map[string]error{
		"create": c.Create(t.Context(), o), "update": c.Update(t.Context(), o), "patch": c.Patch(t.Context(), o, client.MergeFrom(o)),
		"delete": c.Delete(t.Context(), o), "delete all": c.DeleteAllOf(t.Context(), o), "status": c.Status().Update(t.Context(), o),
		"status patch": c.Status().Patch(t.Context(), o, client.MergeFrom(o)), "eviction": c.SubResource("eviction").Create(t.Context(), o, o),
	} {
		if err == nil || !strings.Contains(err.Error(), "a plan writes nothing") {
			t.Errorf("%s: want it refused, got %v", verb, err)
		}
	}
	if len(w.writes) > 0 {
		t.Errorf("want nothing written, got %v", w.writes)
	}
}
