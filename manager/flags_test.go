package manager_test

import (
	"bytes"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	featuregatetesting "k8s.io/component-base/featuregate/testing"
	logsv1 "k8s.io/component-base/logs/api/v1"
	"sigs.k8s.io/cluster-api/feature"

	"github.com/muster-project/muster/manager"
	"github.com/muster-project/muster/manager/flags"
	"github.com/muster-project/muster/providers/gates"
)

func environment(pairs ...string) func(string) string {
	return func(name string) string {
		for i := 0; i < len(pairs); i += 2 {
			if pairs[i] == name {
				return pairs[i+1]
			}
		}
		return ""
	}
}

// TestFlags changes the feature gates of the process, so that it runs beside no other test. Each case puts them back.
func TestFlags(t *testing.T) {
	certs := t.TempDir()
	for _, name := range []string{"tls.crt", "tls.key"} {
		if err := os.WriteFile(filepath.Join(certs, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	cases := flagCases(certs)
	maps.Copy(cases, credentialFlags)
	maps.Copy(cases, gateFlags)
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if _, err := manager.EnabledGates(); err != nil {
				t.Fatal(err)
			}
			featuregatetesting.SetFeatureGatesDuringTest(t, feature.Gates, featuregatetesting.FeatureOverrides{gates.MusterMachinePools: true,
				gates.MachinePoolMachines: false, gates.SkipMachinePoolModelReconciliation: false})
			if tc.env == nil {
				tc.env = environment()
			}
			f, err := flags.Parse(tc.args, tc.env)
			var o manager.Options
			if err == nil {
				o, err = f.Options(tc.env)
			}
			if tc.err != "" {
				if err == nil || !strings.Contains(err.Error(), tc.err) {
					t.Errorf("%s: want error with %q, got %v", tc.reason, tc.err, err)
				}
				return
			}
			if err != nil || !tc.check(o) {
				t.Errorf("%s: got %v, %+v", tc.reason, err, o)
			}
		})
	}
}

// flagCase is a command line with its environment, and what the manager is configured to.
type flagCase struct {
	reason string
	args   []string
	env    func(string) string
	check  func(o manager.Options) bool
	err    string
}

