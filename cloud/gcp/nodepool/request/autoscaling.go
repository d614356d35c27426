package request

import "google.golang.org/api/container/v1"

// autoscalingDiffers reports whether GKE's autoscaler is otherwise than is wanted.
func autoscalingDiffers(want, is *container.NodePool) bool {
	if want.Autoscaling == nil {
		return false
	}
	has := is.Autoscaling
	if has == nil {
		has = &container.NodePoolAutoscaling{}
	}
	w := Autoscaling(want, is)
	if !w.Enabled {
		return has.Enabled
	}
	return !has.Enabled || w.MinNodeCount != has.MinNodeCount || w.MaxNodeCount != has.MaxNodeCount ||
		w.TotalMinNodeCount != has.TotalMinNodeCount || w.TotalMaxNodeCount != has.TotalMaxNodeCount || w.LocationPolicy != has.LocationPolicy
}

// Autoscaling returns the settings of GKE's autoscaler as they are sent: GKE replaces all of them, so that what the specification leaves
// out is as it is. Bounds of each zone and bounds of the whole node pool exclude each other.
func Autoscaling(want, is *container.NodePool) *container.NodePoolAutoscaling {
	out := &container.NodePoolAutoscaling{ForceSendFields: []string{"Enabled"}}
	w, has := want.Autoscaling, is.Autoscaling
	if w == nil || !w.Enabled {
		return out
	}
	if has == nil || !has.Enabled {
		has = &container.NodePoolAutoscaling{}
	}
	out.Enabled, out.LocationPolicy = true, w.LocationPolicy
	if out.LocationPolicy == "" {
		out.LocationPolicy = has.LocationPolicy
	}
	total := w.TotalMinNodeCount != 0 || w.TotalMaxNodeCount != 0
	zonal := w.MinNodeCount != 0 || w.MaxNodeCount != 0
	switch {
	case total:
		out.TotalMinNodeCount, out.TotalMaxNodeCount = w.TotalMinNodeCount, either(w.TotalMaxNodeCount, has.TotalMaxNodeCount)
	case zonal:
		out.MinNodeCount, out.MaxNodeCount = w.MinNodeCount, either(w.MaxNodeCount, has.MaxNodeCount)
	default:
		out.MinNodeCount, out.MaxNodeCount = has.MinNodeCount, has.MaxNodeCount
		out.TotalMinNodeCount, out.TotalMaxNodeCount = has.TotalMinNodeCount, has.TotalMaxNodeCount
	}
	return out
}

func either(a, b int64) int64 {
	if a != 0 {
		return a
	}
	return b
}

// managementDiffers reports whether GKE repairs and upgrades nodes otherwise than is wanted.
func managementDiffers(want, is *container.NodePool) bool {
	w, has := want.Management, is.Management
	if w == nil {
		return false
	}
	if has == nil {
		has = &container.NodeManagement{}
	}
	return w.AutoRepair != has.AutoRepair || w.AutoUpgrade != has.AutoUpgrade
}
