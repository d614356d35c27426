package cloudtest

import (
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/pool"
	"github.com/muster-project/muster/sim"
)

const (
	// retryAfter is the Retry-After of throttled requests, in seconds and as a duration.
	retryAfter     = "7"
	retryAfterWait = 7 * time.Second
	// silence is longer than any driver waits for a reply.
	silence = 2 * time.Minute
	// behind is the time by which reads may lag a write, as in eventually consistent clouds.
	behind = 8 * time.Second
)

// onePage lets every list answer with one item a page.
var onePage = sim.Fault{Name: "pages of one", Kind: sim.PageLimit, Limit: 1}

// refusal is an error of a cloud, and the error that a driver must return for it.
type refusal struct {
	about string
	fault sim.Fault
	kind  cloud.ErrorKind
	// retryAfter is in the reply's header, after what must come of it.
	retryAfter string
	after      time.Duration
	// code and words must reach the error.
	code, words string
	// forgetful refuses a driver that has seen nothing, which has to look before it acts.
	forgetful bool
}

func unavailables() []refusal {
	return []refusal{
		{about: "an error of the cloud's own", fault: sim.Fault{Kind: sim.ErrorBefore}, kind: cloud.Unavailable},
		{about: "an overloaded cloud", fault: sim.Fault{Kind: sim.ErrorBefore, Code: "ServiceUnavailable", Message: "Come back later",
			Status: 503}, kind: cloud.Unavailable},
		{about: "a lost request", fault: sim.Fault{Kind: sim.DropBefore}, kind: cloud.Unavailable},
		{about: "no reply in time", fault: sim.Fault{Kind: sim.Delay, Delay: sim.Duration(silence)}, kind: cloud.Unavailable},
	}
}

func throttles() []refusal {
	return []refusal{
		{about: "throttled", fault: sim.Fault{Kind: sim.Throttle}, kind: cloud.Throttled, retryAfter: retryAfter, after: retryAfterWait},
		{about: "throttled without saying for how long", fault: sim.Fault{Kind: sim.Throttle}, kind: cloud.Throttled},
	}
}

func denials[S any](p player[S]) []refusal {
	f := p.cloud.Capabilities().Denied
	f.Kind = sim.ErrorBefore
	r := refusal{about: "denied", fault: f, kind: cloud.Denied, code: f.Code, words: f.Message}
	unknown := r
	unknown.about, unknown.forgetful = "denied to a driver that has seen nothing", true
	return []refusal{r, unknown}
}

// disturb puts the fault in force for one of the requests that are sent from now on.
func disturb[S any](p player[S], f sim.Fault, c call) {
	p.Helper()
	f.Service, f.Action, f.Skip, f.Times = c.service, c.action, c.before, 1
	p.fault(f)
}

// played makes sure that the fault in force was met.
func played[S any](p player[S]) {
	p.Helper()
	for _, f := range p.cloud.Faults().List() {
		if f.Played == 0 {
			p.Fatalf("want %s:%s sent as it was without a fault, so that the fault is met, got no such request", f.Service, f.Action)
		}
	}
}

// reportedAs reports whether a cause has the reason and the words of the refusal.
func (r refusal) reportedAs(c pool.Cause) bool {
	return c.Reason == string(r.kind) && strings.Contains(c.Message, r.words)
}

// fits reports where an error is not what the refusal must become.
func fits[S any](p player[S], r refusal, err error) {
	p.Helper()
	var e *cloud.Error
	switch {
	case !errors.As(err, &e) || e.Kind != r.kind:
		p.Errorf("want an error of kind %s, got %v", r.kind, err)
	case e.After < r.after:
		p.Errorf("want to be asked to wait for %s, as the cloud says, got %s", r.after, e.After)
	case r.code != "" && e.Code != r.code || !strings.Contains(e.Error(), r.words):
		p.Errorf("want the cloud's code %q and words %q, got %q, %q", r.code, r.words, e.Code, e.Error())
	case e.Op == "":
		p.Errorf("want the call named, got %#v", e)
	}
}

// refusedSteps refuses each request of each step in turn.
func refusedSteps[S any](p player[S], refusals []refusal) {
	each(p, func(p player[S], e exercise[S]) {
		known := map[bool][]call{}
		for _, r := range refusals {
			if known[r.forgetful] == nil {
				known[r.forgetful] = callsElsewhere(p, e, r.forgetful)
			}
			calls := known[r.forgetful]
			for _, c := range calls {
				if r.forgetful && c.writes {
					continue
				}
				playElsewhere(p, r.about+" at "+c.String(), func(q player[S]) { refusedOnce(q, e, r, c, count(calls) == 1) })
			}
		}
	})
}

