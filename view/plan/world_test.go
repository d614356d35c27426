package plan_test

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/tools/events"
	bootstrapv1 "sigs.k8s.io/cluster-api/api/bootstrap/kubeadm/v1beta2"
	clusterv1beta1 "sigs.k8s.io/cluster-api/api/core/v1beta1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/controllers/clustercache"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	awsv1beta1 "github.com/muster-project/muster/api/aws/v1beta1"
	awsv1 "github.com/muster-project/muster/api/aws/v1beta2"
	musterv1 "github.com/muster-project/muster/api/muster/v1alpha1"
	"github.com/muster-project/muster/cloud/aws"
	"github.com/muster-project/muster/cloud/wire"
	"github.com/muster-project/muster/kube/infrapool"
	"github.com/muster-project/muster/kube/infrapool/passtest"
	"github.com/muster-project/muster/kube/infrapool/preview"
	"github.com/muster-project/muster/kube/infrapool/watch"
	"github.com/muster-project/muster/kube/nodes"
	"github.com/muster-project/muster/kube/webhook"
	awspool "github.com/muster-project/muster/providers/aws/awsmachinepool"
	"github.com/muster-project/muster/sim"
	simaws "github.com/muster-project/muster/sim/aws"
	"github.com/muster-project/muster/view/plan"
)

var infraKey = client.ObjectKey{Namespace: "default", Name: "workers"}

// world is a management cluster, a workload cluster and a simulated AWS. While it is sealed, nothing may be written anywhere.
type world struct {
	t                    *testing.T
	management, workload client.WithWatch
	cloud                *simaws.Server
	sealed, away         bool

	mu       sync.Mutex
	machines []sim.Machine
	off      []string
	driver   *aws.Driver
}

// PowerOn notes a machine.
func (w *world) PowerOn(m sim.Machine) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.machines = append(w.machines, m)
}

// PowerOff notes that a machine is gone.
func (w *world) PowerOff(id string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.off = append(w.off, id)
}

// life is which machines were powered on and off so far.
func (w *world) life() (on []sim.Machine, off []string) {
	synctest.Wait() // until the cloud has done what is due
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.machines), slices.Clone(w.off)
}

// Console is empty.
func (w *world) Console(string) []byte { return nil }

// RoundTrip carries the driver's requests.
func (w *world) RoundTrip(r *http.Request) (*http.Response, error) {
	operation := wire.CallFrom(r.Context()).Operation
	if w.sealed && !strings.HasPrefix(operation, "Describe") && !strings.HasPrefix(operation, "Get") {
		w.t.Errorf("want nothing written to the cloud, got %s", operation)
	}
	return sim.Transport{Handler: w.cloud}.RoundTrip(r)
}

func scheme(t *testing.T) *runtime.Scheme {
	t.Helper()
	s := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{
		clientgoscheme.AddToScheme, apiextensionsv1.AddToScheme, clusterv1beta1.AddToScheme, clusterv1.AddToScheme, bootstrapv1.AddToScheme,
		awsv1beta1.AddToScheme, awsv1.AddToScheme, musterv1.AddToScheme,
	} {
		if err := add(s); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

// sealing reports every write that is no dry run while the world is sealed.
func (w *world) sealing(where string) interceptor.Funcs {
	judge := func(verb string, o client.Object, dryRun []string) {
		if w.sealed && !slices.Equal(dryRun, []string{metav1.DryRunAll}) {
			w.t.Errorf("want nothing written to the %s cluster, got %s %T %s", where, verb, o, o.GetName())
		}
	}
	return interceptor.Funcs{
		Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, o client.Object, opts ...client.GetOption) error {
			if o.GetObjectKind().GroupVersionKind() == awsv1beta1.GroupVersion.WithKind("AWSMachinePool") {
				return older(ctx, c, key, o)
			}
			return c.Get(ctx, key, o, opts...)
		},
		Create: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.CreateOption) error {
			judge("create", o, (&client.CreateOptions{}).ApplyOptions(opts).DryRun)
			if w.sealed {
				o.SetUID("33333333-2222-3333-4444-555555555555")
				return nil
			}
			return c.Create(ctx, o, opts...)
		},
		Update: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.UpdateOption) error {
			judge("update", o, (&client.UpdateOptions{}).ApplyOptions(opts).DryRun)
			return c.Update(ctx, o, opts...)
		},
		Patch: func(ctx context.Context, c client.WithWatch, o client.Object, p client.Patch, opts ...client.PatchOption) error {
			judge("patch", o, (&client.PatchOptions{}).ApplyOptions(opts).DryRun)
			if w.sealed {
				return dryRun(o, p)
			}
			return c.Patch(ctx, o, p, opts...)
		},
		SubResourcePatch: func(ctx context.Context, c client.Client, sub string, o client.Object, p client.Patch,
			opts ...client.SubResourcePatchOption) error {
			judge("patch "+sub, o, nil)
			return c.SubResource(sub).Patch(ctx, o, p, opts...)
		},
	}
}

