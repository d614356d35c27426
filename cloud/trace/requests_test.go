package trace

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"go.opentelemetry.io/otel/codes"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/muster-project/muster/cloud/wire"
)

type answers func(*http.Request) (*http.Response, error)

func (a answers) RoundTrip(r *http.Request) (*http.Response, error) { return a(r) }

func TestRequests(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		reason string
		status int
		spent  bool
		want   string
		code   codes.Code
	}{
		{reason: "a reply is told by its status", status: 200, want: "{http.response.status_code 200}", code: codes.Unset},
		{reason: "a refusal is an error", status: 403, want: "{http.response.status_code 403}", code: codes.Error},
		{reason: "no reply is one too", want: "{cloud.region eu-west-1}", code: codes.Error},
		{reason: "what was not sent is told", status: 200, spent: true, want: "{error.type ClientRateLimited}", code: codes.Error},
	} {
		recorder := tracetest.NewSpanRecorder()
		tracer := sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(recorder)).Tracer("test")
		budget := wire.Budget{Key: "k", Burst: 1, PerSecond: 0.0001}
		transport := wire.New(wire.Options{Around: Requests(tracer), Budgets: func(wire.Call) []wire.Budget { return []wire.Budget{budget} },
			Base: answers(func(*http.Request) (*http.Response, error) {
				if c.status == 0 {
					return nil, errors.New("broken")
				}
				return &http.Response{StatusCode: c.status, Body: http.NoBody}, nil
			})})
		ctx, parent := tracer.Start(t.Context(), "parent")
		ctx = wire.WithCall(ctx, wire.Call{Service: "ec2", Operation: "DescribeImages", Account: "1", Region: "eu-west-1"})
		send := func() {
			req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://localhost", strings.NewReader("the secret"))
			if err != nil {
				t.Fatal(err)
			}
			if reply, err := transport.RoundTrip(req); err == nil {
				_ = reply.Body.Close()
			}
		}
		send()
		if c.spent {
			send()
		}
		spans := recorder.Ended()
		if len(spans) == 0 {
			t.Fatalf("%s: want a span, got none", c.reason)
		}
		last := spans[len(spans)-1]
		got := fmt.Sprint(last.Attributes())
		if last.Name() != "ec2:DescribeImages" || last.Parent().SpanID() != parent.SpanContext().SpanID() || last.Status().Code != c.code ||
			!strings.Contains(got, c.want) {
			t.Errorf("%s: want a span of the call below its parent with %s and status %s, got %s %s %s", c.reason, c.want, c.code, last.Name(), got,
				last.Status().Code)
		}
		if strings.Contains(got, "secret") {
			t.Errorf("%s: want nothing of what was sent, got %s", c.reason, got)
		}
	}
	if Requests(nil) != nil {
		t.Error("want nothing around requests without a tracer")
	}
}

// Without a tracer passes go on as ever.
func TestNoPasses(t *testing.T) {
	t.Parallel()
	ctx, pass := NewPasses(nil).Begin(t.Context(), "AWSMachinePool", "ns", "p")
	pass.Decided("Resize", "Replicas")
	if trace, span := pass.IDs(); trace != "" || span != "" || ctx != t.Context() {
		t.Errorf("want no IDs and the same context, got %q %q", trace, span)
	}
	pass.End(errors.New("broken"))
}
