package trace

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	oteltrace "go.opentelemetry.io/otel/trace"

	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/pool"
)

type fake struct {
	err error
	// within is the span that a call ran in.
	within *oteltrace.SpanContext
}

func (f fake) Traits() pool.Traits { return pool.Traits{} }

func (f fake) Observe(ctx context.Context, _ cloud.Target[int]) (pool.Observed, error) {
	*f.within = oteltrace.SpanContextFromContext(ctx)
	return pool.Observed{Group: &pool.Group{}, Instances: make([]pool.Instance, 2)}, f.err
}

func (f fake) Start(ctx context.Context, _ cloud.Target[int], _ pool.Step) error {
	*f.within = oteltrace.SpanContextFromContext(ctx)
	return f.err
}

func TestTraced(t *testing.T) {
	recorder := tracetest.NewSpanRecorder()
	tracer := sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(recorder)).Tracer("test")
	var within oteltrace.SpanContext
	target := cloud.Target[int]{
		Owner:     cloud.Owner{ID: "uid", Cluster: "c", Namespace: "ns", Name: "p"},
		Bootstrap: cloud.NewBootstrap([]byte("the token"), "cloud-config"),
	}
	d := Traced[int](fake{within: &within}, tracer)
	if _, err := d.Observe(t.Context(), target); err != nil {
		t.Fatal(err)
	}
	refused := &cloud.Error{Kind: cloud.Throttled, Code: "Throttling"}
	d = Traced[int](fake{err: refused, within: &within}, tracer)
	if err := d.Start(t.Context(), target, pool.Step{Kind: pool.Remove, Cause: pool.Cause{Reason: "Surplus"}}); !errors.Is(err, refused) {
		t.Errorf("want the driver's own error %v, got %v", refused, err)
	}
	spans := recorder.Ended()
	if len(spans) != 2 || spans[0].Name() != "Observe" || spans[1].Name() != "Remove" {
		t.Fatalf("want the spans Observe and Remove, got %v", spans)
	}
	if within.SpanID() != spans[1].SpanContext().SpanID() {
		t.Errorf("want the driver to run within span %s, got %s", spans[1].SpanContext().SpanID(), within.SpanID())
	}
	got := fmt.Sprint(spans[0].Attributes(), spans[1].Attributes(), spans[1].Status())
	for _, want := range []string{"{muster.pool p}", "{muster.instances 2}", "{error.type Throttled}", "{muster.reason Surplus}"} {
		if !strings.Contains(got, want) {
			t.Errorf("want an attribute %s, got %s", want, got)
		}
	}
	if strings.Contains(got, "token") {
		t.Errorf("want no bootstrap data in a span, got %s", got)
	}
}

func TestTracedWithoutTracer(t *testing.T) {
	d := fake{within: &oteltrace.SpanContext{}}
	if got := Traced[int](d, nil); got != cloud.Driver[int](d) {
		t.Errorf("want the driver itself where no tracer is configured, got %T", got)
	}
}
