package control

import (
	"context"

	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/muster-project/muster/cloud/trace"
)

type spanKey struct{}

// WithSpan runs a pass over one object of a kind within a span, if passes have any.
func WithSpan(ctx context.Context, passes *trace.Passes, kind string, req ctrl.Request,
	pass func(context.Context) (ctrl.Result, error)) (ctrl.Result, error) {
	ctx, span := passes.Begin(ctx, kind, req.Namespace, req.Name)
	if id, own := span.IDs(); id != "" {
		ctx = ctrl.LoggerInto(ctx, ctrl.LoggerFrom(ctx).WithValues("traceID", id, "spanID", own))
	}
	result, err := pass(context.WithValue(ctx, spanKey{}, span))
	span.End(err)
	return result, err
}

// PassFrom is the span of the pass that the context belongs to; nil, which takes every call, without one.
func PassFrom(ctx context.Context) *trace.Pass {
	span, _ := ctx.Value(spanKey{}).(*trace.Pass)
	return span
}
