package main

import (
	"context"
	"net/http"

	"go.opentelemetry.io/contrib/instrumentation/net/http/otelhttp"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/sdk/trace"

	"github.com/seed-76f09577/turnwire/proxy"
)

// traces gives what makes a span of each request, and one of what the service is asked for it. Where they go say the
// variables of the OpenTelemetry specification, such as OTEL_EXPORTER_OTLP_ENDPOINT.
func traces(ctx context.Context) (transport http.RoundTripper, wrap func(http.Handler) http.Handler, end func(context.Context) error, err error) {
	exporter, err := otlptracehttp.New(ctx)
	if err != nil {
		return nil, nil, nil, err
	}
	provider := trace.NewTracerProvider(trace.WithBatcher(exporter))
	options := []otelhttp.Option{
		otelhttp.WithTracerProvider(provider), otelhttp.WithPropagators(propagation.TraceContext{}),
		// A page's own trace is its own: it does not say which of ours are kept.
		otelhttp.WithPublicEndpointFn(func(*http.Request) bool { return true }),
	}
	return otelhttp.NewTransport(proxy.NewTransport(), options...),
		func(next http.Handler) http.Handler { return otelhttp.NewHandler(next, "turnwire-proxy", options...) },
		provider.Shutdown, nil
}
