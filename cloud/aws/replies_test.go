package aws

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"

	awsv1 "github.com/muster-project/muster/api/aws/v1beta2"
	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/aws/desired"
	"github.com/muster-project/muster/pool"
	"github.com/muster-project/muster/sim"
	simaws "github.com/muster-project/muster/sim/aws"
)

// liar is a wire on which one reply is not the service's.
type liar struct {
	next http.RoundTripper
	// at counts requests down to the one that is answered by reply; seen keeps the bodies of all others.
	at    int
	reply *http.Response
	seen  [][]byte
}

func (l *liar) RoundTrip(req *http.Request) (*http.Response, error) {
	l.at--
	if l.at == -1 && l.reply != nil {
		// What the service was asked for it has done.
		if done, err := l.next.RoundTrip(req); err == nil {
			_ = done.Body.Close()
		}
		l.reply.Request = req
		return l.reply, nil
	}
	got, err := l.next.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	body, err := io.ReadAll(got.Body)
	_ = got.Body.Close()
	got.Body = io.NopCloser(bytes.NewReader(body))
	l.seen = append(l.seen, body)
	return got, err
}

// lying is a pool over a wire with a liar.
type lying struct {
	t      testing.TB
	driver *Driver
	target Target
	wire   *liar
	now    time.Time
}

const fuzzSecret = "#cloud-config\nruncmd: [\"kubeadm join --token abcdef.0123456789abcdef\"]\n"

// fuzzTarget is a small pool that needs a look-up of each kind.
func fuzzTarget() Target {
	n := simaws.DefaultAccount().Network
	view := awsv1.ClusterView{Name: "c", Region: simaws.Region, VPCID: n.VPCID, NodeSecurityGroups: []string{n.NodeSecurityGroupID}}
	return Target{
		Owner:             cloud.Owner{ID: "0f6f8d5e-owner", Cluster: "c", Namespace: "default", Name: "pool"},
		KubernetesVersion: "v1.25.0",
		Bootstrap:         cloud.NewBootstrap([]byte(fuzzSecret), "cloud-config"),
		Spec: &awsv1.MachinePoolSource{Cluster: view, Pool: &awsv1.AWSMachinePoolSpec{
			MinSize: 0, MaxSize: 5, Subnets: []awsv1.AWSResourceReference{{ID: awssdk.String(simaws.SubnetID)}},
			AdditionalTags:    awsv1.Tags{"team": "a"},
			AWSLaunchTemplate: awsv1.AWSLaunchTemplate{InstanceType: simaws.InstanceType, SSHKeyName: awssdk.String(simaws.KeyName)},
			AWSLifecycleHooks: []awsv1.AWSLifecycleHook{{Name: "h", LifecycleTransition: awsv1.LifecycleTransitionInstanceTerminating}},
		}},
	}
}

