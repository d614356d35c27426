package azure

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	azurev1 "github.com/muster-project/muster/api/azure/v1beta1"
	"github.com/muster-project/muster/engine"
	"github.com/muster-project/muster/engine/report"
	"github.com/muster-project/muster/kube/infrapool"
	"github.com/muster-project/muster/pool"
)

// The conditions that the ecosystem knows scale sets by.
const (
	scaleSetRunning         = "ScaleSetRunning"
	scaleSetModelUpdated    = "ScaleSetModelUpdated"
	scaleSetDesiredReplicas = "ScaleSetDesiredReplicas"
)

const (
	// imagePrefix begins the key under which the driver has an object remember the image that was found for a Kubernetes version.
	imagePrefix = "image-"
	// scaleSets is what the ecosystem calls the service that an operation on a scale set is of.
	scaleSets = "scalesets"
)

var _ infrapool.Telling[*azurev1.AzureMachinePool] = Adapter{}

// Report writes the fields that the ecosystem knows.
func (Adapter) Report(o *azurev1.AzureMachinePool, r report.Report, out engine.Outcome) {
	o.Status.ProvisioningState = provisioningState(r, out.Observed.Group)
	o.Status.Image = image(o, out.Observed.Remember)
	o.Status.LongRunningOperationStates = futures(out.Observed.Operations)
}

// provisioningState is the scale set's own, and Updating as well while it has another number of machines than is wanted.
func provisioningState(r report.Report, g *pool.Group) *azurev1.ProvisioningState {
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

// complete says that there are as many machines as are wanted.
func complete(r report.Report) bool {
	return r.Counts.Current != nil && *r.Counts.Current == r.Counts.Desired
}

// image is what new machines boot from: as the specification names it, or else as it was found for the Kubernetes version.
func image(o *azurev1.AzureMachinePool, remembered map[string]string) *azurev1.Image {
	if o.Spec.Template.Image != nil {
		return o.Spec.Template.Image.DeepCopy()
	}
	var keys []string
	for key := range remembered {
		if strings.HasPrefix(key, imagePrefix) {
			keys = append(keys, key)
		}
	}
	found := &azurev1.Image{}
	if len(keys) != 1 || json.Unmarshal([]byte(remembered[keys[0]]), found) != nil {
		return o.Status.Image // what is looked up at this moment is not known to be another
	}
	return found
}

// Conditions are those that the ecosystem knows scale sets by, with its reasons.
func (Adapter) Conditions(_ *azurev1.AzureMachinePool, r report.Report, out engine.Outcome) []report.Condition {
	return []report.Condition{running(r, out.Observed.Group), modelUpdated(r, out.Observed.Group), desiredReplicas(r)}
}

// running says whether the scale set exists and Azure is content with it.
func running(r report.Report, g *pool.Group) report.Condition {
	c := report.Condition{Type: scaleSetRunning, Status: report.False}
	if g == nil {
		c.Reason, c.Message = "ScaleSetMissing", cmp.Or(said(r, report.GroupReady), said(r, report.Deleting))
		return c
	}
	switch state := azurev1.ProvisioningState(g.State); {
	case g.Deleting, state == azurev1.Deleting:
		c.Reason, c.Message = "ScaleSetDeleting", "Azure is deleting the scale set"
	case state == azurev1.Creating:
		c.Reason, c.Message = "ScaleSetCreating", "Azure is making the scale set"
	case state == azurev1.Failed:
		c.Reason, c.Message = "ScaleSetProvisionFailed", cmp.Or(why(r), "the last operation on the scale set has failed")
	case state == azurev1.Succeeded, state == azurev1.Updating, state == "":
		c.Status, c.Reason, c.Message = report.True, scaleSetRunning, "the scale set exists"
	default:
		c.Reason, c.Message = string(state), fmt.Sprintf("the provisioning state of the scale set is %s", state)
	}
	return c
}

// modelUpdated says whether the scale set's model is what the specification asks for. Whether the machines are is said by UpToDate.
func modelUpdated(r report.Report, g *pool.Group) report.Condition {
	c := report.Condition{Type: scaleSetModelUpdated, Status: report.False, Reason: "ScaleSetModelOutOfDate"}
	i := slices.IndexFunc(r.Conditions, func(c report.Condition) bool { return c.Type == report.TemplateReady })
	switch {
	case g != nil && g.State == string(azurev1.Updating):
		c.Message = "Azure is changing the scale set"
	case i >= 0:
		ready := r.Conditions[i]
		c.Status, c.Message = ready.Status, ready.Message
		if ready.Status == report.True {
			c.Reason = "ScaleSetModelUpdated"
		}
	default:
		c.Status, c.Reason, c.Message = report.Unknown, "Deleting", "the pool is being deleted"
	}
	return c
}

// desiredReplicas says whether there are as many machines as are wanted.
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

// said is the message of a condition of the report; empty without it.
func said(r report.Report, name string) string {
	for _, c := range r.Conditions {
		if c.Type == name {
			return c.Message
		}
	}
	return ""
}

// why is what the report says that keeps machines from coming.
func why(r report.Report) string {
	for _, c := range r.Conditions {
		if (c.Type == report.GroupReady || c.Type == report.InstancesReady) && c.Status == report.False {
			return c.Message
		}
	}
	return ""
}

// futures are the operations as the status has them.
func futures(list []pool.Operation) []azurev1.Future {
	var out []azurev1.Future
	for _, op := range list {
		parts := strings.Split(strings.Trim(op.Resource[strings.Index(op.Resource, "/")+1:], "/"), "/")
		out = append(out, azurev1.Future{
			Type: op.Type, ServiceName: scaleSets, ResourceGroup: after(parts, "resourceGroups"), Name: parts[len(parts)-1],
			Data: base64.URLEncoding.EncodeToString([]byte(op.Token)),
		})
	}
	return out
}

// after is the segment of a resource ID that follows a name.
func after(parts []string, name string) string {
	i := slices.IndexFunc(parts, func(part string) bool { return strings.EqualFold(part, name) })
	if i < 0 || i+1 == len(parts) {
		return ""
	}
	return parts[i+1]
}

// operations are what the status says of operations, as hints. What can't be read is none.
func operations(list []azurev1.Future, subscription string) []pool.Operation {
	var out []pool.Operation
	for _, future := range list {
		token, err := base64.URLEncoding.DecodeString(future.Data)
		if err != nil {
			continue
		}
		out = append(out, pool.Operation{
			Type: future.Type, Token: string(token),
			Resource: fmt.Sprintf("azure:///subscriptions/%s/resourceGroups/%s/providers/Microsoft.Compute/virtualMachineScaleSets/%s", subscription, future.ResourceGroup, future.Name),
		})
	}
	return out
}
