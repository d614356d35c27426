package session

import (
	"context"
	"errors"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/driverkit"
)

const opGet = "compute:VirtualMachineScaleSets.Get"

// refusalsCases are the cases of TestRefusals.
var refusalsCases = []struct {
	reason string
	answer answer
	want   cloud.Error
	target string
}{
	{
		"a quota is capacity although the code says conflict, and where is the quota and the place",
		answer{status: 409, body: `{"error":{"code":"OperationNotAllowed","message":"Operation could not be completed as it results in exceeding approved standardDSv3Family Cores quota. Additional details - Deployment Model: Resource Manager, Location: centralus, Current Limit: 1000, Current Usage: 1000, Additional Required: 4, (Minimum) New Limit Required: 1004. Submit a request for Quota increase at https://aka.ms/ProdportalCRP/#blade/Microsoft_Azure_Capacity/UsageAndQuota.ReactView/Parameters/%7B%22subscriptionId%22:%22a20fed83-96bd-4480-92a9-140b8e3b7c3a%22 by specifying parameters listed in the ‘Details’ section for deployment to succeed. Please read more about quota limits at https://docs.microsoft.com/en-us/azure/azure-supportability/regional-quota-requests."}}`},
		cloud.Error{
			Kind: cloud.Capacity, Code: "OperationNotAllowed", Where: "quota standardDSv3Family Cores, centralus",
			Message: "Operation could not be completed as it results in exceeding approved standardDSv3Family Cores quota. Additional details - " +
				"Deployment Model: Resource Manager, Location: centralus, Current Limit: 1000, Current Usage: 1000, Additional Required: 4, " +
				"(Minimum) New Limit Required: 1004",
		},
		"",
	},
	{
		"older words for the same",
		answer{status: 409, body: `{"error":{"code":"OperationNotAllowed","message":"Operation results in exceeding quota limits of Core. Maximum allowed: 20, Current in use: 20, Additional requested: 2."}}`},
		cloud.Error{Kind: cloud.Capacity, Code: "OperationNotAllowed",
			Message: "Operation results in exceeding quota limits of Core. Maximum allowed: 20, Current in use: 20, Additional requested: 2."},
		"",
	},
	{
		"a size that is sold out here",
		answer{status: 409, body: `{"error":{"code":"SkuNotAvailable","message":"The requested VM size for resource 'Following SKUs have failed for Capacity Restrictions: Standard_B2s' is currently not available in location 'eastus'. Please try another size or deploy to a different location or different zone. See https://aka.ms/azureskunotavailable for details."}}`},
		cloud.Error{
			Kind: cloud.Capacity, Code: "SkuNotAvailable", Where: "Standard_B2s, eastus",
			Message: "The requested VM size for resource 'Following SKUs have failed for Capacity Restrictions: Standard_B2s' is currently not " +
				"available in location 'eastus'. Please try another size or deploy to a different location or different zone",
		},
		"",
	},
	{
		"a subnet without addresses, said by the network within",
		answer{status: 400, body: `{"status":"Failed","error":{"code":"DeploymentFailed","message":"At least one resource deployment operation failed.","details":[{"code":"BadRequest","message":"{\r\n  \"error\": {\r\n    \"code\": \"SubnetIsFull\",\r\n    \"message\": \"Subnet Subnet1 with address prefix 10.0.0.0/24 does not have enough capacity for 1 IP addresses.\",\r\n    \"details\": []\r\n  }\r\n}"}]}}`},
		cloud.Error{Kind: cloud.Capacity, Code: "SubnetIsFull",
			Message: "Subnet Subnet1 with address prefix 10.0.0.0/24 does not have enough capacity for 1 IP addresses."},
		"",
	},
	{
		"a limit of another resource",
		answer{status: 400, body: `{"error":{"code":"PublicIPCountLimitReached","message":"Cannot create more than 50 public IP addresses for this subscription in this region.","details":[]}}`},
		cloud.Error{Kind: cloud.Capacity, Code: "PublicIPCountLimitReached",
			Message: "Cannot create more than 50 public IP addresses for this subscription in this region."},
		"",
	},
	{
		"compute's throttling has its figures in a detail, which differ each time",
		answer{status: 429, header: map[string]string{"Retry-After": "90"},
			body: `{"error":{"code":"OperationNotAllowed","message":"The server rejected the request because too many requests have been received for this subscription.","details":[{"code":"TooManyRequests","target":"HighCostGetVMScaleSet3Min","message":"{\"operationGroup\":\"HighCostGetVMScaleSet3Min\",\"startTime\":\"2022-10-26T17:29:53.7226865+00:00\",\"endTime\":\"2022-10-26T17:30:30+00:00\",\"allowedRequestCount\":162,\"measuredRequestCount\":191}"}],"innererror":{"internalErrorCode":"TooManyRequestsReceived"}}}`},
		cloud.Error{
			Kind: cloud.Throttled, Code: "TooManyRequests", After: 90 * time.Second,
			Message: "The server rejected the request because too many requests have been received for this subscription.",
		},
		"",
	},
	{
		"the front's throttling names the seconds in its words, which differ each time",
		answer{status: 429, header: map[string]string{"Retry-After": "6"},
			body: `{"error":{"code":"SubscriptionRequestsThrottled","message":"Number of requests for subscription 'sub' and operation 'POST/SUBSCRIPTIONS/RESOURCEGROUPS' exceeded the backend storage limit. Please try again after '6' seconds."}}`},
		cloud.Error{Kind: cloud.Throttled, Code: "SubscriptionRequestsThrottled", After: 6 * time.Second,
			Message: "Number of requests for subscription 'sub' and operation 'POST/SUBSCRIPTIONS/RESOURCEGROUPS' exceeded the backend " +
				"storage limit."},
		"",
	},
	{
		"another client changes the same",
		answer{status: 409, body: `{"error":{"code":"Conflict","message":"The request failed due to conflict with a concurrent request. To resolve it, please refer to https://aka.ms/activitylog to get more details on the conflicting requests."}}`},
		cloud.Error{Kind: cloud.Conflict, Code: "Conflict", Message: "The request failed due to conflict with a concurrent request"},
		"",
	},
	{
		"what is never allowed is an answer, whatever the status: the kind of image that a scale set has",
		answer{status: 409, body: `{"error":{"code":"OperationNotAllowed","message":"The Image type for a Virtual Machine Scale Set may not be changed."}}`},
		cloud.Error{Kind: cloud.Invalid, Code: "OperationNotAllowed",
			Message: "The Image type for a Virtual Machine Scale Set may not be changed."},
		"",
	},
	{
		"likewise, with the part that it is about",
		answer{status: 409, body: `{"error":{"code":"PropertyChangeNotAllowed","target":"imageReference.sku","message":"Changing property 'imageReference.sku' is not allowed."}}`},
		cloud.Error{Kind: cloud.Invalid, Code: "PropertyChangeNotAllowed", Message: "Changing property 'imageReference.sku' is not allowed."},
		"imageReference.sku",
	},
	{
		"a disk that is to shrink",
		answer{status: 409, body: `{"error":{"code":"OperationNotAllowed","message":"Disk size reduction is not supported. Current size is 64 GB, requested size is 32 GB."}}`},
		cloud.Error{Kind: cloud.Invalid, Code: "OperationNotAllowed",
			Message: "Disk size reduction is not supported. Current size is 64 GB, requested size is 32 GB."},
		"",
	},
	{
		"an operation of AKS that runs",
		answer{status: 409, body: `{"code":"OperationNotAllowed","message":"Operation is not allowed: Another agentpool operation (user - Scaling) is in progress, please wait for it to finish before starting a new operation. See https://aka.ms/aks-pending-operation for more details"}`},
		cloud.Error{Kind: cloud.Conflict, Code: "OperationNotAllowed",
			Message: "Operation is not allowed: Another agentpool operation (user - Scaling) is in progress, please wait for it to finish " +
				"before starting a new operation"},
		"",
	},
	{
		"what is being deleted",
		answer{status: 409, body: `{"error":{"code":"OperationNotAllowed","message":"Operation 'Update Virtual Machine Scale Set' is not allowed on Virtual Machine Scale Set 'x' since it is marked for deletion. For more information on your operations, please refer to https://aka.ms/activitylog."}}`},
		cloud.Error{Kind: cloud.Conflict, Code: "OperationNotAllowed",
			Message: "Operation 'Update Virtual Machine Scale Set' is not allowed on Virtual Machine Scale Set 'x' since it is marked for " +
				"deletion"},
		"",
	},
	{
		"models that are used up come back when instances are replaced",
		answer{status: 409, body: `{"error":{"code":"OperationNotAllowed","message":"Virtual Machine Scale Set 'x' has reached its limit of 10 models that may be referenced by one or more VMs belonging to the Virtual Machine Scale Set. Upgrade the VMs to the latest model of the Virtual Machine Scale Set before trying again."}}`},
		cloud.Error{Kind: cloud.Conflict, Code: "OperationNotAllowed",
			Message: "Virtual Machine Scale Set 'x' has reached its limit of 10 models that may be referenced by one or more VMs belonging to " +
				"the Virtual Machine Scale Set. Upgrade the VMs to the latest model of the Virtual Machine Scale Set before trying again."},
		"",
	},
	{
		"a condition on the ETag that does not hold",
		answer{status: 412, body: `{"error":{"code":"PreconditionFailed","message":"The condition 'W/\"1\"' in the If-Match header was not satisfied."}}`},
		cloud.Error{Kind: cloud.Conflict, Code: "PreconditionFailed",
			Message: `The condition 'W/"1"' in the If-Match header was not satisfied.`},
		"",
	},
	{
		"an instance that another client has deleted",
		answer{status: 400, body: `{ "error": { "code": "InvalidParameter", "message": "The provided instanceId 2143 is not an active Virtual Machine Scale Set VM instanceId.", "target": "instanceIds" } }`},
		cloud.Error{Kind: cloud.Conflict, Code: "InvalidParameter",
			Message: "The provided instanceId 2143 is not an active Virtual Machine Scale Set VM instanceId."},
		"",
	},
	{
		"a property that is fixed is refused with 409",
		answer{status: 409, body: `{"error":{"code":"PropertyChangeNotAllowed","target":"platformFaultDomainCount","message":"Changing property 'platformFaultDomainCount' is not allowed."}}`},
		cloud.Error{Kind: cloud.Invalid, Code: "PropertyChangeNotAllowed",
			Message: "Changing property 'platformFaultDomainCount' is not allowed."},
		"platformFaultDomainCount",
	},
	{
		"an image that is not there is not the scale set's absence",
		answer{status: 404, body: `{"error":{"code":"PlatformImageNotFound","message":"The platform image 'a:b:c:latest' is not available. Verify that all fields in the storage profile are correct. For more details about storage profile information, please refer to https://aka.ms/storageprofile","target":"imageReference"}}`},
		cloud.Error{Kind: cloud.Invalid, Code: "PlatformImageNotFound",
			Message: "The platform image 'a:b:c:latest' is not available. Verify that all fields in the storage profile are correct"},
		"imageReference",
	},
	{
		"a permission that is missing on something else",
		answer{status: 403, body: `{"error":{"code":"LinkedAuthorizationFailed","message":"The client '686f04b6-afa9-4466-a671-7b4ddd260118' with object id '686f04b6-afa9-4466-a671-7b4ddd260118' has permission to perform action 'Microsoft.Compute/virtualMachineScaleSets/write' on scope '/subscriptions/s/resourceGroups/rg'; however, it does not have permission to perform action 'Microsoft.ManagedIdentity/userAssignedIdentities/assign/action' on the linked scope(s) '/x' or the linked scope(s) are invalid."}}`},
		cloud.Error{Kind: cloud.Denied, Code: "LinkedAuthorizationFailed",
			Message: "The client '686f04b6-afa9-4466-a671-7b4ddd260118' with object id '686f04b6-afa9-4466-a671-7b4ddd260118' has permission to " +
				"perform action 'Microsoft.Compute/virtualMachineScaleSets/write' on scope '/subscriptions/s/resourceGroups/rg'; however, it does " +
				"not have permission to perform action 'Microsoft.ManagedIdentity/userAssignedIdentities/assign/action' on the linked scope(s) '/x' " +
				"or the linked scope(s) are invalid."},
		"",
	},
	{
		"a token that is refused",
		answer{status: 401, body: `{"error":{"code":"InvalidAuthenticationToken","message":"The access token is invalid."}}`},
		cloud.Error{Kind: cloud.Denied, Code: "InvalidAuthenticationToken", Message: "The access token is invalid."},
		"",
	},
	{
		"a provider that is not registered needs a user with rights",
		answer{status: 409, body: `{"error":{"code":"MissingSubscriptionRegistration","message":"The subscription is not registered to use namespace 'Microsoft.Compute'. See https://aka.ms/rps-not-found for how to register subscriptions.","details":[{"code":"MissingSubscriptionRegistration","target":"Microsoft.Compute","message":"The subscription is not registered to use namespace 'Microsoft.Compute'."}]}}`},
		cloud.Error{Kind: cloud.Denied, Code: "MissingSubscriptionRegistration",
			Message: "The subscription is not registered to use namespace 'Microsoft.Compute'"},
		"",
	},
	{
		"a reply without words has its status",
		answer{status: 503, header: map[string]string{"Retry-After": "10"}},
		cloud.Error{Kind: cloud.Unavailable, Code: "ServiceUnavailable", After: 10 * time.Second},
		"",
	},
	{
		"a page of a proxy is no answer of Azure's: the resource is not absent, and the specification is not wrong",
		answer{status: 404, body: " <!DOCTYPE html><html>Not Found</html>"},
		cloud.Error{Kind: cloud.Unavailable, Code: "NoReply",
			Message: "the reply with HTTP status 404 is not the service's own: a proxy may have answered in its place"},
		"",
	},
	{
		"a gateway's page is no word of Azure's, and may follow an effect",
		answer{status: 502, body: "<html>Bad Gateway</html>"},
		cloud.Error{Kind: cloud.Unavailable, Code: "BadGateway"},
		"",
	},
	{
		"an unknown code has the kind of its status",
		answer{status: 400, body: `{"error":{"code":"VMSizeIsOdd","message":"Odd. (Request ID: 6f6c4645-0202-4486-b625-fa957dfc4700)"}}`},
		cloud.Error{Kind: cloud.Invalid, Code: "VMSizeIsOdd", Message: "Odd."},
		"",
	},
	{
		"a code in the header alone",
		answer{status: 500, header: map[string]string{"x-ms-error-code": "InternalExecutionError"}},
		cloud.Error{Kind: cloud.Unavailable, Code: "InternalExecutionError"},
		"",
	},
	{
		"no reply names no port, and may follow an effect",
		answer{err: &net.OpError{Op: "read", Net: "tcp", Err: io.ErrUnexpectedEOF}},
		cloud.Error{Kind: cloud.Unavailable, Code: "NoReply",
			Message: "the service gave no reply that could be read (the connection ended): it may have done what was asked"},
		"",
	},
	{
		"what took too long",
		answer{err: context.DeadlineExceeded},
		cloud.Error{Kind: cloud.Unavailable, Code: "NoReply",
			Message: "the service gave no reply that could be read (it took too long): it may have done what was asked"},
		"",
	},
}

