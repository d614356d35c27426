package manager_test

import (
	"context"
	"strings"
	"testing"

	"github.com/spf13/pflag"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/muster-project/muster/manager/tracing"
)

func from(vars map[string]string) func(string) string {
	return func(name string) string { return vars[name] }
}

// Tracing is off unless something says where spans are to be sent.
func TestConfigured(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		reason string
		args   []string
		env    map[string]string
		on     bool
		err    string
	}{
		{reason: "nothing said is off"},
		{reason: "the standard's variable", env: map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:4317"}, on: true},
		{reason: "that for traces alone", env: map[string]string{"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "http://127.0.0.1:4317"}, on: true},
		{reason: "the flag, as an address", args: []string{"--tracing-endpoint", "127.0.0.1:4317"}, on: true},
		{reason: "the flag, as a URL", args: []string{"--tracing-endpoint", "https://collector:4317", "--tracing-sampling-ratio", "0.1"},
			on: true},
		{reason: "switched off by the standard", env: map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": "http://x", "OTEL_SDK_DISABLED": "true"}},
		{reason: "traces switched off by the standard", env: map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": "http://x",
			"OTEL_TRACES_EXPORTER": "none"}},
		{reason: "an exporter that we have not", env: map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": "http://x",
			"OTEL_TRACES_EXPORTER": "zipkin"}, err: "OTEL_TRACES_EXPORTER"},
		{reason: "a protocol that we have not", env: map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": "http://x",
			"OTEL_EXPORTER_OTLP_PROTOCOL": "http/protobuf"}, err: "OTEL_EXPORTER_OTLP_PROTOCOL"},
		{reason: "a ratio that is none", args: []string{"--tracing-endpoint", "127.0.0.1:4317", "--tracing-sampling-ratio", "2"},
			err: "--tracing-sampling-ratio"},
	} {
		t.Run(c.reason, func(t *testing.T) {
			t.Parallel()
			var o tracing.Options
			set := pflag.NewFlagSet("test", pflag.ContinueOnError)
			o.AddFlags(set)
			if err := set.Parse(c.args); err != nil {
				t.Fatal(err)
			}
			p, err := tracing.New(t.Context(), o, from(c.env))
			if c.err != "" {
				if err == nil || !strings.Contains(err.Error(), c.err) {
					t.Fatalf("want an error with %q, got %v", c.err, err)
				}
				return
			}
			if err != nil || (p != nil) != c.on || (p.Tracer() != nil) != c.on {
				t.Fatalf("want tracing on: %v, got %v, %v", c.on, p, err)
			}
			if err := p.Shutdown(t.Context()); err != nil {
				t.Errorf("want a clean end, got %v", err)
			}
		})
	}
}

// What was recorded is sent at the end, under the process's name, and no more of it than was asked for.
func TestShutdownSends(t *testing.T) {
	t.Parallel()
	for ratio, want := range map[string]int{"": 1, "1": 1, "0": 0} {
		exporter := &kept{InMemoryExporter: tracetest.NewInMemoryExporter()}
		p, err := tracing.New(t.Context(), tracing.Options{Service: "muster-test", Version: "v1", Ratio: ratio, Exporter: exporter}, from(nil))
		if err != nil {
			t.Fatal(err)
		}
		_, span := p.Tracer().Start(t.Context(), "pass")
		span.End()
		if err := p.Shutdown(t.Context()); err != nil {
			t.Fatal(err)
		}
		if len(exporter.spans) != want {
			t.Errorf("ratio %q: want %d spans, got %d", ratio, want, len(exporter.spans))
		}
		for _, s := range exporter.spans {
			if got := s.Resource.String(); !strings.Contains(got, "service.name=muster-test") || !strings.Contains(got, "service.version=v1") {
				t.Errorf("want the process named, got %s", got)
			}
		}
	}
}

// kept keeps its spans when it is shut down.
type kept struct {
	*tracetest.InMemoryExporter
	spans tracetest.SpanStubs
}

func (k *kept) Shutdown(ctx context.Context) error {
	k.spans = k.GetSpans()
	return k.InMemoryExporter.Shutdown(ctx)
}
