package main

import (
	"io"
	"log/slog"

	"github.com/go-logr/logr"
	logsv1 "k8s.io/component-base/logs/api/v1"
)

// formatJSON is the value of --logging-format for one JSON object a line.
const formatJSON = "json"

// jsonLogs makes loggers that write JSON with the standard library. Component-base's own brings a second logging library
// with it for the same lines.
type jsonLogs struct{}

// registerJSON makes the format known to the logging flags. It is called before these are made.
func registerJSON() error {
	return logsv1.RegisterLogFormat(formatJSON, jsonLogs{}, logsv1.LoggingStableOptions)
}

// Create makes the logger.
func (jsonLogs) Create(c logsv1.LoggingConfiguration, o logsv1.LoggingOptions) (logr.Logger, logsv1.RuntimeControl) {
	return newJSONLogger(o.ErrorStream, uint32(c.Verbosity))
}

// newJSONLogger logs everything up to a verbosity that can be changed while it runs.
func newJSONLogger(w io.Writer, verbosity uint32) (logr.Logger, logsv1.RuntimeControl) {
	level := &slog.LevelVar{}
	// The levels of logr below info are the negative ones of slog.
	level.Set(-slog.Level(verbosity))
	control := logsv1.RuntimeControl{SetVerbosityLevel: func(v uint32) error {
		level.Set(-slog.Level(v))
		return nil
	}}
	return logr.FromSlogHandler(slog.NewJSONHandler(w, &slog.HandlerOptions{AddSource: true, Level: level})), control
}
