package compute

import (
	"net/http"
	"slices"

	"github.com/muster-project/muster/sim/azure/arm"
)

// The versions that are spoken, the oldest first.
var (
	computeVersions = []string{
		"2022-03-01", "2022-08-01", "2022-11-01", "2023-03-01", "2023-07-01", "2023-09-01", "2024-03-01", "2024-07-01", "2024-11-01",
		"2025-04-01", "2025-11-01", "2026-03-01", "2026-04-01",
	}
	skuVersions = []string{"2019-04-01", "2021-07-01"}
)

const (
	computePath = "/subscriptions/{sub}/resourcegroups/{rg}/providers/microsoft.compute"
	setsPath    = computePath + "/virtualmachinescalesets"
	setPath     = setsPath + "/{set}"
	setVMsPath  = setPath + "/virtualmachines"
	setVMPath   = setVMsPath + "/{vm}"
	vmsPath     = computePath + "/virtualmachines"
	vmPath      = vmsPath + "/{vm}"
	allPath     = "/subscriptions/{sub}/providers/microsoft.compute"
	allVMsPath  = allPath + "/virtualmachines"

	setPermission   = "Microsoft.Compute/virtualMachineScaleSets/"
	setVMPermission = setPermission + "virtualMachines/"
	vmPermission    = "Microsoft.Compute/virtualMachines/"
)

// The categories by which requests are throttled, as the documentation of Azure's compute throttling has them.
const (
	createSet    = "CreateVMScaleSet"
	updateSet    = "UpdateVMScaleSet"
	deleteSet    = "DeleteVMScaleSet"
	lowGetSet    = "LowCostGetVMScaleSet"
	highGetSet   = "HighCostGetVMScaleSet"
	listSets     = "ListVMScaleSet"
	updateSetVM  = "UpdateVMScaleSetVM"
	getSetVM     = "GetVMScaleSetVM"
	updateVM     = "UpdateVM"
	lowGetVM     = "LowCostGetVM"
	highGetVM    = "HighCostGetVM"
	getOperation = "GetOperation"
)

// Limits are the documented requests a minute by category: for each resource, and for a subscription in a region; 0 is no limit.
var Limits = map[string][2]float64{
	createSet: {4, 125}, updateSet: {4, 500}, deleteSet: {4, 175}, lowGetSet: {12, 800}, highGetSet: {10, 360}, listSets: {0, 360},
	updateSetVM: {4, 500}, getSetVM: {12, 2000}, updateVM: {4, 500}, lowGetVM: {12, 8000}, highGetVM: {0, 300}, getOperation: {15, 5000},
}

// putBucket tells a PUT that creates a scale set from one that changes it.
func putBucket(w *Service, x *arm.Call) string {
	if w.sets.Get(SetKey(x.Vars["sub"], x.Vars["rg"], x.Vars["set"])) == nil {
		return createSet
	}
	return updateSet
}

// Routes returns all operations of the service.
func Routes() []arm.Route[*Service] {
	return slices.Concat(setRoutes(), machineRoutes(), actionRoutes(), otherRoutes())
}

// of returns an operation of the service.
func of(method, path, name, permission, bucket string, run func(*Service, *arm.Call) (*arm.Answer, error)) arm.Route[*Service] {
	return arm.Route[*Service]{
		Service: "compute", Method: method, Pattern: path, Name: name, Versions: computeVersions, Permissions: []string{permission},
		Bucket: bucket, Mutating: method != http.MethodGet, Run: run,
	}
}

