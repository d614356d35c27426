package engine

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/pool"
)

const (
	// holdsEvery is the interval at which the pods of machines are read again that a pod keeps from being replaced.
	holdsEvery = time.Minute
	// maxHoldsRead is the number of nodes whose pods are read at a time beside those that a step takes, and maxHoldRounds how often a pass
	// reads pods and decides again.
	maxHoldsRead, maxHoldRounds = 20, 5
)

// podHolds are the answers to whether pods keep machines, by the ID of the instance.
type podHolds map[string]podHold

// podHold is one answer and its time.
type podHold struct {
	pool.PodHold
	at time.Time
}

// attach tells instances the answers of this pass and of earlier ones.
func (h podHolds) attach(instances []pool.Instance) {
	for _, i := range instances {
		if i.Node != nil {
			i.Node.Pods = h[i.ID].PodHold
		}
	}
}

// readPodHolds has a rollout begin no replacement of a machine that serves unless its pods have been read in this pass, and none of them
// keeps it: it reads those of the machines that the plan takes or waits for, and now and then those of machines that were kept, and decides
// again.
func (e *Engine[S]) readPodHolds(ctx context.Context, f Input[S], n Nodes, m *record, out *Outcome) {
	if !f.Desired.PodsHold {
		m.podHolds = nil
		return
	}
	m.podHolds = m.podHolds.of(out.Plan.PodReads.Of)
	for round := range maxHoldRounds {
		due := m.podHolds.due(out.Plan, f.Now, round == 0)
		if len(due) == 0 {
			return
		}
		answered := m.podHolds.read(ctx, n, out.Observed.Instances, due, f.Now)
		if !answered || round == maxHoldRounds-1 {
			maps.DeleteFunc(m.podHolds, func(_ string, answer podHold) bool { return !answer.at.Equal(f.Now) })
		}
		m.podHolds.attach(out.Observed.Instances)
		out.Plan = e.decide(f, out.Observed, m, f.Now)
		if !answered {
			return
		}
	}
}

// of returns the answers for some instances: those of others, which no rollout is to replace, would grow old.
func (h podHolds) of(ids []string) podHolds {
	left := podHolds{}
	for _, id := range ids {
		if answer, ok := h[id]; ok {
			left[id] = answer
		}
	}
	return left
}

// due returns the instances whose pods are to be read now: those that a plan takes, unless that was done in this pass; those that it waits
// for; and, if again is true, those that were kept when they were read last.
func (h podHolds) due(p pool.Plan, now time.Time, again bool) map[string]bool {
	due := map[string]bool{}
	for _, id := range taken(p) {
		if slices.Contains(p.PodReads.Of, id) && !h[id].at.Equal(now) {
			due[id] = true
		}
	}
	left := maxHoldsRead
	for _, id := range p.PodReads.Of {
		answer := h[id]
		unread := p.PodReads.Next && answer.at.IsZero()
		if left > 0 && (unread || again && answer.By != "" && !now.Before(answer.at.Add(holdsEvery))) {
			due[id] = true
			left--
		}
	}
	return due
}

// taken returns the instances that a plan takes out of service.
func taken(p pool.Plan) (ids []string) {
	if p.Step == nil || !slices.Contains(takingSteps, p.Step.Kind) {
		return nil
	}
	for _, target := range p.Step.Targets {
		ids = append(ids, target.ID)
	}
	return ids
}

// read reads the pods of the nodes of some instances, and reports whether the workload cluster has answered. Those that could not be read
// are not known any more.
func (h podHolds) read(ctx context.Context, n Nodes, instances []pool.Instance, due map[string]bool, now time.Time) bool {
	keys := map[string]string{}
	for _, i := range instances {
		if key := cloud.ProviderKey(i.ProviderID); key != "" && due[i.ID] {
			keys[i.ID] = key
		}
	}
	known, err := n.PodHolds(ctx, slices.Sorted(maps.Values(keys)))
	if err != nil {
		known = nil
	}
	for id := range due {
		delete(h, id)
		if answer, ok := known[keys[id]]; ok {
			answer.Known = true
			h[id] = podHold{answer, now}
		}
	}
	return err == nil
}
