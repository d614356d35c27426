package trace

import (
	"context"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	oteltrace "go.opentelemetry.io/otel/trace"

	"github.com/muster-project/muster/cloud/wire"
)

// clientRateLimited is the error type of requests that were not sent because their rate budget was used up.
const clientRateLimited = "ClientRateLimited"

// Requests puts a span around every request to a cloud: which call of which service, in which account and region, and how it
// ended. What was sent and what was answered is left out. A nil tracer gives nil, which is no Around.
func Requests(tracer oteltrace.Tracer) wire.Around {
	if tracer == nil {
		return nil
	}
	return func(ctx context.Context, c wire.Call) (context.Context, func(wire.Result)) {
		ctx, span := tracer.Start(ctx, c.String(), oteltrace.WithSpanKind(oteltrace.SpanKindClient), oteltrace.WithAttributes(
			attribute.String("rpc.service", c.Service), attribute.String("rpc.method", c.Operation),
			attribute.String("cloud.account.id", c.Account), attribute.String("cloud.region", c.Region)))
		return ctx, func(r wire.Result) {
			defer span.End()
			switch {
			case r.Limited:
				span.SetAttributes(attribute.String("error.type", clientRateLimited))
				span.SetStatus(codes.Error, clientRateLimited)
			case r.Status == 0:
				span.SetStatus(codes.Error, "no reply")
			default:
				span.SetAttributes(attribute.Int("http.response.status_code", r.Status))
				if r.Status >= 400 {
					span.SetStatus(codes.Error, "")
				}
			}
		}
	}
}
