package script

import (
	"math/rand/v2"
	"time"

	"github.com/muster-project/muster/sim"
	"github.com/muster-project/muster/test/explore/apifault"
)

const (
	// After bounds the duration of the effects of the last edits.
	After = 3 * time.Minute
	// Unseen bounds the staleness of a read of the cloud.
	Unseen = 8 * time.Second
)

// Drawing is a scenario that is being drawn.
type Drawing struct {
	*rand.Rand
	Scenario Scenario
	// Within bounds how long edits go on: together in a few minutes, or each by itself.
	Within time.Duration
}

// DrawRolled draws a pool whose machines are replaced one by one, by its own hand or by the group's own refresh. What only the kind has is
// drawn by own, what happens to its templates by templates; both are optional.
func (d *Drawing) DrawRolled(own, templates func()) {
	s := &d.Scenario
	d.Within = time.Duration([]int{2, 3, 5, 10}[d.IntN(4)]) * time.Minute
	s.Ends = d.Within + After
	s.Least, s.Speed = d.IntN(3), []float64{1, 3, 5, 10}[d.IntN(4)]
	s.Most = s.Least + 1 + d.IntN(4)
	s.Replicas = s.Least + d.IntN(s.Most-s.Least+1)
	s.External = d.IntN(6) == 0
	s.DrainTimeout = []time.Duration{0, 2 * time.Minute, 10 * time.Minute}[d.IntN(3)]
	s.Pods = d.IntN(4)
	if d.IntN(3) > 0 {
		s.Strategy = d.Limits()
	} else {
		s.Refresh = []Refresh{Plain, Plain, Checkpoints, Surplus, Surplus, Disabled}[d.IntN(6)]
	}
	s.SkipModel, s.Spot = d.IntN(12) == 0, d.IntN(12) == 0
	if d.IntN(4) == 0 {
		s.Add(Event{What: Bootstrap, At: time.Duration(d.IntN(120)) * time.Second})
	}
	own()
	d.DrawEvents(3)
	if d.IntN(3) == 0 {
		s.Add(Event{What: Delete, At: []time.Duration{d.Moment(), d.Moment(), s.Ends}[d.IntN(3)]})
	}
	// Draws that follow do not change the previous ones.
	if templates != nil {
		d.again(0x76657273)
		templates()
	}
	d.again(0x69676e6f)
	d.Ignored()
	d.again(0x6f757473)
	d.Outside()
	d.again(0x61646f70)
	d.Adopted()
	d.again(0x72656672)
	s.ByGroup = s.Strategy == nil && s.Refresh != Disabled && d.IntN(2) == 0
}

// DrawManaged draws the events of a pool of a managed cluster. own, least and more draw what only its kind has, its least size, and the
// rest.
func (d *Drawing) DrawManaged(own func(), least func() int, more func()) {
	s := &d.Scenario
	d.Within = time.Duration([]int{4, 6, 10, 15}[d.IntN(4)]) * time.Minute
	s.Ends = d.Within + After
	own()
	s.Speed = []float64{3, 5, 10}[d.IntN(3)]
	s.Least = least()
	s.Most = s.Least + 1 + d.IntN(4)
	s.Replicas = s.Least + d.IntN(s.Most-s.Least+1)
	s.External = d.IntN(6) == 0
	s.DrainTimeout = []time.Duration{0, 2 * time.Minute, 10 * time.Minute}[d.IntN(3)]
	s.Pods = d.IntN(4)
	more()
	d.DrawEvents(2)
	if d.IntN(4) == 0 {
		s.Add(Event{What: Delete, At: []time.Duration{d.Moment(), d.Moment(), s.Ends}[d.IntN(3)]})
	}
	d.Ignored()
	d.Outside()
}

// again begins another row of draws.
func (d *Drawing) again(salt uint64) { d.Rand = rand.New(rand.NewPCG(d.Scenario.Seed, salt)) }

// DrawEvents draws events, the given number of faults of the cloud and up to two more, and faults of API servers.
func (d *Drawing) DrawEvents(cloudFaults int) {
	for range 1 + d.IntN(6) {
		d.drawEvent()
	}
	for range cloudFaults + d.IntN(3) {
		d.cloudFault()
	}
	for range d.IntN(4) {
		d.serverFault()
	}
}

func (d *Drawing) odds() *Odds { return &d.Scenario.Kind.Odds }

// Moment returns a random moment within the time of the edits.
func (d *Drawing) Moment() time.Duration {
	return time.Duration(d.Int64N(int64(d.Within/time.Millisecond))) * time.Millisecond
}

// Limits returns random limits of a strategy. They are never both zero.
func (d *Drawing) Limits() *Limits {
	values := [][2]string{{"1", "0"}, {"1", "0"}, {"0", "1"}, {"1", "1"}, {"2", "1"}, {"25%", "0"}, {"0", "30%"}, {"50%", "25%"},
		{"100%", "0"}, {"0", "100%"}, {"3", "2"}}
	v := values[d.IntN(len(values))]
	return &Limits{Surge: v[0], Unavailable: v[1], Policy: []string{"Oldest", "Newest", "Random"}[d.IntN(3)]}
}

// Near returns a random moment, or one in one cases a moment near another event: faults tend to come together.
func (d *Drawing) Near(one int, spread time.Duration) time.Duration {
	if d.IntN(one) > 0 || len(d.Scenario.Events) == 0 {
		return d.Moment()
	}
	at := d.Scenario.Events[d.IntN(len(d.Scenario.Events))].At + time.Duration(d.Int64N(int64(spread/time.Millisecond)))*time.Millisecond
	return min(d.Within, max(0, at))
}

