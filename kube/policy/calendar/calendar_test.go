package calendar

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func moment(t testing.TB, text string) time.Time {
	t.Helper()
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		t.Fatal(err)
	}
	return at
}

// mustCompile returns the calendar of the policies.
func mustCompile(t testing.TB, list ...Policy) *Calendar {
	t.Helper()
	var schedules []*Schedule
	for _, p := range list {
		s, err := Compile(p)
		if err != nil {
			t.Fatal(err)
		}
		schedules = append(schedules, s)
	}
	return Combine(schedules...)
}

func nightly(start string, d time.Duration, zone string, days ...time.Weekday) Policy {
	return Policy{Name: "nights", Windows: []Window{{Days: days, Start: start, Duration: d, TimeZone: zone}}}
}

func TestWindowsAndClocks(t *testing.T) {
	t.Parallel()
	const hour, berlin = time.Hour, "Europe/Berlin"
	for name, c := range map[string]struct {
		why    string
		policy Policy
		now    string
		open   bool
		// since and until are the times of the last and the next change; empty for none.
		since, until string
	}{
		"start in the gap": {"02:30 does not exist on this day: it starts at 03:00 summer time", nightly("02:30", hour, berlin),
			"2026-03-29T01:00:00Z", true, "2026-03-29T01:00:00Z", "2026-03-29T02:00:00Z"},
		"before the gap": {"nothing starts early", nightly("02:30", hour, berlin),
			"2026-03-29T00:59:59Z", false, "2026-03-28T02:30:00Z", "2026-03-29T01:00:00Z"},
		"the doubled hour, first": {"02:30 summer time", nightly("02:30", hour, berlin),
			"2026-10-25T00:30:00Z", true, "2026-10-25T00:30:00Z", "2026-10-25T01:30:00Z"},
		"the doubled hour, second": {"02:30 winter time is no second start: the next one is a day later", nightly("02:30", hour, berlin),
			"2026-10-25T01:30:00Z", false, "2026-10-25T01:30:00Z", "2026-10-26T01:30:00Z"},
		"elapsed time in spring": {"22:00 and six hours end at 05:00", nightly("22:00", 6*hour, berlin),
			"2026-03-28T23:00:00Z", true, "2026-03-28T21:00:00Z", "2026-03-29T03:00:00Z"},
		"elapsed time in autumn": {"22:00 and six hours end at 03:00", nightly("22:00", 6*hour, berlin),
			"2026-10-24T23:00:00Z", true, "2026-10-24T20:00:00Z", "2026-10-25T02:00:00Z"},
		"half an hour": {"Lord Howe's clock moves by 30 minutes: 02:15 is skipped, and 02:30 comes at once",
			nightly("02:15", hour, "Australia/Lord_Howe"),
			"2026-10-03T15:30:00Z", true, "2026-10-03T15:30:00Z", "2026-10-03T16:30:00Z"},
		"a zone of a half hour": {"22:00 in Kolkata is 16:30 UTC", nightly("22:00", hour, "Asia/Kolkata"),
			"2026-06-01T16:29:59Z", false, "2026-05-31T17:30:00Z", "2026-06-01T16:30:00Z"},
		"leap day": {"it is a day like any other", nightly("12:00", hour, "", time.Tuesday),
			"2028-02-29T12:30:00Z", true, "2028-02-29T12:00:00Z", "2028-02-29T13:00:00Z"},
		"over midnight": {"the window of Friday reaches into Saturday", nightly("22:00", 6*hour, "", time.Friday),
			"2026-06-06T03:59:59Z", true, "2026-06-05T22:00:00Z", "2026-06-06T04:00:00Z"},
		"not the day before": {"Saturday morning belongs to Friday, Friday morning to no window", nightly("22:00", 6*hour, "", time.Friday),
			"2026-06-05T01:00:00Z", false, "2026-05-30T04:00:00Z", "2026-06-05T22:00:00Z"},
		"touching": {"two windows that touch are one",
			Policy{Windows: []Window{{Start: "22:00", Duration: 2 * hour}, {Start: "00:00", Duration: hour}}},
			"2026-06-05T23:00:00Z", true, "2026-06-05T22:00:00Z", "2026-06-06T01:00:00Z"},
		"all the time": {"a day of 24 hours each day has no end", nightly("08:00", 24*hour, ""), "2026-06-05T23:00:00Z", true, "", ""},
		"no windows":   {"a policy without windows is open", Policy{}, "2026-06-05T23:00:00Z", true, "", ""},
		"whole days": {"the last day is excluded as a whole, in its zone",
			Policy{Exclusions: []Exclusion{{From: "2026-12-18", To: "2027-01-04",
				TimeZone: berlin}}}, "2027-01-04T22:59:59Z", false, "2026-12-17T23:00:00Z", "2027-01-04T23:00:00Z"},
		"a single day": {"from and to may be the same day", Policy{Exclusions: []Exclusion{{From: "2026-12-24", To: "2026-12-24"}}},
			"2026-12-24T12:00:00Z", false, "2026-12-24T00:00:00Z", "2026-12-25T00:00:00Z"},
		"moments": {"an exclusion between moments ends at the second one", Policy{Exclusions: []Exclusion{{From: "2026-12-24T12:00:00+01:00",
			To: "2026-12-24T12:30:00Z", TimeZone: berlin}}}, "2026-12-24T12:30:00Z", true, "2026-12-24T12:30:00Z", ""},
		"out of sight": {"a change further ahead than the horizon is none",
			Policy{Exclusions: []Exclusion{{From: "2026-01-01", To: "2028-01-01"}}},
			"2026-03-01T00:00:00Z", false, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := mustCompile(t, c.policy).At(moment(t, c.now), Template)
			shown := func(at time.Time) string {
				if at.IsZero() {
					return ""
				}
				return at.Format(time.RFC3339)
			}
			if d.Open != c.open || shown(d.Since) != c.since || shown(d.Until) != c.until {
				t.Errorf("%s:\n got open %t since %q until %q\nwant open %t since %q until %q", c.why, d.Open, shown(d.Since), shown(d.Until),
					c.open, c.since, c.until)
			}
		})
	}
}

