package gates

import (
	"strings"
	"testing"

	"github.com/spf13/pflag"
	"sigs.k8s.io/cluster-api/feature"
)

// TestGates changes the process' gates: its cases run one after the other.
func TestGates(t *testing.T) {
	for name, c := range map[string]struct {
		reason string
		args   []string
		env    map[string]string
		want   Gates
		pools  bool
		err    string
	}{
		"nothing said": {reason: "what is new is off, as in the ecosystem, and machine pools and EKS are on", pools: true},
		"environment":  {reason: "the variables that the ecosystem's manifests set", env: map[string]string{EnvMachinePoolMachines: "true", EnvSkipMachinePoolModelReconciliation: "1"}, want: Gates{MachinePoolMachines: true, SkipMachinePoolModelReconciliation: true}, pools: true},
		"flag":         {reason: "one flag for all", args: []string{"--feature-gates=MachinePoolMachines=true,SkipMachinePoolModelReconciliation=true"}, want: Gates{MachinePoolMachines: true, SkipMachinePoolModelReconciliation: true}, pools: true},
		"flag wins":    {reason: "what is said last and nearest counts", args: []string{"--feature-gates=MachinePoolMachines=false"}, env: map[string]string{EnvMachinePoolMachines: "true"}, pools: true},
		"each its own": {reason: "a flag for one leaves the variable of the other", args: []string{"--feature-gates=MachinePoolMachines=true"}, env: map[string]string{EnvSkipMachinePoolModelReconciliation: "true", EnvMachinePool: "false"}, want: Gates{MachinePoolMachines: true, SkipMachinePoolModelReconciliation: true}},
		"EKS":          {reason: "the variables that the ecosystem's AWS provider knows", env: map[string]string{EnvEKS: "false", EnvEKSEnableIAM: "true", EnvEKSAllowAddRoles: "true", EnvBootstrapFormatIgnition: "true"}, want: Gates{NoEKS: true, EKSEnableIAM: true, EKSAllowAddRoles: true, BootstrapFormatIgnition: true}, pools: true},
		"EKS by flag":  {reason: "the flag wins over the variable here too", args: []string{"--feature-gates=EKS=true,EKSEnableIAM=false"}, env: map[string]string{EnvEKS: "false", EnvEKSEnableIAM: "true"}, pools: true},
		"empty":        {reason: "a variable that a manifest leaves empty switches nothing", env: map[string]string{EnvMachinePoolMachines: ""}, pools: true},
		"bad variable": {reason: "what is wrong is named", env: map[string]string{EnvMachinePoolMachines: "yes please"}, err: `EXP_MACHINE_POOL_MACHINES: want true or false, found "yes please"`},
	} {
		t.Run(name, func(t *testing.T) {
			if err := register(); err != nil {
				t.Fatal(err)
			}
			if err := feature.MutableGates.SetFromMap(map[string]bool{"MachinePool": true, "MachinePoolMachines": false, "SkipMachinePoolModelReconciliation": false,
				"EKS": true, "EKSEnableIAM": false, "EKSAllowAddRoles": false, "BootstrapFormatIgnition": false}); err != nil {
				t.Fatal(err)
			}
			set := pflag.NewFlagSet("test", pflag.ContinueOnError)
			err := AddFlag(set, func(name string) string { return c.env[name] })
			if err == nil {
				err = set.Parse(c.args)
			}
			if c.err != "" {
				if err == nil || !strings.Contains(err.Error(), c.err) {
					t.Errorf("%s: want an error with %q, got %v", c.reason, c.err, err)
				}
				return
			}
			got, enabled := Enabled()
			if err != nil || enabled != nil || got != c.want || feature.Gates.Enabled(feature.MachinePool) != c.pools {
				t.Errorf("%s: want %+v, got %+v, %v, %v", c.reason, c.want, got, err, enabled)
			}
		})
	}
}
