// Package trace puts a span around every observation and step. It is a decorator over the contract; without a tracer
// there is no decorator, so that tracing costs nothing where it is not configured.
package trace

import (
	"context"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	oteltrace "go.opentelemetry.io/otel/trace"

	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/pool"
)

// Traced is the driver with a span around every call. A nil tracer leaves the driver as it is.
func Traced[S any](d cloud.Driver[S], tracer oteltrace.Tracer) cloud.Driver[S] {
	if tracer == nil {
		return d
	}
	return &traced[S]{Driver: d, tracer: tracer}
}

type traced[S any] struct {
	cloud.Driver[S]
	tracer oteltrace.Tracer
}

func (d *traced[S]) Observe(ctx context.Context, t cloud.Target[S]) (pool.Observed, error) {
	ctx, span := d.tracer.Start(ctx, "Observe", oteltrace.WithAttributes(of(t.Owner)...))
	defer span.End()
	o, err := d.Driver.Observe(ctx, t)
	end(span, err)
	if err == nil {
		span.SetAttributes(attribute.Bool("muster.group", o.Group != nil), attribute.Int("muster.instances", len(o.Instances)))
	}
	return o, err
}

func (d *traced[S]) Start(ctx context.Context, t cloud.Target[S], s pool.Step) error {
	ctx, span := d.tracer.Start(ctx, string(s.Kind), oteltrace.WithAttributes(append(of(t.Owner),
		attribute.String("muster.reason", s.Cause.Reason), attribute.Int("muster.targets", len(s.Targets)))...))
	defer span.End()
	err := d.Driver.Start(ctx, t, s)
	end(span, err)
	return err
}

// of returns the attributes of a span's pool. Specifications are left out: they hold what only the pool's owner may see.
func of(o cloud.Owner) []attribute.KeyValue {
	return []attribute.KeyValue{
		attribute.String("muster.cluster", o.Cluster),
		attribute.String("k8s.namespace.name", o.Namespace),
		attribute.String("muster.pool", o.Name),
	}
}

func end(span oteltrace.Span, err error) {
	if err == nil {
		return
	}
	kind := string(cloud.KindOf(err))
	span.SetAttributes(attribute.String("error.type", kind))
	span.RecordError(err)
	span.SetStatus(codes.Error, kind)
}
