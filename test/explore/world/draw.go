package world

import (
	"math/rand/v2"
	"time"

	azurev1 "github.com/muster-project/muster/api/azure/v1beta1"
	"github.com/muster-project/muster/sim"
)

const (
	// after is how long what the last edits begin goes on.
	after = 3 * time.Minute
	// unseen is how long a read of the cloud may be behind.
	unseen = 8 * time.Second
)

// Draw makes the scenario of a seed.
func Draw(seed uint64) Scenario {
	if drawsAKS(seed) {
		return DrawAKS(seed)
	}
	d := drawing{Rand: rand.New(rand.NewPCG(seed, 0x6d757374)), s: Scenario{Seed: seed}, happenings: happenings, actions: actions}
	s := &d.s
	d.kind(kindsDrawn[seed%uint64(len(kindsDrawn))])
	d.within = time.Duration([]int{2, 3, 5, 10}[d.IntN(4)]) * time.Minute
	s.Ends = d.within + after
	s.Least, s.Speed = d.IntN(3), []float64{1, 3, 5, 10}[d.IntN(4)]
	s.Most = s.Least + 1 + d.IntN(4)
	s.Replicas = s.Least + d.IntN(s.Most-s.Least+1)
	s.External = d.IntN(6) == 0
	s.DrainTimeout = []time.Duration{0, 2 * time.Minute, 10 * time.Minute}[d.IntN(3)]
	s.Pods = d.IntN(4)
	if d.IntN(3) > 0 {
		s.Strategy = d.limits()
	} else {
		s.Refresh = []Refresh{Plain, Plain, Checkpoints, Surplus, Surplus, Disabled}[d.IntN(6)]
	}
	s.SkipModel, s.Spot = d.IntN(12) == 0, d.IntN(12) == 0
	if d.IntN(4) == 0 {
		s.add(Event{What: Bootstrap, At: time.Duration(d.IntN(120)) * time.Second})
	}
	if s.Managed {
		s.Refresh, s.SkipModel, s.Bare, s.Roles = Plain, false, d.IntN(3) == 0, d.IntN(2) == 0
	} else if s.onAzure() {
		d.scaleSet()
	} else if d.IntN(5) == 0 {
		s.add(Event{What: HandForeign, N: d.IntN(3)})
		s.add(Event{What: HandDropForeign, At: time.Minute + d.moment()})
	}
	for range 1 + d.IntN(6) {
		d.happening()
	}
	for range 3 + d.IntN(3) {
		d.cloudFault()
	}
	for range d.IntN(4) {
		d.serverFault()
	}
	if d.IntN(3) == 0 {
		s.add(Event{What: Delete, At: []time.Duration{d.moment(), d.moment(), s.Ends}[d.IntN(3)]})
	}
	d.Rand = rand.New(rand.NewPCG(seed, 0x76657273)) // what is drawn here leaves what was drawn before as it was
	if !s.onAzure() {
		d.versions()
	}
	d.Rand = rand.New(rand.NewPCG(seed, 0x69676e6f)) // the same
	d.ignored()
	d.Rand = rand.New(rand.NewPCG(seed, 0x6f757473)) // the same
	d.outside()
	d.Rand = rand.New(rand.NewPCG(seed, 0x61646f70)) // the same
	d.adopted()
	s.sort()
	return *s
}

// kind is that of the pool, and what can happen to such.
func (d *drawing) kind(letter byte) {
	switch letter {
	case 'M':
		d.s.Managed, d.happenings, d.actions = true, managedHappenings, managedActions
	case 'U':
		d.s.Mode, d.happenings, d.actions = azurev1.UniformOrchestrationMode, azureHappenings, azureActions
	case 'F':
		d.s.Mode, d.happenings, d.actions = azurev1.FlexibleOrchestrationMode, azureHappenings, azureActions
	}
}

// versions is what happens to the versions of the launch template.
func (d *drawing) versions() {
	if d.IntN(4) == 0 {
		d.s.add(Event{What: Keep, At: d.moment(), N: d.IntN(9)})
	}
	if d.IntN(10) == 0 {
		for n := range 2 + d.IntN(2) {
			d.s.add(Event{What: Template, At: d.moment(), N: n + d.IntN(9)})
		}
	}
	if d.IntN(12) == 0 {
		d.s.add(Event{What: HandDefault, At: d.moment(), N: d.IntN(9)})
	}
	if d.IntN(12) == 0 && !d.s.Spot && !d.s.Managed {
		d.s.Brought = true
	}
	if d.IntN(10) == 0 {
		d.s.add(Event{What: HandDropVersion, At: d.near(2, 2*time.Minute), N: d.IntN(9)})
	}
}