func (d *Drawing) drawEvent() {
	e := Event{What: pick(d, d.odds().Events), At: d.Near(3, 8*time.Second), N: d.IntN(9), M: d.IntN(9)}
	if e.What == BadTemplate && (d.Scenario.SkipModel || d.Scenario.Refresh == Disabled) {
		e.What = Template // nothing would ever replace what does not join
	}
	d.Scenario.Add(e)
	if d.odds().Follow != nil {
		d.odds().Follow(d, e)
	}
	d.follow(e)
}

// Later returns a moment after an event, so many seconds and up to so many more.
func (d *Drawing) Later(e Event, least, spread int) time.Duration {
	return min(e.At+time.Duration(least+d.IntN(spread))*time.Second, d.Within+time.Minute)
}

// follow draws the event that reverts or continues e some time later.
func (d *Drawing) follow(e Event) {
	later := func(least, spread int) time.Duration { return d.Later(e, least, spread) }
	switch e.What {
	case HandDisown:
		d.Scenario.Add(Event{What: HandOwn, At: later(10, 300)})
	case Autoscaler:
		d.Scenario.Add(Event{What: Autoscaler, At: later(10, 300), N: d.IntN(9)})
	case Pause:
		d.Scenario.Add(Event{What: Unpause, At: later(5, 200)})
	case Hold:
		d.Scenario.Add(Event{What: GoOn, At: later(10, 300)})
	case RestartNow:
		if d.IntN(2) == 0 {
			d.Scenario.Add(Event{What: RestartOver, At: later(60, 600)})
		}
	case BadTemplate:
		d.Scenario.Add(Event{What: []What{Back, Template, Back}[d.IntN(3)], At: later(60, 300), N: d.IntN(9)})
	case GroupEdit:
		// The request is reverted a while later.
		d.Scenario.Add(Event{What: GroupEdit, At: min(e.At+2*time.Minute, d.Within), N: e.N, M: e.M + 1})
	case Rival:
		d.Scenario.Add(Event{What: Meet, At: later(0, 15), N: d.IntN(6), M: d.IntN(9)})
	}
}

// cloudFault is one of the cloud: a burst, or one at a certain call.
func (d *Drawing) cloudFault() {
	f := sim.Fault{Action: pick(d, d.odds().Actions)}
	switch d.IntN(10) {
	case 0, 1:
		f.Kind = sim.Throttle
	case 2, 3:
		r := pick(d, d.odds().Refusals)
		f.Kind, f.Code = sim.ErrorBefore, r.Code
		if f.Code != "" {
			f.Message, f.Status = "played by the explorer", r.Status
		}
	case 4:
		f.Kind = sim.ErrorAfter
	case 5:
		f.Kind = sim.DropBefore
	case 6:
		f.Kind = sim.DropAfter
	case 7:
		f.Kind, f.Action = sim.Delay, d.reads()
		f.Delay = sim.Duration(time.Duration(100+d.IntN(15000)) * time.Millisecond)
	case 8:
		f.Kind, f.Action = sim.Stale, d.reads()
		f.Delay = sim.Duration(time.Duration(d.IntN(int(Unseen/time.Millisecond)-1000)) * time.Millisecond)
	default:
		d.machineFault(&f)
	}
	if d.IntN(2) == 0 {
		f.Times, f.Skip = 1+d.IntN(6), d.IntN(4)
	} else {
		f.Probability = 0.1 + 0.6*d.Float64()
	}
	at := d.Near(2, 2*time.Second)
	d.Scenario.Add(Event{What: CloudFault, At: at, Fault: f})
	d.Scenario.Add(Event{What: Calm, At: min(at+time.Duration(20+d.IntN(200))*time.Second, d.Within+2*time.Minute)})
}

func (d *Drawing) machineFault(f *sim.Fault) {
	f.Kind, f.Action = []sim.FaultKind{sim.NoCapacity, sim.NoCapacity, sim.Dies, sim.Impaired}[d.IntN(4)], ""
	f.Delay, f.Limit = sim.Duration(time.Duration(5+d.IntN(300))*time.Second), d.IntN(4)
	if d.IntN(2) == 0 {
		f.Zone = pick(d, d.odds().Zones)
	}
}

// CommonEvents lists the events that can happen to every pool: actions of users, faults, and other programs. An event is drawn as often as
// it is listed.
func CommonEvents() []What {
	return []What{Restart, Crash, Crash, Crash, Away, Block, Unready, Nudge, Nudge, Lag, Lag, Deaf, Rival, Meet, Meet, Pause}
}

// reads draws the calls that a slow or stale read applies to.
func (d *Drawing) reads() string {
	list := d.odds().Reads
	if len(list) == 1 {
		return list[0]
	}
	return pick(d, list)
}

func pick[T any](d *Drawing, list []T) T { return list[d.IntN(len(list))] }

// serverFault is a burst of an API server's.
func (d *Drawing) serverFault() {
	kinds := []apifault.Kind{apifault.Conflict, apifault.Conflict, apifault.Refused, apifault.TimedOut, apifault.Lost}
	f := apifault.Fault{Kind: kinds[d.IntN(5)], Workload: d.IntN(3) == 0, Skip: d.IntN(4),
		Times: 1 + d.IntN(4)}
	d.Scenario.Add(Event{What: ServerFault, At: d.Near(2, 2*time.Second), API: f})
}
