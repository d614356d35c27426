package infrapool_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/intstr"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	azurev1 "github.com/muster-project/muster/api/azure/v1beta1"
	"github.com/muster-project/muster/api/common"
	"github.com/muster-project/muster/kube/infrapool"
	"github.com/muster-project/muster/pool"
	"github.com/muster-project/muster/providers/azure/azuremachinepool"
	"github.com/muster-project/muster/providers/azure/azurestatus"
)

func azureCluster(spec map[string]any) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "infrastructure.cluster.x-k8s.io/v1beta1", "kind": "AzureCluster",
		"metadata": map[string]any{"name": "capz", "namespace": "default"}, "spec": spec,
	}}
}

func capz() *unstructured.Unstructured {
	return azureCluster(map[string]any{"subscriptionID": "s", "resourceGroup": "RG", "location": "westus2"})
}

func ofVersion(version string) *clusterv1.MachinePool {
	mp := &clusterv1.MachinePool{}
	mp.Spec.Template.Spec.Version = version
	return mp
}

func object(change ...func(*azurev1.AzureMachinePool)) *azurev1.AzureMachinePool {
	o := &azurev1.AzureMachinePool{Spec: azurev1.AzureMachinePoolSpec{
		Location: "westus2", ProviderID: "id", ProviderIDList: []string{"a"}, OrchestrationMode: azurev1.UniformOrchestrationMode,
		Template: azurev1.AzureMachinePoolMachineTemplate{VMSize: "Standard_D2s_v3", SSHPublicKey: "key",
			OSDisk: azurev1.OSDisk{OSType: azurev1.LinuxOS}},
	}}
	for _, f := range change {
		f(o)
	}
	return o
}

func flexible(o *azurev1.AzureMachinePool) {
	o.Spec.OrchestrationMode = azurev1.FlexibleOrchestrationMode
}

func TestTranslate(t *testing.T) {
	t.Parallel()
	kept := map[string]string{"subscription": "s", "resource-group": "RG", "location": "westus2", "environment": "AzurePublicCloud"}
	for name, tc := range map[string]struct {
		reason string
		object *azurev1.AzureMachinePool
		in     infrapool.Inputs
		keep   map[string]string
		held   string
		err    string
	}{
		"cluster":      {reason: "the cluster says where its pools are", in: infrapool.Inputs{InfraCluster: capz()}, keep: kept},
		"cluster gone": {reason: "a pool is found for its deletion when its cluster is gone", in: infrapool.Inputs{Resolved: kept}, keep: kept},
		"nothing known": {
			reason: "looking in the wrong place would find nothing and leave the scale set behind",
			err:    `metadata.annotations[muster.dev/resolved] does not say where the scale set is: set it to {"subscription": "<subscription ID>", "resource-group": "<resource group>"`,
		},
		"cluster unreadable": {reason: "a cluster of another shape is none without a subscription",
			in: infrapool.Inputs{InfraCluster: azureCluster(map[string]any{"subscriptionID": int64(1)})}, err: "another type"},
		"group by name": {
			reason: "the ecosystem's default", in: infrapool.Inputs{InfraCluster: azureCluster(map[string]any{"location": "westus2",
				"azureEnvironment": "AzureChinaCloud"})},
			keep: map[string]string{"subscription": "", "resource-group": "capz", "location": "westus2", "environment": "AzureChinaCloud"},
		},
		"flexible": {reason: "the first version that knows it", object: object(flexible),
			in: infrapool.Inputs{InfraCluster: capz(), MachinePool: ofVersion("v1.26.0")}, keep: kept},
		"flexible too old": {
			reason: "the seed's own version", object: object(flexible),
			in: infrapool.Inputs{InfraCluster: capz(), MachinePool: ofVersion("v1.22.0")}, keep: kept,
			held: "spec.orchestrationMode is Flexible: specified Kubernetes version 1.22.0 must be >= 1.26.0 for Flexible orchestration mode",
		},
		"flexible a little too old": {
			reason: "a release that was tried before the first", object: object(flexible),
			in: infrapool.Inputs{InfraCluster: capz(), MachinePool: ofVersion("v1.26.0-rc.1")}, keep: kept,
			held: "specified Kubernetes version 1.26.0-rc.1 must be >= 1.26.0",
		},
		"flexible of no version": {
			reason: "the version of the machines is unknown", object: object(flexible),
			in: infrapool.Inputs{InfraCluster: capz(), MachinePool: ofVersion("")}, keep: kept,
			held: "could not find Kubernetes version in MachinePool",
		},
		"flexible of a strange version": {
			reason: "a word is no version", object: object(flexible), in: infrapool.Inputs{InfraCluster: capz(), MachinePool: ofVersion("newest")},
			keep: kept,
			held: `failed to parse Kubernetes version "newest"`,
		},
		"flexible, no owner": {reason: "a missing MachinePool is reported elsewhere", object: object(flexible),
			in: infrapool.Inputs{InfraCluster: capz()}, keep: kept},
		"uniform of any version": {reason: "the seed as it is written",
			in: infrapool.Inputs{InfraCluster: capz(), MachinePool: ofVersion("v1.22.0")}, keep: kept},
		"no key": {
			reason: "Azure makes no Linux machine without", object: object(func(o *azurev1.AzureMachinePool) { o.Spec.Template.SSHPublicKey = "" }),
			in: infrapool.Inputs{InfraCluster: capz()}, keep: kept,
			held: "spec.template.sshPublicKey is empty",
		},
		"no key for Windows": {
			reason: "Windows needs none", in: infrapool.Inputs{InfraCluster: capz()}, keep: kept,
			object: object(func(o *azurev1.AzureMachinePool) {
				o.Spec.Template.SSHPublicKey, o.Spec.Template.OSDisk.OSType = "", azurev1.WindowsOS
			}),
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if tc.object == nil {
				tc.object = object()
			}
			got, err := azuremachinepool.Adapter{}.Translate(tc.object, tc.in)
			if tc.err != "" {
				if err == nil || !strings.Contains(err.Error(), tc.err) {
					t.Errorf("%s: want error with %q, got %v", tc.reason, tc.err, err)
				}
				return
			}
			if err != nil {
				t.Fatalf("%s: %v", tc.reason, err)
			}
			if diff := cmp.Diff(tc.keep, got.Keep); diff != "" {
				t.Errorf("%s: kept, want -, got +\n%s", tc.reason, diff)
			}
			if held := got.CreateBlocked; (held == nil) != (tc.held == "") || held != nil && !strings.Contains(held.Message, tc.held) {
				t.Errorf("%s: want it held with %q, got %v", tc.reason, tc.held, held)
			}
			if got.Spec.Pool.ProviderID != "" || got.Spec.Pool.ProviderIDList != nil || tc.object.Spec.ProviderID == "" {
				t.Errorf("%s: what the controller writes must not reach the driver, nor be lost on the object", tc.reason)
			}
		})
	}
}