// DrawEdit makes a scenario in which nothing goes wrong: a pool that has come to rest, and one edit by its users.
func DrawEdit(seed uint64) Scenario {
	d := drawing{Rand: rand.New(rand.NewPCG(seed, 0x65646974)), s: Scenario{Seed: seed}}
	s := &d.s
	s.Most, s.Speed, s.Ends = 8, []float64{1, 2, 5}[d.IntN(3)], Edited+after
	s.Replicas, s.Pods = d.IntN(8), d.IntN(4)
	s.External, s.SkipModel = d.IntN(6) == 0, d.IntN(12) == 0
	if d.IntN(4) > 0 {
		s.Strategy = d.limits()
	} else {
		s.Refresh = []Refresh{Plain, Surplus, Disabled}[d.IntN(3)]
	}
	edits := []Event{{What: Template, N: 2}, {What: Template, N: 4}, {What: Template, N: 7}, {What: RestartNow}, {What: RestartNow, N: 1}, {What: Token}}
	if d.IntN(4) == 0 && !s.External {
		edits = []Event{{What: Replicas, N: d.IntN(9), M: 1}}
	}
	e := edits[d.IntN(len(edits))]
	e.At = Edited
	s.add(e)
	return *s
}

// drawing is a scenario that is being drawn.
type drawing struct {
	*rand.Rand
	s Scenario
	// happenings and actions are those of the scenario's kind, each as often as it is named.
	happenings []What
	actions    []string
	// within bounds how long edits go on: together in a few minutes, or each by itself.
	within time.Duration
}

func (d *drawing) moment() time.Duration {
	return time.Duration(d.Int64N(int64(d.within/time.Millisecond))) * time.Millisecond
}

// limits are those of a strategy, both zero never among them.
func (d *drawing) limits() *Limits {
	values := [][2]string{{"1", "0"}, {"1", "0"}, {"0", "1"}, {"1", "1"}, {"2", "1"}, {"25%", "0"}, {"0", "30%"}, {"50%", "25%"}, {"100%", "0"}, {"0", "100%"}, {"3", "2"}}
	v := values[d.IntN(len(values))]
	return &Limits{Surge: v[0], Unavailable: v[1], Policy: []string{"Oldest", "Newest", "Random"}[d.IntN(3)]}
}

// near is a moment of its own or one in company: trouble comes close to something else.
func (d *drawing) near(one int, spread time.Duration) time.Duration {
	if d.IntN(one) > 0 || len(d.s.Events) == 0 {
		return d.moment()
	}
	at := d.s.Events[d.IntN(len(d.s.Events))].At + time.Duration(d.Int64N(int64(spread/time.Millisecond)))*time.Millisecond
	return min(d.within, max(0, at))
}

// happenings are what people, programs and bad luck do, each as often as it is named.
var happenings = []What{
	Replicas, Replicas, Replicas, Replicas, Bounds, Template, Template, Template, Template, Back, GroupEdit, GroupEdit, Token, Token, External, Autoscaler,
	Strategy, Strategy, BadTemplate, Hold, RestartNow, HandInterrupt, HandUnhealthy, HandRefresh,
	Mark, Mark, HandTerminate, HandTerminate, HandFail, HandResize, HandResize, HandTags, HandDisown, HandDisown, HandDisown, HandDropGroup, HandDropTemplate, HandBounds,
	Restart, Crash, Crash, Crash, Away, Block, Unready, Nudge, Nudge, Lag, Lag, Deaf, Rival, Meet, Meet, Pause,
}

// kindsDrawn are the kinds of pools that scenarios are about, one after the other: groups of our own, managed node groups, scale sets
// in Uniform and in Flexible mode.
const kindsDrawn = "MGUFMGUFMGUFMGUFGGGG"

// managedHappenings are those of managed node groups.
var managedHappenings = []What{
	Replicas, Replicas, Replicas, Replicas, Bounds, Template, Template, Template, Template, Back, GroupEdit, GroupEdit, GroupEdit, Token, External, Autoscaler,
	Strategy, BadTemplate, RestartNow, HandInterrupt, HandUnhealthy, Upgrade, Upgrade,
	Mark, HandTerminate, HandTerminate, HandFail, HandResize, HandTags, HandLabels, HandLabels, HandRole, HandDisown, HandDropGroup, HandBounds,
	HandBreak, HandFailUpdate, HandFailEnding,
	Restart, Crash, Crash, Crash, Away, Block, Unready, Nudge, Nudge, Lag, Lag, Deaf, Rival, Meet, Meet, Pause,
}

// managedActions are the calls that a fault may be for where node groups are managed.
var managedActions = []string{
	"*", "*", "Describe*", "Create*", "Update*", "Terminate*", "Delete*", "CreateNodegroup", "UpdateNodegroup*", "DescribeNodegroup", "TagResource",
	"DescribeAutoScalingGroups", "DescribeLaunchTemplate*", "ListUpdates", "DescribeUpdate", "GetRole", "CreateRole", "AttachRolePolicy", "DeleteRole",
}

