package azure

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/azure/session"
	"github.com/muster-project/muster/cloud/driverkit"
	"github.com/muster-project/muster/pool"
)

// namedMost is how many machines an issue names.
const namedMost = 3

// readWords asks why a scale set failed, where it did: itself, as far as its mode knows that question, and the last operation that is
// remembered. The answers do not change with time.
func (p *pass) readWords(ctx context.Context) []pool.Cause {
	is := p.memory.set.is
	if !gaveUp(stateOf(is)) {
		return nil
	}
	etag := deref(is.Etag)
	if known := p.memory.words; !known.at.IsZero() && known.etag == etag && p.now.Sub(known.at) < wordsPeriod {
		return known.issues
	}
	issues, complete := p.viewWords(ctx)
	told, answered := p.operationWords(ctx)
	issues = unique(append(issues, told...))
	if len(issues) == 0 {
		issues = []pool.Cause{{Reason: reasonFailed, Message: fmt.Sprintf("Azure says of scale set %s that its last operation has failed, and not why", p.t.name)}}
	}
	if complete && answered {
		p.memory.words = wordsRead{issues: issues, etag: etag, at: p.now}
	}
	return issues
}

// reasonFailed is the reason of a scale set that has failed and does not say why.
const reasonFailed = "ScaleSetFailed"

// toldOnce are the issues of a scale set and of its machines, without what the machines say better.
func toldOnce(ofSet, ofMachines []pool.Cause) []pool.Cause {
	var out []pool.Cause
	for _, c := range ofSet {
		better := slices.ContainsFunc(ofMachines, func(m pool.Cause) bool {
			return c.Reason == reasonFailed || strings.HasSuffix(m.Message, c.Message)
		})
		if !better {
			out = append(out, c)
		}
	}
	return append(out, ofMachines...)
}

// gaveUp reports whether an operation on the scale set has ended without success.
func gaveUp(state string) bool { return state == stateFailed || state == stateCanceled }

// viewWords are what the scale set's own view says. Flexible ones have none. It is false when that could not be read.
func (p *pass) viewWords(ctx context.Context) ([]pool.Cause, bool) {
	if flexible(p.memory.set.is) {
		return nil, true
	}
	view, err := p.c.ScaleSets.GetInstanceView(ctx, p.t.cluster.ResourceGroup, p.t.name, nil)
	if err = session.Refusal(err, p.now); err != nil {
		return []pool.Cause{driverkit.CauseOf(err)}, false
	}
	var issues []pool.Cause
	for _, status := range view.Statuses {
		if cause, ok := session.StatusIssue(status); ok {
			issues = append(issues, cause)
		}
	}
	return issues, true
}

// operationWords asks the last operation that is remembered how it ended, by us or on the object, in one request. It is false when
// there was no answer.
func (p *pass) operationWords(ctx context.Context) ([]pool.Cause, bool) {
	last := len(p.memory.operations) - 1
	if last < 0 {
		return nil, true
	}
	outcome, err := p.c.Poll(ctx, p.memory.operations[last].Token, p.now)
	switch {
	case err != nil && cloud.KindOf(err) != cloud.Throttled && cloud.KindOf(err) != cloud.Unavailable:
		// What can't be asked about now never can.
		p.memory.operations = p.memory.operations[:last]
		return nil, true
	case err != nil || !outcome.Done:
		return nil, false
	case outcome.Failed == nil:
		p.memory.operations = p.memory.operations[:last]
		return nil, true
	}
	return []pool.Cause{session.IssueOf(outcome.Failed)}, true
}

// machineIssues are why machines failed, in Azure's words: those that failed alike in one sentence.
func (p *pass) machineIssues() []pool.Cause {
	var causes []pool.Cause
	of := map[pool.Cause][]string{}
	for _, m := range p.memory.set.machines {
		for _, cause := range p.failures(m) {
			if of[cause] == nil {
				causes = append(causes, cause)
			}
			of[cause] = append(of[cause], m.id)
		}
	}
	for k, cause := range causes {
		causes[k].Message = named(of[cause]) + ": " + cause.Message
	}
	return causes
}

// failures are why a machine failed.
func (p *pass) failures(m machine) []pool.Cause {
	if m.state() != pool.Failed {
		return nil
	}
	var list []pool.Cause
	for _, status := range m.statuses {
		if cause, ok := session.StatusIssue(status); ok {
			list = append(list, cause)
		}
	}
	switch {
	case len(list) > 0:
		return unique(list)
	case m.power == powerDeallocated && p.spot():
		return []pool.Cause{{Reason: "SpotEvicted", Message: "deallocated, as Azure does with a spot machine whose capacity it takes back; it is replaced"}}
	case !gaveUp(m.provisioning):
		return []pool.Cause{{Reason: "NotRunning", Message: "its power state is " + m.power}}
	default:
		return []pool.Cause{{Reason: "ProvisioningFailed", Message: "its provisioning state is " + m.provisioning + ", and Azure does not say why"}}
	}
}

// spot reports whether Azure may take machines back.
func (p *pass) spot() bool { return p.t.pool.Template.SpotVMOptions != nil }

// named are machines in a sentence, not too many of them.
func named(ids []string) string {
	what := "machine "
	if len(ids) > 1 {
		what = "machines "
	}
	if len(ids) <= namedMost {
		return what + strings.Join(ids, ", ")
	}
	return fmt.Sprintf("%s%s and %d more", what, strings.Join(ids[:namedMost], ", "), len(ids)-namedMost)
}

// opOf is the call that was refused.
func opOf(err error) string {
	var e *cloud.Error
	if errors.As(err, &e) {
		return e.Op
	}
	return ""
}
