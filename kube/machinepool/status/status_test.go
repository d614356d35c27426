package status

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
)

func num(n int32) *int32 { return &n }

// well returns what a pass leaves of a pool of three without problems.
func well() *pass {
	return &pass{Facts{Cluster: "default/c1", Desired: num(3), Replicas: num(3), UpToDate: num(3), Instances: 3}, Outcome{
		Bootstrap:      Source{Kind: "KubeadmConfig", Name: "boot", Found: true, Done: true, Once: true},
		Infrastructure: Source{Kind: "AWSMachinePool", Name: "infra", Found: true, Done: true, Once: true},
		Nodes: &Nodes{Ready: 3, Available: 3, Refs: []corev1.ObjectReference{{Name: "a"}, {Name: "b"}, {Name: "c"}},
			Versions: []clusterv1.StatusVersion{{Version: "v1.36.0", Replicas: 3}}},
	}}
}

func (f *pass) apply(pool *clusterv1.MachinePool) { Apply(pool, f.Facts, f.Outcome) }

func away(f *pass) { f.Nodes, f.NodesUnknown = nil, "The connection to Cluster c1 is down" }

func noCluster(f *pass) { f.NoCluster = true }

func readyCondition(status metav1.ConditionStatus, reason, message string) *metav1.Condition {
	return &metav1.Condition{Type: "Ready", Status: status, Reason: reason, Message: message}
}

// row is one row of a condition's table: the difference to a pool without problems, and the wanted condition.
type row struct {
	reason string
	change func(f *pass)
	want   string
}

func check(t *testing.T, rule func(*pass) metav1.Condition, conditionType string, rows map[string]row) {
	t.Helper()
	for name, r := range rows {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := well()
			if r.change != nil {
				r.change(f)
			}
			c := rule(f)
			got := fmt.Sprintf("%s %s", c.Status, c.Reason)
			if c.Message != "" {
				got += ": " + c.Message
			}
			if got != r.want {
				t.Errorf("%s:\nwant %s\ngot  %s", r.reason, r.want, got)
			}
			if c.Type != conditionType {
				t.Errorf("type: want %s, got %s", conditionType, c.Type)
			}
		})
	}
}

func TestAvailable(t *testing.T) {
	t.Parallel()
	check(t, available, "Available", map[string]row{
		"well":       {"as many as desired", nil, "True Available"},
		"more":       {"more than desired is enough", func(f *pass) { f.Desired = num(1) }, "True Available"},
		"none":       {"a pool with 0 replicas has all of them", func(f *pass) { f.Desired, f.Nodes = num(0), &Nodes{} }, "True Available"},
		"no cluster": {"a wrong name comes first", noCluster, "False ClusterDoesNotExist: Cluster default/c1 does not exist"},
		"no number": {"before the default is set", func(f *pass) { f.Desired = nil },
			"Unknown WaitingForReplicasSet: spec.replicas is not set"},
		"no group": {"nothing can be available before", func(f *pass) { f.Infrastructure.Once = false },
			"False NotAvailable: AWSMachinePool infra is not provisioned"},
		"away": {"what cannot be read is unknown", away, "Unknown ConnectionDown: The connection to Cluster c1 is down"},
		"provider problem": {"a problem of the provider is reported elsewhere; the machines are serving", func(f *pass) {
			f.Infrastructure.Done, f.Infrastructure.Ready = false, readyCondition(metav1.ConditionFalse, "Throttled", "")
		}, "True Available"},
		"fewer": {"every kind of shortfall is reported", func(f *pass) {
			f.Replicas, f.Desired = num(4), num(5)
			f.Nodes = &Nodes{Ready: 2, Available: 1, Missing: []string{"aws:///a/i-4"}, NotReady: []string{"c (KubeletNotReady)"},
				Settling: []string{"b"}}
		}, "False NotAvailable: 1 of 5 replicas are available: AWSMachinePool infra has 4 instances; no node yet for aws:///a/i-4; " +
			"not Ready: c (KubeletNotReady); Ready for less than minReadySeconds: b"},
	})
}

