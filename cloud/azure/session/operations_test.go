package session

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/runtime"
	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/compute/armcompute/v8"
	"github.com/google/go-cmp/cmp"

	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/pool"
)

const operationAt = endpoint + "/subscriptions/" + subscription + "/providers/Microsoft.Compute/locations/westus2/operations/o-1"

func contextWith(ctx context.Context, name string) context.Context {
	return context.WithValue(ctx, runtime.CtxAPINameKey{}, name)
}

func emptySet() armcompute.VirtualMachineScaleSet { return armcompute.VirtualMachineScaleSet{} }

// begun is a stand with an operation that runs, and its token.
func begun(t *testing.T) (*stand, string) {
	t.Helper()
	st := newStand(t, map[string]answer{
		"PUT " + endpoint: {status: 201, header: map[string]string{"Azure-AsyncOperation": operationAt},
			body: `{"properties":{"provisioningState":"Creating"}}`},
	})
	poller, err := st.session(t, nil).ScaleSets.BeginCreateOrUpdate(t.Context(), "capz", "capz-mp-0", emptySet(), nil)
	if err != nil {
		t.Fatal(err)
	}
	token, ok := Hint(poller)
	if !ok {
		t.Fatal("want a hint to an operation that runs")
	}
	return st, token
}

// TestPoll holds that a look at an operation is one request, and what its reply means.
func TestPoll(t *testing.T) {
	t.Parallel()
	st, token := begun(t)
	st.take()
	for _, c := range []struct {
		reason string
		answer answer
		want   Outcome
		kind   cloud.ErrorKind
	}{
		{"it runs", answer{status: 200, body: `{"status":"InProgress"}`}, Outcome{}, ""},
		{"it runs, without a word", answer{status: 202}, Outcome{}, ""},
		{"it has succeeded: nothing more is asked", answer{status: 200, body: `{"status":"Succeeded"}`}, Outcome{Done: true}, ""},
		{"it runs, and AKS shows an error that is none", answer{status: 200, body: `{"status":"InProgress","error":{"code":"NotLatestOperation",` +
			`"message":"Expected goal state for managed cluster not saved yet."}}`}, Outcome{}, ""},
		{"it has succeeded, and AKS shows an error that is none", answer{status: 200, body: `{"status":"Succeeded","error":{"code":` +
			`"NotLatestOperation","message":"Cannot proceed with the operation."}}`}, Outcome{Done: true}, ""},
		{"it is over, without a word", answer{status: 200}, Outcome{Done: true}, ""},
		{
			"it has failed in one instance, and the words within count",
			answer{status: 200, body: `{"status":"Failed","error":{"code":"ResourceOperationFailure","message":"The resource operation completed with terminal provisioning state 'Failed'.","details":[{"code":"OverconstrainedZonalAllocationRequest","target":"11","message":"Allocation failed. VM(s) with the following constraints cannot be allocated, because the condition is too restrictive. Please remove some constraints and try again. Constraints applied are:\n  - Availability Zone\n  - VM Size\n"}]}}`},
			Outcome{Done: true, Failed: &cloud.Error{Kind: cloud.Capacity, Code: "OverconstrainedZonalAllocationRequest",
				Message: "Allocation failed. VM(s) with the following constraints cannot be allocated, because the condition is too restrictive. " +
					"Please remove some constraints and try again. Constraints applied are: - Availability Zone - VM Size"}}, "",
		},
		{
			"a user has cancelled it",
			answer{status: 200, body: `{"status":"Canceled","error":{"code":"OperationPreempted","message":"The operation has been preempted by a more recent operation. Operation ID: 6f6c4645-0202-4486-b625-fa957dfc4700"}}`},
			Outcome{Done: true, Failed: &cloud.Error{Kind: cloud.Conflict, Code: "OperationPreempted",
				Message: "The operation has been preempted by a more recent operation."}}, "",
		},
		{"it failed without words", answer{status: 200, body: `{"status":"Failed"}`},
			Outcome{Done: true, Failed: &cloud.Error{Kind: cloud.Unavailable, Code: "Failed"}}, ""},
		{"Azure has forgotten it", answer{status: 404, body: `{"error":{"code":"NotFound","message":"x"}}`}, Outcome{Done: true}, ""},
		{"reads are denied", answer{status: 403, body: `{"error":{"code":"AuthorizationFailed","message":"x"}}`}, Outcome{}, cloud.Denied},
		{"no answer", answer{err: context.DeadlineExceeded}, Outcome{}, cloud.Unavailable},
	} {
		st.answers["GET "+operationAt] = c.answer
		got, err := st.session(t, nil).Poll(t.Context(), token, st.at)
		if (err != nil) != (c.kind != "") || err != nil && cloud.KindOf(err) != c.kind {
			t.Errorf("%s: want an error of kind %q, got %v", c.reason, c.kind, err)
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.reason, diff)
		}
		if calls := st.take(); len(calls) != 1 || calls[0] != "compute:Operations.Get" {
			t.Errorf("%s: want one look, got %v", c.reason, calls)
		}
	}
	for _, lost := range []string{"", "nonsense", "{}", `{"token":{"asyncURL":"://"}}`} {
		if got, err := st.session(t, nil).Poll(t.Context(), lost, st.at); err != nil || !got.Done {
			t.Errorf("%q: want nothing known of it, got %v, %v", lost, got, err)
		}
	}
}

