package driverkit

import (
	"net/http"
	"time"
)

// minSkew is the least difference between a cloud's clock and Muster's that counts: replies have the time in whole seconds, some of which
// were under way for a second.
const minSkew = 2 * time.Second

// ClockSkew returns how far a cloud's clock is ahead of Muster's, by the header of a reply that was received now; zero if the header does
// not tell.
func ClockSkew(reply http.Header, now time.Time) time.Duration {
	date, err := http.ParseTime(reply.Get("Date"))
	if err != nil {
		return 0
	}
	if skew := date.Sub(now.Truncate(time.Second)); skew.Abs() >= minSkew {
		return skew
	}
	return 0
}