// refusedOnce starts an exercise's step of which one request is refused, and has it finished afterwards. Where that request is the only
// one that writes, nothing has changed until then.
func refusedOnce[S any](q player[S], e exercise[S], r refusal, c call, whole bool) {
	q.Helper()
	sc, s := q.begin(e)
	if r.forgetful {
		q = q.again()
	}
	if refused := refusedStep(q, r, c, sc, s); refused && whole {
		same(q, sc)
	}
	q.finish(e, sc)
}

func count(calls []call) int {
	n := 0
	for _, c := range calls {
		if c.writes {
			n++
		}
	}
	return n
}

// refusedStep starts a step of which one request is refused, and reports whether the step is. A step may do without what it could
// not read.
func refusedStep[S any](q player[S], r refusal, c call, sc scene[S], s pool.Step) bool {
	q.Helper()
	disturb(q, r.fault, c)
	q.wire.retryAfter = r.retryAfter
	var err error
	sent := q.sent(func() { err = q.try(sc.target, s) })
	played(q)
	q.calm()
	if err != nil || c.writes {
		fits(q, r, err)
	}
	if tries := writes(sent); c.writes && len(tries) != c.earlier+1 {
		q.Errorf("want nothing sent after the refusal in the same call, got %+v", tries)
	}
	rest(nextPass)
	return err != nil
}

// same reports what has changed since the scene was set.
func same[S any](p player[S], sc scene[S]) {
	p.Helper()
	o := p.observe(sc.target)
	p.check("the group after a refusal", sc.before.Group, o.Group)
	p.check("the versions after a refusal", sc.before.Versions, o.Versions)
	if sc.before.ProviderRollout == nil { // which goes on replacing them
		p.check("the instances after a refusal", sc.before.Instances, o.Instances)
	}
}

func unavailableSteps[S any](p player[S]) { refusedSteps(p, unavailables()) }
func throttledSteps[S any](p player[S])   { refusedSteps(p, throttles()) }
func deniedSteps[S any](p player[S])      { refusedSteps(p, denials(p)) }

// lostReplies loses the reply to each write of each step in turn, after it has taken effect.
func lostReplies[S any](p player[S]) {
	lost := []refusal{
		{about: "the connection ends", fault: sim.Fault{Kind: sim.DropAfter}, kind: cloud.Unavailable},
		{about: "the cloud answers with an error", fault: sim.Fault{Kind: sim.ErrorAfter}, kind: cloud.Unavailable},
	}
	each(p, func(p player[S], e exercise[S]) {
		calls := callsOf(p, e, false)
		for _, r := range lost {
			for _, c := range calls {
				if c.writes {
					// No cloud has to tell until when it holds: a renewal that may not have been heard is due again.
					whole := count(calls) == 1 && e.kind != pool.Renew
					playElsewhere(p, r.about+" after "+c.String(), func(q player[S]) { lostReply(q, e, r, c, whole) })
				}
			}
		}
	})
}

// lostReply loses the reply to one request. Where that was all there is to the step, the next observation shows it done.
func lostReply[S any](p player[S], e exercise[S], r refusal, c call, whole bool) {
	p.Helper()
	sc, s := p.begin(e)
	disturb(p, r.fault, c)
	err := p.try(sc.target, s)
	played(p)
	p.calm()
	fits(p, r, err)
	if whole {
		o := p.observe(sc.target)
		if again := e.due(sc, o); again != nil && again.Kind == e.kind && !working(o) {
			p.Errorf("want the very next observation to show that it has happened, got %s due", again.Kind)
		}
		p.finish(e, sc)
	}
	if err := p.try(sc.target, s); err != nil && cloud.KindOf(err) != cloud.Conflict {
		p.Errorf("the same step again: want it to work or to be told to look again, got %v", err)
	}
	p.finish(e, sc)
	p = p.again()
	p.finish(e, sc)
}

// staleReads lets every read be behind after each step, for a driver that remembers and for one that has seen nothing, and
// starts whatever such reads make due.
func staleReads[S any](p player[S]) {
	for _, driver := range []struct {
		about string
		next  func(player[S]) player[S]
	}{
		{"the same driver", func(p player[S]) player[S] { return p }},
		{"always a new one", player[S].again},
	} {
		each(p.elsewhere(driver.about), func(p player[S], e exercise[S]) {
			sc, s := p.begin(e)
			p.start(sc.target, s)
			p.fault(sim.Fault{Kind: sim.Stale, Delay: sim.Duration(behind)})
			for range int(behind/time.Second) + 1 {
				rest(time.Second)
				p = driver.next(p)
				onOldReads(p, e, sc)
			}
			p.calm()
			p.finish(e, sc)
		})
	}
}

