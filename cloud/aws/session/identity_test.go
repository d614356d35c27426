package session

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/autoscaling"

	awsv1 "github.com/muster-project/muster/api/aws/v1beta2"
	"github.com/muster-project/muster/cloud"
)

// tokens answers AssumeRole with keys that are named after the role, and everything else with an empty reply. It notes who
// signed what.
type tokens struct {
	now func() time.Time
	// refuse has the error codes of roles and keys that are refused.
	refuse map[string]string

	mu    sync.Mutex
	calls []string
}

func (s *tokens) RoundTrip(r *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	form, err := url.ParseQuery(string(body))
	if err != nil {
		return nil, err
	}
	_, signed, _ := strings.Cut(r.Header.Get("Authorization"), "Credential=")
	key, _, _ := strings.Cut(signed, "/")
	s.mu.Lock()
	defer s.mu.Unlock()
	call := key + " " + form.Get("Action")
	role := strings.TrimPrefix(form.Get("RoleArn"), "arn:aws:iam::210987654321:role/")
	for _, parameter := range []string{"RoleSessionName", "DurationSeconds", "ExternalId", "Policy", "PolicyArns.member.1.arn"} {
		if form.Get(parameter) != "" {
			call += " " + form.Get(parameter)
		}
	}
	s.calls = append(s.calls, call)
	for _, refused := range []string{key, role} {
		if code := s.refuse[refused]; code != "" {
			return reply(403, fmt.Sprintf("<ErrorResponse><Error><Code>%s</Code><Message>%s tenants-s3cret-0123456789 is "+
				"refused</Message></Error></ErrorResponse>", code, refused)), nil
		}
	}
	if form.Get("Action") != "AssumeRole" {
		return reply(200, "<DescribeAutoScalingGroupsResponse><DescribeAutoScalingGroupsResult/></DescribeAutoScalingGroupsResponse>"), nil
	}
	return reply(200, fmt.Sprintf(`<AssumeRoleResponse><AssumeRoleResult><Credentials><AccessKeyId>ASIA-%s</AccessKeyId>`+
		`<SecretAccessKey>s</SecretAccessKey><SessionToken>t</SessionToken><Expiration>%s</Expiration></Credentials></AssumeRoleResult></AssumeRoleResponse>`,
		role, s.now().Add(15*time.Minute).UTC().Format(time.RFC3339))), nil
}

func reply(status int, body string) *http.Response {
	return &http.Response{StatusCode: status, Header: http.Header{"Content-Type": {"text/xml"}}, Body: io.NopCloser(strings.NewReader(body))}
}

func (s *tokens) take() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	calls := s.calls
	s.calls = nil
	return calls
}

// stand is Sessions over such a service, with a clock that the test moves.
type stand struct {
	*Sessions
	service *tokens
	at      time.Time
}