func TestTranslateRollout(t *testing.T) {
	t.Parallel()
	quarter, one := intstr.FromString("25%"), intstr.FromInt32(1)
	o := object(func(o *azurev1.AzureMachinePool) {
		o.Annotations = map[string]string{azurev1.WindowsServerVersionAnnotation: "windows-2019"}
		o.Spec.Strategy = common.Strategy{RollingUpdate: &common.RollingUpdate{DeletePolicy: common.DeletePolicyNewest, MaxSurge: &quarter,
			MaxUnavailable: &one}}
		o.Status.LongRunningOperationStates = []azurev1.Future{
			{Type: "PUT", ResourceGroup: "rg", ServiceName: azurev1.ScaleSetService, Name: "mp-0", Data: "dG9rZW4="},
			{Type: "PUT", ServiceName: azurev1.ScaleSetService, Name: "x", Data: "%%%"},
		}
	})
	got, err := azuremachinepool.Adapter{}.Translate(o, infrapool.Inputs{InfraCluster: capz(), Cluster: "c"})
	if err != nil {
		t.Fatal(err)
	}
	want := &pool.Strategy{
		MaxSurge: pool.IntOrPercent{Value: 25, Percent: true}, MaxUnavailable: pool.IntOrPercent{Value: 1},
		SurgeField: "spec.strategy.rollingUpdate.maxSurge", UnavailableField: "spec.strategy.rollingUpdate.maxUnavailable",
	}
	if diff := cmp.Diff(want, got.Strategy); diff != "" || got.DeletePolicy != pool.Newest {
		t.Errorf("strategy, want -, got +\n%s\nand Newest, got %s", diff, got.DeletePolicy)
	}
	if got.MaxField != "" || !got.NoPrerequisites || got.Spec.WindowsServerVersion != "windows-2019" || got.Spec.Cluster.ClusterName != "c" {
		t.Errorf("want no bounds, nothing beside the model, the annotation and the Cluster's name, got %q, %t, %q, %q", got.MaxField,
			got.NoPrerequisites, got.Spec.WindowsServerVersion, got.Spec.Cluster.ClusterName)
	}
	o.Spec.Identity = azurev1.VMIdentitySystemAssigned
	if known, err := (azuremachinepool.Adapter{}).Translate(o, infrapool.Inputs{InfraCluster: capz(), Cluster: "c"}); err != nil ||
		known.NoPrerequisites {
		t.Errorf("want a role assignment where Azure gives machines an identity, got %t, %v", known.NoPrerequisites, err)
	}
	operations := []pool.Operation{{Type: "PUT", Token: "token",
		Resource: "azure:///subscriptions/s/resourceGroups/rg/providers/Microsoft.Compute/virtualMachineScaleSets/mp-0"}}
	if diff := cmp.Diff(operations, got.Operations); diff != "" {
		t.Errorf("hints, of which one means nothing, want -, got +\n%s", diff)
	}
	if diff := cmp.Diff(o.Status.LongRunningOperationStates[:1], azurestatus.Futures(got.Operations)); diff != "" {
		t.Errorf("hints as they are kept again, want -, got +\n%s", diff)
	}
}

func TestAzurePlace(t *testing.T) {
	t.Parallel()
	ref := clusterv1.ContractVersionedObjectReference{APIGroup: "infrastructure.cluster.x-k8s.io", Kind: "AzureCluster", Name: "x"}
	if got := (azuremachinepool.Adapter{}).InfraCluster(&clusterv1.Cluster{Spec: clusterv1.ClusterSpec{InfrastructureRef: ref}}); got != ref {
		t.Errorf("want %v, got %v", ref, got)
	}
}