func TestBootstrapConfigReady(t *testing.T) {
	t.Parallel()
	check(t, bootstrapConfigReady, "BootstrapConfigReady", map[string]row{
		"silent": {"an object without conditions whose part is complete", nil, "True Ready"},
		"mirror": {"the object's own condition", func(f *pass) { f.Bootstrap.Ready = readyCondition("False", "Failed", "no token") },
			"False Failed: no token"},
		"older true": {"v1beta1 conditions have no reason if they are true",
			func(f *pass) { f.Bootstrap.Ready = readyCondition("True", "", "") }, "True Ready"},
		"older false": {"the API rejects an empty reason",
			func(f *pass) { f.Bootstrap.Ready = readyCondition("False", "NoReasonReported", "x") },
			"False NotReady: x"},
		"waiting": {"an object without conditions whose part is not complete",
			func(f *pass) { f.Bootstrap.Done, f.Bootstrap.Once = false, false },
			"False NotReady: KubeadmConfig boot has not created its data secret"},
		"missing": {"created later, or misspelled", func(f *pass) { f.Bootstrap.Found, f.Bootstrap.Once = false, false },
			"False ObjectDoesNotExist: KubeadmConfig boot does not exist"},
		"vanished": {"it existed once, or the pool refers to another that does not exist yet",
			func(f *pass) { f.Bootstrap.Found, f.DataSecret = false, "before" },
			"False ObjectDoesNotExist: KubeadmConfig boot does not exist; until it does, machines keep using bootstrap data secret before"},
		"gone": {"expected during a deletion", func(f *pass) { f.Bootstrap.Found, f.Deleting = false, true },
			"False ObjectDeleted: KubeadmConfig boot has been deleted"},
		"provided": {"the user's own data", func(f *pass) { f.Bootstrap = Source{Done: true, Once: true} }, "True DataSecretProvided"},
		"refused": {"an unsupported configuration comes before the object's condition", func(f *pass) {
			f.Bootstrap.Ready, f.BootstrapProblem = readyCondition("True", "Ready", ""), &Cause{"VersionNotSupported", "too old"}
		}, "False VersionNotSupported: too old"},
		"problem": {"reading failed", func(f *pass) { f.Bootstrap.Problem = "no answer" }, "Unknown InternalError: no answer"},
		"mistake": {"a problem that the user has to fix", func(f *pass) {
			f.Bootstrap.Problem, f.Bootstrap.ProblemReason = "x's",
				OwnedByAnotherReason
		}, "False OwnedByAnother: x's"},
		"no cluster": {"nothing is read without a cluster", noCluster, "Unknown ClusterDoesNotExist: Cluster default/c1 does not exist"},
	})
}

func TestInfrastructureReady(t *testing.T) {
	t.Parallel()
	check(t, infrastructureReady, "InfrastructureReady", map[string]row{
		"silent": {"an object without conditions whose part is complete", nil, "True Ready"},
		"mirror": {"the object's own condition",
			func(f *pass) { f.Infrastructure.Ready = readyCondition("Unknown", "Throttled", "asked too often") },
			"Unknown Throttled: asked too often"},
		"provider problem": {"what was provisioned once stays provisioned", func(f *pass) { f.Infrastructure.Done = false },
			"True Ready: AWSMachinePool infra was ready, and now reports that it is not provisioned"},
		"vanished": {"it existed once", func(f *pass) { f.Infrastructure.Found = false },
			"False ObjectDeleted: AWSMachinePool infra has been deleted while the MachinePool still exists"},
		"no cluster": {"nothing is read without a cluster", noCluster, "Unknown ClusterDoesNotExist: Cluster default/c1 does not exist"},
	})
}

