package partstest

import (
	"context"
	"errors"
	"testing"

	"go.opentelemetry.io/otel/codes"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/muster-project/muster/cloud/trace"
	"github.com/muster-project/muster/kube/control"
)

func TestAround(t *testing.T) {
	t.Parallel()
	recorder := tracetest.NewSpanRecorder()
	tracer := sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(recorder)).Tracer("test")
	req := ctrl.Request{NamespacedName: types.NamespacedName{Namespace: "ns", Name: "p"}}
	broken := errors.New("broken")
	for _, c := range []struct {
		reason string
		passes *trace.Passes
		err    error
		spans  int
		code   codes.Code
	}{
		{"without a tracer a pass runs as ever", nil, broken, 0, codes.Unset},
		{"a pass is a span", trace.NewPasses(tracer), nil, 1, codes.Unset},
		{"a pass that fails is an error", trace.NewPasses(tracer), broken, 2, codes.Error},
	} {
		result, err := control.WithSpan(t.Context(), c.passes, "MachinePool", req, func(ctx context.Context) (ctrl.Result, error) {
			if (control.PassFrom(ctx) != nil) != (c.passes != nil) {
				t.Errorf("%s: want the span at hand where there is one", c.reason)
			}
			return ctrl.Result{RequeueAfter: 1}, c.err
		})
		if result.RequeueAfter != 1 || !errors.Is(err, c.err) {
			t.Errorf("%s: want the pass's own result, got %v, %v", c.reason, result, err)
		}
		ended := recorder.Ended()
		if len(ended) != c.spans || c.spans > 0 && (ended[c.spans-1].Name() != "Reconcile MachinePool" ||
			ended[c.spans-1].Status().Code != c.code) {
			t.Errorf("%s: want %d spans, the last with status %s, got %v", c.reason, c.spans, c.code, ended)
		}
	}
}
