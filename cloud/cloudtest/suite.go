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
	// Needy returns a specification whose group lacks a prerequisite; nil if groups have none.
	Needy func(S) S
	// Broken names, by the field that is to be blamed, something that the cloud does not have.
	Broken map[string]func(S) S
	// UserTag is the key of a tag of groups that Reshaped asks for.
	UserTag string
	// Spelling writes the owner tags that the driver puts on every group.
	Spelling cloud.Spelling
	// Many is more than the largest page of any list of the cloud holds. ManyInPage is the number of them in a small page, for a
	// cloud that throttles reading so many pages at once; zero is one.
	Many, ManyInPage int
	// TemplateName returns the name of a template that is an object of its own, named by its content: there is no default among such,
	// and none can be deleted while it is in use. Nil where all versions have the name of the group.
	TemplateName func(cloud.Owner, pool.Template) string
	// NamesRepeat is true if several templates can have one name: another owner's of the same name is no conflict.
	NamesRepeat bool
	// Name returns the name of an owner's group in the cloud; nil where that is the owner's resource name.
	Name func(cloud.Owner) string
	// GroupID returns what spec.providerID says of the group with a name, in the cloud's words.
	GroupID func(name string) string
	// ByID is true if the cloud gives groups identifiers of its own: GroupID gets that of a group instead of its name.
	ByID bool
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
	// Name states the clause in CamelCase, as a fact.
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
		{"NonexistentPoolIsEmptyAndUnwritten", nothing[S]},
		{caseCreated, created[S]},
		{caseSteady, steady[S]},
		{caseForgetful, forgetful[S]},
		{"ObservationIsNoOlderThanMaxAge", aged[S]},
		{"RememberedLookupIsNotRepeated", remembered[S]},
		{caseRotation, rotation[S]},
		{caseConfiguration, configuration[S]},
		{"ChangedTemplateMakesInstancesStale", changed[S]},
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
		{"UnsatisfiableSpecificationKeepsExistingGroup", broken[S]},
		{casePages, pages[S]},
		{casePagedSteps, pagedSteps[S]},
		{caseMany, many[S]},
		{caseForeignGroup, foreignGroup[S]},
		{caseNamedGroup, namedGroup[S]},
		{caseAgain, appliedAgain[S]},
		{caseClaimed, claimed[S]},
		{"ForeignGroupReportsWhetherItMayBeAdopted", consented[S]},
		{"ForeignGroupIsAdoptedByItsGrantOnly", granted[S]},
		{"GroupBelongsToTheObjectInItsTags", renamed[S]},
		{"ForeignTemplateOfSameNameIsLeftAlone", foreignTemplate[S]},
		{caseSize, sizeByHand[S]},
		{caseByHand, changedByHand[S]},
		{"TemplateChangedOutOfBandIsRepaired", templateByHand[S]},
		{"GroupDeletedOutOfBandIsRecreated", groupDeleted[S]},
		{"TemplateDeletedOutOfBandIsRecreated", templateDeleted[S]},
		{"VersionDeletedOutOfBandMakesOnlyItsInstancesUnknown", versionDeleted[S]},
		{"InstanceDeletedOutOfBand", instanceDeleted[S]},
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

// The cases that are named elsewhere: they detect a mistake, or -short leaves them out.
const (
	caseCreated       = "CreatedGroupIsObservedExactly"
	caseSteady        = "SteadyPoolNeedsFewReadsAndNoWrites"
	caseForgetful     = "RestartedDriverObservesTheSame"
	caseRotation      = "RotatedBootstrapDataMakesNoInstanceStale"
	caseDrift         = "DriftIsReportedAndRepairedAtTheSameSize"
	caseChosen        = "OnlyTheChosenInstanceIsRemoved"
	caseHeld          = "TerminatingInstanceIsHeldUntilReleased"
	caseTaken         = "InstanceTerminatedByTheCloudIsHeldWithReason"
	caseOtherRoll     = "UnnamedRolloutIsNotCancelled"
	caseUnjoined      = "RolloutReportsItsTemplate"
	caseNotOurs       = "UnsupportedStepIsRejected"
	caseDeleted       = "DeletionLeavesNothingBehind"
	caseUnheard       = "UnavailableStepIsUnknownAndSucceedsOnRetry"
	caseFailedLook    = "FailedObservationIsAnError"
	caseThrottledLook = "ThrottledObservationIsAnErrorWithRetryAfter"
	caseTwice         = "RepeatedStepTakesEffectOnce"
	caseLost          = "LostReplyIsRecognizedAndNotRepeated"
	caseStale         = "StaleReadsCauseNoDuplicateOrWrongRemoval"
	caseThrottled     = "ThrottledStepReturnsRetryAfter"
	caseDenied        = "DeniedStepReturnsTheCloudsMessage"
	caseDeniedLook    = "DeniedObservationIsAnErrorWithTheCloudsMessage"
	caseSecondary     = "FailedSecondaryReadKeepsTheRestOfTheObservation"
	caseCapacity      = "LackOfCapacityIsReportedWithTheZone"
	caseIgnored       = "IgnoredWriteRemainsDrift"
	caseInvalid       = "InvalidSpecificationIsRejectedWithItsField"
	casePages         = "PagesOfOneItemAreReadCompletely"
	casePagedSteps    = "StepsWorkWithPagesOfOneItem"
	caseMany          = "MoreItemsThanAPageAreObserved"
	caseClaimed       = "ClaimedOwnerIDGrantsNothing"
	caseForeignGroup  = "ForeignGroupOfSameNameIsLeftAlone"
	caseNamedGroup    = "NamedForeignGroupIsLeftAloneAndNoneIsCreated"
	caseAgain         = "ReappliedPoolRegainsItsGroup"
	caseSize          = "SizeSetOutOfBandIsReportedAndKept"
	caseByHand        = "GroupChangedOutOfBandIsReportedAndRepaired"
	caseSecret        = "BootstrapDataIsNeverExposed"
)
