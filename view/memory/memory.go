// Package memory keeps what the passes of this process have seen of each pool: the outcome of the last one, and the counts of the last
// hours. Both are bounded.
package memory

import (
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/muster-project/muster/engine"
	"github.com/muster-project/muster/pool"
)

const (
	// Span is the time for which counts are kept.
	Span = 6 * time.Hour
	// maxSamples bounds the samples of one pool. A sample is taken only when a count has changed: a rollout of 50 machines has about 200.
	maxSamples = 300
	// maxPools bounds the number of pools. Those beyond it are not remembered.
	maxPools = 20000
)

// Key identifies a pool by its infrastructure object.
type Key struct{ Kind, Namespace, Name string }

// Sample holds the counts of a pool from a time on.
type Sample struct {
	At       time.Time `json:"at"`
	Desired  int32     `json:"desired"`
	Ready    int32     `json:"ready"`
	UpToDate int32     `json:"upToDate"`
}

// Pass is the last pass over a pool.
type Pass struct {
	At      time.Time
	Outcome engine.Outcome
	// Later is the error of a later pass, which could not observe the cloud; nil if there was none.
	Later error
}

// Memory is safe for concurrent use. A nil Memory remembers nothing.
type Memory struct {
	mu    sync.Mutex
	pools map[Key]*remembered
}

type remembered struct {
	last    Pass
	seen    Pass // the last one that observed the cloud
	samples []Sample
}

// New returns an empty Memory.
func New() *Memory { return &Memory{pools: map[Key]*remembered{}} }

// Observe remembers a pass.
func (m *Memory) Observe(k Key, out engine.Outcome, at time.Time) {
	if m == nil {
		return
	}
	var s Sample
	if out.Seen {
		s = sampleOf(out, at)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	r := m.pools[k]
	if r == nil {
		if len(m.pools) >= maxPools {
			return
		}
		r = &remembered{}
		m.pools[k] = r
	}
	r.last = Pass{At: at, Outcome: out}
	if out.Seen {
		r.seen = r.last
		r.add(s)
	}
}

// Forget drops a pool that is gone.
func (m *Memory) Forget(k Key) {
	if m == nil {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.pools, k)
}

// Last returns the last pass over a pool that observed its cloud, with the error of a later one. It returns false if there was none.
func (m *Memory) Last(k Key) (Pass, bool) {
	if m == nil {
		return Pass{}, false
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	r := m.pools[k]
	if r == nil {
		return Pass{}, false
	}
	p := r.seen
	p.Later = r.last.Outcome.Err
	return p, p.Outcome.Seen
}

// Refusal is an error of a cloud, in its own words.
type Refusal struct {
	At time.Time `json:"at"`
	// Step names the refused operation: an observation, or a step. It is the reason of an issue that an observation has found: a launch that
	// failed, an image that does not exist.
	Step    string `json:"step"`
	Message string `json:"message"`
}

// Refusals returns what the cloud refused of a pool when the last pass was made: steps in their order, then issues.
func (m *Memory) Refusals(k Key) []Refusal {
	if m == nil {
		return nil
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	r := m.pools[k]
	if r == nil {
		return nil
	}
	var list []Refusal
	if err := r.last.Outcome.Err; err != nil {
		list = append(list, Refusal{At: r.last.At, Step: "Observe", Message: err.Error()})
	}
	for _, step := range slices.Sorted(maps.Keys(r.last.Outcome.Refused)) {
		list = append(list, Refusal{At: r.last.At, Step: string(step), Message: r.last.Outcome.Refused[step].Error()})
	}
	for _, issue := range r.last.Outcome.Observed.Issues {
		list = append(list, Refusal{At: r.last.At, Step: issue.Reason, Message: issue.Message})
	}
	return list
}

// Samples returns the counts of a pool, oldest first.
func (m *Memory) Samples(k Key) []Sample {
	if m == nil {
		return nil
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	r := m.pools[k]
	if r == nil {
		return nil
	}
	return slices.Clone(r.samples)
}

// add appends a sample that differs from the last one, and drops those before Span except the one that holds at its beginning.
func (r *remembered) add(s Sample) {
	if n := len(r.samples); n > 0 {
		last := r.samples[n-1]
		if last.Desired == s.Desired && last.Ready == s.Ready && last.UpToDate == s.UpToDate {
			return
		}
	}
	r.samples = append(r.samples, s)
	drop := max(0, len(r.samples)-maxSamples)
	for drop+1 < len(r.samples) && r.samples[drop+1].At.Before(s.At.Add(-Span)) {
		drop++
	}
	r.samples = slices.Delete(r.samples, 0, drop)
}

// sampleOf counts the machines that are not on their way out.
func sampleOf(out engine.Outcome, at time.Time) Sample {
	s := Sample{At: at, Desired: int32(min(out.Plan.Budget.Desired, 1<<31-1))}
	for _, i := range out.Observed.Instances {
		if i.State == pool.Terminating {
			continue
		}
		if i.Node != nil && i.Node.Ready {
			s.Ready++
		}
		if i.Template.Same(out.Observed.Wanted) {
			s.UpToDate++
		}
	}
	return s
}
