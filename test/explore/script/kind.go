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
	// Name is what -kind calls it.
	Name string
	// Claims reports whether a seed stands for a pool of the kind; the first kind of the list of all has the first say. It is nil for a kind
	// that no seed chooses, so that the seeds of other kinds stay what they are.
	Claims func(seed uint64) bool
	// Salt sets its draws apart from those of other kinds.
	Salt uint64
	// Drawn draws a scenario from the odds; it is sorted afterwards.
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
	// Machines are the objects that stand for single machines of a pool, HaveMachines says in which scenarios there are some; nil is all.
	// Both are optional.
	Machines     *machinecontroller.Infra
	HaveMachines func(Scenario) bool
	// Places is true if the cloud itself puts another machine in the place of one, with the same provider ID: what was asked of the one by
	// name holds for the other.
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
	// OpensNodes is true where the cloud opens nodes by itself, also one that it makes anew in the middle of a drain: the mark of the drain,
	// which counts on cordoned nodes alone, may stay there.
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
	// TheirID is what spec.providerID says of the group of another tool, where it can name one; GroupOf finds the name of the group in such an
	// ID, where that is not its last part. Optional.
	TheirID string
	GroupOf func(id string) string
	// AdoptName is the name of a group that another provider has made, NamesGroup is true where the object itself has that name.
	AdoptName  string
	NamesGroup bool
	// Reshapes are events of its own after which the object may ask for other machines than those of a group that it adopts. Optional.
	Reshapes []What
	// OneEach ends the names of calls that change one machine each. Optional.
	OneEach string

	// Another makes the scenario of a pool beside the first one of what is the first one's. Where it is nil a world has one pool.
	Another func(*Scenario)
}

// Definition is the definition of a kind of objects, by the name of its resource and the version that has Cluster API's contract.
type Definition struct{ Name, Version string }

// Odds are what can happen to pools of a kind, each as often as it is named.
type Odds struct {
	Happenings []What
	// Actions are the calls that a fault may be for, Reads those that may be slow or stale.
	Actions, Reads []string
	Refusals       []Refusal
	// Follow draws what is done about a happening of the kind's own some time later. Optional.
	Follow func(d *Drawing, e Event)
	// Denial is the code with which the cloud refuses what the credentials do not allow.
	Denial string
	// Zones are those in which machines may fail.
	Zones []string
	// Secondary is a read without which the rest of a pool can be observed. Optional.
	Secondary func(Scenario) string
	// Switches are those of the services that pools of the kind are made of. Optional.
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

// Goldens are the golden scenarios.
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
