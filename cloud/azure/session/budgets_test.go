package session

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/wire"
)

// requested is a request as the SDK sends it, with the name that it gives it.
func requested(t *testing.T, path, name string) *http.Request {
	t.Helper()
	at, err := url.Parse(endpoint + path)
	if err != nil {
		t.Fatal(err)
	}
	req := (&http.Request{Method: http.MethodGet, URL: at}).WithContext(t.Context())
	if name != "" {
		req = req.WithContext(contextWith(t.Context(), name))
	}
	return req
}

// TestCallsAndBudgets holds what each request is called, which resource it is about, and which buckets it takes from.
func TestCallsAndBudgets(t *testing.T) {
	t.Parallel()
	s := &sender{host: "arm.example", call: wire.Call{Account: "sub", Region: "westus2"}}
	const managedCluster = "/subscriptions/x/resourceGroups/rg/providers/Microsoft.ContainerService/managedClusters/c"
	const agentPool = managedCluster + "/agentPools/p"
	small, smallPool := strings.ToLower(scaleSet), strings.ToLower(agentPool)
	for _, c := range []struct {
		reason, path, api string
		call, resource    string
		keys              []string
	}{
		{
			"one scale set", scaleSet, "VirtualMachineScaleSetsClient.Get",
			"compute:VirtualMachineScaleSets.Get", small, []string{"reads", "set-get", "set-get" + small},
		},
		{
			"a client's Begin is no part of the name, and a PUT is a creation", scaleSet, "VirtualMachineScaleSetsClient.BeginCreateOrUpdate",
			"compute:VirtualMachineScaleSets.CreateOrUpdate", small, []string{"writes", "set-create", "set-create" + small},
		},
		{
			"what is done to the scale set's instances is done to it", scaleSet + "/delete", "VirtualMachineScaleSetsClient.BeginDeleteInstances",
			"compute:VirtualMachineScaleSets.DeleteInstances", small, []string{"writes", "set-update", "set-update" + small},
		},
		{
			"a deletion", scaleSet, "VirtualMachineScaleSetsClient.BeginDelete",
			"compute:VirtualMachineScaleSets.Delete", small, []string{"deletes", "set-delete", "set-delete" + small},
		},
		{
			"the instances of a scale set, letter case aside", strings.Replace(scaleSet, "resourceGroups", "RESOURCEGROUPS", 1) + "/virtualMachines",
			"VirtualMachineScaleSetVMsClient.NewListPager",
			"compute:VirtualMachineScaleSetVMs.List", small, []string{"reads", "set-wide-get", "set-wide-get" + small},
		},
		{
			"one instance", scaleSet + "/virtualMachines/7", "VirtualMachineScaleSetVMsClient.BeginUpdate",
			"compute:VirtualMachineScaleSetVMs.Update", small + "/virtualmachines/7",
			[]string{"writes", "instance-update", "instance-update" + small + "/virtualmachines/7"},
		},
		{
			"machines of a resource group are many", "/subscriptions/x/resourceGroups/rg/providers/Microsoft.Compute/virtualMachines",
			"VirtualMachinesClient.NewListPager",
			"compute:VirtualMachines.List", "", []string{"reads", "vm-wide-get"},
		},
		{
			"an operation is asked after without a name", "/subscriptions/x/providers/Microsoft.Compute/locations/westus2/operations/o", "",
			"compute:Operations.Get", "/subscriptions/x/providers/microsoft.compute/locations/westus2/operations/o",
			[]string{"reads", "operation-get", "operation-get/subscriptions/x/providers/microsoft.compute/locations/westus2/operations/o"},
		},
		{
			"sizes are in no category", "/subscriptions/x/providers/Microsoft.Compute/skus", "ResourceSKUsClient.NewListPager",
			"compute:ResourceSKUs.List", "", []string{"reads"},
		},
		{
			"an agent pool, in no bucket of compute", agentPool, "AgentPoolsClient.CreateOrUpdate",
			"containerservice:AgentPools.CreateOrUpdate", smallPool, []string{"writes", "agent-pool-update" + smallPool},
		},
		{
			"a deletion of an agent pool, which AKS counts with all that it does not count by itself", agentPool, "AgentPoolsClient.Delete",
			"containerservice:AgentPools.Delete", smallPool, []string{"deletes", "aks"},
		},
		{
			"machines of an agent pool", agentPool + "/deleteMachines", "AgentPoolsClient.DeleteMachines",
			"containerservice:AgentPools.DeleteMachines", smallPool, []string{"writes", "aks"},
		},
		{
			"a managed cluster, whose reads its pools share", managedCluster, "ManagedClustersClient.Get",
			"containerservice:ManagedClusters.Get", strings.ToLower(managedCluster),
			[]string{"reads", "managed-cluster-get" + strings.ToLower(managedCluster)},
		},
		{
			"an operation of AKS", "/subscriptions/x/providers/Microsoft.ContainerService/locations/westus2/operations/o", "",
			"containerservice:Operations.Get", "/subscriptions/x/providers/microsoft.containerservice/locations/westus2/operations/o",
			[]string{"reads", "aks-operation-get"},
		},
		{
			"another provider's, on a scale set", scaleSet + "/providers/Microsoft.Authorization/roleAssignments/u", "RoleAssignmentsClient.Create",
			"authorization:RoleAssignments.Create", small + "/providers/microsoft.authorization/roleassignments/u", []string{"writes"},
		},
	} {
		call := s.named(requested(t, c.path, c.api))
		if call.String() != c.call || call.Resource != c.resource || call.Account != "sub" || call.Region != "westus2" {
			t.Errorf("%s: want %s of %q, got %+v", c.reason, c.call, c.resource, call)
		}
		var keys []string
		for _, b := range budgetsOf(call) {
			keys = append(keys, strings.TrimPrefix(b.Key, "sub/westus2/"))
			if b.Burst <= 0 || b.PerSecond <= 0 || b.Adaptive || b.Name == "" {
				t.Errorf("%s: want a bucket that can be taken from, got %+v", c.reason, b)
			}
		}
		if diff := cmp.Diff(c.keys, keys); diff != "" {
			t.Errorf("%s: buckets (-want +got):\n%s", c.reason, diff)
		}
	}
	token := (&sender{}).named(requested(t, "/tenant/oauth2/v2.0/token", ""))
	if token.String() != "login:GetToken" || budgetsOf(token) != nil {
		t.Errorf("want tokens without a budget, got %s and %v", token, budgetsOf(token))
	}
}

