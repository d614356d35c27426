package explore

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"sync"
	"time"

	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/pool"
	"github.com/muster-project/muster/sim"
	"github.com/muster-project/muster/test/explore/oracle"
)

// workload is a workload cluster in memory: machines that the cloud powers on join it some time later, if their token is
// good; their pods take a few rounds to be evicted, and sometimes a budget keeps them. It holds no timer: what is true is
// worked out from the time at which it is asked for.
type workload struct {
	seed sim.Seed
	mu   sync.Mutex
	by   map[string]*machine
	// expiry of the tokens; one that is not there was never made.
	expiry map[string]time.Time
	// away is until when the API server does not answer, blocked until when budgets keep every pod, unready until when
	// every other node is not Ready.
	away, blocked, unready time.Time
	// dead says that the process that asks has died: nothing that it asks for has an effect.
	dead bool
	// writes are the steps that were begun.
	writes []string
}

// machine is one machine and its node.
type machine struct {
	id, key, name, token string
	joins, off           time.Time
	pods                 int
	cordoned, marked     bool
	drain                time.Time
}

var (
	errAway = errors.New("the API server of the workload cluster does not answer")
	errDead = errors.New("the process has ended")
)

// tokenIn finds the token in the bootstrap data.
var tokenIn = regexp.MustCompile(`--token ([a-z0-9]{6}\.[a-z0-9]{16})`)

// nodeStays is how long a Node is still there after its machine went.
const nodeStays = 90 * time.Second

// PowerOn lets a machine boot.
func (w *workload) PowerOn(m sim.Machine) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.by[m.ID] != nil {
		return
	}
	made := &machine{id: m.ID, key: cloud.ProviderKey(m.ProviderID), name: m.Hostname}
	if found := tokenIn.FindSubmatch(m.UserData); found != nil {
		made.token = string(found[1])
	}
	made.joins = m.Launched.Add(time.Duration((12 + 48*w.seed.Chance("join", m.ID)) * float64(time.Second)))
	made.pods = int(5 * w.seed.Chance("pods", m.ID))
	w.by[m.ID] = made
}

// PowerOff ends a machine.
func (w *workload) PowerOff(id string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if m := w.by[id]; m != nil && m.off.IsZero() {
		m.off = time.Now()
	}
}

// Console is empty.
func (w *workload) Console(string) []byte { return nil }

// joined says whether the machine has a node now.
func (w *workload) joined(m *machine, now time.Time) bool {
	expires, made := w.expiry[m.token]
	good := made && (expires.IsZero() || m.joins.Before(expires))
	onTime := m.off.IsZero() || m.joins.Before(m.off)
	return good && onTime && !now.Before(m.joins) && (m.off.IsZero() || now.Before(m.off.Add(nodeStays)))
}

// ready says whether the node is Ready.
func (w *workload) ready(m *machine, now time.Time) bool {
	if now.Before(w.unready) && w.seed.Chance("ready", m.id) < 0.5 {
		return false
	}
	return m.off.IsZero()
}

// Find gives the nodes of the keys.
func (w *workload) Find(_ context.Context, keys []string) (map[string]pool.Node, error) {
	now := time.Now()
	w.mu.Lock()
	defer w.mu.Unlock()
	if now.Before(w.away) {
		return nil, errAway
	}
	found := map[string]pool.Node{}
	for _, m := range w.by {
		if !slices.Contains(keys, m.key) || !w.joined(m, now) {
			continue
		}
		n := pool.Node{
			Name: m.name, Joined: m.joins, Ready: w.ready(m, now), ReadySince: m.joins, Cordoned: m.cordoned, DrainStarted: m.drain,
			KubeletVersion: "v1.25.0",
		}
		if !m.drain.IsZero() {
			n.Remaining = m.pods
			if m.pods > 0 && now.Before(w.blocked) {
				n.Blocked = []string{"default/web-" + m.id}
			}
		}
		found[m.key] = n
	}
	return found, nil
}

// Start cordons and evicts one round, or takes that back.
func (w *workload) Start(_ context.Context, s pool.Step) error {
	now := time.Now()
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.dead {
		return errDead
	}
	if now.Before(w.away) {
		return fmt.Errorf("%s: %w", s.Kind, errAway)
	}
	w.writes = append(w.writes, string(s.Kind))
	for _, t := range s.Targets {
		m := w.by[t.ID]
		if m == nil || !w.joined(m, now) {
			continue
		}
		switch {
		case s.Kind == pool.Undrain:
			m.cordoned, m.drain, m.pods = false, time.Time{}, m.pods+1
		case m.drain.IsZero():
			m.cordoned, m.drain = true, now
		case !now.Before(w.blocked):
			m.pods = max(0, m.pods-2)
		}
	}
	return nil
}

// truth is what is so, whether the API server answers or not.
func (w *workload) truth() map[string]oracle.Node {
	now := time.Now()
	w.mu.Lock()
	defer w.mu.Unlock()
	nodes := map[string]oracle.Node{}
	for id, m := range w.by {
		nodes[id] = oracle.Node{Joined: w.joined(m, now) && m.off.IsZero(), DrainStarted: m.drain, Pods: m.pods}
	}
	return nodes
}

// nextJoin is when the next machine joins that runs now, the zero time for none.
func (w *workload) nextJoin(now time.Time) time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	var next time.Time
	for _, m := range w.by {
		if m.off.IsZero() && m.joins.After(now) && (next.IsZero() || m.joins.Before(next)) {
			next = m.joins
		}
	}
	return next
}

// counts are how many nodes of running machines there are, and how many of them are cordoned.
func (w *workload) counts() (joined, cordoned int) {
	now := time.Now()
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, m := range w.by {
		if w.joined(m, now) && m.off.IsZero() {
			joined++
			if m.cordoned {
				cordoned++
			}
		}
	}
	return joined, cordoned
}

// rotate makes a new token. The one before it stays good for a while.
func (w *workload) rotate(n int) string {
	w.mu.Lock()
	defer w.mu.Unlock()
	for token, at := range w.expiry {
		if at.IsZero() {
			w.expiry[token] = time.Now().Add(tokenStays)
		}
	}
	token := w.seed.Hex(6, "token", n) + "." + w.seed.Hex(16, "secret", n)
	w.expiry[token] = time.Time{}
	return token
}

// tokenStays is how long a token is good after the next one was made: longer than any fault lasts.
const tokenStays = 30 * time.Minute

// tokens are all that were ever made.
func (w *workload) tokens() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Sorted(maps.Keys(w.expiry))
}

// mark marks the n-th machine that runs.
func (w *workload) mark(n int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	var on []string
	for id, m := range w.by {
		if m.off.IsZero() {
			on = append(on, id)
		}
	}
	if len(on) > 0 {
		slices.Sort(on)
		w.by[on[n%len(on)]].marked = true
	}
}

// marked are the provider keys of the machines that are marked.
func (w *workload) marked() map[string]bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	keys := map[string]bool{}
	for _, m := range w.by {
		if m.marked {
			keys[m.key] = true
		}
	}
	return keys
}

// until sets one of the times at which something is over.
func (w *workload) until(which *time.Time, d time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	*which = time.Now().Add(d)
}

// revive is a new process that asks.
func (w *workload) revive() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.dead = false
}

// die ends the process that asks.
func (w *workload) die() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.dead = true
}

// begun gives the steps that were begun since it was asked last.
func (w *workload) begun() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	list := w.writes
	w.writes = nil
	return list
}
