package session

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"google.golang.org/api/compute/v1"

	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/driverkit"
)

func TestRefusals(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		why    string
		answer answer
		want   cloud.Error
		target string
	}{
		{"a project's quota, of which the words name the region",
			answer{status: 403, body: `{"error":{"code":403,"message":"Quota 'CPUS' exceeded.  Limit: 24.0 in region us-central1.",
			"errors":[{"message":"x","domain":"usageLimits","reason":"quotaExceeded"}]}}`},
			cloud.Error{Kind: cloud.Capacity, Code: "quotaExceeded", Message: "Quota 'CPUS' exceeded. Limit: 24.0 in region us-central1.",
				Where: "quota CPUS, region us-central1"}, ""},
		{"too many requests come with the status of a missing permission", answer{status: 403, header: map[string]string{"Retry-After": "7"},
			body: `{"error":{"code":403,"message":"Rate Limit Exceeded","errors":[{"reason":"rateLimitExceeded"}]}}`},
			cloud.Error{Kind: cloud.Throttled, Code: "rateLimitExceeded", Message: "Rate Limit Exceeded", After: 7 * time.Second}, ""},
		{"a permission", answer{status: 403, body: `{"error":{"code":403,"message":"Required 'compute.instanceGroupManagers.get' permission for 'projects/p/zones/z/instanceGroupManagers/g'","errors":[{"reason":"forbidden"}]}}`},
			cloud.Error{Kind: cloud.Denied, Code: "forbidden",
				Message: "Required 'compute.instanceGroupManagers.get' permission for 'projects/p/zones/z/instanceGroupManagers/g'"}, ""},
		{"what does not exist", answer{status: 404,
			body: `{"error":{"code":404,"message":"The resource 'projects/p/x' was not found","errors":[{"reason":"notFound"}]}}`},
			cloud.Error{Kind: cloud.Invalid, Code: "notFound", Message: "The resource 'projects/p/x' was not found"}, ""},
		{"an outdated fingerprint", answer{status: 412,
			body: `{"error":{"code":412,"message":"Supplied fingerprint does not match current fingerprint.","errors":[{"reason":"conditionNotMet"}]}}`},
			cloud.Error{Kind: cloud.Conflict, Code: "conditionNotMet", Message: "Supplied fingerprint does not match current fingerprint."}, ""},
		{"a template in use", answer{status: 400,
			body: `{"error":{"code":400,"message":"The instance_template resource 'projects/p/global/instanceTemplates/t' is already being used by 'projects/p/zones/z/instanceGroupManagers/g'","errors":[{"reason":"resourceInUseByAnotherResource"}]}}`},
			cloud.Error{Kind: cloud.Conflict, Code: "resourceInUseByAnotherResource",
				Message: "The instance_template resource 'projects/p/global/instanceTemplates/t' is already being used by " +
					"'projects/p/zones/z/instanceGroupManagers/g'"}, ""},
		{"a field, named in the words", answer{status: 400,
			body: `{"error":{"code":400,"message":"Invalid value for field 'resource.properties.machineType': 'n9'. The referenced resource does not exist.","errors":[{"reason":"invalid"}]}}`},
			cloud.Error{Kind: cloud.Invalid, Code: "invalid",
				Message: "Invalid value for field 'resource.properties.machineType': 'n9'. The referenced resource does not exist."},
			"resource.properties.machineType"},
		{"a cluster that is busy names an operation of one moment",
			answer{status: 400, body: `{"error":{"code":400,"message":"Cluster is running incompatible operation operation-1700000000000-0a1b2c3d-aaaa-bbbb-cccc-000000000000.","status":"FAILED_PRECONDITION","errors":[{"reason":"failedPrecondition"}],
			"details":[{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"CLUSTER_ALREADY_HAS_OPERATION"}]}}`},
			cloud.Error{Kind: cloud.Conflict, Code: "CLUSTER_ALREADY_HAS_OPERATION", Message: "Cluster is running incompatible operation."}, ""},
		{"a field of GKE's", answer{status: 400,
			body: `{"error":{"code":400,"message":"Invalid JSON payload received.","status":"INVALID_ARGUMENT","details":[{"fieldViolations":[{"field":"node_pool.config","description":"x"}]}]}}`},
			cloud.Error{Kind: cloud.Invalid, Code: "INVALID_ARGUMENT", Message: "Invalid JSON payload received."}, "node_pool.config"},
		{"no capacity, said at once", answer{status: 503,
			body: `{"error":{"code":503,"message":"The zone 'projects/p/zones/us-central1-a' does not have enough resources available to fulfill the request.","errors":[{"reason":"ZONE_RESOURCE_POOL_EXHAUSTED"}]}}`},
			cloud.Error{Kind: cloud.Capacity, Code: "ZONE_RESOURCE_POOL_EXHAUSTED",
				Message: "The zone 'projects/p/zones/us-central1-a' does not have enough resources available to fulfill the request.",
				Where:   "zone us-central1-a"}, ""},
		{"a failure of Google's", answer{status: 503,
			body: `{"error":{"code":503,"message":"Internal error. Please try again.","errors":[{"reason":"backendError"}]}}`},
			cloud.Error{Kind: cloud.Unavailable, Code: "backendError", Message: "Internal error. Please try again."}, ""},
		{"a proxy's page", answer{status: 404, body: "<html>no</html>"},
			cloud.Error{Kind: cloud.Unavailable, Code: cloud.CodeNoReply,
				Message: "the reply with HTTP status 404 is not the service's own: a proxy may have answered in its place"}, ""},
		{"no reply", answer{err: io.ErrUnexpectedEOF},
			cloud.Error{Kind: cloud.Unavailable, Code: cloud.CodeNoReply,
				Message: "the service gave no reply that could be read (the connection ended): it may have done what was asked"}, ""},
	} {
		err := newStand(t, map[string]answer{"GET " + group: c.answer}).get(t, Credentials{})
		var got *cloud.Error
		if !errors.As(err, &got) {
			t.Fatalf("%s: want a refusal, got %v", c.why, err)
		}
		c.want.Op = "compute:instanceGroupManagers.get"
		if *got != c.want || driverkit.PartOf(err) != c.target {
			t.Errorf("%s:\nwant %+v, target %q\ngot  %+v, target %q", c.why, c.want, c.target, *got, driverkit.PartOf(err))
		}
	}
}

