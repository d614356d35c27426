package aws_test

import (
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/aws"
	"github.com/muster-project/muster/cloud/wire"
	simaws "github.com/muster-project/muster/sim/aws"
)

// noSettings keeps the settings of the user's environment out of the tests.
func noSettings(t *testing.T) {
	t.Helper()
	none := filepath.Join(t.TempDir(), "none")
	for name, value := range map[string]string{
		"AWS_CONFIG_FILE": none, "AWS_SHARED_CREDENTIALS_FILE": none, "AWS_PROFILE": "", "AWS_EC2_METADATA_DISABLED": "true",
		"AWS_ACCESS_KEY_ID": "", "AWS_SECRET_ACCESS_KEY": "", "AWS_SESSION_TOKEN": "", "AWS_REGION": "", "AWS_DEFAULT_REGION": "",
		"AWS_ENDPOINT_URL": "", "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI": "", "AWS_CONTAINER_CREDENTIALS_FULL_URI": "",
		"AWS_WEB_IDENTITY_TOKEN_FILE": "", "AWS_ROLE_ARN": "", "AWS_CA_BUNDLE": "", "HTTP_PROXY": "", "http_proxy": "",
	} {
		t.Setenv(name, value)
	}
}

// hook keeps what it is told.
type hook struct {
	mu               sync.Mutex
	lines, throttled []string
}

func (h *hook) Done(c wire.Call, r wire.Result) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.lines = append(h.lines, strings.Join([]string{c.String(), c.Account, c.Region, http.StatusText(r.Status)}, " "))
}

func (h *hook) Throttled(c wire.Call, r wire.Result) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.throttled = append(h.throttled, c.String()+" "+http.StatusText(r.Status))
}

// TestThrottlingIsCounted holds that a refusal by rate limits is reported once, whichever status it has, and that other refusals are not.
func TestThrottlingIsCounted(t *testing.T) {
	noSettings(t)
	t.Setenv("AWS_ACCESS_KEY_ID", simaws.AccessKeyID)
	t.Setenv("AWS_SECRET_ACCESS_KEY", simaws.SecretAccessKey)
	for _, c := range []struct {
		code   string
		status int
		want   []string
	}{
		{"Throttling", http.StatusBadRequest, []string{"autoscaling:DescribeAutoScalingGroups Bad Request"}},
		{"RequestLimitExceeded", http.StatusServiceUnavailable, []string{"autoscaling:DescribeAutoScalingGroups Service Unavailable"}},
		{"Throttling", http.StatusTooManyRequests, []string{"autoscaling:DescribeAutoScalingGroups Too Many Requests"}},
		{"ValidationError", http.StatusBadRequest, nil},
		{"InternalFailure", http.StatusServiceUnavailable, nil},
	} {
		endpoint := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(c.status)
			_, _ = w.Write([]byte("<ErrorResponse><Error><Code>" + c.code + "</Code><Message>no</Message></Error></ErrorResponse>"))
		}))
		t.Cleanup(endpoint.Close)
		t.Setenv("AWS_ENDPOINT_URL", endpoint.URL)
		told := &hook{}
		d, err := aws.New(aws.Options{Hook: told})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(d.Close)
		if _, err := d.Observe(t.Context(), aTarget()); err == nil {
			t.Errorf("%s with %d: want an error", c.code, c.status)
		}
		if !slices.Equal(told.throttled, c.want) || len(told.lines) != 1 {
			t.Errorf("%s with %d: want %q reported of one request, got %q of %q", c.code, c.status, c.want, told.throttled, told.lines)
		}
	}
}

func TestSettingsOfTheSDKAreHonoured(t *testing.T) {
	noSettings(t)
	server, err := simaws.New(simaws.Options{Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	endpoint := httptest.NewServer(server)
	t.Cleanup(func() {
		endpoint.Close()
		if err := server.Close(); err != nil {
			t.Errorf("close the simulator: %v", err)
		}
	})
	t.Setenv("AWS_ENDPOINT_URL", endpoint.URL)
	t.Setenv("AWS_ACCESS_KEY_ID", simaws.AccessKeyID)
	t.Setenv("AWS_SECRET_ACCESS_KEY", simaws.SecretAccessKey)
	told := &hook{}
	d, err := aws.New(aws.Options{Hook: told})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	o, err := d.Observe(t.Context(), aTarget())
	if err != nil {
		t.Fatalf("want the endpoint, region and keys of the settings to do, got %v", err)
	}
	if o.Wanted.Content == "" {
		t.Errorf("want what the specification asks for, got %+v", o)
	}
	if want := "autoscaling:DescribeAutoScalingGroups default eu-west-1 OK"; len(told.lines) == 0 || told.lines[0] != want {
		t.Errorf("want the hook told %q first, got %q", want, told.lines)
	}
}

func TestNoCredentials(t *testing.T) {
	noSettings(t)
	t.Setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:1")
	d, err := aws.New(aws.Options{})
	if err != nil {
		t.Fatal(err)
	}
	_, err = d.Observe(t.Context(), aTarget())
	if err == nil || cloud.KindOf(err) != cloud.Denied {
		t.Errorf("want missing credentials to be said as %s, got %v", cloud.Denied, err)
	}
}

func TestNobodyListens(t *testing.T) {
	noSettings(t)
	endpoint := httptest.NewServer(http.NotFoundHandler())
	endpoint.Close()
	t.Setenv("AWS_ENDPOINT_URL", endpoint.URL)
	t.Setenv("AWS_ACCESS_KEY_ID", simaws.AccessKeyID)
	t.Setenv("AWS_SECRET_ACCESS_KEY", simaws.SecretAccessKey)
	d, err := aws.New(aws.Options{})
	if err != nil {
		t.Fatal(err)
	}
	_, err = d.Observe(t.Context(), aTarget())
	if err == nil || cloud.KindOf(err) != cloud.Unavailable || strings.Contains(err.Error(), "127.0.0.1") {
		t.Errorf("want an unreachable cloud to be said as %s without its address, got %v", cloud.Unavailable, err)
	}
}