// TestRemainingCalls reads the headers as Azure sends them.
func TestRemainingCalls(t *testing.T) {
	t.Parallel()
	c := wire.Call{Service: "compute", Operation: "VirtualMachineScaleSets.Get", Account: "a", Region: "r", Resource: "/ss"}
	for _, s := range []struct {
		reason string
		header http.Header
		want   []wire.Remaining
	}{
		{"nothing is said", http.Header{}, nil},
		{
			"several policies in one header, and the front's own count",
			http.Header{
				"X-Ms-Ratelimit-Remaining-Resource":           {"Microsoft.Compute/GetVMScaleSet3Min;197,Microsoft.Compute/GetVMScaleSet30Min;1297"},
				"X-Ms-Ratelimit-Remaining-Subscription-Reads": {"249"},
			},
			[]wire.Remaining{{Key: "a/r/reads", Calls: 249}, {Key: "a/r/set-get", Calls: 197}, {Key: "a/r/set-get", Calls: 1297}},
		},
		{
			"several headers, and a resource's own policy",
			http.Header{"X-Ms-Ratelimit-Remaining-Resource": {"Microsoft.Compute/LowCostGetResource;33 ",
				" Microsoft.Compute/LowCostGetSubscription;23997"}},
			[]wire.Remaining{{Key: "a/r/set-get/ss", Calls: 33}, {Key: "a/r/set-get", Calls: 23997}},
		},
		{"nonsense says nothing", http.Header{"X-Ms-Ratelimit-Remaining-Resource": {"x;y,;,z"},
			"X-Ms-Ratelimit-Remaining-Subscription-Writes": {"many"}}, nil},
	} {
		if diff := cmp.Diff(s.want, remainingOf(c, s.header)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", s.reason, diff)
		}
	}
}

// TestSlowsDownBeforeTheFloor holds that others' use of a subscription stops our looks, not our writes, before Azure refuses any.
func TestSlowsDownBeforeTheFloor(t *testing.T) {
	t.Parallel()
	left := map[string]string{headerResource: "Microsoft.Compute/GetVMScaleSet3Min;100"}
	st := newStand(t, map[string]answer{
		"GET " + endpoint: {status: 200, header: left, body: "{}"},
		"PUT " + endpoint: {status: 200, body: `{"properties":{"provisioningState":"Succeeded"}}`},
	})
	if err := st.get(t, nil); err != nil {
		t.Fatal(err)
	}
	err := st.get(t, nil)
	if cloud.CodeOf(err) != "ClientRateLimited" {
		t.Fatalf("want looks held back with 100 of 2400 left, got %v", err)
	}
	if _, err := st.session(t, nil).ScaleSets.BeginCreateOrUpdate(t.Context(), "capz", "capz-mp-0", emptySet(), nil); err != nil {
		t.Errorf("want a write sent all the same, got %v", err)
	}
	if diff := cmp.Diff([]string{opGet, "compute:VirtualMachineScaleSets.CreateOrUpdate"}, st.take()); diff != "" {
		t.Errorf("what was sent (-want +got):\n%s", diff)
	}
}