func TestErrorOf(t *testing.T) {
	t.Parallel()
	op := &compute.Operation{Error: &compute.OperationError{Errors: []*compute.OperationErrorErrors{{
		Code: "QUOTA_EXCEEDED", Message: "Quota 'SSD_TOTAL_GB' exceeded. Limit: 500.0 in region europe-west1. See https://cloud.google.com/x " +
			"for details.",
	}}}}
	e := Failed(op)
	if e == nil || e.Kind != cloud.Capacity || e.Where != "quota SSD_TOTAL_GB, region europe-west1" || strings.Contains(e.Message, "http") {
		t.Errorf("want the quota named, and no address, got %+v", e)
	}
	if issue := driverkit.FailureOf(e); issue.Reason != string(cloud.Capacity) || !strings.HasPrefix(issue.Message, "QUOTA_EXCEEDED: ") {
		t.Errorf("want the reason and Google's words, got %+v", issue)
	}
	if Failed(&compute.Operation{Status: "RUNNING"}) != nil || Failed(nil) != nil {
		t.Error("want nothing of an operation that has not failed")
	}
	if got := Clean("Instance 'https://www.googleapis.com/compute/v1/projects/p/zones/z/instances/i' creation failed (request id: " +
		"0a1b2c3d4e5f6a7b8c9d)"); got != "Instance 'projects/p/zones/z/instances/i' creation failed" {
		t.Errorf("want the resource's path and no ID of a request, got %q", got)
	}
}

// TestThrottledByBody holds that a refusal with the status of a missing permission lowers the rate: the bucket is empty afterwards.
func TestThrottledByBody(t *testing.T) {
	t.Parallel()
	st := newStand(t, map[string]answer{"GET " + group: {status: http.StatusForbidden,
		body: `{"error":{"errors":[{"reason":"rateLimitExceeded"}]}}`}})
	first, second := st.get(t, Credentials{}), st.get(t, Credentials{})
	if cloud.CodeOf(first) != "rateLimitExceeded" || cloud.CodeOf(second) != cloud.CodeClientRateLimited {
		t.Errorf("want the second call held back, got %v and %v", first, second)
	}
	if got := st.take(); len(got) != 1 {
		t.Errorf("want one call, got %v", got)
	}
}
