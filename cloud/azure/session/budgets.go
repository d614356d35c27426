package session

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/muster-project/muster/cloud/wire"
)

// category are the token buckets of a kind of call: one for each resource and one for the subscription in the location, each with
// its size and its refill in a minute. A size of zero is no bucket.
type category struct {
	name                          string
	resourceBurst, resourceRefill int
	burst, refill                 int
	// calls names the calls in messages.
	calls string
}

// The documented categories of compute (compute-throttling-limits in Azure's documentation). Listing a scale set's instances is in
// none of them; it is counted with the other lists of scale sets, the smallest of those that it may be in. What is done to several
// instances at once is an update of the scale set.
var (
	setCreate   = category{"set-create", 12, 4, 375, 125, "creations of scale sets"}
	setPut      = category{"set-update", 12, 4, 1500, 500, "updates of scale sets"}
	setDelete   = category{"set-delete", 12, 4, 525, 175, "deletions of scale sets"}
	setGet      = category{"set-get", 36, 12, 2400, 800, "reads of scale sets"}
	setWideGet  = category{"set-wide-get", 30, 10, 1080, 360, "lists of scale sets"}
	setListAll  = category{"set-wide-get", 0, 0, 1080, 360, "lists of scale sets"}
	inSetUpdate = category{"instance-update", 12, 4, 1500, 500, "updates of scale set instances"}
	inSetDelete = category{"instance-delete", 12, 4, 1500, 500, "deletions of scale set instances"}
	inSetGet    = category{"instance-get", 36, 12, 6000, 2000, "reads of scale set instances"}
	vmUpdate    = category{"vm-update", 12, 4, 1500, 500, "updates of virtual machines"}
	vmDelete    = category{"vm-delete", 12, 4, 1500, 500, "deletions of virtual machines"}
	vmGet       = category{"vm-get", 36, 12, 24000, 8000, "reads of virtual machines"}
	vmWideGet   = category{"vm-wide-get", 0, 0, 900, 300, "lists of virtual machines"}
	operation   = category{"operation-get", 45, 15, 15000, 5000, "reads of operations"}
)

// serviceAKS is the resource provider of AKS.
const serviceAKS = "containerservice"

// The documented categories of AKS ("Throttling limits on AKS resource provider APIs").
var (
	poolPut      = category{"agent-pool-update", 20, 1, 0, 0, "updates of agent pools"}
	operationAKS = category{"aks-operation-get", 0, 0, 200, 120, "reads of operations of AKS"}
	// othersAKS is shared by all other calls: each deletion of an agent pool and of its machines counts there.
	othersAKS  = category{"aks", 0, 0, 60, 60, "requests to AKS"}
	clusterGet = category{"managed-cluster-get", 60, 60, 0, 0, "reads of managed clusters"}
)

// categoriesAKS are those of the calls that are sent to AKS. All others are in othersAKS.
var categoriesAKS = map[string]category{
	"AgentPools.CreateOrUpdate": poolPut,
	"ManagedClusters.Get":       clusterGet,
	operationGet:                operationAKS,
}

// categories are those of the calls that are sent to compute.
var categories = map[string]category{
	"VirtualMachineScaleSets.CreateOrUpdate":  setCreate, // what exists is changed by Update alone
	"VirtualMachineScaleSets.Update":          setPut,
	"VirtualMachineScaleSets.UpdateInstances": setPut,
	"VirtualMachineScaleSets.DeleteInstances": setPut,
	"VirtualMachineScaleSets.Delete":          setDelete,
	"VirtualMachineScaleSets.Get":             setGet,
	"VirtualMachineScaleSets.GetInstanceView": setWideGet,
	"VirtualMachineScaleSets.List":            setWideGet,
	"VirtualMachineScaleSets.ListAll":         setListAll,
	"VirtualMachineScaleSetVMs.List":          setWideGet,
	"VirtualMachineScaleSetVMs.Get":           inSetGet,
	"VirtualMachineScaleSetVMs.Update":        inSetUpdate,
	"VirtualMachineScaleSetVMs.Delete":        inSetDelete,
	"VirtualMachines.List":                    vmWideGet,
	"VirtualMachines.ListAll":                 vmWideGet,
	"VirtualMachines.Get":                     vmGet,
	"VirtualMachines.InstanceView":            vmGet,
	"VirtualMachines.Update":                  vmUpdate,
	"VirtualMachines.CreateOrUpdate":          vmUpdate,
	"VirtualMachines.Delete":                  vmDelete,
	operationGet:                              operation,
}

const (
	// Azure Resource Manager itself lets each principal send this much in a subscription and location: a bucket, refilled each
	// second, for reads, and smaller ones for writes and deletes.
	readBurst, readRate             = 250, 25
	writeBurst, writeRate           = 200, 10
	keyReads, keyWrites, keyDeletes = "reads", "writes", "deletes"
)

