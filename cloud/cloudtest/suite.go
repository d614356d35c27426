// Package cloudtest is the contract suite: what every driver must do, whatever its cloud. It drives a driver, with its real
// SDK, against the simulator of its cloud, in virtual time, with faults and with out-of-band changes. The simulator declares what can
// be done by hand, how the cloud words errors and how its groups behave (sim.Capabilities); the driver declares what it can do
// (pool.Traits). A new cloud hands over a Suite: how to make the simulator and the driver, one specification and a few changes of it.
package cloudtest

import (
	"context"
	"net/http"
	"testing"
	"testing/synctest"

	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/pool"
	"github.com/muster-project/muster/sim"
)

// Cloud is a simulated cloud, as every simulator has it.
type Cloud interface {
	http.Handler
	// Faults are the rules in force.
	Faults() *sim.Faults
	// Calls is the log of all requests.
	Calls() *sim.Calls
	// Capabilities holds the out-of-band actions of the cloud, how it words errors and how its groups behave.
	Capabilities() sim.Capabilities
	Close() error
}

// Specification checks requests and replies against the published specification of a cloud.
type Specification interface {
	// Request returns an error if a request and its body violate the specification.
	Request(r *http.Request, body string) error
	// Answer returns an error if the reply to a request, whose body is answer, violates the specification.
	Answer(r *http.Request, body string, reply *http.Response, answer []byte) error
}

// Suite tells the contract suite what it needs to know of one driver and its cloud. S is the specification of its pools, as for
// cloud.Driver.
type Suite[S any] struct {
	// Cloud makes an empty simulated cloud, with a network and whatever else pools need, and with the switches that are on.
	Cloud func(on sim.Switches) (Cloud, error)
	// Switches are those of the services that pools are made of.
	Switches []sim.Switch
	// Driver makes a driver that has seen nothing, whose requests go over the wire.
	Driver func(wire http.RoundTripper) (cloud.Driver[S], error)
	// Published checks requests and answers against what the services publish; nil where the simulator alone checks them.
	Published Specification
	// Pool makes a specification that can be met as it is, for sizes from 0 to Many, with machines of this version of
	// Kubernetes.
	Pool              func() S
	KubernetesVersion string
	// FailureDomains are those of the core object; none where the specification names zones itself.
	FailureDomains []string
	// Changed wants other machines; Reshaped another group around the same machines, in every field that a group has;
	// Searching finds by their properties, several of each, all things that can be found so; nil where a specification names everything.
	Changed, Reshaped, Searching func(S) S
	// Upgrade upgrades the control plane and returns the version of Kubernetes that Changed wants too, where nothing else replaces machines
	// and no group can have another version than its control plane; nil elsewhere. Changed is nil then.
	Upgrade func(Cloud) (version string, err error)
	// Needy wants a group that needs something beside its template which does not exist; nil where groups never do.
	Needy func(S) S
	// Broken names, by the field that is to be blamed, something that the cloud does not have.
	Broken map[string]func(S) S
	// AskedTag is the key of a tag of groups that Reshaped asks for.
	AskedTag string
	// Spelling writes the owner tags that the driver puts on every group.
	Spelling cloud.Spelling
	// Many is more than the largest page of any list of the cloud holds. ManyInPage is the number of them in a small page, for a
	// cloud that throttles reading so many pages at once; zero is one.
	Many, ManyInPage int
	// TemplateName returns the name of a template that is an object of its own, named by its content: there is no default among such,
	// and none can be deleted while it is in use. Nil where all versions have the name of the group.
	TemplateName func(cloud.Owner, pool.Template) string
	// Name returns the name of an owner's group in the cloud; nil where that is the owner's resource name.
	Name func(cloud.Owner) string
	// GroupID returns what spec.providerID says of the group with a name, in the cloud's words.
	GroupID func(name string) string
	// Primary are the actions of reads that a look at an existing group can't do without. Any other that fails makes its own part unknown, not
	// the pool.
	Primary []string
	// Secondary are the actions of reads that a look at a pool without a group can do without too.
	Secondary []string
	// SteadyReads is the maximum number of requests for a look at a pool in which nothing changed.
	SteadyReads int

	// on are the switches that are on.
	on sim.Switches
}

// T is the part of *testing.T that cases use, so that a test can show that a suite fails.
type T interface {
	Helper()
	Context() context.Context
	Errorf(format string, args ...any)
	Fatalf(format string, args ...any)
}

// Case is one clause of the contract.
type Case[S any] struct {
	// Name is the clause, in one sentence.
	Name string
	play func(player[S])
}

// Run drives the driver through the contract, each case in a cloud and in a bubble of virtual time of its own, and those that need no fault
// once more under some of the switches. With -short it leaves out
// those that play other cases many times over, which take most of the time.
func (s Suite[S]) Run(t *testing.T) {
	for _, c := range Cases[S]() {
		if testing.Short() && (c.Faulty() || repeated[c.Name]) {
			continue
		}
		t.Run(c.Name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) { s.Play(t, c) })
		})
		s.runSwitched(t, c)
	}
}

// Play plays one case. It must run in a bubble of virtual time.
func (s Suite[S]) Play(t T, c Case[S]) {
	t.Helper()
	st := &stage[S]{suite: s, declared: s.declared(t)}
	defer st.closeFrom(t, 0)
	c.play(st.player(t))
}