// TestHint holds that what has ended at once leaves nothing behind.
func TestHint(t *testing.T) {
	t.Parallel()
	st := newStand(t, map[string]answer{"PUT " + endpoint: {status: 200, body: `{"properties":{"provisioningState":"Succeeded"}}`}})
	poller, err := st.session(t, nil).ScaleSets.BeginCreateOrUpdate(t.Context(), "capz", "capz-mp-0", emptySet(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if token, ok := Hint(poller); ok {
		t.Errorf("want no hint, got %q", token)
	}
	if _, ok := Hint(nil); ok {
		t.Error("want no hint to nothing")
	}
}

// TestStatusIssues reads what instances say of themselves.
func TestStatusIssues(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		reason, code, message string
		want                  pool.Cause
		ok                    bool
	}{
		{"all is well", "ProvisioningState/succeeded", "", pool.Cause{}, false},
		{"power says nothing of provisioning", "PowerState/deallocated", "", pool.Cause{}, false},
		{
			"no room in the zone", "ProvisioningState/failed/ZonalAllocationFailed",
			"Allocation failed. We do not have sufficient capacity for the requested VM size in this zone. Read more about improving likelihood " +
				"of allocation success at http://aka.ms/allocation-guidance",
			pool.Cause{Reason: "Capacity", Message: "ZonalAllocationFailed: Allocation failed. We do not have sufficient capacity for the " +
				"requested VM size in this zone"}, true,
		},
		{
			"the machine never reported", "ProvisioningState/failed/OSProvisioningTimedOut",
			"OS Provisioning for VM 'mp-0_3' did not finish in the allotted time.",
			pool.Cause{Reason: "LaunchFailed", Message: "OSProvisioningTimedOut: OS Provisioning for VM 'mp-0_3' did not finish in the " +
				"allotted time."}, true,
		},
		{"a failure without words", "ProvisioningState/failed", "", pool.Cause{Reason: "LaunchFailed", Message: "Provisioning failed"}, true},
	} {
		status := &armcompute.InstanceViewStatus{Code: &c.code, DisplayStatus: new("Provisioning failed")}
		if c.message != "" {
			status.Message = &c.message
		}
		got, ok := StatusIssue(status)
		if ok != c.ok || got != c.want {
			t.Errorf("%s: want %v %+v, got %v %+v", c.reason, c.ok, c.want, ok, got)
		}
	}
	if _, ok := StatusIssue(nil); ok {
		t.Error("want nothing said by nothing")
	}
}

// TestSizes holds how often the list of sizes is read.
func TestSizes(t *testing.T) {
	t.Parallel()
	page := func(size string) answer {
		return answer{status: 200, body: fmt.Sprintf(
			`{"value":[{"name":%q,"resourceType":"virtualMachines"},{"name":"Premium_LRS","resourceType":"disks"}]}`, size)}
	}
	at := "GET " + endpoint + "/subscriptions/" + subscription + "/providers/Microsoft.Compute/skus"
	st := newStand(t, map[string]answer{at: page("Standard_D2s_v3")})
	start := st.at
	for _, c := range []struct {
		reason, location, size string
		after                  time.Duration
		answer                 *answer
		found                  bool
		reads                  int
		kind                   cloud.ErrorKind
	}{
		{reason: "the first reads", location: "westus2", size: "Standard_D2s_v3", found: true, reads: 1},
		{reason: "letter case and blanks do not count", location: "West US 2", size: "standard_d2s_V3", found: true},
		{reason: "what is not there is not asked again at once", location: "westus2", size: "Standard_New"},
		{reason: "a disk is no machine", location: "westus2", size: "Premium_LRS"},
		{reason: "after a while it may be there", location: "westus2", size: "Standard_New", after: 11 * time.Minute, reads: 1},
		{reason: "a day is long", location: "westus2", size: "Standard_D2s_v3", after: 12 * time.Hour, found: true},
		{reason: "and ends", location: "westus2", size: "Standard_D2s_v3", after: 25 * time.Hour, found: true, reads: 1},
		{reason: "what was known serves while Azure does not answer", location: "westus2", size: "Standard_D2s_v3", after: 50 * time.Hour,
			answer: &answer{status: 503}, found: true, reads: 1},
		{reason: "what was not is an error", location: "westus2", size: "Standard_New", after: 50 * time.Hour, reads: 1, kind: cloud.Unavailable},
		{reason: "another location has its own list", location: "eastus", size: "Standard_New", after: 50 * time.Hour,
			answer: new(page("Standard_New")), found: true, reads: 1},
	} {
		st.at = start.Add(c.after)
		if c.answer != nil {
			st.answers[at] = *c.answer
		}
		got, err := st.session(t, nil).SKU(t.Context(), c.location, c.size, st.at)
		if (got != nil) != c.found || (err != nil) != (c.kind != "") || err != nil && cloud.KindOf(err) != c.kind {
			t.Errorf("%s: want found %v and an error of kind %q, got %v, %v", c.reason, c.found, c.kind, got, err)
		}
		if reads := len(st.take()); reads != c.reads {
			t.Errorf("%s: want %d reads, got %d", c.reason, c.reads, reads)
		}
	}
}

// A pass that waits while another pass reads the list of sizes ends with its own context.
func TestSizesWaitNoLongerThanThePass(t *testing.T) {
	t.Parallel()
	st := newStand(t, nil)
	s := st.session(t, nil)
	s.catalogue.of("westus2").reading <- struct{}{}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.SKU(ctx, "westus2", "Standard_D2s_v3", st.at); !errors.Is(err, context.Canceled) {
		t.Errorf("want the end of the context, got %v", err)
	}
}

// TestListed holds that a list is read to its end, and that one without an end is no list.
func TestListed(t *testing.T) {
	t.Parallel()
	at := endpoint + "/subscriptions/" + subscription + "/providers/Microsoft.Compute/skus"
	next := func(page int) string { return fmt.Sprintf("%s?page=%d", at, page) }
	st := newStand(t, map[string]answer{
		"GET " + at:      {status: 200, body: `{"value":[{"name":"a"}],"nextLink":"` + next(2) + `"}`},
		"GET " + next(2): {status: 200, body: `{"value":[],"nextLink":"` + next(3) + `"}`},
		"GET " + next(3): {status: 200, body: `{"value":[{"name":"b"},null]}`},
	})
	list := func() ([]*armcompute.ResourceSKU, error) {
		return Listed(t.Context(), st.session(t, nil).SKUs.NewListPager(nil),
			func(p armcompute.ResourceSKUsClientListResponse) []*armcompute.ResourceSKU { return p.Value }, st.at)
	}
	if got, err := list(); err != nil || len(got) != 2 {
		t.Errorf("want both items of three pages, got %v, %v", got, err)
	}
	st.answers["GET "+next(3)] = answer{status: 200, body: `{"value":[],"nextLink":"` + next(2) + `"}`}
	if _, err := list(); cloud.CodeOf(err) != "EndlessList" {
		t.Errorf("want a list without an end refused, got %v", err)
	}
	st.answers["GET "+next(2)] = answer{status: 429, body: `{"error":{"code":"TooManyRequests","message":"x"}}`}
	if _, err := list(); cloud.KindOf(err) != cloud.Throttled {
		t.Errorf("want the refusal of a page, got %v", err)
	}
}
