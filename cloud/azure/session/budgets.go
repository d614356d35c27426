package session

import (
	"net/http"
	"strconv"
	"strings"

	"github.com/muster-project/muster/cloud/wire"
)

// category are the token buckets of a kind of call: one for each resource and one for the subscription in the location, each with
// its size and its refill in a minute.
type category struct {
	name                          string
	resourceBurst, resourceRefill int
	burst, refill                 int
	// looks yield to others when a bucket runs low.
	looks bool
}

// The documented categories of compute (compute-throttling-limits in Azure's documentation). Listing a scale set's instances is in
// none of them; it is counted with the other reads of such instances, for it has been throttled like them. What is done to several
// instances at once is an update of the scale set.
var (
	setPut      = category{"set-update", 12, 4, 1500, 500, false}
	setDelete   = category{"set-delete", 12, 4, 525, 175, false}
	setGet      = category{"set-get", 36, 12, 2400, 800, true}
	setWideGet  = category{"set-wide-get", 30, 10, 1080, 360, true}
	inSetUpdate = category{"instance-update", 12, 4, 1500, 500, false}
	inSetDelete = category{"instance-delete", 12, 4, 1500, 500, false}
	inSetGet    = category{"instance-get", 36, 12, 6000, 2000, true}
	vmUpdate    = category{"vm-update", 12, 4, 1500, 500, false}
	vmDelete    = category{"vm-delete", 12, 4, 1500, 500, false}
	vmGet       = category{"vm-get", 36, 12, 24000, 8000, true}
	vmWideGet   = category{"vm-wide-get", 0, 0, 900, 300, true}
	operation   = category{"operation-get", 45, 15, 15000, 5000, true}
)

// categories are those of the calls that are sent. Whatever else is asked of compute counts as a read or an update of one machine.
var categories = map[string]category{
	"VirtualMachineScaleSets.CreateOrUpdate":  setPut,
	"VirtualMachineScaleSets.Update":          setPut,
	"VirtualMachineScaleSets.UpdateInstances": setPut,
	"VirtualMachineScaleSets.DeleteInstances": setPut,
	"VirtualMachineScaleSets.Delete":          setDelete,
	"VirtualMachineScaleSets.Get":             setGet,
	"VirtualMachineScaleSets.GetInstanceView": setWideGet,
	"VirtualMachineScaleSets.List":            setWideGet,
	"VirtualMachineScaleSetVMs.List":          inSetGet,
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
	readBurst, readRate   = 250, 25
	writeBurst, writeRate = 200, 10
	// floorShare of a bucket is left by looks: a tenth.
	floorShare = 10

	keyReads, keyWrites, keyDeletes = "reads", "writes", "deletes"
)

// budgetsOf are the buckets of a call: those of its category in compute, and that of Azure Resource Manager. Whoever gives tokens has
// none.
func budgetsOf(c wire.Call) []wire.Budget {
	if c.Service == serviceLogin {
		return nil
	}
	is, known := categories[c.Operation]
	front := front(c)
	if !known || c.Service != "compute" {
		return []wire.Budget{front}
	}
	list := []wire.Budget{front, bucket(key(c, is.name), is.burst, is.refill, is.looks)}
	if is.resourceBurst > 0 && c.Resource != "" {
		list = append(list, bucket(resourceKey(c, is.name), is.resourceBurst, is.resourceRefill, is.looks))
	}
	return list
}

// bucket is one that is refilled by the minute.
func bucket(key string, burst, refill int, looks bool) wire.Budget {
	b := wire.Budget{Key: key, Burst: burst, PerSecond: float64(refill) / 60}
	if looks {
		b.Floor = burst / floorShare
	}
	return b
}

// front is the bucket of Azure Resource Manager. Whether a call reads, writes or deletes is in its name.
func front(c wire.Call) wire.Budget {
	switch {
	case strings.HasSuffix(c.Operation, ".Delete"):
		return wire.Budget{Key: key(c, keyDeletes), Burst: writeBurst, PerSecond: writeRate}
	case isRead(c.Operation):
		return wire.Budget{Key: key(c, keyReads), Burst: readBurst, PerSecond: readRate, Floor: readBurst / floorShare}
	default:
		return wire.Budget{Key: key(c, keyWrites), Burst: writeBurst, PerSecond: writeRate}
	}
}

func isRead(operation string) bool {
	_, verb, _ := strings.Cut(operation, ".")
	return strings.HasPrefix(verb, "Get") || strings.HasPrefix(verb, "List") || verb == "InstanceView"
}

func key(c wire.Call, name string) string {
	return strings.Join([]string{c.Account, c.Region, name}, "/")
}

func resourceKey(c wire.Call, name string) string { return key(c, name) + c.Resource }

// The headers in which replies tell how many more calls will be taken.
const (
	headerResource  = "x-ms-ratelimit-remaining-resource"
	headerFront     = "x-ms-ratelimit-remaining-subscription-"
	perResourceWord = "resource"
)

// leftOf is what a reply tells of its call's buckets. A policy's name says whether it is one resource's; all others are the
// subscription's.
func leftOf(c wire.Call, h http.Header) []wire.Left {
	var left []wire.Left
	for _, name := range []string{keyReads, keyWrites, keyDeletes} {
		if n, err := strconv.Atoi(strings.TrimSpace(h.Get(headerFront + name))); err == nil {
			left = append(left, wire.Left{Key: key(c, name), Calls: n})
		}
	}
	is, known := categories[c.Operation]
	if !known {
		return left
	}
	for _, policy := range strings.Split(strings.Join(h.Values(headerResource), ","), ",") {
		name, count, ok := strings.Cut(strings.TrimSpace(policy), ";")
		n, err := strconv.Atoi(strings.TrimSpace(count))
		if !ok || err != nil {
			continue
		}
		told := wire.Left{Key: key(c, is.name), Calls: n}
		if strings.Contains(strings.ToLower(name), perResourceWord) {
			told.Key = resourceKey(c, is.name)
		}
		left = append(left, told)
	}
	return left
}
