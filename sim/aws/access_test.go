package aws_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/service/autoscaling"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/aws/aws-sdk-go-v2/service/ssm"
	ssmtypes "github.com/aws/aws-sdk-go-v2/service/ssm/types"
	"github.com/aws/aws-sdk-go-v2/service/sts"

	"github.com/muster-project/muster/sim"
	"github.com/muster-project/muster/sim/aws"
	"github.com/muster-project/muster/sim/core"
)

func TestSignatures(t *testing.T) {
	a := aws.DefaultAccount()
	for _, c := range []struct {
		name, key, secret, token, region string
		late                             time.Duration
		ec2, autoscaling, ssm            string
	}{
		{"wrong secret", a.AccessKeyID, "guessed", "", aws.Region, 0, "AuthFailure", "SignatureDoesNotMatch", "SignatureDoesNotMatch"},
		{"unknown key", "AKIANOBODY", a.SecretAccessKey, "", aws.Region, 0, "AuthFailure", "InvalidClientTokenId", "InvalidClientTokenId"},
		{"a token that was never given", a.AccessKeyID, a.SecretAccessKey, "token", aws.Region, 0, "AuthFailure", "InvalidClientTokenId",
			"InvalidClientTokenId"},
		{"a region that does not exist", a.AccessKeyID, a.SecretAccessKey, "", "mars-1", 0, "SignatureDoesNotMatch", "SignatureDoesNotMatch",
			"SignatureDoesNotMatch"},
		{"a clock that is late", a.AccessKeyID, a.SecretAccessKey, "", aws.Region, 20 * time.Minute, "RequestExpired", "SignatureDoesNotMatch",
			"SignatureDoesNotMatch"},
	} {
		t.Run(c.name, func(t *testing.T) {
			inWorld(t, aws.Options{}, func(t *testing.T, w *world) {
				cfg := config(late{w.server, c.late}, c.key, c.secret, c.token, c.region)
				as, e, s, _ := clientsOf(cfg)
				_, err := e.DescribeVpcs(t.Context(), &ec2.DescribeVpcsInput{})
				wantCode(t, err, c.ec2)
				_, err = as.DescribeAutoScalingGroups(t.Context(), &autoscaling.DescribeAutoScalingGroupsInput{})
				wantCode(t, err, c.autoscaling)
				_, err = s.GetParameter(t.Context(), &ssm.GetParameterInput{Name: awssdk.String("/x")})
				wantCode(t, err, c.ssm)
			})
		})
	}
}

// late holds requests up on their way.
type late struct {
	http.Handler
	by time.Duration
}

func (l late) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	after(l.by)
	l.Handler.ServeHTTP(w, r)
}

// A request that was changed on its way, or that is not signed, is refused.
func TestUnsignedAndForged(t *testing.T) {
	inWorld(t, aws.Options{}, func(t *testing.T, w *world) {
		forge := func(change func(*http.Request)) string {
			cfg := config(forged{w.server, change}, aws.AccessKeyID, aws.SecretAccessKey, "", aws.Region)
			_, err := ec2.NewFromConfig(cfg).DescribeVpcs(t.Context(), &ec2.DescribeVpcsInput{})
			if err == nil {
				return ""
			}
			for _, code := range []string{"AuthFailure", "MissingAuthenticationToken", "IncompleteSignature"} {
				if strings.Contains(err.Error(), code) {
					return code
				}
			}
			return err.Error()
		}
		for _, c := range []struct {
			name   string
			change func(*http.Request)
			want   string
		}{
			{"untouched", func(*http.Request) {}, ""},
			{"another body", func(r *http.Request) {
				r.Body = io.NopCloser(strings.NewReader("Action=DescribeRegions&Version=2016-11-15"))
			}, "AuthFailure"},
			{"another host", func(r *http.Request) { r.Host = "elsewhere" }, "AuthFailure"},
			{"no signature", func(r *http.Request) { r.Header.Del("Authorization") }, "MissingAuthenticationToken"},
			{"half a signature", func(r *http.Request) { r.Header.Set("Authorization", "AWS4-HMAC-SHA256 Credential=x") }, "IncompleteSignature"},
		} {
			if got := forge(c.change); got != c.want {
				t.Errorf("%s: want %q, got %q", c.name, c.want, got)
			}
		}
	})
}

