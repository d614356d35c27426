package gates

import (
	"reflect"
	"strings"
	"testing"

	"github.com/spf13/pflag"
	"k8s.io/component-base/featuregate"
	"sigs.k8s.io/cluster-api/feature"
)

// theirs are gates of a provider.
var theirs = []Gate{
	{Feature: "X", Env: "CAPX", Spec: featuregate.FeatureSpec{Default: true, PreRelease: featuregate.Beta}},
	{Feature: "XMore", Env: "CAPX_MORE", Spec: featuregate.FeatureSpec{PreRelease: featuregate.Alpha}},
}

func switched(x, more bool) map[featuregate.Feature]bool {
	return map[featuregate.Feature]bool{"X": x, "XMore": more}
}

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
		"nothing said": {reason: "what is new is off, as in the ecosystem, and machine pools are on", pools: true},
		"environment": {reason: "the variables that the ecosystem's manifests set",
			env:  map[string]string{EnvMachinePoolMachines: "true", EnvSkipMachinePoolModelReconciliation: "1"},
			want: Gates{MachinePoolMachines: true, SkipMachinePoolModelReconciliation: true}, pools: true},
		"flag": {reason: "one flag for all",
			args: []string{"--feature-gates=MachinePoolMachines=true,SkipMachinePoolModelReconciliation=true"},
			want: Gates{MachinePoolMachines: true, SkipMachinePoolModelReconciliation: true}, pools: true},
		"flag wins": {reason: "what is said last and nearest counts", args: []string{"--feature-gates=MachinePoolMachines=false"},
			env: map[string]string{EnvMachinePoolMachines: "true"}, pools: true},
		"each its own": {reason: "a flag for one leaves the variable of the other",
			args: []string{"--feature-gates=MachinePoolMachines=true"},
			env:  map[string]string{EnvSkipMachinePoolModelReconciliation: "true", EnvMusterMachinePools: "false", "EXP_MACHINE_POOL": "false"},
			want: Gates{MachinePoolMachines: true, SkipMachinePoolModelReconciliation: true}},
		"a provider's": {reason: "the variables that the ecosystem's providers know",
			env: map[string]string{"CAPX": "false", "CAPX_MORE": "true"}, want: Gates{Switched: switched(false, true)}, pools: true},
		"a provider's by flag": {reason: "the flag wins over the variable here too", args: []string{"--feature-gates=X=true,XMore=false"},
			env: map[string]string{"CAPX": "false", "CAPX_MORE": "true"}, pools: true},
		"empty": {reason: "a variable that a manifest leaves empty switches nothing", env: map[string]string{EnvMachinePoolMachines: ""},
			pools: true},
		"bad variable": {reason: "what is wrong is named", env: map[string]string{EnvMachinePoolMachines: "yes please"},
			err: `EXP_MACHINE_POOL_MACHINES: want true or false, found "yes please"`},
	} {
		t.Run(name, func(t *testing.T) {
			if err := register(append(own(), theirs...)); err != nil {
				t.Fatal(err)
			}
			if err := feature.MutableGates.SetFromMap(map[string]bool{"MusterMachinePools": true, "MachinePoolMachines": false,
				"SkipMachinePoolModelReconciliation": false,
				"X":                                  true, "XMore": false}); err != nil {
				t.Fatal(err)
			}
			set := pflag.NewFlagSet("test", pflag.ContinueOnError)
			err := AddFlag(set, func(name string) string { return c.env[name] }, theirs...)
			if err == nil {
				err = set.Parse(c.args)
			}
			if c.err != "" {
				if err == nil || !strings.Contains(err.Error(), c.err) {
					t.Errorf("%s: want an error with %q, got %v", c.reason, c.err, err)
				}
				return
			}
			got, enabled := Enabled(theirs...)
			if c.want.Switched == nil {
				c.want.Switched = switched(true, false)
			}
			if err != nil || enabled != nil || !reflect.DeepEqual(got, c.want) || feature.Gates.Enabled(MusterMachinePools) != c.pools ||
				!feature.Gates.Enabled(feature.MachinePool) {
				t.Errorf("%s: want %+v, got %+v, %v, %v", c.reason, c.want, got, err, enabled)
			}
		})
	}
}