// dryRun applies a merge patch to the object, as an API server does in a dry run.
func dryRun(o client.Object, p client.Patch) error {
	u, ok := o.(*unstructured.Unstructured)
	if !ok || p.Type() != types.MergePatchType {
		return fmt.Errorf("want a merge patch of an untyped object, got %s of %T", p.Type(), o)
	}
	data, err := p.Data(o)
	if err != nil {
		return err
	}
	var change map[string]any
	if err := utiljson.Unmarshal(data, &change); err != nil {
		return err
	}
	u.Object = merge(u.Object, change)
	return nil
}

// merge is RFC 7386.
func merge(content, change map[string]any) map[string]any {
	out := maps.Clone(content)
	if out == nil {
		out = map[string]any{}
	}
	for name, value := range change {
		switch v := value.(type) {
		case nil:
			delete(out, name)
		case map[string]any:
			below, _ := out[name].(map[string]any)
			out[name] = merge(below, v)
		default:
			out[name] = v
		}
	}
	return out
}

// older reads an object in an older version, which an API server converts it into.
func older(ctx context.Context, c client.Client, key client.ObjectKey, out client.Object) error {
	hub, old := &awsv1.AWSMachinePool{}, &awsv1beta1.AWSMachinePool{}
	if err := c.Get(ctx, key, hub); err != nil {
		return err
	}
	if err := old.ConvertFrom(hub); err != nil {
		return err
	}
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(old)
	u, ok := out.(*unstructured.Unstructured)
	if err != nil || !ok {
		return fmt.Errorf("want an untyped object, got %T: %w", out, err)
	}
	gvk := u.GroupVersionKind()
	u.Object = content
	u.SetGroupVersionKind(gvk)
	return nil
}

