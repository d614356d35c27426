package health

import (
	"cmp"
	"time"

	"github.com/muster-project/muster/pool/clock"
)

// preservedFor bounds the time for which a machine stays for diagnosis, from the moment at which its node turned unready.
const preservedFor = 24 * time.Hour

// Unready is a machine whose node is not Ready, and that a user wants to look at.
type Unready struct {
	ID    string
	Since time.Time
	// Until is the end that the user has set; zero is none.
	Until time.Time
}

// end returns when the machine is kept no more.
func (u Unready) end() time.Time {
	end := u.Since.Add(preservedFor)
	if !u.Until.IsZero() && u.Until.Before(end) {
		return u.Until
	}
	return end
}

// Preserved returns the ID of the machine of a pool that stays for diagnosis: one at a time, the one that has been unready for the longest.
// It is empty if none does.
func Preserved(list []Unready, at *clock.Clock) string {
	var first Unready
	for _, u := range list {
		if at.Reached(u.end()) {
			continue
		}
		if first.ID == "" || cmp.Or(u.Since.Compare(first.Since), cmp.Compare(u.ID, first.ID)) < 0 {
			first = u
		}
	}
	return first.ID
}
