package compat

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/cluster-api/controllers/clustercache"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	ctrlconfig "sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/yaml"

	"github.com/muster-project/muster/cloud/aws"
	"github.com/muster-project/muster/cloud/wire"
	"github.com/muster-project/muster/kube/infrapool"
	"github.com/muster-project/muster/kube/infrapool/watch"
	"github.com/muster-project/muster/kube/nodes"
	"github.com/muster-project/muster/manager"
	awspool "github.com/muster-project/muster/providers/aws/awsmachinepool"
	"github.com/muster-project/muster/sim"
	simaws "github.com/muster-project/muster/sim/aws"
)

// legacy is a group that another tool made, without tags.
const legacy = "legacy"

// wakes bounds the time until a pool notices a grant. It is much shorter than the time between two looks at a pool at rest.
const wakes = 30 * time.Second

// writes records the mutating operations that a driver has sent.
type writes struct {
	next http.RoundTripper
	mu   sync.Mutex
	sent []string
}

func (w *writes) RoundTrip(r *http.Request) (*http.Response, error) {
	if operation := wire.CallFrom(r.Context()).Operation; !strings.HasPrefix(operation, "Describe") && !strings.HasPrefix(operation, "Get") {
		w.mu.Lock()
		w.sent = append(w.sent, operation)
		w.mu.Unlock()
	}
	return w.next.RoundTrip(r)
}

func (w *writes) all() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.sent)
}

// groupOfOthers returns a simulated account with the group, and the writes that reach it.
func groupOfOthers(t *testing.T) (*simaws.Server, *writes) {
	t.Helper()
	account, err := simaws.New(simaws.Options{Seed: 1, Accounts: []simaws.Account{simaws.DefaultAccount()}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := account.Close(); err != nil {
			t.Error(err)
		}
	})
	if done, err := account.Capabilities().OutOfBand.Do(sim.CreateGroup, sim.Resource{Name: legacy}); err != nil || !done {
		t.Fatalf("create the group: %t, %v", done, err)
	}
	return account, &writes{next: sim.Transport{Handler: account}}
}

