package session

import (
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/compute/armcompute/v8"

	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/pool"
)

// reasonFailed is the reason word of a failure that is of no kind.
const reasonFailed = "LaunchFailed"

// StatusIssue is what one status of an instance view says of a failure, in Azure's own words: "ProvisioningState/failed/AllocationFailed"
// with its message. It is not ok for a status that tells of none.
func StatusIssue(status *armcompute.InstanceViewStatus) (issue pool.Cause, ok bool) {
	if status == nil || status.Code == nil {
		return pool.Cause{}, false
	}
	parts := strings.SplitN(*status.Code, "/", 3)
	if len(parts) < 2 || !strings.EqualFold(parts[1], "failed") {
		return pool.Cause{}, false
	}
	is := said{}
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
	is.plainest(depthMost).tell(refused, 0)
	return IssueOf(refused), true
}

// IssueOf is a refusal as an issue: its kind as far as it says something about the machines, its code and its words.
func IssueOf(e *cloud.Error) pool.Cause {
	issue := pool.Cause{Reason: reasonFailed, Message: e.Message}
	switch {
	case e.Message == "":
		issue.Message = e.Code
	case e.Code != "":
		issue.Message = e.Code + ": " + e.Message
	}
	switch e.Kind {
	case cloud.Capacity, cloud.Denied, cloud.Invalid:
		issue.Reason = string(e.Kind)
	}
	return issue
}
