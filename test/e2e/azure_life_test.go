package e2e

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/arm"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/cloud"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/fake"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/compute/armcompute/v8"

	simazure "github.com/muster-project/muster/sim/azure"

	"github.com/muster-project/muster/test/e2e/world"
	"github.com/muster-project/muster/test/testrun"
)

// The pools of the world on Azure, one in each mode, in one cluster; one machine may be missing in the first, and one more than
// wanted may be there in the second.
const (
	azureCluster  = "modes"
	uniformPool   = "uniform"
	flexiblePool  = "flexible"
	azureReplicas = 2
)

var azureModes = []string{uniformPool, flexiblePool}

// azureManifest is a pool in the shape of the published one.
const azureManifest = `---
apiVersion: cluster.x-k8s.io/v1beta1
kind: MachinePool
metadata: {name: NAME}
spec:
  clusterName: CLUSTER
  replicas: REPLICAS
  template:
    spec:
      bootstrap: {configRef: {apiVersion: bootstrap.cluster.x-k8s.io/v1beta1, kind: KubeadmConfig, name: NAME}}
      clusterName: CLUSTER
      infrastructureRef: {apiVersion: infrastructure.cluster.x-k8s.io/v1beta1, kind: AzureMachinePool, name: NAME}
      version: v1.33.0
---
apiVersion: infrastructure.cluster.x-k8s.io/v1beta1
kind: AzureMachinePool
metadata: {name: NAME}
spec:
  location: ${AZURE_LOCATION}
  orchestrationMode: MODE
  strategy: {type: RollingUpdate, rollingUpdate: {deletePolicy: Oldest, maxSurge: SURGE, maxUnavailable: MISSING}}
  template:
    osDisk: {diskSizeGB: 30, managedDisk: {storageAccountType: Premium_LRS}, osType: Linux}
    sshPublicKey: ${YOUR_SSH_PUB_KEY}
    vmSize: ${AZURE_NODE_MACHINE_TYPE}
---
apiVersion: bootstrap.cluster.x-k8s.io/v1beta1
kind: KubeadmConfig
metadata: {name: NAME}
spec:
  files:
    - {path: /etc/kubernetes/azure.json, owner: "root:root", permissions: "0644", contentFrom: {secret: {name: NAME-azure-json,
        key: worker-node-azure.json}}}
  joinConfiguration: {nodeRegistration: {name: '{{ ds.meta_data["local_hostname"] }}'}}
`

// TestLongLifeOnAzure goes through the life of a pool in each mode, beneath a Deployment with a budget.
func TestLongLifeOnAzure(t *testing.T) {
	testrun.LongOnly(t)
	t.Parallel()
	w := world.Start(t, t.TempDir(), "--clouds", "azure", "-f", azureManifestFile(t))
	a := &azureLife{World: w, cloud: subscriptionOf(w)}
	for _, pool := range azureModes {
		a.atRest(pool, azureReplicas)
	}
	w.Web(azureCluster, 2*azureReplicas)
	a.Witness = w.Watch(azureCluster)
	a.ByOthers() // every machine has a Machine, which cluster-api drains
	for _, part := range []struct {
		name string
		run  func(a *azureLife)
	}{
		{"KubectlGetShowsPoolsAndMachines", showsAzure},
		{"VMSizeReplacesEveryMachine", anotherVMSize},
		{"DeletedMachinePoolMachineReplaced", deletesAzureMachineObject},
		{"DeletedMachineReplaced", deletesMachineOnAzure},
		{"TagsChangeInPlace", changesAzureTags},
		{"ScaleSetAdoptedReleasedAndReadopted", adoptsScaleSet},
		{"QuotaErrorReportedAndRecovers", waitsForAzureQuota},
		{"KubectlScaleInDrains", scalesAzureDown},
		{"KubectlDeleteLeavesNothing", deletesAzure},
	} {
		if !t.Run(part.name, func(t *testing.T) { part.run(a.in(t)) }) {
			return
		}
	}
}

