package explore

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/muster-project/muster/sim"
)

// scenario is everything that happens to one pool, drawn from a seed. It is data, so that it can be shown and shortened.
type scenario struct {
	seed uint64
	// The object as it is made.
	replicas, least, most int
	external              bool
	drainTimeout          time.Duration
	policy                int
	// speed is how much faster than life machines come and go.
	speed float64
	// events happen in this order.
	events []event
	// ends is when the last edit, fault or change by hand is over.
	ends time.Duration
	// deleted says that the object is deleted at the end.
	deleted bool
}

// event is one thing that happens.
type event struct {
	at   time.Duration
	what string
	// n and text are what the kind makes of them; fault is the rule of fault events.
	n, m  int
	text  string
	fault sim.Fault
}

func (e event) String() string {
	text := fmt.Sprintf("%s %d %d %s", e.what, e.n, e.m, e.text)
	if e.what == evFault {
		text = fmt.Sprintf("fault %s %s:%s skip=%d times=%d chance=%.2f %s %s", e.fault.Kind, e.fault.Service, e.fault.Action,
			e.fault.Skip, e.fault.Times, e.fault.Probability, e.fault.Code, time.Duration(e.fault.Delay))
	}
	return text
}

// The kinds of event.
const (
	evReplicas    = "edit replicas"
	evBounds      = "edit bounds"
	evTemplate    = "edit template"
	evGroup       = "edit group"
	evToken       = "rotate token"
	evExternal    = "toggle external"
	evAutoscaler  = "autoscaler"
	evMark        = "mark node"
	evDelete      = "delete object"
	evFault       = "fault"
	evCalm        = "calm"
	evTerminate   = "hand terminates"
	evFail        = "hand fails"
	evResize      = "hand resizes"
	evTags        = "hand retags"
	evDisown      = "hand disowns"
	evOwn         = "hand owns"
	evDropGroup   = "hand deletes group"
	evDropTmpl    = "hand deletes template"
	evBoundsHand  = "hand sets bounds"
	evRestart     = "restart"
	evCrash       = "crash"
	evAway        = "workload away"
	evBlock       = "budget blocks"
	evNotReady    = "nodes not ready"
	evNudge       = "nudge"
	evBootstrap   = "bootstrap ready"
	evForeign     = "hand makes foreign"
	evDropForeign = "hand deletes foreign"
)

// within bounds how long edits go on.
const within = 25 * time.Minute

// draw makes the scenario of a seed.
func draw(seed uint64) scenario {
	r := rand.New(rand.NewPCG(seed, 0x6d757374))
	s := scenario{seed: seed, least: r.IntN(3), speed: []float64{1, 1, 2, 5}[r.IntN(4)], policy: r.IntN(3)}
	s.most = s.least + 1 + r.IntN(7)
	s.replicas = s.least + r.IntN(s.most-s.least+1)
	s.external = r.IntN(6) == 0
	s.drainTimeout = []time.Duration{0, 2 * time.Minute, 10 * time.Minute}[r.IntN(3)]
	if r.IntN(4) == 0 {
		s.add(event{what: evBootstrap, at: time.Duration(r.IntN(120)) * time.Second})
	}
	if r.IntN(5) == 0 {
		s.foreign(r)
	}
	for range 3 + r.IntN(10) {
		s.happening(r)
	}
	for range 2 + r.IntN(6) {
		s.faults(r)
	}
	slices.SortStableFunc(s.events, func(a, b event) int { return int(a.at - b.at) })
	s.ends = within + 4*time.Minute
	s.deleted = r.IntN(3) == 0
	if s.deleted {
		s.deletion(r)
	}
	return s
}

func (s *scenario) add(e event) { s.events = append(s.events, e) }

// deletion comes while other things still happen, or after them.
func (s *scenario) deletion(r *rand.Rand) {
	at := moment(r)
	if r.IntN(3) == 0 {
		at = s.ends
	}
	s.add(event{what: evDelete, at: at})
	slices.SortStableFunc(s.events, func(a, b event) int { return int(a.at - b.at) })
}

func moment(r *rand.Rand) time.Duration {
	return time.Duration(r.Int64N(int64(within)) / int64(time.Millisecond) * int64(time.Millisecond))
}

