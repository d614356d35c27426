package shapes

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"time"
)

// Epoch is a time that is written in JSON as seconds since 1970, with milliseconds behind the point.
type Epoch struct{ time.Time }

// NewEpoch is a time as it is written, or nil for the zero time.
func NewEpoch(t time.Time) *Epoch {
	if t.IsZero() {
		return nil
	}
	return &Epoch{t.UTC().Truncate(time.Millisecond)}
}

// MarshalJSON writes seconds.
func (e Epoch) MarshalJSON() ([]byte, error) {
	return strconv.AppendFloat(nil, float64(e.UnixMilli())/1000, 'f', -1, 64), nil
}

// UnmarshalJSON reads seconds.
func (e *Epoch) UnmarshalJSON(b []byte) error {
	var seconds float64
	if err := json.Unmarshal(b, &seconds); err != nil {
		return fmt.Errorf("seconds since 1970 are wanted: %w", err)
	}
	e.Time = time.UnixMilli(int64(math.Round(seconds * 1000))).UTC()
	return nil
}
