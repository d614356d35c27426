package infrapool_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	azurev1 "github.com/muster-project/muster/api/azure/v1beta1"
	"github.com/muster-project/muster/kube/machines"
	"github.com/muster-project/muster/pool"
	"github.com/muster-project/muster/providers/azure/azuremachinepool"
)

const (
	uniformID  = "azure:///subscriptions/s/resourceGroups/rg/providers/Microsoft.Compute/virtualMachineScaleSets/mp-0/virtualMachines/0"
	flexibleID = "azure:///subscriptions/s/resourceGroups/rg/providers/Microsoft.Compute/virtualMachines/mp-0_1A2b3c4d"
)

func TestNames(t *testing.T) {
	t.Parallel()
	kind := (azuremachinepool.Adapter{}).Kind().Machines
	for name, tc := range map[string]struct{ reason, pool, id, want string }{
		"uniform":  {"named after the scale set and the ID in it", "capz-mp-0", uniformID, "capz-mp-0-mp-0-0"},
		"flexible": {"named after the virtual machine, in letters that a name may have", "capz-mp-0", flexibleID, "capz-mp-0-mp-0-1a2b3c4d"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := kind.NameOf(tc.pool, pool.Instance{ProviderID: tc.id}); got != tc.want {
				t.Errorf("%s: want %s, got %s", tc.reason, tc.want, got)
			}
		})
	}
	long := strings.Repeat("x", 60)
	a, b := kind.NameOf(long, pool.Instance{ProviderID: uniformID}),
		kind.NameOf(long, pool.Instance{ProviderID: strings.TrimSuffix(uniformID, "0") + "1"})
	if len(a) > 63 || a == b {
		t.Errorf("want two names that fit into a label, got %s and %s", a, b)
	}
}

func TestLabels(t *testing.T) {
	t.Parallel()
	want := map[string]string{"azuremachinepool.infrastructure.cluster.x-k8s.io/machine-pool": "capz-mp-0", "capz": "owned"}
	if diff := cmp.Diff(want, (azuremachinepool.Adapter{}).Kind().Machines.Labels("capz", "capz-mp-0")); diff != "" {
		t.Errorf("want -, got +\n%s", diff)
	}
	if got := (azuremachinepool.Adapter{}).Kind().Machines.Labels(strings.Repeat("c", 64), "p"); len(got) != 1 {
		t.Errorf("a name that no label can have must not keep objects from being made, got %v", got)
	}
}