// flagCases are those of the ecosystem's managers and of certificates, mounted ones in the folder certs.
func flagCases(certs string) map[string]flagCase {
	return map[string]flagCase{
		"defaults": {
			reason: "the ecosystem's defaults, with certificates of one's own making in a pod",
			env:    environment("POD_NAMESPACE", "muster-system"),
			check: func(o manager.Options) bool {
				return o.SyncPeriod == 10*time.Minute && o.HealthAddress == ":9440" && o.Metrics.BindAddress == ":8443" && o.Metrics.SecureServing &&
					o.Webhook.Port == 9443 && !o.LeaderElection.Enabled && o.Concurrency.Pools["awsmachinepool"] == 50 &&
					o.Certificates != nil && o.Certificates.DNSName == "muster-webhook-service.muster-system.svc" && len(o.Certificates.Mutating) == 2
			},
		},
		"all said": {
			reason: "every flag of the ecosystem's managers is known",
			args: []string{"--leader-elect", "--leader-elect-lease-duration=1m", "--leader-elect-renew-deadline=40s",
				"--leader-elect-retry-period=5s",
				"--metrics-bind-address=127.0.0.1:8080", "--diagnostics-address=:1", "--insecure-diagnostics", "--health-addr=:2", "--namespace=ns",
				"--watch-filter=w",
				"--sync-period=1m", "--feature-gates=MusterMachinePools=true", "--machinepool-concurrency=3", "--awsmachinepool-concurrency=4",
				"--awsmanagedmachinepool-concurrency=12", "--azuremachinepool-concurrency=13", "--azuremanagedmachinepool-concurrency=14",
				"--azureasomanagedmachinepool-concurrency=15", "--gcpmachinepool-concurrency=16", "--gcpmanagedmachinepool-concurrency=17",
				"--scalewaymanagedmachinepool-concurrency=18", "--ocimachinepool-concurrency=19", "--ocimanagedmachinepool-concurrency=20",
				"--ocivirtualmachinepool-concurrency=21",
				"--clustercache-concurrency=5",
				"--controllers=awsmachinepool", "--webhook-port=6", "--webhook-cert-dir=/x", "--kube-api-qps=7", "--kube-api-burst=8",
				"--clustercache-client-qps=9", "--clustercache-client-burst=10", "--logging-format=json", "--v=4", "--profiler-address=:11"},
			check: func(o manager.Options) bool {
				return o.LeaderElection.Enabled && o.LeaderElection.LeaseDuration == time.Minute && o.Metrics.BindAddress == "127.0.0.1:8080" &&
					!o.Metrics.SecureServing &&
					o.HealthAddress == ":2" && o.Namespace == "ns" && o.WatchFilter == "w" && o.SyncPeriod == time.Minute &&
					reflect.DeepEqual(o.Concurrency, manager.Concurrency{MachinePool: 3, ClusterCache: 5,
						Pools: map[string]int{"awsmachinepool": 4, "awsmanagedmachinepool": 12, "azuremachinepool": 13, "azuremanagedmachinepool": 14,
							"azureasomanagedmachinepool": 15, "gcpmachinepool": 16, "gcpmanagedmachinepool": 17, "scalewaymanagedmachinepool": 18,
							"ocimachinepool": 19, "ocimanagedmachinepool": 20, "ocivirtualmachinepool": 21}}) &&
					len(o.Controllers) == 1 &&
					o.Certificates == nil && o.ClusterCacheQPS == 9 && o.ClusterCacheBurst == 10 && o.ProfilerAddress == ":11"
			},
		},
		"labels and annotations": {
			reason: "what nodes get beside the domains that they always get, as on the core controller", env: environment("POD_NAMESPACE", "x"),
			args: []string{"--additional-sync-machine-labels=^team$,^cost/", "--additional-sync-machine-annotations=.*"},
			check: func(o manager.Options) bool {
				return len(o.SyncLabels) == 2 && o.SyncLabels[1].MatchString("cost/a") && len(o.SyncAnnotations) == 1
			},
		},
		"no expression": {
			reason: "the flag and what was found are named", env: environment("POD_NAMESPACE", "x"),
			args: []string{"--additional-sync-machine-annotations=("},
			err:  `--additional-sync-machine-annotations: want regular expressions, found "("`,
		},
		"mounted": {
			reason: "certificates that are there are used and left alone", args: []string{"--webhook-cert-dir=" + certs},
			check: func(o manager.Options) bool { return o.Certificates == nil && o.Webhook.CertDir == certs },
		},
		"mounted later": {
			reason: "mounted certificates are not looked for", args: []string{"--webhook-certs=mounted"},
			check: func(o manager.Options) bool { return o.Certificates == nil },
		},
		"infrastructure alone": {
			reason: "without the core controller its webhook configurations need no authority",
			args:   []string{"--controllers=awsmachinepool,webhook"},
			env:    environment("POD_NAMESPACE", "x"), check: func(o manager.Options) bool {
				return len(o.Certificates.Mutating) == 1 && len(o.Certificates.Validating) == 2 && len(o.Certificates.Conversion) == 6
			},
		},
		"no certificates": {reason: "what is missing is said", err: "webhooks need certificates"},
		"bad certificates": {
			reason: "the allowed values are named", args: []string{"--webhook-certs=never"}, err: "want auto, mounted or made",
		},
		"gate off": {
			reason: "Muster's switch for machine pools leaves the webhooks",
			env:    environment(gates.EnvMusterMachinePools, "false", "POD_NAMESPACE", "x"),
			check:  func(o manager.Options) bool { return len(o.Controllers) == 1 && o.Controllers[0] == manager.Webhook },
		},
		"core's gate off": {
			reason: "the variable that switches the pools of other providers off leaves Muster's",
			env:    environment("EXP_MACHINE_POOL", "false", "POD_NAMESPACE", "x"),
			check:  func(o manager.Options) bool { return len(o.Controllers) == 0 },
		},
		"machines and models": {
			reason: "gates reach the controllers, by the flag and by the environment",
			env:    environment(gates.EnvSkipMachinePoolModelReconciliation, "true", "POD_NAMESPACE", "x"),
			args:   []string{"--feature-gates=MusterMachinePools=true,MachinePoolMachines=true"},
			check: func(o manager.Options) bool {
				return o.Gates.MachinePoolMachines && o.Gates.SkipMachinePoolModelReconciliation
			},
		},
		"gate off, flag on": {
			reason: "the flag wins over the environment", env: environment(gates.EnvMusterMachinePools, "false", "POD_NAMESPACE", "x"),
			args:  []string{"--feature-gates=MusterMachinePools=true"},
			check: func(o manager.Options) bool { return len(o.Controllers) == 0 },
		},
		"nothing to run": {
			reason: "a manager that does nothing says so", args: []string{"--controllers=awsmachinepool"},
			env: environment(gates.EnvMusterMachinePools, "0"), err: "nothing to run",
		},
		"gate unreadable": {reason: "a value that is neither is refused", env: environment(gates.EnvMusterMachinePools, "maybe"),
			err: `want true or false, found "maybe"`},
		"unknown flag":    {reason: "a misspelt flag is refused", args: []string{"--sync-periods=1m"}, err: "unknown flag"},
		"arguments":       {reason: "words are no flags", args: []string{"leader-elect"}, err: "want flags alone"},
		"bad TLS version": {reason: "bad values are refused", args: []string{"--tls-min-version=1"}, err: "diagnostics flags"},
	}
}