func TestMachinesReady(t *testing.T) {
	t.Parallel()
	check(t, machinesReady, "MachinesReady", map[string]row{
		"well": {"every machine has a Ready node", nil, "True Ready"},
		"none": {"no machines, no problem", func(f *pass) { f.Replicas, f.Instances, f.Nodes = num(0), 0, &Nodes{} }, "True NoReplicas"},
		"unlisted": {"machines that are not listed cannot be found", func(f *pass) { f.Instances, f.Nodes = 0, &Nodes{} },
			"Unknown ReadyUnknown: AWSMachinePool infra reports 3 replicas, but no provider IDs"},
		"away":   {"what cannot be read is unknown", away, "Unknown ReadyUnknown: The connection to Cluster c1 is down"},
		"scaled": {"machines that do not exist yet do not count", func(f *pass) { f.Desired = num(9) }, "True Ready"},
		"many": {"a message names a few machines", func(f *pass) { f.Nodes.NotReady = []string{"a", "b", "c", "d", "e"} },
			"False NotReady: not Ready: a, b, c and 2 more"},
		"kept": {"a node that left the pool and is Ready is no problem of the machines", func(f *pass) { f.Nodes.Kept = []string{"z"} },
			"True Ready: no longer in the pool, but still Ready: z"},
		"kept and unhealthy": {"both are reported", func(f *pass) { f.Nodes.Kept, f.Nodes.NotReady = []string{"z"}, []string{"a"} },
			"False NotReady: not Ready: a; no longer in the pool, but still Ready: z"},
		"no cluster": {"nothing is read without a cluster", noCluster, "Unknown ClusterDoesNotExist: Cluster default/c1 does not exist"},
	})
}

func TestMachinesUpToDate(t *testing.T) {
	t.Parallel()
	check(t, machinesUpToDate, "MachinesUpToDate", map[string]row{
		"well": {"all", nil, "True UpToDate"},
		"some": {"how far a rollout is", func(f *pass) { f.UpToDate = num(1) }, "False NotUpToDate: 1 of 3 machines are up to date"},
		"none": {"no machines, none outdated", func(f *pass) { f.Replicas, f.Instances, f.UpToDate = num(0), 0, nil }, "True NoReplicas"},
		"no count": {"only the infrastructure provider can report it", func(f *pass) { f.UpToDate = nil },
			"Unknown UpToDateUnknown: AWSMachinePool infra reports no status.upToDateReplicas"},
		"away":       {"the cloud reports it, not the workload cluster", away, "True UpToDate"},
		"no cluster": {"nothing is read without a cluster", noCluster, "Unknown ClusterDoesNotExist: Cluster default/c1 does not exist"},
	})
}

// byMachine returns a change that sets the machines by whether each is up to date.
func byMachine(up int32, not, unknown []string) func(f *pass) {
	return func(f *pass) {
		f.Machines, f.UpToDateByMachine = &Machines{Kind: "AWSMachine"}, &UpToDateByMachine{UpToDate: up, Not: not, Unknown: unknown}
	}
}

func TestMachinesUpToDateByMachine(t *testing.T) {
	t.Parallel()
	check(t, machinesUpToDate, "MachinesUpToDate", map[string]row{
		"all": {"every Machine is up to date", byMachine(3, nil, nil), "True UpToDate"},
		"some": {"which are outdated", byMachine(1, []string{"a", "b"}, nil),
			"False NotUpToDate: 1 of 3 machines are up to date; outdated: a, b"},
		"some unknown": {"what is known to be outdated comes first", byMachine(1, []string{"a"}, []string{"b"}),
			"False NotUpToDate: 1 of 3 machines are up to date; outdated: a"},
		"unknown": {"nothing is reported of unknown machines", byMachine(2, nil, []string{"c"}),
			"Unknown UpToDateUnknown: 2 of 3 machines are up to date; unknown: c"},
		"one that goes is listed still": {"it no longer counts as a replica, and is outdated", byMachine(3, []string{"d"}, nil),
			"False NotUpToDate: 3 of 4 machines are up to date; outdated: d"},
		"unlisted": {"machines that are not listed are unknown", byMachine(2, nil, nil),
			"Unknown UpToDateUnknown: 2 of 3 machines are up to date; the others are not listed"},
		"the infrastructure counts otherwise": {"in a pool with Machines the API counts these", func(f *pass) {
			byMachine(1, []string{"a", "b"}, nil)(f)
			f.UpToDate = num(3)
		}, "False NotUpToDate: 1 of 3 machines are up to date; outdated: a, b"},
		"plain pool": {"the count of the provider is more specific than versions",
			func(f *pass) { f.UpToDateByMachine = &UpToDateByMachine{UpToDate: 1, Not: []string{"a", "b"}} }, "True UpToDate"},
		"by version": {"what was compared is reported", func(f *pass) {
			f.UpToDate, f.ByVersion, f.UpToDateByMachine = nil, true, &UpToDateByMachine{UpToDate: 3, Basis: "compared by version"}
		}, "True UpToDate: compared by version"},
		"by version, away": {"versions are unknown without nodes", func(f *pass) {
			f.UpToDate, f.ByVersion = nil, true
			away(f)
		}, "Unknown UpToDateUnknown: The connection to Cluster c1 is down"},
	})
}

