package explore

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"

	awsv1 "github.com/muster-project/muster/api/aws/v1beta2"
	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/aws"
	"github.com/muster-project/muster/engine"
	"github.com/muster-project/muster/engine/report"
	"github.com/muster-project/muster/pool"
	"github.com/muster-project/muster/sim"
	"github.com/muster-project/muster/test/explore/oracle"
)

// result is what became of a scenario.
type result struct {
	wrong         []string
	trace         string
	calls, faults int
	virtual       time.Duration
}

// explored runs one scenario in a bubble of virtual time.
func explored(t *testing.T, s scenario) (out result) {
	synctest.Test(t, func(t *testing.T) {
		r := newRun(t, s)
		defer func() {
			if err := r.account.server.Close(); err != nil {
				t.Errorf("close the simulator: %v", err)
			}
		}()
		r.live()
		r.account.calm()
		out = result{
			wrong: r.account.wrong, trace: r.trace.String(), calls: r.account.calls, faults: r.account.faults, virtual: time.Since(r.trace.began),
		}
	})
	return out
}

// run is one scenario that is under way.
type run struct {
	t        *testing.T
	scenario scenario
	trace    *trace
	account  *account
	workload *workload
	object   *object
	engine   *engine.Engine[*awsv1.MachinePoolSource]
	// next is when the next pass is due; poked says that somebody asked for one now.
	next  time.Time
	poked bool
	gone  bool
	// said is what the last pass reported, settled whether it found nothing to do.
	said    string
	settled bool
}

func newRun(t *testing.T, s scenario) *run {
	r := &run{t: t, scenario: s, trace: &trace{began: time.Now()}, object: newObject(s), next: time.Now()}
	r.workload = &workload{seed: sim.Seed(s.seed), by: map[string]*machine{}, expiry: map[string]time.Time{}}
	r.account = newAccount(t, s, r.trace, r.workload)
	if !s.has(evBootstrap) {
		r.object.rotated(r.workload)
	}
	r.start()
	return r
}

func (s scenario) has(what string) bool {
	for _, e := range s.events {
		if e.what == what {
			return true
		}
	}
	return false
}

// start is a new process: a driver and an engine that remember nothing.
func (r *run) start() {
	d, err := aws.New(aws.Options{
		Config: func(context.Context, string) (awssdk.Config, error) { return config(), nil },
		Base:   http.RoundTripper(r.account),
	})
	if err != nil {
		r.t.Fatal(err)
	}
	r.engine = engine.New[*awsv1.MachinePoolSource](&writesDown{Driver: d, object: r.object}, engine.Options{})
}

// restart ends the process and starts it again.
func (r *run) restart() {
	r.account.faults++
	r.account.dead = false
	r.workload.revive()
	r.start()
	r.poked = true
}

func (r *run) rotate() { r.object.rotated(r.workload) }

// live lets everything happen, then looks at what is left when all is quiet.
func (r *run) live() {
	for _, e := range r.scenario.events {
		r.until(r.trace.began.Add(e.at))
		if r.gone {
			return
		}
		r.happen(e)
	}
	r.until(r.trace.began.Add(r.scenario.ends))
	r.peace()
	if r.rest(); r.gone {
		return
	}
	if r.object.deleting {
		r.account.blame("progress: the object is being deleted and is not gone after " + restMost.String() + ": " + r.said)
		return
	}
	r.settledDown()
}

// until runs every pass that is due before the given time.
func (r *run) until(end time.Time) {
	for !r.gone {
		now := time.Now()
		if r.poked || !r.next.After(now) {
			r.pass()
			continue
		}
		if !now.Before(end) {
			return
		}
		wake := r.next
		if at := r.workload.nextJoin(now); !at.IsZero() && at.Before(wake) && !at.After(end) {
			wake, r.poked = at, true // nodes are watched
		}
		r.sleep(min(wake.Sub(now), end.Sub(now)))
	}
}

// sleep lets time pass, and what it brings about be done before anything else.
func (r *run) sleep(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

// writesDown keeps look-ups on the object before a step rests on them, as the Kubernetes edge does.
type writesDown struct {
	cloud.Driver[*awsv1.MachinePoolSource]
	object *object
	found  map[string]string
}

// Observe is the driver's.
func (d *writesDown) Observe(ctx context.Context, t cloud.Target[*awsv1.MachinePoolSource]) (pool.Observed, error) {
	o, err := d.Driver.Observe(ctx, t)
	if err == nil {
		d.found = o.Remember
	}
	return o, err
}

// Start is the driver's.
func (d *writesDown) Start(ctx context.Context, t cloud.Target[*awsv1.MachinePoolSource], s pool.Step) error {
	d.object.remembered = maps.Clone(d.found)
	return d.Driver.Start(ctx, t, s)
}

// pass is one pass of the engine, and one write of what it says.
func (r *run) pass() {
	r.poked = false
	facts := r.object.facts(r.workload, time.Now())
	r.account.wanted = r.object.wanted()
	out := r.engine.Run(r.t.Context(), facts, r.workload)
	if r.account.dead {
		r.restart()
		return
	}
	if out.Seen {
		r.object.remembered = maps.Clone(out.Observed.Remember)
		if g := out.Observed.Group; g != nil && r.object.external && !r.object.deleting {
			r.object.replicas = g.Size
		}
	}
	r.tell(facts, out)
	r.next = time.Now().Add(out.Again)
	r.gone = out.Plan.Gone && out.Seen
	if r.gone {
		r.trace.add("gone", "")
		for _, text := range oracle.Left(r.account.snapshot(), r.object.owner.ID) {
			r.account.blame("left: " + text)
		}
	}
}

// tell reports the pass and looks for secrets in what it says.
func (r *run) tell(f engine.Facts[*awsv1.MachinePoolSource], out engine.Outcome) {
	said := report.Of(f.Desired, out, r.engine.Traits())
	texts := []string{fmt.Sprintf("%s %v", said.State, said.Conditions)}
	step := "-"
	if s := out.Plan.Step; s != nil {
		step = fmt.Sprintf("%s started=%v size=%d targets=%d fields=%v (%s)", s.Kind, out.Started, s.Size, len(s.Targets), s.Fields, s.Cause.Message)
	}
	r.said = texts[0]
	r.settled = out.Seen && out.Plan.Settled && out.Plan.Step == nil
	r.trace.add("pass", "%s | %s | again in %s", step, words(said), out.Again)
	r.next = time.Now().Add(out.Again)
	everything := fmt.Sprintf("%v %+v %v %v", texts, said, out.Err, out.Refused)
	for _, text := range oracle.Secret("a report", everything, r.workload.tokens()) {
		r.account.blame("secret: " + text)
	}
}

// words are the state, the Ready condition and the events of a report.
func words(said report.Report) string {
	var list []string
	for _, c := range said.Conditions {
		if c.Type == report.Ready {
			list = append(list, fmt.Sprintf("%s: %s %s", said.State, c.Reason, c.Message))
		}
	}
	for _, e := range said.Events {
		list = append(list, "event "+e.Reason+": "+e.Message)
	}
	return strings.Join(list, " | ")
}
