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
	// MachinePoolMachines gives every instance of a pool a Machine and an infrastructure machine of its own.
	MachinePoolMachines featuregate.Feature = "MachinePoolMachines"
	// SkipMachinePoolModelReconciliation keeps a changed template from replacing instances that exist, and from being a
	// reason to choose them when some have to go.
	SkipMachinePoolModelReconciliation featuregate.Feature = "SkipMachinePoolModelReconciliation"
	// EKS runs the pools that EKS keeps.
	EKS featuregate.Feature = "EKS"
	// EKSEnableIAM lets the controllers make the roles of EKS nodes.
	EKSEnableIAM featuregate.Feature = "EKSEnableIAM"
	// EKSAllowAddRoles lets them attach the policies to such roles that objects name.
	EKSAllowAddRoles featuregate.Feature = "EKSAllowAddRoles"
	// BootstrapFormatIgnition lets machines boot with Ignition whose data is kept in the cluster's bucket.
	BootstrapFormatIgnition featuregate.Feature = "BootstrapFormatIgnition"
)

// The environment variables that switch gates. A variable that is unset or empty switches nothing.
const (
	EnvMachinePool                        = "EXP_MACHINE_POOL"
	EnvClusterTopology                    = "CLUSTER_TOPOLOGY"
	EnvMachinePoolMachines                = "EXP_MACHINE_POOL_MACHINES"
	EnvSkipMachinePoolModelReconciliation = "EXP_SKIP_MACHINE_POOL_MODEL_RECONCILIATION"
	EnvEKS                                = "CAPA_EKS"
	EnvEKSEnableIAM                       = "CAPA_EKS_IAM"
	EnvEKSAllowAddRoles                   = "CAPA_EKS_ADD_ROLES"
	EnvBootstrapFormatIgnition            = "EXP_BOOTSTRAP_FORMAT_IGNITION"
)

// variables are the gates' environment variables.
var variables = []struct {
	name string
	gate featuregate.Feature
}{
	{EnvMachinePool, feature.MachinePool},
	{EnvClusterTopology, feature.ClusterTopology},
	{EnvMachinePoolMachines, MachinePoolMachines},
	{EnvSkipMachinePoolModelReconciliation, SkipMachinePoolModelReconciliation},
	{EnvEKS, EKS},
	{EnvEKSEnableIAM, EKSEnableIAM},
	{EnvEKSAllowAddRoles, EKSAllowAddRoles},
	{EnvBootstrapFormatIgnition, BootstrapFormatIgnition},
}

// Gates are the gates that controllers ask for. The zero Gates are the defaults.
type Gates struct {
	// MachinePoolMachines and SkipMachinePoolModelReconciliation are the gates of these names.
	MachinePoolMachines, SkipMachinePoolModelReconciliation bool
	// NoEKS says that the gate EKS, which is on by default, was switched off.
	NoEKS bool
	// EKSEnableIAM, EKSAllowAddRoles and BootstrapFormatIgnition are the gates of these names.
	EKSEnableIAM, EKSAllowAddRoles, BootstrapFormatIgnition bool
}

// register adds our gates to cluster-api's, once for the process: a set that a flag was made for takes no more.
var register = sync.OnceValue(func() error {
	err := feature.MutableGates.Add(map[featuregate.Feature]featuregate.FeatureSpec{
		MachinePoolMachines:                {Default: false, PreRelease: featuregate.Alpha},
		SkipMachinePoolModelReconciliation: {Default: false, PreRelease: featuregate.Alpha},
		EKS:                                {Default: true, PreRelease: featuregate.Beta},
		EKSEnableIAM:                       {Default: false, PreRelease: featuregate.Beta},
		EKSAllowAddRoles:                   {Default: false, PreRelease: featuregate.Beta},
		BootstrapFormatIgnition:            {Default: false, PreRelease: featuregate.Alpha},
	})
	if err != nil {
		return fmt.Errorf("add the feature gates of machine pools: %w", err)
	}
	return nil
})

// AddFlag takes the gates from the environment, and adds the flag --feature-gates, which wins over it.
func AddFlag(set *pflag.FlagSet, env func(string) string) error {
	if err := register(); err != nil {
		return err
	}
	for _, v := range variables {
		if err := fromEnvironment(v.name, v.gate, env(v.name)); err != nil {
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
func Enabled() (Gates, error) {
	if err := register(); err != nil {
		return Gates{}, err
	}
	return Gates{
		MachinePoolMachines:                feature.Gates.Enabled(MachinePoolMachines),
		SkipMachinePoolModelReconciliation: feature.Gates.Enabled(SkipMachinePoolModelReconciliation),
		NoEKS:                              !feature.Gates.Enabled(EKS),
		EKSEnableIAM:                       feature.Gates.Enabled(EKSEnableIAM),
		EKSAllowAddRoles:                   feature.Gates.Enabled(EKSAllowAddRoles),
		BootstrapFormatIgnition:            feature.Gates.Enabled(BootstrapFormatIgnition),
	}, nil
}
