// Package metrics counts what a symbol server does, for Prometheus.
package metrics

import (
	"net/http"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// Metrics are the figures of one server. Its methods may be called from any number of goroutines.
type Metrics struct {
	registry  *prometheus.Registry
	requests  *prometheus.CounterVec
	seconds   *prometheus.HistogramVec
	sent      *prometheus.CounterVec
	inFlight  prometheus.Gauge
	decisions *prometheus.CounterVec
	received  *prometheus.CounterVec
	errors    prometheus.Counter
}

// New returns figures that are all zero.
func New() *Metrics {
	m := &Metrics{
		registry: prometheus.NewRegistry(),
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "symserve_requests_total", Help: "Requests that were answered, by route and status."}, []string{"route", "status"}),
		seconds: prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: "symserve_request_seconds", Help: "Time of requests, by route.",
			Buckets: []float64{0.001, 0.005, 0.025, 0.1, 0.5, 2, 10, 60, 300}}, []string{"route"}),
		sent:      prometheus.NewCounterVec(prometheus.CounterOpts{Name: "symserve_sent_bytes_total", Help: "Bytes of answers, by route."}, []string{"route"}),
		inFlight:  prometheus.NewGauge(prometheus.GaugeOpts{Name: "symserve_requests_in_flight", Help: "Requests in progress."}),
		decisions: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "symserve_decisions_total", Help: "Decisions about files that were sent, by protocol and verdict; error: none could be taken."}, []string{"protocol", "verdict"}),
		received:  prometheus.NewCounterVec(prometheus.CounterOpts{Name: "symserve_received_bytes_total", Help: "Bytes of files that were sent, unpacked, by protocol."}, []string{"protocol"}),
		errors:    prometheus.NewCounter(prometheus.CounterOpts{Name: "symserve_errors_total", Help: "Lines about errors in the log."}),
	}
	m.registry.MustRegister(m.requests, m.seconds, m.sent, m.inFlight, m.decisions, m.received, m.errors,
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return m
}

// Handler answers Prometheus.
func (m *Metrics) Handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{MaxRequestsInFlight: 4})
}

// Begin counts a request in progress.
func (m *Metrics) Begin() { m.inFlight.Inc() }

// End counts an answer. An empty route is that of requests that no route has.
func (m *Metrics) End(route string, status int, sent int64, took time.Duration) {
	if route == "" {
		route = "none"
	}
	m.inFlight.Dec()
	m.requests.WithLabelValues(route, strconv.Itoa(status)).Inc()
	m.seconds.WithLabelValues(route).Observe(took.Seconds())
	m.sent.WithLabelValues(route).Add(float64(sent))
}

// Decision counts a decision about a file of a size.
func (m *Metrics) Decision(protocol, verdict string, size int64) {
	m.decisions.WithLabelValues(protocol, verdict).Inc()
	m.received.WithLabelValues(protocol).Add(float64(size))
}

// Error counts an error.
func (m *Metrics) Error() { m.errors.Inc() }
