// Package status writes what a pass has observed into the status of an infrastructure object, in memory, and derives events from the status
// before and after it. It is pure: the reconciler writes the object and emits the events.
package status

import (
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/util/conditions"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/muster-project/muster/api/common"
	"github.com/muster-project/muster/engine/report"
	"github.com/muster-project/muster/kube/infrapool/settings"
	"github.com/muster-project/muster/pool"
)

// Object is an object with the status that all kinds share.
type Object interface {
	client.Object
	conditions.Setter
	// GetCommonStatus returns the part of the status that all kinds share, to be read and changed in place.
	GetCommonStatus() *common.Status
}

// MachinesOwned is the condition that is False while instances of the pool have no infrastructure machine, because another object
// has its name; it is absent otherwise.
const MachinesOwned = "MachinesOwned"

// ReasonMachineNameTaken is the reason of MachinesOwned, and of Ready if nothing else is wrong.
const ReasonMachineNameTaken = "MachineNameTaken"

// Fill sets the part of the status that all kinds share. version is the Kubernetes version of the MachinePool, nil if there is no
// MachinePool. What the report does not know keeps its value.
func Fill(status *common.Status, rep report.Report, version *string) {
	status.State = string(rep.State)
	status.DesiredReplicas = ptr.To(int32(rep.Counts.Desired))
	if version != nil {
		status.Version = *version
	}
	if !rep.Seen {
		return
	}
	status.Replicas = count(rep.Counts.Current)
	status.ReadyReplicas = count(rep.Counts.Ready)
	status.UpToDateReplicas = count(rep.Counts.UpToDate)
	status.Template = rep.Template
	status.Instances = instances(rep.Instances)
	fillCapacity(status, rep.Capacity)
	if rep.Provisioned {
		status.SetProvisioned()
	}
}

func count(n *int) *int32 {
	if n == nil {
		return nil
	}
	return ptr.To(int32(*n))
}

// maxInstances bounds how many instances a status lists: an object has to fit into what etcd accepts, together with the list of all
// provider IDs, and thousands of rows are of no use to a reader.
const maxInstances = 250

// listed returns the instances that a status lists, in their order: all, or in a large pool first those that do not serve.
func listed(list []report.Instance) []report.Instance {
	if len(list) <= maxInstances {
		return list
	}
	serves := func(i report.Instance) bool { return i.Ready && i.State == pool.Running }
	serving := maxInstances
	for _, i := range list {
		if !serves(i) {
			serving--
		}
	}
	others := maxInstances - max(serving, 0)
	return slices.DeleteFunc(slices.Clone(list), func(i report.Instance) bool {
		left := &others
		if serves(i) {
			left = &serving
		}
		*left--
		return *left < 0
	})
}

func instances(list []report.Instance) []common.InstanceStatus {
	var out []common.InstanceStatus
	for _, i := range listed(list) {
		status := common.InstanceStatus{
			InstanceID: i.ID, ProviderID: i.ProviderID, Zone: i.Zone, State: string(i.State), Node: i.Node, Ready: i.Ready, Template: i.Template,
		}
		if i.Version != "" {
			status.Version = ptr.To(i.Version)
		}
		out = append(out, status)
	}
	return out
}

// fillCapacity sets the capacity of a machine of the wanted template. While that is unknown, the status keeps its value.
func fillCapacity(status *common.Status, c *pool.NodeCapacity) {
	if c == nil {
		return
	}
	list := corev1.ResourceList{}
	set := func(name corev1.ResourceName, n int, unit int64, format resource.Format) {
		if n > 0 {
			list[name] = *resource.NewQuantity(int64(n)*unit, format)
		}
	}
	const mib = 1 << 20
	set(corev1.ResourceCPU, c.CPUs, 1, resource.DecimalSI)
	set(corev1.ResourceMemory, c.MemoryMiB, mib, resource.BinarySI)
	set(corev1.ResourcePods, c.Pods, 1, resource.DecimalSI)
	for name, n := range c.Devices {
		set(corev1.ResourceName(name), n, 1, resource.DecimalSI)
	}
	if !equality.Semantic.DeepEqual(status.Capacity, list) {
		status.Capacity = list // an equal quantity of another form would be written again and again
	}
	status.NodeInfo = common.NodeInfo{Architecture: c.Architecture, OperatingSystem: c.OperatingSystem}
}

// SetConditions sets conditions, also under the names that the ecosystem knows them by (aliases), and removes those of Muster that are not
// among them.
func SetConditions(o Object, all []report.Condition, aliases map[string]string, now time.Time) {
	list := slices.Clone(o.GetConditions())
	present := map[string]bool{clusterv1.PausedCondition: true}
	for _, c := range all {
		for _, name := range []string{c.Type, aliases[c.Type]} {
			if name == "" {
				continue
			}
			present[name] = true
			meta.SetStatusCondition(&list, metav1.Condition{
				Type: name, Status: metav1.ConditionStatus(c.Status), Reason: c.Reason, Message: c.Message,
				ObservedGeneration: o.GetGeneration(), LastTransitionTime: metav1.NewTime(now),
			})
		}
	}
	list = slices.DeleteFunc(list, func(c metav1.Condition) bool { return isReported(c.Type, aliases) && !present[c.Type] })
	o.SetConditions(list)
}

// isReported reports whether a condition is one that reports set: it is removed when a report no longer has it, and conditions of other
// controllers are left alone.
func isReported(name string, aliases map[string]string) bool {
	for _, t := range []string{report.Ready, report.TemplateReady, report.PrerequisitesReady, report.GroupReady, report.InstancesReady,
		report.UpToDate,
		report.Draining, report.Deleting, settings.Valid, MachinesOwned} {
		if name == t || name == aliases[t] {
			return true
		}
	}
	return false
}

// SetPaused sets the condition Paused of the contract; cause is empty if the object is not paused.
func SetPaused(o Object, cause string, now time.Time) {
	condition := metav1.Condition{
		Type: clusterv1.PausedCondition, Status: metav1.ConditionFalse, Reason: clusterv1.NotPausedReason,
		ObservedGeneration: o.GetGeneration(), LastTransitionTime: metav1.NewTime(now),
	}
	if cause != "" {
		condition.Status, condition.Reason, condition.Message = metav1.ConditionTrue, clusterv1.PausedReason, cause
	}
	list := slices.Clone(o.GetConditions())
	meta.SetStatusCondition(&list, condition)
	o.SetConditions(list)
}
