package script

import (
	"math/rand/v2"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/muster-project/muster/kube/infrapool/watch"
	"github.com/muster-project/muster/sim"
	"github.com/muster-project/muster/test/explore/machinecontroller"
)

// Kind is all that is of one kind of pool, but for what plays it. What is optional is nil or empty where a kind has none of it.
type Kind struct {
	// Name is the value of -kind.
	Name string
	// Claims reports whether a seed selects this kind; the first kind in the list that claims a seed gets it. It is nil for a kind that no
	// seed selects, so that the seeds of the other kinds keep their meaning.
	Claims func(seed uint64) bool
	// Salt makes its draws differ from those of other kinds.
	Salt uint64
	// Drawn draws a scenario from the odds. The caller sorts its events.
	Drawn func(*Drawing)
	Odds  Odds
	// Golden are its golden scenarios.
	Golden func() []Scenario

	// Schemes have the kinds of objects that are read and written, Objects are those of them whose status is a subresource.
	Schemes []func(*runtime.Scheme) error
	Objects []client.Object
	// Indexes are those of its adapters, Definitions the definitions that a management cluster has of its provider.
	Indexes     func() []watch.Index
	Definitions []Definition
	// Machines describes the infrastructure objects of single machines. HaveMachines reports in which scenarios they exist; nil means in all.
	// Both are optional.
	Machines     *machinecontroller.Infra
	HaveMachines func(Scenario) bool
	// Places is true if the cloud itself replaces a machine by another one with the same provider ID: a request for the former by name applies
	// to the latter.
	Places bool
	// Version is the Kubernetes version that a pool begins with.
	Version string
	// Bootstrap is bootstrap data with a token, where it is not that of kubeadm. Optional.
	Bootstrap func(token string) string
	// BadType is a type of machine whose image does not boot, so that it never joins.
	BadType string
	// Restarts is true where the cloud starts machines again that it has powered off.
	Restarts bool
	// FreesNames is true if Muster creates a group again when no Node is Ready that has the name of one of its machines. Elsewhere such a Node
	// has turned in life before the machine boots.
	FreesNames bool
	// OpensNodes is true if the cloud uncordons nodes by itself, also one that it recreates during a drain. The drain mark, which only counts
	// on cordoned nodes, may stay there.
	OpensNodes bool

	// OwnName is true if the group has the name of the infrastructure object. Otherwise the name follows from the owner.
	OwnName bool
	// OwnerTag and ClusterTag are the tags of groups that carry the owner ID and the name of the cluster, as the project promises them.
	// SurgeTag is the one that records how much of a size was added for a rollout; optional.
	OwnerTag, ClusterTag, SurgeTag string
	// LosesTag is true if users remove the owner tag as often as they change it.
	LosesTag bool
	// TheirPolicy is a policy that users attach to the roles of machines. Optional.
	TheirPolicy string
	// TheirID is the spec.providerID of the group of another tool, if the kind supports that. GroupOf returns the name of the group in such an
	// ID if it is not the last part. Both are optional.
	TheirID string
	GroupOf func(id string) string
	// AdoptName is the name of the group of another provider. NamesGroup is true if the object itself has that name.
	AdoptName  string
	NamesGroup bool
	// Reshapes lists the events of the kind after which the object may ask for other machines than those of a group that it adopts. Optional.
	Reshapes []What
	// OneEach ends the names of calls that change one machine each. Optional.
	OneEach string

	// Another turns a copy of the first pool's scenario into that of an additional pool. If it is nil, a world has one pool.
	Another func(*Scenario)
}

// Definition is the definition of a kind of objects, by the name of its resource and the version that has Cluster API's contract.
type Definition struct{ Name, Version string }

// Odds holds the events and faults of a kind. Each is drawn as often as it is listed.
type Odds struct {
	Events []What
	// Actions are the calls to which faults apply, Reads those to which slow and stale reads apply.
	Actions, Reads []string
	Refusals       []Refusal
	// Follow draws the event that reverts or continues an event of this kind of pool. Optional.
	Follow func(d *Drawing, e Event)
	// Denial is the error code of the cloud for a request that the credentials do not allow.
	Denial string
	// Zones are those in which machines may fail.
	Zones []string
	// Secondary is a read without which the rest of a pool can be observed. Optional.
	Secondary func(Scenario) string
	// Switches lists the switches of the services that pools of the kind use. Optional.
	Switches []sim.Switch
	// Ignorable are the rules of what the cloud may accept and ignore.
	Ignorable func(Scenario) []sim.Fault
}

// Refusal is an error that a service documents for a refusal before anything is done; one without a code is left to the simulator.
type Refusal struct {
	Code   string
	Status int
}

// Draw makes the scenario of a seed.
func (k *Kind) Draw(seed uint64) Scenario { return k.DrawAs(seed, k.Salt, k.Drawn) }

// DrawAs makes the scenario of a seed in another way than the kind's own.
func (k *Kind) DrawAs(seed, salt uint64, drawn func(*Drawing)) Scenario {
	d := &Drawing{Rand: rand.New(rand.NewPCG(seed, salt)), Scenario: Scenario{Seed: seed, Kind: k}}
	drawn(d)
	d.again(0x73776368) // what is drawn from here on leaves what was drawn before as it was
	d.Scenario.Switches = sim.DrawSwitches(k.Odds.Switches, d.Rand)
	d.Scenario.sort()
	return d.Scenario
}

// Goldens returns the golden scenarios.
func (k *Kind) Goldens() []Scenario {
	list := k.Golden()
	for at := range list {
		list[at].Kind = k
	}
	return list
}

// OneIn claims one of so many seeds. The scenarios of the other seeds do not depend on it.
func OneIn(n int, salt uint64) func(seed uint64) bool {
	return func(seed uint64) bool { return rand.New(rand.NewPCG(seed, salt)).IntN(n) == 0 }
}

// NamedGroup returns the name of the group that a provider ID names.
func (k *Kind) NamedGroup(id string) string {
	if k.GroupOf != nil {
		return k.GroupOf(id)
	}
	return id[strings.LastIndex(id, "/")+1:]
}