func TestCauses(t *testing.T) {
	t.Parallel()
	platform := Policy{Name: "ClusterRolloutPolicy production",
		Windows: []Window{{Days: []time.Weekday{1, 2}, Start: "22:00", Duration: 6 * time.Hour, TimeZone: "Europe/Berlin"}},
		Exclusions: []Exclusion{{From: "2026-12-18", To: "2027-01-04", Why: "peak"},
			{From: "2026-12-01", To: "2026-12-20", VersionOnly: true}}}
	team := Policy{Name: "RolloutPolicy a/b", Windows: []Window{{Start: "12:00", Duration: time.Hour, Reasons: []Reason{Image}},
		{Start: "21:00", Duration: 90 * time.Minute}}}
	c := mustCompile(t, platform, team)
	for name, tc := range map[string]struct {
		why, now string
		reason   Reason
		want     Closer
	}{
		"outside of both": {"the first policy, with the window that opens next", "2026-06-01T12:00:00Z", Template,
			Closer{OutsideWindow, platform.Name, 0, "Mon,Tue 22:00 for 6h (Europe/Berlin)", ""}},
		"outside of the second": {"each policy has to be open", "2026-06-01T22:45:00Z", Template,
			Closer{OutsideWindow, team.Name, 1, "21:00 for 1h30m (UTC)", ""}},
		"another reason": {"the window that opens next differs", "2026-06-01T22:45:00Z", Image,
			Closer{OutsideWindow, team.Name, 0, "12:00 for 1h (UTC)", ""}},
		"excluded": {"the exclusion comes before windows", "2026-12-25T12:00:00Z", Template,
			Closer{Excluded, platform.Name, 0, "2026-12-18 to 2027-01-04", "peak"}},
		"two exclusions": {"the one that ends last", "2026-12-19T12:00:00Z", Version, Closer{Excluded, platform.Name, 0,
			"2026-12-18 to 2027-01-04", "peak"}},
		"version only": {"other reasons pass", "2026-12-10T12:00:00Z", Version, Closer{Excluded, platform.Name, 1,
			"2026-12-01 to 2026-12-20", ""}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tc.want, c.At(moment(t, tc.now), tc.reason).Closer); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.why, diff)
			}
		})
	}
	onlyImages := mustCompile(t, Policy{Name: "i", Windows: []Window{{Start: "12:00", Duration: time.Hour, Reasons: []Reason{Image}}}})
	if got, want := onlyImages.At(moment(t, "2026-06-01T12:00:00Z"), Age),
		(Decision{Closer: Closer{Kind: OutsideWindow, Policy: "i", Index: -1}}); got != want {
		t.Errorf("a reason that no window admits is always closed: got %+v, want %+v", got, want)
	}
}