// newWorld has a cluster that is up, with whatever else it is given.
func newWorld(t *testing.T, objects ...client.Object) *world {
	t.Helper()
	w := &world{t: t}
	s := scheme(t)
	n := simaws.DefaultAccount().Network
	var subnets []any
	for _, sn := range n.Subnets {
		subnets = append(subnets, map[string]any{"id": sn.ID, "availabilityZone": sn.Zone, "isPublic": sn.Public})
	}
	place := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": awsv1.GroupVersion.String(), "kind": "AWSCluster", "metadata": map[string]any{"name": "c", "namespace": "default"},
		"spec": map[string]any{"region": simaws.Region, "network": map[string]any{"vpc": map[string]any{"id": n.VPCID}, "subnets": subnets}},
		"status": map[string]any{"networkStatus": map[string]any{
			"securityGroups": map[string]any{"node": map[string]any{"id": n.NodeSecurityGroupID}}}},
	}}
	cluster := &clusterv1.Cluster{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "c"}}
	cluster.Spec.InfrastructureRef = clusterv1.ContractVersionedObjectReference{APIGroup: awsv1.GroupVersion.Group, Kind: "AWSCluster",
		Name: "c"}
	cluster.Status.Initialization = clusterv1.ClusterInitializationStatus{InfrastructureProvisioned: new(true),
		ControlPlaneInitialized: new(true)}
	objects = append(objects, place, cluster,
		&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "data"},
			Data: map[string][]byte{"value": []byte("#cloud-config\ntoken: s3cret")}},
		definition("awsclusters"), definition("awsmachinepools"))
	mapper := meta.NewDefaultRESTMapper(nil)
	for gvk := range s.AllKnownTypes() {
		if strings.HasSuffix(gvk.Group, "cluster.x-k8s.io") || gvk.Kind == "Secret" {
			mapper.Add(gvk, meta.RESTScopeNamespace)
		}
	}
	b := fake.NewClientBuilder().WithScheme(s).WithRESTMapper(mapper).WithObjects(objects...).WithInterceptorFuncs(w.sealing("management")).
		WithStatusSubresource(&awsv1.AWSMachinePool{}, &clusterv1.MachinePool{}, &clusterv1.Cluster{})
	for _, i := range slices.Concat(watch.Indexes(), awspool.Adapter{}.Kind().Indexes()) {
		b = b.WithIndex(i.Object, i.Field, i.Values)
	}
	w.management = b.WithObjectTracker(passtest.Tracker(s)).Build()
	b = fake.NewClientBuilder().WithScheme(s).WithStatusSubresource(&corev1.Node{}).WithInterceptorFuncs(w.sealing("workload")).
		WithIndex(&corev1.Pod{}, "spec.nodeName", func(o client.Object) []string { return []string{o.(*corev1.Pod).Spec.NodeName} })
	for _, i := range nodes.Indexes() {
		b = b.WithIndex(i.Object, i.Field, i.ExtractValue)
	}
	w.workload = b.WithObjectTracker(passtest.Tracker(s)).Build()
	var err error
	if w.cloud, err = simaws.New(simaws.Options{Seed: 1, MachineHost: w, Speed: 1}); err != nil {
		t.Fatal(err)
	}
	if w.driver, err = aws.New(aws.Options{Base: w, Config: func(context.Context, string) (awssdk.Config, error) {
		return awssdk.Config{
			Region: simaws.Region, Credentials: credentials.NewStaticCredentialsProvider(simaws.AccessKeyID, simaws.SecretAccessKey, ""),
			BaseEndpoint: awssdk.String("http://simulated.aws"), Retryer: func() awssdk.Retryer { return awssdk.NopRetryer{} },
		}, nil
	}}); err != nil {
		t.Fatal(err)
	}
	return w
}

// close ends the simulator.
func (w *world) close() {
	w.driver.Close()
	if err := w.cloud.Close(); err != nil {
		w.t.Error(err)
	}
}

func definition(kind string) *apiextensionsv1.CustomResourceDefinition {
	return &apiextensionsv1.CustomResourceDefinition{ObjectMeta: metav1.ObjectMeta{
		Name: kind + "." + awsv1.GroupVersion.Group, Labels: map[string]string{"cluster.x-k8s.io/v1beta2": "v1beta2"}}}
}

func machinePool(replicas int32) *clusterv1.MachinePool {
	mp := &clusterv1.MachinePool{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "workers", UID: "mp"}}
	mp.TypeMeta = metav1.TypeMeta{APIVersion: clusterv1.GroupVersion.String(), Kind: "MachinePool"}
	mp.Spec = clusterv1.MachinePoolSpec{ClusterName: "c", Replicas: new(replicas),
		Template: clusterv1.MachineTemplateSpec{Spec: clusterv1.MachineSpec{
			ClusterName: "c", Version: "v1.36.3", Bootstrap: clusterv1.Bootstrap{DataSecretName: new("data")},
			InfrastructureRef: clusterv1.ContractVersionedObjectReference{APIGroup: awsv1.GroupVersion.Group, Kind: "AWSMachinePool",
				Name: "workers"},
		}}}
	return mp
}

