package world

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/muster-project/muster/cloud/wire"
	"github.com/muster-project/muster/sim"
	"github.com/muster-project/muster/test/explore/oracle"
	"github.com/muster-project/muster/test/explore/record"
	"github.com/muster-project/muster/test/explore/script"
)

// account observes all requests to the simulated cloud.
type account struct {
	world *World
	// costs counts requests by their purpose.
	costs *record.Costs
	// wrote holds the time of each manager's last write. Another manager may not have read that yet.
	wrote map[*process]time.Time
	// ledger records which instances serve.
	ledger record.Ledger
}

// inPages makes the cloud return lists with one item a page in every third scenario, so that a fault on a later page leaves a list
// half-read.
func (a *account) inPages() {
	w := a.world
	if w.Scenario.Seed%3 == 1 {
		w.Must(w.pool.Cloud.Faults().Add(sim.Fault{Kind: sim.PageLimit, Limit: 1}), "make pages small")
	}
}

// inForce returns the cloud's faults that something may be put down to: not that pages are small.
func (a *account) inForce() []sim.PlayedFault {
	return slices.DeleteFunc(a.world.pool.Cloud.Faults().List(), func(f sim.PlayedFault) bool { return f.Kind == sim.PageLimit })
}

func newAccount(w *World) *account {
	return &account{world: w, costs: &record.Costs{Steps: map[string]record.Cost{}}, ledger: record.Ledger{}}
}

// line is a process's connection to the cloud.
type line struct{ p *process }

// RoundTrip carries one request of the driver, and lets the oracles look at every write.
func (l line) RoundTrip(req *http.Request) (*http.Response, error) {
	w, call := l.p.world, wire.CallFrom(req.Context())
	if l.p.dead {
		return nil, errKilled
	}
	w.account.costs.Calls++
	changes := isWrite(call.Operation) && req.Method != http.MethodGet
	if l.p.interrupted(changes, true); l.p.dead {
		return nil, errKilled
	}
	if !changes {
		reply, err := sim.Transport{Handler: w.pool.Cloud}.RoundTrip(req)
		w.Trace("call", "%s%s -> %s", l.p.name, call, record.Ending(reply, err))
		return reply, err
	}
	words, named, err := w.account.inWords(call.Service, req)
	if err != nil {
		return nil, err
	}
	if err := l.p.begin(call.String()); err != nil {
		return nil, err
	}
	w.account.count(call.String(), req)
	reply, err := w.account.write(l.p, call, words, named, req)
	if killed := l.p.finish(call.String()); killed != nil {
		if err == nil {
			_ = reply.Body.Close()
		}
		return nil, killed
	}
	return reply, err
}

// inWords describes a write without its secrets, and returns the instances that it names.
func (a *account) inWords(service string, req *http.Request) (text string, named []string, err error) {
	var body []byte
	if req.Body != nil {
		if body, err = io.ReadAll(req.Body); err != nil {
			return "", nil, fmt.Errorf("read the request: %w", err)
		}
		req.Body = io.NopCloser(bytes.NewReader(body))
	}
	return a.world.pool.Describe(service, req, body)
}

// count blames one write too many of a kind.
func (a *account) count(call string, req *http.Request) {
	one := a.world.Scenario.Kind.OneEach
	each := one != "" && strings.HasSuffix(call, one)
	if each {
		call += " " + req.URL.Path
	}
	if wrong := a.world.writes.Sent(call, each); wrong != "" {
		a.world.Blame("storm", "%s", wrong)
	}
}

// look updates the ledger and the other records.
func (a *account) look(c oracle.Cloud, nodes map[string]oracle.Node, ours []string) {
	a.ledger.Keep(time.Now(), c, nodes, ours)
	if a.world.watched != nil {
		a.world.watched.See(c, a.ledger)
	}
}

// write sends a write and has it judged.
func (a *account) write(p *process, call wire.Call, words string, named []string, req *http.Request) (*http.Response, error) {
	w := a.world
	p.standsStill(call.String())
	before, nodes := w.Snapshot(), w.Workload.Truth()
	a.look(before, nodes, nil)
	lost, risen := a.ledger.Lately(time.Now(), p.late())
	reply, err := sim.Transport{Handler: w.pool.Cloud}.RoundTrip(req)
	w.Trace("call", "%s%s %s -> %s", p.name, call, words, record.Ending(reply, err))
	after := w.Snapshot()
	a.look(after, nodes, named)
	if err == nil && reply.StatusCode < http.StatusMultipleChoices {
		if w.pool.Accepted != nil {
			after = w.pool.Accepted(call, req, after)
		}
		if wrong := w.writes.Accepted(call.String() + " " + words); wrong != "" {
			w.Blame("repeated", "%s", wrong)
		}
	}
	if w.Scenario.Kind.Places {
		p.desired.DeletionRequested = w.Instances.allDeletionRequested() // an instance may have come in the place of one during the pass
	}
	sent := oracle.Write{
		At: time.Now(), Call: call.String(), Named: named, Before: before, After: after, Nodes: nodes, Desired: p.desired,
		Unseen: 2 * script.Unseen,
		Moved:  !a.world.Notes.moved.IsZero() && time.Since(a.world.Notes.moved) < p.late() || a.rivals(p), Lost: lost, Risen: risen,
		Autoscaled: a.world.Notes.autoscaledLately(p.late()),
	}
	if w.pool.Annotate != nil {
		w.pool.Annotate(call, words, &sent)
	}
	a.judge(p, sent)
	if a.wrote == nil {
		a.wrote = map[*process]time.Time{}
	}
	a.wrote[p], w.wrote = time.Now(), time.Now()
	return reply, err
}

// rivals is true if another manager wrote so lately that this one may have read what was before.
func (a *account) rivals(p *process) bool {
	return slices.ContainsFunc(a.world.managers.list, func(other *process) bool {
		at, wrote := a.wrote[other]
		return other != p && wrote && time.Since(at) < p.late()
	})
}

// isWrite reports whether an operation changes something: "DescribeInstances" and "instanceGroupManagers.listManagedInstances" do not.
func isWrite(operation string) bool {
	verb := operation[strings.LastIndex(operation, ".")+1:]
	return !slices.ContainsFunc([]string{"describe", "get", "list"},
		func(read string) bool { return strings.HasPrefix(strings.ToLower(verb), read) })
}

// judge has the oracles look at a write of a process.
func (a *account) judge(p *process, w oracle.Write) {
	w.Closure, w.Resized = a.world.Rollout.closure(p), a.world.Notes.resizedLately()
	p.begins = append(p.begins, w.Begins()...)
	for _, check := range oracle.Checks() {
		if check.Name == "reported" && len(a.world.managers.list) > 1 {
			continue // another version may have come between
		}
		if check.Name == "foreign" && recent(a.world.Notes.disowned) || check.Name == "unwanted removal" && recent(a.world.Notes.moved) {
			continue
		}
		a.world.blameAll(check.Name, check.Of(w))
	}
}

// userAttempts bounds the attempts of a user. Faults affect requests by users too.
const userAttempts = 12

// RetryAsUser performs an action of a user, with retries.
func (w *World) RetryAsUser(do func(context.Context) error) error {
	var err error
	for range userAttempts {
		if err = do(w.t.Context()); err == nil {
			return nil
		}
		time.Sleep(userPause)
	}
	return err
}

const userPause = 500 * time.Millisecond
