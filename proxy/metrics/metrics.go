// Package metrics counts what a proxy does, for Prometheus: see proxy.Config.Observer.
package metrics

import (
	"context"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/seed-76f09577/turnwire/proxy"
)

// Metrics is a proxy.Observer. No label holds what a caller has chosen, so that there are never many.
type Metrics struct {
	requests, refused, streams *prometheus.CounterVec
	open                       prometheus.Gauge
	first, whole               *prometheus.HistogramVec
}

// New registers the metrics:
//
//	turnwire_proxy_requests_total{route, status}
//	turnwire_proxy_refused_total{code}
//	turnwire_proxy_streams_total{end}
//	turnwire_proxy_streams_open
//	turnwire_proxy_first_byte_seconds{route}
//	turnwire_proxy_request_seconds{route}
func New(registry prometheus.Registerer) (*Metrics, error) {
	counter := func(name, help string, labels ...string) *prometheus.CounterVec {
		return prometheus.NewCounterVec(prometheus.CounterOpts{Name: "turnwire_proxy_" + name, Help: help}, labels)
	}
	seconds := func(name, help string) *prometheus.HistogramVec {
		return prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: "turnwire_proxy_" + name, Help: help,
			Buckets: []float64{.005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60, 300}}, []string{"route"})
	}
	m := &Metrics{
		requests: counter("requests_total", "Requests, by endpoint and status.", "route", "status"),
		refused:  counter("refused_total", "Requests that the proxy answered itself, by the code of its error.", "code"),
		streams:  counter("streams_total", "Event streams, by how they ended.", "end"),
		open:     prometheus.NewGauge(prometheus.GaugeOpts{Name: "turnwire_proxy_streams_open", Help: "Event streams under way."}),
		first:    seconds("first_byte_seconds", "From a request to the head of its answer."),
		whole:    seconds("request_seconds", "From a request to the end of its answer."),
	}
	for _, c := range []prometheus.Collector{m.requests, m.refused, m.streams, m.open, m.first, m.whole} {
		if err := registry.Register(c); err != nil {
			return nil, err
		}
	}
	return m, nil
}

// Request is a proxy.Observer's.
func (m *Metrics) Request(context.Context) proxy.Observation {
	return &observation{m: m, started: time.Now()}
}

type observation struct {
	m       *Metrics
	started time.Time
	streams bool
}

func (o *observation) Began(route string, _ int, streams bool) {
	o.m.first.WithLabelValues(named(route)).Observe(time.Since(o.started).Seconds())
	if o.streams = streams; streams {
		o.m.open.Inc()
	}
}

func (o *observation) Ended(route string, status int, code string, how proxy.End) {
	o.m.requests.WithLabelValues(named(route), strconv.Itoa(status)).Inc()
	o.m.whole.WithLabelValues(named(route)).Observe(time.Since(o.started).Seconds())
	if code != "" {
		o.m.refused.WithLabelValues(code).Inc()
	}
	if o.streams {
		o.m.open.Dec()
		o.m.streams.WithLabelValues(string(how)).Inc()
	}
}

func named(route string) string {
	if route == "" {
		return "none"
	}
	return route
}