// onOldReads makes a pass. On reads that are behind, it may be told to look again, and nothing else.
func onOldReads[S any](p player[S], e exercise[S], sc scene[S]) {
	p.Helper()
	o, err := p.driver.Observe(p.Context(), sc.target)
	if err == nil && !working(o) {
		if s := e.due(sc, o); s != nil {
			err = p.try(sc.target, *s)
		}
	}
	if err != nil && cloud.KindOf(err) != cloud.Conflict {
		p.Errorf("want the pass to work or to be told to look again, got %v", err)
	}
}

// refusedLooks refuses each request of a first look at a pool in turn: at one that does not exist, and at one that does.
func refusedLooks[S any](p player[S], refusals []refusal) {
	for _, size := range []int{-1, sizeSmall} {
		var want pool.Observed
		var calls []call
		playElsewhere(p, "all is well", func(q player[S]) {
			want = lookAt(q, size)
			calls = numbered(q.sent(func() { q.again().observe(q.target()) }))
		})
		for _, r := range refusals {
			for _, c := range calls {
				playElsewhere(p, r.about+" at "+c.String(), func(q player[S]) {
					before := lookAt(q, size)
					q.check("the same cloud", undated(want), undated(before))
					refusedLook(q, r, c, before)
				})
			}
		}
	}
}

// undated returns an observation without creation times, which differ from cloud to cloud.
func undated(o pool.Observed) pool.Observed {
	if o.Group != nil {
		group := *o.Group
		group.Created = time.Time{}
		o.Group = &group
	}
	o.Instances = slices.Clone(o.Instances)
	for i := range o.Instances {
		o.Instances[i].Created, o.Instances[i].Renewed = time.Time{}, time.Time{}
	}
	return o
}

// lookAt makes a pool, or none where the size is negative, and looks at it.
func lookAt[S any](p player[S], size int) pool.Observed {
	p.Helper()
	if size >= 0 {
		p.create(p.target(), size)
	}
	return p.again().observe(p.target())
}

// refusedLook looks while one request is refused. What could not be found out about the specification alone may be told as an
// issue of a group that is seen as it is.
func refusedLook[S any](p player[S], r refusal, c call, before pool.Observed) {
	p.Helper()
	disturb(p, r.fault, c)
	p.wire.retryAfter = r.retryAfter
	p = p.again()
	o, err := p.driver.Observe(p.Context(), p.target())
	played(p)
	p.calm()
	switch {
	case err != nil:
		fits(p, r, err)
		if r.kind == cloud.Denied && slices.Contains(p.suite.Secondary, c.action) {
			p.Errorf("want what %s does not tell unknown, and the rest observed, got %v", c, err)
		}
	case o.ProviderRolloutUnknown != nil:
		p.check("all but the cloud's own roll", before, knowingRoll(o, before))
		if !r.reportedAs(*o.ProviderRolloutUnknown) {
			p.Errorf("want the reason %s and the words %q, got %+v", r.kind, r.words, *o.ProviderRolloutUnknown)
		}
	default:
		seenWithIssue(p, r, c, before, o)
	}
	rest(nextPass)
	p.check("what is seen afterwards", before, p.observe(p.target()))
}

// seenWithIssue reports where an observation during a refusal does not show the group as it was before, with the refusal as its first
// issue. Without a group only a read that a look can do without may be refused so.
func seenWithIssue[S any](p player[S], r refusal, c call, before, o pool.Observed) {
	p.Helper()
	p.check("the group", before.Group, o.Group)
	p.check("the versions", len(before.Versions), len(o.Versions))
	p.check("the instances", ids(before.Instances), ids(o.Instances))
	if o.Wanted != (pool.Template{}) && o.Wanted != before.Wanted {
		p.Errorf("want nothing wanted while it can't be known, or what was wanted before, got %+v", o.Wanted)
	}
	fit := before.Group != nil || slices.Contains(p.suite.Secondary, c.action)
	if !fit || len(o.Issues) == 0 || !r.reportedAs(o.Issues[0]) {
		p.Errorf("want an error, or an issue with the reason %s and the words %q beside a group, got %+v", r.kind, r.words, o)
	}
}

// knowingRoll is an observation with the cloud's own roll of another: what is not known may be read again, for one pool alone.
func knowingRoll(o, other pool.Observed) pool.Observed {
	o.ProviderRollout, o.ProviderRolloutUnknown, o.Cache.Shared = other.ProviderRollout, other.ProviderRolloutUnknown, other.Cache.Shared
	return o
}

func unavailableLooks[S any](p player[S]) { refusedLooks(p, unavailables()) }
func throttledLooks[S any](p player[S])   { refusedLooks(p, throttles()) }
func deniedLooks[S any](p player[S])      { refusedLooks(p, denials(p)) }
