package session

import (
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/compute/armcompute/v8"

	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/driverkit"
	"github.com/muster-project/muster/pool"
)

// StatusIssue returns the failure that one status of an instance view reports, with Azure's code and message
// ("ProvisioningState/failed/AllocationFailed"). ok is false if the status reports none.
func StatusIssue(status *armcompute.InstanceViewStatus) (issue pool.Cause, ok bool) {
	if status == nil || status.Code == nil {
		return pool.Cause{}, false
	}
	parts := strings.SplitN(*status.Code, "/", 3)
	if len(parts) < 2 || !strings.EqualFold(parts[1], "failed") {
		return pool.Cause{}, false
	}
	is := serviceError{}
	if status.Message != nil {
		is.Message = *status.Message
	}
	if is.Message == "" && status.DisplayStatus != nil {
		is.Message = *status.DisplayStatus
	}
	if len(parts) == 3 {
		is.Code = parts[2]
	}
	refused := &cloud.Error{Kind: cloud.Unavailable}
	is.innermost(maxDepth).classify(refused, 0)
	return driverkit.FailureOf(refused), true
}