type forged struct {
	http.Handler
	change func(*http.Request)
}

func (f forged) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f.change(r)
	f.Handler.ServeHTTP(w, r)
}

// Accounts and regions see nothing of each other.
func TestAccountsAndRegionsAreApart(t *testing.T) {
	other := aws.NewAccount("210987654321")
	other.Roles = []aws.Role{{Name: "muster",
		Trust: `{"Statement":{"Effect":"Allow","Principal":{"AWS":"` + aws.AccountID + `"},"Action":"sts:AssumeRole"}}`}}
	inWorld(t, aws.Options{Accounts: []aws.Account{aws.DefaultAccount(), other}}, func(t *testing.T, w *world) {
		ctx := t.Context()
		w.template("workers")
		for name, count := range map[string]func() int{
			"another account": func() int { return templates(t, w, other, aws.Region) },
			"another region":  func() int { return templates(t, w, aws.DefaultAccount(), "us-east-1") },
		} {
			if n := count(); n != 0 {
				t.Errorf("%s: want no template, got %d", name, n)
			}
		}
		_, _, _, s := clients(w.server, other, aws.Region)
		who, err := s.GetCallerIdentity(ctx, &sts.GetCallerIdentityInput{})
		ok(t, err)
		if *who.Account != other.ID {
			t.Errorf("want the account %s, got %s", other.ID, *who.Account)
		}

		// A role of the other account gives keys that work there, until they expire.
		role, err := w.sts.AssumeRole(ctx, &sts.AssumeRoleInput{RoleArn: awssdk.String("arn:aws:iam::" + other.ID + ":role/muster"),
			RoleSessionName: awssdk.String("test")})
		ok(t, err)
		c := role.Credentials
		_, e, _, s := clientsOf(config(w.server, *c.AccessKeyId, *c.SecretAccessKey, *c.SessionToken, aws.Region))
		who, err = s.GetCallerIdentity(ctx, &sts.GetCallerIdentityInput{})
		ok(t, err)
		if *who.Account != other.ID || !strings.Contains(*who.Arn, "assumed-role/muster/test") {
			t.Errorf("want the role in account %s, got %s as %s", other.ID, *who.Account, *who.Arn)
		}
		after(61 * time.Minute)
		_, err = e.DescribeVpcs(ctx, &ec2.DescribeVpcsInput{})
		wantCode(t, err, "RequestExpired")
		_, err = s.GetCallerIdentity(ctx, &sts.GetCallerIdentityInput{})
		wantCode(t, err, "ExpiredToken")
		_, err = w.sts.AssumeRole(ctx, &sts.AssumeRoleInput{RoleArn: awssdk.String("arn:aws:iam::999999999999:role/x"),
			RoleSessionName: awssdk.String("test")})
		wantCode(t, err, "AccessDenied")
	})
}

func templates(t *testing.T, w *world, a aws.Account, region string) int {
	t.Helper()
	_, e, _, _ := clients(w.server, a, region)
	out, err := e.DescribeLaunchTemplates(t.Context(), &ec2.DescribeLaunchTemplatesInput{})
	ok(t, err)
	return len(out.LaunchTemplates)
}

