// Package questions has the gates of a scenario's policy asked, and plays what they ask.
package questions

import (
	"cmp"
	"context"
	"fmt"
	"hash/fnv"
	"slices"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/muster-project/muster/kube/policy/gates"
	"github.com/muster-project/muster/kube/policy/gates/asker"
	"github.com/muster-project/muster/test/explore/script"
)

// Options say who asks what.
type Options struct {
	// Of names the process, Kind is that of its pools.
	Of, Kind string
	Gates    []script.Gate
	// Began is the beginning of the scenario. Stir ends its sleep.
	Began time.Time
	Stir  func()
}

// Questions has the gates asked of one process, in goroutines of its own. What they do meanwhile is taken up between two passes, so that
// one seed gives one trace: an answer never comes at the moment of anything else, because it takes an odd number of nanoseconds.
type Questions struct {
	Options
	// Asker is what the process asks with; nil if it asks nothing.
	Asker *asker.Asker
	// Stop ends it.
	Stop context.CancelFunc

	mu sync.Mutex
	// asked counts the asks of each gate, answers are all that came, and told the number of those that were taken up.
	asked   map[string]int
	answers []answered
	told    int
	// woken are the pools that are to be reconciled.
	woken map[types.NamespacedName]bool
}

// answered is an answer to a gate.
type answered struct {
	at      time.Time
	gate    string
	answer  script.Answer
	verdict gates.Verdict
}

// New returns the questions of a new process. They end with the context.
func New(ctx context.Context, o Options) (*Questions, error) {
	q := &Questions{Options: o, Stop: func() {}, asked: map[string]int{}, woken: map[types.NamespacedName]bool{}}
	if len(o.Gates) == 0 {
		return q, nil
	}
	ctx, stop := context.WithCancel(ctx)
	q.Asker, q.Stop = asker.New(q.ask, nil), stop
	if err := q.Asker.Source(o.Kind).Start(ctx, &woken{of: q}); err != nil {
		return q, fmt.Errorf("watch the gates: %w", err)
	}
	go func() { _ = q.Asker.Start(ctx) }()
	return q, nil
}

// woken is a work queue to which pools are added whose gates have changed.
type woken struct {
	workqueue.TypedRateLimitingInterface[ctrl.Request]
	of *Questions
}

// Add has a pool reconciled.
func (q *woken) Add(r ctrl.Request) {
	q.of.mu.Lock()
	q.of.woken[r.NamespacedName] = true
	q.of.mu.Unlock()
	q.of.Stir()
}

const (
	// answersWithin is the time that most answers take at most, slowWithin that which slow ones do: some of them are too late.
	answersWithin, slowWithin = time.Second, 25 * time.Second
)

// ask answers a gate as the scenario has it, as what asks in life would: a source that does not answer is one that can't be reached.
func (q *Questions) ask(ctx context.Context, g gates.Gate) gates.Sample {
	takes, source := q.takes(g.Name), q.source(g.Name)
	answer := source.AnswerAt(time.Since(q.Began))
	switch answer {
	case script.Slow:
		takes = takes%slowWithin + slowWithin/5
	case script.Absent:
		takes = time.Hour
	default:
		takes %= answersWithin
	}
	sample := sampleOf(answer)
	timer := time.NewTimer(takes)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		sample = gates.UndecidedSample("the query has not been answered in time")
	case <-timer.C:
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	q.answers = append(q.answers, answered{time.Now(), g.Name, answer, sample.Verdict})
	return sample
}

// takes returns how long the next answer to a gate may take, which differs from all others.
func (q *Questions) takes(gate string) time.Duration {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.asked[gate]++
	h := fnv.New64a()
	_, _ = fmt.Fprintln(h, q.Of, gate, q.asked[gate])
	return time.Duration(h.Sum64()>>1) | 1
}

// source returns the gate as the scenario has it.
func (q *Questions) source(name string) script.Gate {
	return q.Gates[slices.IndexFunc(q.Gates, func(g script.Gate) bool { return g.Name == name })]
}

// sampleOf returns what an answer says.
func sampleOf(a script.Answer) gates.Sample {
	switch a {
	case script.Negative:
		return gates.Sample{Verdict: gates.Negative, Value: "0.5", Message: "success is false: result < 0.01"}
	case script.NoData:
		return gates.UndecidedSample("the query returned no data")
	case script.Failing:
		return gates.UndecidedSample("the server answered with 503")
	}
	return gates.Sample{Verdict: gates.Positive, Value: "0.001", Message: "success is true: result < 0.01"}
}

// TakeUp returns the answers that came since its last call, in words, and the pools that are to be reconciled. It is to be called while
// nothing is under way at this moment.
func (q *Questions) TakeUp() (answers []string, woken map[types.NamespacedName]bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	came := q.answers[q.told:]
	slices.SortStableFunc(came, func(a, b answered) int { return cmp.Or(a.at.Compare(b.at), cmp.Compare(a.gate, b.gate)) })
	for _, a := range came {
		answers = append(answers, fmt.Sprintf("%s %s: %s", a.gate, a.answer, a.verdict))
	}
	q.told = len(q.answers)
	woken, q.woken = q.woken, map[types.NamespacedName]bool{}
	return answers, woken
}

// Passed reports whether a gate counted as passed at a moment of a span, by what this process was told.
func (q *Questions) Passed(g script.Gate, from, to time.Time) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	ends := to
	for k := len(q.answers) - 1; k >= 0; k-- {
		a := q.answers[k]
		if a.gate != g.Name || a.at.After(to) {
			continue
		}
		until := a.at.Add(answersLast * g.Interval)
		if a.verdict == gates.Positive && !until.Before(from) && !ends.Before(from) {
			return true
		}
		if !a.at.After(from) {
			return false
		}
		ends = a.at
	}
	return false
}

// answersLast is the number of intervals after which an answer counts no more, as the project promises it.
const answersLast = 3
