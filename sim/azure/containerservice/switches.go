package containerservice

import (
	"errors"
	"net/http"
	"slices"

	"github.com/muster-project/muster/sim"
	"github.com/muster-project/muster/sim/azure/arm"
	"github.com/muster-project/muster/sim/document"
)

// The switches of AKS.
const (
	// ETags shows the eTag of managed clusters and agent pools, and holds requests to their conditions. Microsoft documents both since API
	// version 2024-09-01; the answers in versions 2025-08-01 to 2026-05-01 that were recorded up to September 2026 show none.
	ETags sim.Switch = "aks.ETags"
	// LowersCount lowers the count of an agent pool at rest with a machine that was deleted behind AKS's back. Otherwise the count stays, and
	// AKS makes up for the machine with the next operation.
	LowersCount sim.Switch = "aks.LowersCount"
	// HidesOwn leaves the label and the taint that AKS gives spot nodes out of what it shows of an agent pool. Otherwise it shows them among
	// those of the user.
	HidesOwn sim.Switch = "aks.HidesOwn"
	// LosesOwn takes the label of spot nodes off an agent pool whose labels a request replaces without it.
	LosesOwn sim.Switch = "aks.LosesOwn"
	// ETagConflict refuses a request whose eTag is out of date with 409 instead of 412.
	ETagConflict sim.Switch = "aks.ETagConflict"
	// OperationErrors shows an error of each operation that runs or has succeeded, as some answers do.
	OperationErrors sim.Switch = "aks.OperationErrors"
	// AbsentNotFound answers the deletion of an agent pool that does not exist with 404.
	AbsentNotFound sim.Switch = "aks.AbsentNotFound"
	// RenewsMachines deletes the machines that an upgrade has drained, and creates others, instead of reimaging them.
	RenewsMachines sim.Switch = "aks.RenewsMachines"
	// ResumesNot lets a request that changes nothing end without resuming an upgrade that failed.
	ResumesNot sim.Switch = "aks.ResumesNot"
)

// conditions holds a request to the conditions of its headers, where objects have an eTag.
func conditions(w *arm.Core, x *arm.Call, current string) error {
	if !w.Switches.On(ETags) {
		return nil
	}
	err := x.Conditions(current)
	if e, is := errors.AsType[*arm.Error](err); is && w.Switches.On(ETagConflict) {
		e.Status, e.Code = http.StatusConflict, "Conflict"
	}
	return err
}

// addOwn adds the label and the taint of spot nodes to those of a pool, unless they were given or AKS does not show them there.
func addOwn(w *arm.Core, d document.Object) {
	if !spot(d) || w.Switches.On(HidesOwn) {
		return
	}
	document.Preset(d, "nodeLabels", document.Object{})
	document.Under(d, "nodeLabels")[spotLabel] = "spot"
	if !slices.Contains(document.Texts(d, "nodeTaints"), spotTaint) {
		d["nodeTaints"] = append(document.Items(d, "nodeTaints"), spotTaint)
	}
}

// keepOwn adds the label and the taint of spot nodes to what a pool becomes by a request.
func keepOwn(w *arm.Core, next, properties document.Object) {
	if properties["nodeLabels"] == nil || !w.Switches.On(LosesOwn) {
		addOwn(w, next)
	}
}

// deletedAbsent answers the deletion of an agent pool that does not exist.
func deletedAbsent(w *arm.Core, name string) (*arm.Answer, error) {
	if w.Switches.On(AbsentNotFound) {
		return nil, refuse(http.StatusNotFound, "NotFound", "Could not find agent pool: %s.", name)
	}
	return &arm.Answer{Status: http.StatusNoContent}, nil
}
