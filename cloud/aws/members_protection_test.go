package aws_test

import (
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/autoscaling"
	asgtypes "github.com/aws/aws-sdk-go-v2/service/autoscaling/types"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/google/go-cmp/cmp"

	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/aws/asg"
	"github.com/muster-project/muster/cloud/aws/members"
	"github.com/muster-project/muster/cloud/aws/session"
)

// tally agrees with every request, and counts how many instances those of each operation name, and the most that one names.
type tally struct{ all, most map[string]int }

func (c *tally) RoundTrip(req *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(req.Body)
	if err != nil {
		return nil, err
	}
	form, err := url.ParseQuery(string(body))
	if err != nil {
		return nil, err
	}
	operation, n := form.Get("Action"), 0
	for key := range form {
		if strings.HasPrefix(key, "ResourceId.") || strings.HasPrefix(key, "InstanceIds.") {
			n++
		}
	}
	c.all[operation] += n
	c.most[operation] = max(c.most[operation], n)
	text := fmt.Sprintf("<%[1]sResponse><%[1]sResult/><return>true</return></%[1]sResponse>", operation)
	return &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(text)), Request: req}, nil
}

// A call names no more instances than the service takes, however large the group is.
func TestManyAreProtectedInParts(t *testing.T) {
	t.Parallel()
	count := &tally{map[string]int{}, map[string]int{}}
	settings := awssdk.Config{
		Region: "eu-west-1", Credentials: credentials.NewStaticCredentialsProvider("a", "b", ""), HTTPClient: &http.Client{Transport: count},
	}
	client := asg.Client{Session: &session.Session{EC2: session.NewEC2(ec2.NewFromConfig(settings)),
		AutoScaling: autoscaling.NewFromConfig(settings)}, Name: "g"}
	owner, known := cloud.Owner{ID: "owner"}, members.Members{}
	var ids []string
	for k := range 2500 {
		ids = append(ids, fmt.Sprintf("i-%017x", k))
	}
	if err := known.Protect(t.Context(), client, ids, owner); err != nil {
		t.Fatal(err)
	}
	is := &asgtypes.AutoScalingGroup{}
	for _, id := range ids {
		is.Instances = append(is.Instances, asgtypes.Instance{InstanceId: &id, LifecycleState: asgtypes.LifecycleStateInService,
			ProtectedFromScaleIn: new(true)})
	}
	if left := known.LeftProtected(is); !slices.Equal(left, ids) {
		t.Fatalf("want all %d known as protected by Muster, got %d", len(ids), len(left))
	}
	if err := known.Unprotect(t.Context(), client, ids, owner); err != nil {
		t.Fatal(err)
	}
	if left := known.LeftProtected(is); len(left) > 0 {
		t.Errorf("want none known as protected by Muster any more, got %d", len(left))
	}
	if diff := cmp.Diff(map[string]int{"CreateTags": 1000, "DeleteTags": 1000, "SetInstanceProtection": 50}, count.most); diff != "" {
		t.Errorf("the most instances that one call names (-want +got):\n%s", diff)
	}
	want := map[string]int{"CreateTags": 2500, "DeleteTags": 2500, "SetInstanceProtection": 5000}
	if !maps.Equal(want, count.all) {
		t.Errorf("want so many instances named in all: %v, got %v", want, count.all)
	}
}
