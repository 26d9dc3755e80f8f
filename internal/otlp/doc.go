// Package otlp tests agent/telemetry against receivers of the OpenTelemetry protocol, over gRPC and
// over HTTP. It is a module of its own because the exporters need many others.
package otlp