// credentialFlags are those that say which namespaces may use the manager's own credentials.
var credentialFlags = map[string]flagCase{
	"credentials": {
		reason: "every namespace may use the manager's own unless a flag lists some", env: environment("POD_NAMESPACE", "x"),
		args:  []string{"--credentials-namespaces=*"},
		check: func(o manager.Options) bool { return o.OwnCredentials == nil },
	},
	"credentials of a list": {
		reason: "the others have none", env: environment("POD_NAMESPACE", "x"), args: []string{"--credentials-namespaces=a,b"},
		check: func(o manager.Options) bool { return o.OwnCredentials.ByName("b") && !o.OwnCredentials.ByName("c") },
	},
	"credentials of none": {
		reason: "an empty list is no namespace", env: environment("POD_NAMESPACE", "x"), args: []string{"--credentials-namespaces="},
		check: func(o manager.Options) bool { return o.OwnCredentials != nil && !o.OwnCredentials.ByName("a") },
	},
	"endpoints": {
		reason: "secrets may name these too", env: environment("POD_NAMESPACE", "x"), args: []string{"--identity-endpoints=https://a.example/"},
		check: func(o manager.Options) bool {
			return len(o.IdentityEndpoints) == 1 && o.IdentityEndpoints[0] == "https://a.example"
		},
	},
	"endpoints in the clear": {
		reason: "a key could be read on its way", env: environment("POD_NAMESPACE", "x"),
		args: []string{"--identity-endpoints=http://a.example"},
		err:  "--identity-endpoints: want https addresses",
	},
	"credentials by labels": {
		reason: "a selector alone lists no names", env: environment("POD_NAMESPACE", "x"),
		args: []string{"--credentials-namespace-selector=a=b"},
		check: func(o manager.Options) bool {
			return !o.OwnCredentials.ByName("a") && o.OwnCredentials.Selector.MatchLabels["a"] == "b"
		},
	},
	"credentials of all and some": {
		reason: "one of the two is a mistake", env: environment("POD_NAMESPACE", "x"), args: []string{"--credentials-namespaces=*,a"},
		err: "--credentials-namespaces: * is every namespace",
	},
	"credentials of a pattern": {
		reason: "names are exact", env: environment("POD_NAMESPACE", "x"), args: []string{"--credentials-namespaces=team-*"},
		err: `--credentials-namespaces: want names of namespaces, or *, found "team-*"`,
	},
}

func TestJSONLogs(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	log, control := flags.JSONLogs{}.Create(logsv1.LoggingConfiguration{Verbosity: 2}, logsv1.LoggingOptions{ErrorStream: &b})
	log.V(2).Info("said", "pool", "default/p")
	log.V(3).Info("not said")
	if err := control.SetVerbosityLevel(3); err != nil {
		t.Fatal(err)
	}
	log.V(3).Info("said now")
	log.Error(os.ErrNotExist, "failed")
	lines := strings.Split(strings.TrimSpace(b.String()), "\n")
	if len(lines) != 3 {
		t.Fatalf("want 3 lines, got %q", lines)
	}
	for i, want := range []string{"said", "said now", "failed"} {
		var line map[string]any
		if err := json.Unmarshal([]byte(lines[i]), &line); err != nil || line["msg"] != want {
			t.Errorf("line %d: want %q, got %v, %s", i, want, err, lines[i])
		}
	}
}

var gateFlags = map[string]flagCase{
	"no gates": {
		reason: "nothing is asked that the operator does not list", env: environment("POD_NAMESPACE", "x"),
		check: func(o manager.Options) bool {
			_, err := o.PolicyGates.Kinds.Allows("argoproj.io/v1alpha1", "Application")
			return err != nil && o.PolicyGates.Addresses.Empty()
		},
	},
	"gates": {
		reason: "the operator lists addresses and kinds", env: environment("POD_NAMESPACE", "x"),
		args: []string{"--gate-addresses=prometheus.monitoring:9090,10.0.0.0/24:9090", "--gate-kinds=Application.argoproj.io"},
		check: func(o manager.Options) bool {
			_, err := o.PolicyGates.Kinds.Allows("argoproj.io/v1alpha1", "Application")
			return err == nil && !o.PolicyGates.Addresses.Empty()
		},
	},
	"no foreign holds": {
		reason: "marks of other tools mean nothing by default", env: environment("POD_NAMESPACE", "x"),
		check: func(o manager.Options) bool { return !o.ForeignHolds },
	},
	"foreign holds": {
		reason: "the operator asks for them", env: environment("POD_NAMESPACE", "x"), args: []string{"--honor-foreign-holds"},
		check: func(o manager.Options) bool { return o.ForeignHolds },
	},
	"every address": {
		reason: "the operator names them", env: environment("POD_NAMESPACE", "x"), args: []string{"--gate-addresses=*"},
		err: "--gate-addresses: want host",
	},
	"secrets": {
		reason: "a gate would tell of them", env: environment("POD_NAMESPACE", "x"), args: []string{"--gate-kinds=Secret"},
		err: "--gate-kinds: Secrets",
	},
}