func setRoutes() []arm.Route[*Service] {
	r := func(method, path, name, permission, bucket string, run func(*Service, *arm.Call) (*arm.Answer, error)) arm.Route[*Service] {
		one := of(method, path, "VirtualMachineScaleSets_"+name, setPermission+permission, bucket, run)
		one.Exclusive = name == "CreateOrUpdate" || name == "Update" || name == "DeleteInstances"
		return one
	}
	put := r(http.MethodPut, setPath, "CreateOrUpdate", "write", "", via((*scaleSets).putSet))
	put.BucketOf = putBucket
	return []arm.Route[*Service]{
		put,
		r(http.MethodPatch, setPath, "Update", "write", updateSet, via((*scaleSets).patchSet)),
		r(http.MethodGet, setPath, "Get", "read", lowGetSet, via((*scaleSets).getSet)),
		r(http.MethodDelete, setPath, "Delete", "delete", deleteSet, via((*scaleSets).deleteSet)),
		r(http.MethodGet, setsPath, "List", "read", listSets, via((*scaleSets).listSets)),
		r(http.MethodGet, "/subscriptions/{sub}/providers/microsoft.compute/virtualmachinescalesets", "ListAll", "read", listSets,
			via((*scaleSets).listSets)),
		r(http.MethodGet, setPath+"/instanceview", "GetInstanceView", "instanceView/read", highGetSet, via((*scaleSets).setInstanceView)),
		r(http.MethodGet, setPath+"/skus", "ListSkus", "skus/read", highGetSet, via((*scaleSets).listSetSKUs)),
		r(http.MethodPost, setPath+"/delete", "DeleteInstances", "delete/action", updateSet, via((*virtualMachines).deleteInstances)),
		r(http.MethodPost, setPath+"/manualupgrade", "UpdateInstances", "manualUpgrade/action", updateSet,
			via((*virtualMachines).updateInstances)),
	}
}

func machineRoutes() []arm.Route[*Service] {
	remove := of(http.MethodDelete, setVMPath, "VirtualMachineScaleSetVMs_Delete", setVMPermission+"delete", updateSetVM,
		via((*virtualMachines).deleteSetVM))
	remove.Exclusive = true
	return []arm.Route[*Service]{
		of(http.MethodGet, setVMsPath, "VirtualMachineScaleSetVMs_List", setVMPermission+"read", listSets, via((*virtualMachines).listSetVMs)),
		of(http.MethodGet, setVMPath, "VirtualMachineScaleSetVMs_Get", setVMPermission+"read", getSetVM, via((*virtualMachines).getSetVM)),
		of(http.MethodGet, setVMPath+"/instanceview", "VirtualMachineScaleSetVMs_GetInstanceView", setVMPermission+"instanceView/read", getSetVM,
			via((*virtualMachines).setVMInstanceView)),
		of(http.MethodPut, setVMPath, "VirtualMachineScaleSetVMs_Update", setVMPermission+"write", updateSetVM, via((*virtualMachines).putSetVM)),
		remove,
		of(http.MethodGet, vmsPath, "VirtualMachines_List", vmPermission+"read", highGetVM, via((*virtualMachines).listVMs)),
		of(http.MethodGet, allVMsPath, "VirtualMachines_ListAll", vmPermission+"read", highGetVM, via((*virtualMachines).listAllVMs)),
		of(http.MethodGet, vmPath, "VirtualMachines_Get", vmPermission+"read", lowGetVM, via((*virtualMachines).getVM)),
		of(http.MethodGet, vmPath+"/instanceview", "VirtualMachines_InstanceView", vmPermission+"instanceView/read", lowGetVM,
			via((*virtualMachines).vmInstanceView)),
		of(http.MethodPatch, vmPath, "VirtualMachines_Update", vmPermission+"write", updateVM, via((*virtualMachines).patchVM)),
		of(http.MethodDelete, vmPath, "VirtualMachines_Delete", vmPermission+"delete", updateVM, via((*virtualMachines).deleteVM)),
	}
}

func otherRoutes() []arm.Route[*Service] {
	sizes := of(http.MethodGet, allPath+"/skus", "ResourceSkus_List", "Microsoft.Compute/skus/read", "", via((*capacity).listSKUs))
	sizes.Versions = skuVersions
	return []arm.Route[*Service]{
		of(http.MethodGet, allPath+"/locations/{location}/operations/{op}", "Operations_Get", "Microsoft.Compute/locations/operations/read",
			getOperation, via((*running).getOperation)),
		sizes,
		of(http.MethodGet, allPath+"/locations/{location}/usages", "Usage_List", "Microsoft.Compute/locations/usages/read", "",
			via((*capacity).listUsage)),
	}
}

// via returns an operation of a part as one of the service.
func via[P ~struct{ *Service }](f func(*P, *arm.Call) (*arm.Answer, error)) func(*Service, *arm.Call) (*arm.Answer, error) {
	return func(w *Service, x *arm.Call) (*arm.Answer, error) { return f(&P{w}, x) }
}
