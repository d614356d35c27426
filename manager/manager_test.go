package manager

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"k8s.io/component-base/featuregate"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	"github.com/muster-project/muster/providers/aws"
	"github.com/muster-project/muster/providers/azure"
	"github.com/muster-project/muster/providers/azure/azurejson"
	"github.com/muster-project/muster/providers/gates"
	"github.com/muster-project/muster/providers/gcp"
	"github.com/muster-project/muster/providers/gcp/gkeconfig"
	"github.com/muster-project/muster/providers/oci"
	"github.com/muster-project/muster/providers/scaleway"
)

func TestOptions(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		reason string
		o      Options
		runs   []string
		err    string
	}{
		"none named": {reason: "without names everything runs", runs: Controllers()},
		"one":        {reason: "each can be switched", o: Options{Controllers: []string{aws.MachinePool}}, runs: []string{aws.MachinePool}},
		"another": {reason: "each can be switched", o: Options{Controllers: []string{aws.ManagedMachinePool}},
			runs: []string{aws.ManagedMachinePool}},
		"no EKS": {reason: "the ecosystem's gate keeps node groups from being run",
			o: Options{Gates: gates.Gates{Switched: map[featuregate.Feature]bool{aws.EKS.Feature: false}}},
			runs: []string{MachinePool, aws.MachinePool, azure.MachinePool, azure.ManagedMachinePool, azure.ASOManagedMachinePool, azurejson.Name,
				gcp.MachinePool, gcp.ManagedMachinePool, gkeconfig.Name, oci.MachinePool, oci.ManagedMachinePool, oci.VirtualMachinePool,
				scaleway.ManagedMachinePool, RolloutPolicy, Webhook}},
		"no GKE": {reason: "its gate keeps node pools from being run",
			o:    Options{Gates: gates.Gates{Switched: map[featuregate.Feature]bool{gcp.GKE.Feature: false}}},
			runs: slices.DeleteFunc(Controllers(), func(c string) bool { return c == gcp.ManagedMachinePool || c == gkeconfig.Name })},
		"unknown": {reason: "a misspelt name would silently run nothing", o: Options{Controllers: []string{"awsmachinepools"}},
			err: `there is no controller "awsmachinepools": known are machinepool, awsmachinepool, awsmanagedmachinepool, azuremachinepool, azuremanagedmachinepool, azureasomanagedmachinepool, azurejson, ` +
				`gcpmachinepool, gcpmanagedmachinepool, gkeconfig, ocimachinepool, ocimanagedmachinepool, ocivirtualmachinepool, scalewaymanagedmachinepool, ` +
				`rolloutpolicy, webhook`},
		"certificates": {reason: "certificates without a name fit no client", o: Options{Certificates: &Certificates{}},
			err: "want the namespace and name of a secret"},
	} {
		o, err := tc.o.complete()
		if tc.err != "" {
			if err == nil || !strings.Contains(err.Error(), tc.err) {
				t.Errorf("%s: %s: want error with %q, got %v", name, tc.reason, tc.err, err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %s: %v", name, tc.reason, err)
			continue
		}
		for _, c := range Controllers() {
			want := slices.Contains(tc.runs, c)
			if got := o.runs(c); got != want {
				t.Errorf("%s: %s: controller %s: want %v, got %v", name, tc.reason, c, want, got)
			}
		}
		if o.SyncPeriod != DefaultSyncPeriod || o.Concurrency.MachinePool != DefaultConcurrency ||
			o.workers(PoolControllers()[0]) != DefaultConcurrency || o.Metrics.BindAddress != "0" || o.HealthAddress != "0" {
			t.Errorf("%s: defaults: got %+v", name, o)
		}
	}
}

func TestMounted(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		reason string
		files  []string
		want   bool
	}{
		"empty":   {"there are none", nil, false},
		"mounted": {"another issuer provides them and renews them", []string{"tls.crt", "tls.key", "ca.crt"}, true},
		"our own": {"those that we made have to be renewed by us after a restart too",
			[]string{"tls.crt", "tls.key", "ca.crt", "ca.key"}, false},
		"half way": {"a key alone is no certificate", []string{"tls.key"}, false},
	} {
		dir := t.TempDir()
		for _, f := range tc.files {
			if err := os.WriteFile(filepath.Join(dir, f), []byte("x"), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if got := Mounted(dir, "tls.crt"); got != tc.want {
			t.Errorf("%s: %s: want %v, got %v", name, tc.reason, tc.want, got)
		}
	}
}

func TestSlimNode(t *testing.T) {
	t.Parallel()
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n", ManagedFields: []metav1.ManagedFieldsEntry{{Manager: "x"}},
		Annotations: map[string]string{"a": "b"}},
		Spec: corev1.NodeSpec{ProviderID: "aws:///z/i-1"}, Status: corev1.NodeStatus{Images: []corev1.ContainerImage{{Names: []string{"x"}}}}}
	out, err := slimNode(node)
	if err != nil {
		t.Fatal(err)
	}
	got, ok := out.(*corev1.Node)
	if !ok || got.ManagedFields != nil || got.Status.Images != nil || got.Spec.ProviderID == "" || got.Annotations["a"] != "b" {
		t.Errorf("want images and managed fields gone and nothing else, got %+v", got)
	}
	if _, err := slimNode(&corev1.Pod{}); err == nil {
		t.Error("want an error for what is no Node")
	}
}

