package session

import (
	"time"

	"github.com/aws/aws-sdk-go-v2/aws/middleware"
	smithymiddleware "github.com/aws/smithy-go/middleware"
)

// minSkew is the difference between the service's clock and Muster's from which it counts: replies contain the time in whole
// seconds, and some while after it was.
const minSkew = 2 * time.Second

// OurTime is a moment that a reply tells, by our clock: what is decided compares it with our own moments, and a machine that was
// made after the user asked for a replacement of all must not seem to have been made before. A reply that does not tell the time
// by the service's clock is taken at its word.
func OurTime(at *time.Time, reply smithymiddleware.Metadata) *time.Time {
	skew, known := middleware.GetAttemptSkew(reply)
	if at == nil || !known || skew.Abs() < minSkew {
		return at
	}
	return new(at.Add(-skew).Round(time.Second))
}