func TestGrace(t *testing.T) {
	t.Parallel()
	grace := func(d time.Duration) *time.Duration { return &d }
	window := func(start string, d time.Duration, g *time.Duration) Window {
		return Window{Start: start, Duration: d, Grace: g}
	}
	long := Policy{Windows: []Window{window("20:00", 4*time.Hour, grace(2*time.Hour))}}
	for name, c := range map[string]struct {
		why      string
		policies []Policy
		now      string
		want     string
	}{
		"default": {"30 minutes", []Policy{{Windows: []Window{window("20:00", 4*time.Hour, nil)}}},
			"2026-06-01T21:00:00Z", "2026-06-02T00:30:00Z"},
		"its own":       {"two hours", []Policy{long}, "2026-06-01T21:00:00Z", "2026-06-02T02:00:00Z"},
		"after the end": {"the same time", []Policy{long}, "2026-06-02T01:00:00Z", "2026-06-02T02:00:00Z"},
		"none": {"0 is no grace", []Policy{{Windows: []Window{window("20:00", 4*time.Hour, grace(0))}}},
			"2026-06-01T21:00:00Z", "2026-06-02T00:00:00Z"},
		"by an exclusion": {"a policy of exclusions gives the default", []Policy{long, {Exclusions: []Exclusion{{From: "2026-06-01T21:00:00Z",
			To: "2026-07-01"}}}}, "2026-06-01T22:00:00Z", "2026-06-01T21:30:00Z"},
		"by its own exclusion": {"the grace of the window",
			[]Policy{{Windows: long.Windows, Exclusions: []Exclusion{{From: "2026-06-01T21:00:00Z",
				To: "2026-07-01"}}}}, "2026-06-01T22:00:00Z", "2026-06-01T23:00:00Z"},
		"two that end together": {"the strictest policy", []Policy{long, {Windows: []Window{window("23:00", time.Hour, grace(0))}}},
			"2026-06-01T23:30:00Z", "2026-06-02T00:00:00Z"},
		"overlapping windows": {"the window that ends last", []Policy{{Windows: []Window{window("20:00", 4*time.Hour, grace(time.Hour)),
			window("21:00", time.Hour, grace(2*time.Hour))}}}, "2026-06-01T21:30:00Z", "2026-06-02T01:00:00Z"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := mustCompile(t, c.policies...).At(moment(t, c.now), Template).GraceUntil; !got.Equal(moment(t, c.want)) {
				t.Errorf("%s: the grace ends at %s, want %s", c.why, got, c.want)
			}
		})
	}
}

func TestNeverOpens(t *testing.T) {
	t.Parallel()
	day, night := nightly("10:00", 4*time.Hour, ""), nightly("22:00", 4*time.Hour, "")
	images := Policy{Windows: []Window{{Start: "12:00", Duration: time.Hour, Reasons: []Reason{Image}}}}
	ages := Policy{Windows: []Window{{Start: "12:00", Duration: time.Hour, Reasons: []Reason{Age}}}}
	yearly := Policy{Exclusions: []Exclusion{{From: "2026-06-02", To: "2027-06-01"}}}
	for name, c := range map[string]struct {
		why      string
		policies []Policy
		want     bool
	}{
		"none":              {"nothing closes", nil, false},
		"one":               {"it opens each night", []Policy{night}, false},
		"day and night":     {"they never meet", []Policy{day, night}, true},
		"different reasons": {"no reason is admitted by both", []Policy{images, ages}, true},
		"one reason":        {"images are replaced", []Policy{images, day}, false},
		"a year":            {"it ends within the horizon", []Policy{yearly, night}, false},
		"two years": {"that is beyond the horizon",
			[]Policy{{Exclusions: []Exclusion{{From: "2026-01-01", To: "2027-12-31"}}}}, true},
		"the day of an end": {"a window of Mondays is closed by exclusions of all Mondays only",
			[]Policy{nightly("10:00", time.Hour, "", time.Monday), yearly}, false},
		"exclusions to the end": {"the year 9999 is no overflow",
			[]Policy{{Exclusions: []Exclusion{{From: "0001-01-01", To: "9999-12-31"}}}}, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := mustCompile(t, c.policies...).NeverOpens(moment(t, "2026-06-01T00:00:00Z")); got != c.want {
				t.Errorf("%s: got %t", c.why, got)
			}
		})
	}
}