func newLying(t testing.TB) *lying {
	t.Helper()
	server, err := simaws.New(simaws.Options{Seed: 1, Speed: 1e9, Limits: simaws.Limits{}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = server.Close() })
	l := &lying{t: t, target: fuzzTarget(), wire: &liar{next: sim.Transport{Handler: server}}, now: time.Now()}
	l.driver, err = New(Options{
		Config: func(_ context.Context, region string) (awssdk.Config, error) {
			return awssdk.Config{
				Region: region, Credentials: credentials.NewStaticCredentialsProvider(simaws.AccessKeyID, simaws.SecretAccessKey, ""),
				BaseEndpoint: awssdk.String("http://simulated.aws"), Retryer: func() awssdk.Retryer { return awssdk.NopRetryer{} },
			}, nil
		},
		Base: l.wire, Now: func() time.Time { return l.now },
	})
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// pass looks, decides and begins, as the engine does, and reports whether there was nothing left to do.
func (l *lying) pass() (settled bool) {
	l.t.Helper()
	l.now = l.now.Add(time.Minute)
	seen, err := l.driver.Observe(l.t.Context(), l.target)
	if l.check(err) != nil {
		return false
	}
	d := pool.Desired{Replicas: 2, Min: 0, Max: 5, MinField: desired.FieldMin, MaxField: desired.FieldMax, DeletePolicy: pool.Oldest}
	plan := pool.Decide(d, seen, l.driver.Traits(), l.now)
	if plan.Step == nil {
		return plan.Quiescent && plan.Refused == nil && len(seen.Issues) == 0 && seen.Group != nil && seen.Group.Size == 2
	}
	_ = l.check(l.driver.Start(l.t.Context(), l.target, *plan.Step))
	return false
}

// check fails on an error of an unknown kind, or with the bootstrap data in it.
func (l *lying) check(err error) error {
	l.t.Helper()
	if err == nil {
		return nil
	}
	var e *cloud.Error
	if !errors.As(err, &e) && !strings.Contains(err.Error(), "launch template") {
		l.t.Errorf("want a refusal of a known kind, got %v", err)
	}
	if strings.Contains(err.Error(), "0123456789abcdef") || strings.Contains(err.Error(), "I2Nsb3VkLWNvbmZpZ") {
		l.t.Errorf("want no bootstrap data in an error, got %v", err)
	}
	return err
}

const (
	// fuzzedPasses are enough to bring the pool to rest on an honest wire.
	fuzzedPasses = 8
	// longPasses are enough for what a lie has spoilt to be read again and put right.
	longPasses = 12
)

// FuzzReplies holds that no single reply, whatever it says and whichever request it answers, breaks a pass for good: the pool
// comes to rest as it was asked for once the service is itself again.
func FuzzReplies(f *testing.F) {
	for i, body := range honest(f) {
		f.Add(uint8(i), uint16(http.StatusOK), "", body)
	}
	places := uint8(12)
	if testing.Short() {
		places = 1
	}
	for i := range places {
		f.Add(i, uint16(http.StatusBadRequest), "",
			[]byte("<Response><Errors><Error><Code>InvalidLaunchTemplateId.NotFound</Code><Message>x</Message></Error></Errors></Response>"))
		f.Add(i, uint16(http.StatusServiceUnavailable), "7", []byte("<html>"))
		f.Add(i, uint16(http.StatusOK), "-1", []byte(
			"<DescribeAutoScalingGroupsResponse><DescribeAutoScalingGroupsResult><AutoScalingGroups><member/></AutoScalingGroups></"+
				"DescribeAutoScalingGroupsResult></DescribeAutoScalingGroupsResponse>"))
		f.Add(i, uint16(http.StatusOK), "", []byte(
			"<DescribeLaunchTemplateVersionsResponse><launchTemplateVersionSet><item/></launchTemplateVersionSet></"+
				"DescribeLaunchTemplateVersionsResponse>"))
		f.Add(i, uint16(http.StatusOK), "", []byte("<x><launchTemplateVersion/><launchTemplate/><launchTemplates><item/></launchTemplates></x>"))
	}
	f.Fuzz(func(t *testing.T, at uint8, status uint16, retryAfter string, body []byte) {
		if status < 200 || status > 599 || strings.ContainsAny(retryAfter, "\r\n") {
			return
		}
		l := newLying(t)
		l.wire.at = int(at % 32)
		l.wire.reply = &http.Response{
			StatusCode: int(status), Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Header: http.Header{"Retry-After": {retryAfter}},
			Body: io.NopCloser(bytes.NewReader(body)), ContentLength: int64(len(body)),
		}
		for range fuzzedPasses {
			l.pass()
		}
		l.wire.reply = nil
		// By now everything that is kept for a while is read again.
		l.now = l.now.Add(24 * time.Hour)
		settled := false
		for range longPasses {
			settled = l.pass()
		}
		if !settled {
			t.Errorf("want the pool at rest with 2 machines after all, got %+v", l.last())
		}
	})
}

// last is the last observation of the driver.
func (l *lying) last() []any {
	seen, err := l.driver.Observe(l.t.Context(), l.target)
	return []any{seen.Group, seen.OwnershipConflict, seen.Issues, seen.Wanted, seen.Versions, err}
}

// honest are the replies of a run without a lie.
func honest(f *testing.F) [][]byte {
	f.Helper()
	l := newLying(f)
	settled := false
	for range fuzzedPasses {
		settled = l.pass()
	}
	if !settled {
		f.Fatalf("want the pool made on an honest wire, got %+v", l.last())
	}
	return l.wire.seen
}
