// Package gates are the feature gates of the controllers, with the names, the flag and the environment variables that the
// ecosystem's providers know them by. They stand in cluster-api's own set of gates, so that one flag switches all.
package gates

import (
	"fmt"
	"strconv"
	"sync"

	"github.com/spf13/pflag"
	"k8s.io/component-base/featuregate"
	"sigs.k8s.io/cluster-api/feature"
)

const (
	// MusterMachinePools has the controllers of pools run. Cluster API's own gate MachinePool, with which its manifests switch off the pools
	// of other providers beside Muster, does not concern them.
	MusterMachinePools featuregate.Feature = "MusterMachinePools"
	// MachinePoolMachines gives every instance of a pool a Machine and an infrastructure machine of its own.
	MachinePoolMachines featuregate.Feature = "MachinePoolMachines"
	// SkipMachinePoolModelReconciliation keeps a changed template from replacing instances that exist, and from being a
	// reason to choose them when some have to go.
	SkipMachinePoolModelReconciliation featuregate.Feature = "SkipMachinePoolModelReconciliation"
)

// The environment variables that switch gates. A variable that is unset or empty switches nothing.
const (
	EnvMusterMachinePools                 = "MUSTER_MACHINE_POOLS"
	EnvClusterTopology                    = "CLUSTER_TOPOLOGY"
	EnvMachinePoolMachines                = "EXP_MACHINE_POOL_MACHINES"
	EnvSkipMachinePoolModelReconciliation = "EXP_SKIP_MACHINE_POOL_MODEL_RECONCILIATION"
)

// Gate is a feature gate that a provider brings.
type Gate struct {
	Feature featuregate.Feature
	// Env is the environment variable that switches it.
	Env string
	// Spec is its default and maturity; zero for a gate of Cluster API's own.
	Spec featuregate.FeatureSpec
}

// own are the gates that concern every provider, those of Cluster API among them.
func own() []Gate {
	return []Gate{
		{Feature: MusterMachinePools, Env: EnvMusterMachinePools, Spec: featuregate.FeatureSpec{Default: true, PreRelease: featuregate.Beta}},
		{Feature: feature.ClusterTopology, Env: EnvClusterTopology},
		{Feature: MachinePoolMachines, Env: EnvMachinePoolMachines, Spec: featuregate.FeatureSpec{PreRelease: featuregate.Alpha}},
		{Feature: SkipMachinePoolModelReconciliation, Env: EnvSkipMachinePoolModelReconciliation,
			Spec: featuregate.FeatureSpec{PreRelease: featuregate.Alpha}},
	}
}

// Gates are the gates that controllers ask for. The zero Gates are the defaults.
type Gates struct {
	// MachinePoolMachines and SkipMachinePoolModelReconciliation are the gates of these names.
	MachinePoolMachines, SkipMachinePoolModelReconciliation bool
	// Switched are the gates of providers that were looked up, by their names.
	Switched map[featuregate.Feature]bool
}

// On reports whether a provider's gate is on.
func (g Gates) On(gate Gate) bool {
	if on, ok := g.Switched[gate.Feature]; ok {
		return on
	}
	return gate.Spec.Default
}

// registering guards registered, which are the gates that stand in Cluster API's set by now: a set that a flag was made for takes no more.
var (
	registering sync.Mutex
	registered  = map[featuregate.Feature]bool{}
)

// register adds gates to Cluster API's.
func register(gates []Gate) error {
	registering.Lock()
	defer registering.Unlock()
	missing := map[featuregate.Feature]featuregate.FeatureSpec{}
	for _, g := range gates {
		if !registered[g.Feature] && g.Spec.PreRelease != "" {
			missing[g.Feature] = g.Spec
		}
	}
	if len(missing) == 0 {
		return nil
	}
	if err := feature.MutableGates.Add(missing); err != nil {
		return fmt.Errorf("add the feature gates of machine pools: %w", err)
	}
	for name := range missing {
		registered[name] = true
	}
	return nil
}

// AddFlag takes the gates from the environment, and adds the flag --feature-gates, which wins over it. Those of providers are given by the
// first call of the process.
func AddFlag(set *pflag.FlagSet, env func(string) string, providers ...Gate) error {
	all := append(own(), providers...)
	if err := register(all); err != nil {
		return err
	}
	for _, g := range all {
		if err := fromEnvironment(g.Env, g.Feature, env(g.Env)); err != nil {
			return err
		}
	}
	feature.MutableGates.AddFlag(set)
	return nil
}

func fromEnvironment(name string, gate featuregate.Feature, value string) error {
	if value == "" {
		return nil
	}
	on, err := strconv.ParseBool(value)
	if err != nil {
		return fmt.Errorf("environment variable %s: want true or false, found %q", name, value)
	}
	if err := feature.MutableGates.SetFromMap(map[string]bool{string(gate): on}); err != nil {
		return fmt.Errorf("environment variable %s: %w", name, err)
	}
	return nil
}

// Enabled are the process' gates as environment and flag have them. Without either they are the defaults.
func Enabled(providers ...Gate) (Gates, error) {
	if err := register(append(own(), providers...)); err != nil {
		return Gates{}, err
	}
	out := Gates{
		MachinePoolMachines:                feature.Gates.Enabled(MachinePoolMachines),
		SkipMachinePoolModelReconciliation: feature.Gates.Enabled(SkipMachinePoolModelReconciliation),
		Switched:                           map[featuregate.Feature]bool{},
	}
	for _, g := range providers {
		out.Switched[g.Feature] = feature.Gates.Enabled(g.Feature)
	}
	return out, nil
}