// TestRefusals are replies that Azure has given to a user, and the kinds that they are.
func TestRefusals(t *testing.T) {
	t.Parallel()
	for _, c := range refusalsCases {
		st := newStand(t, map[string]answer{"GET " + endpoint + "/subscriptions": c.answer})
		err := st.get(t, nil)
		var got *cloud.Error
		if !errors.As(err, &got) {
			t.Fatalf("%s: want a refusal, got %v", c.reason, err)
		}
		c.want.Op = opGet
		if diff := cmp.Diff(&c.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.reason, diff)
		}
		if Absent(err) {
			t.Errorf("%s: want no absence, got one", c.reason)
		}
		if got := driverkit.PartOf(err); got != c.target {
			t.Errorf("%s: want it to be about %q, got %q", c.reason, c.target, got)
		}
	}
}

// TestAbsences holds which replies mean that the object itself does not exist.
func TestAbsences(t *testing.T) {
	t.Parallel()
	for _, body := range []string{
		"",
		`{"error":{"code":"ResourceNotFound","message":"The Resource 'Microsoft.Compute/virtualMachineScaleSets/x' under resource group 'rg' was not found."}}`,
		`{"error":{"code":"ResourceGroupNotFound","message":"Resource group 'rg' could not be found."}}`,
	} {
		st := newStand(t, map[string]answer{"GET " + endpoint: {status: 404, body: body}})
		err := st.get(t, nil)
		if !Absent(err) || cloud.KindOf(err) != cloud.Invalid {
			t.Errorf("want %q to say that it is absent, got %v", body, err)
		}
		if err = Vanished(err); cloud.KindOf(err) != cloud.Conflict {
			t.Errorf("want a conflict for a step on what is gone, got %v", err)
		}
	}
}

