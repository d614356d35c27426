package acceptancetest

import (
	"context"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/spf13/pflag"
	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/cmd/clusterctl/client/tree"
	"sigs.k8s.io/cluster-api/util/conditions"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/muster-project/muster/manager"
	"github.com/muster-project/muster/providers/gates"
)

// root is the root of the repository, relative to this package.
const root = "../../../"

func read(t *testing.T, file string) string {
	t.Helper()
	b, err := os.ReadFile(root + file)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// TestRow08_FlagsOfTheManager holds the flags that other controllers of machine pools have, and their defaults.
func TestRow08_FlagsOfTheManager(t *testing.T) {
	t.Parallel()
	source := read(t, "manager/flags/flags.go")
	for flag, value := range map[string]string{
		"machinepool-concurrency": "manager.DefaultConcurrency", "sync-period": "manager.DefaultSyncPeriod",
		"kube-api-qps": "100", "kube-api-burst": "200", "clustercache-concurrency": "manager.DefaultClusterCacheConcurrency",
		"clustercache-client-qps": "manager.DefaultClusterCacheQPS", "clustercache-client-burst": "manager.DefaultClusterCacheBurst",
		"watch-filter": `""`, "namespace": `""`, "leader-elect": "false", "webhook-port": "webhook.DefaultPort", "health-addr": `":9440"`,
	} {
		if !regexp.MustCompile(`"` + flag + `", ` + regexp.QuoteMeta(value) + `\b|"` + flag + `", ` + regexp.QuoteMeta(value) + `,`).MatchString(
			source) {
			t.Errorf("--%s: want the flag with the default %s", flag, value)
		}
	}
	want(t, "defaults", fmt.Sprint(manager.DefaultConcurrency, manager.DefaultSyncPeriod, manager.DefaultClusterCacheConcurrency,
		manager.DefaultClusterCacheQPS, manager.DefaultClusterCacheBurst),
		fmt.Sprint(50, 10*time.Minute, 100, 20, 30))
}

// TestRow09_Roles holds, by the decision of the API server, that the role allows the controller what it does, and that Cluster API's
// manager gets access to Muster's kinds by the label by which it aggregates roles.
func TestRow09_Roles(t *testing.T) {
	w := emptyWorld(t)
	allowed := func(user, group, resource, subresource, verb string) {
		t.Helper()
		w.eventually(user+" may "+verb+" "+resource, func(ctx context.Context) error {
			r := &authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{User: user,
				ResourceAttributes: &authorizationv1.ResourceAttributes{
					Namespace: w.ns, Group: group, Resource: resource, Subresource: subresource, Verb: verb}}}
			if err := admin.Create(ctx, r); err != nil {
				return err
			}
			if !r.Status.Allowed {
				return fmt.Errorf("want it allowed, got %+v", r.Status)
			}
			return nil
		})
	}
	ours, core, theirs := w.bind("config/rbac/role.yaml"), w.bind("config/core/role.yaml"), w.bind("config/rbac/aggregated_role.yaml")
	want(t, "label that roles are aggregated by", theirs.Labels["cluster.x-k8s.io/aggregate-to-manager"], "true")
	for _, verb := range []string{"get", "list", "watch", "create", "update", "patch", "delete"} {
		allowed(core.Name, clusterv1.GroupVersion.Group, "machinepools", "", verb)
		allowed(core.Name, clusterv1.GroupVersion.Group, "machines", "", verb)
		for _, resource := range []string{"awsmachinepools", "awsmanagedmachinepools", "azuremachinepools", "awsmachines",
			"azuremachinepoolmachines"} {
			allowed(theirs.Name, infrastructure, resource, "", verb)
		}
	}
	for _, subresource := range []string{"status", "finalizers"} {
		allowed(core.Name, clusterv1.GroupVersion.Group, "machinepools", subresource, "update")
		allowed(ours.Name, infrastructure, "awsmachinepools", subresource, "update")
	}
	allowed(ours.Name, clusterv1.GroupVersion.Group, "machinepools", "", "patch")
	allowed(ours.Name, clusterv1.GroupVersion.Group, "clusters", "", "watch")
	allowed(ours.Name, "", "secrets", "", "get")
}

// bind binds the roles of a file, in the whole cluster, to a user with the name of the first.
func (w *world) bind(file string) *rbacv1.ClusterRole {
	w.t.Helper()
	var first *rbacv1.ClusterRole
	for n, text := range strings.Split(read(w.t, file), "\n---\n") {
		role := &rbacv1.ClusterRole{}
		if err := yaml.Unmarshal([]byte(text), role); err != nil {
			w.t.Fatal(err)
		}
		if role.Kind != "ClusterRole" {
			continue
		}
		role.Name = fmt.Sprintf("%s-%s-%d", w.ns, role.Name, n)
		if first == nil {
			first = role
		}
		w.create(role)
		w.create(&rbacv1.ClusterRoleBinding{ObjectMeta: metav1.ObjectMeta{Name: role.Name},
			RoleRef:  rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role.Name},
			Subjects: []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: first.Name}}})
	}
	return first
}