func TestRemediating(t *testing.T) {
	t.Parallel()
	check(t, remediating, "Remediating", map[string]row{
		"plain pool": {"only Machines are remediated", nil, "False NotRemediating"},
		"well":       {"no Machine is marked", func(f *pass) { f.Machines = &Machines{} }, "False NotRemediating"},
		"some": {"which, and why", func(f *pass) { f.Machines = &Machines{Remediating: []string{"a (UnhealthyNode)", "b (NodeDeleted)"}} },
			"True Remediating: Remediating a (UnhealthyNode), b (NodeDeleted)"},
	})
}

func TestUpToDateCount(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		reason string
		change func(f *pass)
		want   int32
	}{
		"infrastructure":           {"it counts its machines", func(f *pass) { f.UpToDate = num(2) }, 2},
		"Machines":                 {"they are what the API counts", byMachine(1, []string{"a", "b"}, nil), 1},
		"none":                     {"known to be none", byMachine(0, []string{"a", "b", "c"}, nil), 0},
		"nothing known":            {"unknown is not 0", byMachine(0, nil, []string{"a", "b", "c"}), -1},
		"some known":               {"what is known is counted", byMachine(2, nil, []string{"c"}), 2},
		"no Machines, none wanted": {"of 0 machines none is outdated", byMachine(0, nil, nil), 0},
		"no count":                 {"unknown is not 0", func(f *pass) { f.UpToDate = nil }, -1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f, pool, got := well(), &clusterv1.MachinePool{}, int32(-1)
			tc.change(f)
			f.apply(pool)
			if n := pool.Status.UpToDateReplicas; n != nil {
				got = *n
			}
			if got != tc.want {
				t.Errorf("%s: want %d, got %d", tc.reason, tc.want, got)
			}
		})
	}
}

func TestScalingUp(t *testing.T) {
	t.Parallel()
	check(t, scalingUp, "ScalingUp", map[string]row{
		"well": {"nothing is missing", nil, "False NotScalingUp"},
		"missing": {"the API defines it by what is available", func(f *pass) { f.Desired = num(5) },
			"True ScalingUp: 3 of 5 replicas are available: AWSMachinePool infra has 3 instances"},
		"too many": {"the other way", func(f *pass) { f.Desired = num(1) }, "False NotScalingUp"},
		"away":     {"enough machines, but of unknown health", away, "Unknown ConnectionDown: The connection to Cluster c1 is down"},
		"away and few": {"too few machines whatever their health", func(f *pass) { away(f); f.Desired = num(5) },
			"True ScalingUp: 0 of 5 replicas are available: AWSMachinePool infra has 3 instances; The connection to Cluster c1 is down"},
		"going": {"a deleted pool wants none", func(f *pass) { f.Desired, f.Deleting = num(5), true }, "False NotScalingUp"},
		"no number": {"before the default is set", func(f *pass) { f.Desired = nil },
			"Unknown WaitingForReplicasSet: spec.replicas is not set"},
		"no cluster":     {"nothing is read without a cluster", noCluster, "Unknown ClusterDoesNotExist: Cluster default/c1 does not exist"},
		"going for good": {"deletion does not need a cluster", func(f *pass) { noCluster(f); f.Deleting = true }, "False NotScalingUp"},
	})
}