// Cases are all clauses of the contract.
func Cases[S any]() []Case[S] {
	return []Case[S]{
		{"a pool that does not exist is observed as nothing, and nothing is written", nothing[S]},
		{caseCreated, created[S]},
		{caseSteady, steady[S]},
		{caseForgetful, forgetful[S]},
		{"an observation may be as old as the pass is content with", aged[S]},
		{"a look-up that is remembered is not made again", remembered[S]},
		{caseRotation, rotation[S]},
		{caseConfiguration, configuration[S]},
		{"another template makes instances stale, and the group launches from it", changed[S]},
		{caseDrift, drift[S]},
		{caseChosen, removed[S]},
		{caseHeld, held[S]},
		{caseTaken, takenByCloud[S]},
		{caseOtherRoll, otherRoll[S]},
		{caseUnjoined, unjoinedRoll[S]},
		{caseNotOurs, notOurs[S]},
		{caseDeleted, deleted[S]},
		{caseTwice, twice[S]},
		{caseLost, lostReplies[S]},
		{caseStale, staleReads[S]},
		{caseUnheard, unavailableSteps[S]},
		{caseThrottled, throttledSteps[S]},
		{caseDenied, deniedSteps[S]},
		{caseFailedLook, unavailableLooks[S]},
		{caseThrottledLook, throttledLooks[S]},
		{caseDeniedLook, deniedLooks[S]},
		{caseSecondary, failedSecondaryReads[S]},
		{caseCapacity, capacity[S]},
		{caseIgnored, ignored[S]},
		{caseInvalid, invalid[S]},
		{"a specification that can't be met disturbs no group that exists", broken[S]},
		{casePages, pages[S]},
		{casePagedSteps, pagedSteps[S]},
		{caseMany, many[S]},
		{caseForeignGroup, foreignGroup[S]},
		{caseNamedGroup, namedGroup[S]},
		{caseAgain, appliedAgain[S]},
		{caseClaimed, claimed[S]},
		{"a group of another tool tells whether it may be adopted", consented[S]},
		{"a group of another tool is adopted by the grant that names it, and by no other", granted[S]},
		{"a group whose tags name another object is that object's", renamed[S]},
		{"a template that has our name and not our tag is left alone", foreignTemplate[S]},
		{caseSize, sizeByHand[S]},
		{caseByHand, changedByHand[S]},
		{"a template that was changed by hand is made right again", templateByHand[S]},
		{"a group that was deleted by hand is made again", groupDeleted[S]},
		{"a template that was deleted by hand is made again", templateDeleted[S]},
		{"a version that was deleted by hand leaves its instances unknown, and nothing else", versionDeleted[S]},
		{"an instance that was deleted by hand is gone, and its like comes", instanceDeleted[S]},
		{caseSecret, secrets[S]},
	}
}

// faulty are the cases in which what goes wrong is the wire's or the cloud's doing: they send what the others send, many times over.
var faulty = map[string]bool{
	caseLost: true, caseStale: true, caseUnheard: true, caseThrottled: true, caseDenied: true, caseFailedLook: true,
	caseThrottledLook: true, caseDeniedLook: true, caseSecondary: true, caseCapacity: true, caseIgnored: true,
}

// Faulty reports whether the case is about requests that fail, and sends none that other cases do not send.
func (c Case[S]) Faulty() bool { return faulty[c.Name] }

// repeated are the cases without faults that send what the others send, many times over.
var repeated = map[string]bool{caseTwice: true, casePagedSteps: true, caseMany: true}

// The cases that are named elsewhere: mistakes are told by them, or -short leaves them out.
const (
	caseCreated       = "what was created is observed exactly"
	caseSteady        = "a pool at rest costs few reads and no writes"
	caseForgetful     = "a driver that has seen nothing sees the same"
	caseRotation      = "bootstrap data alone makes a version and nothing stale"
	caseDrift         = "drift is named, and repaired without touching the size"
	caseChosen        = "exactly the chosen instance goes"
	caseHeld          = "what is on its way out is held until it is released, as long as that is asked for again"
	caseTaken         = "what the cloud takes by itself is held too, and it is said why"
	caseOtherRoll     = "a roll that was not named is not cancelled"
	caseUnjoined      = "a roll is shown with what it launches, so that one whose machines never join is cancelled"
	caseNotOurs       = "steps of others are refused"
	caseDeleted       = "a pool is deleted without a trace"
	caseUnheard       = "a step that was not heard is said to be unknown, and done when it is asked for again"
	caseFailedLook    = "a look that failed says so, and is no empty cloud"
	caseThrottledLook = "a look that is throttled says so and for how long, and is no empty cloud"
	caseTwice         = "each step twice does it once"
	caseLost          = "what happened is found when its reply was lost, and does not happen twice"
	caseStale         = "reads that are behind our own writes make nothing twice and take nothing else away"
	caseThrottled     = "a step that is throttled says for how long, does nothing, and works afterwards"
	caseDenied        = "a step that is denied says so in the cloud's words, does nothing, and works once it is allowed"
	caseDeniedLook    = "a look that is denied says so in the cloud's words, and is no empty cloud"
	caseSecondary     = "a read that a look can do without fails, and the rest of the pool is observed"
	caseCapacity      = "capacity that is refused is told in the cloud's words, with the zone, and heals"
	caseIgnored       = "what the cloud accepts and ignores differs still, and is no error"
	caseInvalid       = "a specification that can't be met is refused with its field"
	casePages         = "pages of one show the same"
	casePagedSteps    = "every step works with pages of one"
	caseMany          = "more instances and versions than any page holds are all seen"
	caseClaimed       = "an owner ID that another object claims gives it nothing"
	caseForeignGroup  = "a group that has our name and not our tag is left alone"
	caseNamedGroup    = "a group that the object names and that has not our tag is left alone, and none is created beside it"
	caseAgain         = "a pool that was applied again without its owner ID gets no second group, and takes its own back"
	caseSize          = "a size that was set by hand is reported and left alone"
	caseByHand        = "what was changed by hand on a group is named and repaired"
	caseSecret        = "bootstrap data is in no observation and no error"
)