func (d *drawing) happening() {
	e := Event{What: d.happenings[d.IntN(len(d.happenings))], At: d.near(3, 8*time.Second), N: d.IntN(9), M: d.IntN(9)}
	if e.What == BadTemplate && (d.s.SkipModel || d.s.Refresh == Disabled) {
		e.What = Template // nothing would ever replace what does not join
	}
	d.s.add(e)
	if e.What == HandStop {
		d.s.add(Event{What: HandStart, At: min(e.At+time.Duration(10+d.IntN(200))*time.Second, d.within+time.Minute)})
	}
	d.follow(e)
}

// follow is what is done about a happening some time later.
func (d *drawing) follow(e Event) {
	later := func(least, spread int) time.Duration {
		return min(e.At+time.Duration(least+d.IntN(spread))*time.Second, d.within+time.Minute)
	}
	switch e.What {
	case HandBreak, HandFailEnding, HandQuota:
		d.s.add(Event{What: HandHeal, At: later(10, 300)})
	case HandDisown:
		d.s.add(Event{What: HandOwn, At: later(10, 300)})
	case Autoscaler:
		d.s.add(Event{What: Autoscaler, At: later(10, 300), N: d.IntN(9)})
	case Pause:
		d.s.add(Event{What: Unpause, At: later(5, 200)})
	case Hold:
		d.s.add(Event{What: GoOn, At: later(10, 300)})
	case RestartNow:
		if d.IntN(2) == 0 {
			d.s.add(Event{What: RestartOver, At: later(60, 600)})
		}
	case BadTemplate:
		d.s.add(Event{What: []What{Back, Template, Back}[d.IntN(3)], At: later(60, 300), N: d.IntN(9)})
	case HandRefresh:
		d.s.add(Event{What: HandCancel, At: later(5, 300)})
	case GroupEdit:
		// What was asked for is taken back a while later.
		d.s.add(Event{What: GroupEdit, At: min(e.At+2*time.Minute, d.within), N: e.N, M: e.M + 1})
	case Rival:
		d.s.add(Event{What: Meet, At: later(0, 15), N: d.IntN(6), M: d.IntN(9)})
	}
}

// Codes that the services document for a refusal before anything is done.
var refusals = []string{"", "", "AccessDenied", "UnauthorizedOperation", "ServiceUnavailable", "ScalingActivityInProgress", "ResourceContention", "ValidationError"}

// actions are the calls that a fault may be for.
var actions = []string{
	"*", "*", "Describe*", "Create*", "Update*", "Terminate*", "Set*", "Delete*", "CreateLaunchTemplate*",
	"DescribeAutoScalingGroups", "DescribeLaunchTemplate*", "CreateAutoScalingGroup",
}

// cloudFault is one of the cloud: a burst, or one at a certain call.
func (d *drawing) cloudFault() {
	f := sim.Fault{Action: d.actions[d.IntN(len(d.actions))]}
	switch d.IntN(10) {
	case 0, 1:
		f.Kind = sim.Throttle
	case 2, 3:
		f.Kind, f.Code = sim.ErrorBefore, d.refusals()[d.IntN(len(d.refusals()))]
		if f.Code != "" {
			f.Message, f.Status = "played by the explorer", d.status(f.Code)
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
		f.Delay = sim.Duration(time.Duration(d.IntN(int(unseen/time.Millisecond)-1000)) * time.Millisecond)
	default:
		d.machineFault(&f)
	}
	if d.IntN(2) == 0 {
		f.Times, f.Skip = 1+d.IntN(6), d.IntN(4)
	} else {
		f.Probability = 0.1 + 0.6*d.Float64()
	}
	at := d.near(2, 2*time.Second)
	d.s.add(Event{What: CloudFault, At: at, Fault: f})
	d.s.add(Event{What: Calm, At: min(at+time.Duration(20+d.IntN(200))*time.Second, d.within+2*time.Minute)})
}

func (d *drawing) machineFault(f *sim.Fault) {
	f.Kind, f.Action = []sim.FaultKind{sim.NoCapacity, sim.NoCapacity, sim.Dies, sim.Impaired}[d.IntN(4)], ""
	f.Delay, f.Limit = sim.Duration(time.Duration(5+d.IntN(300))*time.Second), d.IntN(4)
	if d.IntN(2) == 0 {
		at := d.IntN(3)
		f.Zone = "eu-west-1" + string("abc"[at])
		if d.s.InAzure() {
			f.Zone = string("123"[at])
		}
	}
}

// serverFault is a burst of an API server's.
func (d *drawing) serverFault() {
	f := APIFault{Kind: []APIKind{Conflict, Conflict, Refused, TimedOut, Lost}[d.IntN(5)], Workload: d.IntN(3) == 0, Skip: d.IntN(4), Times: 1 + d.IntN(4)}
	d.s.add(Event{What: ServerFault, At: d.near(2, 2*time.Second), API: f})
}