func TestScalingDown(t *testing.T) {
	t.Parallel()
	check(t, scalingDown, "ScalingDown", map[string]row{
		"well":     {"nothing is surplus", nil, "False NotScalingDown"},
		"too many": {"how many of how many", func(f *pass) { f.Desired = num(1) }, "True ScalingDown: Scaling down from 3 to 1 replicas"},
		"uncounted": {"without a count the listed machines count", func(f *pass) { f.Desired, f.Replicas = num(1), nil },
			"True ScalingDown: Scaling down from 3 to 1 replicas"},
		"going": {"a deleted pool wants none", func(f *pass) { f.Deleting = true },
			"True ScalingDown: Scaling down from 3 to 0 replicas"},
		"no number": {"before the default is set", func(f *pass) { f.Desired = nil },
			"Unknown WaitingForReplicasSet: spec.replicas is not set"},
		"no cluster": {"nothing is read without a cluster", noCluster, "Unknown ClusterDoesNotExist: Cluster default/c1 does not exist"},
	})
}

func TestRemediatingDeletingPaused(t *testing.T) {
	t.Parallel()
	check(t, remediating, "Remediating", map[string]row{"well": {"pools without Machines have none to remediate", nil,
		"False NotRemediating"}})
	check(t, deleting, "Deleting", map[string]row{
		"well":  {"not requested", nil, "False NotDeleting"},
		"begun": {"before any step has run", func(f *pass) { f.Deleting = true }, "True Deleting"},
		"waits": {"the cause of the step", func(f *pass) { f.Deleting, f.Deletion = true, Cause{"DeletingNode", "two left"} },
			"True DeletingNode: two left"},
		"paused": {"a pause blocks the deletion, too", func(f *pass) { f.Deleting, f.Paused = true, "because" },
			"True Paused: Deletion is blocked while the pool is paused: because"},
	})
	check(t, paused, "Paused", map[string]row{
		"well":   {"not requested", nil, "False NotPaused"},
		"paused": {"why", func(f *pass) { f.Paused = "because" }, "True Paused: because"},
	})
}

func TestRow46_Phase(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		reason string
		change func(f *pass)
		before bool
		want   clusterv1.MachinePoolPhase
	}{
		"running": {"all Ready", func(*pass) {}, true, "Running"},
		"starting": {"the node of a new machine exists and is not Ready yet",
			func(f *pass) { f.Nodes = &Nodes{Ready: 2, Available: 2, NotReady: []string{"c"}, Starting: 1} }, true, "ScalingUp"},
		"drained": {"one is removed before its replacement exists",
			func(f *pass) { f.Nodes = &Nodes{Ready: 3, Available: 2, Leaving: []string{"c"}} }, true, "Provisioned"},
		"none": {"a pool with 0 replicas is Running", func(f *pass) {
			f.Desired, f.Replicas, f.Instances, f.Nodes = num(0), num(0), 0,
				&Nodes{}
		}, false, "Running"},
		"new": {"neither part is complete", func(f *pass) { f.Bootstrap.Once, f.Infrastructure.Once = false, false }, false,
			"Pending"},
		"bootstrapped": {"one part is complete", func(f *pass) { f.Infrastructure.Once = false }, false, "Provisioning"},
		"none has joined": {"machines exist, no node yet: the same as with one of them",
			func(f *pass) { f.Nodes = &Nodes{Missing: []string{"1", "2", "3"}} }, false, "ScalingUp"},
		"joining": {"some have joined", func(f *pass) { f.Nodes = &Nodes{Ready: 1, Missing: []string{"2", "3"}} }, true, "ScalingUp"},
		"unhealthy": {"an unhealthy node is no scaling",
			func(f *pass) { f.Nodes = &Nodes{Ready: 2, Available: 2, NotReady: []string{"c"}} }, true, "Provisioned"},
		"settling": {"it is Running when the last one is available",
			func(f *pass) { f.Nodes = &Nodes{Ready: 3, Available: 2, Settling: []string{"c"}} }, true, "ScalingUp"},
		"up":   {"machines are missing", func(f *pass) { f.Desired = num(5) }, true, "ScalingUp"},
		"down": {"machines are too many", func(f *pass) { f.Desired = num(1) }, true, "ScalingDown"},
		"up by others": {"the direction of an external autoscaler is unknown",
			func(f *pass) { f.Desired, f.ReplicasManagedExternally = num(5), true }, true, "Scaling"},
		"down by others": {"the direction of an external autoscaler is unknown",
			func(f *pass) { f.Desired, f.ReplicasManagedExternally = num(1), true }, true, "Scaling"},
		"away":         {"nodes that existed cannot be read", away, true, "Unknown"},
		"not yet":      {"no node has ever joined", away, false, "Provisioned"},
		"deleting":     {"first of all", func(f *pass) { f.Deleting = true }, true, "Deleting"},
		"no cluster":   {"not begun", func(f *pass) { noCluster(f); f.Infrastructure.Once = false }, false, "Pending"},
		"lost cluster": {"provisioned once, and its state is unknown", noCluster, true, "Unknown"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := well()
			tc.change(f)
			got := phase(f, tc.before)
			if got != tc.want {
				t.Errorf("%s: want %s, got %s", tc.reason, tc.want, got)
			}
			if up := scalingUp(f).Status == metav1.ConditionTrue; up && got == clusterv1.MachinePoolPhaseRunning {
				t.Errorf("%s: want no phase %s while the condition ScalingUp is True", tc.reason, got)
			}
		})
	}
}