// foreign lets a group of somebody else stand under our name for a while, from the very beginning.
func (s *scenario) foreign(r *rand.Rand) {
	s.add(event{what: evForeign, n: r.IntN(3)})
	s.add(event{what: evDropForeign, at: time.Minute + moment(r)})
}

// edits by people and programs, each as often as it is named.
var happenings = []string{
	evReplicas, evReplicas, evReplicas, evReplicas, evBounds, evTemplate, evTemplate, evGroup, evGroup, evToken, evToken, evExternal, evAutoscaler,
	evMark, evTerminate, evTerminate, evFail, evResize, evResize, evTags, evDisown, evDropGroup, evDropTmpl, evBoundsHand,
	evRestart, evCrash, evCrash, evCrash, evAway, evBlock, evNotReady, evNudge, evNudge,
}

func (s *scenario) happening(r *rand.Rand) {
	e := event{what: happenings[r.IntN(len(happenings))], at: moment(r), n: r.IntN(9), m: r.IntN(9)}
	if r.IntN(3) == 0 && len(s.events) > 0 {
		// Trouble comes in company: close to something else.
		e.at = min(within, s.events[r.IntN(len(s.events))].at+time.Duration(r.IntN(8000))*time.Millisecond)
	}
	s.add(e)
	switch e.what {
	case evDisown:
		s.add(event{what: evOwn, at: min(e.at+time.Duration(10+r.IntN(300))*time.Second, within+time.Minute)})
	case evAutoscaler:
		s.add(event{what: evAutoscaler, at: min(e.at+time.Duration(10+r.IntN(300))*time.Second, within), n: r.IntN(9)})
	}
}

// Codes that the services document for a refusal before anything is done.
var refusals = []string{"", "", "AccessDenied", "UnauthorizedOperation", "ServiceUnavailable", "ScalingActivityInProgress", "ResourceContention", "ValidationError"}

// faults of the cloud: a burst of them, or one at a certain call.
func (s *scenario) faults(r *rand.Rand) {
	f := sim.Fault{Action: []string{"*", "*", "Describe*", "Create*", "Update*", "Terminate*", "Set*", "Delete*", "CreateLaunchTemplate*",
		"DescribeAutoScalingGroups", "DescribeLaunchTemplate*", "CreateAutoScalingGroup"}[r.IntN(12)]}
	switch r.IntN(10) {
	case 0, 1:
		f.Kind = sim.Throttle
	case 2, 3:
		f.Kind, f.Code = sim.ErrorBefore, refusals[r.IntN(len(refusals))]
		if f.Code != "" {
			f.Message, f.Status = "played by the explorer", 400
		}
	case 4:
		f.Kind = sim.ErrorAfter
	case 5:
		f.Kind = sim.DropBefore
	case 6:
		f.Kind = sim.DropAfter
	case 7:
		f.Kind, f.Action = sim.Delay, "Describe*"
		f.Delay = sim.Duration(time.Duration(100+r.IntN(15000)) * time.Millisecond)
	case 8:
		f.Kind, f.Action = sim.Stale, "Describe*"
		f.Delay = sim.Duration(time.Duration(r.IntN(int(unseen/time.Millisecond)-1000)) * time.Millisecond)
	default:
		f.Kind, f.Action = []sim.Kind{sim.NoCapacity, sim.NoCapacity, sim.Dies, sim.Impaired}[r.IntN(4)], ""
		f.Delay, f.Limit = sim.Duration(time.Duration(5+r.IntN(300))*time.Second), r.IntN(4)
		if r.IntN(2) == 0 {
			f.Zone = "eu-west-1" + string("abc"[r.IntN(3)])
		}
	}
	if r.IntN(2) == 0 {
		f.Times, f.Skip = 1+r.IntN(4), r.IntN(4)
	} else {
		f.Probability = 0.1 + 0.5*r.Float64()
	}
	at := moment(r)
	if r.IntN(2) == 0 && len(s.events) > 0 {
		at = max(0, s.events[r.IntN(len(s.events))].at-time.Duration(r.IntN(2000))*time.Millisecond)
	}
	s.add(event{what: evFault, at: at, fault: f})
	s.add(event{what: evCalm, at: min(at+time.Duration(20+r.IntN(200))*time.Second, within+2*time.Minute)})
}

// unseen is how long a read may be behind.
const unseen = 8 * time.Second
