// Package azurestatus translates a report into the terms of the ecosystem's Azure provider: the conditions of scale sets, their
// provisioning state, and running operations.
package azurestatus

import (
	"cmp"
	"fmt"

	azurev1 "github.com/muster-project/muster/api/azure/v1beta1"
	"github.com/muster-project/muster/engine/report"
	"github.com/muster-project/muster/pool"
)

// The conditions of scale sets in the ecosystem.
const (
	scaleSetRunning         = "ScaleSetRunning"
	scaleSetModelUpdated    = "ScaleSetModelUpdated"
	scaleSetDesiredReplicas = "ScaleSetDesiredReplicas"
)

// Conditions returns the conditions of scale sets in the ecosystem, with its reasons.
func Conditions(r report.Report, g *pool.Group) []report.Condition {
	return []report.Condition{running(r, g), modelUpdated(r, g), desiredReplicas(r)}
}

// ProvisioningState returns that of the scale set, or Updating while it has another number of machines than desired.
func ProvisioningState(r report.Report, g *pool.Group) *azurev1.ProvisioningState {
	if g == nil {
		return nil
	}
	state := azurev1.ProvisioningState(g.State)
	switch {
	case g.Deleting:
		state = azurev1.Deleting
	case (state == azurev1.Succeeded || state == "") && !complete(r):
		state = azurev1.Updating
	case state == "":
		state = azurev1.Succeeded
	}
	return &state
}

// complete reports whether there are as many machines as desired.
func complete(r report.Report) bool {
	return r.Counts.Current != nil && *r.Counts.Current == r.Counts.Desired
}

// running returns whether the scale set exists and Azure reports no failure.
func running(r report.Report, g *pool.Group) report.Condition {
	c := report.Condition{Type: scaleSetRunning, Status: report.False}
	if g == nil {
		c.Reason, c.Message = "ScaleSetMissing", cmp.Or(r.Condition(report.GroupReady).Message, r.Condition(report.Deleting).Message)
		return c
	}
	switch state := azurev1.ProvisioningState(g.State); {
	case g.Deleting, state == azurev1.Deleting:
		c.Reason, c.Message = "ScaleSetDeleting", "Azure is deleting the scale set"
	case state == azurev1.Creating:
		c.Reason, c.Message = "ScaleSetCreating", "Azure is creating the scale set"
	case state == azurev1.Failed:
		c.Reason, c.Message = "ScaleSetProvisionFailed", cmp.Or(why(r), "the last operation on the scale set has failed")
	case state == azurev1.Succeeded, state == azurev1.Updating, state == "":
		c.Status, c.Reason, c.Message = report.True, scaleSetRunning, "the scale set exists"
	default:
		c.Reason, c.Message = string(state), fmt.Sprintf("the provisioning state of the scale set is %s", state)
	}
	return c
}

// modelUpdated returns whether the scale set's model matches the specification. UpToDate reports it for the machines.
func modelUpdated(r report.Report, g *pool.Group) report.Condition {
	c := report.Condition{Type: scaleSetModelUpdated, Status: report.False, Reason: "ScaleSetModelOutOfDate"}
	ready := r.Condition(report.TemplateReady)
	switch {
	case g != nil && g.State == string(azurev1.Updating):
		c.Message = "Azure is changing the scale set"
	case ready.Type == "":
		c.Status, c.Reason, c.Message = report.Unknown, "Deleting", "the pool is being deleted"
	default:
		c.Status, c.Message = ready.Status, ready.Message
	}
	if c.Status == report.True {
		c.Reason = "ScaleSetModelUpdated"
	}
	return c
}

// desiredReplicas returns whether there are as many machines as desired.
func desiredReplicas(r report.Report) report.Condition {
	c := report.Condition{Type: scaleSetDesiredReplicas, Status: report.True, Reason: scaleSetDesiredReplicas}
	if r.Counts.Current == nil {
		c.Status, c.Reason, c.Message = report.Unknown, "ReplicasUnknown", "how many machines exist is not known"
		return c
	}
	have, want := *r.Counts.Current, r.Counts.Desired
	c.Message = fmt.Sprintf("%d machines exist, %d are wanted", have, want)
	switch {
	case have < want:
		c.Status, c.Reason = report.False, "ScaleSetScalingUp"
	case have > want:
		c.Status, c.Reason = report.False, "ScaleSetScalingDown"
	}
	return c
}

// why returns the message of the condition that keeps machines from being created.
func why(r report.Report) string {
	for _, name := range []string{report.GroupReady, report.InstancesReady} {
		if c := r.Condition(name); c.Status == report.False {
			return c.Message
		}
	}
	return ""
}

// Futures returns the operations in the form of the status.
func Futures(list []pool.Operation) []azurev1.Future {
	var out []azurev1.Future
	for _, op := range list {
		out = append(out, azurev1.FutureOf(op.Type, op.Resource, op.Token))
	}
	return out
}

// Operations returns the operations in the status, as hints. It skips what it cannot parse.
func Operations(list []azurev1.Future, subscription string) []pool.Operation {
	var out []pool.Operation
	for _, f := range list {
		if resource, token, err := f.Operation(subscription); err == nil {
			out = append(out, pool.Operation{Type: f.Type, Resource: resource, Token: token})
		}
	}
	return out
}