func newStand(t *testing.T) *stand {
	t.Helper()
	st := &stand{at: time.Now().UTC().Truncate(time.Second)}
	now := func() time.Time { return st.at }
	st.service = &tokens{now: now, refuse: map[string]string{}}
	var err error
	st.Sessions, err = New(Options{Base: st.service, Now: now, Config: func(_ context.Context, region string) (awssdk.Config, error) {
		return awssdk.Config{Region: region, Credentials: credentials.NewStaticCredentialsProvider("CONTROLLER", "s", "")}, nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	return st
}

// call makes one call for a cluster with the identity.
func (s *stand) call(t *testing.T, i *awsv1.IdentityView) error {
	t.Helper()
	session, err := s.Of(t.Context(), awsv1.ClusterView{Region: "eu-west-1", Identity: i})
	if err != nil {
		t.Fatal(err)
	}
	_, err = session.AutoScaling.DescribeAutoScalingGroups(t.Context(), &autoscaling.DescribeAutoScalingGroupsInput{})
	return Refusal(err, s.at)
}

func role(name string) awsv1.RoleView {
	return awsv1.RoleView{Name: "AWSClusterRoleIdentity/" + name, ARN: "arn:aws:iam::210987654321:role/" + name}
}

func tenantKeys(secret string) awsv1.AccessKeys { return awsv1.NewAccessKeys("TENANT", secret, "") }

const describe = " DescribeAutoScalingGroups"

func TestWhoSigns(t *testing.T) {
	t.Parallel()
	full := role("full")
	full.SessionName, full.Duration, full.ExternalID, full.InlinePolicy, full.PolicyARNs = "name", time.Hour, "ext", "{}", []string{"arn:p"}
	for _, c := range []struct {
		name, reason string
		identity     *awsv1.IdentityView
		want         []string
	}{
		{"controller", "no identity is the controller", nil, []string{"CONTROLLER" + describe}},
		{"keys", "keys sign by themselves", &awsv1.IdentityView{Name: "s", Keys: tenantKeys("s")}, []string{"TENANT" + describe}},
		{"role", "the controller assumes the role", &awsv1.IdentityView{Name: "r", Roles: []awsv1.RoleView{role("r")}},
			[]string{"CONTROLLER AssumeRole muster 900", "ASIA-r" + describe}},
		{"chain", "each role is assumed by the one before", &awsv1.IdentityView{Name: "r", Keys: tenantKeys("s"),
			Roles: []awsv1.RoleView{role("a"), role("b")}},
			[]string{"TENANT AssumeRole muster 900", "ASIA-a AssumeRole muster 900", "ASIA-b" + describe}},
		{"everything said", "what the identity says reaches the service", &awsv1.IdentityView{Name: "r", Roles: []awsv1.RoleView{full}},
			[]string{"CONTROLLER AssumeRole name 3600 ext {} arn:p", "ASIA-full" + describe}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			st := newStand(t)
			if err := st.call(t, c.identity); err != nil {
				t.Fatal(err)
			}
			if got := st.service.take(); !slices.Equal(got, c.want) {
				t.Errorf("%s: want %q, got %q", c.reason, c.want, got)
			}
			if err := st.call(t, c.identity); err != nil {
				t.Fatal(err)
			}
			if got := st.service.take(); !slices.Equal(got, c.want[len(c.want)-1:]) {
				t.Errorf("want credentials kept for the next call, got %q", got)
			}
		})
	}
}

// A rotated secret signs the very next call, and what the old one led to is kept nowhere.
func TestRotation(t *testing.T) {
	t.Parallel()
	st := newStand(t)
	before := &awsv1.IdentityView{Name: "s", Keys: tenantKeys("old")}
	after := &awsv1.IdentityView{Name: "s", Keys: awsv1.NewAccessKeys("ROTATED", "new", "")}
	for _, i := range []*awsv1.IdentityView{before, after} {
		if err := st.call(t, i); err != nil {
			t.Fatal(err)
		}
	}
	if got, want := st.service.take(), []string{"TENANT" + describe, "ROTATED" + describe}; !slices.Equal(got, want) {
		t.Errorf("want %q, got %q", want, got)
	}
	if len(st.made) != 1 || len(st.transports) != 1 {
		t.Errorf("want one session and one transport kept, got %d and %d", len(st.made), len(st.transports))
	}
}

// Budgets are those of accounts: two roles in one share them, and the controller has its own.
func TestAccounts(t *testing.T) {
	t.Parallel()
	st := newStand(t)
	for _, c := range []struct {
		identity *awsv1.IdentityView
		want     string
	}{
		{nil, "default"},
		{&awsv1.IdentityView{Name: "AWSClusterStaticIdentity/s", Keys: tenantKeys("s")}, "AWSClusterStaticIdentity/s"},
		{&awsv1.IdentityView{Name: "a", Roles: []awsv1.RoleView{role("a")}}, "210987654321"},
		{&awsv1.IdentityView{Name: "b", Roles: []awsv1.RoleView{role("b")}}, "210987654321"},
	} {
		if got := st.account(c.identity); got != c.want {
			t.Errorf("%v: want account %s, got %s", c.identity, c.want, got)
		}
		if err := st.call(t, c.identity); err != nil {
			t.Fatal(err)
		}
	}
	if len(st.made) != 4 || len(st.transports) != 3 {
		t.Errorf("want four sessions over three transports, got %d over %d", len(st.made), len(st.transports))
	}
}

// A refusal names the object that the refused credentials come from, and shows none of them.
func TestRefusedIdentity(t *testing.T) {
	t.Parallel()
	chain := &awsv1.IdentityView{Name: "AWSClusterRoleIdentity/b", Keys: tenantKeys("tenants-s3cret-0123456789"),
		Roles: []awsv1.RoleView{role("a"), role("b")}}
	for _, c := range []struct{ reason, refuse, code, field, op string }{
		{"keys that are refused", "TENANT", "InvalidClientTokenId", "AWSClusterRoleIdentity/a", "sts:AssumeRole"},
		{"the first role is refused: the second names it not", "a", "AccessDenied", "AWSClusterRoleIdentity/a", "sts:AssumeRole"},
		{"the second role is refused", "b", "AccessDenied", "AWSClusterRoleIdentity/b", "sts:AssumeRole"},
		{"the call itself is refused", "ASIA-b", "AccessDenied", "AWSClusterRoleIdentity/b", "autoscaling:DescribeAutoScalingGroups"},
	} {
		st := newStand(t)
		st.service.refuse[c.refuse] = c.code
		err := st.call(t, chain)
		var e *cloud.Error
		if !errors.As(err, &e) || e.Kind != cloud.Denied || e.Code != c.code || e.Field != c.field || e.Op != c.op {
			t.Errorf("%s: want %s %s %s denied, got %v", c.reason, c.op, c.field, c.code, err)
		}
		if strings.Contains(fmt.Sprint(err), "s3cret") {
			t.Errorf("%s: want no key in the message, got %v", c.reason, err)
		}
		for _, call := range st.service.take() {
			if strings.HasPrefix(call, "CONTROLLER") {
				t.Errorf("%s: want no other call, got %s", c.reason, call)
			}
		}
	}
}

// Credentials are renewed before they end, by one call, and good ones outlive a renewal that fails.
func TestRenewing(t *testing.T) {
	t.Parallel()
	now := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	gets, refuse := 0, error(nil)
	r := &renewing{now: func() time.Time { return now }, get: func(context.Context) (awssdk.Credentials, error) {
		gets++
		return awssdk.Credentials{AccessKeyID: fmt.Sprint(gets), SecretAccessKey: "s", CanExpire: true,
			Expires: now.Add(15 * time.Minute)}, refuse
	}}
	for _, c := range []struct {
		reason string
		after  time.Duration
		refuse error
		key    string
		gets   int
		err    bool
	}{
		{"the first call gets them", 0, nil, "1", 1, false},
		{"fresh ones are not renewed", 9 * time.Minute, nil, "1", 1, false},
		{"shortly before their end they are renewed", 2 * time.Minute, nil, "2", 2, false},
		{"a renewal that fails leaves the good ones", 11 * time.Minute, errors.New("no"), "2", 3, false},
		{"and is not tried with each call", time.Second, errors.New("no"), "2", 3, false},
		{"but again a while later", time.Minute, nil, "4", 4, false},
		{"when they have ended the failure is told", time.Hour, errors.New("no"), "", 5, true},
	} {
		now, refuse = now.Add(c.after), c.refuse
		got, err := r.Retrieve(t.Context())
		if got.AccessKeyID != c.key || gets != c.gets || (err != nil) != c.err {
			t.Errorf("%s: want key %q after %d, error %v; got %q after %d, %v", c.reason, c.key, c.gets, c.err, got.AccessKeyID, gets, err)
		}
	}
}

// While one call renews, those with good credentials go on, and those without wait for it.
func TestRenewingBlocksOneCall(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	now := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	entered, proceed := make(chan struct{}), make(chan struct{})
	gets := 0
	r := &renewing{now: func() time.Time { mu.Lock(); defer mu.Unlock(); return now }, get: func(context.Context) (awssdk.Credentials, error) {
		gets++
		entered <- struct{}{}
		<-proceed
		return awssdk.Credentials{AccessKeyID: fmt.Sprint(gets), SecretAccessKey: "s", Expires: now.Add(15 * time.Minute)}, nil
	}}
	results := make(chan string, 2)
	retrieve := func() {
		got, err := r.Retrieve(context.Background())
		results <- fmt.Sprint(got.AccessKeyID, err)
	}
	go retrieve()
	<-entered
	go retrieve()
	proceed <- struct{}{}
	for range 2 {
		if got := <-results; got != "1<nil>" {
			t.Errorf("want both to have what one got, got %s", got)
		}
	}
	mu.Lock()
	now = now.Add(11 * time.Minute)
	mu.Unlock()
	go retrieve()
	<-entered
	if got, err := r.Retrieve(t.Context()); err != nil || got.AccessKeyID != "1" {
		t.Errorf("want the good ones while another call renews, got %s, %v", got.AccessKeyID, err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	mu.Lock()
	now = now.Add(11 * time.Minute)
	mu.Unlock()
	if _, err := r.Retrieve(ended); !errors.Is(err, context.Canceled) {
		t.Errorf("want no caller to wait longer than its own call, got %v", err)
	}
	proceed <- struct{}{}
	if got := <-results; got != "2<nil>" {
		t.Errorf("want the renewed ones, got %s", got)
	}
}