func TestOlderConditions(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		change                          func(f *pass)
		bootstrap, infra, replicas, sum string
	}{
		"well": {func(*pass) {}, "True", "True", "True", "True"},
		"refused": {func(f *pass) { f.BootstrapProblem = &Cause{VersionNotSupportedReason, "too old"} },
			"False Error VersionNotSupported: too old", "True", "True", "False Error VersionNotSupported: too old"},
		"severity of the provider": {func(f *pass) {
			f.Infrastructure.Ready, f.Infrastructure.Severity = readyCondition("False", "Broken", "no"), clusterv1.ConditionSeverityWarning
		}, "True", "False Warning Broken: no", "True", "False Warning Broken: no"},
		"few": {func(f *pass) { f.Desired = num(5) }, "True", "True", "False Info WaitingForReplicasReady: 3 of 5 replicas are ready",
			"False Info WaitingForReplicasReady: 3 of 5 replicas are ready"},
		"away": {away, "True", "True", "Unknown ConnectionDown: The connection to Cluster c1 is down",
			"Unknown ConnectionDown: The connection to Cluster c1 is down"},
		"missing": {func(f *pass) { f.Bootstrap.Found, f.Bootstrap.Once = false, false },
			"False Warning ObjectDoesNotExist: KubeadmConfig boot does not exist", "True", "True",
			"False Warning ObjectDoesNotExist: KubeadmConfig boot does not exist"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f, pool := well(), &clusterv1.MachinePool{}
			tc.change(f)
			f.apply(pool)
			got := map[clusterv1.ConditionType]string{}
			for _, c := range pool.GetV1Beta1Conditions() {
				s := string(c.Status)
				if c.Severity != "" {
					s += " " + string(c.Severity)
				}
				if c.Reason != "" {
					s += " " + c.Reason + ": " + c.Message
				}
				got[c.Type] = s
			}
			want := map[clusterv1.ConditionType]string{"BootstrapReady": tc.bootstrap, "InfrastructureReady": tc.infra, "ReplicasReady": tc.replicas,
				"Ready": tc.sum}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("want - got +:\n%s", diff)
			}
		})
	}
}

