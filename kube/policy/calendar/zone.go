package calendar

import (
	"strings"
	"time"
	_ "time/tzdata" // images of containers have no time zones
)

// loadZone returns a zone of the IANA database by its name.
func loadZone(name string) (*time.Location, *FieldError) {
	if name == "" {
		name = DefaultZone
	}
	zone, err := time.LoadLocation(name)
	// Local is the zone of the machine. The folders have copies of the database that exist on some machines only.
	if err != nil || name == "Local" || strings.HasPrefix(name, "posix/") || strings.HasPrefix(name, "right/") {
		return nil, &FieldError{Field: "timeZone", Value: name, Want: "a name of the IANA time zone database, such as Europe/Berlin"}
	}
	return zone, nil
}

// wallClock returns the time at which the clock of the zone first reaches or passes a minute of a day: the end of the gap if the clock
// skips it, and the first of the two if the clock shows it twice. Of day only the date counts.
func wallClock(day time.Time, minute int, zone *time.Location) time.Time {
	want := time.Date(day.Year(), day.Month(), day.Day(), 0, minute, 0, 0, time.UTC)
	t := time.Date(day.Year(), day.Month(), day.Day(), 0, minute, 0, 0, zone)
	_, offset := t.Zone()
	shown := t.Add(time.Duration(offset) * time.Second)
	begin, end := t.ZoneBounds()
	switch {
	case shown.After(want): // in a gap, by the offset before it
		return begin
	case shown.Before(want): // in a gap, by the offset after it
		return end
	case begin.IsZero():
		return t
	}
	_, before := begin.Add(-1).Zone()
	if earlier := want.Add(-time.Duration(before) * time.Second); earlier.Before(begin) && earlier.Before(t) {
		return earlier.In(zone)
	}
	return t
}