func awsMachinePool() *awsv1.AWSMachinePool {
	o := &awsv1.AWSMachinePool{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "workers",
		UID: "11111111-2222-3333-4444-555555555555"}}
	o.TypeMeta = metav1.TypeMeta{APIVersion: awsv1.GroupVersion.String(), Kind: "AWSMachinePool"}
	o.Spec = awsv1.AWSMachinePoolSpec{MaxSize: 20, AdditionalTags: awsv1.Tags{"team": "a"},
		AWSLaunchTemplate: awsv1.AWSLaunchTemplate{InstanceType: simaws.InstanceType, SSHKeyName: awssdk.String(simaws.KeyName)}}
	return o
}

// cache of workload clusters, as a reconciler and a plan have it.
func (w *world) clusters() preview.Connect {
	return func(context.Context, client.ObjectKey) (client.Client, error) {
		if w.away {
			return nil, fmt.Errorf("dial tcp: the workload cluster is away")
		}
		return w.workload, nil
	}
}

// run lets the real reconciler work until it comes to rest. After each pass the test may look.
func (w *world) run(look func()) {
	w.t.Helper()
	r := infrapool.New(awspool.Adapter{}, w.driver, infrapool.Options{
		Client: w.management, ClusterCache: clustercache.NewFakeClusterCache(w.workload, client.ObjectKey{Namespace: "default", Name: "c"}),
		Recorder: events.NewFakeRecorder(10000), Now: time.Now,
	})
	for range 1000 {
		result, err := r.Reconcile(w.t.Context(), ctrl.Request{NamespacedName: infraKey})
		if err != nil {
			w.t.Fatalf("pass: %v", err)
		}
		if look != nil {
			look()
		}
		time.Sleep(max(result.RequeueAfter, time.Second))
		w.join()
		w.leave()
		if result.RequeueAfter >= time.Minute && w.atRest() {
			return
		}
	}
	w.t.Fatal("the pool comes to no rest")
}

// atRest reports whether nothing is to be done.
func (w *world) atRest() bool {
	plans, err := w.plan(func(r *plan.Request) { r.Kind, r.Name = "machinepool", "workers" })
	if err != nil {
		w.t.Fatal(err)
	}
	return len(plans[0].Steps) == 0 && plans[0].Ready == plans[0].Desired
}

// leave takes the Nodes of machines away that are gone.
func (w *world) leave() {
	w.t.Helper()
	machines, off := w.life()
	for k, m := range machines {
		if !slices.Contains(off, m.ID) {
			continue
		}
		n := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("node-%02d", k+1)}}
		if err := client.IgnoreNotFound(w.workload.Delete(w.t.Context(), n)); err != nil {
			w.t.Fatal(err)
		}
	}
}

// join makes a Node of every machine that runs.
func (w *world) join() {
	w.t.Helper()
	machines, off := w.life()
	for k, m := range machines {
		if slices.Contains(off, m.ID) {
			continue
		}
		n := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("node-%02d", k+1), CreationTimestamp: metav1.Now()},
			Spec: corev1.NodeSpec{ProviderID: m.ProviderID}}
		if w.workload.Get(w.t.Context(), client.ObjectKeyFromObject(n), n) == nil {
			continue
		}
		if err := w.workload.Create(w.t.Context(), n); err != nil {
			w.t.Fatal(err)
		}
		n.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue, LastTransitionTime: metav1.Now()}}
		if err := w.workload.Status().Update(w.t.Context(), n); err != nil {
			w.t.Fatal(err)
		}
	}
}

// plan makes plans of a sealed world.
func (w *world) plan(change func(*plan.Request)) ([]plan.Plan, error) {
	w.sealed = true
	defer func() { w.sealed = false }()
	options := infrapool.Options{Client: preview.ReadOnce(w.management), ClusterCache: preview.NewClusters(w.clusters()), Now: time.Now}
	r := plan.Request{
		Client: w.management, Namespace: "default",
		Hub: func(ctx context.Context, o client.Object) (client.Object, error) {
			return webhook.ToHub(ctx, w.management.Scheme(), w.management, o)
		},
		Planners: []preview.Planner{infrapool.NewPlanner(awspool.Adapter{}, w.driver, options)},
	}
	change(&r)
	return plan.Build(w.t.Context(), r)
}