// runPools runs the controller of AWSMachinePools in one namespace, for a workload cluster without nodes.
func runPools(t *testing.T, ns, cluster string, over http.RoundTripper) {
	t.Helper()
	driver, err := aws.New(aws.Options{Base: over, Config: func(_ context.Context, region string) (awssdk.Config, error) {
		return awssdk.Config{Region: region, BaseEndpoint: awssdk.String("http://simulated.aws"),
			Credentials: credentials.NewStaticCredentialsProvider(simaws.AccessKeyID, simaws.SecretAccessKey, ""),
			Retryer:     func() awssdk.Retryer { return awssdk.NopRetryer{} }}, nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	scheme, err := manager.NewScheme()
	if err != nil {
		t.Fatal(err)
	}
	again := true // other tests of the package run controllers too
	mgr, err := ctrl.NewManager(server, ctrl.Options{Scheme: scheme, Metrics: metricsserver.Options{BindAddress: "0"},
		Controller: ctrlconfig.Controller{SkipNameValidation: &again}, Client: client.Options{Cache: &client.CacheOptions{
			DisableFor: []client.Object{&corev1.Secret{}}, Unstructured: true}}})
	if err != nil {
		t.Fatal(err)
	}
	if err := watch.AddIndexes(t.Context(), mgr.GetFieldIndexer()); err != nil {
		t.Fatal(err)
	}
	workload := fake.NewClientBuilder().WithScheme(scheme)
	for _, i := range nodes.Indexes() {
		workload = workload.WithIndex(i.Object, i.Field, i.ExtractValue)
	}
	pools := infrapool.New(awspool.Adapter{}, driver, infrapool.Options{Client: mgr.GetClient(), Live: mgr.GetAPIReader(),
		Recorder: mgr.GetEventRecorder("pools"), WatchFilter: ns,
		ClusterCache: clustercache.NewFakeClusterCache(workload.Build(), client.ObjectKey{Namespace: ns, Name: cluster}, "awsmachinepool-nodes")})
	if err := pools.SetupWithManager(t.Context(), mgr, controller.Options{}); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- mgr.Start(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}

// tenantOf returns a client of a user who may do everything in one namespace, and outside of it what the roles allow that are shipped for
// others than the manager.
func tenantOf(t *testing.T, c client.Client, ns string) client.Client {
	t.Helper()
	user := []rbacv1.Subject{{Kind: rbacv1.UserKind, APIGroup: rbacv1.GroupName, Name: ns}}
	mine := &rbacv1.RoleBinding{Subjects: user}
	mine.RoleRef = rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "cluster-admin"}
	mine.Namespace, mine.Name = ns, "tenant"
	made := []client.Object{mine}
	for _, file := range []string{"aggregated_role.yaml", "autoscaler_role.yaml"} {
		text, err := os.ReadFile(filepath.Join("..", "..", "config", "rbac", file))
		if err != nil {
			t.Fatal(err)
		}
		role := &rbacv1.ClusterRole{}
		if err := yaml.Unmarshal(text, role); err != nil {
			t.Fatal(err)
		}
		role.Name = ns + "-" + role.Name
		binding := &rbacv1.ClusterRoleBinding{Subjects: user, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole",
			Name: role.Name}}
		binding.Name = role.Name
		made = append(made, role, binding)
	}
	for _, o := range made {
		if err := c.Create(t.Context(), o); err != nil {
			t.Fatal(err)
		}
	}
	as := rest.CopyConfig(server)
	as.Impersonate = rest.ImpersonationConfig{UserName: ns}
	tenant, err := client.New(as, client.Options{Scheme: c.Scheme()})
	if err != nil {
		t.Fatal(err)
	}
	return tenant
}

// tenantsPool are the objects of a pool that asks for the group; NS is the namespace.
var tenantsPool = []string{`
apiVersion: v1
kind: Secret
metadata: {name: data, namespace: NS, labels: {cluster.x-k8s.io/cluster-name: c}}
type: cluster.x-k8s.io/secret
stringData: {value: "#cloud-config\n"}`, `
apiVersion: infrastructure.cluster.x-k8s.io/v1beta2
kind: AWSCluster
metadata: {name: c, namespace: NS}
spec: {region: ` + simaws.Region + `}`, `
apiVersion: cluster.x-k8s.io/v1beta2
kind: Cluster
metadata: {name: c, namespace: NS}
spec: {infrastructureRef: {apiGroup: infrastructure.cluster.x-k8s.io, kind: AWSCluster, name: c}}`, `
apiVersion: infrastructure.cluster.x-k8s.io/v1beta2
kind: AWSMachinePool
metadata: {name: p, namespace: NS, annotations: {muster.dev/adopt: legacy}, labels: {cluster.x-k8s.io/watch-filter: NS}}
spec: {minSize: 0, maxSize: 10, awsLaunchTemplate: {instanceType: t3.large}}`, `
apiVersion: cluster.x-k8s.io/v1beta2
kind: MachinePool
metadata: {name: p, namespace: NS}
spec:
  clusterName: c
  replicas: 1
  template:
    spec:
      clusterName: c
      version: v1.34.0
      bootstrap: {dataSecretName: data}
      infrastructureRef: {apiGroup: infrastructure.cluster.x-k8s.io, kind: AWSMachinePool, name: p}`}

const grantOfTheOperator = `
apiVersion: muster.dev/v1alpha1
kind: AdoptionGrant
metadata: {name: NS}
spec:
  namespaces: {list: [NS]}
  accounts: ["` + simaws.AccountID + `"]
  groups: [leg*]`

// TestTenantNeedsAGrant plays a tenant who may do everything in one namespace and asks for the group of another tool. The tenant can't
// write the grant; the pool waits, changes nothing, and adopts the group as soon as the operator grants it.
func TestTenantNeedsAGrant(t *testing.T) {
	c := typed(t)
	ns := namespace(t, c)
	account, sent := groupOfOthers(t)
	runPools(t, ns, "c", sent)
	tenant := tenantOf(t, c, ns)
	for _, text := range tenantsPool {
		if err := tenant.Create(t.Context(), manifestIn(t, text, ns)); err != nil {
			t.Fatal(err)
		}
	}
	cluster := manifestIn(t, tenantsPool[2], ns)
	patch := client.RawPatch("application/merge-patch+json", []byte(`{"status":{"initialization":{"infrastructureProvisioned":true}}}`))
	if err := tenant.Status().Patch(t.Context(), cluster, patch); err != nil {
		t.Fatal(err)
	}
	waitGroup(t, tenant, ns, "AdoptionNotAllowed", "have the operator of the management cluster apply an AdoptionGrant for namespace "+ns+
		", account "+simaws.AccountID+" and group "+legacy)
	grant := manifestIn(t, grantOfTheOperator, ns)
	for what, try := range map[string]func() error{
		"create": func() error { return tenant.Create(t.Context(), grant.DeepCopy()) },
		"patch":  func() error { return tenant.Patch(t.Context(), grant.DeepCopy(), patch) },
		"delete": func() error { return tenant.Delete(t.Context(), grant.DeepCopy()) },
	} {
		if err := try(); !apierrors.IsForbidden(err) {
			t.Errorf("%s a grant: want the tenant refused, got %v", what, err)
		}
	}
	if tags := tagsOf(t, account); len(sent.all()) > 0 || tags["muster.dev/owner"] != "" {
		t.Errorf("want nothing changed in the account, got %v and tags %v", sent.all(), tags)
	}
	if err := c.Create(t.Context(), grant); err != nil {
		t.Fatal(err)
	}
	waitGroup(t, tenant, ns, "", "")
	if tags := tagsOf(t, account); tags["muster.dev/owner"] == "" || tags["muster.dev/namespace"] != ns ||
		sent.all()[0] != "CreateOrUpdateTags" {
		t.Errorf("want the group adopted by its tags first, got %v and %v", tags, sent.all())
	}
}

// typed is admin with the manager's types.
func typed(t *testing.T) client.Client {
	t.Helper()
	admin(t) // skips with -short
	scheme, err := manager.NewScheme()
	if err != nil {
		t.Fatal(err)
	}
	c, err := client.New(server, client.Options{Scheme: scheme})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// manifestIn returns an object with the namespace in the place of NS.
func manifestIn(t *testing.T, text, ns string) *unstructured.Unstructured {
	t.Helper()
	u := &unstructured.Unstructured{}
	if err := yaml.Unmarshal([]byte(strings.ReplaceAll(text, "NS", ns)), &u.Object); err != nil {
		t.Fatal(err)
	}
	return u
}

// tagsOf returns the tags of the group.
func tagsOf(t *testing.T, account *simaws.Server) map[string]string {
	t.Helper()
	for _, g := range account.State(simaws.AccountID, simaws.Region).Groups {
		if g.Name == legacy {
			return g.Tags
		}
	}
	t.Fatal("the group is gone")
	return nil
}

// waitGroup waits for the reason and words of the pool's GroupReady; without a reason, for the adoption.
func waitGroup(t *testing.T, c client.Client, ns, reason, words string) {
	t.Helper()
	last := ""
	err := wait.PollUntilContextTimeout(t.Context(), 100*time.Millisecond, wakes, true, func(ctx context.Context) (bool, error) {
		o := &unstructured.Unstructured{}
		o.SetGroupVersionKind(schema.GroupVersionKind{Group: "infrastructure.cluster.x-k8s.io", Version: "v1beta2", Kind: "AWSMachinePool"})
		if err := c.Get(ctx, client.ObjectKey{Namespace: ns, Name: "p"}, o); err != nil {
			return false, err
		}
		conditions, _, _ := unstructured.NestedSlice(o.Object, "status", "conditions")
		last = fmt.Sprint(conditions)
		if reason == "" {
			return strings.Contains(o.GetAnnotations()["muster.dev/resolved"], `"adopted":"`+legacy+`"`), nil
		}
		return strings.Contains(last, reason) && strings.Contains(last, words), nil
	})
	if err != nil {
		t.Fatalf("want %q with %q, got %s: %v", reason, words, last, err)
	}
}