// TestHeldBack holds that an empty budget is no reply, and that nothing is sent.
func TestHeldBack(t *testing.T) {
	t.Parallel()
	st := newStand(t, map[string]answer{"GET " + endpoint: {status: 200, body: "{}"}})
	var err error
	sent := 0
	for range setGet.resourceBurst + 1 {
		if err = st.get(t, nil); err != nil {
			break
		}
		sent++
	}
	var got *cloud.Error
	if !errors.As(err, &got) || got.Kind != cloud.Throttled || got.Code != "ClientRateLimited" || got.After <= 0 || got.Op != opGet {
		t.Errorf("want one scale set's reads held back, got %v", err)
	}
	if want := setGet.resourceBurst; sent != want || len(st.take()) != want {
		t.Errorf("want %d of %d sent, got %d", want, setGet.resourceBurst, sent)
	}
	if want := "scale set capz-mp-0 for reads of scale sets"; !strings.Contains(got.Message, want) {
		t.Errorf("want the bucket named as %q, got %q", want, got.Message)
	}
	st.at = st.at.Add(got.After)
	if err := st.get(t, nil); err != nil {
		t.Errorf("want a call sent after the time that was named, got %v", err)
	}
}

// FuzzWords holds that no reply is too odd to be read, and that no message is longer than a condition has room for.
func FuzzWords(f *testing.F) {
	for _, seed := range []string{
		`{"error":{"code":"a","message":"b","details":[{"code":"c","details":null}]}}`, `{"error":"x"}`, `{"error":[]}`, `{"code":1}`, `[`, "",
		`{"error":{"code":"Conflict","message":"{\"error\":{\"code\":\"x\",\"message\":\"{\\\"error\\\":{}}\"}}","details":{}}}`,
	} {
		f.Add(seed, 409)
	}
	f.Fuzz(func(t *testing.T, body string, status int) {
		e := &cloud.Error{}
		readReply([]byte(body)).classify(e, status)
		if len(e.Message) > 600+3 {
			t.Errorf("want at most %d bytes, got %d", 600+3, len(e.Message))
		}
		if again := Clean(e.Message); !strings.HasSuffix(e.Message, "...") && len(again) > len(e.Message) {
			t.Errorf("want cleaning to add nothing: %q became %q", e.Message, again)
		}
		if e.Kind == "" {
			t.Errorf("want a kind for %q", body)
		}
	})
}