func TestRefusedFields(t *testing.T) {
	t.Parallel()
	grace := 25 * time.Hour
	ok := Window{Start: "22:00", Duration: time.Hour}
	change := func(f func(*Window)) Policy { w := ok; f(&w); return Policy{Windows: []Window{ok, w}} }
	between := func(from, to string) Policy { return Policy{Exclusions: []Exclusion{{From: from, To: to}}} }
	for name, c := range map[string]struct {
		why    string
		policy Policy
		want   []string
	}{
		"fine": {"nothing is wrong", Policy{Windows: []Window{ok}}, nil},
		"unknown zone": {"a slip of the pen", change(func(w *Window) { w.TimeZone = "Europe/Berlim" }),
			[]string{"windows[1].timeZone", `"Europe/Berlim"`, "Europe/Berlin"}},
		"abbreviation": {"it is ambiguous", change(func(w *Window) { w.TimeZone = "CEST" }), []string{"windows[1].timeZone", "CEST"}},
		"the machine's": {"two managers would differ", change(func(w *Window) { w.TimeZone = "Local" }),
			[]string{"windows[1].timeZone", "Local"}},
		"a file": {"zones are names", change(func(w *Window) { w.TimeZone = "../../etc/localtime" }),
			[]string{"windows[1].timeZone"}},
		"with leap seconds": {"their clocks differ from UTC", change(func(w *Window) { w.TimeZone = "right/Europe/Berlin" }),
			[]string{"windows[1].timeZone"}},
		"short": {"no replacement ends within", change(func(w *Window) { w.Duration = 29 * time.Minute }),
			[]string{"windows[1].duration", `"29m"`, "30m to 168h"}},
		"long": {"it overlaps itself", change(func(w *Window) { w.Duration = 169 * time.Hour }),
			[]string{"windows[1].duration", `"169h"`}},
		"hour 24": {"00:00 of the next day", change(func(w *Window) { w.Start = "24:00" }),
			[]string{"windows[1].start", "24:00", "HH:MM"}},
		"a short start": {"one way to write it", change(func(w *Window) { w.Start = "2:00" }), []string{"windows[1].start"}},
		"long grace":    {"a day at most", change(func(w *Window) { w.Grace = &grace }), []string{"windows[1].grace", `"25h"`}},
		"no such day":   {"February has 28 or 29", between("2026-02-30", "2026-03-02"), []string{"exclusions[0].from", "2026-02-30"}},
		"backwards": {"it would be empty", between("2026-12-18", "2026-12-17"),
			[]string{"exclusions[0].to", "2026-12-17", "after the beginning (2026-12-18)"}},
		"an empty moment": {"it would be empty", between("2026-12-18T00:00:00Z", "2026-12-18T00:00:00Z"), []string{"exclusions[0].to"}},
		"words": {"dates are numbers", between("tomorrow", "2026-12-18"),
			[]string{"exclusions[0].from", "tomorrow", "a date such as"}},
		"its zone": {"exclusions have zones",
			Policy{Exclusions: []Exclusion{{From: "2026-12-18", To: "2026-12-18", TimeZone: "Mars"}}}, []string{"exclusions[0].timeZone"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := Compile(c.policy)
			var errs Errors
			if errors.As(err, &errs) != (c.want != nil) {
				t.Fatalf("%s: got %v", c.why, err)
			}
			for _, part := range c.want {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("%s: want %q in %q", c.why, part, err)
				}
			}
		})
	}
}

func BenchmarkAt(b *testing.B) {
	list := make([]Policy, 3)
	for k := range list {
		list[k] = nightly("20:00", 10*time.Hour, "Europe/Berlin")
		list[k].Windows = append(list[k].Windows, Window{Days: []time.Weekday{6}, Start: "00:00", Duration: 48 * time.Hour})
		list[k].Exclusions = []Exclusion{{From: "2026-12-18", To: "2027-01-04"}}
	}
	c := mustCompile(b, list...)
	for name, now := range map[string]string{"open": "2026-06-01T23:00:00Z", "closed": "2026-06-01T12:00:00Z",
		"excluded": "2026-12-25T12:00:00Z"} {
		at := moment(b, now)
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				c.At(at, Template)
			}
		})
	}
}

func BenchmarkCompile(b *testing.B) {
	now := moment(b, "2026-06-01T12:00:00Z")
	for b.Loop() {
		mustCompile(b, nightly("20:00", 10*time.Hour, "Europe/Berlin")).At(now, Template)
	}
}
