package aws_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/autoscaling"
	asgtypes "github.com/aws/aws-sdk-go-v2/service/autoscaling/types"

	"github.com/muster-project/muster/cloud/aws/lifecycle"
	"github.com/muster-project/muster/cloud/aws/session"
	"github.com/muster-project/muster/pool"
)

// terminating answers every request with the activity that terminates instance i-1, for this cause.
type terminating string

func (cause terminating) RoundTrip(req *http.Request) (*http.Response, error) {
	text := fmt.Sprintf("<DescribeScalingActivitiesResponse><DescribeScalingActivitiesResult><Activities><member>"+
		"<Description>Terminating EC2 instance: i-1</Description><StartTime>2026-11-21T08:00:00Z</StartTime><Cause>%s</Cause>"+
		"</member></Activities></DescribeScalingActivitiesResult></DescribeScalingActivitiesResponse>", string(cause))
	return &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(text)), Request: req}, nil
}

// causeOf returns what is known of an instance that the drain hook holds and that the group terminates for a cause.
func causeOf(t *testing.T, cause string) *pool.Cause {
	t.Helper()
	client := lifecycle.Client{Name: "g", Now: time.Date(2026, 11, 21, 8, 5, 0, 0, time.UTC), Session: &session.Session{
		AutoScaling: autoscaling.NewFromConfig(awssdk.Config{Region: "eu-west-1",
			Credentials: credentials.NewStaticCredentialsProvider("a", "b", ""), HTTPClient: &http.Client{Transport: terminating(cause)}})}}
	is := &asgtypes.AutoScalingGroup{Instances: []asgtypes.Instance{
		{InstanceId: new("i-1"), LifecycleState: asgtypes.LifecycleStateTerminatingWait}}}
	var holds lifecycle.Holds
	if err := holds.Read(t.Context(), client, is, lifecycle.Created(lifecycle.Specifications(nil), client.Now), ""); err != nil {
		t.Fatal(err)
	}
	if held := holds.Of("i-1"); held == nil || held.Since.Minute() != 0 {
		t.Fatalf("want the instance held since its activity began, got %+v", held)
	}
	return holds.Cause("i-1")
}

func TestCauseOf(t *testing.T) {
	const at = "At 2026-11-21T08:00:00Z "
	const ours = "the Auto Scaling group takes the instance out of service in response to "
	for _, c := range []struct{ why, cause, reason, message string }{
		{"a recommendation, with capacity rebalancing",
			at + "an instance was taken out of service in response to an EC2 instance rebalance recommendation.", "RebalanceRecommended",
			ours + "EC2 instance rebalance recommendation"},
		{"an end that the health check found",
			at + "an instance was taken out of service in response to an EC2 health check indicating it has been terminated or stopped.",
			"Unhealthy", ours + "EC2 health check indicating it has been terminated or stopped"},
		{"a health that a client set", at + "an instance was taken out of service in response to a user health-check.", "Unhealthy",
			ours + "user health-check"},
		{"status checks", at + "an instance was taken out of service in response to EC2 instance status checks failure.", "Unhealthy",
			ours + "EC2 instance status checks failure"},
		{"zones", at + "instances were launched to balance instances in zones eu-west-1a with other zones resulting in more than desired " +
			"number of instances in the group.  " +
			at + "an instance was taken out of service in response to a difference in the balance of Availability Zones.", "ZonesUneven",
			ours + "difference in the balance of Availability Zones"},
		{"a refresh", at + "an instance was taken out of service in response to an instance refresh.", "InstanceRefresh",
			ours + "instance refresh"},
		{"age", at + "an instance was taken out of service in response to its age exceeding the maximum instance lifetime.", "LifetimeOver",
			ours + "its age exceeding the maximum instance lifetime"},
		{"a size that a client lowered: the last sentence counts, without names and times",
			at + "a user request explicitly set group desired capacity changing the desired capacity from 3 to 2.  " + at +
				"an instance was taken out of service in response to a difference between desired and actual capacity, shrinking the capacity from " +
				"3 to 2.  " +
				at + "instance i-0123456789abcdef0 was selected for termination.", "GroupShrinks",
			ours + "difference between desired and actual capacity"},
		{"a reason that is new to us", at + "an instance was taken out of service in response to the moon over i-0123456789abcdef0.",
			"TakenByGroup", ours + "the moon over an instance"},
		{"by name: the client that requested it knows why",
			at + "instance i-0123456789abcdef0 was taken out of service in response to a user request, shrinking the capacity from 3 to 2.", "", ""},
		{"with the group", at + "a user request force deleted AutoScalingGroup.  " + at +
			"instance i-0123456789abcdef0 was taken out of service in response to a user request.", "", ""},
		{"nothing", "", "", ""},
	} {
		reason, message := "", ""
		if got := causeOf(t, c.cause); got != nil {
			reason, message = got.Reason, got.Message
		}
		if reason != c.reason || message != c.message {
			t.Errorf("%s: want %q, %q, got %q, %q", c.why, c.reason, c.message, reason, message)
		}
	}
}
