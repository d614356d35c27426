package sim

import (
	"slices"
	"sync"
	"time"
)

// callLimit bounds how many calls are remembered one by one; the counts go on.
const callLimit = 10000

// Call is one request that a simulated cloud has answered.
type Call struct {
	// Seq numbers the calls of this process from 1.
	Seq int64 `json:"seq"`
	// Service and Action as the cloud names them.
	Service string `json:"service"`
	Action  string `json:"action"`
	// Resource is the name or ID that the request is about, empty for none or many.
	Resource string `json:"resource,omitempty"`
	// Mutating is whether the action writes.
	Mutating bool `json:"mutating"`
	// Code is the cloud's error code, empty for success.
	Code string `json:"code,omitempty"`
	// Fault names the fault that was played, empty for none.
	Fault string `json:"fault,omitempty"`
	// At is when the request came, Took how long the answer was in the making.
	At   time.Time     `json:"at"`
	Took time.Duration `json:"took"`
}

// Calls is the log of all requests, for tests that count.
type Calls struct {
	mu     sync.Mutex
	seq    int64
	recent []Call
	counts map[string]map[string]int
	writes int
	total  int
}

// Next numbers a call that begins.
func (c *Calls) Next() int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.seq++
	return c.seq
}

// Add notes a call that was answered.
func (c *Calls) Add(call Call) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.counts == nil {
		c.counts = map[string]map[string]int{}
	}
	if c.counts[call.Service] == nil {
		c.counts[call.Service] = map[string]int{}
	}
	c.counts[call.Service][call.Action]++
	c.total++
	if call.Mutating {
		c.writes++
	}
	c.recent = append(c.recent, call)
	if len(c.recent) > callLimit {
		c.recent = slices.Delete(c.recent, 0, len(c.recent)-callLimit)
	}
}

// CallSummary is what was asked since the last reset.
type CallSummary struct {
	// Total is all calls, Mutating those that write, refused ones included.
	Total    int `json:"total"`
	Mutating int `json:"mutating"`
	// Counts is the number of calls by service and action.
	Counts map[string]map[string]int `json:"counts"`
	// Calls are the calls themselves, oldest first, as many as are remembered.
	Calls []Call `json:"calls"`
}

// Summary is what was asked since the last reset; its calls are those after the sequence number.
func (c *Calls) Summary(after int64) CallSummary {
	c.mu.Lock()
	defer c.mu.Unlock()
	out := CallSummary{Total: c.total, Mutating: c.writes, Counts: map[string]map[string]int{}, Calls: []Call{}}
	for service, actions := range c.counts {
		out.Counts[service] = map[string]int{}
		for action, n := range actions {
			out.Counts[service][action] = n
		}
	}
	for _, call := range c.recent {
		if call.Seq > after {
			out.Calls = append(out.Calls, call)
		}
	}
	return out
}

// Count is how often the action of the service was asked for since the last reset.
func (c *Calls) Count(service, action string) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.counts[service][action]
}

// Reset forgets all calls; the numbering goes on.
func (c *Calls) Reset() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.recent, c.counts, c.total, c.writes = nil, nil, 0, 0
}