func TestMachineStatus(t *testing.T) {
	t.Parallel()
	wanted := pool.Template{Content: "v1:b"}
	ready := &pool.Node{Name: "n", Ready: true, KubeletVersion: "v1.36.3"}
	for name, tc := range map[string]struct {
		reason   string
		instance pool.Instance
		unknown  bool
		deleting bool
		was      azurev1.AzureMachinePoolMachineStatus
		state    azurev1.ProvisioningState
		latest   bool
		ready    bool
		made     bool
		node     string
		// running, healthy and summary are the reasons of the three conditions.
		running, healthy, summary string
	}{
		"made": {reason: "the first condition of all", instance: pool.Instance{State: pool.Pending, Template: wanted}, state: "Creating",
			latest: true, running: "Creating", healthy: "NodeProvisioning", summary: "Creating"},
		"boots": {reason: "it runs and has not joined", instance: pool.Instance{State: pool.Running, Template: wanted}, state: "Succeeded",
			latest: true, made: true, running: "VMRunning", healthy: "NodeProvisioning", summary: "NodeProvisioning"},
		"serves": {reason: "as it should be", instance: pool.Instance{State: pool.Running, Template: wanted, Node: ready}, state: "Succeeded",
			latest: true, made: true, ready: true, node: "n", running: "VMRunning", healthy: "NodeHealthy", summary: "NodeHealthy"},
		"unready": {reason: "its node says so", instance: pool.Instance{State: pool.Running, Template: wanted, Node: &pool.Node{Name: "n"}},
			state: "Succeeded", latest: true, made: true, node: "n",
			running: "VMRunning", healthy: "NodeConditionsFailed", summary: "NodeConditionsFailed"},
		"stale": {reason: "made from another model", instance: pool.Instance{State: pool.Running, Template: pool.Template{Content: "v1:a"},
			Node: ready}, state: "Succeeded", made: true, ready: true, node: "n", running: "VMRunning", healthy: "NodeHealthy",
			summary: "NodeHealthy"},
		"failed": {reason: "it stays until it is removed", instance: pool.Instance{State: pool.Failed, Template: wanted}, state: "Failed",
			latest: true, running: "VMProvisionFailed", healthy: "NodeProvisioning", summary: "VMProvisionFailed"},
		"deallocated": {reason: "Azure took its capacity back: it has not failed",
			instance: pool.Instance{State: pool.Failed, CloudState: "Succeeded", Stopped: "deallocated", Template: wanted}, state: "Succeeded",
			latest:  true,
			running: "VMStopped", healthy: "NodeProvisioning", summary: "VMStopped"},
		"failed and serves": {reason: "its Machine has its Node all the same",
			instance: pool.Instance{State: pool.Failed, Template: wanted, Node: ready}, state: "Failed", latest: true, made: true, node: "n",
			running: "VMProvisionFailed", healthy: "NodeHealthy", summary: "VMProvisionFailed"},
		"going": {reason: "Azure takes it", instance: pool.Instance{State: pool.Terminating, Template: wanted, Node: ready}, state: "Deleting",
			latest: true, node: "n", running: "Deleting", healthy: "NodeHealthy", summary: "Deleting"},
		"updating": {reason: "Azure's own word is what people know from there",
			instance: pool.Instance{State: pool.Running, CloudState: "Updating", Template: wanted, Node: ready}, state: "Updating", latest: true,
			made: true, ready: true, node: "n",
			running: "VMRunning", healthy: "NodeHealthy", summary: "NodeHealthy"},
		"deleted": {reason: "its deletion was requested", instance: pool.Instance{State: pool.Running, Template: wanted, Node: ready},
			deleting: true, state: "Succeeded", latest: true, made: true, ready: true, node: "n", running: "Deleting", healthy: "NodeHealthy",
			summary: "Deleting"},
		"out of reach": {reason: "what was known of the node stays", instance: pool.Instance{State: pool.Running, Template: wanted},
			unknown: true, state: "Succeeded", latest: true, made: true, ready: true, node: "n",
			was:     azurev1.AzureMachinePoolMachineStatus{Ready: true, NodeRef: &azurev1.NodeReference{Name: "n"}},
			running: "VMRunning", healthy: "ConnectionDown", summary: "ConnectionDown"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tc.instance.ProviderID, tc.instance.ID, tc.instance.Zone = uniformID, "0", "2"
			s := machines.Seen{Instance: tc.instance, Wanted: wanted, NodesUnknown: tc.unknown, Now: time.Unix(1, 0)}
			m := &azurev1.AzureMachinePoolMachine{Status: tc.was}
			if tc.deleting {
				m.DeletionTimestamp = &metav1.Time{Time: time.Unix(1, 0)}
			}
			(azuremachinepool.Adapter{}).Kind().Machines.FillSpec(m, s)
			(azuremachinepool.Adapter{}).Kind().Machines.FillStatus(m, s)
			got := m.Status
			if m.Spec.ProviderID != uniformID || m.Spec.InstanceID != "0" || got.InstanceName != "mp-0_0" || got.FailureDomain != "2" {
				t.Errorf("%s: want to be told which it is, got %+v, %q, %q", tc.reason, m.Spec, got.InstanceName, got.FailureDomain)
			}
			if *got.ProvisioningState != tc.state || got.LatestModelApplied != tc.latest || got.Ready != tc.ready ||
				ptr.Deref(got.Initialization.Provisioned, false) != tc.made {
				t.Errorf("%s: want state %s, latest %t, ready %t, provisioned %t; got %s, %t, %t, %v", tc.reason, tc.state, tc.latest, tc.ready,
					tc.made, *got.ProvisioningState, got.LatestModelApplied, got.Ready, got.Initialization.Provisioned)
			}
			if node := ptr.Deref(got.NodeRef, azurev1.NodeReference{}).Name; node != tc.node ||
				(got.Version != "") != (tc.instance.Node != nil && tc.instance.Node.KubeletVersion != "") {
				t.Errorf("%s: want node %q, got %q of version %q", tc.reason, tc.node, node, got.Version)
			}
			for condition, want := range map[string]string{"VMRunning": tc.running, "NodeHealthy": tc.healthy, "Ready": tc.summary} {
				if c := meta.FindStatusCondition(got.Conditions, condition); c == nil || c.Reason != want {
					t.Errorf("%s: want %s with reason %s, got %+v", tc.reason, condition, want, c)
				}
			}
			before := m.DeepCopy()
			s.Now = time.Unix(2, 0)
			(azuremachinepool.Adapter{}).Kind().Machines.FillSpec(m, s)
			(azuremachinepool.Adapter{}).Kind().Machines.FillStatus(m, s)
			if diff := cmp.Diff(before, m); diff != "" {
				t.Errorf("%s: nothing is new, want nothing changed, got\n%s", tc.reason, diff)
			}
		})
	}
}

func TestMachineKeepsItsID(t *testing.T) {
	t.Parallel()
	m := &azurev1.AzureMachinePoolMachine{Spec: azurev1.AzureMachinePoolMachineSpec{ProviderID: strings.ToUpper(uniformID),
		InstanceID: "zero"}}
	(azuremachinepool.Adapter{}).Kind().Machines.FillSpec(m, machines.Seen{Instance: pool.Instance{ProviderID: uniformID, ID: "0"}})
	if m.Spec.ProviderID != strings.ToUpper(uniformID) || m.Spec.InstanceID != "zero" ||
		(azuremachinepool.Adapter{}).Kind().Machines.ProviderID(m) != m.Spec.ProviderID {
		t.Errorf("an ID that can't be changed must be left as it is, got %+v", m.Spec)
	}
}
