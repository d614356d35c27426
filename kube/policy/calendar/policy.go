package calendar

import (
	"fmt"
	"strings"
	"time"
)

// Reason is a reason for a voluntary removal.
type Reason uint8

// The reasons for voluntary removals.
const (
	Template Reason = iota
	Version
	Image
	Age
	Restart
	// reasons is the number of reasons.
	reasons
)

var reasonNames = [reasons]string{"Template", "Version", "Image", "Age", "Restart"}

// String returns the name of the reason, as policies have it.
func (r Reason) String() string {
	if r >= reasons {
		return fmt.Sprintf("Reason(%d)", uint8(r))
	}
	return reasonNames[r]
}

// Reasons returns all reasons.
func Reasons() []Reason { return []Reason{Template, Version, Image, Age, Restart} }

// ParseReason returns the reason with a name.
func ParseReason(name string) (Reason, bool) {
	for r, n := range reasonNames {
		if n == name {
			return Reason(r), true
		}
	}
	return 0, false
}

// The limits of windows.
const (
	// MinDuration of a window: a shorter one ends before most replacements.
	MinDuration = 30 * time.Minute
	// MaxDuration of a window: a longer one would overlap itself.
	MaxDuration = 7 * 24 * time.Hour
	// MaxGrace bounds how far drains reach beyond a window.
	MaxGrace = 24 * time.Hour
	// DefaultGrace applies to windows that set none and to policies that have only exclusions.
	DefaultGrace = 30 * time.Minute
	// DefaultZone is the zone of windows and exclusions that name none.
	DefaultZone = "UTC"
)

// Policy has the windows and exclusions of one policy.
type Policy struct {
	// Name is shown in decisions.
	Name       string
	Windows    []Window
	Exclusions []Exclusion
}

// Window recurs on days of the week.
type Window struct {
	// Days on which the window starts. None means every day.
	Days []time.Weekday
	// Start is a wall-clock time, as HH:MM.
	Start    string
	Duration time.Duration
	// TimeZone is a name of the IANA database; empty is DefaultZone.
	TimeZone string
	// Reasons that the window admits. None means all.
	Reasons []Reason
	// Grace is nil for DefaultGrace.
	Grace *time.Duration
}

// String describes the window, for example "Mon,Tue 22:00 for 6h (Europe/Berlin)".
func (w Window) String() string {
	text := ""
	for _, d := range w.Days {
		text += "," + d.String()[:3]
	}
	if text != "" {
		text = text[1:] + " "
	}
	zone := w.TimeZone
	if zone == "" {
		zone = DefaultZone
	}
	return fmt.Sprintf("%s%s for %s (%s)", text, w.Start, ShortDuration(w.Duration), zone)
}

// ShortDuration returns a duration without trailing zero units: 6h and not 6h0m0s.
func ShortDuration(d time.Duration) string {
	text := d.String()
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}

// Exclusion is a single period.
type Exclusion struct {
	// From and To are dates (2026-12-18) or moments (RFC 3339).
	From, To string
	// TimeZone of dates is a name of the IANA database; empty is DefaultZone.
	TimeZone string
	// VersionOnly is true if the exclusion holds back changes of the Kubernetes version only.
	VersionOnly bool
	Why         string
}

// String describes the exclusion, for example "2026-12-18 to 2027-01-04".
func (e Exclusion) String() string { return e.From + " to " + e.To }

// FieldError is a value of a policy that can't be used.
type FieldError struct {
	// Field is the path below the policy's specification, for example windows[0].timeZone.
	Field string
	// Value that was found, and what is wanted.
	Value, Want string
}

func (e FieldError) Error() string {
	return fmt.Sprintf("%s: found %q, want %s", e.Field, e.Value, e.Want)
}

// Errors are the values of a policy that can't be used.
type Errors []FieldError

func (e Errors) Error() string {
	var texts []string
	for _, one := range e {
		texts = append(texts, one.Error())
	}
	return strings.Join(texts, "; ")
}