func TestParameters(t *testing.T) {
	inWorld(t, aws.Options{}, func(t *testing.T, w *world) {
		ctx := t.Context()
		for _, name := range []string{
			"/aws/service/eks/optimized-ami/1.34/amazon-linux-2023/x86_64/standard/recommended/image_id",
			"/aws/service/eks/optimized-ami/1.29/amazon-linux-2/recommended/image_id",
			"/aws/service/eks/optimized-ami/1.29/amazon-linux-2-gpu/recommended/image_id",
			"/aws/service/eks/optimized-ami/1.34/amazon-linux-2023/arm64/standard/recommended/image_id",
		} {
			out, err := w.ssm.GetParameter(ctx, &ssm.GetParameterInput{Name: &name})
			ok(t, err)
			images, err := w.ec2.DescribeImages(ctx, &ec2.DescribeImagesInput{ImageIds: []string{*out.Parameter.Value}})
			ok(t, err)
			if len(images.Images) != 1 || *images.Images[0].OwnerId != "602401143452" {
				t.Errorf("%s: want an image of EKS, got %+v", name, images.Images)
			}
		}
		_, err := w.ssm.GetParameter(ctx, &ssm.GetParameterInput{Name: awssdk.String("/aws/service/eks/optimized-ami/1.99/x")})
		wantCode(t, err, "ParameterNotFound")
		many, err := w.ssm.GetParameters(ctx, &ssm.GetParametersInput{Names: []string{"/nothing",
			"/aws/service/eks/optimized-ami/1.34/amazon-linux-2023/x86_64/standard/recommended/release_version"}})
		ok(t, err)
		if len(many.Parameters) != 1 || len(many.InvalidParameters) != 1 || many.Parameters[0].Type != ssmtypes.ParameterTypeString {
			t.Errorf("want one found and one not, got %+v", many)
		}
		pages := 0
		p := ssm.NewGetParametersByPathPaginator(w.ssm, &ssm.GetParametersByPathInput{Path: awssdk.String("/aws/service/eks/optimized-ami/1.34"),
			Recursive: awssdk.Bool(true)})
		for p.HasMorePages() {
			_, err := p.NextPage(ctx)
			ok(t, err)
			pages++
		}
		if pages != 3 {
			t.Errorf("want 24 parameters on 3 pages, got %d pages", pages)
		}
	})
}

// The documented buckets empty and fill: EC2 by action, Auto Scaling all actions together.
func TestThrottling(t *testing.T) {
	inWorld(t, aws.Options{}, func(t *testing.T, w *world) {
		ctx := t.Context()
		describe := func() error {
			_, err := w.ec2.DescribeInstances(ctx, &ec2.DescribeInstancesInput{})
			return err
		}
		for range 50 {
			ok(t, describe())
		}
		wantCode(t, describe(), "RequestLimitExceeded")
		_, err := w.ec2.DescribeInstances(ctx,
			&ec2.DescribeInstancesInput{Filters: []types.Filter{{Name: awssdk.String("vpc-id"), Values: []string{aws.VPCID}}}})
		wantCode(t, err, "RequestLimitExceeded")
		_, err = w.ec2.DescribeSubnets(ctx, &ec2.DescribeSubnetsInput{})
		ok(t, err) // another action has a bucket of its own
		after(time.Second)
		for range 10 {
			ok(t, describe())
		}
		wantCode(t, describe(), "RequestLimitExceeded")

		w.server.SetLimit("autoscaling", core.Rate{Size: 2, Refill: 1})
		for range 2 {
			_, err := w.as.DescribeAccountLimits(ctx, &autoscaling.DescribeAccountLimitsInput{})
			ok(t, err)
		}
		_, err = w.as.DescribeAutoScalingGroups(ctx, &autoscaling.DescribeAutoScalingGroupsInput{})
		wantCode(t, err, "Throttling")
		w.server.SetLimit("ec2:resource:RunInstances", core.Rate{Size: 3, Refill: 0})
		_, err = w.ec2.RunInstances(ctx, &ec2.RunInstancesInput{MinCount: awssdk.Int32(4), MaxCount: awssdk.Int32(4)})
		wantCode(t, err, "RequestLimitExceeded")
	})
}