// azureManifestFile returns a file with the pools.
func azureManifestFile(t *testing.T) string {
	t.Helper()
	var text strings.Builder
	for _, r := range []*strings.Replacer{
		strings.NewReplacer("NAME", uniformPool, "MODE", "Uniform", "SURGE", "0", "MISSING", "1", "CLUSTER", azureCluster, "REPLICAS",
			fmt.Sprint(azureReplicas)),
		strings.NewReplacer("NAME", flexiblePool, "MODE", "Flexible", "SURGE", "1", "MISSING", "0", "CLUSTER", azureCluster, "REPLICAS",
			fmt.Sprint(azureReplicas)),
	} {
		if _, err := r.WriteString(&text, azureManifest); err != nil {
			t.Fatal(err)
		}
	}
	file := filepath.Join(t.TempDir(), "modes.yaml")
	if err := os.WriteFile(file, []byte(text.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// azureLife is a world with pools on Azure, with who watches their machines.
type azureLife struct {
	*world.World
	*world.Witness
	cloud subscription
}

func (a *azureLife) in(t *testing.T) *azureLife {
	cloud := a.cloud
	cloud.t = t
	return &azureLife{World: a.In(t), Witness: a.Witness, cloud: cloud}
}

// subscription is the simulated one, seen through the SDK as anybody would see it.
type subscription struct {
	t    *testing.T
	sets *armcompute.VirtualMachineScaleSetsClient
	vms  *armcompute.VirtualMachinesClient
	ofs  *armcompute.VirtualMachineScaleSetVMsClient
}

// subscription opens the world's subscription at the endpoint that "muster up" prints.
func subscriptionOf(w *world.World) subscription {
	w.T.Helper()
	options := &arm.ClientOptions{DisableRPRegistration: true, ClientOptions: policy.ClientOptions{InsecureAllowCredentialWithHTTP: true,
		Cloud: cloud.Configuration{
			Services: map[cloud.ServiceName]cloud.ServiceConfiguration{cloud.ResourceManager: {Endpoint: w.Endpoint, Audience: w.Endpoint}}}}}
	var anybody azcore.TokenCredential = &fake.TokenCredential{}
	factory, err := armcompute.NewClientFactory(w.Printed(`AZURE_SUBSCRIPTION_ID=(\S+)`), anybody, options)
	if err != nil {
		w.T.Fatal(err)
	}
	return subscription{t: w.T, sets: factory.NewVirtualMachineScaleSetsClient(), vms: factory.NewVirtualMachinesClient(),
		ofs: factory.NewVirtualMachineScaleSetVMsClient()}
}

// holds returns the names of the scale sets and machines of the cluster's resource group.
func (s subscription) holds() (sets, machines []string) {
	s.t.Helper()
	pages := s.sets.NewListPager(azureCluster, nil)
	for pages.More() {
		page, err := pages.NextPage(s.t.Context())
		if err != nil {
			s.t.Fatal(err)
		}
		for _, set := range page.Value {
			sets = append(sets, *set.Name)
		}
	}
	for _, set := range sets {
		machines = append(machines, s.members(set)...)
	}
	return sets, machines
}

// members returns the names of a scale set's machines, whatever its mode.
func (s subscription) members(set string) []string {
	s.t.Helper()
	var names []string
	pages := s.ofs.NewListPager(azureCluster, set, nil)
	for pages.More() {
		page, err := pages.NextPage(s.t.Context())
		if err != nil {
			s.t.Fatal(err)
		}
		for _, vm := range page.Value {
			names = append(names, *vm.Name)
		}
	}
	slices.Sort(names)
	return names
}

// atRest waits until a pool has as many machines as it wants, all Ready and as specified, and nothing else to do.
func (a *azureLife) atRest(pool string, replicas int) {
	a.T.Helper()
	const path = `{.status.replicas} {.status.readyReplicas} {.status.upToDateReplicas} {.status.state} {.status.conditions[?(@.type=="UpToDate")].status}`
	a.Eventually(pool+" to be at rest", func() error {
		got := a.Read(path, "azuremachinepool/"+pool)
		if want := fmt.Sprintf("%[1]d %[1]d %[1]d Running True", replicas); got != want {
			return fmt.Errorf("want %s, the pool says %s; its conditions are\n%s", want, got, a.saysOf(pool))
		}
		return nil
	})
}

// saysOf returns the conditions of both objects of a pool.
func (a *azureLife) saysOf(pool string) string {
	a.T.Helper()
	return a.Read(`{range .items[*]}{.kind}{range .status.conditions[*]}{"\n  "}{.type}={.status} {.reason}: {.message}{end}{"\n"}{end}`,
		"machinepool/"+pool, "azuremachinepool/"+pool)
}

// nodesBy returns the names of the cluster's nodes by provider ID.
func (a *azureLife) nodesBy() map[string]string {
	a.T.Helper()
	all := map[string]string{}
	for line := range strings.Lines(a.ReadFrom(azureCluster, `{range .items[*]}{.spec.providerID} {.metadata.name}{"\n"}{end}`, "nodes")) {
		if id, name, ok := strings.Cut(strings.TrimSpace(line), " "); ok {
			all[id] = name
		}
	}
	return all
}

// machineObjects returns the names of a pool's AzureMachinePoolMachines by provider ID.
func (a *azureLife) machineObjects(pool string) map[string]string {
	a.T.Helper()
	all := map[string]string{}
	list := a.Read(`{range .items[*]}{.spec.providerID} {.metadata.name}{"\n"}{end}`, "azuremachinepoolmachine", "-l",
		"cluster.x-k8s.io/pool-name="+pool)
	for line := range strings.Lines(list) {
		if id, name, ok := strings.Cut(strings.TrimSpace(line), " "); ok {
			all[id] = name
		}
	}
	return all
}

// objectOfEach waits until every machine of a pool has its object, and no other is left.
func (a *azureLife) objectOfEach(pool string, replicas int) map[string]string {
	a.T.Helper()
	var found map[string]string
	a.Eventually(fmt.Sprintf("%d machine objects of %s, each with a node", replicas, pool), func() error {
		found = a.machineObjects(pool)
		nodes := a.nodesBy()
		for id := range found {
			if nodes[id] == "" {
				return fmt.Errorf("machine objects are %v, nodes %v", found, nodes)
			}
		}
		if len(found) != replicas {
			return fmt.Errorf("they are %v", found)
		}
		return nil
	})
	return found
}

// showsAzure checks the objects and columns that users see first.
func showsAzure(a *azureLife) {
	for _, pool := range azureModes {
		for id, name := range a.objectOfEach(pool, azureReplicas) {
			if !strings.HasPrefix(name, pool+"-") {
				a.T.Errorf("want machine objects named after their pool, got %s of %s", name, id)
			}
		}
	}
	for _, tc := range []struct{ kinds, want string }{
		{"machinepool", `uniform +modes +2 +2 +2 +2 +2 +Running `},
		{"azuremachinepool", `NAME +CLUSTER +DESIRED +CURRENT +READY +UP-TO-DATE +STATE +AGE`},
		{"azuremachinepool", `flexible +modes +2 +2 +2 +2 +Running `},
		{"azuremachinepoolmachine", `NAME +VERSION +READY +STATE +LATEST +NODE +AGE`},
		{"azuremachinepoolmachine", `uniform-\S+ +v1\.33\.0 +true +Succeeded +true +uniform`},
	} {
		a.Eventually("kubectl get "+tc.kinds+" to match "+tc.want, func() error {
			if got := a.Kubectl("get", tc.kinds); !regexp.MustCompile(tc.want).MatchString(got) {
				return fmt.Errorf("it prints\n%s", got)
			}
			return nil
		})
	}
	uniform := regexp.MustCompile(`^azure:///subscriptions/[-0-9a-f]+/resourceGroups/modes/providers/Microsoft.Compute/virtualMachineScaleSets/uniform/virtualMachines/\d+$`)
	flexible := regexp.MustCompile(`^azure:///subscriptions/[-0-9a-f]+/resourceGroups/modes/providers/Microsoft.Compute/virtualMachines/flexible_[0-9a-f]+$`)
	for id := range a.nodesBy() {
		if !uniform.MatchString(id) && !flexible.MatchString(id) {
			a.T.Errorf("want provider IDs as the cloud provider writes them, got %s", id)
		}
	}
}

// went holds what must be so of every change: that many nodes went, each drained, none beyond a budget, and never fewer served.
func (a *azureLife) went(want, lowest int) {
	a.T.Helper()
	a.Eventually(fmt.Sprintf("%d nodes to be gone", want), func() error {
		if _, gone, _, _ := a.Saw(); len(gone) != want {
			return fmt.Errorf("gone are %v", gone)
		}
		return nil
	})
	least, gone, evicted, err := a.Saw()
	if err != nil {
		a.T.Errorf("what must not happen: %v", err)
	}
	if least < lowest {
		a.T.Errorf("want at least %d nodes that serve at every moment, got %d: %s", lowest, least, a.At())
	}
	a.T.Logf("gone %v, evicted %d pods, serving at least %d", gone, evicted, least)
	if a.T.Failed() {
		a.T.Log(a.Kubectl("get", "events", "--sort-by=.metadata.creationTimestamp"))
	}
}

// wantEvent waits for an event of a pool.
func (a *azureLife) wantEvent(pool, reason, message string) {
	a.T.Helper()
	a.Eventually(fmt.Sprintf("an event %s of %s that says %s", reason, pool, message), func() error {
		got := a.Read(`{range .items[*]}{.message}{"\n"}{end}`, "events", "--field-selector",
			"involvedObject.kind=AzureMachinePool,involvedObject.name="+pool+",reason="+reason)
		if !strings.Contains(got, message) {
			return fmt.Errorf("there are\n%s", got)
		}
		return nil
	})
}

// killInRoll kills the controllers, and then the cloud with all its machines, while a node is drained. Both restart, and continue with the
// requests to Azure.
func (a *azureLife) killInRoll() {
	a.T.Helper()
	a.Eventually("a node to be closed", func() error {
		if a.ReadFrom(azureCluster, "{.items[*].spec.unschedulable}", "nodes") == "" {
			return errors.New("none is")
		}
		return nil
	})
	a.KillChild("controllers")
	a.KillChild("clouds")
}

// anotherVMSize rolls both pools at once, whatever is killed meanwhile: what their modes differ in shows in no count.
func anotherVMSize(a *azureLife) {
	before := a.nodesBy()
	a.Begin()
	for _, pool := range azureModes {
		a.Kubectl("patch", "azuremachinepool/"+pool, "--type=merge", "-p", `{"spec":{"template":{"vmSize":"Standard_D4s_v3"}}}`)
	}
	for _, pool := range azureModes {
		// Events are sent a while after what they report: a controller that is killed may not have sent its last ones.
		a.wantEvent(pool, "TemplateUpdated", "vmSize Standard_D2s_v3 -> Standard_D4s_v3")
	}
	a.killInRoll()
	a.Eventually("every machine to be another one", func() error {
		for id := range a.nodesBy() {
			if before[id] != "" {
				return fmt.Errorf("%s is still there; the pools say\n%s%s", id, a.saysOf(uniformPool), a.saysOf(flexiblePool))
			}
		}
		return nil
	})
	for _, pool := range azureModes {
		a.atRest(pool, azureReplicas)
	}
	a.went(2*azureReplicas, 2*azureReplicas-1) // one may be missing in uniform mode, none in flexible
	for _, pool := range azureModes {
		a.wantEvent(pool, "RolloutCompleted", "machines were launched from the wanted model") // without a surge, before the last one is replaced
	}
	if got := a.ReadFrom(azureCluster, `{.items[*].metadata.labels.node\.kubernetes\.io/instance-type}`, "nodes"); strings.Count(got,
		"Standard_D4s_v3") != 2*azureReplicas {
		a.T.Errorf("want every node on the new size, got %s", got)
	}
}

// victim returns a machine of a pool: its provider ID, and the name of its object.
func (a *azureLife) victim(pool string) (id, object string) {
	a.T.Helper()
	all := a.objectOfEach(pool, azureReplicas)
	var ids []string
	for id := range all {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	return ids[1], all[ids[1]]
}

// takes deletes an object, and holds that exactly this machine goes, drained, and another comes.
func (a *azureLife) takes(pool, id, object string) {
	a.T.Helper()
	before := a.nodesBy()
	node := before[id]
	a.Begin()
	a.Kubectl("delete", object, "--timeout", world.WaitLimit.String())
	a.atRest(pool, azureReplicas)
	a.objectOfEach(pool, azureReplicas)
	a.went(1, 2*azureReplicas-1)
	if _, gone, _, _ := a.Saw(); !slices.Equal(gone, []string{node}) {
		a.T.Errorf("want %s gone and no other, got %v", node, gone)
	}
	stayed := 0
	for now := range a.nodesBy() {
		if before[now] != "" {
			stayed++
		}
	}
	if stayed != 2*azureReplicas-1 {
		a.T.Errorf("want every other machine left alone, %d of them, got %d", 2*azureReplicas-1, stayed)
	}
}

func deletesAzureMachineObject(a *azureLife) {
	id, object := a.victim(uniformPool)
	a.takes(uniformPool, id, "azuremachinepoolmachine/"+object)
}

func deletesMachineOnAzure(a *azureLife) {
	id, object := a.victim(flexiblePool)
	a.Eventually("the machine to have its Machine", func() error {
		if got := a.Read("{.items[*].spec.providerID}", "machine"); !strings.Contains(got, id) {
			return fmt.Errorf("Machines are of %s, %s is of %s", got, object, id)
		}
		return nil
	})
	machine := ""
	for line := range strings.Lines(a.Read(`{range .items[*]}{.spec.providerID} {.metadata.name}{"\n"}{end}`, "machine")) {
		if of, name, ok := strings.Cut(strings.TrimSpace(line), " "); ok && of == id {
			machine = name
		}
	}
	a.takes(flexiblePool, id, "machine/"+machine)
}

// changesAzureTags holds that a tag reaches scale sets and machines, and replaces no machine.
func changesAzureTags(a *azureLife) {
	before := a.nodesBy()
	a.Begin()
	for _, pool := range azureModes {
		a.Kubectl("patch", "azuremachinepool/"+pool, "--type=merge", "-p", `{"spec":{"additionalTags":{"team":"blue"}}}`)
	}
	for _, pool := range azureModes {
		a.Eventually("the tag on the scale set "+pool, func() error {
			got, err := a.cloud.sets.Get(a.T.Context(), azureCluster, pool, nil)
			if err != nil {
				return err
			}
			if tag := got.Tags["team"]; tag == nil || *tag != "blue" {
				return fmt.Errorf("its tags are %v", got.Tags)
			}
			return nil
		})
		a.atRest(pool, azureReplicas)
		a.Eventually("the tag on the machines of "+pool, func() error { return a.tagged(pool, "team", "blue") })
	}
	a.went(0, 2*azureReplicas)
	if now := a.nodesBy(); len(now) != len(before) {
		a.T.Errorf("want the same nodes, %v, got %v", before, now)
	}
}

// tagged reports whether every machine of a scale set has a tag, as a user would see it in the portal.
func (a *azureLife) tagged(pool, name, value string) error {
	var state simazure.State
	if err := a.TryAdmin(http.MethodGet, "state", "", &state); err != nil {
		return err
	}
	for _, set := range state.Sets {
		for _, m := range set.Machines {
			if set.Name == pool && m.Tags[name] != value {
				return fmt.Errorf("machine %s has the tags %v", m.Name, m.Tags)
			}
		}
	}
	return nil
}

// quota bounds the cores of the machines' size; below zero there is no bound.
func (a *azureLife) quota(cores int) {
	a.T.Helper()
	a.Admin(http.MethodPut, "quotas", fmt.Sprintf(`{"location":%q,"family":"standardDSv3Family","limit":%d}`, simazure.Location, cores), nil)
}

// waitsForAzureQuota holds that an error is reported in Azure's own words, and that the pool recovers once there is capacity.
func waitsForAzureQuota(a *azureLife) {
	a.quota(4 * 2 * azureReplicas) // what the machines use that are there
	a.Kubectl("scale", "machinepool/"+flexiblePool, fmt.Sprintf("--replicas=%d", azureReplicas+1))
	a.Eventually("the pool to tell of the quota", func() error {
		if got := a.saysOf(flexiblePool); !regexp.MustCompile(`(?i)quota`).MatchString(got) {
			return fmt.Errorf("it says\n%s", got)
		}
		return nil
	})
	a.quota(-1)
	a.atRest(flexiblePool, azureReplicas+1)
}

// scalesAzureDown takes machines of both pools.
func scalesAzureDown(a *azureLife) {
	a.Begin()
	for _, pool := range azureModes {
		a.Kubectl("scale", "machinepool/"+pool, "--replicas=1")
	}
	for _, pool := range azureModes {
		a.atRest(pool, 1)
		a.objectOfEach(pool, 1)
	}
	a.went(3, 2)
}

// deletesAzure deletes both pools with all that is theirs.
func deletesAzure(a *azureLife) {
	a.Workload(azureCluster, "delete", "poddisruptionbudget/web", "deployment/web")
	a.Kubectl("delete", "machinepool/"+uniformPool, "machinepool/"+flexiblePool, "--timeout", world.WaitLimit.String())
	a.Eventually("nothing to be left in the subscription", func() error {
		if sets, machines := a.cloud.holds(); len(sets)+len(machines) > 0 {
			return fmt.Errorf("left: %v %v", sets, machines)
		}
		return nil
	})
	if got := a.Workload(azureCluster, "get", "nodes", "-o", "name"); got != "" {
		a.T.Errorf("want no node, got\n%s", got)
	}
	if got := a.Kubectl("get", "azuremachinepool,azuremachinepoolmachine,kubeadmconfig,machine", "-A", "-o", "name"); got != "" {
		a.T.Errorf("want nothing of the pools, got\n%s", got)
	}
}
