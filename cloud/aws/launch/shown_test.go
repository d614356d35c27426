package launch

import (
	"context"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"

	awsv1 "github.com/muster-project/muster/api/aws/v1beta2"
	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/aws/session"
)

// nothing answers that there is no launch template, as a read does that is behind.
type nothing struct{}

func (nothing) RoundTrip(req *http.Request) (*http.Response, error) {
	body := "<Response><Errors><Error><Code>InvalidLaunchTemplateName.NotFoundException</Code><Message>none</Message></Error></Errors></" +
		"Response>"
	return &http.Response{StatusCode: http.StatusBadRequest, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(body)),
		Request: req}, nil
}

// A template that we made a moment ago is there, whatever a read says; after that it may be gone.
func TestATemplateThatWasJustMadeIsNotGone(t *testing.T) {
	t.Parallel()
	now := time.Date(2000, 1, 1, 12, 0, 0, 0, time.UTC)
	sessions, err := session.New(session.Options{
		Base: nothing{}, Now: func() time.Time { return now },
		Config: func(context.Context, string) (awssdk.Config, error) {
			return awssdk.Config{Region: "eu-west-1", Credentials: credentials.NewStaticCredentialsProvider("a", "b", "")}, nil
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	region, err := sessions.Of(t.Context(), awsv1.ClusterView{Region: "eu-west-1"})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		reason string
		made   time.Time
		want   cloud.ErrorKind
	}{
		{"it was made a moment ago", now.Add(-3 * time.Second), cloud.Conflict},
		{"it was made long ago, and a user deleted it", now.Add(-time.Minute), ""},
		{"it was never made", time.Time{}, ""},
	} {
		p := Pass{
			Session: region, Source: Source{Name: "pool", Spec: &awsv1.AWSLaunchTemplate{}},
			Memory: &Memory{made: c.made}, Now: now,
		}
		err := p.Read(t.Context(), nil)
		if got := cloud.KindOf(err); err != nil && got != c.want || err == nil && c.want != "" {
			t.Errorf("%s: want %q, got %v", c.reason, c.want, err)
		}
		if p.Memory.Known() != (c.want == "") {
			t.Errorf("%s: want it taken for gone: %t, got %t", c.reason, c.want == "", p.Memory.Known())
		}
	}
}