// TestRow58_ClusterCountsPools holds that Cluster API's controller of Clusters finds the counts of a pool that it sums up.
func TestRow58_ClusterCountsPools(t *testing.T) {
	w := newWorld(t)
	w.running(2, nil)
	w.ready(1, corev1.ConditionFalse, time.Now())
	w.changePool(func(p *clusterv1.MachinePool) { *p.Spec.Replicas = 3 })
	w.eventually("the workers of the Cluster", func(ctx context.Context) error {
		c := &clusterv1.Cluster{}
		if err := admin.Get(ctx, w.key("c1"), c); err != nil {
			return err
		}
		s := c.Status.Workers
		if s == nil || s.DesiredReplicas == nil || s.Replicas == nil || s.ReadyReplicas == nil || s.AvailableReplicas == nil ||
			s.UpToDateReplicas == nil {
			return fmt.Errorf("got %+v", s)
		}
		if got := fmt.Sprint(*s.DesiredReplicas, *s.Replicas, *s.ReadyReplicas, *s.AvailableReplicas, *s.UpToDateReplicas); got != "3 2 1 1 2" {
			return fmt.Errorf("desired, there, ready, available, up to date: want 3 2 1 1 2, got %s", got)
		}
		return nil
	})
}

// TestRow65_FeatureGate holds that the feature gate and its environment variable are accepted, and that an invalid value is rejected by
// name.
func TestRow65_FeatureGate(t *testing.T) {
	t.Parallel()
	set := pflag.NewFlagSet("manager", pflag.ContinueOnError)
	if err := gates.AddFlag(set, func(string) string { return "" }); err != nil {
		t.Fatal(err)
	}
	if usage := set.Lookup("feature-gates").Usage; !strings.Contains(usage, "MachinePool=true|false (BETA - default=true)") {
		t.Errorf("--feature-gates: want Cluster API's gate MachinePool, on by default, got %s", usage)
	}
	err := gates.AddFlag(pflag.NewFlagSet("manager", pflag.ContinueOnError), func(name string) string {
		return map[string]string{"MUSTER_MACHINE_POOLS": "perhaps"}[name]
	})
	if err == nil || !strings.Contains(err.Error(), "MUSTER_MACHINE_POOLS") {
		t.Errorf("MUSTER_MACHINE_POOLS=perhaps: want it refused by name, got %v", err)
	}
	if manifest := read(t, "config/clusterctl/variables/kustomization.yaml"); !strings.Contains(manifest,
		"MusterMachinePools=${MUSTER_MACHINE_POOLS:=true}") {
		t.Error("config/clusterctl: want the gate set by its variable")
	}
}

// TestRow66_ClusterctlShowsThePool holds that clusterctl's tree of a cluster shows the pool below its workers with its conditions, its
// Machines below it, and that all of it is reached from the Cluster by owner references, as a move follows them.
func TestRow66_ClusterctlShowsThePool(t *testing.T) {
	w := newWorld(t)
	w.populated(1, nil)
	objects, err := tree.Discovery(t.Context(), admin, w.ns, "c1", tree.DiscoverOptions{Echo: true, ShowOtherConditions: "all"})
	if err != nil {
		t.Fatal(err)
	}
	pool := w.pool()
	found := objects.GetObject(pool.UID)
	if found == nil || objects.GetParent(pool.UID) == nil || objects.GetParent(pool.UID).GetName() != "Workers" {
		t.Fatalf("tree: want the pool below the workers, got %v", found)
	}
	shown, ok := found.(conditions.Getter)
	if !ok || !conditions.IsTrue(shown, clusterv1.AvailableCondition) || !conditions.IsTrue(shown, clusterv1.MachinesUpToDateCondition) {
		t.Errorf("tree: want the pool with its conditions, got %T", found)
	}
	var below []string
	for _, o := range objects.GetObjectsByParent(pool.UID) {
		below = append(below, o.GetName())
	}
	slices.Sort(below)
	want(t, "below the pool", fmt.Sprint(below), "[boot infra m1]")
	for name, o := range map[string]client.Object{"Cluster": pool, "MachinePool": w.machine("m1")} {
		if owners := o.GetOwnerReferences(); len(owners) != 1 || owners[0].Kind != name {
			t.Errorf("owner of %s: want the %s, got %v", o.GetName(), name, owners)
		}
	}
	for name, o := range map[string]*unstructured.Unstructured{"infra": w.get(poolGVK, "infra"), "boot": w.get(configGVK, "boot")} {
		want(t, "a move takes "+name, metav1.IsControlledBy(o, pool), true)
	}
}

// TestRow68_RolloutStrategy holds what pools of other controllers do not have: limits and an order of a rollout, which the API server
// rejects by the name of the field if they are invalid.
func TestRow68_RolloutStrategy(t *testing.T) {
	w := emptyWorld(t)
	pool := func(name string, rolling map[string]any) *unstructured.Unstructured {
		o := &unstructured.Unstructured{Object: map[string]any{"apiVersion": infrastructure + "/v1beta2", "kind": "AWSMachinePool",
			"metadata": map[string]any{"namespace": w.ns, "name": name},
			"spec": map[string]any{"minSize": int64(0), "maxSize": int64(3), "availabilityZones": []any{"eu-west-1a"},
				"awsLaunchTemplate": map[string]any{"instanceType": "t3.large"}, "strategy": map[string]any{"rollingUpdate": rolling}}}}
		return o
	}
	good := pool("good", map[string]any{"maxSurge": "25%", "deletePolicy": "Newest"})
	w.create(good)
	rolling, _, _ := unstructured.NestedMap(good.Object, "spec", "strategy", "rollingUpdate")
	want(t, "limits and order", fmt.Sprint(rolling),
		fmt.Sprint(map[string]any{"maxSurge": "25%", "maxUnavailable": int64(0), "deletePolicy": "Newest"}))
	for field, rolling := range map[string]map[string]any{
		"deletePolicy": {"deletePolicy": "Sometimes"}, "maxSurge": {"maxSurge": "many"},
		"maxUnavailable": {"maxSurge": int64(0), "maxUnavailable": int64(0)},
	} {
		refused(t, "an invalid strategy", admin.Create(t.Context(), pool("bad", rolling)), "spec.strategy.rollingUpdate."+field)
	}
}