// The whole thing over real connections: the SDK's own retries get through throttling and dropped connections, and the owner's
// side counts, plays faults and shows what is there.
func TestOverHTTP(t *testing.T) {
	s, err := aws.New(aws.Options{})
	ok(t, err)
	h := httptest.NewServer(s)
	defer func() {
		h.Close()
		ok(t, s.Close())
	}()
	cfg := config(s, aws.AccessKeyID, aws.SecretAccessKey, "", aws.Region)
	cfg.BaseEndpoint, cfg.HTTPClient = &h.URL, h.Client()
	cfg.Retryer = func() awssdk.Retryer { return retry.AddWithMaxBackoffDelay(retry.NewStandard(), time.Millisecond) }
	e := ec2.NewFromConfig(cfg)

	post(t, h.URL+"/_sim/faults", `[{"kind":"drop-before","action":"DescribeVpcs","times":1},{"kind":"drop-after","action":"DescribeV*","skip":1,"times":1}]`)
	out, err := e.DescribeVpcs(t.Context(), &ec2.DescribeVpcsInput{})
	ok(t, err)
	if len(out.Vpcs) != 1 {
		t.Errorf("want the VPC after two lost connections, got %d", len(out.Vpcs))
	}
	var calls sim.CallSummary
	get(t, h.URL+"/_sim/calls", &calls)
	if calls.Counts["ec2"]["DescribeVpcs"] != 3 || calls.Calls[0].Code != "ConnectionDropped" || calls.Mutating != 0 {
		t.Errorf("want three tries, the first dropped, got %+v", calls)
	}
	var state aws.State
	get(t, h.URL+"/_sim/state", &state)
	if state.Account != aws.AccountID || state.Groups == nil {
		t.Errorf("want the state of the default account, got %+v", state)
	}
	request(t, http.MethodPut, h.URL+"/_sim/speed", `{"speed": 100}`, http.StatusNoContent)
	request(t, http.MethodPut, h.URL+"/_sim/speed", `{"speed": 0}`, http.StatusBadRequest)
	for _, wrong := range []string{`{"kind":"nonsense"}`, `{"kind":"throttle","action":"DescribeInstanses"}`, `{"kind":"throttle","acton":"DescribeInstances"}`,
		`{"kind":"throttle","service":"ec2","action":"CreateAutoScalingGroup"}`, `{"kind":"no-capacity","zone":"eu-west-1z"}`} {
		request(t, http.MethodPost, h.URL+"/_sim/faults", wrong, http.StatusBadRequest)
	}
	request(t, http.MethodPost, h.URL+"/_sim/reset", "", http.StatusNoContent)
	get(t, h.URL+"/_sim/calls", &calls)
	if calls.Total != 0 {
		t.Errorf("after a reset: want no call, got %d", calls.Total)
	}
}

func post(t *testing.T, url, body string) {
	t.Helper()
	request(t, http.MethodPost, url, body, http.StatusNoContent)
}

func request(t *testing.T, method, url, body string, want int) []byte {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	ok(t, err)
	resp, err := http.DefaultClient.Do(r)
	ok(t, err)
	defer func() { _ = resp.Body.Close() }()
	b, err := io.ReadAll(resp.Body)
	ok(t, err)
	if resp.StatusCode != want {
		t.Fatalf("%s %s: want %d, got %d: %s", method, url, want, resp.StatusCode, b)
	}
	return b
}

func get(t *testing.T, url string, into any) {
	t.Helper()
	ok(t, json.Unmarshal(request(t, http.MethodGet, url, "", http.StatusOK), into))
}

// The same seed and the same calls give the same IDs; another seed gives others.
func TestDeterminism(t *testing.T) {
	run := func(seed uint64) string {
		var out string
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t, aws.Options{Seed: seed})
			defer w.close()
			w.group("workers", w.template("workers"), 0, 5, 5)
			after(7 * time.Second)
			b, err := json.Marshal(w.server.State(aws.AccountID, aws.Region))
			ok(t, err)
			out = string(b)
		})
		return out
	}
	one, again, other := run(1), run(1), run(2)
	if one != again {
		t.Errorf("the same seed: want the same world, got\n%s\n%s", one, again)
	}
	if one == other {
		t.Errorf("another seed: want another world")
	}
}
