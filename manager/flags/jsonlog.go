package flags

import (
	"log/slog"
	"sync"

	"github.com/go-logr/logr"
	logsv1 "k8s.io/component-base/logs/api/v1"
)

// formatJSON is the value of --logging-format for one JSON object a line.
const formatJSON = "json"

// JSONLogs makes loggers that write JSON with the standard library. Component-base's own brings a second logging library
// with it for the same lines.
type JSONLogs struct{}

// registerJSON makes the format known to the logging flags, once in a process. It is called before these are made.
var registerJSON = sync.OnceValue(func() error {
	return logsv1.RegisterLogFormat(formatJSON, JSONLogs{}, logsv1.LoggingStableOptions)
})

// Create returns a logger that writes to the error stream up to the configured verbosity, which can be changed while it runs.
func (JSONLogs) Create(c logsv1.LoggingConfiguration, o logsv1.LoggingOptions) (logr.Logger, logsv1.RuntimeControl) {
	level := &slog.LevelVar{}
	// The levels of logr below info are the negative ones of slog.
	level.Set(-slog.Level(c.Verbosity))
	control := logsv1.RuntimeControl{SetVerbosityLevel: func(v uint32) error {
		level.Set(-slog.Level(v))
		return nil
	}}
	return logr.FromSlogHandler(slog.NewJSONHandler(o.ErrorStream, &slog.HandlerOptions{AddSource: true, Level: level})), control
}