// budgetsOf are the buckets of a call: those of its category in compute, and that of Azure Resource Manager. The token service has
// none.
func budgetsOf(c wire.Call) []wire.Budget {
	if c.Service == serviceLogin {
		return nil
	}
	list := []wire.Budget{front(c)}
	is, known := categoryOf(c)
	if !known {
		return list
	}
	if is.burst > 0 {
		list = append(list, wire.Budget{
			Key: key(c, is.name), Name: is.calls + inSubscription(c), Label: is.calls, Burst: is.burst, PerSecond: perMinute(is.refill),
		})
	}
	if is.resourceBurst > 0 && c.Resource != "" {
		list = append(list, wire.Budget{
			Key: resourceKey(c, is.name), Name: resourceName(c.Resource) + " for " + is.calls,
			Burst: is.resourceBurst, PerSecond: perMinute(is.resourceRefill), Sole: true,
		})
	}
	return list
}

// categoryOf returns the category of a call; false for one that neither compute nor AKS counts.
func categoryOf(c wire.Call) (category, bool) {
	switch c.Service {
	case "compute":
		is, known := categories[c.Operation]
		return is, known
	case serviceAKS:
		is, known := categoriesAKS[c.Operation]
		if !known {
			is = othersAKS
		}
		return is, true
	}
	return category{}, false
}

func perMinute(refill int) float64 { return float64(refill) / 60 }

// inSubscription names the subscription and the location that share a bucket.
func inSubscription(c wire.Call) string {
	return fmt.Sprintf(" in subscription %s and location %s", c.Account, c.Region)
}

// resourceName returns the name, for messages, of the resource that has its own bucket. Instances of a scale set are named by the scale
// set, so that the text is the same for all of them.
func resourceName(path string) string {
	parts := strings.Split(strings.Trim(path, "/"), "/")
	for _, kind := range [][2]string{{"virtualmachinescalesets", "scale set "}, {"virtualmachines", "virtual machine "},
		{"agentpools", "agent pool "}, {"managedclusters", "managed cluster "}} {
		if at := slices.Index(parts, kind[0]); at >= 0 && at+1 < len(parts) {
			return kind[1] + parts[at+1]
		}
	}
	return "one operation"
}

// front returns the bucket of Azure Resource Manager for the call, which depends on whether it reads, writes or deletes.
func front(c wire.Call) wire.Budget {
	b := wire.Budget{Burst: writeBurst, PerSecond: writeRate}
	name := keyWrites
	switch {
	case strings.HasSuffix(c.Operation, ".Delete"):
		name = keyDeletes
	case isRead(c.Operation):
		name, b.Burst, b.PerSecond = keyReads, readBurst, readRate
	}
	b.Key, b.Name, b.Label = key(c, name), name+inSubscription(c), name
	return b
}

func isRead(operation string) bool {
	_, verb, _ := strings.Cut(operation, ".")
	return strings.HasPrefix(verb, "Get") || strings.HasPrefix(verb, "List") || verb == "InstanceView"
}

func key(c wire.Call, name string) string {
	return strings.Join([]string{c.Account, c.Region, name}, "/")
}

func resourceKey(c wire.Call, name string) string { return key(c, name) + c.Resource }

// The headers of replies with the number of remaining calls.
const (
	headerResource  = "x-ms-ratelimit-remaining-resource"
	headerFront     = "x-ms-ratelimit-remaining-subscription-"
	perResourceWord = "resource"
)

// remainingOf returns the remaining calls of the buckets that a reply reports. The name of a policy tells whether it is one resource's; all
// others are the subscription's.
func remainingOf(c wire.Call, h http.Header) []wire.Remaining {
	var left []wire.Remaining
	for _, name := range []string{keyReads, keyWrites, keyDeletes} {
		if n, err := strconv.Atoi(strings.TrimSpace(h.Get(headerFront + name))); err == nil {
			left = append(left, wire.Remaining{Key: key(c, name), Calls: n})
		}
	}
	is, known := categoryOf(c)
	if !known {
		return left
	}
	for _, policy := range strings.Split(strings.Join(h.Values(headerResource), ","), ",") {
		name, count, ok := strings.Cut(strings.TrimSpace(policy), ";")
		n, err := strconv.Atoi(strings.TrimSpace(count))
		if !ok || err != nil {
			continue
		}
		remaining := wire.Remaining{Key: key(c, is.name), Calls: n}
		if strings.Contains(strings.ToLower(name), perResourceWord) {
			remaining.Key = resourceKey(c, is.name)
		}
		left = append(left, remaining)
	}
	return left
}
