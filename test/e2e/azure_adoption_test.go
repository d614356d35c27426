package e2e

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/compute/armcompute/v8"

	"github.com/muster-project/muster/test/e2e/world"
)

// theirAzurePool is a pool that another provider has made: cluster-api-provider-azure names the scale set after the pool.
const theirAzurePool = "theirs"

// makeTheirScaleSet makes a scale set as cluster-api-provider-azure does, of the model and the bootstrap data of a pool that there is, and
// returns its ID.
func makeTheirScaleSet(a *azureLife) string {
	a.T.Helper()
	ctx := a.T.Context()
	like, err := a.cloud.sets.Get(ctx, azureCluster, uniformPool, nil)
	if err != nil {
		a.T.Fatal(err)
	}
	set := like.VirtualMachineScaleSet
	set.ID, set.Name, set.Type, set.Etag = nil, nil, nil, nil
	set.Properties.ProvisioningState, set.Properties.UniqueID, set.Properties.TimeCreated = nil, nil, nil
	if set.Identity != nil {
		set.Identity.PrincipalID, set.Identity.TenantID = nil, nil
	}
	set.SKU.Capacity = new(int64(azureReplicas))
	set.Tags = map[string]*string{
		"Name": new(theirAzurePool), "sigs.k8s.io_cluster-api-provider-azure_cluster_" + azureCluster: new("owned"),
		"sigs.k8s.io_cluster-api-provider-azure_role": new("node"),
	}
	set.Properties.VirtualMachineProfile.OSProfile.ComputerNamePrefix = new(theirAzurePool)
	set.Properties.VirtualMachineProfile.OSProfile.CustomData = new(a.Read("{.data.value}", "secret/"+uniformPool))
	made, err := a.cloud.sets.BeginCreateOrUpdate(ctx, azureCluster, theirAzurePool, set, nil)
	if err != nil {
		a.T.Fatal(err)
	}
	result, err := made.PollUntilDone(ctx, nil)
	if err != nil {
		a.T.Fatal(err)
	}
	return *result.ID
}

// adoptsScaleSet follows docs/migrating.md for an AzureMachinePool: there, back, and there again. The pool is deleted then, with the scale
// set that is its own.
func adoptsScaleSet(a *azureLife) {
	others := a.nodesBy()
	id := makeTheirScaleSet(a)
	var before map[string]string
	a.Eventually("the nodes of the scale set", func() error {
		before = a.nodesBy()
		maps.DeleteFunc(before, func(id, _ string) bool { return others[id] != "" })
		if len(before) != azureReplicas {
			return fmt.Errorf("they are %v", before)
		}
		return nil
	})
	a.Begin()
	manifest := strings.NewReplacer("NAME", theirAzurePool, "MODE", "Uniform", "SURGE", "1", "MISSING", "0", "CLUSTER", azureCluster,
		"REPLICAS", fmt.Sprint(azureReplicas),
		"${AZURE_LOCATION}", a.Read("{.spec.location}", "azuremachinepool/"+uniformPool), "${YOUR_SSH_PUB_KEY}",
		a.Read("{.spec.template.sshPublicKey}", "azuremachinepool/"+uniformPool),
		"${AZURE_NODE_MACHINE_TYPE}", a.Read("{.spec.template.vmSize}", "azuremachinepool/"+uniformPool),
		"  orchestrationMode:", "  providerID: azure://"+id+"\n  orchestrationMode:").Replace(azureManifest)
	a.Apply(manifest)
	a.adopts(before)
	a.givesBack()
	a.adopts(before)
	if now := a.nodesBy(); len(now) != len(others)+azureReplicas {
		a.T.Errorf("want no other machine, got %v", now)
	}
	a.went(0, 0)
	a.Kubectl("delete", "machinepool/"+theirAzurePool, "--timeout", world.WaitLimit.String())
	a.Eventually("the adopted scale set to be gone, and the others to be left alone", func() error {
		sets, _ := a.cloud.holds()
		if slices.Sort(sets); !slices.Equal(sets, []string{flexiblePool, uniformPool}) {
			return fmt.Errorf("there are %v", sets)
		}
		return nil
	})
}

// adopts waits until the pool reports that the scale set is not its own, has it adopt the scale set, and holds that its machines are those
// that there were.
func (a *azureLife) adopts(before map[string]string) {
	a.T.Helper()
	const path = `{.status.conditions[?(@.type=="GroupReady")].reason}: {.status.conditions[?(@.type=="GroupReady")].message}`
	a.Eventually("the conflict to name the annotation", func() error {
		if got := a.Read(path, "azuremachinepool/"+theirAzurePool); !strings.HasPrefix(got, "OwnershipConflict: ") ||
			!strings.Contains(got, "muster.dev/adopt: "+theirAzurePool) {
			return fmt.Errorf("it says %s", got)
		}
		return nil
	})
	a.Adopt(theirAzurePool, theirAzurePool)
	a.atRest(theirAzurePool, azureReplicas)
	objects := a.machineObjects(theirAzurePool)
	for id := range before {
		if a.nodesBy()[id] != before[id] || objects[id] == "" {
			a.T.Errorf("want the machine %s as it was and with an object, nodes are %v, objects %v", id, a.nodesBy(), objects)
		}
	}
}

// givesBack is "Give a group back" of docs/migrating.md: with the cluster paused, owner tag and annotations are removed.
func (a *azureLife) givesBack() {
	a.T.Helper()
	object := "azuremachinepool/" + theirAzurePool
	a.Kubectl("patch", "cluster/"+azureCluster, "--type=merge", "-p", `{"spec":{"paused":true}}`)
	a.Wait(object, `{.status.conditions[?(@.type=="Paused")].status}`, "True")
	is, err := a.cloud.sets.Get(a.T.Context(), azureCluster, theirAzurePool, nil)
	if err != nil {
		a.T.Fatal(err)
	}
	tags := maps.Clone(is.Tags)
	delete(tags, "muster.dev_owner")
	update, err := a.cloud.sets.BeginUpdate(a.T.Context(), azureCluster, theirAzurePool, armcompute.VirtualMachineScaleSetUpdate{Tags: tags},
		nil)
	if err == nil {
		_, err = update.PollUntilDone(a.T.Context(), nil)
	}
	if err != nil {
		a.T.Fatal(err)
	}
	a.Kubectl("annotate", object, "machinepool/"+theirAzurePool, "muster.dev/adopt-", "muster.dev/resolved-", "muster.dev/owner-id-")
	a.Kubectl("patch", "cluster/"+azureCluster, "--type=merge", "-p", `{"spec":{"paused":false}}`)
}