// TestApplyIsDeterministic holds that a status does not depend on the time at which it was derived.
func TestApplyIsDeterministic(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(f *pass){
		"well": func(*pass) {}, "away": away, "no cluster": noCluster,
		"deleting": func(f *pass) { f.Deleting, f.Deletion = true, Cause{"DeletingNode", "x"} },
		"sick":     func(f *pass) { f.Nodes = &Nodes{Ready: 2, NotReady: []string{"c"}} }, "paused": func(f *pass) { f.Paused = "x" },
		"failed": func(f *pass) { f.Failure = &Cause{"A", "b"} },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f, pool := well(), &clusterv1.MachinePool{ObjectMeta: metav1.ObjectMeta{Generation: 7}}
			change(f)
			f.apply(pool)
			for i := range pool.Status.Conditions {
				if pool.Status.Conditions[i].ObservedGeneration != 7 {
					t.Errorf("%s: want the generation that was looked at, got %d", pool.Status.Conditions[i].Type,
						pool.Status.Conditions[i].ObservedGeneration)
				}
				// As if the first pass had been long ago: an equal second pass must not change the times.
				pool.Status.Conditions[i].LastTransitionTime = metav1.NewTime(time.Unix(100, 0))
			}
			older := pool.GetV1Beta1Conditions()
			for i := range older {
				older[i].LastTransitionTime = metav1.NewTime(time.Unix(100, 0))
			}
			first := pool.DeepCopy()
			g := well()
			change(g)
			g.apply(pool)
			if diff := cmp.Diff(first, pool); diff != "" {
				t.Errorf("first pass - second pass +:\n%s", diff)
			}
		})
	}
}

func TestCountersStayIfNothingWasRead(t *testing.T) {
	t.Parallel()
	pool := &clusterv1.MachinePool{}
	well().apply(pool)
	f := well()
	f.Infrastructure.Found, f.Infrastructure.Problem, f.Replicas, f.UpToDate, f.Instances = false, "no answer", nil, nil, 3
	f.apply(pool)
	if r := pool.Status.Replicas; r == nil || *r != 3 {
		t.Errorf("replicas of an infrastructure that did not answer: want the last known 3, got %v", r)
	}
	if d := pool.Status.Deprecated.V1Beta1; d.FailureReason != nil {
		t.Errorf("failure: an infrastructure that did not answer is not known to be deleted, got %v", *d.FailureReason)
	}
}

func TestReady(t *testing.T) {
	t.Parallel()
	check(t, ready, "Ready", map[string]row{
		"well": {"how many, also without problems", nil, "True Ready: 3 of 3 replicas are ready"},
		"leaving": {"the provider no longer counts one whose node is still Ready", func(f *pass) { f.Nodes.Ready = 4 },
			"True Ready: 4 of 4 replicas are ready"},
		"none": {"a pool with 0 replicas has all of them", func(f *pass) { f.Desired, f.Replicas, f.Nodes = num(0), num(0), &Nodes{} },
			"True Ready: 0 of 0 replicas are ready"},
		"settling": {"Ready is not Available", func(f *pass) { f.Nodes.Available, f.Nodes.Settling = 0, []string{"a", "b", "c"} },
			"True Ready: 3 of 3 replicas are ready"},
		"fewer": {"what is missing", func(f *pass) { f.Nodes = &Nodes{Ready: 2, Available: 2, NotReady: []string{"c (KubeletNotReady)"}} },
			"False NotReady: 2 of 3 replicas are ready: not Ready: c (KubeletNotReady)"},
		"bootstrap": {"the object is named", func(f *pass) { f.Bootstrap.Ready = readyCondition("False", "Failed", "no token") },
			"False Failed: KubeadmConfig boot: no token"},
		"infrastructure": {"a name is not repeated", func(f *pass) { f.Infrastructure.Found = false },
			"False ObjectDeleted: AWSMachinePool infra has been deleted while the MachinePool still exists"},
		"silent": {"a reason without a message", func(f *pass) { f.Infrastructure.Ready = readyCondition("Unknown", "Throttled", "") },
			"Unknown Throttled: AWSMachinePool infra is not ready"},
		"away":   {"what cannot be read is unknown", away, "Unknown ConnectionDown: The connection to Cluster c1 is down"},
		"number": {"before the default is set", func(f *pass) { f.Desired = nil }, "Unknown WaitingForReplicasSet: spec.replicas is not set"},
		"gone":   {"a wrong name comes first", noCluster, "False ClusterDoesNotExist: Cluster default/c1 does not exist"},
		"going":  {"it will not become ready", func(f *pass) { f.Deleting, f.Deletion = true, Cause{"DeletingNode", "x"} }, "False Deleting: x"},
	})
}
