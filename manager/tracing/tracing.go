// Package tracing sends OpenTelemetry spans to a collector, when it is configured: by the standard environment variables, or
// by the flags. Without them there is no tracer, and tracing costs nothing.
package tracing

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracegrpc"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	oteltrace "go.opentelemetry.io/otel/trace"
)

const (
	// scope is the name under which the spans are known.
	scope = "github.com/muster-project/muster"
	// flushLimit bounds how long the end of the process waits for spans that are still to be sent.
	flushLimit = 5 * time.Second
)

// The standard environment variables that decide whether spans are sent, and how. What else the standard has (headers,
// certificates, time limits, OTEL_TRACES_SAMPLER, OTEL_RESOURCE_ATTRIBUTES, OTEL_SERVICE_NAME) the SDK reads itself.
const (
	envDisabled       = "OTEL_SDK_DISABLED"
	envExporter       = "OTEL_TRACES_EXPORTER"
	envEndpoint       = "OTEL_EXPORTER_OTLP_ENDPOINT"
	envTracesEndpoint = "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"
	envProtocol       = "OTEL_EXPORTER_OTLP_PROTOCOL"
	envTracesProtocol = "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL"
	envSampler        = "OTEL_TRACES_SAMPLER"
)

// Options of a Provider.
type Options struct {
	// Service is the name under which the process is known, unless OTEL_SERVICE_NAME says another; Version is its version.
	Service, Version string
	// Endpoint of the collector, which speaks OTLP over gRPC: HOST:PORT without TLS, or a URL. It wins over the environment.
	Endpoint string
	// Ratio of the traces that are recorded, from 0 to 1, as text; empty leaves it to OTEL_TRACES_SAMPLER, and that to all.
	Ratio string
	// Exporter takes the place of the collector, in tests.
	Exporter sdktrace.SpanExporter
}

// AddFlags adds the flags.
func (o *Options) AddFlags(set *pflag.FlagSet) {
	set.StringVar(&o.Endpoint, "tracing-endpoint", "",
		"Endpoint of an OpenTelemetry collector that receives traces by OTLP over gRPC: HOST:PORT (without TLS) or a URL. If unspecified, the "+
			"environment variables "+envTracesEndpoint+" and "+envEndpoint+" apply. If none is set, tracing is disabled.")
	set.StringVar(&o.Ratio, "tracing-sampling-ratio", "",
		"Fraction of traces that are sampled, from 0 to 1. If unspecified, the environment variable "+envSampler+" applies. If neither is set, "+
			"all traces are sampled.")
}

// Provider makes the spans of a process. A nil Provider makes none.
type Provider struct{ sdk *sdktrace.TracerProvider }

// New makes the Provider, or nil when nothing is configured. It sends nothing before the first span.
func New(ctx context.Context, o Options, env func(string) string) (*Provider, error) {
	exporter, err := o.exporter(ctx, env)
	if err != nil || exporter == nil {
		return nil, err
	}
	options := []sdktrace.TracerProviderOption{sdktrace.WithBatcher(exporter)}
	about, err := resource.New(ctx, resource.WithTelemetrySDK(),
		resource.WithAttributes(attribute.String("service.name", o.Service), attribute.String("service.version", o.Version)),
		resource.WithFromEnv())
	if err != nil {
		return nil, errors.Join(fmt.Errorf("tracing: describe the process: %w", err), exporter.Shutdown(ctx))
	}
	options = append(options, sdktrace.WithResource(about))
	if o.Ratio != "" {
		ratio, err := strconv.ParseFloat(o.Ratio, 64)
		if err != nil || ratio < 0 || ratio > 1 {
			return nil, errors.Join(fmt.Errorf("--tracing-sampling-ratio: want a number from 0 to 1, found %q", o.Ratio), exporter.Shutdown(ctx))
		}
		options = append(options, sdktrace.WithSampler(sdktrace.ParentBased(sdktrace.TraceIDRatioBased(ratio))))
	}
	return &Provider{sdk: sdktrace.NewTracerProvider(options...)}, nil
}

// exporter returns the configured exporter; nil if none is configured.
func (o *Options) exporter(ctx context.Context, env func(string) string) (sdktrace.SpanExporter, error) {
	if o.Exporter != nil {
		return o.Exporter, nil
	}
	var options []otlptracegrpc.Option
	switch {
	case o.Endpoint == "":
		if on, err := configured(env); !on || err != nil {
			return nil, err
		}
	case strings.Contains(o.Endpoint, "://"):
		options = append(options, otlptracegrpc.WithEndpointURL(o.Endpoint))
	default:
		options = append(options, otlptracegrpc.WithEndpoint(o.Endpoint), otlptracegrpc.WithInsecure())
	}
	exporter, err := otlptracegrpc.New(ctx, options...)
	if err != nil {
		return nil, fmt.Errorf("tracing: make the exporter: %w", err)
	}
	return exporter, nil
}

// configured reports whether the environment has spans sent. What it asks for and we have not is an error: to send nothing in
// silence, or in another way, helps no user.
func configured(env func(string) string) (bool, error) {
	if env(envEndpoint) == "" && env(envTracesEndpoint) == "" || strings.EqualFold(env(envDisabled), "true") {
		return false, nil
	}
	switch found := env(envExporter); found {
	case "none":
		return false, nil
	case "", "otlp":
	default:
		return false, fmt.Errorf("%s: want otlp or none, found %q", envExporter, found)
	}
	for _, name := range []string{envTracesProtocol, envProtocol} {
		if found := env(name); found != "" && found != "grpc" {
			return false, fmt.Errorf("%s: want grpc, found %q: give the collector's gRPC endpoint", name, found)
		}
	}
	return true, nil
}

// Tracer makes spans; nil when nothing is configured.
func (p *Provider) Tracer() oteltrace.Tracer {
	if p == nil {
		return nil
	}
	return p.sdk.Tracer(scope)
}

// Report sets the handler of export errors. The SDK's default writes them to standard error.
func (p *Provider) Report(to func(error)) {
	if p != nil {
		otel.SetErrorHandler(otel.ErrorHandlerFunc(to))
	}
}

// Shutdown sends what is still to be sent. It is called when the process ends, after ctx has.
func (p *Provider) Shutdown(ctx context.Context) error {
	if p == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), flushLimit)
	defer cancel()
	if err := p.sdk.Shutdown(ctx); err != nil {
		return fmt.Errorf("send the last spans: %w", err)
	}
	return nil
}
