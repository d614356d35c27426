package trace

import (
	"context"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	oteltrace "go.opentelemetry.io/otel/trace"

	"github.com/muster-project/muster/cloud"
)

// Passes puts a span around every pass of a controller. Nil Passes put none, and cost nothing.
type Passes struct{ tracer oteltrace.Tracer }

// NewPasses makes Passes; nil for a nil tracer.
func NewPasses(tracer oteltrace.Tracer) *Passes {
	if tracer == nil {
		return nil
	}
	return &Passes{tracer: tracer}
}

// Pass is one pass that runs. Nil is one without a span.
type Pass struct{ span oteltrace.Span }

// Begin begins the span of a pass over one object.
func (p *Passes) Begin(ctx context.Context, kind, namespace, name string) (context.Context, *Pass) {
	if p == nil {
		return ctx, nil
	}
	ctx, span := p.tracer.Start(ctx, "Reconcile "+kind, oteltrace.WithAttributes(
		attribute.String("muster.kind", kind), attribute.String("k8s.namespace.name", namespace), attribute.String("muster.pool", name)))
	return ctx, &Pass{span: span}
}

// IDs are those of the trace and of the pass in it, for logs; empty without a span, or when this trace is not recorded.
func (p *Pass) IDs() (trace, span string) {
	if p == nil || !p.span.SpanContext().IsSampled() {
		return "", ""
	}
	return p.span.SpanContext().TraceID().String(), p.span.SpanContext().SpanID().String()
}

// Decided notes what the pass came to: the step that it began, or none, with the reason why, or why it waits.
func (p *Pass) Decided(step, reason string) {
	if p == nil {
		return
	}
	p.span.SetAttributes(attribute.String("muster.step", step), attribute.String("muster.reason", reason))
}

// End ends the span, with the error that the pass met.
func (p *Pass) End(err error) {
	if p == nil {
		return
	}
	if err != nil {
		p.span.RecordError(err)
		p.span.SetAttributes(attribute.String("error.type", string(cloud.KindOf(err))))
		p.span.SetStatus(codes.Error, "the pass failed")
	}
	p.span.End()
}