func TestMachinesOfPools(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		reason string
		labels labels.Set
		want   bool
	}{
		"of a pool":                {"the controllers of pools look at it", labels.Set{clusterv1.MachinePoolNameLabel: "p"}, true},
		"of a pool of a long name": {"the label holds a hash then", labels.Set{clusterv1.MachinePoolNameLabel: "hash_x_z"}, true},
		"of a MachineSet":          {"no controller looks at it", labels.Set{clusterv1.MachineSetNameLabel: "s"}, false},
		"of a control plane":       {"no controller looks at it", labels.Set{clusterv1.MachineControlPlaneLabel: ""}, false},
	} {
		if got := machinesOfPools().Label.Matches(tc.labels); got != tc.want {
			t.Errorf("%s: %s: want kept %v, got %v", name, tc.reason, tc.want, got)
		}
	}
}

func TestNewScheme(t *testing.T) {
	t.Parallel()
	scheme, err := NewScheme()
	if err != nil {
		t.Fatal(err)
	}
	for _, gvk := range []string{"cluster.x-k8s.io/v1beta1 MachinePool", "cluster.x-k8s.io/v1beta2 MachinePool",
		"bootstrap.cluster.x-k8s.io/v1beta1 KubeadmConfig",
		"infrastructure.cluster.x-k8s.io/v1beta1 AWSMachinePool", "infrastructure.cluster.x-k8s.io/v1beta2 AWSMachinePool",
		"infrastructure.cluster.x-k8s.io/v1beta1 AWSManagedMachinePool", "infrastructure.cluster.x-k8s.io/v1beta2 AWSManagedMachinePool"} {
		version, kind, _ := strings.Cut(gvk, " ")
		group, v, _ := strings.Cut(version, "/")
		if !scheme.Recognizes(schema.GroupVersionKind{Group: group, Version: v, Kind: kind}) {
			t.Errorf("want %s known", gvk)
		}
	}
}

func TestNewRefusesBeforeItConnects(t *testing.T) {
	t.Parallel()
	_, err := New(t.Context(), &rest.Config{Host: "https://127.0.0.1:1"},
		Options{Controllers: []string{"x"}, Certificates: &Certificates{Secret: types.NamespacedName{}}})
	if err == nil || !strings.Contains(err.Error(), `no controller "x"`) {
		t.Errorf("want the options refused, got %v", err)
	}
}
