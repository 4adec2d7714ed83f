"""Telemetry: finished runs as OpenTelemetry spans and metrics."""
